"""Names that mean the same everywhere are known; ambiguous ones are left alone."""

from __future__ import annotations

import pytest

from tunewright.design.names import (
    NAMES,
    SPELLINGS,
    Meaning,
    guess_note,
    lengths,
    regularises,
    usual_meaning,
    usual_meanings,
    with_guesses,
)
from tunewright.design.objective import minimize
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.foreign import ForeignTrial, Source


def test_every_meaning_is_one_the_package_knows() -> None:
    assert set(SPELLINGS) == set(NAMES)
    spelled = [name for names in SPELLINGS.values() for name in names]
    assert len(spelled) == len(set(spelled)), "a spelling has one meaning"
    assert all(usual_meaning(name) == name for name in NAMES)


@pytest.mark.parametrize(
    ("meaning", "names"),
    [
        ("learning_rate", "lr optimizer.lr initial_lr max_learning_rate generator_lr baseLR"),
        (
            "max_train_steps",
            "epochs n_steps max_iters num_train_epochs trainer.max_steps maxSteps iterations",
        ),
        ("batch_size", "bs data.batch_size per_device_train_batch_size"),
        ("epsilon", "eps adam_eps"),
        ("momentum", "optimizer.momentum"),
        ("schedule", "lr_scheduler_type scheduler"),
        ("warmup_steps", "warmup_iters num_warmup_steps"),
        (
            None,
            "min_lr lr_decay eval_batch_size warmup_epochs eval_steps decay_steps scheduler.steps "
            "bn_momentum bn.momentum layer_norm_eps save_every_epochs width loss",
        ),
    ],
)
def test_usual_spellings(meaning: str | None, names: str) -> None:
    assert {name: usual_meaning(name) for name in names.split()} == dict.fromkeys(
        names.split(), meaning
    )


def test_ambiguous_and_right_names_are_left_alone() -> None:
    assert usual_meanings(["encoder.lr", "decoder.lr"]) == {}
    assert usual_meanings(["learning_rate", "lr"]) == {}
    assert usual_meanings(["lr_decay", "train", "loss"]) == {}


def test_of_steps_and_epochs_the_steps_count_and_both_are_lengths() -> None:
    assert usual_meanings(["epochs", "max_steps"]) == {"max_train_steps": "max_steps"}
    names = ["epochs", "max_steps", "lr"]
    assert lengths(with_guesses(Meaning(), names), names) == ("epochs", "max_steps")
    declared = with_guesses(Meaning({"max_train_steps": "max_steps"}), names)
    assert lengths(declared, names) == ("max_steps",)
    assert lengths(with_guesses(Meaning({"max_train_steps": None}), names), names) == ()


def test_what_is_declared_is_not_guessed() -> None:
    found = with_guesses(Meaning({"max_train_steps": None, "warmup_steps": "lr"}), ["lr", "epochs"])
    assert found.guessed == {} and found.of("epochs") is None and guess_note(found) == ()
    found = with_guesses(Meaning({"learning_rate": "rate"}), ["lr", "rate"])
    assert found.name("learning_rate") == "rate" and found.guessed == {}


def test_a_guess_is_a_note_with_its_facts() -> None:
    found = with_guesses(Meaning(), ["lr", "epochs"], ["val_loss", "epoch"])
    (note,) = guess_note(found)
    means = {"learning_rate": "lr", "max_train_steps": "epochs", "valid_loss": "val_loss"}
    assert (note.code, note.facts) == ("meaning.guessed", {"means": means})
    assert note.text and note.text_for("shell")
    assert guess_note(with_guesses(found, ["lr", "epochs"])) == (note,), (
        "guessing again adds nothing"
    )


def test_regularisers_by_their_spelling() -> None:
    assert [
        n for n in ("drop_rate", "wd", "resid_dropout", "dropout_layers") if regularises(n)
    ] == [
        "drop_rate",
        "wd",
        "resid_dropout",
    ]
    found = with_guesses(Meaning(), ["wd", "attn_dropout", "width"])
    assert found.regularisers == ("wd", "attn_dropout")
    assert "regularisers" not in with_guesses(Meaning(), ["weight_decay", "dropout"]).means
    assert with_guesses(Meaning({"weight_decay": "wd"}), ["wd"]).regularisers[0] == "wd"


def test_the_users_word_counts_first() -> None:
    trials = tuple(
        ForeignTrial(str(n), {"lr": 0.1 + n, "wd": n}, "completed", points={"l": ([1], [n])})
        for n in range(3)
    )

    def meaning(**options: dict[str, str]) -> dict[str, str]:
        said: Options = options  # type: ignore[assignment]
        return dict(take_over(Source("a test", "r", trials), minimize("l"), said).meaning.means)

    assert meaning() == {"learning_rate": "lr", "weight_decay": "wd"}
    assert meaning(means={"warmup_steps": "lr"}) == {"weight_decay": "wd", "warmup_steps": "lr"}
    assert meaning(means={"learning_rate": "wd"}) == {"learning_rate": "wd"}
