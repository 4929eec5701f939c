"""Which proposals exclude each other, so that no answer proposes a thing and its opposite."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.advice.proposal import Kind, Proposal
from tunewright.advice.rewrite import searched_ranges
from tunewright.design.ranges import Range
from tunewright.design.round import Round

# what is left out of an answer beside a proposal of this kind that comes before or after it
EXCLUDED: dict[Kind, frozenset[Kind]] = {
    # what is missing may change every conclusion
    "finish": frozenset({"more_trials", "exploit", "stop", "repeat", "fix", "shorter"}),
    # as much tuning again gains less than what matters
    "stop": frozenset({"more_trials", "exploit", "repeat", "narrow", "fix"}),
    "longer": frozenset({"shorter"}),
    # early best steps are those of a model that overfits: it is regularised, not stopped early
    "regularise": frozenset({"shorter"}),
}
_SUSPECT = ("proposal.suspect", "proposal.none_completed")  # why the program itself is looked at
# trials of a program that is suspected teach nothing
_WASTED: frozenset[Kind] = frozenset({"more_trials", "exploit", "stop", "repeat", "fix", "longer"})


def consistent(proposals: Sequence[Proposal], asked: Round) -> list[Proposal]:
    """The proposals, in their order, without those that an earlier one excludes."""
    kept: list[Proposal] = []
    for one in proposals:
        if not any(contradict(one, other, asked) for other in kept):
            kept.append(one)
    return kept


def contradict(one: Proposal, other: Proposal, asked: Round) -> bool:
    """Whether no reader could follow both of these after the round that was asked."""
    return any(
        b.kind in EXCLUDED.get(a.kind, ()) or _wasted(a, b) or _opposite(a, b, asked)
        for a, b in ((one, other), (other, one))
    )


def _wasted(repair: Proposal, more: Proposal) -> bool:
    """Whether the program is suspected, and the other spends more trials on it as it is."""
    return repair.reason.code in _SUSPECT and more.kind in _WASTED


def _opposite(wide: Proposal, narrow: Proposal, asked: Round) -> bool:
    """Whether one moves an end of a range out and the other moves the same end in."""
    if wide.kind != "widen" or narrow.kind != "narrow":
        return False
    if wide.round is None or narrow.round is None:
        return False
    before, out = searched_ranges(asked), searched_ranges(wide.round)
    inside = searched_ranges(narrow.round)
    shared = [column for column in before if column in out and column in inside]
    return any(_same_end(before[column], out[column], inside[column]) for column in shared)


def _same_end(before: Range, out: Range, inside: Range) -> bool:
    if before.ends is None or out.ends is None or inside.ends is None:
        return False
    low = out.ends[0] < before.ends[0] < inside.ends[0]
    return low or out.ends[1] > before.ends[1] > inside.ends[1]
