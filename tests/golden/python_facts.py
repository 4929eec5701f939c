"""The facts that Python gives about the golden store: what `import tunewright as tw` answers.

Each function takes a copy of the golden project. Where later versions changed a call, only the
function that makes it changes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.golden import extract

import tunewright as tw

STORE = "tuning.sqlite"
ROUNDS = ("optimizer", "rate", "reasons", "my round", "searching", "asked", "elsewhere")
CONTINUES = ("rate_2", "rate")  # a round and the one that it continues


def loaded(project: Path) -> Any:
    """Rounds that continue no other: counts, the best trials, checks and proposals."""
    return {name: _results_facts(tw.load(project / STORE, name)) for name in ROUNDS}


def joined(project: Path) -> Any:
    """A round with the trials of the one that it continues.

    Version 0.1 reads a round alone, so that they are joined here; a version that joins them on
    loading finds nothing more to join.
    """
    later, earlier = (tw.load(project / STORE, name) for name in CONTINUES)
    return _results_facts(tw.stores.joined(later, earlier))


def judged_anew(project: Path) -> Any:
    """The same trials under other objectives."""
    results = tw.load(project / STORE, "optimizer")
    others = {
        "full_valid_error": results.with_objective("full_valid_error"),
        "the last train_loss": results.with_objective(tw.minimize("train_loss", at="last")),
        "the highest valid_error": results.with_objective(tw.maximize("valid_error")),
    }
    return {name: _best_facts(other) for name, other in others.items()}


def decided(project: Path) -> Any:
    """A launch decision from the repeats that the store has; nothing is trained."""
    from tunewright.store.results import Repeats

    arms = []
    for name in ("rate_2", "optimizer"):
        results = tw.load(project / STORE, name)
        arms.append(Repeats(results.best(), results.repeats(results.best()), results))
    made = tw.decide(*arms)
    facts = {name: getattr(made, name) for name in extract.DECIDED}
    return {**facts, "runs": list(made.runs)}


def campaign(project: Path) -> Any:
    """The campaign that is over: the same call again trains nothing."""
    program = _program(project)
    workload = tw.Workload(
        program.train,
        tw.minimize("valid_error"),
        store=project / STORE,
        executor=tw.executors.Inline(),
        means={"chance": 0.9},
        off={"dropout": 0.0, "schedule": "constant"},
    )
    space = {
        "learning_rate": tw.log(1e-5, 0.1),
        "dropout": tw.linear(0.0, 0.6),
        "optimizer": "adam",
        "max_train_steps": 40,
    }
    found = tw.tune(workload, space, trials=40, test=program.on_test_set)
    winner = found.winner
    return {
        "spent": found.spent,
        "total": found.total,
        "rounds": [results.round.name for results in found.rounds],
        "steps": [[step.number, step.kind, step.round] for step in found.log],
        "winner": winner and [winner.place.round, winner.place.trial, winner.known_value],
        "baseline": found.baseline and [found.baseline.place.round, found.baseline.place.trial],
        "verdict": found.launched and found.launched.verdict,
        "looks": [[one.number, one.step, dict(one.metrics), one.look] for one in found.looks],
    }


def stored(project: Path) -> Any:
    """What stands in the store beside rounds and trials: documents, notes, evaluations, stops."""
    from tunewright.store.store import Store

    with Store.open(project / STORE, create=False) as store:
        records = store.rounds()
        return {
            "rounds": [[one.name, one.search, dict(one.counts)] for one in records],
            "notes": {one.name: len(store.notes(one)) for one in records},
            "stops": {
                one.name: [asked.everything, sorted(asked.numbers)]
                for one in records
                if (asked := store.stops(one.id)).everything or asked.numbers
            },
            "documents": {  # as version 0.1 counted them
                "probe": len(store.probes()),
                "finding": len(store.evaluations())
                + sum(1 + len(store.campaign_steps(one.id)) for one in store.campaigns()),
                "launch": len(store.launches()),
                "baseline": len(store.baselines()),
            },
            "evaluations": [
                [one.number, one.step, dict(one.metrics), one.objective, one.value, one.look]
                for one in store.evaluations()
            ],
            "probes": [
                [one.name, dict(one.settings)] for one in store.probes() if "settings" in one.answer
            ],
        }


def _results_facts(results: tw.types.Results) -> Any:
    return {
        **_best_facts(results),
        "trials": [[t.number, t.status, t.value, t.best_step] for t in results.trials],
        "repeats": {
            str(t.number): [r.value for r in results.repeats(t)]
            for t in results.trials
            if results.repeats(t)
        },
        "findings": sorted([f.check, _about(f), f.verdict] for f in tw.check(results)),
        "proposals": [one.kind for one in tw.next_round(results)],
    }


def _about(finding: Any) -> str:
    """What a finding is about, as version 0.1 wrote it."""
    whole = getattr(finding, "scope", "") == "round"
    return f"round {finding.about}" if whole else finding.about


def _best_facts(results: tw.types.Results) -> Any:
    return {
        "counts": dict(results.counts),
        "top": [[t.number, t.value, t.best_step] for t in results.top(5)],
        "metrics": list(results.metrics),
        "infeasible_fraction": results.infeasible_fraction,
    }


def _program(project: Path) -> ModuleType:
    """The project's training program, imported under its own name."""
    spec = importlib.util.spec_from_file_location("golden_train", project / "golden_train.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FACTS: Mapping[str, Callable[[Path], Any]] = {
    "loaded": loaded,
    "joined": joined,
    "judged_anew": judged_anew,
    "decided": decided,
    "campaign": campaign,
    "stored": stored,
}
