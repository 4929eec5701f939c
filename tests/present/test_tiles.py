"""Three numbers that matter: best, trials, time; of a campaign those of its choice."""

from __future__ import annotations

from dataclasses import replace

from tests.present.figures.known_rounds import depth, one_study
from tests.present.test_campaign_report import campaign

from tunewright.messages import words
from tunewright.present.report import whole
from tunewright.present.report_parts import campaign_tiles, tiles


def test_a_round_shows_its_best_its_trials_and_its_time() -> None:
    made = depth()
    trials = tuple(replace(trial, seconds=60.0) for trial in made.recorded)
    best, count, time = tiles(replace(made, recorded=trials))
    assert best.value == words.number(made.best().value)
    assert (count.value, time.value) == ("48", words.duration(48 * 60.0))


def test_without_a_completed_trial_there_is_no_best() -> None:
    best, count, _ = tiles(one_study([{"valid_error": [float("nan")]}]))
    assert (best.value, count.value) == ("–", "1")


def test_a_campaign_shows_what_it_chose_and_spent() -> None:
    own = campaign()
    best, count, _ = campaign_tiles(own, whole(own))
    assert own.winner is not None
    assert best.value == words.number(own.winner.known_value)
    assert count.value == str(own.spent)
