from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.present.figures.known_rounds import depth, facts_of, one_study

from tunewright.design.objective import maximize
from tunewright.present.figures.progress import best_of_k, best_of_k_data


def test_budgets_agree_with_every_way_to_pick() -> None:
    values = [0.9, 0.3, 0.5, 0.8, 0.2, 0.7]
    (study,) = best_of_k_data(one_study([{"valid_error": [v]} for v in values])).studies
    assert [b.k for b in study.budgets] == [1, 2, 3, 5, 6]
    for budget in study.budgets:
        bests = [min(pick) for pick in itertools.combinations(values, budget.k)]
        assert budget.mean == pytest.approx(np.mean(bests))
    assert study.budgets[-1].quantiles == (0.2,) * 5


def test_an_objective_to_maximize_is_shown_in_its_own_direction() -> None:
    made = one_study([{"m": [v]} for v in (0.1, 0.5, 0.9)], maximize("m"))
    (study,) = best_of_k_data(made).studies
    assert study.budgets[-1].mean == 0.9
    means = [b.mean for b in study.budgets]
    assert means == sorted(means)
    assert study.half == pytest.approx(0.4)  # of one trial


def test_what_the_round_wants_to_see_is_said() -> None:
    made = depth()
    made = replace(made, round=replace(made.round, detect=0.01))
    figure = best_of_k(made)
    assert figure.data.detect == 0.01
    assert facts_of(figure, "figure.best_of_k.detect") == {"detect": 0.01}
    assert len(figure.data.studies) == 3


def test_studies_without_a_completed_trial_are_left_out() -> None:
    assert best_of_k_data(one_study([{"valid_error": [float("nan")]}])).studies == ()
    (study,) = best_of_k_data(one_study([{"valid_error": [0.5]}])).studies
    assert study.half is None


def test_trials_of_an_adaptive_search_do_not_count() -> None:
    made = one_study([{"valid_error": [0.5 - n / 100]} for n in range(12)])
    adaptive = [replace(t, search="bayesian") for t in made.recorded[4:]]
    mixed = best_of_k_data(replace(made, recorded=(*made.recorded[:4], *adaptive)))
    assert (mixed.studies[0].completed, mixed.adaptive) == (4, 8)
    figure = best_of_k(replace(made, search="tpe"))
    assert figure.data.studies == ()
    assert facts_of(figure, "figure.adaptive") == {"adaptive": 12} and figure.empty
