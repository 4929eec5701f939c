from __future__ import annotations

from dataclasses import replace
from typing import Any

from tunewright.design.guards import batch_size_change, notes_on_continued, values_of
from tunewright.design.names import Meaning
from tunewright.design.ranges import log
from tunewright.design.round import Round

FIRST = Round(
    "first",
    goal="?",
    nuisance={"learning_rate": log(1e-4, 1e-1), "weight_decay": log(1e-6, 1e-2)},
    fixed={"batch_size": 32, "max_train_steps": 500, "width": 64, "mixup": 0.0},
    trials_per_study=10,
)
FROZEN = replace(
    FIRST,
    name="second",
    continues="first",
    nuisance={},
    fixed={**FIRST.fixed, "batch_size": 512, "learning_rate": 0.01, "weight_decay": 1e-4},
)


def notes(round: Round, earlier: Round = FIRST, probed: Any = ()) -> list[tuple[str, Any]]:
    found = notes_on_continued(round, earlier, Meaning(), probed)
    assert all(note.text for note in found)
    return [(note.code, dict(note.facts)) for note in found]


def test_a_changed_batch_size_with_frozen_values() -> None:
    ((code, facts),) = notes(FROZEN)
    assert code == "continued.batch_size"
    assert (facts["before"], facts["now"], facts["earlier"]) == (32, 512, "first")
    assert (facts["optimizer"], facts["regularisers"]) == (["learning_rate"], ["weight_decay"])


def test_the_regularisers_come_second() -> None:
    again = replace(
        FROZEN,
        nuisance={"learning_rate": log(1e-4, 1e-1)},
        fixed={**FIRST.fixed, "batch_size": 512, "weight_decay": 1e-4},
    )
    ((_, facts),) = notes(again)
    assert (facts["optimizer"], facts["regularisers"]) == ([], ["weight_decay"])


def test_silence_where_all_is_tuned_again_or_nothing_changed() -> None:
    assert notes(replace(FIRST, name="second", fixed={**FIRST.fixed, "batch_size": 512})) == []
    same = replace(FROZEN, fixed={**FROZEN.fixed, "batch_size": 32})
    assert notes(same) == []
    never_tuned = replace(FIRST, nuisance={"beta1": log(0.1, 0.5)})
    fixed = {**FIRST.fixed, "batch_size": 512, "weight_decay": 1e-4}
    assert notes(replace(never_tuned, name="b", fixed=fixed), never_tuned) == []


def test_a_probed_length_after_a_changed_model() -> None:
    wider = replace(FIRST, name="second", fixed={**FIRST.fixed, "width": 256})
    ((code, facts),) = notes(wider, probed={500})
    assert (code, facts["changed"], facts["steps"]) == ("continued.length", ["width"], 500)
    asked = {name: value for name, value in FIRST.fixed.items() if name != "width"}
    compared = replace(FIRST, name="second", scientific={"width": [64, 256]}, fixed=asked)
    assert [code for code, _ in notes(compared, probed={500})] == ["continued.length"]
    augmented = replace(FIRST, name="second", fixed={**FIRST.fixed, "mixup": 0.2})
    assert [code for code, _ in notes(augmented, probed={500})] == ["continued.length"]


def test_silence_about_lengths_that_no_probe_proposed() -> None:
    wider = replace(FIRST, name="second", fixed={**FIRST.fixed, "width": 256})
    assert notes(wider) == [] and notes(wider, probed={400}) == []
    longer = replace(wider, fixed={**wider.fixed, "max_train_steps": 900})
    assert notes(longer, probed={500, 900}) == []
    assert notes(replace(FIRST, name="second"), probed={500}) == []


def test_values_of() -> None:
    assert values_of(FIRST, "batch_size") == [32] and values_of(FIRST, "learning_rate") == []
    assert values_of(replace(FIRST, scientific={"depth": [1, 2]}), "depth") == [1, 2]


def test_what_was_tuned_again_since_is_not_kept() -> None:
    again = replace(
        FIRST, name="again", continues="first", fixed={**FIRST.fixed, "batch_size": 512}
    )
    third = replace(FROZEN, name="third")
    change = batch_size_change(third, (FROZEN, FIRST), Meaning())
    assert change is not None and change.earlier == "first", "a round between does not hide it"
    assert (change.optimizer, change.regularisers) == (("learning_rate",), ("weight_decay",))
    assert batch_size_change(third, (again, FIRST), Meaning()) is None
    rate = {"learning_rate": log(1e-4, 1e-1)}
    part = replace(again, nuisance=rate, fixed={**again.fixed, "weight_decay": 1e-4})
    left = batch_size_change(third, (part, FIRST), Meaning())
    assert left is not None and (left.optimizer, left.regularisers) == ((), ("weight_decay",))
