"""Which round next? Executable proposals from the findings of a round, the most urgent first.

The order is the playbook's: a round that is not finished or broken is no evidence; instability is
repaired before ranges are judged; a space that is too small or mostly infeasible comes before
overfitting, the length of training, fairness and density; then what does not matter is fixed, and
when nothing warns exploration is done: exploitation, or stopping because tuning has saturated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tunewright.advice.compare import compare_again
from tunewright.advice.consistent import consistent
from tunewright.advice.exploit import exploit, explored, repeat, stop
from tunewright.advice.fix import fix
from tunewright.advice.imported import for_import
from tunewright.advice.length import in_doubt, longer, shorter
from tunewright.advice.more_trials import more_trials, pressing, too_few, undecided
from tunewright.advice.narrow import leave_out, narrow
from tunewright.advice.proposal import Proposal, Proposals
from tunewright.advice.regularise import regularise
from tunewright.advice.repair import calm, finish, mend, stabilise
from tunewright.advice.widen import widen
from tunewright.checks.checklist import check
from tunewright.finding import Finding
from tunewright.store.results import Results

Proposer = Callable[[Results, Sequence[Finding]], list[Proposal]]

# warnings first, in the order in which they should be dealt with
PROPOSERS: tuple[Proposer, ...] = (
    finish,
    mend,
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
IMPROVERS: tuple[Proposer, ...] = (stop, shorter, exploit, repeat, in_doubt, fix, narrow, undecided)


def next_round(results: Results, findings: Sequence[Finding] | None = None) -> Proposals:
    """Ranked proposals for what to do after a round, each with its reason.

    `findings` are those of `check(results)`, which is asked when they are not given. Pass results
    joined with earlier rounds (`record.joined`) to let old trials count.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        findings: those of `tw.check(results)`; None: the checklist is run.
    """
    found = pressing(results, check(results) if findings is None else findings)
    made = [one for propose in PROPOSERS for one in propose(results, found)]
    # what could not be judged for want of trials is not explored either
    done = explored(found) and not too_few(results, found)
    improvers = IMPROVERS if done else (shorter,)
    made += [one for propose in improvers for one in propose(results, found)]
    if not made:  # nothing can be done about what warns, such as a range that has no wider one
        made = [one for propose in IMPROVERS for one in propose(results, found)]
    kept = consistent(_distinct(made), results.round)
    return Proposals(for_import(kept, results) if results.imported else kept)


def _distinct(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Each round once, under the first reason for it."""
    kept: list[Proposal] = []
    for one in proposals:
        if not any(_same(one, other) for other in kept):
            kept.append(one)
    return kept


def _same(one: Proposal, other: Proposal) -> bool:
    if one.round is None or other.round is None:
        return (one.kind, one.actions) == (other.kind, other.actions)
    return one.round == other.round and one.search == other.search
