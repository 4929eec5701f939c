"""Rounds of a small program that really trains (`applied_program`), with and without faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.checks.applied_program import Fault, Manner, trained
from tests.checks.applied_sources import Source, with_source

from tunewright.design.kinds.powers_of_two import powers_of_two
from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import choice, log
from tunewright.design.round import Round
from tunewright.search.halton import Halton
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial, trial_seed

# ---- rounds

SCIENTIFIC: Mapping[str, Sequence[Any]] = {
    "batch_size": (8, 32, 128),
    "optimizer": ("sgd", "adam"),
    "momentum": (0.0, 0.5, 0.9),
    "dropout": (0.0, 0.2, 0.4),
    "schedule": ("constant", "cosine"),
    "weight_decay": (0.0, 0.01, 0.1),
    "max_train_steps": (40, 60),
    "warmup_steps": (4, 20),
}
SEARCHED: Mapping[str, Any] = {
    "learning_rate": log(1e-3, 0.3),
    "weight_decay": log(1e-4, 1e-1),
    "batch_size": powers_of_two(8, 128),
    "momentum": choice(0.0, 0.5, 0.9),
}


def round_of(rng: np.random.Generator, scientific: str | None, searched: int = 2) -> Round:
    """A round that asks about one hyperparameter and searches some others."""
    asked = {scientific: list(SCIENTIFIC.get(scientific, (0, 2, 8)))} if scientific else {}
    free = [n for n in SEARCHED if n not in asked]
    others = list(rng.permutation(free[1:]))[: searched - 1] if free[0] == "learning_rate" else []
    nuisance = {n: SEARCHED[n] for n in dict.fromkeys([free[0], *others])}
    fixed = {"max_train_steps": 60}
    return Round(
        "planted",
        goal="Does it help?",
        scientific=asked,
        nuisance=nuisance,
        fixed={n: v for n, v in fixed.items() if n not in asked},
        trials_per_study=int(rng.integers(4, 9)),
        seed=int(rng.integers(1000)),
    )


def results_of(round: Round, manner: Manner, meaning: Meaning | None = None) -> Results:
    """The round trained for real, as a store would return it."""
    trials = []
    for study in round.studies:
        for index, chosen in enumerate(Halton().suggest(study, [], round.trials_per_study)):
            given = dict(chosen.configuration)
            used = manner.fault(dict(given))
            seed = trial_seed(round.seed, index)
            points = trained(used, seed if manner.uses_seed else 1, manner)
            finite = all(np.isfinite(v) for own in points.values() for _, v in own)
            number = study.trial_number(index)
            curves = {m: tuple(map(list, zip(*own, strict=True))) for m, own in points.items()}
            trials.append(
                Trial(
                    number=number,
                    study=study.number,
                    index=index,
                    configuration=given,
                    unit=chosen.unit,
                    status="completed" if finite else "infeasible",
                    curves=Curves([Batch(1, 0, pack(curves))]),  # type: ignore[arg-type]
                    seed=seed,
                    identity=100 + number,
                    search="halton",
                    applied=None if manner.echo is None else manner.echo(given, used),
                )
            )
    return Results.from_parts(round, minimize("valid_error"), trials, (), meaning or Meaning())


def ignoring(*names: str) -> Fault:
    """A program that uses its defaults in place of these."""
    return lambda given: {n: v for n, v in given.items() if n not in names}


# ---- planted cases


def option_ignored(rng: np.random.Generator) -> tuple[Results, str]:
    """A value that never reaches the training; seeds are used or not, the rate logged or not."""
    uses_seed = bool(rng.integers(2))
    manner = Manner(uses_seed=uses_seed, every=int(rng.integers(3, 11)))
    if rng.integers(2):  # the one that the round asks about
        names = ("batch_size", "optimizer", "momentum", "dropout", "weight_decay")
        name = str(rng.choice(names))
        made = round_of(rng, name, searched=int(rng.integers(1, 4)))
    else:  # a searched one: seen by its log
        name, made = "learning_rate", round_of(rng, None, searched=int(rng.integers(1, 4)))
    digits = None if rng.integers(2) else 5
    return results_of(made, replace(manner, fault=ignoring(name), digits=digits)), name


def wrong_name(rng: np.random.Generator, folder: Path) -> tuple[Results, str]:
    """A command whose option the program does not know, or never reads."""
    made = round_of(rng, None, searched=3)
    names = list(made.nuisance)
    name = str(rng.choice(names))
    spelled = {n: f"--{n.replace('_', '-') if rng.integers(2) else n}" for n in names}
    parse = str(
        rng.choice(
            [
                "args, _ = parser.parse_known_args()",
                "args, unknown = parser.parse_known_args()",
                "args = parser.parse_known_args()[0]",
            ]
        )
    )
    if rng.integers(4) == 0:
        source = Source(spelled, spelled, frozenset({name}), "args = parser.parse_args()")
    else:
        source = Source(spelled, {**spelled, name: f"--its-{name[:4]}"}, parse=parse)
    manner = Manner(fault=ignoring(name), logs_rate=False)
    return with_source(results_of(made, manner), source, folder), name


def schedule_not_applied(rng: np.random.Generator) -> tuple[Results, str]:
    """A schedule or a warm-up that is declared and not used, or a decay that nobody asked for."""
    kind = int(rng.integers(3))
    made = round_of(rng, None, searched=2)
    every = int(rng.integers(2, 6))
    if kind == 0:
        fixed = {"schedule": str(rng.choice(["cosine", "linear"]))}
        name, fault = "schedule", ignoring("schedule")
    elif kind == 1:
        fixed = {"schedule": "constant"}
        name, fault = "schedule", lambda given: {**given, "schedule": "cosine"}
    else:
        fixed = {"schedule": "cosine", "warmup_steps": int(rng.integers(12, 25))}
        name, fault = "warmup_steps", ignoring("warmup_steps")
    made = replace(made, fixed={**made.fixed, **fixed})
    return results_of(made, Manner(fault=fault, every=every)), name


def ranks_apart(rng: np.random.Generator) -> tuple[Results, str]:
    """Each rank suggests for itself: rank 0 trains with its trial's value, others with another."""
    made = round_of(rng, None, searched=3)
    name = str(rng.choice(list(made.nuisance)))
    ranks = int(rng.integers(2, 9))
    wrong = int(rng.integers(1, ranks))

    def echo(given: dict[str, Any], used: dict[str, Any]) -> dict[str, Any]:
        other = 0.5 * given[name] if given[name] else 0.9
        values = [other if rank == wrong else given[name] for rank in range(ranks)]
        return {**used, name: values}

    return results_of(made, Manner(echo=echo)), name


def optimizer_apart(rng: np.random.Generator) -> tuple[Results, str]:
    """The program reports the rate that it was given; its optimizer has another, or a cap."""
    made = round_of(rng, None, searched=int(rng.integers(1, 4)))
    rates = sorted(chosen.configuration["learning_rate"] for chosen in _chosen(made))
    cap = rates[-3] if rng.integers(2) else None  # of the rates, two lie above it

    def fault(given: dict[str, Any]) -> dict[str, Any]:
        own = 0.03 if cap is None else min(cap, given["learning_rate"])
        return {**given, "learning_rate": own}

    manner = Manner(fault=fault, logs_rate=False, echo=_optimizer_echo(int(rng.integers(3))))
    return results_of(made, manner), "learning_rate"


def _chosen(round: Round) -> Sequence[Any]:
    (study,) = round.studies
    return Halton().suggest(study, [], round.trials_per_study)


def _optimizer_echo(style: int) -> Callable[[dict[str, Any], dict[str, Any]], Mapping[str, Any]]:
    """What an adapter reports: all that was given, and what the optimizer holds."""

    def echo(given: dict[str, Any], used: dict[str, Any]) -> Mapping[str, Any]:
        rate = used["learning_rate"]
        held: Mapping[str, Any] = {
            0: {"optimizer.lr": rate, "optimizer.name": "SGD"},  # torch
            1: {"optimizer.learning_rate": float(np.float32(rate))},  # Keras
            # layers with smaller rates, on two ranks; a second optimizer that is not searched
            2: {
                "optimizer.lr": [0.1 * rate] * 2,
                "optimizer.group2.lr": [rate] * 2,
                "optimizer2.lr": [1e-4] * 2,
            },
        }[style]
        return {**given, **held}

    return echo


# ---- honest rounds


def honest(rng: np.random.Generator, kind: str, folder: Path) -> Results:
    """A round in which every value is applied, and something looks as if one were not."""
    scientific = str(rng.choice([*SCIENTIFIC, ""]))
    made = round_of(rng, scientific or None, searched=int(rng.integers(1, 4)))
    every = int(rng.integers(2, 13))
    manner = Manner(every=every, uses_seed=bool(rng.integers(2)))
    if kind == "no effect":  # asked about, and without any effect: identical curves
        made = round_of(rng, str(rng.choice(["num_workers", "clip_norm"])), searched=2)
        if "clip_norm" in made.scientific:
            made = replace(made, scientific={"clip_norm": [1e6, 1e7]})
    elif kind == "no effect, searched":
        made = replace(made, nuisance={**made.nuisance, "num_workers": choice(0, 2, 8)})
    elif kind == "deterministic":
        manner = replace(manner, uses_seed=False)
    elif kind == "counts":
        manner = replace(
            manner, counts_of=int(rng.choice([10, 20, 50, 144])), uses_seed=bool(rng.integers(2))
        )
    elif kind == "rounded":
        manner = replace(manner, digits=int(rng.integers(1, 4)))
    elif kind == "scaled rate":
        manner = replace(manner, rate_as=str(rng.choice(["factor", "scaled"])))
    elif kind == "schedule":
        fixed = {"schedule": str(rng.choice(["constant", "cosine", "linear"]))}
        warm = {"warmup_steps": int(rng.integers(0, 30))}
        kept = {n: v for n, v in {**fixed, **warm}.items() if n not in made.scientific}
        made = replace(made, fixed={**made.fixed, **kept})
    elif kind == "echo":
        manner = replace(manner, echo=_rounded_echo)
    elif kind == "optimizer":
        manner = replace(manner, echo=_optimizer_echo(int(rng.integers(3))))
    elif kind == "optimizer, scaled":  # by the batch size, or warm-ups that start with it
        batch = float(rng.choice([32, 128, 256]))

        def scaled(given: dict[str, Any], used: dict[str, Any]) -> Mapping[str, Any]:
            size = given.get("batch_size", 32)
            return {**given, "optimizer.lr": given["learning_rate"] * size / batch}

        manner = replace(manner, echo=scaled)
    elif kind == "optimizer, from zero":  # the program sets its rates in the loop
        manner = replace(manner, echo=lambda given, used: {**given, "optimizer.lr": 0.0})
    elif kind == "source":
        own = results_of(made, manner)
        spelled = {n: f"--{n}" for n in (*made.nuisance, *made.scientific)}
        sloppy = str(
            rng.choice(
                [
                    "args = parser.parse_args()",
                    "args, rest = parser.parse_known_args(); print(rest)",
                    "args, _ = parser.parse_known_args()",
                ]
            )
        )
        return with_source(own, Source(spelled, spelled, parse=sloppy), folder)
    return results_of(made, manner)


KINDS = (
    *("no effect", "no effect, searched", "deterministic", "counts", "rounded"),
    *("scaled rate", "schedule", "echo", "source", "plain"),
    *("optimizer", "optimizer, scaled", "optimizer, from zero"),
)


def _rounded_echo(given: dict[str, Any], used: dict[str, Any]) -> dict[str, Any]:
    """The values as a library shows them: float32, text, one per rank."""
    shown: dict[str, Any] = {}
    for at, (name, value) in enumerate(used.items()):
        number = isinstance(value, float)
        shown[name] = float(np.float32(value)) if number else str(value) if at % 2 else value
        if at % 3 == 0:
            shown[name] = [shown[name]] * 4
    return shown


def planted(folder: Path) -> Mapping[str, Callable[[np.random.Generator], tuple[Results, str]]]:
    """Every planted case, by name."""
    return {
        "option ignored": option_ignored,
        "wrong name": lambda rng: wrong_name(rng, folder),
        "schedule not applied": schedule_not_applied,
        "ranks with different values": ranks_apart,
        "optimizer with another rate": optimizer_apart,
    }


def every_honest(seed: int, rounds: int, folder: Path) -> Iterator[tuple[str, Results]]:
    """Honest rounds, the kinds in turn."""
    for at in range(rounds):
        kind = KINDS[at % len(KINDS)]
        yield kind, honest(np.random.default_rng([seed, at]), kind, folder)
