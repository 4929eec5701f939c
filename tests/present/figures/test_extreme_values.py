"""Every figure, and a report, of values at the ends of what a float can hold, ties, and none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.present.figures.known_rounds import one_study

import tunewright as tw
from tunewright.errors import NotFound
from tunewright.present import figures as plots
from tunewright.present.figures.axis import axis_data
from tunewright.present.figures.figure import Figure
from tunewright.present.report import report
from tunewright.store.results import Results

pytestmark = pytest.mark.beyond_core  # draws many figures: seconds each

EXTREMES = (1e308, -1e308, 1.7e308, 5e-324, 0.0, 0.5, 0.5, 1e200, 1e-300, float("nan"))
KINDS: dict[str, Callable[[Results], Figure[Any]]] = {
    "axis": plots.axis,
    "isolation": plots.isolation,
    "curves": plots.curves,
    "best_step": plots.best_step,
    "best_of_k": plots.best_of_k,
    "sensitivity": plots.sensitivity,
    "gradient_norm": plots.gradient_norm,
    "progress": plots.progress,
    "pair": plots.pair,
}
SPACE = {"lr": tw.log(1e-4, 1e-1), "momentum": tw.linear(0, 1)}


def round_of(values: list[float], minimize: bool = True, arms: int = 1) -> Results:
    """One trial per value, which is also its gradient norm; dealt to so many settings."""
    objective = tw.minimize("m") if minimize else tw.maximize("m")
    logged = [{"m": [v, v], "gradient_norm": [1.0, v], "train_loss": [2.0, v]} for v in values]
    made = one_study(logged, objective, nuisance=SPACE)
    if arms == 1:
        return made
    round = replace(made.round, scientific={"arm": list(range(arms))})
    trials = [replace(t, study=n % arms, index=n // arms) for n, t in enumerate(made.recorded)]
    moved = [replace(t, configuration={"arm": t.study, **t.configuration}) for t in trials]
    return Results.from_parts(round, objective, moved)


def draw(kind: str, made: Results) -> None:
    """Draw it, with every warning as an error; what cannot be shown is refused by its code."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            figure = KINDS[kind](made)
        except NotFound as refused:
            assert refused.code.startswith("plot.")
            return
        assert figure.says
        assert "<svg" in figure.svg()


NAMED = {
    "one huge": [0.5, 0.4, 0.3, 0.6, 1e308],
    "both ends": [1e308, -1e308, 0.5, 0.4, 0.3, 0.2],
    "tiny": [5e-324, 5e-324, 1e-300, 0.0],
    "ties": [0.5] * 12,
    "one trial": [0.5],
    "one huge trial": [1e308],
    "all huge": [1e308, 1.7e308, -1e308, 1.6e308],
    "one of two arms huge": [*[1e308] * 11, -1e308],
    "all diverged": [float("nan")] * 6,
    "many with one huge": [0.1 + n / 100 for n in range(20)] + [1e308],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMED)
def test_every_figure_of_extreme_values(kind: str, name: str) -> None:
    draw(kind, round_of(NAMED[name], arms=2 if kind == "isolation" else 1))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    values=st.lists(st.sampled_from(EXTREMES) | st.floats(), min_size=1, max_size=14),
    minimize=st.booleans(),
)
def test_every_figure_of_any_values(kind: str, values: list[float], minimize: bool) -> None:
    draw(kind, round_of(values, minimize, arms=2 if kind == "isolation" else 1))


def test_a_huge_value_stands_at_the_margin_and_is_counted() -> None:
    data = axis_data(round_of([0.5, 0.4, 0.3, 0.6, 1e308]))
    assert (data.beyond, data.limit) == (1, 0.6)


@pytest.mark.parametrize("name", NAMED)
def test_a_report_of_extreme_values(name: str) -> None:
    made = report(round_of(NAMED[name], arms=2))
    assert made.html.count("<h1>") == 1
    assert made.text
