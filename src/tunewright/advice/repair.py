"""Repair before tuning on: what diverges, rises or never learns is looked into first.

The commands are the playbook's own order: see the instability closer, then warm up, then clip.
"""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.actions import Action, Probe, RunTrials, ShowRound
from tunewright.advice.proposal import Proposal, proposal, reason
from tunewright.checks.infeasible import InfeasibleEvidence
from tunewright.checks.overfitting import OverfittingEvidence
from tunewright.finding import Finding
from tunewright.store.results import Results

BROKEN = ("baseline", "training_bug")  # nothing else means anything until these are fixed
UNSTABLE = ("edge_of_divergence", "instability")
PROBES = ("stability", "warmup", "clip")


def finish(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Run what is left of a round before anything is concluded from it."""
    del findings
    left = sum(not trial.ended for trial in results.trials if trial.origin is None)
    own = [t for t in results.trials if t.origin is None]
    if not left and own:
        return []
    why = reason("proposal.no_trial_has_run")
    if own:
        why = reason("proposal.unfinished", left=left, trials_in_all=len(own))
    return [proposal("finish", why, actions=(RunTrials(results.round.name),))]


def mend(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """What looks like a bug: nothing learned, a training loss that rises, everything diverges."""
    own = [f for f in findings if f.check in BROKEN and f.verdict == "warn"]
    own += [f for f in findings if _all_diverge(f)]
    name = results.round.name
    if not own and results.trials and not results.top(1) and all(t.ended for t in results.trials):
        why = reason("proposal.none_completed", trials_in_all=len(results.trials))
        return [proposal("repair", why, actions=(ShowRound(name),))]
    if not own:
        return []
    actions = [action for f in own for action in f.actions if action.argv] or [ShowRound(name)]
    why = reason("proposal.suspect", own)
    return [proposal("repair", why, own, actions=tuple(dict.fromkeys(actions)))]


def stabilise(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Instability that holds the learning rate down: probes that find its remedy."""
    own = [f for f in findings if f.check in UNSTABLE and f.verdict == "warn"]
    own += [f for f in findings if _trains_worse(f)]
    if not own:
        return []
    return [proposal("repair", reason("proposal.repair", own), own, actions=probes(results))]


def calm(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Much of the space diverges: a remedy may make it trainable (where it is not left out)."""
    own = [f for f in findings if f.check == "infeasible" and f.verdict == "warn"]
    own = [f for f in own if not _all_diverge(f)]
    if not own:
        return []
    return [proposal("repair", reason("proposal.repair", own), own, actions=probes(results))]


def probes(results: Results) -> tuple[Action, ...]:
    """The probes against instability, in the order to try them."""
    return tuple(Probe(probe, results.round.name) for probe in PROBES)


def _all_diverge(finding: Finding) -> bool:
    """Whether so many trials are infeasible that the program itself is suspected."""
    seen = finding.evidence
    return isinstance(seen, InfeasibleEvidence) and seen.nearly_all


def _trains_worse(finding: Finding) -> bool:
    """Whether it warns that validation got worse because training did."""
    seen = finding.evidence
    if finding.verdict != "warn" or not isinstance(seen, OverfittingEvidence):
        return False
    return seen.kind == "training too"
