"""Case 43: SQL metacharacters in names are inert; cells that begin a formula are quoted."""

from __future__ import annotations

import csv

import pytest
from tests.execution.watching import Scripted

import tunewright as tw
from tunewright.errors import NotFound
from tunewright.execution.executors.executor import Ended, Logged
from tunewright.execution.repeat import repeat
from tunewright.messages import Message
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

HOSTILE = "x'; DROP TABLE trial; --"
FORMULAS = ["=1+1", "+1+1", "-1+1", "@sum(a)"]


def train(run, **anything):
    pass


def test_case_43(store_url, tmp_path):
    def script(given):
        ids = (given.trial, given.attempt)
        assert given.configuration['a" OR "1"="1'] in FORMULAS
        points = pack({HOSTILE: ([1], [0.5]), "%s": ([1], [1.0]), "=cmd()": ([1], [2.0])})
        if given.number == 3:
            said = Message("trial.failed", {"text": "=HYPERLINK('x')"})
            return [Ended(*ids, Outcome("failed", said, "'; DELETE FROM trial; --"))]
        return [Logged(*ids, points), Ended(*ids, Outcome("completed"))]

    asked = tw.Round(
        HOSTILE,
        goal="'; DELETE FROM round; --",
        scientific={'a" OR "1"="1': FORMULAS},
        nuisance={"b`; --": ["?", ":name", "%(x)s", "\\"]},
        trials_per_study=2,
    )
    workload = tw.Workload(
        train,
        tw.minimize(HOSTILE),
        store=store_url,
        folder=tmp_path / "trials",
        executor=Scripted(script),
    )
    results = tw.run(asked, workload)
    assert results.counts == {"completed": 7, "failed": 1}
    assert results.trial(3).reason.facts["text"] == "=HYPERLINK('x')"
    assert set(results.trial(0).curves) == {HOSTILE, "%s", "=cmd()"}
    with Store.open(store_url) as store:
        store.note(HOSTILE, HOSTILE)
        assert [note.text for note in store.notes(HOSTILE)][-1] == HOSTILE
        with pytest.raises(NotFound):
            store.results("' OR '1'='1")
        assert [record.name for record in store.rounds()] == [HOSTILE]
    assert len(repeat(results.best(), workload, times=2)) == 2
    assert tw.load(store_url, HOSTILE).counts == {"completed": 7, "failed": 1}
    assert not [p for p in (tmp_path / "trials").rglob("*") if "DROP" in p.name], "never a path"

    with results.export(tmp_path / "out.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@") and not _is_number(cell)]
    assert "'=1+1" in cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
