"""Curves that agree digit for digit, and curves that tie by themselves."""

from __future__ import annotations

import numpy as np
from tests.checks.applied_worlds import Manner, ignoring, results_of, round_of

from tunewright.checks._same_curves import information, must_act, same_curves
from tunewright.design.names import Meaning
from tunewright.store.trial import Trial


def test_counts_carry_little_information_and_losses_much() -> None:
    counts = np.array([25.0, 12.0, 6.0, 6.0, 5.0]) / 50
    bits, exact = information(counts)
    assert bits < 40 and not exact
    loss = 1 / np.sqrt(np.arange(2.0, 12.0))
    bits, exact = information(loss)
    assert bits > 40 and exact
    assert information(np.full(9, 2.302585)) == (0.0, False)


def test_what_acts_elsewhere_is_not_doubted() -> None:
    made = round_of(np.random.default_rng(2), "batch_size")
    whole = results_of(made, Manner())
    assert "batch_size" in same_curves(whole).acts
    # batches of 32 and 128 come out alike, batches of 8 do not: it is used
    capped = Manner(fault=lambda given: {**given, "batch_size": min(32, given["batch_size"])})
    assert same_curves(results_of(made, capped)).doubts == ()


def test_a_value_that_is_ignored_under_shared_seeds_is_named() -> None:
    made = round_of(np.random.default_rng(2), "dropout")
    (doubt,) = same_curves(results_of(made, Manner(fault=ignoring("dropout")))).doubts
    assert (doubt.name, doubt.certain) == ("dropout", True)
    assert doubt.runs == doubt.of


def test_which_hyperparameters_must_act() -> None:
    def pair(name: str, one: object, other: object) -> bool:
        trials = [
            Trial(
                number=0,
                study=0,
                index=0,
                configuration={name: value},  # type: ignore[dict-item]
                unit={},
                status="completed",
            )
            for value in (one, other)
        ]
        return must_act(Meaning(), name, *trials)

    assert pair("learning_rate", 0.1, 0.2) and pair("optimizer", "sgd", "adam")
    assert pair("schedule", "cosine", "constant") and pair("weight_decay", 0.0, 0.1)
    assert not pair("weight_decay", 1e-12, 1e-10)
    assert not pair("schedule", "constant", "constant_with_warmup")
    assert not pair("clip_norm", 1.0, 10.0) and not pair("num_workers", 0, 8)
