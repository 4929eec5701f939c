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
    agents,
    budgets,
    campaigns,
    design,
    diagnosis,
    errors,
    errors_execution,
    errors_pipeline,
    errors_probes,
    errors_store,
    figures,
    findings_applied,
    findings_curves,
    findings_space,
    importers,
    launches,
    mcp,
    phrases,
    probes,
    probes_throughput,
    progress,
    project,
    proposals,
    reasons,
    receipts,
    referee,
    report,
    rounds,
    screens,
)

_FINDINGS = (findings_space, findings_curves, findings_applied)
_SENTENCES = (
    *_FINDINGS,
    agents,
    budgets,
    campaigns,
    design,
    diagnosis,
    errors,
    errors_execution,
    errors_pipeline,
    errors_probes,
    errors_store,
    figures,
    importers,
    launches,
    mcp,
    probes,
    probes_throughput,
    progress,
    project,
    proposals,
    reasons,
    receipts,
    referee,
    report,
    rounds,
    screens,
)

SENTENCES: Mapping[str, Template] = {
    k: v for module in _SENTENCES for k, v in module.SENTENCES.items()
}
FINDINGS: Mapping[str, Callable[[str, Facts], list[str]]] = {
    k: v for module in _FINDINGS for k, v in module.FINDINGS.items()
}
CANNOT_JUDGE: Mapping[str, str] = {
    k: v for module in _FINDINGS for k, v in module.CANNOT_JUDGE.items()
}
SECTIONS: Mapping[str, str] = {k: v for module in _FINDINGS for k, v in module.SECTIONS.items()}
ACTIONS: Mapping[str, Template] = {
    **actions.ACTIONS,
    **errors.REMEDIES,
    **diagnosis.ACTIONS,
    **referee.ACTIONS,
    **{k: v for module in _FINDINGS for k, v in module.ACTIONS.items()},
}
PHRASES, COUNTED, LABELS = phrases.PHRASES, phrases.COUNTED, phrases.LABELS
