"""Findings for pages: as few facts as their words need."""

from __future__ import annotations

from tunewright.actions import Action, Advise, Probe, RunTrials
from tunewright.checks.edge_of_divergence import Edge, EdgeEvidence
from tunewright.finding import Finding, NotJudged, Verdict
from tunewright.messages import Message

EDGE = Edge((), "learning_rate", (0.1, 0.2), 0.3, 0.01)
REMEDIES = (Probe("warmup", "r"), Advise("lower_learning_rate"))
MORE = RunTrials("r", trials_per_study=32)


def edge(about: str, verdict: Verdict = "ok", actions: tuple[Action, ...] = ()) -> Finding:
    """A finding of one study; a warning has numbers."""
    evidence = EdgeEvidence("learning_rate", EDGE if verdict == "warn" else None)
    return Finding(
        check="edge_of_divergence",
        scope="study",
        about=about,
        verdict=verdict,
        evidence=evidence,
        actions=actions,
    )


def unknown(check: str, about: str, actions: tuple[Action, ...] = ()) -> Finding:
    """A finding that cannot be judged."""
    why = NotJudged(Message("judge.never_learned"))
    return Finding(
        check=check,
        scope="study",
        about=about,
        verdict="cannot_judge",
        evidence=why,
        actions=actions,
    )


def few(verdict: Verdict = "note") -> Finding:
    """A finding about the whole round, with two actions."""
    evidence = EdgeEvidence("learning_rate", EDGE)
    actions = (MORE, Advise("narrow_after_doublings"))
    return Finding(
        check="edge_of_divergence",
        scope="round",
        about="r",
        verdict=verdict,
        evidence=evidence,
        actions=actions,
    )
