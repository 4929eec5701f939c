"""Widen a range whose end the best trials crowd at; the old trials go on counting.

The new round covers the wider space as densely as the old one was covered, so it gets as many more
trials as the space is wider, three times as many at most. A cheaper round, which starts where the
best lie and gives up the far side, is proposed beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tunewright.advice.narrow import around_the_best
from tunewright.advice.proposal import Proposal, grown, proposal, successor
from tunewright.advice.range_overlap import hull, reaching, share, written_range
from tunewright.advice.rewrite import longer_list, searched_ranges, with_ranges
from tunewright.design.ranges import Choice, Range
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.store.results import Results

FEWEST = 8  # trials: with fewer feasible ones the ends cannot be judged again


def widen(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """One round with every range widened that a boundary finding warns about."""
    own = [f for f in findings if f.check == "boundary" and f.verdict == "warn"]
    wider = proposed_ranges(results.round, own)
    lists = _longer_lists(results.round, own)
    if not wider and not lists:
        return []
    made = widened(results.round, wider, lists)
    if made is None:
        return []
    changes = [f"{column} in {text}" for column, text in _shown(wider, lists).items()]
    says = own[0].says if len(own) == 1 else f"{own[0].about}: {own[0].says}"
    reason = f"{says}; search {' and '.join(changes)}"
    trials, before = made.trials_per_study, results.round.trials_per_study
    if trials > before:
        reason += f", {trials} trials per study instead of {before} to keep it as dense"
    beyond = _beyond(results, own, wider)
    return [proposal("widen", reason, own, made), *([beyond] if beyond and not lists else [])]


def proposed_ranges(round: Round, findings: Sequence[Finding]) -> dict[str, Range]:
    """The ranges that findings propose, by column; where several do, wide enough for all.

    Only what a warning is about is widened: a note on another hyperparameter is none.
    """
    known = searched_ranges(round)
    found: dict[str, Range] = {}
    for finding in findings:
        warned = {e["hyperparameter"] for e in _edges(finding) if e["verdict"] == "warn"}
        for column, text in finding.evidence.get("proposed", {}).items():
            wide = written_range(text)
            if wide is None or column not in known or column not in warned:
                continue
            found[column] = hull(found[column], wide) if column in found else wide
    return found


def widened(round: Round, wider: dict[str, Range], lists: dict[str, Choice]) -> Round | None:
    """The round in these wider ranges and longer lists; None if a condition forbids it."""
    known = searched_ranges(round)
    times = 1.0
    for column, range in wider.items():
        times *= 1 / max(share(known[column], range), 1e-3)
    what = f"wider {', '.join([*wider, *lists])}"
    try:
        return successor(
            round,
            what,
            scientific=with_ranges(round.scientific, {**wider, **lists}),
            nuisance=with_ranges(round.nuisance, {**wider, **lists}),
            trials_per_study=grown(round.trials_per_study, times),
        )
    except DesignError:  # such as a given() that says nothing of the new value
        return None


def _beyond(results: Results, own: Sequence[Finding], wider: dict[str, Range]) -> Proposal | None:
    """The cheaper way: only from where the best lie to the new end, as densely as before.

    It gives up the far side of the old range, where nothing good was found.
    """
    known, best = searched_ranges(results.round), around_the_best(results)
    ranges = {
        column: reaching(known[column], range, best[column])
        for column, range in wider.items()
        if column in best and known[column] != range
    }
    if set(ranges) != set(wider):
        return None
    times = 1.0
    for column, range in ranges.items():
        times *= share(range, wider[column]) / max(share(known[column], wider[column]), 1e-3)
    trials = max(FEWEST, round(results.round.trials_per_study * min(times, 1.0)))
    try:
        made = successor(
            results.round,
            f"beyond {', '.join(ranges)}",
            scientific=with_ranges(results.round.scientific, ranges),
            nuisance=with_ranges(results.round.nuisance, ranges),
            trials_per_study=trials,
        )
    except DesignError:
        return None
    shown = " and ".join(f"{column} in {range}" for column, range in ranges.items())
    reason = f"or only from where the best lie: {shown}, {trials} trials per study"
    return proposal("widen", reason, own, made)


def _longer_lists(round: Round, findings: Sequence[Finding]) -> dict[str, Choice]:
    """Ordered lists with a value more at the end that a finding warns about."""
    found: dict[str, Choice] = {}
    for finding in findings:
        for edge in _edges(finding):
            name = edge["hyperparameter"]
            declared = round.scientific.get(name, round.nuisance.get(name))
            if edge["verdict"] == "warn" and isinstance(declared, Choice):
                longer = longer_list(found.get(name, declared), edge["side"])
                if longer is not None and name not in found:
                    found[name] = longer
    return found


def _edges(finding: Finding) -> list[dict[str, Any]]:
    return list(finding.evidence.get("hyperparameters", []))


def _shown(wider: dict[str, Range], lists: dict[str, Choice]) -> dict[str, str]:
    return {column: str(r) for column, r in {**wider, **lists}.items()}
