"""Fix what does not matter: fewer hyperparameters are searched more densely by the same trials.

A hyperparameter is fixed, at its value in the best trial, when no study shows a sign of it while
others do matter, and when its range holds no warning. The learning rate is never fixed.
"""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.advice.proposal import Proposal, proposal, reason, successor
from tunewright.advice.rewrite import fixed_at
from tunewright.checks.sensitivity import SensitivityEvidence
from tunewright.design.ranges import Range, Value
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.messages import Message
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
            Message("change.fixed", {"names": list(values)}),
            **fixed_at(results.round, values),
        )
    except DesignError:
        return []
    return [proposal("fix", reason("proposal.fix", own, values=values), own, made)]


def immaterial(results: Results, findings: Sequence[Finding]) -> dict[str, Value]:
    """Nuisance hyperparameters no study shows a sign of, with their values in the best trial."""
    judged = [f.evidence for f in findings if isinstance(f.evidence, SensitivityEvidence)]
    best = results.top(1)
    if not judged or not best or not all(own.matter for own in judged):
        return {}
    # one without a main effect may still matter together with another
    needed = {name for own in judged for name in (*own.matter, *own.together)}
    rate = results.meaning.name("learning_rate")
    nuisance = results.round.nuisance
    return {
        name: best[0].configuration[name]
        for name in nuisance
        if isinstance(nuisance[name], Range)
        and name != rate
        and name in best[0].configuration
        and name not in needed
        and all(name in own.unseen for own in judged)
    }
