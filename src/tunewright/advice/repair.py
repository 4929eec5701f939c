"""Repair before tuning on: what diverges, rises or never learns is looked into first.

The commands are the playbook's own order: see the instability closer, then warm up, then clip.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tunewright.advice.proposal import Proposal, proposal
from tunewright.finding import Finding
from tunewright.store.results import Results

BROKEN = ("baseline", "training_bug")  # nothing else means anything until these are mended
UNSTABLE = ("edge_of_divergence", "instability")
PROBES = ("stability", "warmup", "clip")


def finish(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Run what is left of a round before anything is concluded from it."""
    del findings
    left = sum(not trial.ended for trial in results.trials if trial.origin is None)
    own = [t for t in results.trials if t.origin is None]
    if not left and own:
        return []
    name = shlex.quote(results.round.name)
    reason = f"{left} of {len(own)} trials have not been run yet" if own else "no trial has run"
    return [proposal("finish", reason, commands=(f"tunewright run {name}",))]


def mend(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """What looks like a bug: nothing learned, a training loss that rises, everything diverges."""
    own = [f for f in findings if f.check in BROKEN and f.verdict == "warn"]
    own += [f for f in findings if _all_diverge(f)]
    if not own:
        return []
    name = shlex.quote(results.round.name)
    commands = [line for f in own for line in f.advice if line.startswith("tunewright ")]
    shown = own[0].evidence.get("flagged") or own[0].evidence.get("top") or []
    if shown and "trial" in shown[0]:
        commands.append(f"tunewright trial {name} {shown[0]['trial']}")
    commands = commands or [f"tunewright show {name}"]
    return [proposal("repair", own[0].says, own, commands=tuple(dict.fromkeys(commands)))]


def stabilise(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Instability that holds the learning rate down: probes that find its remedy."""
    own = [f for f in findings if f.check in UNSTABLE and f.verdict == "warn"]
    own += [
        f
        for f in findings
        if f.check == "overfitting"
        and f.verdict == "warn"
        and f.evidence.get("kind") == "training too"
    ]
    if not own:
        return []
    return [proposal("repair", own[0].says, own, commands=probes(results))]


def calm(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Much of the space diverges: a remedy may make it trainable (where it is not left out)."""
    own = [f for f in findings if f.check == "infeasible" and f.verdict == "warn"]
    own = [f for f in own if not _all_diverge(f)]
    if not own:
        return []
    return [proposal("repair", own[0].says, own, commands=probes(results))]


def probes(results: Results) -> tuple[str, ...]:
    """The probes against instability, in the order to try them."""
    name = shlex.quote(results.round.name)
    return tuple(f"tunewright probe {probe} {name}" for probe in PROBES)


def _all_diverge(finding: Finding) -> bool:
    """Whether so many trials are infeasible that the program itself is suspected."""
    if finding.check != "infeasible" or finding.verdict != "warn":
        return False
    return bool(finding.advice) and "bug" in finding.advice[0]
