from __future__ import annotations

import pytest
from tests.present.figures.known_rounds import depth, facts_of, one_study

from tunewright.design.objective import minimize
from tunewright.errors import NotFound
from tunewright.present.figures.progress import best_step, best_step_data, draw_best_step


def test_best_steps_are_those_of_the_curves() -> None:
    made = one_study(
        [
            {"valid_error": [0.9, 0.2, 0.3, 0.4]},
            {"valid_error": [0.9, 0.8, 0.7, 0.6]},
            {"valid_error": [0.5, 0.6, 0.7, 0.8]},
        ]
    )
    data = best_step_data(made)
    assert data.steps == (20, 10, 40)  # best trial first
    assert data.max_train_steps == 40
    assert (round(data.early, 2), round(data.late, 2)) == (0.67, 0.33)


def test_the_last_value_as_objective_has_no_best_step() -> None:
    made = one_study([{"valid_error": [0.9, 0.2, 0.3]}])
    with pytest.raises(NotFound) as refused:
        best_step(made.with_objective(minimize("valid_error", at="last")))
    assert refused.value.code == "plot.no_best_step"


def test_the_best_are_counted_in_the_same_bins_as_all() -> None:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas()
    draw_best_step(canvas, best_step_data(depth()))
    every, best = (
        [(bar.get_x(), bar.get_width()) for bar in bars] for bars in canvas.axes[0].containers
    )
    assert every == best


def test_a_shorter_training_is_proposed_where_the_best_were_done_early() -> None:
    early = [{"valid_error": [0.9, 0.3 + n / 100, *[0.5] * 18]} for n in range(6)]
    figure = best_step(one_study(early))
    assert figure.data.proposed == 30
    assert facts_of(figure, "figure.best_step.proposed") == {"steps": 30}
    assert best_step(depth(curve="linear")).data.proposed is None


def test_nothing_completed() -> None:
    figure = best_step(one_study([{"valid_error": [float("nan")]}]))
    assert figure.data.steps == ()
    assert figure.empty
