"""The critical-batch probe where the critical size is known, and where it must refuse."""

from __future__ import annotations

import math

import pytest
from tests.probes import scaling_worlds as worlds

import tunewright as tw
from tunewright.errors import DesignError
from tunewright.execution.executors.inline import Inline
from tunewright.probes.critical_batch import critical_batch
from tunewright.store.store import Store

SPACE = {"learning_rate": tw.log(1e-4, 1.0), "momentum": tw.linear(0.7, 0.99)}
SIZES = [8, 16, 32, 64, 128, 256, 512]


def workload(train, folder, **more) -> tw.Workload:
    objective = tw.minimize("valid_error")
    return tw.Workload(train, objective, store=folder / "tuning.db", executor=Inline(), **more)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    own = workload(worlds.train, tmp_path_factory.mktemp("scaling"))
    return own, critical_batch(own, batch_sizes=SIZES, nuisance=SPACE, trials=24)


def test_the_known_size_is_inside_the_interval(found):
    _, answer = found
    assert answer.verdict == "inside"
    assert answer.low < worlds.CRITICAL < answer.high
    assert answer.critical_batch_size == pytest.approx(worlds.CRITICAL, rel=0.6)
    assert answer.settings == {
        "batch_size": max(s for s in SIZES if s <= answer.critical_batch_size)
    }
    assert answer.message.code == "probe.critical_batch.inside"
    assert answer.message.facts["goal"] == answer.goal
    assert len(answer.headline.split()) <= 12


def test_every_size_shows_its_steps_and_its_luck(found):
    _, answer = found
    valid = [point for point in answer.sizes if point.valid]
    assert len(valid) >= 5
    for point in valid:
        truth = -math.log(answer.goal) * worlds.SMALLEST * (1 + worlds.CRITICAL / point.batch_size)
        assert 0.85 * truth < point.steps < 2 * truth
        assert point.low <= point.high and point.reached >= 3
        assert point.spacing <= max(1.0, 0.02 * point.steps) or answer.caveats
    assert valid[1].scaling in ("perfect", "diminishing") and valid[0].scaling is None
    assert valid[-1].scaling in ("maximal", "diminishing")


def test_the_goal_is_what_a_fifth_reach_at_the_smallest_size(found):
    own, answer = found
    with Store.open(own.store) as store:
        results = store.results(answer.sizes[0].round)
    reached = [t for t in results.trials if t.value is not None and t.value <= answer.goal]
    assert len(reached) == math.ceil(0.2 * answer.sizes[0].feasible)


def test_asked_again_it_trains_nothing(found):
    own, answer = found
    again = critical_batch(own, batch_sizes=SIZES, nuisance=SPACE, trials=24)
    assert again == answer
    with Store.open(own.store) as store:
        trials = [t for r in store.rounds() for t in store.results(r.name).trials]
        assert {t.attempts for t in trials} == {1} and len(trials) == 24 * len(SIZES)
        assert [p.answer["verdict"] for p in store.probes()] == ["inside", "inside"]


def test_a_size_whose_fastest_trials_are_at_the_edge_does_not_count(tmp_path):
    # the best rates of the larger sizes lie above this range
    narrow = {"learning_rate": tw.log(1e-5, 6e-3), "momentum": tw.linear(0.85, 0.95)}
    answer = critical_batch(
        workload(worlds.train, tmp_path), batch_sizes=[64, 512], nuisance=narrow, trials=24
    )
    assert answer.verdict == "unknown" and answer.settings == {}
    assert not answer.sizes[-1].valid
    problems = [one.facts["why"] for one in answer.missing]
    edge = next(one.facts for one in problems if one.code == "probe.critical_batch.at_edge")
    assert (edge["column"], edge["side"]) == ("learning_rate", "high")
    assert edge["proposed"].startswith("log(")


def test_a_goal_that_too_few_reach_does_not_count(tmp_path):
    answer = critical_batch(
        workload(worlds.train, tmp_path),
        batch_sizes=[16, 64, 256],
        nuisance=SPACE,
        trials=12,
        max_train_steps=300,
        goal=1e-3,
    )
    assert answer.verdict == "unknown"
    few = [one.facts["why"] for one in answer.missing]
    assert few[0].code == "probe.critical_batch.few_reach" and few[0].facts["needed"] == 3
    assert answer.message.code == "probe.critical_batch.too_few_sizes"


def test_nothing_feasible_sets_no_goal(tmp_path):
    space = {"learning_rate": tw.log(1e-4, 1.0)}
    answer = critical_batch(
        workload(worlds.diverges, tmp_path), batch_sizes=[8, 16], nuisance=space, trials=4
    )
    assert answer.verdict == "unknown"
    facts = answer.missing[0].facts
    assert (facts["feasible"], facts["trials"]) == (0, 4)


@pytest.mark.parametrize(
    "train, means, more, says",
    [
        (worlds.in_epochs, {"max_train_steps": "epochs"}, {}, "counts epochs"),
        (worlds.in_epochs, {}, {}, "counts epochs"),
        (worlds.in_epochs, {"max_train_steps": None}, {}, 'means={"max_train_steps"'),
        (worlds.train, {}, {"max_train_steps": {8: 800, 16: 400}}, "a budget of epochs"),
        (worlds.train, {}, {"batch_sizes": [8]}, "two or more"),
        (worlds.train, {}, {"nuisance": {"momentum": tw.linear(0, 0.9)}}, "is not searched"),
        (worlds.train, {"batch_size": None}, {}, 'means={"batch_size"'),
    ],
)
def test_what_is_refused_before_any_compute(tmp_path, train, means, more, says):
    asked = {"batch_sizes": [8, 16], "nuisance": SPACE, **more}
    with pytest.raises(DesignError, match=says):
        critical_batch(workload(train, tmp_path, means=means), **asked)
    assert not (tmp_path / "tuning.db").exists()
