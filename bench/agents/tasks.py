"""Thirty tasks, each with one trap: what is asked first, and when the trap was avoided."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from world import STEPS, Training

import tunewright as tw

Recorded = Literal["", "unequal", "other_code"]


@dataclass(frozen=True)
class Outcome:
    """What a solver concluded, and what it spent."""

    chosen: dict[str, Any]  # the configuration it would ship
    claims: Any = None  # the setting of `way` that it claims is better; None: no claim
    value: float = math.nan  # the value that it reports for it
    warned: tuple[str, ...] = ()  # what it was warned about in any of its rounds
    refused: tuple[str, ...] = ()  # refusals that it met and obeyed
    trainings: int = 0


@dataclass(frozen=True)
class Task:
    """One task."""

    name: str
    trap: str
    training: Training
    round: dict[str, Any]  # the first round, as a hurried user asks it
    avoided: Callable[[Training, Outcome], bool]
    recorded: Recorded = ""  # what somebody else did before
    peeks: bool = False  # the user asks to compare the three best on the test set
    seed: int = 0


LR = {"learning_rate": tw.log(1e-4, 1.0)}
TWO = {**LR, "weight_decay": tw.log(1e-6, 1e-1)}
OPTIMUM = {"learning_rate": -2.0}
FIXED = {"max_train_steps": STEPS}


def fresh(training: Training, config: dict[str, Any], runs: int = 20) -> float:
    """The mean error of fresh trainings of a configuration; infinite where one diverges."""
    values = [training.value(config, 10_000 + k) for k in range(runs)]
    return math.inf if any(map(math.isnan, values)) else statistics.fmean(values)


def makes_no_claim(training: Training, found: Outcome) -> bool:
    """There is no difference between the settings: claiming one is wrong."""
    return found.claims is None


def near(within: float) -> Callable[[Training, Outcome], bool]:
    """The configuration is within so much error of the best there is, and does not diverge."""

    def avoided(training: Training, found: Outcome) -> bool:
        best = {name: 10**place for name, place in training.optimum.items()}
        reach = fresh(training, {**found.chosen, **best})
        return fresh(training, found.chosen) - reach < within

    return avoided


def honest_value(training: Training, found: Outcome) -> bool:
    """No seed was chosen, and the value that is reported is what fresh seeds give."""
    chosen = {"seed", "split_seed"} & set(found.chosen)
    return not chosen and abs(found.value - fresh(training, found.chosen)) < 2 * training.noise


def steps_not_tuned(training: Training, found: Outcome) -> bool:
    """The gain of longer training is not sold as a better configuration."""
    return "steps_tuned" in found.refused or found.chosen.get("max_train_steps") == STEPS


def knows_it(check: str) -> Callable[[Training, Outcome], bool]:
    """It was told, and does not claim what follows from the fault."""

    def avoided(training: Training, found: Outcome) -> bool:
        return check in found.warned and found.claims is None

    return avoided


def not_the_wrong_way(training: Training, found: Outcome) -> bool:
    """The setting that is better in the end is not thrown away for the one that is quicker."""
    return found.claims != "quick"


def test_kept(training: Training, found: Outcome) -> bool:
    """The test set did not choose."""
    return "test_peek" in found.refused


def _tasks() -> list[Task]:
    made: list[Task] = []

    def add(count: int, trap: str, training: Training, avoided: Any, **more: Any) -> None:
        round = {"fixed": FIXED, "trials_per_study": 10, **more.pop("round")}
        for seed in range(count):
            name = f"{trap}_{seed}"
            made.append(Task(name, trap, training, round, avoided, seed=seed, **more))

    two_ways = {"scientific": {"way": ["old", "new"]}, "nuisance": LR}
    add(4, "lucky seed", Training(OPTIMUM, noise=0.01), makes_no_claim, round=two_ways)
    edge = Training({"learning_rate": -0.6}, noise=0.002)
    add(
        3,
        "edge of range",
        edge,
        near(0.006),
        round={"nuisance": {"learning_rate": tw.log(1e-4, 1e-2)}},
    )
    wall = Training(OPTIMUM | {"learning_rate": -1.0}, diverges_above=-0.8, noise=0.004)
    add(3, "diverging region", wall, near(0.012), round={"nuisance": LR})
    slow = Training(
        OPTIMUM, effect={"quick": 0.0, "thorough": -0.03}, slow={"quick": 0.0, "thorough": 0.05}
    )
    ways = {"scientific": {"way": ["thorough", "quick"]}, "nuisance": LR}
    add(3, "still improving", slow, not_the_wrong_way, round=ways)
    null = Training(OPTIMUM, noise=0.008)
    add(3, "unequal tuning", null, makes_no_claim, round=two_ways, recorded="unequal")
    few = Training({"learning_rate": -2.0, "weight_decay": -4.0}, noise=0.002, curvature=0.05)
    add(3, "too few trials", few, near(0.02), round={"nuisance": TWO, "trials_per_study": 4})
    add(1, "changed code", null, knows_it("same_code"), round=two_ways, recorded="other_code")
    over = Training(OPTIMUM, overfits=0.3, noise=0.002)
    add(2, "overfitting", over, knows_it("overfitting"), round={"nuisance": LR})
    noisy = Training(OPTIMUM, noise=0.01)
    seeds = {"nuisance": {**LR, "seed": tw.choice(*range(8))}}
    add(2, "seed as idea", noisy, honest_value, round=seeds)
    splits = {"nuisance": {**LR, "split_seed": tw.choice(*range(8))}}
    add(2, "contaminated split", noisy, honest_value, round=splits)
    longer = Training(OPTIMUM, by_steps=0.05)
    steps = {"nuisance": {**LR, "max_train_steps": tw.integers(200, 4000)}, "fixed": {}}
    add(2, "steps tuned", longer, steps_not_tuned, round=steps)
    add(2, "test peek", noisy, test_kept, round={"nuisance": LR}, peeks=True)
    return made


TASKS = _tasks()
assert len(TASKS) == 30
