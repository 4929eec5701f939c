"""The train-steps probe on functions whose step of perfect fit is known."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from tests.probes import fitting_worlds as worlds

import tunewright as tw
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.executors.inline import Inline
from tunewright.messages import Message
from tunewright.probes.probe import as_document
from tunewright.probes.train_steps import train_steps
from tunewright.store.store import Store


def workload(train, folder: Path, metric: str = "valid_error", **more) -> tw.Workload:
    store = folder / "tuning.db"
    return tw.Workload(train, tw.minimize(metric), store=store, executor=Inline(), **more)


CONSTANT = {"schedule": "constant"}


def test_the_known_step_is_found_with_its_resolution(tmp_path):
    answer = train_steps(workload(worlds.fits, tmp_path, off=CONSTANT), learning_rate=0.1)
    exact = worlds.fit_step(0.1)
    assert answer.verdict == "fits" and answer.learning_rate == 0.1
    assert answer.crossing == pytest.approx(exact, rel=1e-6)
    assert answer.fit_steps == math.ceil(exact / answer.resolution) * answer.resolution
    assert answer.resolution <= 0.02 * answer.fit_steps
    assert answer.settings == {"max_train_steps": answer.max_train_steps}
    assert answer.fit_steps <= answer.max_train_steps <= 1.1 * answer.fit_steps
    assert answer.off == {"schedule": "constant", "dropout": 0.0}
    facts = answer.message.facts
    assert (facts["returns"], facts["more"]) == (["dropout"], [520, 690])
    assert len(answer.headline.split()) <= 12
    outcomes = {rate.learning_rate: rate.outcome for rate in answer.rates}
    assert outcomes[1.0] == "infeasible" and outcomes[0.003162] == "does not fit"
    assert len(answer.rates) == 7


def test_a_factor_for_gradient_noise_to_come(tmp_path):
    answer = train_steps(workload(worlds.fits, tmp_path, off=CONSTANT), learning_rate=0.1, factor=2)
    assert answer.max_train_steps == 690
    assert (answer.message.facts["factor"], answer.message.facts["more"]) == (2, None)


def test_asked_again_it_trains_nothing_and_says_the_same(tmp_path):
    own = workload(worlds.fits, tmp_path, off=CONSTANT)
    first = train_steps(own, learning_rate=0.1)
    with Store.open(own.store) as store:
        before = {record.name: dict(record.counts) for record in store.rounds()}
        attempts = [t.attempts for r in before for t in store.results(r).trials]
    assert set(attempts) == {1} and all(name.startswith("probe_train_steps_") for name in before)
    again = train_steps(own, learning_rate=0.1)
    assert again == first
    with Store.open(own.store) as store:
        assert {r.name: dict(r.counts) for r in store.rounds()} == before
        kept = [p.answer for p in store.probes()]
    assert [d["max_train_steps"] for d in kept] == [first.max_train_steps] * 2
    assert kept[0]["message"] == as_document(first)["message"]


def test_the_grid_grows_to_where_the_fastest_is(tmp_path):
    answer = train_steps(workload(worlds.fits_at_large_rates, tmp_path), learning_rate=0.1)
    assert answer.verdict == "fits"
    assert answer.learning_rate == pytest.approx(31.62, rel=1e-3)
    assert len(answer.rates) == 7 + 2 * 2


def test_a_fastest_rate_that_stays_at_the_end_is_no_answer(tmp_path):
    answer = train_steps(workload(worlds.never_ends, tmp_path), learning_rate=0.1)
    assert answer.verdict == "at_edge" and answer.settings == {}
    assert len(answer.rates) == 7 + 3 * 2
    assert answer.message.code == "probe.train_steps.fits_at_edge"
    assert answer.message.facts["side"] == "high" and answer.fit_steps is not None


def test_what_never_fits_is_compute_bound_after_three_doublings(tmp_path):
    answer = train_steps(workload(worlds.too_slow, tmp_path), learning_rate=0.1)
    assert answer.verdict == "compute_bound" and answer.settings == {}
    assert answer.lengths == (100, 200, 400, 800)
    assert answer.message.code == "probe.train_steps.compute_bound"
    assert (answer.message.facts["length"], answer.message.facts["unit"]) == (800, "steps")


def test_a_model_too_small_is_told_from_too_little_compute(tmp_path):
    answer = train_steps(workload(worlds.stuck, tmp_path), learning_rate=0.1)
    assert answer.verdict == "plateau" and answer.lengths == (200, 400)
    assert answer.message.code == "probe.train_steps.plateau"
    enough = train_steps(
        workload(worlds.stuck, tmp_path), learning_rate=0.1, metric="train_error", at_most=0.06
    )
    assert enough.verdict == "fits" and enough.criterion.facts["limit"] == 0.06
    assert enough.crossing == pytest.approx(math.log(85) / 0.2, rel=0.02)


def test_a_doubling_reaches_a_fit_that_the_first_length_does_not(tmp_path):
    own = workload(worlds.fits, tmp_path, off=CONSTANT)
    answer = train_steps(own, learning_rate=0.1, max_train_steps=200)
    assert answer.verdict == "fits" and answer.lengths == (200, 400)
    assert answer.crossing == pytest.approx(worlds.fit_step(0.1), rel=1e-6)


def test_epochs_accuracies_in_percent_and_other_spellings(tmp_path):
    own = workload(
        worlds.in_epochs,
        tmp_path,
        metric="val_error",
        means={"learning_rate": "lr", "max_train_steps": "epochs"},
    )
    answer = train_steps(own, learning_rate=0.1)
    wanted = {"metric": "train/accuracy", "limit": 99.9, "falls": False}
    assert answer.criterion.facts == wanted
    assert answer.crossing == pytest.approx(worlds.fit_step(0.1) / 50, rel=1e-3)
    assert answer.settings == {"epochs": 7}
    assert answer.message.facts["unit"] == "epochs"
    assert answer.message.facts["steps"] == pytest.approx(6.9, abs=0.2)


def test_a_loss_without_an_error_is_judged_by_its_floor(tmp_path):
    answer = train_steps(workload(worlds.with_a_floor, tmp_path), learning_rate=0.1)
    assert answer.verdict == "fits" and answer.learning_rate == 0.1
    # 1 % of the way: exp(-speed x step) = 0.01
    assert answer.crossing == pytest.approx(math.log(100) / worlds.speed(0.1), rel=0.06)


def test_the_best_known_trial_is_the_middle_of_the_sweep(tmp_path):
    own = workload(worlds.fits, tmp_path, off=CONSTANT)
    tw.run(
        tw.Round(
            "first",
            goal="g",
            scientific={},
            nuisance={"learning_rate": tw.log(0.02, 0.2)},
            fixed={"max_train_steps": 300, "dropout": 0.0},
            trials_per_study=3,
        ),
        own,
    )
    answer = train_steps(own)
    assert [rate.learning_rate for rate in answer.rates][3] in (0.03162, 0.1)
    assert answer.lengths[0] == 300  # as in that trial


@pytest.mark.parametrize(
    "train, more, entry",
    [
        (worlds.fits, {}, 'off={"schedule": "constant"}'),
        (worlds.in_epochs, {"means": {"learning_rate": None}}, 'means={"learning_rate": ...}'),
    ],
)
def test_what_is_missing_is_answered_with_the_entry_to_add(tmp_path, train, more, entry):
    answer = train_steps(workload(train, tmp_path, **more), learning_rate=0.1)
    assert answer.verdict == "unknown" and any(entry in lack.text for lack in answer.missing)
    assert not (tmp_path / "tuning.db").exists()  # nothing was trained


def test_no_learning_rate_and_no_length_are_both_asked_for(tmp_path):
    def train(run, learning_rate, max_train_steps): ...

    answer = train_steps(workload(train, tmp_path))
    assert len(answer.missing) == 2
    codes = [lack.code for lack in answer.missing]
    assert codes == ["probe.train_steps.no_rate", "probe.train_steps.no_length"]


def test_a_rate_logged_to_decay_is_no_constant_one(tmp_path):
    answer = train_steps(workload(worlds.decays, tmp_path), learning_rate=0.1)
    assert answer.verdict == "unknown"
    assert answer.missing[0].code == "probe.train_steps.rate_varied"
    assert answer.missing[0].facts["low"] < answer.missing[0].facts["high"]


def test_a_metric_never_logged_is_named(tmp_path):
    answer = train_steps(
        workload(worlds.stuck, tmp_path), learning_rate=0.1, metric="train_accuracy"
    )
    assert answer.verdict == "unknown"
    assert answer.missing[0].facts["wanted"] == "train_accuracy"


def test_a_program_that_fails_is_shown_with_its_reason(tmp_path):
    with pytest.raises(WorkloadError, match="no such file"):
        train_steps(workload(worlds.raises, tmp_path), learning_rate=0.1)


def test_wrong_arguments_are_refused_all_at_once(tmp_path):
    with pytest.raises(DesignError) as refused:
        train_steps(
            workload(worlds.stuck, tmp_path), learning_rate=-1, max_train_steps=1, factor=0.5
        )
    assert len(str(refused.value).splitlines()) == 3


def test_interrupted_it_goes_on_where_it_stopped(tmp_path):
    own = workload(worlds.interrupted_once, tmp_path)
    fixed = {"folder": str(tmp_path)}
    with pytest.raises(KeyboardInterrupt, match="call again to resume"):
        train_steps(own, learning_rate=0.1, fixed=fixed)
    assert len((tmp_path / "began").read_text().splitlines()) == 3
    assert train_steps(own, learning_rate=0.1, fixed=fixed).verdict == "fits"
    began = (tmp_path / "began").read_text().splitlines()
    assert len(began) == len(set(began)) >= 7  # nothing was trained twice


def test_once_mended_the_failed_trainings_are_tried_again(tmp_path):
    own = workload(worlds.mended_later, tmp_path)
    fixed = {"folder": str(tmp_path)}
    with pytest.raises(WorkloadError, match="no such file: data"):
        train_steps(own, learning_rate=0.1, fixed=fixed)
    (tmp_path / "data").touch()
    assert train_steps(own, learning_rate=0.1, fixed=fixed).verdict == "fits"


def test_a_command_with_names_of_its_own(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(worlds.PROGRAM)
    own = workload(
        tw.command(
            f"{sys.executable} {program} --lr={{lr}} --wd={{wd}} --sched={{sched}} "
            "--width={width} --steps={steps}"
        ),
        tmp_path,
        means={
            "learning_rate": "lr",
            "max_train_steps": "steps",
            "schedule": "sched",
            "weight_decay": "wd",
            "steps_per_epoch": 4,
        },
        off={"sched": "flat"},
    )
    lacking = train_steps(own, learning_rate=0.1)
    assert lacking.missing == (Message("probe.train_steps.no_value", {"name": "width"}),)
    assert "(--fixed width=...)" in lacking.missing[0].text
    found = train_steps(own, learning_rate=0.1, fixed={"width": 64})
    assert found.verdict == "fits" and found.lengths[0] == 80  # 20 epochs of 4 steps
    assert found.off == {"sched": "flat", "wd": 0.0}
    assert found.crossing == pytest.approx(math.log(900) / 0.2, rel=0.01)
    assert found.settings == {"steps": 35}
