"""The command that asks whether a round can be trusted: check. It never trains anything."""

from __future__ import annotations

import typer

from tunewright.checks.checklist import check as check_results
from tunewright.cli._earlier import read_joined
from tunewright.cli._errors import WARNED
from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import JsonOption, RoundName, StoreOption
from tunewright.present.terminal.checklist_page import print_checklist
from tunewright.present.terminal.screen import screen, show_json


def check(
    round: RoundName,
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Ask whether a round can be trusted: the playbook's checklist. Exits with 1 on a warning."""
    results = judged_by(read_joined(round, store), minimize, maximize, at)
    findings = check_results(results)
    if json:
        show_json(findings)
    else:
        print_checklist(results, findings, screen())
    if any(finding.verdict == "warn" for finding in findings):
        raise typer.Exit(WARNED)
