"""Offline evaluations in the record: metrics of ended trials, on both databases."""

from __future__ import annotations

import math

import pytest

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import StoreError
from tunewright.execution.suggest import suggestions
from tunewright.search.halton import Halton
from tunewright.store.curves import pack
from tunewright.store.launches import Evaluation, looks
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

ROUND = Round("r", goal="?", nuisance={"lr": log(1e-3, 1.0)}, trials_per_study=2)


def measured(trial: int, look: int = 0, **metrics: float) -> Evaluation:
    return Evaluation(trial, 0, 20, metrics, "full", "train", "valid_error", 0.2, look)


def test_metrics_join_the_curves_of_an_ended_trial_only(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = store.begin(
            ROUND,
            minimize("valid_error"),
            Meaning(),
            search="halton",
            suggestions=suggestions(Halton()),
        )
        worker = store.register(record.id, "session", exclusive=False)
        (claim,) = store.claim(record.id, worker, 1)
        points = [pack({"valid_error": ([10, 20], [0.4, 0.2])})]
        with pytest.raises(StoreError, match="has not ended"):
            store.add_evaluation(record.id, measured(claim.trial, full=0.3))
        store.end(claim, Outcome("completed", batches=points))
        store.add_evaluation(record.id, measured(claim.trial, full=0.3, odd=math.nan))
        store.add_evaluation(record.id, measured(claim.trial, look=1, test=0.25))

        trial = store.results("r").trial(0)
        assert trial.curves["full"].steps.tolist() == [20]
        assert trial.curves["full"].values.tolist() == [0.3]
        assert math.isnan(trial.curves["odd"].values[0])
        assert (trial.value, trial.best_step, trial.status) == (0.2, 20, "completed")

        first, second = store.evaluations(record.id)
        assert first.metrics["full"] == 0.3 and math.isnan(first.metrics["odd"])
        assert (first.look, second.look) == (0, 1)
        assert second.when is not None
        assert looks(store.evaluations(), "train") == 1
        assert looks(store.evaluations(), "another") == 0
