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
    campaigns,
    cards,
    design,
    errors,
    errors_advice,
    errors_campaigns,
    errors_cli,
    errors_execution,
    errors_importers,
    errors_launches,
    errors_pipeline,
    errors_present,
    errors_probes,
    errors_project,
    errors_search,
    errors_stats,
    errors_store,
    errors_testing,
    errors_top,
    figures,
    findings_applied,
    findings_curves,
    findings_space,
    goals,
    importers,
    judging,
    launches,
    probes,
    probes_throughput,
    progress,
    project,
    proposals,
    reasons,
    report,
    rounds,
    scan,
    sinks,
    ui,
)

SENTENCES: Mapping[str, Template] = {
    **errors.SENTENCES,
    **goals.SENTENCES,
    **judging.SENTENCES,
    **progress.SENTENCES,
    **project.SENTENCES,
    **scan.SENTENCES,
    **reasons.SENTENCES,
    **findings_space.SENTENCES,
    **findings_curves.SENTENCES,
    **findings_applied.SENTENCES,
    **proposals.SENTENCES,
    **report.SENTENCES,
    **rounds.SENTENCES,
    **figures.SENTENCES,
    **cards.SENTENCES,
    **campaigns.SENTENCES,
    **importers.SENTENCES,
    **launches.SENTENCES,
    **probes.SENTENCES,
    **probes_throughput.SENTENCES,
    **design.SENTENCES,
    **errors_advice.SENTENCES,
    **errors_campaigns.SENTENCES,
    **errors_cli.SENTENCES,
    **errors_execution.SENTENCES,
    **errors_importers.SENTENCES,
    **errors_launches.SENTENCES,
    **errors_pipeline.SENTENCES,
    **errors_present.SENTENCES,
    **errors_probes.SENTENCES,
    **errors_project.SENTENCES,
    **errors_search.SENTENCES,
    **errors_stats.SENTENCES,
    **errors_store.SENTENCES,
    **errors_testing.SENTENCES,
    **errors_top.SENTENCES,
    **sinks.SENTENCES,
    **ui.SENTENCES,
}
FINDINGS: Mapping[str, Callable[[str, Facts], list[str]]] = {
    **findings_space.FINDINGS,
    **findings_curves.FINDINGS,
    **findings_applied.FINDINGS,
}
CANNOT_JUDGE: Mapping[str, str] = {
    **findings_space.CANNOT_JUDGE,
    **findings_curves.CANNOT_JUDGE,
    **findings_applied.CANNOT_JUDGE,
}
SECTIONS: Mapping[str, str] = {
    **findings_space.SECTIONS,
    **findings_curves.SECTIONS,
    **findings_applied.SECTIONS,
}
ACTIONS: Mapping[str, Template] = {
    **actions.ACTIONS,
    **errors.REMEDIES,
    **findings_space.ACTIONS,
    **findings_curves.ACTIONS,
    **findings_applied.ACTIONS,
}
