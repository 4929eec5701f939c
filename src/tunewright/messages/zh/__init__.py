"""Chinese: every sentence of this package, by code.

The same codes and facts as in English. A sentence that is not translated yet is shown in English;
a test holds that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from tunewright.messages import Facts, Template, en
from tunewright.messages.zh import (
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
    help,
    help_options,
    importers,
    labels,
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

MODULES: tuple[ModuleType, ...] = (
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
)  # one for each of English, by its name


def _merge(name: str) -> dict[str, object]:
    """The entries of one table in all modules."""
    return {k: v for module in MODULES for k, v in getattr(module, name, {}).items()}


SENTENCES: Mapping[str, Template] = {**en.SENTENCES, **_merge("SENTENCES")}  # type: ignore[dict-item]
FINDINGS: Mapping[str, Callable[[str, Facts], list[str]]] = {
    **en.FINDINGS,
    **_merge("FINDINGS"),  # type: ignore[dict-item]
}
CANNOT_JUDGE: Mapping[str, str] = {**en.CANNOT_JUDGE, **_merge("CANNOT_JUDGE")}  # type: ignore[dict-item]
SECTIONS: Mapping[str, str] = {**en.SECTIONS, **_merge("SECTIONS")}  # type: ignore[dict-item]
ACTIONS: Mapping[str, Template] = {
    **en.ACTIONS,
    **_merge("ACTIONS"),  # type: ignore[dict-item]
    **_merge("REMEDIES"),  # type: ignore[dict-item]
}
PHRASES = phrases.PHRASES
COUNTED = phrases.COUNTED
LABELS = {**labels.LABELS, **help.LABELS, **help_options.LABELS}
