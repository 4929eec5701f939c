"""English: every sentence of this package, by code.

A sentence is a format string over its facts, or a function where a clause depends on a fact.
Findings are functions of the verdict and the evidence: a headline of at most twelve plain words
that answers the reader's question, then one sentence of evidence per fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tunewright.messages import Facts, Template
from tunewright.messages.en import (
    actions,
    findings_space,
    judging,
    launches,
    project,
    proposals,
    reasons,
)

SENTENCES: Mapping[str, Template] = {
    **judging.SENTENCES,
    **launches.SENTENCES,
    **project.SENTENCES,
    **reasons.SENTENCES,
    **findings_space.SENTENCES,
    **proposals.SENTENCES,
}
FINDINGS: Mapping[str, Callable[[str, Facts], list[str]]] = {
    **findings_space.FINDINGS,
}
CANNOT_JUDGE: Mapping[str, str] = {
    **findings_space.CANNOT_JUDGE,
}
SECTIONS: Mapping[str, str] = {
    **findings_space.SECTIONS,
}
ACTIONS: Mapping[str, Template] = {
    **actions.ACTIONS,
    **findings_space.ACTIONS,
}
