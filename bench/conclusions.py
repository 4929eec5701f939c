"""Does setting X help? Answers from equal numbers of trainings, on tables where the truth is known.

    python bench/conclusions.py [--seeds 20] [--trainings 40]

A question is one column of a recorded table held at two values, all other columns tuned; or a
column that does nothing, added to the table. The truth is the mean over the recorded seeds of the
best 0.2 % of the configurations under each value: no difference if they lie within half a standard
deviation of one run. Four ways to answer get the same number of trainings:

- *ours*: a round with both values on shared quasi-random points, the best trial of each repeated on
  three fresh seeds, `tw.decide` both ways (a feature, one look);
- *one study*: Optuna's TPE with X as a categorical, the value of the best trial;
- *two studies*: TPE for each value, half of the trainings each, the better best;
- *one run each*: TPE without X, then the best configuration trained once with X, on the same seed.

hpobench's seeds are data splits: everything is tuned on one split, and repeats use the others.
Reads the tables from beside the repository. Raw lines go to bench/results/conclusions.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import numpy.typing as npt
from verdicts.worlds import TABLES, Table, _table, available

import tunewright as tw
from tunewright.launches.arm import Arm
from tunewright.launches.launch import LaunchTerms, fixed
from tunewright.testing.worlds import World, results

OUT = Path(__file__).parent / "results"
REPEATS = 3
EQUAL = 0.5  # standard deviations of one run: less is no difference
TOP = 0.002  # of the configurations: what tuning can attain
Answer = Literal["helps", "hurts", "undecided"]
Floats = npt.NDArray[np.float64]
# table, column (None: one that does nothing), value without X, value with X, as positions; the last
# counts the questions about nothing, which differ in their noise (only fcnet has noise of its own)
QUESTIONS: tuple[tuple[int, str | None, float, float], ...] = (
    (0, "activation_fn_1", 0.0, 1.0),
    (0, "activation_fn_2", 0.0, 1.0),
    (0, "lr_schedule", 1.0, 0.0),
    (0, "dropout_1", 0.0, 0.5),
    (0, "dropout_2", 0.0, 0.5),
    (0, None, 0.0, 1.0),
    (0, None, 0.0, 2.0),
    (0, None, 0.0, 3.0),
    (1, "depth", 0.0, 0.5),
    (1, "depth", 0.5, 1.0),
    (2, "depth", 0.0, 0.5),
    (2, "depth", 0.5, 1.0),
)


@dataclass(frozen=True, eq=False)
class Question:
    """Two arms of one table: the losses of every seed at every point of the other columns."""

    name: str
    grids: tuple[int, ...]  # how many values each other column has
    arms: tuple[Floats, Floats]  # without X, with X: (points, seeds), lower is better
    splits: bool  # whether a seed is a data split
    stream: int = 0  # of random numbers

    def row(self, place: dict[str, int]) -> int:
        """The row of a point."""
        return int(
            np.ravel_multi_index([place[f"a{n}"] for n in range(len(self.grids))], self.grids)
        )

    @property
    def effect(self) -> tuple[float, float]:
        """What X gains when both are tuned, and the standard deviation of one run."""
        best, sds = [], []
        for arm in self.arms:
            top = arm[np.argsort(arm.mean(axis=1))[: max(5, round(TOP * len(arm)))]]
            best.append(float(top.mean()))
            own = top - top.mean(axis=0) if self.splits else top
            sds.append(float(np.median(own.std(axis=1, ddof=1))))
        return best[0] - best[1], float(np.mean(sds))

    @property
    def truth(self) -> Answer:
        """The right answer; `undecided` where there is no difference."""
        gain, sd = self.effect
        return "undecided" if abs(gain) < EQUAL * sd else "helps" if gain > 0 else "hurts"


def questions() -> Iterator[Question]:
    """Every question, from the recorded tables."""
    for number, column, without, with_x in QUESTIONS:
        table: Table = _table(*TABLES[number])
        losses = np.log(table.losses) if number == 0 else table.losses
        columns = list(table.columns)
        arms = []
        for value in (without, with_x):
            at = columns.index(column) if column else None
            kept = np.ones(len(table.units), bool)
            if at is not None:
                kept = np.abs(table.units[:, at] - value) < 1e-9
            units = table.units if at is None else np.delete(table.units, at, axis=1)
            order = np.lexsort(units[kept].T[::-1])
            arms.append(losses[kept][order])
            grids = tuple(len(np.unique(own)) for own in units.T)
        assert np.prod(grids) == len(arms[0]) == len(arms[1])
        name = f"{table.name}: {column or 'nothing'} {without:g} to {with_x:g}"
        stream = 0 if column else round(with_x)
        yield Question(name, grids, (arms[0], arms[1]), splits=number > 0, stream=stream)


class Runs:
    """Trainings of one question: what a configuration gives, on a fixed split or a fresh seed."""

    def __init__(self, question: Question, seed: int) -> None:
        self.question, self.random = question, np.random.default_rng([seed, 77, question.stream])
        self.seeds = question.arms[0].shape[1]
        self.split = int(self.random.integers(self.seeds))
        self.used: dict[tuple[int, int], int] = {}  # the seed that tuning used
        self.trained = 0

    def tune(self, arm: int, place: dict[str, int]) -> float:
        """One training while tuning."""
        row = self.question.row(place)
        own = self.split if self.question.splits else int(self.random.integers(self.seeds))
        self.used[arm, row] = own
        self.trained += 1
        return float(self.question.arms[arm][row, own])

    def again(self, arm: int, place: dict[str, int]) -> tuple[tuple[float, ...], tuple[int, ...]]:
        """Repeats on seeds that tuning did not use for it, and these seeds."""
        row = self.question.row(place)
        fresh = [s for s in range(self.seeds) if s != self.used[arm, row]]
        if not self.question.splits:
            fresh = list(self.random.permutation(fresh))
        own = tuple(int(s) for s in fresh[:REPEATS])
        self.trained += len(own)
        return tuple(float(self.question.arms[arm][row, s]) for s in own), own


def ours(question: Question, seed: int, trainings: int) -> tuple[Answer, int]:
    """A round on shared points, the best of each repeated, a decision each way."""
    runs = Runs(question, seed)
    count = (trainings - 2 * REPEATS) // 2
    space = {f"a{n}": tw.integers(0, many - 1) for n, many in enumerate(question.grids)}
    round = tw.Round(
        "x", goal="?", scientific={"x": [0, 1]}, nuisance=space, trials_per_study=count, seed=seed
    )
    arms = []
    for arm in (0, 1):
        points = [
            t.configuration
            for t in results(round, World(lambda unit: 0.0)).trials
            if t.study == arm
        ]
        values = [runs.tune(arm, point) for point in points]  # type: ignore[arg-type]
        chosen = points[int(np.argmin(values))]
        again, own = runs.again(arm, chosen)  # type: ignore[arg-type]
        arms.append(Arm(f"x={arm}", again, tw.minimize("loss"), own if question.splits else ()))
    terms = LaunchTerms(claim="feature", plan=fixed(REPEATS))
    if tw.decide(arms[1], arms[0], terms).verdict == "launch":
        return "helps", runs.trained
    reverse = tw.decide(arms[0], arms[1], terms).verdict == "launch"
    return ("hurts" if reverse else "undecided"), runs.trained


def _tpe(
    question: Question,
    seed: int,
    trials: int,
    train: Callable[[int, dict[str, int]], float],
    arm: int | None,
) -> tuple[int, dict[str, int], float]:
    """The best trial of a TPE study: the arm, the point and the value."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))

    def objective(trial: optuna.Trial) -> float:
        own = trial.suggest_categorical("x", [0, 1]) if arm is None else arm
        place = {
            f"a{n}": trial.suggest_int(f"a{n}", 0, m - 1) for n, m in enumerate(question.grids)
        }
        return train(own, place)

    study.optimize(objective, n_trials=trials)
    best = dict(study.best_params)
    chosen = best.pop("x") if arm is None else arm
    return chosen, best, study.best_value


def one_study(question: Question, seed: int, trainings: int) -> tuple[Answer, int]:
    """The value of X in the best trial of one study."""
    runs = Runs(question, seed)
    chosen = _tpe(question, seed, trainings, runs.tune, None)[0]
    return ("helps" if chosen else "hurts"), runs.trained


def two_studies(question: Question, seed: int, trainings: int) -> tuple[Answer, int]:
    """The better best of two equal studies."""
    runs = Runs(question, seed)
    off, on = (_tpe(question, 2 * seed + arm, trainings // 2, runs.tune, arm)[2] for arm in (0, 1))
    return ("helps" if on < off else "hurts" if off < on else "undecided"), runs.trained


def one_run_each(question: Question, seed: int, trainings: int) -> tuple[Answer, int]:
    """Tuned without X, then trained once more without it and once with it."""
    runs = Runs(question, seed)
    place = _tpe(question, seed, trainings - 2, runs.tune, 0)[1]
    off, on = runs.tune(0, place), runs.tune(1, place)
    return ("helps" if on < off else "hurts" if off < on else "undecided"), runs.trained


WAYS = {
    "ours": ours,
    "one study": one_study,
    "two studies": two_studies,
    "one run each": one_run_each,
}


def page(lines: list[dict[str, object]], trainings: int, seeds: int) -> str:
    """The table of shares."""
    head = (
        f"# Does setting X help? {trainings} trainings for an answer\n\n"
        f"`python bench/conclusions.py --seeds {seeds} --trainings {trainings}`, {len(QUESTIONS)} "
        f"questions x {seeds} seeds; raw lines in conclusions.jsonl. Where there is a difference: "
        "right, wrong, undecided. Where there is none, any answer is a false claim.\n\n"
        "| way | right | wrong | undecided | of | false claims without a difference | of |\n"
        f"|{'---|' * 7}\n"
    )
    rows = []
    for way in WAYS:
        own = [line for line in lines if line["way"] == way]
        real = [line for line in own if line["truth"] != "undecided"]
        equal = [line for line in own if line["truth"] == "undecided"]
        right = sum(line["answer"] == line["truth"] for line in real)
        open_ = sum(line["answer"] == "undecided" for line in real)
        wrong = len(real) - right - open_
        false = sum(line["answer"] != "undecided" for line in equal)
        shares = [f"{n / max(1, len(real)):.2f}" for n in (right, wrong, open_)]
        rows.append(
            f"| {way} | {' | '.join(shares)} | {len(real)} | {false / max(1, len(equal)):.2f} "
            f"| {len(equal)} |"
        )
    asked = ["", "", "| question | gain of X in sd of one run | truth |", "|---|---|---|"]
    for name in dict.fromkeys(line["question"] for line in lines):
        first = next(line for line in lines if line["question"] == name)
        truth = {"undecided": "no difference"}.get(str(first["truth"]), first["truth"])
        asked.append(f"| {name} | {first['gain_in_sd']:.2f} | {truth} |")
    return head + "\n".join(rows) + "\n".join(asked) + "\n"


def main() -> None:
    """Ask every question in every way and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trainings", type=int, default=40)
    asked = parser.parse_args()
    if not available():
        sys.exit("the recorded tables are not beside the repository")
    lines = []
    with (OUT / "conclusions.jsonl").open("w") as raw:
        for question in questions():
            gain, sd = question.effect
            for seed in range(asked.seeds):
                for way, answer in WAYS.items():
                    said, trained = answer(question, seed, asked.trainings)
                    assert trained <= asked.trainings
                    line = {
                        "question": question.name,
                        "seed": seed,
                        "way": way,
                        "answer": said,
                        "truth": question.truth,
                        "gain_in_sd": gain / sd,
                        "trainings": trained,
                    }
                    print(json.dumps(line), file=raw, flush=True)
                    lines.append(line)
    (OUT / "conclusions.md").write_text(page(lines, asked.trainings, asked.seeds))


if __name__ == "__main__":
    main()
