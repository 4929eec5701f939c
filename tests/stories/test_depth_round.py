"""A whole round on a world with a known answer: begun, broken off, continued, extended."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.execution.run import supervise
from tunewright.testing import Bowl, Walled

OPTIMUM, WALL = 0.6, 0.85  # positions in the range of the learning rate
EFFECT = {1: 0.05, 2: 0.0, 3: 0.03}  # what a depth adds to the error
LEARNING_RATE = tw.log(1e-4, 1e-1)
SURFACE = Walled(Bowl({"learning_rate": OPTIMUM}), {"learning_rate": 1.0}, above=WALL)


def train(run, learning_rate, hidden_layers, beta1=0.9, max_train_steps=20, journal=""):
    """Falls to the surface's value at its last step; diverges half-way beyond the wall."""
    with open(journal, "a") as file:
        file.write(f"{run.number} {run.attempt} began\n")
    value = SURFACE({"learning_rate": LEARNING_RATE.unit(learning_rate)})
    for step in run.steps(max_train_steps):
        if value is None and step > max_train_steps / 2:
            run.log(step, train_loss=math.nan)
        reached = 0.5 if value is None else value + EFFECT[hidden_layers] + run.seeds.trial / 2**36
        run.log(step, train_loss=2 * reached + 1 / step)
        if run.eval_due(step):
            run.log(step, valid_error=reached + (max_train_steps - step) / max_train_steps)
    with open(journal, "a") as file:
        file.write(f"{run.number} {run.attempt} ended\n")


def depth(journal: Path, trials: int) -> tw.Round:
    return tw.Round(
        "depth",
        goal="Do more hidden layers lower the validation error?",
        scientific={"hidden_layers": [1, 2, 3]},
        nuisance={"learning_rate": LEARNING_RATE, "beta1": tw.ranges.log_from_one(0.8, 0.99)},
        fixed={"max_train_steps": 20, "journal": str(journal)},
        trials_per_study=trials,
    )


@pytest.fixture
def world(tmp_path):
    workload = tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=tmp_path / "tuning.db",
        executor=tw.Local(workers=2, devices=[]),
    )
    return tmp_path / "journal", workload


def begun(journal: Path) -> Counter[int]:
    return Counter(
        int(line.split()[0]) for line in journal.read_text().splitlines() if line.endswith("began")
    )


def test_the_depth_round(world):
    journal, workload = world
    part = supervise(depth(journal, 6), workload, trials=7)
    assert part.counts.get("pending") == 18 - 7
    assert sum(begun(journal).values()) == 7

    results = tw.run(depth(journal, 6), workload)
    assert begun(journal) == {number: 1 for number in range(18)}, "nothing was trained twice"
    assert all(trial.ended for trial in results.trials)

    # every verdict is the surface's, and the best is the known one
    for trial in results.trials:
        position = LEARNING_RATE.unit(trial.configuration["learning_rate"])
        assert position == pytest.approx(trial.unit["learning_rate"], abs=1e-12)
        if position > WALL:
            assert trial.status == "infeasible"
            assert (trial.reason.code, trial.reason.facts["step"]) == ("metric.not_finite", 11)
        else:
            known = (
                SURFACE({"learning_rate": position}) + EFFECT[trial.configuration["hidden_layers"]]
            )
            assert trial.status == "completed"
            assert trial.value == pytest.approx(known + trial.seed / 2**36)
            assert trial.best_step == 20
    assert results.counts.get("infeasible", 0) >= 1
    assert results.best().configuration["hidden_layers"] == 2
    nearest = min(
        (t for t in results.of(1) if t.value is not None),
        key=lambda t: abs(t.unit["learning_rate"] - OPTIMUM),
    )
    assert results.best().number == nearest.number

    # all studies were compared on the same draws and seeds
    draws = [[(t.unit, t.seed) for t in results.of(study)] for study in range(3)]
    assert draws[0] == draws[1] == draws[2]

    # more trials continue the sequence and leave the first ones alone
    more = tw.run(depth(journal, 8), workload)
    assert begun(journal) == {number: 1 for number in range(24)}
    assert more.trials[:18] == results.trials
    assert more.best().value <= results.best().value

    # repeats see the trial variance, and stay apart
    repeats = tw.repeat(more.best(), workload, times=3)
    assert len(set(repeats.values)) == 3
    assert max(abs(value - more.best().value) for value in repeats.values) < 2 * 2**-5
    loaded = tw.load(workload.store, "depth")
    assert loaded.trials == more.trials
    assert [t.value for t in loaded.repeats(more.best())] == list(repeats.values)
    (caveat,) = loaded.round.caveats
    assert caveat.facts["fixed"]["max_train_steps"] == 20
