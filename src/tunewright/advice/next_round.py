"""Which round next? Executable proposals from the findings of a round, the most urgent first.

The order is the playbook's: a round that is not finished or broken is no evidence; instability is
repaired before ranges are judged; a space that is too small or mostly infeasible comes before
overfitting, the length of training, fairness and density; then what does not matter is fixed, and
when nothing warns exploration is done: exploitation, or stopping because tuning has saturated.

Nothing of ours can train more of such a round. A proposed round can be run in a project whose
program takes the same names; its `continues` then counts the imported trials. More trials of the
same round come from the tool that recorded it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tunewright.actions import Action, Advise, for_imported
from tunewright.advice.compare import (
    calm,
    compare_again,
    finish,
    fix,
    regularise,
    stabilise,
    suspect,
)
from tunewright.advice.exploit import (
    exploit,
    more_trials,
    nothing_asks_for_more,
    pressing,
    repeat,
    separate,
    stop,
    too_few,
)
from tunewright.advice.length import in_doubt, longer, shorter
from tunewright.advice.proposal import Kind, Proposal, Proposals, ranges_by_column
from tunewright.advice.widen import leave_out, narrow, widen
from tunewright.checks.checklist import check
from tunewright.design.ranges import Range
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.store.results import Results

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
_ELSEWHERE = Advise("train_elsewhere")
_Proposer = Callable[[Results, Sequence[Finding]], list[Proposal]]

# warnings first, in the order in which they should be dealt with
_PROPOSERS: tuple[_Proposer, ...] = (
    finish,
    suspect,
    stabilise,
    widen,
    leave_out,
    calm,
    regularise,
    longer,
    compare_again,
    more_trials,
    too_few,
)

# what is worth doing when nothing warns
_IMPROVERS: tuple[_Proposer, ...] = (
    stop,
    shorter,
    exploit,
    repeat,
    in_doubt,
    fix,
    narrow,
    separate,
)


def consistent(proposals: Sequence[Proposal], round: Round) -> list[Proposal]:
    """The proposals, in their order, without those that an earlier one excludes."""
    kept: list[Proposal] = []
    for proposal in proposals:
        if not any(contradict(proposal, other, round) for other in kept):
            kept.append(proposal)
    return kept


def contradict(proposal: Proposal, other: Proposal, round: Round) -> bool:
    """Whether no reader could follow both of these after the round that was asked."""
    return any(
        b.kind in EXCLUDED.get(a.kind, ()) or _wasted(a, b) or _opposite(a, b, round)
        for a, b in ((proposal, other), (other, proposal))
    )


def _wasted(repair: Proposal, more: Proposal) -> bool:
    """Whether the program is suspected, and the other spends more trials on it as it is."""
    return repair.reason.code in _SUSPECT and more.kind in _WASTED


def _opposite(wide: Proposal, narrow: Proposal, round: Round) -> bool:
    """Whether one moves an end of a range out and the other moves the same end in."""
    if wide.kind != "widen" or narrow.kind != "narrow":
        return False
    if wide.round is None or narrow.round is None:
        return False
    before, out = ranges_by_column(round), ranges_by_column(wide.round)
    inside = ranges_by_column(narrow.round)
    shared = [column for column in before if column in out and column in inside]
    return any(_same_end(before[column], out[column], inside[column]) for column in shared)


def _same_end(before: Range, out: Range, inside: Range) -> bool:
    if before.ends is None or out.ends is None or inside.ends is None:
        return False
    low = out.ends[0] < before.ends[0] < inside.ends[0]
    return low or out.ends[1] > before.ends[1] > inside.ends[1]


def _for_import(proposals: Sequence[Proposal], results: Results) -> list[Proposal]:
    """The proposals with actions that work on an imported round."""
    return [_without_program(proposal, results.round.name) for proposal in proposals]


def _without_program(proposal: Proposal, name: str) -> Proposal:
    if proposal.round is None:
        return replace(proposal, actions=for_imported(proposal.actions))
    if proposal.round.name == name:  # more trials of a round that only the other tool can train
        return replace(proposal, round=None, actions=(_ELSEWHERE,))
    names = [*proposal.round.scientific, *proposal.round.nuisance, *proposal.round.fixed]
    connect: Action = Advise("connect_program", {"names": list(dict.fromkeys(names))})
    return replace(proposal, actions=(connect,))


def next_round(results: Results, findings: Sequence[Finding] | None = None) -> Proposals:
    """Ranked proposals for what to do after a round, each with its reason.

    `findings` are those of `check(results)`, which is asked when they are not given. Pass results
    joined with earlier rounds (`record.joined`) to let old trials count.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        findings: those of `tw.check(results)`; None: the checklist is run.
    """
    pressing_findings = pressing(results, check(results) if findings is None else findings)
    proposals = [
        proposal for propose in _PROPOSERS for proposal in propose(results, pressing_findings)
    ]
    # what could not be judged for want of trials is not explored either
    done = nothing_asks_for_more(pressing_findings) and not too_few(results, pressing_findings)
    improvers = _IMPROVERS if done else (shorter,)
    proposals += [
        proposal for propose in improvers for proposal in propose(results, pressing_findings)
    ]
    if not proposals:  # nothing can be done about what warns, such as a range that has no wider one
        proposals = [
            proposal for propose in _IMPROVERS for proposal in propose(results, pressing_findings)
        ]
    kept = consistent(_distinct(proposals), results.round)
    return Proposals(_for_import(kept, results) if results.imported else kept)


def _distinct(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Each round once, under the first reason for it."""
    kept: list[Proposal] = []
    for proposal in proposals:
        if not any(_same(proposal, other) for other in kept):
            kept.append(proposal)
    return kept


def _same(proposal: Proposal, other: Proposal) -> bool:
    if proposal.round is None or other.round is None:
        return (proposal.kind, proposal.actions) == (other.kind, other.actions)
    return proposal.round == other.round and proposal.search == other.search
