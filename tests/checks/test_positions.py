from __future__ import annotations

from dataclasses import replace

import numpy as np

from tunewright.checks.positions import axes, has_edges, study_trials
from tunewright.design.conditions import given
from tunewright.design.objective import maximize
from tunewright.design.ranges import Choice, Integers, Linear, choice, integers, linear, log
from tunewright.design.round import Round
from tunewright.testing import Bowl, Walled, World, results


def test_ends_of_every_kind_of_range_lie_at_zero_and_one() -> None:
    assert [Integers(2, 4).along(Integers(2, 4).unit(x)) for x in (2, 3, 4)] == [0.0, 0.5, 1.0]
    logarithmic = Integers(1, 1000, log=True)
    assert logarithmic.along(logarithmic.unit(1)) == 0.0
    assert logarithmic.along(logarithmic.unit(1000)) == 1.0
    assert Linear(0, 2).along(0.25) == 0.25
    falling = Choice((0.3, 0.2, 0.1))
    assert [falling.along(falling.unit(x)) for x in (0.1, 0.3)] == [0.0, 1.0]


def test_two_values_or_no_order_have_no_ends() -> None:
    assert not has_edges(choice("adam", "sgd", "lion"))
    assert not has_edges(choice(1, 2))
    assert not has_edges(integers(1, 2))
    assert has_edges(choice(1, 2, 3))
    assert has_edges(linear(0, 1))
    assert linear(0, 1).count is None


def a_round(**changes: object) -> Round:
    settings: dict[str, object] = {
        "goal": "?",
        "nuisance": {"learning_rate": log(1e-4, 1e-1)},
        "trials_per_study": 12,
    }
    return Round("r", **{**settings, **changes})  # type: ignore[arg-type]


def test_losses_are_lower_when_better_and_infinite_when_infeasible() -> None:
    world = World(
        Walled(Bowl({"learning_rate": 0.3}), {"learning_rate": 1.0}, above=0.7),
        objective=maximize("accuracy"),
    )
    made = results(a_round(), world)
    (axis,) = axes(made, study_trials(made)[0])
    assert axis.trials[int(axis.losses.argmin())].number == made.best().number
    assert np.array_equal(~axis.feasible, axis.units > 0.7)


def test_adaptive_trials_do_not_count() -> None:
    made = results(a_round(), Bowl({"learning_rate": 0.5}))
    recorded = [
        replace(t, search="bayesian" if (t.number or 0) > 7 else "halton") for t in made.trials
    ]
    (own,) = study_trials(replace(made, recorded=tuple(recorded)))
    assert [t.number for t in own.trials] == list(range(8))
    assert own.adaptive == 4


def test_positions_are_read_off_the_configuration_when_the_record_has_none() -> None:
    made = results(a_round(), Bowl({"learning_rate": 0.5}))
    bare = replace(made, recorded=tuple(replace(t, unit={}) for t in made.trials))
    outside = replace(bare.recorded[0], configuration={"learning_rate": 5.0})
    bare = replace(bare, recorded=(outside, *bare.recorded[1:]))
    (axis,) = axes(bare, study_trials(bare)[0])
    (known,) = axes(made, study_trials(made)[0])
    np.testing.assert_allclose(axis.units, known.units[1:])


def test_a_conditional_axis_has_only_the_trials_in_which_it_is_active() -> None:
    nuisance = {
        "optimizer": given({"adam": {"beta1": linear(0.8, 0.99)}, "sgd": {}}),
        "learning_rate": log(1e-4, 1e-1),
    }
    made = results(a_round(nuisance=nuisance), Bowl({"learning_rate": 0.5}))
    by_name = {axis.name: axis for axis in axes(made, study_trials(made)[0])}
    assert len(by_name["optimizer.adam.beta1"].trials) == 6
    assert len(by_name["learning_rate"].trials) == 12
