"""The command that asks whether a round can be trusted: check. It never trains anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tunewright.checks.checklist import check as check_results
from tunewright.cli._answer import answer
from tunewright.cli._errors import FINE, WARNED
from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import JsonOption, RoundName, StoreOption
from tunewright.cli._project import read_round
from tunewright.finding import Finding
from tunewright.present.terminal.checklist_page import print_checklist
from tunewright.present.terminal.screen import screen
from tunewright.present.terminal.toml_words import as_toml


def check(
    round: RoundName,
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Ask whether a round can be trusted: the playbook's checklist. Exits with 1 on a warning."""
    results = judged_by(read_round(round, store), minimize, maximize, at)
    findings: list[Any] = check_results(results)
    shown: list[Any] = [_for_a_shell(f) for f in findings]
    answer(
        json,
        {"round": results.round.name, "findings": findings},
        lambda: print_checklist(results, shown, screen()),
        WARNED if any(finding.verdict == "warn" for finding in findings) else FINE,
    )


def _for_a_shell(finding: Any) -> Any:
    if isinstance(finding, Finding):
        return finding
    advice = tuple(as_toml(line) for line in finding.advice)
    return replace(finding, says=as_toml(finding.says), advice=advice)
