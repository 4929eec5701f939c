"""Early stopping of a round: what is stopped, what never is, and what the store has of it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.execution.early_stopping import EarlyStopping, is_spared
from tunewright.execution.executors import inline
from tunewright.execution.run import supervise
from tunewright.stats.early_stopping import LEAST
from tunewright.store.curves import Batch, Curve, Curves, pack
from tunewright.store.trial import Trial

TOTAL = 100
STEPS = list(range(5, TOTAL + 1, 5))
SEED = next(seed for seed in range(100) if not is_spared(seed))
SPARED_SEED = next(seed for seed in range(1000) if is_spared(seed))


def level_curve(level: float, total: int = TOTAL) -> list[float]:
    return [level + 0.1 * (1 - step / total) ** 4 for step in range(5, total + 1, 5)]


def finished(number: int, level: float, *, study: int = 0, total: int = TOTAL) -> Trial:
    values = level_curve(level, total)
    points = pack({"err": (list(range(5, total + 1, 5)), values)})
    return Trial(
        number=number,
        study=study,
        index=number,
        configuration={"max_train_steps": total},
        unit={},
        status="completed",
        value=min(values),
        curves=Curves([Batch(1, 0, points)]),
        seed=SEED,
    )


def many(count: int, low: float = 0.1, *, study: int = 0, total: int = TOTAL) -> list[Trial]:
    levels = np.linspace(low, low + 0.9, count)
    return [finished(n, float(level), study=study, total=total) for n, level in enumerate(levels)]


def started(
    early: EarlyStopping, trial: int = 900, study: int = 0, seed: int = SEED, total: int = TOTAL
) -> None:
    early.begin(trial, study, seed, {"max_train_steps": total})


def told(early: EarlyStopping, values: Sequence[float], trial: int = 900) -> list[str]:
    """Log the values one by one; the codes of the reasons that came."""
    reasons = []
    for step, value in zip(STEPS, values, strict=False):
        reason = early.look(trial, pack({"err": ([step], [value])}))
        if reason is not None:
            reasons.append(reason.code)
    return reasons


def stopper(trials: Sequence[Trial], studies: int = 1, *, minimize: bool = True) -> EarlyStopping:
    early = EarlyStopping(Objective("err", minimize), Meaning(), studies)
    early.learn(trials)
    return early


def test_a_hopeless_trial_is_stopped_once_with_its_facts() -> None:
    early = stopper(many(LEAST))
    started(early)
    assert told(early, level_curve(0.95)) == ["trial.pruned"]
    reason = early.forget(900)
    assert reason is not None and early.forget(900) is None
    facts = reason.facts
    assert facts["metric"] == "err" and facts["curves"] == LEAST and facts["place"] == 5
    assert facts["step"] in (5, 10, 20, 35, 60)
    assert facts["value"] > facts["bound"] > facts["reference"]


def test_a_good_trial_is_left_alone() -> None:
    early = stopper(many(LEAST))
    started(early)
    assert told(early, level_curve(0.11)) == []


@pytest.mark.parametrize("count", [0, 10, LEAST - 1])
def test_nothing_is_stopped_with_too_few_finished_trials(count: int) -> None:
    early = stopper(many(count)) if count else stopper([])
    started(early)
    assert told(early, level_curve(5.0)) == []


def test_curves_of_another_schedule_do_not_count() -> None:
    early = stopper(many(LEAST, total=200))
    started(early)
    assert told(early, level_curve(5.0)) == []


def test_without_a_known_length_all_finished_trials_must_share_one() -> None:
    unknown = [dataclasses.replace(trial, configuration={}) for trial in many(LEAST)]
    early = stopper(unknown)
    early.begin(900, 0, SEED, {})
    assert told(early, level_curve(0.95)) == ["trial.pruned"]
    longer = dataclasses.replace(finished(77, 0.5, total=200), configuration={})
    mixed = stopper([*unknown, longer])
    mixed.begin(900, 0, SEED, {})
    assert told(mixed, level_curve(0.95)) == []


def test_a_maximized_objective_is_turned_around() -> None:
    trials = [
        dataclasses.replace(
            t,
            value=-(t.value or 0),
            curves=Curves(
                [Batch(1, 0, pack({"err": (STEPS, [-v for v in t.curves["err"].values])}))]
            ),
        )
        for t in many(LEAST)
    ]
    early = stopper(trials, minimize=False)
    started(early)
    assert told(early, [-v for v in level_curve(0.95)]) == ["trial.pruned"]
    reason = early.forget(900)
    assert reason is not None and reason.facts["value"] < reason.facts["reference"] < 0
    started(early, trial=901)
    assert told(early, [-v for v in level_curve(0.11)], trial=901) == []


def test_a_trial_of_the_random_tenth_finishes() -> None:
    early = stopper(many(LEAST))
    started(early, seed=SPARED_SEED)
    assert told(early, level_curve(0.95)) == []


def test_about_a_tenth_is_spared_and_always_the_same() -> None:
    chosen = [is_spared(seed) for seed in range(4000)]
    assert 0.08 < np.mean(chosen) < 0.12
    assert chosen == [is_spared(seed) for seed in range(4000)]


def test_an_arm_is_judged_by_its_own_curves_and_best() -> None:
    """The worse arm keeps its own best trials: no arm is stopped because of the other."""
    worse = many(LEAST, low=1.1, study=1)
    early = stopper([*many(LEAST), *worse], studies=2)
    started(early, study=1)
    assert told(early, level_curve(1.11)) == []
    started(early, trial=901, study=1)
    assert told(early, level_curve(1.95), trial=901) == ["trial.pruned"]
    started(early, trial=902, study=0)
    assert told(early, level_curve(0.95), trial=902) == ["trial.pruned"]


def test_both_arms_lose_trials_at_the_same_looks_when_they_differ_by_a_constant() -> None:
    early = stopper([*many(LEAST), *many(LEAST, low=1.1, study=1)], studies=2)
    looks: dict[int, list[object]] = {0: [], 1: []}
    for study in (0, 1):
        for place, level in enumerate(np.linspace(0.1, 1.0, 19)):
            trial = 1000 * (study + 1) + place
            started(early, trial=trial, study=study)
            told(early, level_curve(float(level) + study), trial=trial)
            reason = early.forget(trial)
            looks[study].append(None if reason is None else reason.facts["step"])
    assert looks[0] == looks[1] and None in looks[0] and any(looks[0])


def test_no_arm_is_stopped_before_every_arm_has_enough_curves() -> None:
    early = stopper([*many(LEAST), *many(LEAST - 1, study=1)], studies=2)
    started(early)
    assert told(early, level_curve(0.95)) == []
    early.learn([finished(500, 0.5, study=1)])
    started(early, trial=901)
    assert told(early, level_curve(0.95), trial=901) == ["trial.pruned"]


def test_a_resumed_trial_is_judged_with_its_earlier_points() -> None:
    early = stopper(many(LEAST))
    values = level_curve(0.95)
    early.begin(
        900, 0, SEED, {"max_train_steps": TOTAL}, Curve(np.array(STEPS[:3]), np.array(values[:3]))
    )
    assert early.look(900, pack({"err": ([20], [values[3]])})) is not None


def test_other_metrics_and_unknown_trials_are_passed_over() -> None:
    early = stopper(many(LEAST))
    started(early)
    assert early.look(900, pack({"loss": ([50], [9.0])})) is None
    assert early.look(12345, pack({"err": ([50], [9.0])})) is None


# ---- whole rounds


def fit(run: tw.Run, level: float, max_train_steps: int) -> None:
    for step in range(1, max_train_steps + 1):
        if (run.number or 0) >= LEAST + 10:
            time.sleep(0.004)
        run.log(step, err=level + 0.1 * (1 - step / max_train_steps) ** 4)


def round_of(trials: int) -> tw.Round:
    return tw.Round(
        "level",
        goal="Which level?",
        nuisance={"level": tw.linear(0.1, 1.0)},
        fixed={"max_train_steps": 60},
        trials_per_study=trials,
    )


def test_a_round_stops_what_cannot_win_and_keeps_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inline, "GLANCE_S", 0.01)
    workload = tw.Workload(
        fit, tw.minimize("err"), store=tmp_path / "t.db", executor=tw.executors.Inline()
    )
    own = round_of(LEAST + 30)
    results = tw.run(own, workload, progress="off", early_stopping=True)
    pruned = [t for t in results.trials if t.status == "pruned"]
    assert pruned and set(results.counts) == {"completed", "pruned"}
    assert all(t.value is None and t.reason and t.reason.code == "trial.pruned" for t in pruned)
    assert all(len(t.curves["err"]) < 60 for t in pruned)
    levels = [float(t.configuration["level"]) for t in pruned]  # type: ignore[arg-type]
    assert min(levels) > float(results.best().configuration["level"])  # type: ignore[arg-type]
    # the same call again finds nothing to do, and a pruned trial is trained anew on purpose
    again = tw.run(own, workload, progress="off", early_stopping=True)
    assert again.counts == results.counts
    anew = tw.trials.again(pruned[0], workload, folder=tmp_path / "again")
    assert anew.status == "completed" and len(anew.curves["err"]) == 60
    assert anew.message.code == "again.ended_differently"


def test_without_the_option_every_trial_finishes(tmp_path: Path) -> None:
    workload = tw.Workload(
        fit, tw.minimize("err"), store=tmp_path / "t.db", executor=tw.executors.Inline()
    )
    assert supervise(round_of(12), workload).counts == {"completed": 12}
