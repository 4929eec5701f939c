"""Predictions of fixed examples: the same ids every time, on disk complete or not at all."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn

from tunewright.errors import PipelineError
from tunewright.pipeline.predictions import (
    Predictions,
    fixed_ids,
    load_predictions,
    predict_fixed,
    save_predictions,
)


@settings(deadline=None)
@given(st.integers(1, 5000), st.integers(1, 100))
def test_fixed_ids_are_distinct_and_spread_over_the_data(size, kept):
    ids = fixed_ids(size, kept).tolist()
    assert len(set(ids)) == len(ids) == min(size, kept)
    assert ids == sorted(ids) and ids[0] == 0
    assert len(ids) == 1 or ids[-1] == size - 1


def test_they_come_back_by_step(tmp_path):
    written = {}
    for step in (400, 1200, 20):
        values = torch.randn(4, 3).t() if step == 20 else torch.randn(4, 3)
        written[step] = Predictions(fixed_ids(len(values) * 2, len(values)), values)
        save_predictions(tmp_path / "predictions", step, written[step])
    found = load_predictions(tmp_path / "predictions")
    assert list(found) == [20, 400, 1200]
    for step, predictions in written.items():
        assert torch.equal(found[step].ids, predictions.ids)
        assert torch.equal(found[step].values, predictions.values)
    assert not list((tmp_path / "predictions").glob("*.tmp"))


def test_a_folder_without_any_is_empty(tmp_path):
    assert load_predictions(tmp_path / "nowhere") == {}


def test_an_unfinished_file_is_not_read(tmp_path):
    (tmp_path / "step-000000000001.tmp").write_bytes(b"half of it")
    assert load_predictions(tmp_path) == {}


@pytest.mark.parametrize("shaped", [lambda v: v.mean(), lambda v: v[:-1]])
def test_one_row_per_example_is_required(shaped):
    with pytest.raises(PipelineError, match="one row per example"):
        predict_fixed(nn.Identity(), torch.arange(10.0), lambda m, b: shaped(b), "cpu")
