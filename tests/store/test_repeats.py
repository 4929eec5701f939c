"""Repeats of a trial, and how a program shows that it does not use its seed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.store.record_parts import a_trial, some_results

from tunewright.design.names import Meaning
from tunewright.design.objective import maximize
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Repeats, same_curves
from tunewright.store.trial import Trial


def repeats() -> Repeats:
    made = some_results()
    keyed = tuple(replace(t, identity=100 + k) for k, t in enumerate(made.recorded_repeats))
    results = replace(made, recorded_repeats=keyed)
    return Repeats(results.trial(4), results.repeats(4), results)


def curved(*values: float, metric: str = "valid_error") -> Trial:
    steps = list(range(1, len(values) + 1))
    batches = [Batch(1, 0, pack({metric: (steps, list(values))}))] if values else []
    return replace(a_trial(None, 0.5, parent=4), curves=Curves(batches), value=values[-1])


def test_repeats_are_a_sequence_of_trials_with_their_values() -> None:
    own = repeats()
    assert own.values == (0.25, 0.15)
    assert (len(own), own[1], list(own)) == (2, own.trials[1], list(own.trials))
    assert own.objective == own.results.objective


def test_a_repeat_without_a_value_counts_but_has_none() -> None:
    own = repeats()
    failed = replace(own.trials[0], status="failed", value=None)
    both = Repeats(own.of, (failed, own.trials[1]), own.results)
    assert (len(both), both.values) == (2, (0.15,))


def test_another_objective_judges_the_same_runs() -> None:
    own = repeats()
    judged = own.with_objective(maximize("accuracy"))
    assert judged.values == pytest.approx((0.75, 0.85))
    assert judged.of.value == pytest.approx(0.8)
    assert judged.objective.metric == "accuracy"
    assert own.with_objective(own.objective) is own


def test_curves_that_are_the_same_but_for_rounding_are_alike() -> None:
    one, other = curved(0.5, 0.4), curved(0.5, 0.4 + 1e-16)
    assert same_curves([one, other], "valid_error") is True
    assert same_curves([one, curved(0.5, 0.41)], "valid_error") is False
    assert same_curves([one, curved(0.5, 0.4, 0.3)], "valid_error") is False


def test_one_curve_or_one_point_is_too_little_to_tell() -> None:
    assert same_curves([curved(0.5, 0.4)], "valid_error") is None
    assert same_curves([curved(0.5), curved(0.5)], "valid_error") is None
    assert same_curves([curved(0.5, 0.4), curved(0.5, 0.4)], "accuracy") is None


def test_a_point_where_a_curve_is_not_finite_is_not_compared() -> None:
    one, other = curved(0.5, float("nan"), 0.4), curved(0.5, 0.2, 0.4)
    assert same_curves([one, other], "valid_error") is True


def test_three_single_values_that_are_the_same_show_that_no_seed_is_used() -> None:
    results = some_results()

    def seedless(*trials: Trial) -> bool:
        return Repeats(results.trial(4), trials, results).seedless

    assert seedless(*[curved(0.5)] * 3)
    assert not seedless(*[curved(0.5)] * 2)
    assert seedless(*[curved(0.6, 0.5)] * 2)  # whole curves: two are enough
    assert not seedless(curved(0.7, 0.5), curved(0.6, 0.5))
    assert not seedless(curved(0.5), curved(0.5), curved(0.51))


def test_a_program_that_is_declared_deterministic_is_not_called_seedless() -> None:
    results = some_results()
    alike = Repeats(results.trial(4), (curved(0.5, 0.4),) * 2, results)
    assert alike.seedless and not alike.deterministic
    declared = replace(results, meaning=Meaning(deterministic=True))
    known = Repeats(results.trial(4), alike.trials, declared)
    assert known.deterministic and not known.seedless
