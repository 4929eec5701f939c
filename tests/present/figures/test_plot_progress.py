from __future__ import annotations

from dataclasses import replace

import pytest
from tests.present.figures.known_rounds import codes_of, facts_of

from tunewright.design.objective import maximize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import NotFound
from tunewright.present.figures.progress import (
    ProgressData,
    Stretch,
    progress,
    progress_data,
)
from tunewright.testing import Bowl, Walled, World, results

ROUND = Round("one", goal="?", nuisance={"lr": log(1e-4, 1e-1)}, trials_per_study=8)
WALLED = World(Walled(Bowl({"lr": 0.4}), {"lr": 1.0}, above=0.7))


def test_the_best_so_far_never_gets_worse_and_rounds_follow_each_other() -> None:
    first, second = results(ROUND, WALLED), results(replace(ROUND, name="two", seed=5), WALLED)
    data = progress_data([first, second])
    assert [s.first for s in data.rounds] == [0, 8]
    known = [v for v in data.best if v is not None]
    assert known == sorted(known, reverse=True)
    values = [v for s in data.rounds for v in s.values if v is not None]
    assert known[-1] == min(values)
    assert None in data.rounds[0].values, "the infeasible ones are there too"


def test_an_objective_to_maximize_rises() -> None:
    data = progress_data([results(ROUND, replace(WALLED, objective=maximize("accuracy")))])
    known = [v for v in data.best if v is not None]
    assert known == sorted(known)


def test_repeats_stand_at_the_trial_they_repeat() -> None:
    best = results(ROUND, WALLED).best().number
    assert best is not None
    data = progress_data([results(ROUND, replace(WALLED, noise_sd=0.01), repeats={best: 2})])
    assert [place for place, _ in data.rounds[0].repeats] == [best, best]


def test_it_is_drawn_and_said() -> None:
    pytest.importorskip("matplotlib")
    figure = progress([results(ROUND, WALLED)])
    assert facts_of(figure, "figure.progress.crosses") == {"trials": 2}
    assert figure.svg().startswith("<svg")
    nowhere = World(Walled(Bowl({"lr": 0.4}), {"lr": 1.0}, above=-1.0))
    empty = progress([results(ROUND, nowhere)])
    assert empty.empty and empty.svg().startswith("<svg")


@pytest.mark.parametrize("minimize", [True, False], ids=["minimize", "maximize"])
def test_the_axis_has_room_for_repeats_that_are_better_than_every_trial(minimize: bool) -> None:
    """A repeat of the best may be better than it by chance; one that diverged is on the rail."""
    canvas = pytest.importorskip("matplotlib.figure").Figure()
    best, worse, repeats = 0.2, (0.3, 0.25, 0.28), ((1, 0.1), (1, 0.2), (1, 9.0))
    sign = 1 if minimize else -1
    values = tuple(sign * v for v in (worse[0], best, *worse[1:]))
    again = tuple((place, sign * value) for place, value in repeats)
    data = ProgressData("error", minimize, (Stretch("one", "auto", 0, values, again),), values)
    progress_figure = progress([results(ROUND, WALLED)])
    progress_figure.drawing(canvas, data)
    (axes,) = canvas.axes
    low, high = axes.get_ylim()
    assert low < 0.1 * sign < high and not low < 9.0 * sign < high
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert [0.1 * sign, 0.2 * sign] in [list(ys) for ys in drawn.values()]
    assert any(list(line.get_xdata()) == [1] for line in axes.get_lines()), "the far one"


def test_without_a_round_there_is_nothing_to_show() -> None:
    with pytest.raises(NotFound):
        progress([])


def test_one_round_alone_has_a_best_so_far_and_marks_pruned_trials() -> None:
    made = results(ROUND, WALLED)
    stopped = replace(made.recorded[0], status="pruned")
    figure = progress(replace(made, recorded=(stopped, *made.recorded[1:])))
    assert figure.data.rounds[0].pruned == (0,)
    assert facts_of(figure, "figure.progress.pruned") == {"pruned": 1}
    assert not figure.wide and "figure.progress.pruned" not in codes_of(progress(made))
