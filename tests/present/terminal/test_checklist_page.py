from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console
from tests.present.sample_findings import MORE, REMEDIES, edge, few, unknown
from tests.recorded import results

from tunewright.actions import Probe
from tunewright.finding import Finding
from tunewright.messages import Reader
from tunewright.present.terminal.report_page import print_checklist

FINDINGS = [
    edge("layers=1"),
    edge("layers=2", "warn", REMEDIES),
    few("note"),
    unknown("overfitting", "layers=1", (Probe("clip", "r"),)),
    unknown("overfitting", "layers=2", (Probe("clip", "r"),)),
]


def printed(findings: list[Finding], reader: Reader = "shell") -> list[str]:
    page = io.StringIO()
    print_checklist(results(), findings, Console(file=page, width=80), reader)
    return page.getvalue().splitlines()


def test_a_warning_is_its_headline_its_evidence_and_all_its_actions() -> None:
    warned = FINDINGS[1]
    first, *evidence, probe, advice = printed(FINDINGS)[: 3 + len(warned.words.evidence)]
    assert first.split()[:2] == ["warn", "edge_of_divergence"]
    assert first.endswith(f"layers=2: {warned.headline}")
    below = first.index("layers=2")
    assert [line[below:] for line in evidence] == list(warned.words.evidence)
    assert probe[below:].split("    ") == ["-> tunewright probe warmup r", REMEDIES[0].shell_text]
    assert advice[below:] == f"-> {REMEDIES[1].shell_text}"


def test_a_note_shows_its_first_action_only() -> None:
    lines = printed([few("note")])
    assert [line.split("-> ")[1].split("    ")[0] for line in lines if "->" in line] == [
        MORE.command
    ]


def test_what_is_fine_or_unknown_is_one_line_with_its_evidence_in_brackets() -> None:
    *_, fine, sure, action, tally = printed(FINDINGS)
    assert fine.startswith("ok ") and FINDINGS[0].headline in fine
    assert sure.startswith("? ") and sure.endswith(f"({FINDINGS[3].words.evidence[0]})")
    assert "-> tunewright probe clip r" in action
    assert tally.endswith(": 1 warning, 1 note, 1 fine, 1 cannot be judged")


def test_settings_that_share_a_headline_count_once() -> None:
    both = [edge("layers=1", "warn", REMEDIES), edge("layers=2", "warn", REMEDIES)]
    *_, tally = printed(both)
    assert tally.endswith(": 1 warning, 0 notes, 0 fine, 0 cannot be judged")


def test_in_python_actions_are_calls() -> None:
    lines = "\n".join(printed(FINDINGS, "python"))
    assert "tw.probes.warmup(workload" in lines
    assert "tunewright probe" not in lines


def test_where_every_trial_failed_that_comes_first() -> None:
    made = results(failed=True)
    failed = [trial for trial in made.recorded if trial.status == "failed"]
    page = io.StringIO()
    print_checklist(replace(made, recorded=tuple(failed)), FINDINGS, Console(file=page, width=200))
    first, second, *_ = page.getvalue().splitlines()
    assert "all failed" in first and str(failed[0].reason) in first
    assert f"-> tunewright trial weight_decay {failed[0].number}" in second
    assert not any("all failed" in line for line in printed(FINDINGS))


def test_what_a_setting_says_cannot_move_the_cursor() -> None:
    text = "\n".join(printed([edge("a=\x1b[2J [red]bold[/red]", "warn", (Probe("\x07", "r"),))]))
    assert "\x1b" not in text and "\x07" not in text
    assert "[red]bold[/red]" in text
