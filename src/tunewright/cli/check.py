"""The command that asks whether a round can be trusted: check. It never trains anything."""

from __future__ import annotations

from tunewright.checks.checklist import check as check_results
from tunewright.cli._answer import answer
from tunewright.cli._errors import FINE, WARNED
from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import JsonOption, RoundName, StoreOption
from tunewright.cli._project import read_round
from tunewright.present.terminal.report_page import print_checklist
from tunewright.present.terminal.screen import screen


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
    findings = check_results(results)
    answer(
        json,
        {"round": results.round.name, "findings": findings},
        lambda: print_checklist(results, findings, screen()),
        WARNED if any(finding.verdict == "warn" for finding in findings) else FINE,
    )
