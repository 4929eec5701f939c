"""One line per round; the files and the command only where they are asked for."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from rich.console import Console

from tunewright.present.terminal.tracking_page import print_tracking
from tunewright.store.tracking import Tracked

ROW = Tracked(
    name="depth",
    goal="Do more layers help, when everything else is tuned anew for each number of them? " * 3,
    created=datetime(2026, 5, 1, tzinfo=UTC),
    definition="rounds/depth.toml",
    counts={"completed": 10, "infeasible": 2},
    trials=12,
    objective="minimize valid_error (best)",
    best=None,
    checkpoint="",
    note="a note",
    command="python train.py --seed=1",
)


def printed(details: bool) -> list[str]:
    written = io.StringIO()
    print_tracking([ROW] * 3, Console(file=written, width=100), whole=details)
    return written.getvalue().splitlines()


def test_one_line_per_round() -> None:
    lines = printed(details=False)
    assert len(lines) == 4  # the heading, and three rounds
    assert all("10 of 12" in line and "train.py" not in line for line in lines[1:])


def test_details_have_the_command_and_the_note() -> None:
    lines = printed(details=True)
    assert len(lines) > 10
    assert any("train.py" in line for line in lines) and any("a note" in line for line in lines)
