"""Two frames are read as results; what was exported comes back as it was."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as for_all
from tests.importers.foreign_parts import OBJECTIVE, results, told

import tunewright as tw
from tunewright import importers
from tunewright.design.conditions import given
from tunewright.design.objective import minimize
from tunewright.design.ranges import integers, log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.importers.files import csv_columns
from tunewright.importers.foreign import uncertain
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, pack, plain
from tunewright.store.results import Results
from tunewright.store.trial import Trial

pytest.importorskip("pandas")
polars = pytest.importorskip("polars")


@for_all(results())
def test_an_exported_frame_comes_back_as_it_was(recorded: Results) -> None:
    again = importers.frames(
        recorded.round, OBJECTIVE, recorded.to_pandas(), recorded.to_pandas("curves")
    )
    assert told(again) == told(recorded)
    for trial, before in zip(again.trials, recorded.trials, strict=True):
        study = recorded.studies[trial.study]
        assert trial.unit == study.unit(before.configuration)


ROUND = Round(
    "optimizers",
    goal="?",
    scientific={"optimizer": ["adam", "sgd"]},
    nuisance={
        "optimizer": given({"adam": {"lr": log(1e-4, 1)}, "sgd": {"lr": log(1e-2, 10)}}),
        "width": integers(8, 64),
        "value": [1, "auto"],
    },
    fixed={"batch_size": 128},
    trials_per_study=2,
)
TRIALS: dict[str, list[Any]] = {
    "trial": ["a", "b", "c"],
    "status": ["completed", "completed", "infeasible"],
    "optimizer": ["adam", "sgd", "sgd"],
    "lr": [0.01, 5.0, 0.5],
    "width": [8, 16, None],
    "value": ["auto", 1, 1],
    "reason": ["", "", "killed by SIGKILL"],
}
CURVES: dict[str, list[Any]] = {
    "trial": ["a", "a", "b"],
    "step": [10, 20, 20],
    "metric": ["error"] * 3,
    "value": [0.5, 0.4, 0.7],
}


def frames(**changes: list[Any]) -> tuple[Any, Any]:
    return polars.DataFrame(
        {**TRIALS, "width": [8, 16, 32], "value": ["auto", "1", "1"], **changes}, strict=False
    ), polars.DataFrame(CURVES)


def test_the_conditional_takes_the_functions_name() -> None:
    found = importers.frames(ROUND, minimize("error"), *frames(), means={"learning_rate": "lr"})
    assert [t.number for t in found.trials] == [0, 1, 2], "text names are numbered by row"
    assert [t.study for t in found.trials] == [0, 1, 1]
    assert found.best().configuration == {
        "optimizer": "adam", "width": 8, "value": "auto", "lr": 0.01, "batch_size": 128,
    }  # fmt: skip
    assert found.best().value == 0.4
    assert set(found.trial(1).unit) == {"width", "value", "optimizer.sgd.lr"}
    assert found.trial(1).configuration["value"] == 1, "the round knows that 1 is a number"
    assert found.trial(2).status == "infeasible"
    assert found.trial(2).reason == Message("program.exited", {"status": -1, "signal": "SIGKILL"})
    assert found.meaning.of("lr") == "learning_rate"


def test_a_polars_export_comes_back() -> None:
    found = importers.frames(ROUND, minimize("error"), *frames())
    again = importers.frames(ROUND, minimize("error"), found.to_polars(), found.to_polars("curves"))
    assert told(again) == told(found)
    assert "value_" in found.to_polars().columns


def test_exported_files_come_back(tmp_path: Path) -> None:
    found = importers.frames(ROUND, minimize("error"), *frames())
    for ending in ("csv", "json", "parquet"):
        trials = found.export(tmp_path / f"trials.{ending}")
        curves = found.export(tmp_path / f"curves.{ending}", "curves")
        again = importers.tables(trials, curves, objective=minimize("error"), round=ROUND)
        assert told(again) == told(found), ending


def test_every_problem_is_said_at_once() -> None:
    trials, _ = frames(status=["complete", "done", "completed"])
    trials = trials.with_columns(lr=polars.Series([0.01, 50.0, 100.0]))
    curves = {"trial": ["a", "z"], "step": [1.5, 1], "metric": ["error"] * 2, "value": [1, "x"]}
    with pytest.raises(DesignError) as refused:
        importers.frames(ROUND, minimize("error"), trials, curves)
    message = str(refused.value)
    assert "the status 'complete'. Did you mean 'completed'?" in message
    assert "the status 'done'" in message
    assert "optimizer.sgd.lr = 100.0 is not of log(0.01, 10)" in message
    assert "step 1.5 of trial 'a'" in message
    assert "'x' of trial 'z' is not a number" in message


def test_columns_are_compared_with_the_round() -> None:
    trials, curves = frames()
    trials = trials.rename({"width": "widht"}).with_columns(host=polars.lit("node1"))
    with pytest.raises(DesignError) as refused:
        importers.frames(ROUND, minimize("error"), trials.drop("status"), curves)
    message = str(refused.value)
    assert "no column for 'width'. Did you mean 'widht'?" in message
    assert "no column 'status'" in message
    assert "'host' is neither a hyperparameter of the round nor a metric" in message


def test_rows_and_fixed_values_are_compared_with_the_round() -> None:
    trials, curves = frames(batch_size=[128, 64, 32])
    with pytest.raises(DesignError, match=r"batch_size = 64, but the round fixes it at 128"):
        importers.frames(ROUND, minimize("error"), trials, curves)
    trials, curves = frames(trial=["a", "a", "c"])
    with pytest.raises(DesignError, match="trial 'a' stands in 2 rows"):
        importers.frames(ROUND, minimize("error"), trials, curves)
    with pytest.raises(DesignError, match="a int is not a frame"):
        importers.frames(ROUND, minimize("error"), 3, curves)
    trials, curves = frames(optimizer=["adam", "lion", "sgd"])
    with pytest.raises(DesignError, match="no study of the round has optimizer = 'lion'"):
        importers.frames(ROUND, minimize("error"), trials, curves)


def test_the_uncertainty_of_values_survives_an_export(tmp_path: Path) -> None:
    values = [0.5, tw.Measured(0.4, sd=0.1, n=25)]
    points = {"valid_error": ([1, 2], values), "train_loss": ([1], [2.0])}
    objective = minimize("valid_error")
    round = Round("lr", goal="?", nuisance={"learning_rate": log(1e-3, 1)}, trials_per_study=1)
    made = Trial(
        number=0,
        study=0,
        index=0,
        configuration={"learning_rate": 0.1},
        unit={},
        status="completed",
        curves=Curves([Batch(1, 0, pack(*plain(points)))]),
    )
    results = Results.from_parts(round, objective, [made])
    results.export(tmp_path / "trials.csv")
    results.export(tmp_path / "curves.csv", "curves")
    again = importers.frames(
        round, objective, csv_columns(tmp_path / "trials.csv"), csv_columns(tmp_path / "curves.csv")
    )
    assert again.notes == results.notes == ()
    assert again.best().measured == results.best().measured == tw.Measured(0.4, sd=0.1, n=25)
    assert again.metrics == ("valid_error", "train_loss")


def test_a_standard_deviation_logged_beside_a_metric_is_its_uncertainty() -> None:
    points = {
        "e": ([1, 2, 3], [0.5, 0.4, 0.3]),
        "e_stderr": ([1, 3], [0.1, -1.0]),
        "e_n": ([1], [9]),
        "loss_sd": ([1], [0.1]),
    }
    found = uncertain(points)
    assert found.keys() == {"e"}
    assert found["e"][0][0] == 0.1 and math.isnan(found["e"][0][1]) and math.isnan(found["e"][0][2])
    assert found["e"][1] == [9, 0, 0]
