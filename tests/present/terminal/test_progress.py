from __future__ import annotations

import io
import math

from rich.console import Console
from tests.told import Record, concluded, started

from tunewright.execution.watcher import Summary
from tunewright.messages import Message
from tunewright.present.terminal.progress import Lines, LiveRegion, region, watcher
from tunewright.present.terminal.tally import Tally
from tunewright.store.judge import not_finite

DIVERGED = not_finite("train_loss", math.nan, 3)
RAISED = Message("trial.raised", {"type": "ValueError", "text": "no such file"})
HOSTILE = Message("trial.failed", {"text": "\x1b]0;owned\x07 [bold]markup[/bold]"})


def log() -> tuple[Lines, io.StringIO]:
    text = io.StringIO()
    found = watcher(Console(file=text, width=60, highlight=False))
    assert isinstance(found, Lines)
    return found, text


def test_one_line_per_event_in_a_log_file() -> None:
    watch, text = log()
    watch.began(Record(), total=10, done=0)  # type: ignore[arg-type]
    watch.claimed(started(0))
    watch.ended(concluded(0, value=0.202377))
    watch.best(concluded(0, value=0.202377))
    watch.message("no new trials")
    watch.closed(Summary("interrupted", "interrupted"))
    lines = [line.split("  ", 1)[1] for line in text.getvalue().splitlines()]
    assert lines == [
        "weight_decay: 10 trials, minimize valid_error (best)",
        "trial 0 begins  weight_decay 0  learning_rate 0.013",
        "trial 0 completed  valid_error 0.2024  10 s  [1/10  44 s to 3m05 left]",
        "best 0.2024 valid_error  trial 0  weight_decay 0  learning_rate 0.013",
        "no new trials",
    ]
    assert watch.summary == Summary("interrupted", "interrupted")
    assert "\x1b" not in text.getvalue()


def test_a_continued_round_says_how_much_is_done() -> None:
    watch, text = log()
    counts = {"infeasible": 2, "completed": 2, "pending": 6}
    watch.began(Record(continued=True, counts=counts), total=10, done=4)  # type: ignore[arg-type]
    assert "10 trials, 4 ended before" in text.getvalue()
    watch.ended(concluded(5, "infeasible", reason=DIVERGED))
    assert "trial 5 infeasible  train_loss is nan at step 3" in text.getvalue()
    assert "[5/10  3 infeasible" in text.getvalue()


def test_the_same_failure_warns_once() -> None:
    watch, text = log()
    watch.began(Record(), total=10, done=0)  # type: ignore[arg-type]
    for number in range(3):
        watch.ended(concluded(number, "failed", reason=RAISED))
    warnings = [line for line in text.getvalue().splitlines() if "  ! " in line]
    assert len(warnings) == 1
    assert warnings[0].endswith(
        "! trial 0 failed: ValueError: no such file: `tunewright trial weight_decay 0`"
    )


def test_five_infeasible_in_a_row_warn_once_per_row() -> None:
    watch, text = log()
    watch.began(Record(), total=50, done=0)  # type: ignore[arg-type]
    for number in range(8):
        watch.ended(concluded(number, "infeasible", reason=DIVERGED))
    assert text.getvalue().count("5 trials in a row were infeasible") == 1
    watch.ended(concluded(8, value=0.5))
    for number in range(9, 14):
        watch.ended(concluded(number, "infeasible", reason=DIVERGED))
    assert text.getvalue().count("5 trials in a row were infeasible") == 2


def test_control_characters_of_a_program_never_reach_the_terminal() -> None:
    watch, text = log()
    watch.began(Record(), total=10, done=0)  # type: ignore[arg-type]
    watch.ended(concluded(0, "failed", reason=HOSTILE))
    assert "\x1b" not in text.getvalue()
    assert "[bold]markup[/bold]" in text.getvalue()


def test_a_terminal_gets_one_live_region() -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100, color_system=None)
    watch = watcher(console)
    assert isinstance(watch, LiveRegion)
    watch.began(Record(), total=10, done=0)  # type: ignore[arg-type]
    watch.claimed(started(0))
    watch.ended(concluded(0, value=0.202377))
    watch.best(concluded(0, value=0.202377))
    watch.message("2 trials left to finish")
    watch.closed(Summary("finished", "done"))
    shown = text.getvalue().replace("\x1b[?25h", "")  # the cursor is shown again
    assert "2 trials left to finish" in shown
    assert shown.rstrip().splitlines()[-1].startswith("best 0.2024 valid_error  trial 0")


def test_the_region_fits_one_screen_line_each() -> None:
    text = io.StringIO()
    console = Console(file=text, width=40)
    best = concluded(3, value=0.25)
    console.print(region(Tally("a_long_name_of_a_round" * 3, "valid_error", 9, 4, best=best), 0.0))
    lines = text.getvalue().rstrip("\n").splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 40 for line in lines)


def test_the_best_of_earlier_calls_is_known_from_the_start() -> None:
    text = io.StringIO()
    watch = watcher(Console(file=text, width=60), concluded(7, value=0.125))
    watch.began(Record(counts={"completed": 4, "pending": 6}), total=10, done=4)  # type: ignore[arg-type]
    assert (
        text.getvalue()
        .splitlines()[1]
        .endswith("best 0.125 valid_error  trial 7  weight_decay 0  learning_rate 0.013")
    )


def test_repeats_are_not_counted_with_the_rounds_trials() -> None:
    watch, text = log()
    watch.began(Record(counts={"infeasible": 4, "completed": 6}), total=3, done=0)  # type: ignore[arg-type]
    watch.ended(concluded(None, value=0.5))
    assert "a repeat completed  valid_error 0.5  10 s  [1/3" in text.getvalue()
    assert "infeasible" not in text.getvalue()
