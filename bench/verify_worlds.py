"""Honest rounds of many kinds for bench/verify.py, and what the planted ones are made of."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.receipts.receipt import receipt
from tunewright.store.curves import Batch, Curve, Curves, packed
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.store.trial import Trial, repeat_seed, trial_seed
from tunewright.testing.surfaces import Bowl, Walled
from tunewright.testing.worlds import World, results

STEPS = 1000


# ---- rounds that are simulated


def simulated(
    seed: int, *, settings: int | None = None, trials: int | None = None, **changed: Any
) -> Results:
    """A healthy round: one to three settings, two to three axes, noise, some that diverge."""
    draw = random.Random(seed)
    settings = settings or draw.choice((1, 2, 3))
    trials = trials or draw.choice((8, 12, 16, 24))
    names = ["learning_rate", "weight_decay", "dropout"][: draw.choice((2, 3))]
    ranges = {
        "learning_rate": tw.log(1e-4, 1.0),
        "weight_decay": tw.log(1e-6, 1e-1),
        "dropout": tw.linear(0.0, 0.5),
    }
    scientific = {"layers": list(range(1, settings + 1))} if settings > 1 else {}
    declared: dict[str, Any] = {
        "goal": "Do more layers help?",
        "scientific": scientific,
        "nuisance": {name: ranges[name] for name in names},
        "fixed": {"max_train_steps": STEPS},
        "trials_per_study": trials,
        "seed": seed,
    }
    round = tw.Round(f"round_{seed}", **{**declared, **changed})
    surface: Any = Bowl({name: draw.uniform(0.3, 0.7) for name in names})
    if draw.random() < 0.4:
        surface = Walled(surface, {"learning_rate": 1.0}, above=draw.uniform(0.75, 0.95))
    world = World(
        surface,
        effect=lambda study: -0.02 * study.number,
        noise_sd=draw.choice((0.002, 0.01, 0.02)),
        curve_sd=0.002,
        evaluations=draw.choice((20, 40)),
        seed=seed,
    )
    found = results(round, world)
    best = found.best()
    times = draw.choice((0, 3, 5))
    found = results(round, world, repeats={best.number or 0: times} if times else None)
    return seeded(found)


def seeded(found: Results) -> Results:
    """The same with the seeds that our store gives."""
    own, counts = found.round.seed, dict[int, int]()
    trials = tuple(replace(t, seed=trial_seed(own, t.index or 0)) for t in found.recorded)
    again = []
    for one in found.recorded_repeats:
        count = counts[one.parent or 0] = counts.get(one.parent or 0, 0) + 1
        again.append(replace(one, seed=repeat_seed(own, count)))
    return replace(found, recorded=numbered(trials), recorded_repeats=tuple(again))


def numbered(trials: tuple[Trial, ...]) -> tuple[Trial, ...]:
    """Each trial with a key, as a store has one."""
    return tuple(replace(trial, identity=place + 1) for place, trial in enumerate(trials))


def with_curves(trial: Trial, change: Callable[[str, Curve], Curve | None]) -> Trial:
    """A trial whose curves are changed, one by one; None leaves a curve out."""
    made = {name: new for name, own in trial.curves.items() if (new := change(name, own))}
    return replace(trial, curves=Curves([Batch(1, 0, packed(made))]))


def cut(curve: Curve, share: float) -> Curve:
    """The first part of a curve."""
    count = max(1, int(len(curve) * share))
    return Curve(curve.steps[:count], curve.values[:count])


def with_rate(trial: Trial, ends: float) -> Trial:
    """A trial that logs a cosine schedule, up to a share of its decay."""
    (first, *_) = trial.curves.values()
    share = ends * first.steps / first.steps[-1]
    rate = Curve(first.steps, 0.5 * 0.1 * (1 + np.cos(np.pi * share)))
    made = {**dict(trial.curves), "learning_rate": rate}
    return replace(trial, curves=Curves([Batch(1, 0, packed(made))]))


def program(found: Results, changed_from: int | None = None) -> Results:
    """Origins with the program's files; from one trial on another program."""

    def origin(number: int) -> Provenance:
        text = "b" if changed_from is not None and number >= changed_from else "a"
        return Provenance(
            "tunewright run", "/p", commit="c" * 40, sources={"train.py": text * 64}, python="3"
        )

    return replace(found, origins={t.identity: origin(t.number or 0) for t in found.recorded})


# ---- rounds that are run


def train(run: Any, learning_rate: float, layers: int = 1, max_train_steps: int = STEPS) -> None:
    """Two layers are better by 0.02; a seed moves the value by 0.004."""
    noise = random.Random(run.seeds.init * 2 + layers)
    luck = noise.gauss(0, 0.004)
    for step in range(max_train_steps // 20, max_train_steps + 1, max_train_steps // 20):
        loss = 0.2 * (math.log10(learning_rate) + 1.5) ** 2 + 20 / step
        jitter = noise.gauss(0, 0.0005)
        run.log(step, train_loss=loss, valid_error=0.3 + loss - 0.02 * layers + luck + jitter)
    run.save({"loss": loss})


def measure(checkpoint: Any) -> dict[str, float]:
    """The test set's error."""
    return {"test_error": checkpoint.state["loss"] * 2}


def layers_round(seed: int, name: str = "layers", **changed: Any) -> tw.Round:
    """The question of the rounds that are run."""
    declared: dict[str, Any] = {
        "goal": "Do more layers help?",
        "scientific": {"layers": [1, 2]},
        "nuisance": {"learning_rate": tw.log(1e-3, 1.0)},
        "fixed": {"max_train_steps": STEPS},
        "trials_per_study": 8,
        "seed": seed,
    }
    return tw.Round(name, **{**declared, **changed})


def workload(folder: str) -> tw.Workload:
    """The program in a store of its own."""
    return tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=f"{folder}/tuning.db",
        executor=tw.executors.Inline(),
        eval_every=STEPS // 20,
    )


def launched(seed: int, folder: str) -> tuple[str, str]:
    """A round that was run and launched; the store and the round's name."""
    own = workload(folder)
    found = tw.run(layers_round(seed), own, progress="off")
    tw.launch(found, own, progress="off")
    return str(own.store), "layers"


def two_rounds(seed: int, folder: str, other_seed: int | None = None) -> tuple[str, str]:
    """A second round that continues the first, its best against the first baseline."""
    own = workload(folder)
    first = tw.run(layers_round(seed, "first"), own, progress="off")
    tw.launch(first, own, first=True, progress="off")
    again = seed if other_seed is None else other_seed
    later = layers_round(
        again, "second", continues="first", nuisance={"learning_rate": tw.log(3e-3, 0.5)}
    )
    found = tw.run(later, own, progress="off")
    numbers = [t.number for t in found.top(30) if t.origin is None]
    tw.launch(found, own, trial=numbers[0], progress="off")
    return str(own.store), "second"


# ---- honest rounds


def honest(seed: int, folder: str) -> tuple[str, dict[str, Any]]:
    """An honest round of one of ten kinds, and its receipt."""
    kind = seed % 10
    draw = random.Random(1000 + seed)
    if kind == 8:
        store, name = launched(seed, folder)
        if draw.random() < 0.5:
            tw.launches.final_test(tw.load(store, name), workload(folder), measure)
        return "run and launched", receipt(store, name)
    if kind == 9:
        return "two rounds, launched", receipt(*two_rounds(seed, folder))
    found = simulated(seed)
    if kind == 1:  # interrupted: the last trials are pending
        left = len(found.recorded) - draw.randrange(1, len(found.recorded) // 2)
        empty = Curves(())
        trials = tuple(
            replace(t, status="pending", reason=None, curves=empty)
            if (t.number or 0) >= left
            else t
            for t in found.recorded
        )
        return "interrupted", receipt(replace(found, recorded=trials))
    if kind == 2:  # some trials failed
        bad = set(draw.sample(range(len(found.recorded)), 2))
        trials = tuple(
            with_curves(replace(t, status="failed"), lambda _, c: cut(c, 0.3))
            if t.number in bad and t.status == "completed"
            else t
            for t in found.recorded
        )
        return "with failures", receipt(replace(found, recorded=trials))
    if kind == 3:  # logs its whole schedule
        trials = tuple(with_rate(t, 1.0) if t.status == "completed" else t for t in found.recorded)
        return "logs its schedule", receipt(replace(found, recorded=trials))
    if kind == 4:
        return "one program", receipt(program(found))
    if kind == 5:  # optimizers in shifted ranges
        ranges = {
            "adam": {"learning_rate": tw.log(1e-5, 1e-2)},
            "sgd": {"learning_rate": tw.log(1e-3, 1.0)},
        }
        nuisance = {"optimizer": tw.given(ranges), "weight_decay": tw.log(1e-6, 1e-1)}
        scientific = {"optimizer": ["adam", "sgd"]}
        own = simulated(seed, settings=2, scientific=scientific, nuisance=nuisance)
        return "optimizers", receipt(own)
    if kind == 6:  # two configurations added by hand
        last = found.recorded[-1]
        more = tuple(
            replace(
                last,
                number=len(found.recorded) + k,
                index=None,
                seed=9000 + k,
                identity=900 + k,
                configuration={**last.configuration, "learning_rate": 0.01 * (k + 1)},
            )
            for k in range(2)
        )
        return "added by hand", receipt(replace(found, recorded=(*found.recorded, *more)))
    if kind == 7:  # the rate stays high by design

        def constant(_: str, curve: Curve) -> Curve:
            return curve

        trials = tuple(with_curves(t, constant) for t in found.recorded)
        trials = tuple(
            replace(
                t,
                curves=Curves(
                    [
                        Batch(
                            1,
                            0,
                            packed(
                                {
                                    **dict(t.curves),
                                    "learning_rate": Curve(
                                        t.curves["valid_error"].steps,
                                        np.full(len(t.curves["valid_error"]), 0.1),
                                    ),
                                }
                            ),
                        )
                    ]
                ),
            )
            for t in trials
        )
        return "constant rate", receipt(replace(found, recorded=trials))
    return "simulated", receipt(found)
