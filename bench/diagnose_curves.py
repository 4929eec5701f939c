"""Labelled curves for `bench/diagnose.py`: where they come from, and the rule that labels them.

Labels never come from the checks. There are four kinds:

- *future*: a recorded run is cut at 60 % and the rest labels it. Still improving: the level of the
  last fifth of the whole run is better than that of the last tenth shown by more than 4 % of the
  improvement shown, and by 3 standard errors; not: by less than 1.5 %, standard error below 0.75 %.
  This counts where the learning rate is constant; elsewhere it is reported as `still_improving*`.
  Levelled off by half: from the middle tenth shown to the last fifth of the whole run less than
  1.5 % either way, not: more than 6 %. What lies between is not used.
- *other evaluations*: overfitting. The odd evaluations of a recorded run label the even ones. Yes:
  the mean of the last fifth is above the lowest mean of a fifth by 10 % of the improvement and 5
  standard errors while training does not rise by 2 %; no: by less than 1 %.
- *outcome*: diverged as each set's README defines it (not finite, or an end at twice or three times
  the start); never learned as there; a gradient norm of a run that reached its target is sound.
- *planted*: the shape of a recorded curve, made monotone, with its own residuals in shuffled blocks
  (no fault), or with a fault of known size added.

Every set is halved: runs with an even number tune the limits, the others are reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
DATA = Path(__file__).parents[1].parent / "shared" / "data"
IMDB = "FixedTextRNNClassification_imdb_"
SEED = 20261118
STEADY = {"deepobs", "simulated"}  # sets whose learning rate is constant
SHAPES = 400  # recorded curves that lend their shape to planted faults
MOST = 400  # runs read of one task
FAULTS = ("overfitting", "training_bug", "spikes", "periodicity", "noise", "diverged", "learned")
SETS = (  # set, task, training curve, validation curve, whether larger is better there
    ("taskset", IMDB + "patch128_LSTM128_avg_bs64", "train/loss", "valid/loss", False),
    ("taskset", IMDB + "patch32_GRU64_avg_bs128", "train/loss", "valid/loss", False),
    ("taskset", IMDB + "patch32_VRNN64_tanh_avg_bs128", "train/loss", "valid/loss", False),
    ("deepobs", "fmnist_2c2d", "minibatch/train_loss", "test/loss", False),
    ("deepobs", "mnist_vae", "minibatch/train_loss", "test/loss", False),
    ("deepobs", "quadratic_deep", "minibatch/train_loss", "test/loss", False),
    ("algoperf", "ogbg", "minibatch/loss", "valid/loss", False),
    ("algoperf", "ogbg_model_size", "minibatch/loss", "valid/mean_average_precision", True),
    ("nanogpt_speedrun", "track1_2024", "train/loss", "valid/loss", False),
    ("baker2018", "deep_resnets_tinyimagenet", "", "valid/accuracy", True),
    ("opda", "alexnet_imagenet", "train/loss", "valid/top_1", True),
)


@dataclass(frozen=True, eq=False)
class Recorded:
    """One recorded run; validation is turned so that lower is better."""

    set: str
    number: int
    train: Floats  # as logged; empty where there is none
    valid: Floats
    status: str
    gradient: Floats
    reached: bool


@dataclass(frozen=True, eq=False)
class Case:
    """One labelled question."""

    question: str
    set: str
    kind: str  # future, other evaluations, outcome, planted
    held: bool
    label: bool
    train: Floats
    valid: Floats
    other: Floats = field(default_factory=lambda: np.zeros(0))  # gradient norm or learning rate
    setting: tuple[str | None, float | None] = (None, None)  # schedule and rate as configured


def recorded() -> Iterator[Recorded]:
    """The recorded runs, at most MOST of a task, in a fixed random order."""
    for own in SETS:
        yield from _task(*own)


@lru_cache
def _task(name: str, task: str, train: str, valid: str, up: bool) -> tuple[Recorded, ...]:
    import polars as pl

    folder = DATA / name / task
    runs = pl.read_parquet(folder / "runs.parquet").sort("config_id", "seed")
    order = np.random.default_rng(SEED).permutation(runs.height)[:MOST]
    chosen = runs[order.tolist()]
    wanted = [train, valid, "minibatch/grad_norm"]
    curves = (
        pl.read_parquet(folder / "curves.parquet")
        .filter(pl.col("metric").is_in(wanted))
        .join(chosen.select("config_id", "seed"), on=["config_id", "seed"])
        .sort("step")
    )
    parts = curves.partition_by(["config_id", "seed", "metric"], as_dict=True)
    found = []
    for number, run in enumerate(chosen.iter_rows(named=True)):
        key = (run["config_id"], run["seed"])

        def get(metric: str, key: tuple = key) -> Floats:
            own = parts.get((*key, metric))
            return np.zeros(0) if own is None else own["value"].to_numpy().astype(float)

        found.append(
            Recorded(
                name,
                number,
                get(train),
                -get(valid) if up else get(valid),
                run["status"],
                get("minibatch/grad_norm"),
                bool(run.get("reached_target") or False),
            )
        )
    return tuple(found)


# ---- statistics of the labels, other than those of the checks


def spread(values: Floats) -> float:
    """The sd of one evaluation, from the differences of neighbours."""
    return float(1.4826 * np.median(np.abs(np.diff(values))) / np.sqrt(2)) + 1e-12


def level(values: Floats, first: float, last: float) -> tuple[float, float]:
    """Mean of a part of a curve, and its standard error with neighbours taken as alike."""
    part = values[int(first * len(values)) : max(int(last * len(values)), 1)]
    late = values[len(values) // 3 :]
    return float(part.mean()), 1.7 * spread(late) / np.sqrt(max(len(part), 1))


def improvement(values: Floats) -> float:
    """From the start to the lowest mean of a tenth."""
    width = max(2, len(values) // 10)
    means = np.convolve(values, np.ones(width) / width, "valid")
    return float(np.median(values[: max(1, len(values) // 20)]) - means.min())


def sound(values: Floats) -> bool:
    """A curve that is finite and learned something."""
    if len(values) < 20 or not np.isfinite(values).all():
        return False
    gained = improvement(values)
    return gained > 8 * spread(values) and gained > 0.03 * abs(values[0])


# ---- cases


def future(run: Recorded) -> Iterator[Case]:
    """A run cut at 60 %, labelled by the rest."""
    values = run.valid
    if len(values) < 34 or not sound(values) or run.status == "diverged":
        return
    cut = int(0.6 * len(values))
    shown = values[:cut]
    if not sound(shown):
        return
    total = improvement(shown)
    end, end_error = level(values, 0.8, 1.0)
    last, last_error = level(shown, 0.9, 1.0)
    error = np.hypot(end_error, last_error) / total
    gain = (last - end) / total
    held, none = run.number % 2 == 1, np.zeros(0)
    train = run.train[: int(0.6 * len(run.train))]
    label = None
    if gain > 0.04 and gain > 3 * error:
        label = True
    elif gain < 0.015 and error < 0.0075:
        label = False
    if label is not None:
        question = "still_improving" if run.set in STEADY else "still_improving*"
        yield Case(question, run.set, "future", held, label, train, shown, none)
    if len(shown) < 40:
        return
    middle, middle_error = level(shown, 0.45, 0.55)
    change = abs(middle - end) / total
    error = np.hypot(end_error, middle_error) / total
    label = None
    if change + error < 0.02:
        label = True
    elif change > 0.06 and change > 3 * error:
        label = False
    if label is not None:
        yield Case("saturated", run.set, "future", held, label, train, shown, none)


def other_evaluations(run: Recorded) -> Iterator[Case]:
    """Even evaluations, labelled by the odd ones."""
    if len(run.valid) < 40 or not sound(run.valid) or run.status == "diverged":
        return
    odd, even = run.valid[1::2], run.valid[::2]
    if len(run.train) >= 20 and not np.isfinite(run.train).all():
        return
    share, error = _risen(odd)
    trained = _risen(run.train)[0] if len(run.train) >= 20 else 0.0
    held = run.number % 2 == 1
    if share > 0.10 and share > 5 * error and trained < 0.02:
        yield Case("overfitting", run.set, "other evaluations", held, True, run.train, even)
    elif share < 0.01:
        yield Case("overfitting", run.set, "other evaluations", held, False, run.train, even)
    gain, error = _gained(odd)
    if gain > 0.03 and gain > 4 * error:
        yield Case("still_improving", run.set, "other evaluations", held, True, run.train, even)
    elif gain < 0.005 and error < 0.005:
        yield Case("still_improving", run.set, "other evaluations", held, False, run.train, even)


def _gained(values: Floats) -> tuple[float, float]:
    """By how much the last eighth is better than the one before, times two: the last quarter."""
    width = max(3, len(values) // 8)
    total = max(improvement(values), 1e-12)
    gain = 2 * float(values[-2 * width : -width].mean() - values[-width:].mean())
    error = 2 * 1.7 * spread(values[len(values) // 3 :]) * np.sqrt(2 / width)
    return gain / total, float(error / total)


def _risen(values: Floats) -> tuple[float, float]:
    width = max(2, len(values) // 5)
    means = np.convolve(values, np.ones(width) / width, "valid")
    total = max(improvement(values), 1e-12)
    error = 1.7 * spread(values[len(values) // 3 :]) * np.sqrt(2 / width)
    return float(means[-1] - means.min()) / total, float(error / total)


def outcomes(run: Recorded) -> Iterator[Case]:
    """What the sets themselves record."""
    held, none = run.number % 2 == 1, np.zeros(0)
    curve = run.train if len(run.train) >= 10 else run.valid
    if len(curve) >= 10:
        if run.status == "diverged" and _shows(run.train, run.valid):
            yield Case("diverged", run.set, "outcome", held, True, run.train, run.valid)
        elif sound(curve):
            yield Case("diverged", run.set, "outcome", held, False, run.train, run.valid)
    if run.status == "never_learned" and len(run.valid) >= 10:
        yield Case("learned", run.set, "outcome", held, True, none, run.valid)
    elif sound(curve) and improvement(curve) > 0.2 * abs(curve[0]) and run.status != "diverged":
        yield Case("learned", run.set, "outcome", held, False, run.train, run.valid)
    if run.reached and len(run.gradient) >= 20:
        yield Case("gradient_norm", run.set, "outcome", held, False, none, none, run.gradient)


def _shows(*curves: Floats) -> bool:
    """Whether a curve of a run that is recorded as diverged shows it at all."""
    for values in curves:
        if len(values) >= 10:
            if not np.isfinite(values).all():
                return True
            if np.median(values[-max(1, len(values) // 20) :]) > 1.2 * abs(values[0]):
                return True
    return False
