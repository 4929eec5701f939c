from __future__ import annotations

from pathlib import Path

import pytest
from tests.problems import states

from tunewright.design import presets as defaults
from tunewright.design.ranges import log, log_from_one
from tunewright.design.round import Round
from tunewright.design.study import dimensions_for
from tunewright.errors import DesignError

DOCUMENT = Path(__file__).parents[2] / "docs" / "presets.md"


@pytest.mark.parametrize("name", defaults.OPTIMIZERS)
@pytest.mark.parametrize("trials", [1, 9, 10, 24, 25, 49, 50, 500])
def test_every_space_is_a_round_within_its_budget(name: str, trials: int) -> None:
    space = defaults.space(name, trials, max_train_steps=1000, batch_size=256)
    round = Round("r", goal="?", trials_per_study=trials, **space.roles)
    assert 1 <= len(round.nuisance) <= dimensions_for(trials)
    assert next(iter(round.nuisance)) == "learning_rate"
    assert all(line.source for line in space.lines)


def test_the_adam_ladder_of_the_playbook() -> None:
    searched = {n: list(defaults.space("adam", n).nuisance) for n in (9, 10, 25, 50)}
    assert searched == {
        9: ["learning_rate"],
        10: ["learning_rate", "beta1"],
        25: ["learning_rate", "beta1", "epsilon"],
        50: ["learning_rate", "beta1", "epsilon", "beta2"],
    }
    assert defaults.space("adam", 9).fixed == {"beta1": 0.9, "epsilon": 1e-8, "beta2": 0.999}


def test_the_ranges_of_the_others() -> None:
    assert defaults.space("adamw", 50).nuisance == {
        "learning_rate": log(1e-4, 3e-2),
        "beta1": log_from_one(0.5, 0.99),
        "weight_decay": log(5e-3, 1.0),
        "beta2": log_from_one(0.5, 0.999),
    }
    assert defaults.space("nesterov", 25).nuisance == {
        "learning_rate": log(1e-2, 5.0),
        "momentum": log_from_one(0.7, 0.995),
        "weight_decay": log(1e-7, 1e-3),
    }
    assert defaults.space("nadamw", 10).nuisance["beta1"] == log_from_one(0.8, 0.996)


def test_overfitting_takes_the_weight_decay_first() -> None:
    assert list(defaults.space("adamw", 12, overfitting=True).nuisance) == [
        "learning_rate",
        "weight_decay",
    ]
    same = defaults.space("adamw", 30, overfitting=True).nuisance
    assert same == defaults.space("adamw", 30).nuisance
    assert list(defaults.space("adam", 12, overfitting=True).nuisance) == ["learning_rate", "beta1"]


def test_a_batch_size_centres_three_decades() -> None:
    at_reference = defaults.space("nesterov", 5, batch_size=256).nuisance["learning_rate"]
    assert at_reference.high / at_reference.low == pytest.approx(1000, rel=0.1)
    larger = defaults.space("nesterov", 5, batch_size=1024).nuisance["learning_rate"]
    assert larger.low / at_reference.low == pytest.approx(4, rel=0.1)
    adam = defaults.space("adam", 5, batch_size=1024).nuisance["learning_rate"]
    assert adam.low / defaults.space("adam", 5, batch_size=256).nuisance[
        "learning_rate"
    ].low == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("steps, warmup", [(500, 50), (2000, 100), (50_000, 1000)])
def test_warm_up(steps: int, warmup: int) -> None:
    decaying = defaults.space("adamw", 5, max_train_steps=steps, lr_decay=True)
    assert decaying.fixed["warmup_steps"] == warmup
    assert defaults.space("adamw", 5, max_train_steps=steps).fixed["warmup_steps"] == 0


@pytest.mark.parametrize("name", ["adamw", "nesterov"])
def test_a_constant_rate_before_a_decay(name: str) -> None:
    takes = {"learning_rate", "schedule", "end_factor", "decay_steps_factor"}
    simple = defaults.space(name, 100, takes=takes)
    assert list(simple.nuisance) == ["learning_rate"]
    assert simple.fixed["schedule"] == "constant"
    decaying = defaults.space(name, 100, takes=takes, lr_decay=True)
    assert decaying.fixed == {"schedule": "cosine" if name == "adamw" else "linear"}
    assert list(decaying.nuisance) == ["learning_rate", "end_factor", "decay_steps_factor"]


@pytest.mark.parametrize(("off", "on"), [("False", "True"), (False, True), ("none", "cosine")])
def test_a_schedule_by_its_declared_off_value(off: object, on: object) -> None:
    means, takes = {"schedule": "decay_lr"}, {"learning_rate", "decay_lr"}
    known = {"means": means, "takes": takes, "off": {"decay_lr": off}}
    assert defaults.space("adamw", 9, **known).fixed == {"decay_lr": off}
    assert defaults.space("adamw", 9, **known, lr_decay=True).fixed == {"decay_lr": on}


def test_the_rate_is_not_scaled_to_any_batch_size() -> None:
    huge = defaults.space("sgd", 5, batch_size=10**6)
    assert huge.nuisance == defaults.space("sgd", 5, batch_size=8192).nuisance
    (note,) = huge.notes
    assert note.code == "preset.batch_size_bounded" and note.facts["batch_size"] == 10**6
    assert note.text
    assert defaults.space("sgd", 5, batch_size=8192).notes == ()


def test_what_nothing_means_is_left_out() -> None:
    assert "beta1" not in defaults.space("adam", 5, means={"beta1": None}).roles["fixed"]
    assert not any("(" in name for name in defaults.space("adam", 5, means={"beta1": None}).fixed)


def test_only_what_the_program_takes_under_its_own_names() -> None:
    space = defaults.space(
        "adamw",
        60,
        max_train_steps=1000,
        takes={"lr", "weight_decay", "dropout", "max_train_steps"},
        means={"learning_rate": "lr"},
    )
    assert list(space.nuisance) == ["lr", "weight_decay", "dropout"]
    assert space.fixed == {"max_train_steps": 1000}
    assert [(note.code, note.facts["name"]) for note in space.notes] == [
        ("preset.not_taken", "beta1"),
        ("preset.not_taken", "beta2"),
    ]


@pytest.mark.parametrize(
    "attempt, said",
    [
        (
            lambda: defaults.space("AdamW", 5),
            ("preset.unknown_optimizer", {"name": "AdamW", "near": "adamw"}),
        ),
        (
            lambda: defaults.space("lbfgs", 5),
            ("preset.unknown_optimizer", {"name": "lbfgs", "near": None}),
        ),
        (
            lambda: defaults.space("adam", 0),
            ("preset.bad_count", {"argument": "trials", "count": 0}),
        ),
        (
            lambda: defaults.space("adam", 5, batch_size=2.5),
            ("preset.bad_count", {"argument": "batch_size", "count": 2.5}),
        ),
    ],
)
def test_refusals(attempt, said) -> None:
    with pytest.raises(DesignError) as refused:
        attempt()
    assert states(refused.value, *said)


def test_the_document_shows_this_table() -> None:
    assert defaults.table() in DOCUMENT.read_text(encoding="utf-8")
