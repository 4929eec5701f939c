"""The stability probe: a world whose limit is known, a stable one, and a residual network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.probes import residual_world, sharpness_world

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.command import command
from tunewright.execution.executors.inline import Inline
from tunewright.execution.run import run
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.clip import clip
from tunewright.probes.probe import Answer, as_document
from tunewright.probes.short_run import ShortRun
from tunewright.probes.stability import FACTORS, lowest_unstable, stability
from tunewright.probes.warmup import warmup
from tunewright.store.store import Store

HOLD = {"schedule": "constant"}


@pytest.fixture
def workload(tmp_path: Path) -> Any:
    def make(train: Any = sharpness_world.train, **more: Any) -> Workload:
        given = {"off": HOLD, **more}
        store = tmp_path / "tuning.db"
        return Workload(train, minimize("valid_loss"), store=store, executor=Inline(), **given)

    return make


def test_the_lowest_unstable_learning_rate_is_the_known_one(workload: Any) -> None:
    found = stability(workload(), fixed={"learning_rate": 0.01})  # the limit is 2 / 100
    assert isinstance(found, Answer)
    assert [run.stable for run in found.runs] == [True] * 5 + [False] * 3
    assert found.unstable_base_learning_rate == pytest.approx(0.03)
    first = found.first_unstable
    assert first is not None and first.early and first.recovered and (first.at_step or 0) < 10
    assert found.message.code == "probe.stability.unstable_above"
    facts = found.message.facts
    assert (facts["best"], facts["times"]) == (0.01, pytest.approx(3)) and facts["early"]
    assert len(found.headline.split()) <= 12
    assert not found.settings and not found.missing and not found.caveats


def test_every_step_is_evaluated_at_a_constant_rate(workload: Any) -> None:
    own = workload()
    found = stability(own, fixed={"learning_rate": 0.01}, steps=120, factors=(1, 2))
    with Store.open(own.store) as store:
        trials = store.results(found.round).trials
    assert [len(trial.curves["valid_loss"]) for trial in trials] == [120, 120]
    assert all(trial.configuration["schedule"] == "constant" for trial in trials)
    assert len({trial.seed for trial in trials}) == 1  # equal draws


def test_a_stable_world_stays_silent(workload: Any) -> None:
    found = stability(workload(), fixed={"learning_rate": 0.01, "sharp": 1.0})
    assert found.unstable_base_learning_rate is None
    assert found.message.code == "probe.stability.stable"
    assert found.message.facts == {"steps": 500, "times": pytest.approx(10), "best": 0.01}


def never_finite(run: Any, learning_rate: float, schedule: str = "constant", max_train_steps=200):
    for step in run.steps(max_train_steps):
        run.log(step, train_loss=float("nan"), valid_loss=1.0)


def finite_once(run: Any, learning_rate: float, schedule: str = "constant", max_train_steps=200):
    for step in run.steps(max_train_steps):
        run.log(step, train_loss=1.0 if step < 3 else float("nan"), valid_loss=1.0)


def test_a_loss_that_is_never_finite_is_a_bug_and_not_early_instability(workload: Any) -> None:
    found = stability(workload(never_finite), fixed={"learning_rate": 0.01})
    assert found.message.code == "probe.stability.never_finite"
    assert found.message.facts == {"low": 0.005, "high": pytest.approx(0.1)}
    assert [lack.code for lack in found.missing] == ["probe.finite_loss_needed"]
    assert found.unstable_base_learning_rate is None and len(found.headline.split()) <= 12

    early = stability(workload(finite_once), fixed={"learning_rate": 0.02})
    assert early.message.code == "probe.stability.unstable_at_best"
    assert early.message.facts["early"]


def never_finite_with_warmup(
    run: Any,
    learning_rate: float,
    warmup_steps: int = 0,
    clip_norm: float | None = None,
    schedule: str = "constant",
    max_train_steps: int = 200,
) -> None:
    never_finite(run, learning_rate, schedule, max_train_steps)


def test_neither_warmup_nor_clipping_is_tried_on_a_bug(workload: Any) -> None:
    own = workload(never_finite_with_warmup)
    for probe in (warmup, clip):
        found = probe(own, fixed={"learning_rate": 0.01})
        assert [lack.code for lack in found.missing] == ["probe.finite_loss_needed"]
        assert not found.settings
    with Store.open(own.store) as store:
        assert len(store.rounds()) == 1  # the stability runs alone


def test_an_outlier_in_the_middle_is_mid_training_instability(workload: Any) -> None:
    fixed = {"learning_rate": 0.02, "sharp": 5.0, "burst": 40.0}
    found = stability(workload(), fixed=fixed, factors=(0.5, 1, 2, 5))
    first = found.first_unstable
    assert first is not None and not first.early and 295 <= (first.at_step or 0) <= 305
    assert found.message.facts["early"] is False


def test_asking_again_trains_nothing(workload: Any, tmp_path: Path) -> None:
    marks = tmp_path / "marks"

    def train(run: Any, learning_rate: float, schedule: str = "constant") -> None:
        with marks.open("a") as file:
            file.write("x")
        sharpness_world.train(run, learning_rate, schedule=schedule, max_train_steps=80)

    own = workload(train)
    fixed = {"learning_rate": 0.01, "max_train_steps": 80}
    with pytest.raises(DesignError, match="max_train_steps"):
        stability(own, fixed=fixed)  # this function takes no number of steps
    assert not marks.exists()
    own = workload()
    first = stability(own, fixed={"learning_rate": 0.01}, steps=80, factors=(1, 5))
    with Store.open(own.store) as store:
        before = [trial.identity for trial in store.results(first.round).trials]
    assert stability(own, fixed={"learning_rate": 0.01}, steps=80, factors=(1, 5)) == first
    with Store.open(own.store) as store:
        assert [trial.identity for trial in store.results(first.round).trials] == before
        kept = store.probes()
    assert kept[-1].answer["unstable_base_learning_rate"] == pytest.approx(0.05)


def test_it_begins_from_the_best_trial_of_the_store(workload: Any) -> None:
    own = workload()
    asked = Round(
        "rates",
        goal="Which learning rate?",
        scientific={},
        nuisance={"learning_rate": log(1e-3, 1.5e-2)},
        fixed={"max_train_steps": 50},
        trials_per_study=4,
    )
    best = run(asked, own).best()
    found = stability(own, steps=70, factors=(1, 2))
    assert found.learning_rate == best.configuration["learning_rate"]


def test_what_is_missing_is_named_with_the_entry(workload: Any) -> None:
    found = stability(workload())
    assert found.message.code == "probe.stability.unknown"
    (said,) = found.missing
    facts = {"name": "learning_rate", "meaning": "learning_rate"}
    assert said == Message("probe.no_value", facts)

    def other(run: Any, pace: float = 0.1, horizon: int = 3) -> None:
        raise AssertionError("nothing may train")

    lacks = stability(workload(other, off=None)).missing
    assert [lack.facts["meaning"] for lack in lacks] == ["learning_rate", "max_train_steps"]
    assert 'means={"learning_rate": ...}' in lacks[0].text


def test_a_schedule_that_cannot_be_held_is_a_caveat(workload: Any) -> None:
    found = stability(workload(off=None), fixed={"learning_rate": 0.01}, steps=60, factors=(1,))
    (said,) = found.caveats
    assert said.code == "probe.schedule_squeezed"
    assert 'off={"schedule": "constant"}' in said.text


def test_a_lone_alarm_below_stable_runs_is_chance() -> None:
    runs = [ShortRun(n, 0.1 * 2**n, n not in (1, 3)) for n in range(4)]
    assert lowest_unstable(runs) == pytest.approx(0.8)
    assert lowest_unstable(runs[:3]) is None


def test_the_answer_is_plain_data(workload: Any) -> None:
    found = stability(workload(), fixed={"learning_rate": 0.01}, steps=70, factors=(1, 5))
    document = json.loads(json.dumps(as_document(found)))
    assert document["probe"] == "stability"
    assert document["unstable_base_learning_rate"] == pytest.approx(0.05)
    assert document["runs"][0]["stable"] is True


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"steps": 1.5}, {"factors": ()}, {"factors": (1, -2)}]
)
def test_what_makes_no_sense_is_refused(workload: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(DesignError, match=next(iter(wrong))):
        stability(workload(), fixed={"learning_rate": 0.01}, **wrong)


def test_a_command_works_as_well(workload: Any, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\n"
        "rate, steps, every = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])\n"
        "x = 1.0\n"
        "for step in range(1, steps + 1):\n"
        "    loss = 1 + x * x\n"
        "    if step % every == 0 or step == steps:\n"
        "        print(json.dumps({'step': step, 'loss': loss, 'valid_loss': loss}))\n"
        "    x = min(abs(x - rate * (10 if step < 9 else 0.1) * x), 1e6)\n"
    )
    own = workload(
        command(f"python {program} {{lr}} {{steps}} {{run.eval_every}}"),
        means={"learning_rate": "lr", "max_train_steps": "steps", "train_loss": "loss"},
        off=None,
    )
    found = stability(own, fixed={"lr": 0.1, "steps": 1000}, steps=90, factors=(1, 5))
    assert found.unstable_base_learning_rate == pytest.approx(0.5)


def test_a_residual_network_with_large_branches_is_unstable_and_one_with_small_is_not(
    workload: Any,
) -> None:
    own = workload(residual_world.train)
    found = stability(own, fixed={"learning_rate": 3e-4}, steps=80, factors=(1, 5, 10))
    assert found.unstable_base_learning_rate == pytest.approx(1.5e-3)
    assert found.first_unstable is not None and found.first_unstable.early
    calm = {"learning_rate": 0.01, "residual_scale": 0.3}
    assert stability(own, fixed=calm, steps=80, factors=(1, 5)).first_unstable is None


def test_the_factors_look_just_above_the_best() -> None:
    assert 2.0 in FACTORS and max(FACTORS) == 10 and 1.25 in FACTORS


def rarely(run: Any, learning_rate: float, schedule: str = "constant", max_train_steps: int = 2000):
    """A program with an interval of its own: the loss at every 50th step."""
    for step in run.steps(max_train_steps):
        if step % 50 == 0:
            run.log(step, train_loss=1 / step, valid_loss=1 / step)


def test_runs_that_cannot_be_judged_are_an_answer_and_no_crash(workload: Any) -> None:
    assert lowest_unstable([]) is None
    own = workload(rarely)
    found = stability(own, fixed={"learning_rate": 0.02}, factors=(1, 2))
    assert found.message.code == "probe.stability.unknown" and len(found.runs) == 2
    (said,) = found.missing
    assert (said.code, said.facts["points"], said.facts["needed"]) == (
        "probe.too_few_points",
        10,
        60,
    )
    assert found.unstable_base_learning_rate is None and said.text


def test_too_few_steps_are_refused_before_training(workload: Any) -> None:
    def never(
        run: Any, learning_rate: float, schedule: str = "c", max_train_steps: int = 9
    ) -> None:
        raise AssertionError("nothing may train")

    found = stability(workload(never), fixed={"learning_rate": 0.02}, steps=40)
    (said,) = found.missing
    assert said == Message("probe.too_few_steps", {"steps": 40, "needed": 60}) and said.text
    assert not found.runs


def test_a_loss_that_an_earlier_trial_logged_too_rarely_is_refused_before_training(
    workload: Any, monkeypatch: Any
) -> None:
    own = workload(rarely)
    asked = Round(
        "earlier", goal="?", scientific={"learning_rate": [0.01, 0.02]}, trials_per_study=1
    )
    run(asked, own)
    found = stability(own, steps=500)
    (said,) = found.missing
    assert said.code == "probe.logged_too_rarely" and not found.runs and said.text
    facts = said.facts
    assert (facts["every"], facts["points"], facts["needed_steps"]) == (50, 10, 3000)
    # a program that has changed since may log more often: its runs are tried
    changed = {"train.py": "another"}
    monkeypatch.setattr("tunewright.probes.short_run.sources", lambda train: changed)
    assert stability(own, steps=500, factors=(1,)).runs


def test_a_changed_program_is_not_answered_by_the_runs_of_the_old_one(
    workload: Any, monkeypatch: Any
) -> None:
    own = workload()
    fixed = {"learning_rate": 0.01}
    first = stability(own, fixed=fixed, steps=80, factors=(1,))
    assert stability(own, fixed=fixed, steps=80, factors=(1,)).round == first.round
    for module in ("tunewright.probes.probe", "tunewright.execution.run"):
        monkeypatch.setattr(f"{module}.sources", lambda train: {"train.py": "another"})
    again = stability(own, fixed=fixed, steps=80, factors=(1,))
    assert again.round != first.round
    assert stability(own, fixed=fixed, steps=80, factors=(1,)).round == again.round
