from __future__ import annotations

import pytest

from tunewright.advice.extend import LIKELIHOOD, transfer
from tunewright.design.names import Meaning


@pytest.mark.parametrize(
    ("name", "area", "likelihood"),
    [
        ("warmup_steps", "warm-up", "very likely"),
        ("init_scale", "initialization", "very likely"),
        ("width", "model", "likely"),
        ("learning_rate", "optimizer", "might"),
        ("beta2", "optimizer", "might"),
        ("mixup", "augmentation", "might"),
        ("label_smoothing", "regulariser", "might"),
        ("weight_decay", "regulariser", "might"),
        ("weight_decay_scale", "regulariser", "might"),
        ("schedule", "schedule", "unlikely"),
        ("lr_decay", "schedule", "unlikely"),
        ("decay_steps_factor", "schedule", "unlikely"),
        ("max_train_steps", "length", "unlikely"),
    ],
)
def test_the_ladder_of_the_playbook(name: str, area: str, likelihood: str) -> None:
    found = transfer(name, Meaning())
    assert (found.area, found.likelihood) == (area, likelihood)


def test_meanings_come_before_words() -> None:
    meaning = Meaning({"warmup_steps": "ramp", "regularisers": ["noise"], "optimizer": "width"})
    assert transfer("ramp", meaning).area == "warm-up"
    assert transfer("noise", meaning).area == "regulariser"
    assert transfer("width", meaning).area == "optimizer"


def test_what_nothing_is_known_of_says_so() -> None:
    assert transfer("temperature", Meaning()).known is False
    assert transfer("dropout", Meaning()).known is True
    assert set(LIKELIHOOD.values()) == {"very likely", "likely", "might", "unlikely"}


def test_where_a_learning_rate_begins_is_no_initialization() -> None:
    for name in ("initial_lr", "init_learning_rate", "eps"):
        assert transfer(name, Meaning()).area == "optimizer"
    assert transfer("init_scale", Meaning()).area == "initialization"
    assert transfer("color_jitter", Meaning()).area == "augmentation"
