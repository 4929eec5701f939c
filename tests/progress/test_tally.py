from __future__ import annotations

import math

from tests.told import begun, concluded, reached, started

from tunewright.messages import Message
from tunewright.progress.tally import Tally
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
    assert [one.number for one in tally.running] == [3]
    assert tally.most_running == 3


def test_an_attempt_that_is_due_again_is_not_done() -> None:
    tally = Tally("depth", "valid_error", total=6, done=0).after_start(started(0), now=0.0)
    again = tally.after_end(concluded(0, "died", reason=KILLED))
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


def test_steps_tell_the_time_left_before_any_trial_has_ended() -> None:
    tally = Tally("d", "valid_error", total=4, done=0).after_start(started(0), now=0.0)
    assert tally.left_s(now=5.0) is None
    tally = tally.after_reach(reached(0, step=100, total=1000), now=10.0)
    assert tally.left_s(now=10.0) is None, "one report says nothing about the rate"
    tally = tally.after_reach(reached(0, step=200, total=1000), now=20.0)
    assert tally.running[0].length_s() == 100.0
    low, high = tally.left_s(now=20.0) or (0.0, 0.0)
    assert low < 80 + 3 * 100 < high


def test_a_slow_start_is_not_taken_for_slow_steps() -> None:
    tally = Tally("d", "valid_error", total=1, done=0).after_start(started(0), now=0.0)
    tally = tally.after_reach(reached(0, step=1, total=101), now=60.0)
    tally = tally.after_reach(reached(0, step=11, total=101), now=61.0)
    assert tally.running[0].length_s() == 70.0


def test_an_overdue_trial_is_not_about_to_end() -> None:
    tally = Tally("d", "valid_error", total=2, done=0)
    for number in range(2):
        tally = tally.after_start(started(number), now=0.0)
    tally = tally.after_end(concluded(0, value=0.2, seconds=3.0))
    for now in (3.0, 10.0, 20.0):
        assert tally.left_s(now) is None
        assert "left" not in tally.head(now)


def test_the_last_moments_get_no_estimate() -> None:
    tally = Tally("d", "valid_error", total=2, done=0).after_start(started(0), now=0.0)
    tally = tally.after_end(concluded(0, value=0.2, seconds=0.001))
    tally = tally.after_start(started(1), now=0.0)
    assert "left" not in tally.head(now=0.0)


def test_lengths_of_other_rounds_count_until_there_are_better() -> None:
    tally = Tally.of(begun(10, known_s=(10.0,) * 20)).after_start(started(0), now=0.0)
    low, high = tally.left_s(now=0.0) or (0.0, 0.0)
    assert low <= 100 <= high
    own = tally.after_end(concluded(0, value=0.1, seconds=1.0)).left_s(now=0.0)
    assert own is not None and own[1] < 50


def test_steps_beyond_the_total_are_shown_without_it() -> None:
    tally = Tally("d", "valid_error", total=2, done=0).after_start(started(0), now=0.0)
    tally = tally.after_reach(reached(0, step=500, total=20), now=1.0)
    assert tally.steps() == " (trial 0: step 500)"
    assert tally.running[0].length_s() is None


def test_a_step_of_a_trial_that_is_not_known_changes_nothing() -> None:
    tally = Tally("d", "valid_error", total=2, done=0).after_start(started(0), now=0.0)
    assert tally.after_reach(reached(7, step=5), now=1.0) == tally
