"""The columns of a round say what its results say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.store.record_parts import a_round, begin, begun, complete

import tunewright as tw
from tunewright.errors import NotFound
from tunewright.store import overview
from tunewright.store.overview import INACTIVE, STATUSES, read_overview
from tunewright.store.store import Store


def train(
    run: tw.protocols.Run,
    rate: float,
    optimizer: str,
    steps_ahead: int,
    momentum: float = 0.0,
    steps: int = 30,
) -> None:
    for step in run.steps(steps):
        if rate > 0.3 and step == 5:
            run.log(step, loss=float("nan"))
            return
        run.log(step, loss=(rate - 0.05) ** 2 + momentum / 10 + 1 / step, norm=float(step))


@pytest.fixture
def round_in_store(tmp_path: Path) -> tuple[Store, tw.types.Results]:
    path = str(tmp_path / "tuning.db")
    workload = tw.Workload(train, tw.minimize("loss"), store=path, executor=tw.executors.Inline())
    round = tw.Round(
        "r",
        goal="q",
        scientific={"steps_ahead": [0, 1]},
        nuisance={
            "rate": tw.log(1e-3, 1),
            "optimizer": tw.given({"sgd": {"momentum": tw.linear(0, 0.9)}, "adam": {}}),
        },
        trials_per_study=8,
    )
    results = tw.run(round, workload)
    tw.repeat(results.best(), workload, times=2)
    return Store.open(path, read_only=True), tw.load(path, "r")


def test_the_columns_are_those_of_the_results(
    round_in_store: tuple[Store, tw.types.Results],
) -> None:
    store, results = round_in_store
    columns = read_overview(store, "r")
    assert len(columns) == len(results.trials) and columns.repeats == 2
    assert [STATUSES[s] for s in columns.statuses] == [t.status for t in results.trials]
    assert columns.numbers.tolist() == [t.number for t in results.trials]
    assert columns.studies.tolist() == [t.study for t in results.trials]
    for at, trial in enumerate(results.trials):
        expected = np.nan if trial.value is None else trial.value
        np.testing.assert_equal(columns.values[at], expected)
        assert columns.steps[at] == (-1 if trial.best_step is None else trial.best_step)
        for place, column in enumerate(columns.columns):
            found = columns.positions[at, place]
            if column in trial.unit:
                assert found / 65_534 == pytest.approx(trial.unit[column], abs=1e-5)
            else:
                assert found == INACTIVE
    assert (columns.positions == INACTIVE).any() and not (columns.positions == INACTIVE).all()
    best = [int(columns.numbers[row]) for row in columns.best(5)]
    assert best == [trial.number for trial in results.top(5)]


def test_some_trials_only(round_in_store: tuple[Store, tw.types.Results]) -> None:
    store, results = round_in_store
    chosen = [results.trial(3).identity, results.trial(1).identity]
    assert read_overview(store, "r", chosen).numbers.tolist() == [1, 3]


def test_metrics_and_buckets_of_a_round(round_in_store: tuple[Store, tw.types.Results]) -> None:
    store, results = round_in_store
    key = store.round("r").id
    assert set(overview.metrics_of(store, key)) == {"loss", "norm"}
    found = dict(overview.buckets(store, key, "norm", [results.best().identity]))
    assert list(found) == [results.best().identity]
    assert np.nanmax(found[results.best().identity].high) == 30


def test_the_state_of_every_trial(round_in_store: tuple[Store, tw.types.Results]) -> None:
    store, results = round_in_store
    best = results.best()
    found = overview.states(store, store.round("r").id)
    assert found[best.identity][:2] == ("completed", 1) and len(found) == len(results.trials) + 2


def test_the_best_trial_without_the_rest(round_in_store: tuple[Store, tw.types.Results]) -> None:
    store, results = round_in_store
    best = overview.best_of(store, store.round("r"))
    assert best is not None
    assert (best.number, best.value) == (results.best().number, results.best().value)


def test_a_round_of_declared_trials_has_no_best_and_all_of_them_wait(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db") as store:
        record = begin(store, a_round(trials_per_study=300), ahead=True)
        assert overview.best_of(store, record) is None
        assert overview.stamps(store) == {}
        made = read_overview(store, "depth")
        assert made.numbers.tolist() == list(range(600))
        assert {STATUSES[status] for status in made.statuses} == {"pending"}
        assert made.studies.tolist() == [0, 1] * 300
        without_row = made.keys < 0
        assert without_row.sum() == 600 - 2 * (record.made or 300) > 0
        assert np.isnan(made.values).all() and (made.steps == -1).all()


def test_a_stamp_changes_with_every_trial_that_ends(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db") as store:
        record, worker = begun(store)
        seen = [overview.stamps(store)]
        for claim in store.claim(record.id, worker, 3):
            complete(store, claim)
            seen.append(overview.stamps(store))
        assert len({str(one) for one in seen}) == 4
        assert list(seen[-1]) == [record.id] and seen[-1][record.id][0] == 3


def test_a_key_by_name(tmp_path: Path) -> None:
    with Store.open(tmp_path / "t.db") as store:
        record = begin(store)
        assert overview.round_key(store, "depth") == record.id
        with pytest.raises(NotFound):
            overview.round_key(store, "width")
