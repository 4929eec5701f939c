from __future__ import annotations

import numpy as np
import pytest
from tests.problems import states

from tunewright.design.names import Meaning
from tunewright.errors import DesignError


def test_the_playbooks_names_are_the_defaults() -> None:
    assert Meaning().name("learning_rate") == "learning_rate"
    assert Meaning().of("batch_size") == "batch_size" and Meaning().of("width") is None
    assert "weight_decay" in Meaning().regularisers
    assert Meaning().number("chance") is None


def test_other_spellings() -> None:
    meaning = Meaning(
        {
            "learning_rate": "optimizer.lr",
            "max_train_steps": "epochs",
            "regularisers": ["dropout", "wd"],
            "chance": np.float64(2.303),
        },
        {"dropout": np.float32(0)},
    )
    assert meaning.of("optimizer.lr") == "learning_rate" and meaning.of("learning_rate") is None
    assert meaning.name("max_train_steps") == "epochs"
    assert meaning.regularisers == ("dropout", "wd")
    assert meaning.number("chance") == 2.303
    assert type(meaning.off["dropout"]) is float


def test_none_declares_that_nothing_has_a_meaning() -> None:
    meaning = Meaning({"momentum": None})
    assert meaning.of("momentum") is None and meaning.absent("momentum")
    assert meaning.name("momentum") != "momentum" and not Meaning().absent("momentum")
    assert meaning.declared == {}


def test_what_was_declared_without_metrics_numbers_and_guesses() -> None:
    meaning = Meaning(
        {"learning_rate": "lr", "train_loss": "l", "chance": 1.0, "regularisers": ["a", "b"]},
        guessed={"learning_rate": "lr"},
    )
    assert meaning.declared == {"regularisers": ("a", "b")}


def test_an_unknown_meaning_lists_all_there_are() -> None:
    with pytest.raises(DesignError) as refused:
        Meaning({"clip": "c"})
    (problem,) = refused.value.problems
    assert problem.facts["near"] == "clip_norm" and "warmup_steps" in problem.facts["known"]
    assert "warmup_steps" in problem.text


def test_momentum_and_beta1_may_share_a_name() -> None:
    assert Meaning({"momentum": "m", "beta1": "m"}).of("m") == "momentum"


@pytest.mark.parametrize(
    "means, off, said",
    [
        (
            {"learnin_rate": "lr"},
            {},
            ("meaning.unknown", {"meaning": "learnin_rate", "near": "learning_rate"}),
        ),
        ({"qqq": "lr"}, {}, ("meaning.unknown", {"meaning": "qqq", "near": None})),
        (
            {"learning_rate": ""},
            {},
            ("meaning.not_name", {"meaning": "learning_rate", "spelled": ""}),
        ),
        ({"chance": "2"}, {}, ("meaning.not_number", {"meaning": "chance", "spelled": "2"})),
        ({"chance": 10**400}, {}, ("meaning.not_number", {"meaning": "chance"})),
        (
            {"regularisers": "dropout"},
            {},
            ("meaning.not_names", {"meaning": "regularisers", "spelled": "dropout"}),
        ),
        ({"regularisers": 3}, {}, ("meaning.not_names", {"meaning": "regularisers", "spelled": 3})),
        (
            {"train_loss": "l", "valid_loss": "l"},
            {},
            ("meaning.shared", {"meaning": "valid_loss", "spelled": "l", "other": "train_loss"}),
        ),
        (
            {},
            {"augment": print},
            (
                "value.not_plain",
                {
                    "place": "off augment",
                    "value": "<built-in function print>",
                    "type": "builtin_function_or_method",
                },
            ),
        ),
        (["lr"], {}, ("meaning.not_mapping", {"part": "means", "declared": ["lr"]})),
        ({}, 3, ("meaning.not_mapping", {"part": "off", "declared": 3})),
    ],
)
def test_refusals(means, off, said) -> None:
    with pytest.raises(DesignError) as refused:
        Meaning(means, off)
    assert states(refused.value, *said)


@pytest.mark.parametrize(
    "metric, judges",
    [
        ("valid_error", True),
        ("accuracy", True),
        ("val/train_time", True),
        ("train_loss", False),
        ("throughput", False),
        ("seconds_per_step", False),
    ],
)
def test_which_metrics_judge_validation(metric: str, judges: bool) -> None:
    assert Meaning().judges_validation(metric) is judges


def test_a_declared_training_loss_judges_no_validation() -> None:
    assert not Meaning({"train_loss": "loss"}).judges_validation("loss")


def test_off_may_be_keyed_by_a_meaning_or_by_a_name() -> None:
    means = {"schedule": "lr_scheduler_type", "weight_decay": "wd"}
    known = Meaning(means, {"schedule": "none", "wd": 1e-8, "dropout": 0.1})
    assert known.off_by_name == {"lr_scheduler_type": "none", "wd": 1e-8, "dropout": 0.1}
