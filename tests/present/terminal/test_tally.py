from __future__ import annotations

import math

from tests.told import concluded, started

from tunewright.messages import Message
from tunewright.present.terminal.tally import Tally
from tunewright.store.judge import not_finite

DIVERGED = not_finite("train_loss", math.nan, 3)
KILLED = Message("program.exited", {"status": -9, "signal": "SIGKILL"})


def test_counts_follow_what_is_told() -> None:
    tally = Tally("depth", "valid_error", total=6, done=1)
    for number in (1, 2, 3):
        tally = tally.after_start(started(number), now=0.0)
    tally = tally.after_end(concluded(2, "infeasible", reason=DIVERGED))
    tally = tally.after_end(concluded(1, value=0.3))
    assert (tally.done, tally.infeasible, tally.failed) == (3, 1, 0)
    assert [number for number, _ in tally.running] == [3]
    assert tally.most_running == 3


def test_an_attempt_that_is_due_again_is_not_done() -> None:
    tally = Tally("depth", "valid_error", total=6, done=0).after_start(started(0), now=0.0)
    again = tally.after_end(concluded(0, "pending", reason=KILLED))
    assert again.done == 0
    assert again.running == ()


def test_repeats_are_told_apart_though_they_have_no_number() -> None:
    tally = Tally("depth", "valid_error", total=2, done=0)
    tally = tally.after_start(started(None), now=0.0).after_start(started(None), now=5.0)
    tally = tally.after_end(concluded(None, value=0.3))
    assert len(tally.running) == 1
    assert tally.done == 1


def test_the_head_counts_and_estimates() -> None:
    tally = Tally("depth", "valid_error", total=200, done=141, infeasible=16)
    for number in range(4):
        tally = tally.after_start(started(number), now=100.0)
    tally = tally.after_start(started(9), now=100.0).after_end(concluded(9, value=0.2))
    head = tally.head(now=101.0)
    assert head.startswith("142/200  16 infeasible  4 running  ")
    assert head.endswith(" left")
    assert " to " in head


def test_the_best_is_said_without_what_never_varies() -> None:
    tally = Tally(
        "d", "valid_error", 2, 1, best=concluded(59, value=0.202377), fixed=("weight_decay",)
    )
    line = tally.best_line()
    assert line == "best 0.2024 valid_error  trial 59  learning_rate 0.013  max_train_steps 100"


def test_the_first_trial_of_each_slot_does_not_spoil_the_estimate() -> None:
    tally = Tally("d", "valid_error", total=100, done=0)
    for number in range(2):
        tally = tally.after_start(started(number), now=0.0)
    for number in range(2):
        tally = tally.after_end(concluded(number, value=0.3, seconds=60.0))
    for number in range(2, 10):
        tally = tally.after_end(concluded(number, value=0.3, seconds=1.0))
    left = tally.left_s(now=0.0)
    assert left is not None
    assert left[1] < 60
