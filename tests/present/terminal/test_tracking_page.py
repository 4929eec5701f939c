"""The tracking table: one line a round, probes apart, and everything with details."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from rich.console import Console

from tunewright.present.terminal.round_page import print_tracking
from tunewright.store.overview import Tracked


def row(name: str, **more) -> Tracked:
    known = {
        "change": None,
        "goal": "A question\nof two lines?",
        "created": datetime(2026, 1, 2, tzinfo=UTC),
        "definition": "",
        "counts": {"completed": 3, "failed": 1},
        "trials": 4,
        "objective": "minimize e (best)",
        "best": None,
        "checkpoint": "",
        "note": "remember",
        "command": "tunewright again depth 3",
    }
    return Tracked(name=name, **{**known, **more})


def printed(*rows: Tracked, details: bool = False) -> list[str]:
    text = io.StringIO()
    print_tracking(rows, Console(file=text, width=100), details)
    return text.getvalue().splitlines()


def test_one_line_a_round_and_probes_below() -> None:
    lines = printed(row("probe_x", purpose="probe"), row("depth"), row("width", goal="long " * 90))
    assert [line.split()[0] for line in lines] == ["round", "depth", "width", "probe", "probe_x"]
    assert "4 (1 failed)" in lines[1] and "remember" not in "".join(lines)


def test_details() -> None:
    lines = "\n".join(printed(row("depth"), details=True))
    assert "remember" in lines and "tunewright again depth 3" in lines


def test_nothing_yet() -> None:
    assert "tunewright new" in printed()[0]
