from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.messages import Message
from tunewright.search.halton import Halton
from tunewright.store.outcome import Outcome
from tunewright.store.provenance import capture
from tunewright.store.store import Store

ROUND = Round("r", goal="?", nuisance={"lr": log(1e-4, 1e-1)}, trials_per_study=4)


def test_results_know_where_each_trial_comes_from(tmp_path: Path) -> None:
    first = replace(capture(folder=tmp_path), commit="a" * 40)
    later = replace(first, commit="b" * 40)
    with Store.open(tmp_path / "tuning.db") as store:
        record = store.begin(
            ROUND,
            minimize("error"),
            Meaning(),
            search="halton",
            suggestions=lambda study, count: Halton().suggest(study, [], count),
        )
        worker = store.register(record.id, "supervisor", exclusive=True)
        claims = store.claim(record.id, worker, 3)
        store.add_provenance(claims[0], first)
        store.add_provenance(claims[1], first)
        # a second attempt runs other code: the newest counts
        store.end(claims[1], Outcome("stopped", Message("stopped.asked"), seconds=0.0))
        (again,) = store.claim(record.id, worker, 1)
        store.add_provenance(again, later)
        origins = store.results("r").origins
    assert origins == {claims[0].trial: first, again.trial: later}
    assert again.trial == claims[1].trial


def test_a_store_without_any_has_none(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tuning.db") as store:
        store.begin(
            ROUND,
            minimize("error"),
            Meaning(),
            search="halton",
            suggestions=lambda study, count: Halton().suggest(study, [], count),
        )
        assert store.results("r").origins == {}
