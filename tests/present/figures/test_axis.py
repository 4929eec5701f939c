from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.present.figures.known_rounds import depth, facts_of, one_study

import tunewright as tw
from tunewright.errors import NotFound
from tunewright.present.figures import style
from tunewright.present.figures.axis import RINGED, axis, axis_data
from tunewright.store.results import Results


def test_every_hyperparameter_has_a_panel_with_every_trial() -> None:
    made = depth()
    data = axis_data(made)
    assert [panel.column for panel in data.panels] == ["hidden_layers", "learning_rate", "beta1"]
    for panel in data.panels:
        assert panel.trials.tolist() == list(range(48))
        assert panel.infeasible.sum() == made.counts["infeasible"]
    by_number = {t.number: t for t in made.trials}
    rates = data.panels[1]
    for number, position, value in zip(rates.trials, rates.positions, rates.values, strict=True):
        trial = by_number[int(number)]
        assert rates.range.value(position) == pytest.approx(trial.configuration["learning_rate"])
        assert np.isnan(value) if trial.value is None else value == trial.value


def test_infeasible_trials_lie_beyond_the_wall_and_the_best_are_ringed() -> None:
    made = depth()
    data = axis_data(made)
    rates = data.panels[1]
    assert rates.positions[rates.infeasible].min() > 0.8
    assert data.best == tuple(t.number for t in made.top(RINGED))


def test_a_conditional_hyperparameter_shows_only_its_trials_and_says_so() -> None:
    nuisance = {
        "optimizer": tw.given(
            {
                "adam": {"learning_rate": tw.log(1e-5, 1e-2)},
                "sgd": {"learning_rate": tw.log(1e-3, 1.0)},
            }
        )
    }
    from tunewright.testing.worlds import results

    round = tw.Round("o", goal="?", nuisance=nuisance, trials_per_study=20)
    data = axis_data(results(round, lambda unit: 0.5))
    panels = {panel.column: panel for panel in data.panels}
    adam, sgd = panels["optimizer.adam.learning_rate"], panels["optimizer.sgd.learning_rate"]
    assert len(adam.trials) + len(sgd.trials) == len(panels["optimizer"].trials) == 20
    assert not set(adam.trials) & set(sgd.trials)
    assert adam.condition == " under optimizer = adam"
    figure = axis(results(round, lambda unit: 0.5))
    said = [m.facts for m in figure.caption if m.code == "figure.axis.condition"]
    assert [(facts["trials"], facts["condition"]) for facts in said] == [
        (len(adam.trials), "under optimizer = adam"),
        (len(sgd.trials), "under optimizer = sgd"),
    ]


@pytest.mark.parametrize("minimize", [True, False])
def test_hopeless_trials_do_not_flatten_the_rest(minimize: bool) -> None:
    values = [0.2, 0.21, 0.22, 0.25, 0.3, 1e6]
    sign = 1 if minimize else -1
    made = one_study(
        [{"m": [sign * v]} for v in values], tw.minimize("m") if minimize else tw.maximize("m")
    )
    data = axis_data(made)
    assert data.beyond == 1
    assert data.limit is not None
    assert 0.2 < sign * data.limit < 1.0
    assert facts_of(axis(made), "figure.axis.beyond")["beyond"] == 1


def test_values_of_one_size_are_all_drawn_in_their_place() -> None:
    assert axis_data(depth()).limit is None


def test_trials_outside_the_space_are_counted() -> None:
    made = one_study([{"valid_error": [0.5]}] * 3)
    added = replace(made.recorded[0], unit={}, configuration={"learning_rate": 5.0}, index=None)
    moved = Results.from_parts(made.round, made.objective, [added, *made.recorded[1:]])
    (panel,) = axis_data(moved).panels
    assert (len(panel.trials), panel.outside) == (2, 1)


def test_trials_without_positions_are_placed_by_their_configuration() -> None:
    made = depth()
    bare = Results.from_parts(
        made.round, made.objective, [replace(t, unit={}) for t in made.recorded]
    )
    for known, found in zip(axis_data(made).panels, axis_data(bare).panels, strict=True):
        assert np.allclose(known.positions, found.positions)


def test_panels_can_be_chosen() -> None:
    data = axis_data(depth(), only=["beta1"])
    assert [panel.column for panel in data.panels] == ["beta1"]
    with pytest.raises(NotFound, match=r"'beta'.*beta1, hidden_layers, learning_rate"):
        axis(depth(), only=["beta"])


def test_losses_far_apart_are_drawn_by_their_logarithm() -> None:
    losses = [0.1 * 1.5**n for n in range(12)]
    assert axis_data(one_study([{"valid_error": [loss]} for loss in losses])).logarithmic
    assert not axis_data(depth()).logarithmic
    accuracies = one_study([{"m": [loss / 10]} for loss in losses], tw.maximize("m"))
    assert not axis_data(accuracies).logarithmic  # the good ones would be squeezed together


def test_pruned_trials_stand_on_a_rail_of_their_own() -> None:
    made = one_study([{"valid_error": [0.5 - n / 100]} for n in range(6)])
    pruned = [replace(t, status="pruned") for t in made.recorded[:2]]
    half = Results.from_parts(made.round, made.objective, [*pruned, *made.recorded[2:]])
    (panel,) = axis_data(half).panels
    assert panel.pruned.tolist() == [True, True, False, False, False, False]
    assert not panel.infeasible.any() and panel.completed.sum() == 4
    figure = axis(half)
    assert facts_of(figure, "figure.axis.pruned") == {"pruned": 2}
    assert style.PRUNED.lower() in figure.svg()


def test_the_best_are_numbered_as_the_command_finds_them() -> None:
    made = one_study([{"valid_error": [0.5 - n / 100]} for n in range(3)])
    earlier = replace(made.recorded[2], origin=("before", 7))
    joined = Results.from_parts(made.round, made.objective, [*made.recorded[:2], earlier])
    data = axis_data(joined)
    assert data.labels == ("7 of before", "1", "0")
    assert ">7 of before<" in axis(joined).svg()
