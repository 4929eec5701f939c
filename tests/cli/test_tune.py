"""`tunewright tune`, as a newcomer would call it: steps with reasons, a choice, a report."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from tests.cli.small_project import Tunewright

pytestmark = pytest.mark.beyond_core  # many trials or repetitions: seconds each

TRAIN = '''
import math
import random


def train(run, learning_rate=1e-4, max_train_steps=10):
    """Best at learning_rate 0.02; diverges above 0.3."""
    luck = random.Random(run.seeds.trial).gauss(0, 0.003)
    reached = 0.05 + 0.05 * math.log10(learning_rate / 0.02) ** 2 + luck
    for step in run.steps(max_train_steps):
        fall = 1 - step / max_train_steps
        if learning_rate > 0.3 and step > 5:
            run.log(step, train_loss=math.nan)
        run.log(step, train_loss=2 * reached + fall, valid_error=reached + 0.8 * fall**2)
    run.save({"rate": learning_rate})


def test(checkpoint):
    return {"test_error": 0.06}
'''
SPACE = """
goal = "Which learning rate?"
trials_per_study = 4
[nuisance]
learning_rate = { log = [1e-5, 1.0] }
[fixed]
max_train_steps = 10
"""


@pytest.fixture
def space(tmp_path: Path, tunewright: Tunewright) -> Path:
    """A project with a space for `tune`."""
    (tmp_path / "train.py").write_text(TRAIN)
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "tune.toml").write_text(SPACE)
    return tmp_path


def test_every_step_says_why_and_it_ends_in_a_report(space: Path, tunewright: Tunewright) -> None:
    answer = tunewright("tune", "--trials", "20", "--on", "inline", "--test", "train.py:test")
    assert answer.code == 0, answer.err
    for expected in (
        "step 1  baseline, 1 trial of 20 left",
        "step 2  explore",
        "exploit",
        "fresh seeds",
        "It beats the baseline (tune_1_baseline trial 0)",
        "On the test set (the first look): test_error 0.06.",
        "of 20 trials used in 3 rounds",
        "report: tune.html",
    ):
        assert expected in answer.out, expected
    page = (space / "tune.html").read_text(encoding="utf-8")
    assert "Every step, and why" in page
    assert page.count("<script") == 2  # one sorts the table, one draws the live figures
    listed = tunewright("ls").out
    assert "tune_2_explore" in listed and "tune_3_exploit" in listed
    # the same call again has nothing left to do
    again = tunewright("tune", "--trials", "20", "--on", "inline", "--test", "train.py:test")
    assert again.code == 0
    assert "step" not in again.out.partition("tune: ")[0]


def test_a_dry_run_shares_the_trials_out_and_runs_none(space: Path, tunewright: Tunewright) -> None:
    answer = tunewright("tune", "--trials", "40", "--dry-run")
    assert answer.code == 0, answer.err
    assert "0 of 40 trials used" in answer.out
    assert "kept back  13 (2 finalists x 2, 3 for seed variance, 6 for the launch)" in answer.out
    assert "note: the batch size is not probed: it pays from 100 trials" in answer.out
    longer = tunewright("tune", "--trials", "40", "--dry-run", "--extend-to", "100")
    assert "extend     8 at full length, out of those kept back" in longer.out
    short = tunewright("tune", "--trials", "40", "--dry-run", "--extend-to", "10")
    assert short.code == 2 and "10 are no more" in short.err
    assert "next: baseline, 1 trial" in answer.out
    assert "no rounds yet" in tunewright("ls").out or "tune_" not in tunewright("ls").out


def test_ask_stops_at_the_first_no(
    space: Path, tunewright: Tunewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([True, False])
    monkeypatch.setattr(typer, "confirm", lambda *args, **more: next(answers))
    answer = tunewright("tune", "--trials", "20", "--ask", "--on", "inline")
    assert "not confirmed" in answer.out
    assert "tune_1_baseline" in tunewright("ls").out
    assert "tune_2_explore" not in tunewright("ls").out


def test_wrong_use_is_answered_with_what_to_do(space: Path, tunewright: Tunewright) -> None:
    nothing = tunewright("tune")
    assert nothing.code == 2
    assert "how much may it spend" in nothing.err
    (space / "rounds" / "tune.toml").rename(space / "rounds" / "first.toml")
    (space / "rounds" / "second.toml").write_text(SPACE)
    which = tunewright("tune", "--trials", "9")
    assert which.code == 2
    assert "which space?" in which.err and "tunewright tune first --trials 50" in which.err


def test_the_only_round_is_the_space(space: Path, tunewright: Tunewright) -> None:
    (space / "rounds" / "tune.toml").rename(space / "rounds" / "rates.toml")
    answer = tunewright("tune", "--trials", "4", "--on", "inline", "--report", "r.txt")
    assert answer.code == 0, answer.err
    assert "rates_1_explore" in tunewright("ls").out
    text = (space / "r.txt").read_text(encoding="utf-8")
    assert text.startswith("rates\n")
    assert "4 of 4 trials used" in text
