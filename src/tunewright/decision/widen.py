"""Widen a range whose end the best trials crowd at; the old trials go on counting.

The new round covers the wider space as densely as the old one was covered, so it gets as many more
trials as the space is wider, three times as many at most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tunewright.checks.finding import Finding
from tunewright.decision.proposal import Proposal, grown, proposal, successor
from tunewright.decision.rewriting import longer_list, searched_ranges, with_ranges
from tunewright.design.round import Round
from tunewright.design.space import (
    Choice,
    Integers,
    Linear,
    Log,
    LogFromOne,
    Range,
    integers,
    linear,
    log,
    log_from_one,
)
from tunewright.errors import DesignError
from tunewright.record.results import Results

_WRITTEN = re.compile(r"(\w+)\(([^,]+), ([^,]+?)(, log=True)?\)")


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
    return [proposal("widen", reason, own, made)]


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


def written_range(text: str) -> Range | None:
    """A range as `str` writes it.

    >>> str(written_range("integers(1, 64, log=True)")), written_range("choice(1, 2)")
    ('integers(1, 64, log=True)', None)
    """
    read = _WRITTEN.fullmatch(text)
    if read is None:
        return None
    kind, low, high, log_scale = read.groups()
    try:
        if kind == "integers":
            return integers(int(low), int(high), log=bool(log_scale))
        makes: dict[str, Any] = {"linear": linear, "log": log, "log_from_one": log_from_one}
        return makes[kind](float(low), float(high)) if kind in makes else None
    except ValueError:
        return None


def hull(one: Range, other: Range) -> Range:
    """The narrowest range of their kind that holds both."""
    if type(one) is not type(other) or isinstance(one, Choice) or isinstance(other, Choice):
        return one
    low, high = min(one.low, other.low), max(one.high, other.high)
    if isinstance(one, Integers):
        return Integers(int(low), int(high), one.log)
    kinds: dict[type, Any] = {Linear: Linear, Log: Log, LogFromOne: LogFromOne}
    made: Range = kinds[type(one)](low, high)
    return made


def share(old: Range, new: Range) -> float:
    """How much of a wider range the old one is.

    >>> round(share(log(1e-4, 1e-1), log(1e-4, 1.0)), 3), share(integers(1, 4), integers(1, 6))
    (0.75, 0.6666666666666666)
    """
    if isinstance(old, Choice) or isinstance(new, Choice):
        return 1.0
    if isinstance(new, Integers):
        return (old.high - old.low + 1) / (new.high - new.low + 1)
    low, high = max(old.low, new.low), min(old.high, new.high)
    return new.unit(high) - new.unit(low)


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
