"""Results: the round as recorded, with or without a store."""

from __future__ import annotations

import pytest
from tests.store.record_parts import OBJECTIVE, a_round, a_trial, curve, some_results

from tunewright.design.objective import maximize, minimize
from tunewright.errors import NotFound
from tunewright.store.curves import Batch, Curves
from tunewright.store.results import Results


def test_trials_stand_by_number_and_the_best_is_over_all_studies() -> None:
    results = some_results()
    assert [t.number for t in results.trials] == list(range(6))
    assert results.best().number == 4 and results.best().value == 0.2
    assert results.best(layers=2).number == 1
    assert [t.number for t in results.top(3)] == [4, 2, 1]
    assert [t.number for t in results.of(1)] == [1, 3, 5]
    assert results.of(results.studies[0])[0].number == 0
    assert results.trial(3).status == "infeasible"
    assert results.counts == {"completed": 5, "infeasible": 1}
    assert results.infeasible_fraction == pytest.approx(1 / 6)
    assert results.metrics == ("valid_error", "accuracy")


def test_repeats_stand_apart() -> None:
    results = some_results()
    assert [r.value for r in results.repeats(results.best())] == [0.25, 0.15]
    assert results.repeats(0) == ()


def test_another_objective_judges_the_same_trials_anew() -> None:
    results = some_results()
    last = results.with_objective(maximize("accuracy", at="last"))
    assert last.best().number == 4 and last.best().value == pytest.approx(0.8)
    worst = results.with_objective("valid_error", minimize=False)
    assert worst.best().value == 0.9 and worst.objective == maximize("valid_error")
    limited = results.with_objective(minimize("valid_error", subject_to={"accuracy": ("<=", 0.65)}))
    assert limited.best().number == 1
    assert limited.trial(4).status == "infeasible"
    broken = limited.trial(4).reason
    assert broken is not None and broken.code == "constraint.broken"
    assert broken.facts["metric"] == "accuracy"
    assert results.best().number == 4, "the first results are as they were"
    assert limited.with_objective(OBJECTIVE).best().number == 4


def test_what_is_not_there_is_answered_with_what_is() -> None:
    results = some_results()
    with pytest.raises(NotFound, match="Did you mean 'layers'"):
        results.best(layer=1)
    with pytest.raises(NotFound, match=r"no study with layers=9.*layers=1; layers=2"):
        results.best(layers=9)
    with pytest.raises(NotFound, match="Did you mean 'accuracy'"):
        results.curves(0, "acuracy")
    with pytest.raises(NotFound, match="no trial 17: its trials are 0 to "):
        results.trial(17)
    with pytest.raises(NotFound, match="studies 0 to 1"):
        results.of(2)
    failed = Results.from_parts(a_round(), OBJECTIVE, [a_trial(0, 0.1, status="failed")])
    with pytest.raises(NotFound, match=r"no completed trial \(1 failed\)"):
        failed.best()
    with pytest.raises(NotFound, match="no trials"):
        Results.from_parts(a_round(), OBJECTIVE, []).best()


def test_curves_of_a_trial() -> None:
    results = some_results()
    assert results.curves(4, "valid_error").values.tolist() == [0.9, 0.2]
    assert results.curves(results.best(), "accuracy").steps.tolist() == [1, 2]


def test_of_equal_trials_the_lowest_number_is_best() -> None:
    trials = [a_trial(n, 0.3) for n in (3, 1, 2)]
    assert Results.from_parts(a_round(), OBJECTIVE, trials).best().number == 1


def test_the_card_tells_the_goal_the_counts_and_the_best_without_any_script() -> None:
    results = some_results()
    hostile = a_round(goal="<script>alert(1)</script> & more?", fixed={"<b>": '"'})
    shown = Results.from_parts(hostile, OBJECTIVE, results.recorded)._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown and "<b>&quot;" not in shown
    assert "5 completed, 1 infeasible" in shown and "0.2" in shown
    assert "layers=2" in shown and ">0.4<" in shown
    empty = Results.from_parts(a_round(), OBJECTIVE, [])._repr_html_()
    assert "no trials yet" in empty and "no completed trial" in empty


def test_running_trials_have_no_value() -> None:
    running = a_trial(0, 0.1, status="running", curves=Curves([Batch(1, 0, curve(0.1))]))
    results = Results.from_parts(a_round(), OBJECTIVE, [running])
    assert results.trials[0].value is None and results.top(5) == ()
