"""Two hyperparameters against each other: which two, and where every trial stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.present.figures.known_rounds import codes_of, depth, facts_of, one_study

import tunewright as tw
from tunewright.errors import NotFound
from tunewright.present.figures.sensitivity import pair, pair_data
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import World, results

ROUND = tw.Round(
    "r",
    goal="?",
    nuisance={
        "idle": tw.linear(0, 1),
        "lr": tw.log(1e-4, 1e-1),
        "momentum": tw.ranges.log_from_one(0.8, 0.99),
    },
    trials_per_study=64,
)
MADE = results(ROUND, World(Bowl({"lr": 0.5, "momentum": 0.3}), noise_sd=0.001))


def test_the_two_most_important_are_chosen() -> None:
    data = pair_data(MADE)
    assert set(data.columns) == {"lr", "momentum"} and data.by_importance
    assert facts_of(pair(MADE), "figure.pair")["important"] is True


def test_trials_stand_at_their_positions_ranked_by_the_objective() -> None:
    data = pair_data(MADE, ["lr", "momentum"])
    assert [data.trials[row] for row in data.best] == [str(t.number) for t in MADE.top(5)]
    assert data.ranks[data.best[0]] == 0.0 and data.ranks.max() == 1.0
    for row, trial in enumerate(MADE.trials):
        assert data.ranges[0].value(data.x[row]) == pytest.approx(trial.configuration["lr"])
        assert data.ranges[1].value(data.y[row]) == pytest.approx(trial.configuration["momentum"])


def test_a_larger_objective_is_better_where_it_is_maximized() -> None:
    made = MADE.with_objective("valid_error", minimize=False)
    data = pair_data(made)
    assert data.values[data.best[0]] == np.nanmax(data.values)
    assert data.ranks[data.best[0]] == 0.0


def test_infeasible_and_pruned_trials_have_marks_and_no_rank() -> None:
    broken = replace(MADE.recorded[0], status="infeasible")
    stopped = replace(MADE.recorded[1], status="pruned")
    data = pair_data(replace(MADE, recorded=(broken, stopped, *MADE.recorded[2:])))
    assert data.pruned.tolist()[:3] == [False, True, False]
    assert np.isnan(data.ranks[:2]).all()


def test_columns_that_never_occur_together_are_not_a_pair() -> None:
    with pytest.raises(NotFound) as refused:
        pair(one_study([{"valid_error": [0.5]}] * 3))
    assert refused.value.code == "plot.not_a_pair"
    with pytest.raises(NotFound) as refused:
        pair(MADE, ["lr", "nothing"])
    assert refused.value.code == "plot.no_such_hyperparameter"


def test_where_nothing_completed_there_is_nothing_to_rank() -> None:
    assert pair(depth(wall=-1.0)).empty
    made = Results.from_parts(ROUND, MADE.objective, [])
    assert codes_of(pair(made)) == ["figure.pair.nothing"]
    assert "<svg" in pair(made).svg()
