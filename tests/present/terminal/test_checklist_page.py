from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console
from tests.recorded import results

from tunewright.finding import LegacyFinding as Finding
from tunewright.present.terminal.checklist_page import lines, print_checklist

FINDINGS = [
    Finding("baseline", "round r", "ok", "better than chance"),
    Finding("boundary", "layers=1", "ok", "best rate at 0.5"),
    Finding("boundary", "layers=2", "warn", "best rate at 0.99", {}, ("widen it", "go on")),
    Finding("boundary", "layers=3", "ok", "best rate at 0.6"),
    Finding("density", "all", "note", "few trials", {}, ("more", "and more")),
    Finding("variance", "layers=1", "cannot_judge", "no repeats", {}, ("repeat",)),
    Finding("variance", "layers=2", "cannot_judge", "no repeats", {}, ("repeat",)),
]


def test_warnings_come_first_and_settings_that_are_fine_share_a_line() -> None:
    assert [(line.verdict, line.check, line.says) for line in lines(FINDINGS)] == [
        ("warn", "boundary", "layers=2: best rate at 0.99"),
        ("note", "density", "few trials"),
        ("ok", "baseline", "better than chance"),
        ("ok", "boundary", "layers=1: best rate at 0.5 (and 1 more)"),
        ("cannot_judge", "variance", "no repeats"),
    ]


def printed(findings: list[Finding]) -> list[str]:
    page = io.StringIO()
    print_checklist(results(), findings, Console(file=page, width=80))
    return page.getvalue().splitlines()


def test_a_warning_shows_all_its_advice_and_a_note_the_first() -> None:
    assert printed(FINDINGS)[:5] == [
        "warn  boundary  layers=2: best rate at 0.99",
        "                -> widen it",
        "                -> go on",
        "note  density   few trials",
        "                -> more",
    ]
    assert printed(FINDINGS)[-1].endswith(": 1 warning, 1 note, 3 fine, 2 cannot be judged")


def test_where_every_trial_failed_that_comes_first() -> None:
    made = results(failed=True)
    failed = [trial for trial in made.recorded if trial.status == "failed"]
    page = io.StringIO()
    print_checklist(replace(made, recorded=tuple(failed)), FINDINGS, Console(file=page, width=200))
    assert page.getvalue().startswith("1 trial, all failed: ValueError: no such file: tunewright")
    assert not any("all failed" in line for line in printed(FINDINGS))


def test_what_a_setting_says_cannot_move_the_cursor() -> None:
    hostile = [Finding("boundary", "a=\x1b[2J", "warn", "[red]bold[/red]", {}, ("\x07",))]
    text = "\n".join(printed(hostile))
    assert "\x1b" not in text and "\x07" not in text
    assert "[red]bold[/red]" in text
