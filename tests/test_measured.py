"""A value with its uncertainty, from every door into the store and out of it again."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tunewright as tw
from tunewright.errors import DesignError
from tunewright.measured import Measured, read
from tunewright.present.envelope import plain
from tunewright.present.terminal.trial_page import headline
from tunewright.store.curves import pack, plain as split, unpack
from tunewright.store.store import Store
from tunewright.trials import evaluate

RATES = tw.Round(
    "rates",
    goal="Which rate?",
    nuisance={"lr": tw.log(1e-3, 1.0)},
    fixed={"max_train_steps": 4},
    trials_per_study=3,
)


def train(run: tw.protocols.Run, lr: float, max_train_steps: int) -> None:
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=Measured(lr / step, sd=0.01 * step, n=100 * step), loss=lr)
        run.save({"step": step})


def fully(checkpoint: object) -> dict[str, Measured]:
    del checkpoint
    return {"full_error": Measured(0.25, sd=0.001, n=10_000)}


@pytest.fixture
def workload(tmp_path: Path) -> tw.Workload:
    return tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=tmp_path / "tuning.db",
        executor=tw.executors.Inline(),
    )


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        ({"value": "low", "sd": 0.1}, "measured.bad_value", "value"),
        ({"value": None, "sd": 0.1}, "measured.bad_value", "value"),
        ({"value": 0.1, "sd": -0.1}, "measured.bad_sd", "sd"),
        ({"value": 0.1, "sd": math.nan}, "measured.bad_sd", "sd"),
        ({"value": 0.1, "sd": math.inf}, "measured.bad_sd", "sd"),
        ({"value": 0.1, "sd": None}, "measured.bad_sd", "sd"),
        ({"value": 0.1, "sd": 0.1, "n": 0}, "measured.bad_n", "n"),
        ({"value": 0.1, "sd": 0.1, "n": 2.5}, "measured.bad_n", "n"),
        ({"value": 0.1, "sd": 0.1, "n": True}, "measured.bad_n", "n"),
    ],
)
def test_what_is_no_measurement_is_refused(given: dict[str, object], code: str, field: str) -> None:
    with pytest.raises(DesignError) as error:
        Measured(**given)  # type: ignore[arg-type]
    assert error.value.code == code
    assert error.value.facts["field"] == field
    assert error.value.facts["value"] == repr(given[field])


def test_numbers_of_other_libraries_are_taken() -> None:
    found = Measured(np.float32(0.5), sd=np.array(0.25), n=np.int64(9))  # type: ignore[arg-type]
    assert (found.value, found.sd, found.n) == (0.5, 0.25, 9)
    assert type(found.value) is float and type(found.n) is int
    assert math.isnan(Measured(math.nan, sd=0).value), "a trial may diverge"
    assert found.examples_for(0.125) == 36 and Measured(0.5, sd=0.1).examples_for(0.05) is None


def test_points_with_and_without_uncertainty_are_packed_together() -> None:
    points, spreads = split({"e": ([1, 2], [0.5, Measured(0.4, sd=0.1)]), "loss": ([1], [2.0])})
    curves = unpack(pack(points, spreads))
    assert curves["loss"].sd is None
    assert curves["e"].values.tolist() == [0.5, 0.4]
    assert curves["e"].measurement(0) is None
    assert curves["e"].measurement(1) == Measured(0.4, sd=0.1)


def test_it_reaches_curves_trials_tables_and_pages(workload: tw.Workload) -> None:
    results = tw.run(RATES, workload, progress="off")
    best = results.best()
    assert best.measured == Measured(best.value, sd=0.04, n=400)  # type: ignore[arg-type]
    curve = results.curves(best.number, "valid_error")
    assert curve.sd is not None and curve.sd.tolist() == [0.01, 0.02, 0.03, 0.04]
    assert curve.n is not None and curve.n.tolist() == [100, 200, 300, 400]
    assert results.curves(best.number, "loss").sd is None
    assert "± 0.04" in headline(results, best)
    assert plain(best)["measured"] == {"value": best.value, "sd": 0.04, "n": 400}
    last = results.with_objective(replace(results.objective, at="last")).best()
    assert last.measured is not None and last.measured.sd == 0.04


def test_export_has_columns_for_it(workload: tw.Workload, tmp_path: Path) -> None:
    results = tw.run(RATES, workload, progress="off")
    results.export(tmp_path / "trials.json")
    (first, *_) = json.loads((tmp_path / "trials.json").read_text())
    assert (first["value_sd"], first["value_n"]) == (0.04, 400)
    results.export(tmp_path / "curves.json", "curves")
    rows = json.loads((tmp_path / "curves.json").read_text())
    assert {(r["metric"], r["sd"], r["n"]) for r in rows if r["step"] == 2} == {
        ("valid_error", 0.02, 200),
        ("loss", None, None),
    }


def test_a_trial_asked_for_takes_it(tmp_path: Path) -> None:
    with tw.open_round(RATES, tw.minimize("valid_error"), tmp_path / "tuning.db") as session:
        trial = session.ask()
        assert trial is not None
        trial.log(1, valid_error=Measured(0.3, sd=0.02, n=50))
        trial.finish()
        assert session.results().best().measured == Measured(0.3, sd=0.02, n=50)


def test_an_offline_evaluation_records_it(workload: tw.Workload) -> None:
    results = tw.run(RATES, workload, progress="off")
    (one,) = evaluate(results.best(), workload, fully, progress="off")
    assert one.metrics == {"full_error": Measured(0.25, sd=0.001, n=10_000)}
    again = tw.load(workload.store, "rates").with_objective(tw.minimize("full_error"))
    assert again.best().measured == Measured(0.25, sd=0.001, n=10_000)
    with Store.open(workload.store) as store:
        (kept,) = store.evaluations()
    assert kept.metrics == one.metrics


def test_a_model_that_diverges_is_infeasible(workload: tw.Workload) -> None:
    def diverges(run: tw.protocols.Run, lr: float, max_train_steps: int) -> None:
        run.log(1, valid_error=Measured(math.nan, sd=0.1))

    results = tw.run(RATES, replace(workload, train=diverges), progress="off")
    assert results.counts == {"infeasible": 3}


def test_plain_data_of_the_protocol() -> None:
    assert read({"value": 0.1, "sd": 0.2}) == Measured(0.1, sd=0.2)
    assert read({"value": 0.1, "extra": 1}) == {"value": 0.1, "extra": 1}
    with pytest.raises(DesignError, match="sd=None"):
        read({"value": 0.1})


PROGRAM = """
import json, sys
lr = float(sys.argv[1])
print(json.dumps({"step": 1, "valid_error": {"value": lr, "sd": 0.5 if BAD else 0.01, "n": N}}))
"""
HANDLE = """
import sys, tunewright as tw
run = tw.current_run()
run.log(1, valid_error=tw.Measured(float(sys.argv[1]), sd=0.01, n=77))
"""


@pytest.mark.beyond_core
@pytest.mark.parametrize(
    "text", [PROGRAM.replace("BAD", "0").replace("N}", "77}"), HANDLE], ids=["lines", "current_run"]
)
def test_a_program_reports_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.py").write_text(text)
    command = tw.command(f"{sys.executable} {tmp_path / 'train.py'} {{lr}} {{max_train_steps}}")
    workload = tw.Workload(command, tw.minimize("valid_error"), store=tmp_path / "tuning.db")
    results = tw.run(replace(RATES, trials_per_study=1), workload, progress="off")
    assert results.counts == {"completed": 1}
    assert results.best().measured == replace(
        Measured(0.0, sd=0.01, n=77), value=results.best().value
    )


@pytest.mark.beyond_core
def test_a_line_with_a_wrong_measurement_fails_the_trial(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("BAD", "0").replace("N}", "0}"))
    command = tw.command(f"{sys.executable} {tmp_path / 'train.py'} {{lr}} {{max_train_steps}}")
    workload = tw.Workload(command, tw.minimize("valid_error"), store=tmp_path / "tuning.db")
    results = tw.run(replace(RATES, trials_per_study=1), workload, progress="off")
    (trial,) = results.trials
    assert trial.status == "failed" and trial.reason is not None
    assert trial.reason.code == "measured.bad_n"
