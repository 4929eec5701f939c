"""Fix what does not matter: fewer hyperparameters are searched more densely by the same trials.

A hyperparameter is fixed, at its value in the best trial, when no study shows a sign of it while
others do matter, and when its range holds no warning. The learning rate is never fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tunewright.advice.proposal import Proposal, proposal, successor
from tunewright.advice.rewrite import fixed_at
from tunewright.checks.sensitivity import UNSEEN
from tunewright.design.ranges import Range, Value
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.store.results import Results


def fix(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A round in which the hyperparameters without an effect are fixed."""
    values = immaterial(results, findings)
    if not values:
        return []
    own = [f for f in findings if f.check == "sensitivity"]
    try:
        made = successor(
            results.round,
            f"{', '.join(values)} fixed",
            **fixed_at(results.round, values),
        )
    except DesignError:
        return []
    shown = " and ".join(f"{name} = {_short(value)}" for name, value in values.items())
    reason = f"no sign of {', '.join(values)} in any study: fix {shown}, as in the best trial"
    return [proposal("fix", reason, own, made)]


def immaterial(results: Results, findings: Sequence[Finding]) -> dict[str, Value]:
    """Nuisance hyperparameters no study shows a sign of, with their values in the best trial."""
    judged = [
        f.evidence["importances"]
        for f in findings
        if f.check == "sensitivity" and "importances" in f.evidence
    ]
    best = results.top(1)
    if not judged or not best or not all(any(_matters(i) for i in own) for own in judged):
        return {}
    unseen = [{i["name"] for i in own if i["p"] > UNSEEN} for own in judged]
    together = {n for own in judged for i in own if (n := i["name"]) and _matters(i)}
    together |= _acting_together(findings)
    rate = results.meaning.name("learning_rate")
    nuisance = results.round.nuisance
    return {
        name: best[0].configuration[name]
        for name in nuisance
        if isinstance(nuisance[name], Range)
        and name != rate
        and name in best[0].configuration
        and name not in together
        and all(name in own for own in unseen)
    }


def _matters(importance: dict[str, Any]) -> bool:
    return bool(importance["matters"])


def _acting_together(findings: Sequence[Finding]) -> set[str]:
    """Names of an interaction: one without a main effect may still matter."""
    pairs = [
        pair["names"]
        for f in findings
        if f.check == "sensitivity"
        for pair in f.evidence.get("interactions") or []
    ]
    return {name for pair in pairs for name in pair}


def _short(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
