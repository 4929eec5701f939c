"""The lineage: decisions and baselines as a store keeps them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.store.record_parts import Point

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.launches import lineage
from tunewright.launches.lineage import Place
from tunewright.store.store import Store

ROUND = Round(
    "depth", goal="Do more layers help?", nuisance={"rate": log(1e-3, 1.0)}, trials_per_study=2
)
OLD, NEW = Place("depth", 0, {"rate": 0.1}), Place("depth", 1, {"rate": 0.2})


def points(study, count):
    return [Point({"rate": 0.1 * (i + 1)}) for i in range(count)]


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "tuning.db") as opened:
        opened.begin(ROUND, minimize("error"), Meaning(), search="halton", suggestions=points)
        yield opened


def test_a_launch_makes_its_candidate_the_baseline(store):
    assert lineage.baseline(store) is None
    lineage.first_baseline(store, OLD, why="where we began")
    assert lineage.baseline(store).place == OLD
    decision = {"verdict": "launch", "probability": 0.99, "candidate_values": [0.1, 0.2, 0.3]}
    key = lineage.keep_launch(store, decision, NEW, OLD, why="better")
    now = lineage.baseline(store)
    assert (now.place, now.launch, now.runs) == (NEW, key, 3)
    first, second = lineage.launches(store)
    assert (first.baseline, first.why) == (None, "where we began")
    assert second.candidate == NEW
    assert second.baseline == OLD
    assert second.pair == (("depth", 1), ("depth", 0))
    assert second.goal == ROUND.goal
    assert second.decision["probability"] == 0.99
    assert "@" in second.who
    assert len(lineage.baselines(store)) == 2


def test_what_is_kept_or_undecided_changes_no_baseline(store):
    for verdict in ("keep", "undecided"):
        lineage.keep_launch(store, {"verdict": verdict}, NEW, OLD)
    assert lineage.baseline(store) is None
    assert [one.verdict for one in lineage.launches(store)] == ["keep", "undecided"]


def test_how_often_a_pair_was_looked_at_and_how_many_were_tried(store):
    runs = {"candidate_values": [0.1], "baseline_values": [0.2]}
    lineage.keep_launch(store, {"verdict": "keep", **runs}, NEW, OLD)
    assert lineage.count_looks(store, NEW, OLD) == 1
    assert lineage.count_looks(store, OLD, NEW) == 0
    assert lineage.count_rivals(store, NEW, OLD) == 0
    assert lineage.count_rivals(store, replace(NEW, trial=5), OLD) == 1
    assert lineage.count_rivals(store, replace(NEW, round="width"), OLD) == 0
    lineage.keep_launch(store, {"verdict": "undecided"}, NEW, OLD)  # forbidden: nothing was run
    assert lineage.count_looks(store, NEW, OLD) == 1


def test_a_place_says_where_it_is():
    assert str(NEW) == "depth trial 1"


def test_splits_and_repeats_are_looks_at_different_runs(store):
    runs = {"verdict": "keep", "candidate_values": [1.0], "baseline_values": [1.0]}
    lineage.keep_launch(store, {**runs, "method": "pooled"}, NEW, OLD)
    assert lineage.count_looks(store, NEW, OLD) == 1
    assert lineage.count_looks(store, NEW, OLD, by_split=True) == 0
    lineage.keep_launch(store, {**runs, "method": lineage.BY_SPLIT}, NEW, OLD)
    assert lineage.count_looks(store, NEW, OLD, by_split=True) == 1
