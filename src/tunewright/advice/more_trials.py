"""More trials of the same round, where it is too small for what it wants to see.

The sequence continues, so nothing that was run is lost. After two doublings beyond what the number
of hyperparameters pays for, narrower ranges serve better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunewright.advice.finite import untried
from tunewright.advice.narrow import narrow
from tunewright.advice.proposal import Proposal, continued, enough_for, reason
from tunewright.checks.density import DensityEvidence
from tunewright.design.budget import budget
from tunewright.finding import Finding
from tunewright.store.results import Results

DOUBLINGS = 2
# questions that cannot be judged for want of trials, though everything hangs on them
NEEDED = ("boundary", "density")
FEWEST = 10  # trials per study with which the questions can be asked


def more_trials(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Twice as many trials where the study is too small, or narrower ranges after two doublings."""
    own = [f for f in findings if f.check == "density" and f.verdict == "warn"]
    if not own:
        return []
    doubled = _doubled(results, own)
    crowded = any(f.check == "boundary" and f.verdict == "warn" for f in findings)
    around = [] if crowded else narrow(results, own)  # not around an end that may be passed
    return [*around, *doubled] if around and _doubled_enough(results) else [*doubled, *around]


def too_few(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Twice as many trials where too few completed for the search space to be judged."""
    own = [f for f in findings if f.check in NEEDED and f.verdict == "cannot_judge"]
    if not own or _adaptive(results):
        return []
    return _doubled(results, own)


def undecided(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """More trials where the settings cannot be separated; repeats of the best cost less."""
    own = [f for f in findings if f.check == "comparison" and f.verdict in ("note", "cannot_judge")]
    own = [f for f in own if f.scope == "round"]
    return _doubled(results, own) if own else []


def pressing(results: Results, findings: Sequence[Finding]) -> list[Finding]:
    """The findings without densities that no number of trials would satisfy.

    Where nothing else is declared, density is judged by the gap between the two best settings. If
    they are equal that gap shrinks with every doubling; after two of them the finding is left out.
    Where every configuration has been trained there is nothing left to sample.
    """
    if untried(results) == 0:
        return [f for f in findings if f.check != "density"]
    if not _doubled_enough(results):
        return list(findings)
    return [f for f in findings if not _by_gap(f)]


def _by_gap(finding: Finding) -> bool:
    """Whether a density is judged by the gap between the two best settings."""
    own = finding.evidence
    if not isinstance(own, DensityEvidence) or own.reference is None:
        return False
    return own.reference.source == "between_settings"


def _doubled_enough(results: Results) -> bool:
    """Whether the studies had two doublings beyond what their hyperparameters pay for."""
    trials = results.round.trials_per_study
    return all(trials >= 2**DOUBLINGS * budget(study).suggested for study in results.studies)


def _doubled(results: Results, own: Sequence[Finding]) -> list[Proposal]:
    """Twice as many trials, but none beyond the configurations that are left to train."""
    before, left = results.round.trials_per_study, untried(results)
    after = max(2 * before, FEWEST, enough_for(results.round))
    if left is not None:
        after = min(after, before + left)
    if after <= before:
        return []
    made = replace(results.round, trials_per_study=after)
    why = reason("proposal.more_trials", own, trials=after, trials_before=before)
    return [continued("more_trials", why, own, made)]


def _adaptive(results: Results) -> bool:
    """Whether most of the trials were chosen by looking at results."""
    return results.search not in ("", "halton", "listed")
