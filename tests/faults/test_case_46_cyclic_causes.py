"""Case 46: exceptions that are each other's cause end a trial like any other."""

from __future__ import annotations

import time

import pytest
from tests.faults.quick_rounds import MOSTLY_SQLITE, OBJECTIVE

import tunewright as tw

PATIENCE_S = 30.0


def train(run, learning_rate):
    run.log(1, valid_error=learning_rate)
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            first = error
            raise ValueError("second") from first
    except ValueError as second:
        raise first from second


@MOSTLY_SQLITE
@pytest.mark.parametrize(
    "executor", [tw.executors.Inline(), tw.Local(workers=2)], ids=["inline", "local"]
)
def test_case_46(store_url, tmp_path, executor):
    round = tw.Round(
        "cycle",
        goal="Does it end?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=3,
    )
    folder = None if store_url.endswith(".db") else tmp_path / "trials"
    work = tw.Workload(train, OBJECTIVE, store=store_url, folder=folder, executor=executor)
    began = time.monotonic()
    results = tw.run(round, work)
    assert time.monotonic() - began < PATIENCE_S
    assert results.counts == {"failed": 3}
    assert {t.reason.code for t in results.trials} == {"trial.raised"}
    assert all("second" in t.detail for t in results.trials)
