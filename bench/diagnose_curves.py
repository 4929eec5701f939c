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


def cases() -> Iterator[Case]:
    """Every labelled question."""
    random = np.random.default_rng(SEED)
    shapes: list[tuple[Recorded, Floats]] = []
    for run in recorded():
        yield from future(run)
        yield from other_evaluations(run)
        yield from outcomes(run)
        for values in (run.train, run.valid):
            if sound(values) and run.status not in ("diverged", "never_learned"):
                shapes.append((run, values))
    for place in random.permutation(len(shapes))[:SHAPES]:
        for fault in FAULTS:
            yield from planted(*shapes[place], fault, random)
    for number in range(400):
        yield from trends(number, random)
    for number in range(200):
        yield from gradients_and_rates(number, random)


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


def planted(run: Recorded, values: Floats, own: str, random: np.random.Generator) -> Iterator[Case]:
    """The monotone shape of a recorded curve with its own residuals, and faults of known size."""
    held, none = run.number % 2 == 1, np.zeros(0)
    clean, total = renoised(values, random)
    size = len(clean)
    sd = spread(clean[size // 3 :])
    at = np.arange(size) / size
    faulty = bool(random.random() < 0.5)
    made = clean.copy()
    if own in ("overfitting", "training_bug"):
        since = random.uniform(0.3, 0.65)
        by = max(random.uniform(0.15, 0.8) * total, 5 * sd)
        fault = by * np.maximum(0, (at - since) / (1 - since))
        net = monotone(values) + fault
        if faulty and net[-1] - net.min() < max(0.1 * total, 3 * sd):
            return  # the shape falls as fast as the fault rises
        if faulty:
            made = made + fault
        train, valid = (none, made) if own == "overfitting" else (made, none)
        yield Case(own, run.set, "planted", held, faulty, train, valid)
    elif own == "spikes" and size >= 60:
        if faulty:
            for _ in range(int(random.integers(1, 4))):
                start = int(random.uniform(0.2, 0.9) * size)
                height = max(random.uniform(0.4, 2.0) * abs(made[start]), 10 * sd)
                made[start : start + int(random.integers(3, 6))] += height
        if (made > 0).all():
            yield Case(own, run.set, "planted", held, faulty, made, none)
    elif own == "periodicity" and size >= 45:
        if faulty:
            period = random.uniform(4, size / 8)
            made = made + random.uniform(1.2, 3) * sd * np.sin(2 * np.pi * np.arange(size) / period)
        yield Case(own, run.set, "planted", held, faulty, none, made)
    elif own == "noise":
        share = random.uniform(0.2, 0.5) if faulty else random.uniform(0.005, 0.04)
        fresh = random.normal(size=size) * share * total
        yield Case(own, run.set, "planted", held, faulty, none, monotone(values) + fresh)
    elif own == "diverged" and faulty:
        since = int(random.uniform(0.3, 0.9) * size)
        growth = np.exp(np.linspace(0, random.uniform(1, 4), size - since)) - 1
        made[since:] += 2 * total * growth
        yield Case(own, run.set, "planted", held, True, made, none)
    elif own == "learned" and faulty:
        guess = random.uniform(0.5, 10)
        flat = guess * (1 + random.uniform(0.001, 0.03) * random.normal(size=size))
        yield Case(own, run.set, "planted", held, True, flat, none)


def trends(number: int, random: np.random.Generator) -> Iterator[Case]:
    """Simulated curves that level off early, or improve to the end; noise of 0.1 to 3 %."""
    held, none, size = number % 2 == 1, np.zeros(0), int(random.integers(40, 300))
    at = np.linspace(0, 1, size)
    flat = bool(random.random() < 0.5)
    if flat:
        base = np.exp(-at / random.uniform(0.02, 0.09))
    else:
        power = random.uniform(0.3, 1.0)
        own = (at + 0.02) ** -power
        bent = (own - own[-1]) / (own[0] - own[-1])
        base = random.choice([0, 1]) * 0.5 * (bent - (1 - at)) + (1 - at)
    values = 0.3 + base + 10 ** random.uniform(-3, -1.5) * random.normal(size=size)
    yield Case("saturated", "simulated", "planted", held, flat, none, values)
    yield Case("still_improving", "simulated", "planted", held, not flat, none, values)


def monotone(values: Floats) -> Floats:
    """A smooth curve that never rises, of the shape of a recorded one."""
    width = max(3, len(values) // 15)
    padded = np.concatenate([values[:1].repeat(width), values, values[-1:].repeat(width)])
    smooth = np.convolve(padded, np.ones(width) / width, "same")[width:-width]
    return np.minimum.accumulate(smooth)


def renoised(values: Floats, random: np.random.Generator) -> tuple[Floats, float]:
    """The monotone shape with residuals of the curve in shuffled blocks of random sign."""
    base = monotone(values)
    late = len(values) // 4
    rough = values - np.convolve(values, np.ones(5) / 5, "same")
    pool = rough[late:-3] * np.sqrt(1.25)
    block = 3
    starts = random.integers(0, len(pool) - block, len(values) // block + 1)
    signs = random.choice([-1.0, 1.0], len(starts))
    noise = np.concatenate(
        [sign * pool[start : start + block] for start, sign in zip(starts, signs, strict=True)]
    )
    return base + noise[: len(values)], improvement(base)


def gradients_and_rates(number: int, random: np.random.Generator) -> Iterator[Case]:
    """Simulated gradient norms and learning rates, sound and not."""
    held, none, size = number % 2 == 1, np.zeros(0), int(random.integers(40, 400))
    at = np.linspace(0, 1, size)
    faulty = bool(random.random() < 0.5)
    factor = (
        random.choice([-1, 1]) * random.uniform(1.5, 4) if faulty else random.uniform(-0.5, 0.5)
    )
    since = random.uniform(0.5, 0.8) if faulty else 0.0
    trend = factor * np.clip((at - since) / (0.9 - since), 0, 1)
    norm = 10 ** (random.uniform(-2, 2) + trend + 0.2 * random.normal(size=size))
    yield Case("gradient_norm", "simulated", "planted", held, faulty, none, none, norm)
    peak, warm = 10 ** random.uniform(-5, -1), random.uniform(0, 0.1)
    rise = np.clip(at / max(warm, 1e-9), 0, 1)
    decay = random.choice(["cosine", "linear", "constant"])
    shape = {"cosine": 0.5 + 0.5 * np.cos(np.pi * at), "linear": 1 - at}.get(decay, np.ones(size))
    rate, declared, configured = peak * rise * shape, decay, peak
    if bool(random.random() < 0.5):
        faulty, kind = True, int(random.integers(3))
        if kind == 0:
            configured = peak * random.choice([0.1, 10.0, 2.0])
        elif decay == "constant":
            rate = peak * (1 - 0.5 * at)
        else:
            rate = peak * rise
    else:
        faulty = False
    yield Case(
        "schedule", "simulated", "planted", held, faulty, none, none, rate, (declared, configured)
    )
