"""Cases 10 and 38: the same round continues and says so; a different one is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.execution.watching import Kept, Scripted

import tunewright as tw
from tunewright.errors import RoundChanged
from tunewright.execution.run import supervise

ROUND = tw.Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
    fixed={"width": 8},
    trials_per_study=2,
)


def train(run, learning_rate, layers, width):
    pass


def test_case_10_and_38(store_url, tmp_path):
    executor = Scripted()
    workload = tw.Workload(
        train, tw.minimize("valid_error"), store=store_url, folder=tmp_path, executor=executor
    )
    first = supervise(ROUND, workload, trials=3)
    watch, records = Kept(), []
    watch.began = lambda round: records.append((round.continued, round.total, round.done))
    same = supervise(replace(ROUND, goal="Do they really?"), workload, watch=watch)
    assert records == [(True, 4, 3)], "it continues, and says so"
    assert same.round.goal == "Do they really?"
    assert same.trials[:3] == first.trials[:3]
    trained = len(executor.started)
    for change, says in [
        ({"nuisance": {"learning_rate": tw.log(1e-4, 1.0)}}, r"learning_rate"),
        ({"scientific": {"layers": [1, 2, 3]}}, r"layers"),
        ({"fixed": {"width": 9}}, r"width"),
        ({"seed": 1}, r"seed"),
    ]:
        with pytest.raises(RoundChanged, match=says) as refused:
            tw.run(replace(ROUND, **change), workload)
        assert refused.value.code == "round.changed"
    with pytest.raises(RoundChanged, match="objective"):
        tw.run(ROUND, replace(workload, objective=tw.maximize("valid_error")))
    with pytest.raises(RoundChanged, match="search"):
        tw.run(
            ROUND,
            workload,
            search=tw.search.Listed([{"learning_rate": 0.1}, {"learning_rate": 0.01}]),
        )
    assert len(executor.started) == trained, "nothing was trained"
    assert tw.load(store_url, "depth").trials == same.trials, "nothing was changed"
