"""Planted faults for `bench/diagnose.py`, and all labelled cases; see diagnose_curves too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from bench.diagnose_curves import (
    FAULTS,
    SEED,
    SHAPES,
    Case,
    Floats,
    Recorded,
    future,
    improvement,
    other_evaluations,
    outcomes,
    recorded,
    sound,
    spread,
)


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
