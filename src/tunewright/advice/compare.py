"""Compare the settings fairly again: each tuned in a range that suits it, with as many trials.

Where one setting diverges more, or has its best elsewhere, the next round gives every setting its
own ranges around its own best trials, so that neither wastes its trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tunewright.actions import CheckRound
from tunewright.advice.narrow import around_the_best
from tunewright.advice.proposal import Proposal, proposal, reason, successor
from tunewright.advice.rewrite import with_ranges
from tunewright.design.conditions import Given
from tunewright.design.ranges import choices_of
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.store.results import Results


def compare_again(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A round that asks the same question under equal conditions."""
    own = [f for f in findings if f.check in ("fairness", "same_code") and f.verdict == "warn"]
    if not own:
        return []
    made = own_ranges(results) if own[0].check == "fairness" else None
    if made is not None:
        return [proposal("compare_again", reason("proposal.own_ranges", own), own, made)]
    # no trial of the old round counts, so the points and seeds are new
    again = {"seed": results.round.seed + 1, "continues": ""}
    made = successor(results.round, Message("change.compared_again"), **again)
    code = "proposal.one_code" if own[0].check == "same_code" else "proposal.equal_trials"
    check = (CheckRound(made.name),)
    return [proposal("compare_again", reason(code, own), own, made, check)]


def own_ranges(results: Results) -> Round | None:
    """The round with separate ranges for every value of its one scientific list; else None."""
    round = results.round
    if len(round.scientific) != 1:
        return None
    ((name, declared),) = round.scientific.items()
    if choices_of(declared) is None or isinstance(round.nuisance.get(name), Given):
        return None
    narrower = {
        study.scientific[name]: around_the_best(results, [study.number])
        for study in results.studies
    }
    shared = [c for c in round.nuisance if any(c in found for found in narrower.values())]
    if not shared:
        return None
    branches: list[tuple[Any, Mapping[str, Any]]] = [
        (value, with_ranges({n: round.nuisance[n] for n in shared}, found))
        for value, found in narrower.items()
    ]
    rest = {n: d for n, d in round.nuisance.items() if n not in shared}
    try:
        return successor(
            round,
            Message("change.own_ranges", {"names": shared, "by": name}),
            nuisance={**rest, name: Given(tuple(branches))},
        )
    except DesignError:
        return None
