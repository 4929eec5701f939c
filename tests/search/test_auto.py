from __future__ import annotations

import pytest

from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.search.auto import pick

RATE = {"rate": log(1e-4, 1e-1)}
MANY = {f"x{i}": linear(0.0, 1.0) for i in range(9)}


@pytest.mark.parametrize(
    "roles, trials, workers, name, says",
    [
        ({"nuisance": RATE}, 50, 1, "bayesian", "50 turns to learn from"),
        ({"nuisance": RATE}, 48, 8, "bayesian", "6 turns to learn from"),
        ({"nuisance": RATE}, 48, 16, "halton", "leave 3 turns, too few"),
        ({"nuisance": RATE}, 50, 50, "halton", "leave 1 turn, too few"),
        ({"nuisance": RATE}, 7, 1, "halton", "7 trials are too few"),
        ({"nuisance": MANY}, 19, 1, "halton", "learns from the first 10"),
        ({"nuisance": RATE, "scientific": {"layers": [1, 2]}}, 50, 1, "halton", "what layers does"),
        ({"fixed": {"width": 8}}, 50, 1, "halton", "nothing to search"),
    ],
)
def test_it_goes_by_question_budget_and_workers(
    roles: dict[str, object], trials: int, workers: int, name: str, says: str
) -> None:
    made = Round("r", goal="?", trials_per_study=trials, **roles)  # type: ignore[arg-type]
    picked = pick(made, workers)
    assert picked.search.name == name
    assert says in picked.reason
    assert picked.reason.startswith({"halton": "quasi-random", "bayesian": "Bayesian"}[name])
