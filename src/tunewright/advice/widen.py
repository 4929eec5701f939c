"""Widen a range whose end the best trials crowd at; the old trials still count.

The new round covers the wider space as densely as the old one was covered, so it gets as many more
trials as the space is wider, three times as many at most. A cheaper round, which starts where the
best lie and gives up the far side, is proposed beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunewright.advice.finite import most_trials
from tunewright.advice.narrow import around_the_best
from tunewright.advice.proposal import Proposal, grown, proposal, reason, successor
from tunewright.advice.rewrite import longer_list, names_of, searched_ranges, with_ranges
from tunewright.checks.boundary import BoundaryEvidence, Edge
from tunewright.checks.overfitting import OverfittingEvidence
from tunewright.design.areas import area_of
from tunewright.design.ranges import Range, choices_of
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.store.results import Results

FEWEST = 8  # trials: with fewer feasible ones the ends cannot be judged again


def widen(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """One round with every range widened that a boundary finding warns about."""
    own = [f for f in findings if f.check == "boundary" and f.verdict == "warn"]
    wider = proposed_ranges(results.round, own)
    lists = _longer_lists(results.round, own)
    # overfitting is regularised: neither a larger nor a smaller model is its remedy (playbook)
    left = _architecture(results, [*wider, *lists]) if overfits(findings) else ()
    wider = {column: range for column, range in wider.items() if column not in left}
    lists = {column: declared for column, declared in lists.items() if column not in left}
    if not wider and not lists:
        return []
    made = widened(results.round, wider, lists)
    if made is None:
        return []
    why = reason(
        "proposal.widen",
        own,
        ranges={**wider, **lists},
        trials=made.trials_per_study,
        trials_before=results.round.trials_per_study,
        left_out=left,
    )
    beyond = _beyond(results, own, wider)
    return [proposal("widen", why, own, made), *([beyond] if beyond and not lists else [])]


def overfits(findings: Sequence[Finding]) -> bool:
    """Whether a finding warns of overfitting, rather than of training that got worse too."""
    seen = [f.evidence for f in findings if f.verdict == "warn"]
    return any(isinstance(one, OverfittingEvidence) and one.kind != "training too" for one in seen)


def _architecture(results: Results, columns: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that are parts of the model."""
    names = names_of(results.round)
    return tuple(
        column
        for column in columns
        if area_of(names.get(column, column), results.meaning) == "model"
    )


def proposed_ranges(round: Round, findings: Sequence[Finding]) -> dict[str, Range]:
    """The ranges that findings propose, by column; where several do, wide enough for all.

    Only what a warning is about is widened: a note on another hyperparameter is none.
    """
    known = searched_ranges(round)
    found: dict[str, Range] = {}
    for edge in _warned(findings):
        wide, column = edge.proposed, edge.column
        if wide is not None and column in known:
            found[column] = found[column].hull(wide) if column in found else wide
    return found


def widened(round: Round, wider: dict[str, Range], lists: dict[str, Range]) -> Round | None:
    """The round in these wider ranges and longer lists; None if a condition forbids it."""
    known = searched_ranges(round)
    times = 1.0
    for column, range in wider.items():
        times *= 1 / max(range.covered(known[column]), 1e-3)
    change = Message("change.wider", {"names": [*wider, *lists]})
    try:
        made = successor(
            round,
            change,
            scientific=with_ranges(round.scientific, {**wider, **lists}),
            nuisance=with_ranges(round.nuisance, {**wider, **lists}),
        )
        most = most_trials(made)
        trials = grown(round.trials_per_study, times)
        return replace(made, trials_per_study=trials if most is None else min(trials, most))
    except DesignError:  # such as a given() without the new value
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
        wide = wider[column]
        times *= wide.covered(range) / max(wide.covered(known[column]), 1e-3)
    trials = max(FEWEST, round(results.round.trials_per_study * min(times, 1.0)))
    try:
        made = successor(
            results.round,
            Message("change.beyond", {"names": list(ranges)}),
            scientific=with_ranges(results.round.scientific, ranges),
            nuisance=with_ranges(results.round.nuisance, ranges),
            trials_per_study=trials,
        )
    except DesignError:
        return None
    why = reason("proposal.widen_beyond", own, ranges=ranges, trials=trials)
    return proposal("widen", why, own, made)


def reaching(old: Range, wide: Range, best: Range) -> Range:
    """The part of a widened range from where the best of the old one lie to the new end.

    >>> from tunewright.design.ranges import log
    >>> str(reaching(log(1e-4, 0.1), log(1e-4, 1.0), log(0.01, 0.1)))
    'log(0.01, 1)'
    """
    if old.ends is None or wide.ends is None or best.ends is None:
        return wide
    low = wide.ends[0] if wide.ends[0] < old.ends[0] else best.ends[0]
    high = wide.ends[1] if wide.ends[1] > old.ends[1] else best.ends[1]
    return wide.with_ends(low, high) or wide


def _longer_lists(round: Round, findings: Sequence[Finding]) -> dict[str, Range]:
    """Ordered lists with a value more at the end that a finding warns about."""
    found: dict[str, Range] = {}
    for edge in _warned(findings):
        name = edge.column
        declared = round.scientific.get(name, round.nuisance.get(name))
        values = choices_of(declared)
        if values is not None and name not in found:
            longer = longer_list(values, edge.seen.side)
            if longer is not None:
                found[name] = longer
    return found


def _warned(findings: Sequence[Finding]) -> list[Edge]:
    """The ends that findings warn about."""
    seen = [f.evidence for f in findings if isinstance(f.evidence, BoundaryEvidence)]
    return [edge for one in seen for edge in one.edges if edge.verdict == "warn"]
