from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings, strategies as st
from tests.present.figures.known_rounds import codes_of, depth, facts_of, one_study

from tunewright.present.figures import style
from tunewright.present.figures.curves import (
    POINTS,
    STUDIES,
    curves,
    curves_data,
    draw_curves,
    thin,
)
from tunewright.store.curves import Curve


def test_the_best_few_of_each_study_are_shown_paired() -> None:
    made = depth()
    data = curves_data(made, best=3)
    assert [study.study for study in data.studies] == [s.label for s in made.studies]
    for study, own in zip(made.studies, data.studies, strict=True):
        ranked = [t for t in made.top(48) if t.study == study.number]
        assert [t.trial for t in own.trials] == [t.number for t in ranked[:3]]
        for trial, known in zip(own.trials, ranked, strict=False):
            assert (trial.value, trial.best_step) == (known.value, known.best_step)
            assert trial.judged is not None and trial.train_loss is not None
            assert len(trial.judged) == len(trial.train_loss) == 20


def test_a_curve_that_diverged_says_where() -> None:
    nan = float("nan")
    made = one_study(
        [
            {"valid_error": [0.9, 0.5, 0.4], "train_loss": [2.0, 1.0, 0.5]},
            {"valid_error": [0.9, 0.8], "train_loss": [2.0, 1.9, nan]},
        ]
    )
    (study,) = curves_data(made, trials=[0, 1]).studies
    assert [t.diverged_at for t in study.trials] == [None, 30]
    svg = curves(made, trials=[1]).svg()
    assert "#c8102e" in svg


def test_where_nothing_completed_the_infeasible_trials_are_shown() -> None:
    made = one_study([{"valid_error": [0.9], "train_loss": [2.0, float("inf")]}] * 7)
    (study,) = curves_data(made).studies
    assert [t.trial for t in study.trials] == [0, 1, 2, 3, 4]
    said = facts_of(curves(made), "figure.curves.study")
    assert (said["value"], said["diverged_at"]) == (None, 20)


def test_the_objective_is_not_drawn_twice() -> None:
    made = one_study([{"loss": [2.0, 1.0], "held_out": [2.0, 1.5]}])
    trained = made.with_objective("loss")
    means = {"train_loss": "loss", "valid_loss": "held_out"}
    from tunewright.design.names import Meaning

    trained = replace(trained, meaning=Meaning(means))
    (study,) = curves_data(trained).studies
    assert study.trials[0].train_loss is None
    assert study.trials[0].valid_loss is not None


def test_of_many_studies_the_best_are_shown() -> None:
    import tunewright as tw
    from tunewright.testing.worlds import World, results

    round = tw.Round(
        "many",
        goal="?",
        scientific={"layers": list(range(9))},
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=2,
    )
    made = results(round, World(lambda unit: 0.5, effect=lambda study: -0.01 * study.number))
    data = curves_data(made)
    assert [study.study for study in data.studies] == [f"layers={n}" for n in (5, 6, 7, 8)]
    assert data.left_out == 9 - STUDIES
    assert facts_of(curves(made), "figure.curves.left_out") == {"studies": 5}


@settings(max_examples=25)
@given(st.integers(1, 3000), st.integers(0, 2**31))
def test_thinning_keeps_the_ends_and_the_extremes(points: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=points)
    curve = Curve(np.arange(1, points + 1), values)
    kept = thin(curve)
    assert len(kept) <= max(POINTS, 2)
    assert kept.steps[0] == 1 and kept.steps[-1] == points
    assert kept.values.min() == values.min() and kept.values.max() == values.max()
    assert (np.diff(kept.steps) > 0).all()


def test_pruned_trials_are_thin_lines_that_end_in_a_bar() -> None:
    made = one_study([{"valid_error": [0.9, 0.5 - n / 100]} for n in range(6)])
    stopped = tuple(replace(t, status="pruned") for t in made.recorded[:2])
    figure = curves(replace(made, recorded=(*stopped, *made.recorded[2:])))
    (study,) = figure.data.studies
    assert (len(study.pruned), study.stopped) == (2, 2)
    assert facts_of(figure, "figure.curves.pruned") == {"pruned": 2, "drawn": 2}
    assert style.PRUNED.lower() in figure.svg()
    assert "figure.curves.pruned" not in codes_of(curves(made))


def test_the_legend_covers_no_line() -> None:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas()
    draw_curves(canvas, curves_data(depth()))
    assert all(axes.get_legend() is None for axes in canvas.axes)
    numbers = [text.get_text() for axes in canvas.axes for text in axes.texts]
    best = depth().best()
    assert any(text.startswith(f"{best.number}: ") for text in numbers)
