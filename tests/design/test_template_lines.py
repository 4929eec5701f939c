from __future__ import annotations

import pytest

from tunewright.design.names import Meaning
from tunewright.design.round_file import one_value, question_of, scientific_lines, what_is_paid_for


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("dropout", "dropout"),
        ("dropout_12", "dropout"),
        ("depth", None),
        ("dropouts", None),
        ("lr", None),
        ("epochs", None),
        ("batch_size", "batch_size"),
        ("optimizer", "optimizer"),
    ],
)
def test_what_a_round_asks_about(name: str, asked: str | None) -> None:
    takes = ["lr", "dropout", "layers", "epochs", "batch_size", "optimizer"]
    assert question_of(name, takes, Meaning()) == asked


def test_a_regulariser_is_off_against_on() -> None:
    (line,) = scientific_lines("dropout", [], Meaning(), {})
    assert line.startswith("dropout = [0.0, 0.1]")
    (line,) = scientific_lines(
        "mixup", [], Meaning({"regularisers": ["mixup"]}, {"mixup": "no"}), {"mixup": 0.3}
    )
    assert line.startswith('mixup = ["no", 0.3]')
    (line,) = scientific_lines("wd", [], Meaning({"weight_decay": "wd"}), {"wd": 0.0})
    assert line.startswith("wd = [0.0, 0.0001]")


def test_another_is_left_to_the_user() -> None:
    first, second = scientific_lines("layers", ["norm"], Meaning(), {"layers": 2})
    assert first.startswith("# layers = [2, ]") and second.startswith("# norm = [ , ]")


def test_what_the_trials_pay_for() -> None:
    assert "20 trials per study pay for 2" in next(what_is_paid_for(20))


def test_one_value() -> None:
    assert all(one_value(name, Meaning()) for name in ("epochs", "max_steps", "bs", "batch_size"))
    assert not one_value("layers", Meaning())
    assert not one_value("epochs", Meaning({"max_train_steps": None}))
