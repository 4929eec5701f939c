"""Plain lines: one per event, or a few of them for a script that nobody looks at."""

from __future__ import annotations

import math

from tests.told import begun, concluded, reached, started

from tunewright.messages import Message
from tunewright.progress.lines import EVERY_S, FIRST_S, Lines
from tunewright.progress.watcher import CampaignStep, Summary
from tunewright.store.judge import not_finite

DIVERGED = not_finite("train_loss", math.nan, 3)
RAISED = Message("trial.raised", {"type": "ValueError", "text": "no such file"})
HOSTILE = Message("trial.failed", {"text": "\x1b]0;owned\x07 [bold]markup[/bold]"})


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def log(**more) -> tuple[Lines, list[str]]:
    found: list[str] = []
    return Lines(found.append, **more), found


def test_one_line_per_event_in_a_log_file() -> None:
    watch, text = log()
    watch.began(begun(10, 0))
    watch.claimed(started(0))
    watch.ended(concluded(0, value=0.202377))
    watch.best(concluded(0, value=0.202377))
    watch.message("no new trials")
    watch.closed(Summary("interrupted"))
    lines = [line.split("  ", 1)[1] for line in text]
    assert lines == [
        "weight_decay: 10 trials, minimize valid_error (best)",
        "trial 0 begins  weight_decay 0  learning_rate 0.013",
        "trial 0 completed  valid_error 0.2024  10 s  [1/10  44 s to 3m05 left]",
        "best 0.2024 valid_error  trial 0  weight_decay 0  learning_rate 0.013",
        "no new trials",
    ]
    assert watch.summary == Summary("interrupted")
    assert "\x1b" not in "\n".join(text)


def test_a_continued_round_says_how_much_is_done() -> None:
    watch, text = log()
    counts = {"infeasible": 2, "completed": 2, "pending": 6}
    watch.began(begun(10, 4, continued=True, counts=counts))
    assert "10 trials, 4 ended before" in "\n".join(text)
    watch.ended(concluded(5, "infeasible", reason=DIVERGED))
    assert "trial 5 infeasible  train_loss is nan at step 3" in "\n".join(text)
    assert "[5/10  3 infeasible" in "\n".join(text)


def test_the_same_failure_warns_once() -> None:
    watch, text = log()
    watch.began(begun(10, 0))
    for number in range(3):
        watch.ended(concluded(number, "failed", reason=RAISED))
    warnings = [line for line in text if "  ! " in line]
    assert len(warnings) == 1
    assert warnings[0].endswith(
        "! trial 0 failed: ValueError: no such file: `tunewright trial weight_decay 0`"
    )


def test_five_infeasible_in_a_row_warn_once_per_row() -> None:
    watch, text = log()
    watch.began(begun(50, 0))
    for number in range(8):
        watch.ended(concluded(number, "infeasible", reason=DIVERGED))
    assert "\n".join(text).count("5 trials in a row were infeasible") == 1
    watch.ended(concluded(8, value=0.5))
    for number in range(9, 14):
        watch.ended(concluded(number, "infeasible", reason=DIVERGED))
    assert "\n".join(text).count("5 trials in a row were infeasible") == 2


def test_control_characters_of_a_program_never_reach_the_terminal() -> None:
    watch, text = log()
    watch.began(begun(10, 0))
    watch.ended(concluded(0, "failed", reason=HOSTILE))
    assert "\x1b" not in "\n".join(text)
    assert "[bold]markup[/bold]" in "\n".join(text)


def test_the_best_of_earlier_calls_is_known_from_the_start() -> None:
    watch, text = log(best=concluded(7, value=0.125))
    watch.began(begun(10, 4, counts={"completed": 4, "pending": 6}))
    assert text[1].endswith("best 0.125 valid_error  trial 7  weight_decay 0  learning_rate 0.013")


def test_repeats_are_not_counted_with_the_rounds_trials() -> None:
    watch, text = log()
    watch.began(begun(3))
    watch.ended(concluded(None, value=0.5))
    assert "a repeat completed  valid_error 0.5  10 s  [1/3" in "\n".join(text)
    assert "infeasible" not in "\n".join(text)


def test_a_step_gets_a_line_once_a_minute() -> None:
    clock = Clock()
    watch, text = log(now=clock)
    watch.began(begun(4))
    watch.claimed(started(0))
    before = len(text)
    for second in range(int(FIRST_S + EVERY_S)):
        clock.now = float(second)
        watch.reached(reached(0, step=second * 10, total=2000, seconds=float(second)))
    assert len(text) == before + 1
    assert "1 running (trial 0: step 100/2,000)" in text[-1]
    assert " left" in text[-1], "a step rate is enough for an estimate"


def test_a_quiet_one_shows_nothing_of_a_short_round() -> None:
    clock = Clock()
    watch, text = log(quiet=True, now=clock)
    watch.began(begun(2))
    for number in range(2):
        watch.claimed(started(number))
        clock.now += 1
        watch.ended(concluded(number, value=0.5))
        watch.best(concluded(number, value=0.5))
    watch.closed(Summary("finished"))
    assert text == []


def test_a_quiet_one_stands_every_minute_and_at_the_end() -> None:
    clock = Clock()
    watch, text = log(quiet=True, now=clock)
    watch.began(begun(100))
    for number in range(100):
        watch.claimed(started(number))
        clock.now += 2
        watch.ended(concluded(number, value=0.5, seconds=2.0))
    watch.closed(Summary("finished"))
    assert 4 <= len(text) <= 6  # after 10 s, then every minute of 200 s, and the end
    assert "100/100" in text[-1]


def test_a_quiet_one_still_warns_and_passes_messages_on() -> None:
    watch, text = log(quiet=True)
    watch.began(begun(10))
    watch.ended(concluded(0, "failed", reason=RAISED))
    watch.message("paused")
    assert "ValueError: no such file" in text[0] and text[1].endswith("paused")


def test_a_campaigns_step_is_a_line() -> None:
    watch, text = log(quiet=True)
    reason = Message("campaign.stuck")
    watch.step(
        CampaignStep(
            campaign="tune",
            number=2,
            kind="exploit",
            about="tune_2",
            reason=reason,
            trials=12,
            left=40,
        )
    )
    assert "tune step 2  exploit, 12 trials of 40 left" in text[0]


def test_a_failed_evaluation_is_no_failed_trial() -> None:
    watch, text = log(quiet=True)
    watch.began(begun(1, what="evaluation"))
    watch.ended(concluded(0, "failed", reason=RAISED))
    assert text == []
