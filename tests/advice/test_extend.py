from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.launches.rounds_of_worlds import REFERENCE, asked, ran

import tunewright as tw
from tunewright.advice.extend import extend, extension, steps_of_training
from tunewright.design.longer_schedule import stretch
from tunewright.design.names import Meaning
from tunewright.design.ranges import Log, log
from tunewright.design.schedule import Cosine, Linear, Warmup
from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.testing import Bowl, World, results

FIXED = {"max_train_steps": 1000, "warmup_steps": 50, "schedule": "linear", "decay_steps": 400}


def short(meaning: Meaning | None = None, **changes: Any) -> Results:
    world = World(
        Bowl({"learning_rate": 0.5, "beta1": 0.5}),
        effect=lambda s: 0.1 * s.number,
        meaning=meaning or Meaning(),
        evaluations=4,
    )
    return ran(asked(**{"fixed": FIXED, "scientific": {"layers": [2, 3]}, **changes}), world)


def test_the_ladder_decides_what_is_fixed_and_what_is_tuned_again() -> None:
    made = short()
    best = made.best()
    longer = extend(made, 10_000)
    assert longer.fixed == {
        "layers": 2,
        "beta1": best.configuration["beta1"],
        "max_train_steps": 10_000,
        "warmup_steps": 50,
        "schedule": "linear",
        "decay_steps": 400,  # in steps, as tuned: the constant phase grows
    }
    (name,) = longer.nuisance
    rate = longer.nuisance[name]
    assert name == "learning_rate" and isinstance(rate, Log)
    assert rate.low < best.configuration["learning_rate"] < rate.high
    assert 9 < rate.high / rate.low < 11
    assert (longer.trials_per_study, longer.continues, longer.name) == (5, "first", "first_2")
    assert longer.goal == "Which configuration is best?"
    assert longer.change == Message("change.steps", {"steps": 10_000, "before": 1000})


def test_each_hyperparameter_says_why() -> None:
    made = extension(short(), 10_000)
    why = {e.name: (e.role, e.transfer.likelihood, e.why.code) for e in made.hyperparameters}
    assert why["warmup_steps"] == ("fixed", "very likely", "extend.fixed_before")
    assert why["layers"] == ("fixed", "likely", "extend.likely")
    assert why["learning_rate"][:2] == ("nuisance", "might")
    assert why["beta1"][2] == "extend.might"
    assert made.rule == stretch(Warmup(50, Linear(decay_steps=400)), 1000, 10_000).rule
    assert made.notes == ()


def test_an_undeclared_learning_rate_is_tuned_again() -> None:
    world = World(Bowl({"lr": 0.5}), evaluations=4)
    round = asked(nuisance={"lr": log(1e-4, 1.0)}, fixed={"epochs": 10})
    made = extension(results(round, world), 50)
    assert list(made.round.nuisance) == ["lr"] and made.round.fixed == {"epochs": 50}
    means = {"learning_rate": "lr", "max_train_steps": "epochs"}
    assert made.notes[0] == Message("meaning.guessed", {"means": means})
    assert "extend.no_rate" not in [note.code for note in made.notes]


def test_what_cannot_be_read_is_reported() -> None:
    rates = {"encoder.lr": log(1e-4, 1.0), "decoder.lr": log(1e-4, 1.0), "temperature": [1, 2]}
    world = World(Bowl({"encoder.lr": 0.5}), evaluations=4)
    round = asked(nuisance=rates, fixed={"max_train_steps": 10})
    made = extension(results(round, world), 50)
    notes = {note.code: note.facts for note in made.notes}
    assert notes["extend.no_rate"]["rates"] == ["encoder.lr", "decoder.lr"]
    assert notes["extend.taken_for_model"]["names"] == ["temperature"]
    assert made.round.nuisance == {}
    assert all(note.text for note in made.notes)


def test_more_may_be_tuned_again() -> None:
    made = extend(short(), 4000, tune=["beta1"], trials_per_study=12)
    assert set(made.nuisance) == {"learning_rate", "beta1"}
    assert made.trials_per_study == 12
    beta1 = made.nuisance["beta1"]
    assert beta1.low < short().best().configuration["beta1"] < beta1.high < 1
    with pytest.raises(DesignError, match="the best trial has no 'beta2'"):
        extend(short(), 4000, tune=["beta2"])


def test_a_searched_length_of_decay_is_searched_again_around_the_same_steps() -> None:
    nuisance = {"learning_rate": REFERENCE["learning_rate"], "decay_fraction": tw.linear(0.2, 1.0)}
    round = asked(
        nuisance=nuisance, fixed={"max_train_steps": 1000, "schedule": "linear"}, trials_per_study=8
    )
    made = results(round, World(Bowl({"learning_rate": 0.5}), evaluations=4))
    best = made.best()
    longer = extension(made, 4000)
    fraction = longer.round.nuisance["decay_fraction"]
    kept = best.configuration["decay_fraction"] / 4  # the same number of steps
    assert fraction.low <= kept <= fraction.high


def test_a_short_first_round_is_warned_about() -> None:
    notes = extension(short(), 100_000).notes
    facts = {"old": 1000, "new": 100_000, "share": 0.01, "between": 0.1}
    assert notes[0] == Message("extend.far_apart", facts)
    assert "1%" in notes[0].text and "10%" in notes[0].text


def test_meanings_count_not_spellings() -> None:
    spelled = {"epochs": 10, "lr_schedule": "cosine"}
    meaning = Meaning({"max_train_steps": "epochs", "schedule": "lr_schedule"})
    made = extension(short(meaning, fixed=spelled), 50)
    assert made.round.fixed["epochs"] == 50
    assert made.rule == stretch(Cosine(), 10, 50).rule


def test_refusals() -> None:
    made = short()
    with pytest.raises(DesignError, match="not longer than the 1000 steps"):
        extend(made, 1000)
    with pytest.raises(DesignError, match="not a whole number"):
        extend(made, 1e4)  # type: ignore[arg-type]
    with pytest.raises(DesignError, match=r'means=\{"max_train_steps"'):
        extend(short(fixed={}), 5000)
    with pytest.raises(NotFound, match="no completed trial"):
        extend(replace(made, recorded=()), 5000)
    with pytest.raises(DesignError, match="a tenth of the base learning rate"):
        extend(short(fixed={"max_train_steps": 1000, "schedule": "rsqrt"}), 100_000)


def test_the_length_is_read_by_its_meaning() -> None:
    assert steps_of_training(short()) == 1000
    assert tw.advice.extend is extend


def test_a_warmup_ratio_keeps_its_steps() -> None:
    fixed = {"max_train_steps": 1000, "warmup_ratio": 0.05, "schedule": "cosine"}
    longer = extension(short(fixed=fixed), 10_000)
    assert longer.round.fixed["warmup_ratio"] == pytest.approx(0.005)  # 50 steps, as before
    (own,) = (e for e in longer.hyperparameters if e.name == "warmup_ratio")
    assert own.why == Message("extend.warmup_share", {"before": 0.05}) and own.why.text


def test_a_warmup_ratio_that_was_searched_is_searched_around_the_same_steps() -> None:
    round = tw.Round(
        "first",
        goal="?",
        nuisance={"warmup_ratio": tw.linear(0.01, 0.2)},
        fixed={"max_train_steps": 1000},
        trials_per_study=8,
    )
    made = results(round, Bowl({"warmup_ratio": 0.5}))
    searched = extend(made, 10_000).nuisance["warmup_ratio"]
    before = made.best().configuration["warmup_ratio"]
    assert searched.low < before / 10 < searched.high <= before / 4


@pytest.mark.parametrize("declared", [False, True])
def test_a_length_in_epochs_leaves_decay_steps_alone(declared: bool) -> None:
    means = {"max_train_steps": "epochs", **({"steps_per_epoch": 100} if declared else {})}
    fixed = {"epochs": 10, "schedule": "linear", "decay_steps": 400}
    made = short(Meaning(means), fixed=fixed)
    longer = extend(made, 100)
    assert (longer.fixed["epochs"], longer.fixed["decay_steps"]) == (100, 400)
    if declared:  # the rule is told in steps
        assert extension(made, 100).rule.code.startswith("stretch.")
