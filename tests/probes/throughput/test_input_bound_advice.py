"""Advice, prefetch depths and a trace of real steps, and a fit that is probed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.probes.throughput.test_input_bound import QUICK, make_step, probed

import tunewright as tw
from tunewright.errors import DesignError


class Features:
    """Examples as dictionaries, one entry of which nobody uses; reading waits as a network does."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, place: int) -> Any:
        time.sleep(0.002)
        x = np.full(16, place, dtype="float32")
        return {"x": x, "y": place % 3, "caption": np.zeros(64, dtype="float32")}


def make_feature_step(batch_size: int, workers: int = 0):
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    model = nn.Linear(16, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def forever():
        while True:
            yield from DataLoader(Features(), batch_size, num_workers=workers)

    batches = iter(forever())

    def step() -> None:
        batch = next(batches)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
        optimizer.step()

    return step


def test_slow_reads_and_unused_features_are_advised_on_and_a_trace_is_written(
    tmp_path: Path,
) -> None:
    answer = tw.probes.input_bound(
        make_feature_step,
        batch_size=4,
        workers=[0],
        rule=QUICK,
        store=None,
        trace=tmp_path / "trace.json",
    )
    assert answer.verdict == "input_bound"
    by_code = {one.code: one.facts for one in answer.advice}
    assert by_code["probe.input_advice.colocate"]["stage"] == "read"
    assert by_code["probe.input_advice.colocate"]["waiting_share"] > 0.5
    unused = by_code["probe.input_advice.drop_unused"]
    assert unused["names"] == ["caption"] and 0.7 < unused["share"] < 0.8  # 256 of 328 bytes
    assert answer.trace == str(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    forwards = [event for event in events if event.get("name") == "aten::linear"]
    assert len(forwards) == 10  # one in every step


def test_a_planted_slow_transform_that_never_changes_is_to_be_done_once() -> None:
    advice = {one.code: one.facts["stage"] for one in probed(slow_s=0.002).advice}
    assert advice["probe.input_advice.cache"] == "decode"
    assert "probe.input_advice.colocate" not in advice  # it is no read


def test_a_training_that_does_not_wait_gets_no_advice() -> None:
    assert probed(direct=True).advice == ()


@pytest.mark.slow
def test_workers_of_uneven_speed_are_tried_with_more_batches_ahead() -> None:
    answer = tw.probes.input_bound(
        make_feature_step,
        batch_size=4,
        fixed={"workers": 1},
        workers=[1],
        steps=50,
        rule=QUICK,
        store=None,
    )
    assert [depth.prefetch_factor for depth in answer.depths] == [2, 4, 8]
    assert all(0 <= depth.waiting_share <= 1 for depth in answer.depths)
    assert answer.prefetch_factor == 2


def test_a_trace_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DesignError) as raised:
        tw.probes.input_bound(
            make_step, batch_size=4, store=None, trace=tmp_path / "none" / "trace.json"
        )
    assert raised.value.code == "input_bound.trace_folder"


def fitted(run: Any, batch_size: int = 16, max_train_steps: int = 30) -> None:
    import torch
    from torch import nn

    from tunewright.pipeline import FitConfig, fit

    torch.set_num_threads(1)
    config = FitConfig(
        max_train_steps=max_train_steps, batch_size=batch_size, base_learning_rate=0.01
    )
    fit(
        nn.Linear(4, 1), lambda m, x: (m(x) - 1).square().mean(), torch.ones(64, 4), config, run=run
    )


def test_a_fit_of_few_steps_is_probed_for_as_many_as_it_takes(tmp_path: Path) -> None:
    workload = tw.Workload(
        fitted,
        tw.minimize("train_loss"),
        store=tmp_path / "tuning.db",
        executor=tw.executors.Inline(),
    )
    answer = tw.probes.input_bound(workload, batch_size=16, rule=QUICK)
    assert answer.steps == 200 and answer.waiting_share is not None and not answer.missing
