"""Results as tables, with every hyperparameter and every metric."""

from __future__ import annotations

import math

import pytest
from tests.store.record_parts import a_trial, some_results

from tunewright.design.conditions import given
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import StoreError
from tunewright.store.results import Results
from tunewright.store.tables import columns_of

pytest.importorskip("polars")
pytest.importorskip("pandas")


def test_one_row_per_trial_with_settings_and_metrics() -> None:
    results = some_results()
    frame = results.to_polars()
    assert frame["number"].to_list() == list(range(6))
    assert frame["layers"].to_list() == [1, 2, 1, 2, 1, 2]
    assert frame["value"].to_list() == [0.5, 0.4, 0.3, None, 0.2, 0.6]
    assert frame["status"].to_list()[3] == "infeasible"
    assert frame["accuracy"].to_list()[4] == pytest.approx(0.8), "at the selected step"
    assert math.isnan(frame["valid_error"].to_list()[3]), "all that was logged is kept"
    other = results.to_pandas()
    assert list(other.columns) == frame.columns and len(other) == 6


def test_one_row_per_point() -> None:
    results = some_results()
    frame = results.to_polars("curves")
    assert frame.columns == ["trial", "step", "metric", "value"]
    assert frame.height == 6 * 2 * 2
    assert results.to_pandas("curves").shape == (24, 4)


def test_the_same_name_under_two_values_has_two_columns() -> None:
    round = Round(
        "optimizers",
        goal="?",
        scientific={"optimizer": ["adam", "sgd"]},
        nuisance={
            "optimizer": given(
                {"adam": {"lr": log(1e-4, 1), "nested": given({True: {"x": [1, 2]}, False: {}})},
                 "sgd": {"lr": log(1e-2, 1)}}
            )
        },
        trials_per_study=1,
    )  # fmt: skip
    trials = [
        a_trial(0, 0.1, configuration={"optimizer": "adam", "lr": 0.1, "nested": True, "x": 2}),
        a_trial(1, 0.2, configuration={"optimizer": "sgd", "lr": 0.5, "extra": "mine"}),
    ]
    columns = columns_of(Results.from_parts(round, minimize("valid_error"), trials), "trials")
    assert columns["optimizer.adam.lr"] == [0.1, None]
    assert columns["optimizer.sgd.lr"] == [None, 0.5]
    assert columns["optimizer.adam.nested.True.x"] == [2, None]
    assert columns["extra"] == [None, "mine"]


def test_columns_of_one_name_are_told_apart_and_mixed_ones_become_text() -> None:
    round = Round("r", goal="?", nuisance={"value": [1, "auto"], "b": [1, 0.5]}, trials_per_study=2)
    trials = [
        a_trial(0, 0.1, study=0, configuration={"value": 1, "b": 1}),
        a_trial(1, 0.2, study=0, configuration={"value": "auto", "b": 0.5}),
    ]
    frame = Results.from_parts(round, minimize("valid_error"), trials).to_polars()
    assert frame["value"].to_list() == [0.1, 0.2]
    assert frame["value_"].to_list() == ["1", "auto"]
    assert frame["b"].to_list() == [1.0, 0.5]


def test_other_tables_are_refused() -> None:
    results = some_results()
    with pytest.raises(StoreError, match='"trials" or "curves"'):
        results.to_polars("trial")  # type: ignore[arg-type]
