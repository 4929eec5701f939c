"""How often the rounds of a store decided something by one evaluation set."""

from __future__ import annotations

from pathlib import Path

import tunewright as tw
from tunewright.probes.reuse import counted


def train(run, learning_rate, max_train_steps=5):
    for step in run.steps(max_train_steps):
        noise = (run.seeds.data % 100) / 1e4
        run.log(step, valid_error=learning_rate / step + noise, test_error=0.5)
        if learning_rate > 0.5:
            run.log(step, valid_error=float("nan"))


def test_a_store_counts_what_was_judged(tmp_path: Path) -> None:
    store = tmp_path / "tuning.db"
    workload = tw.Workload(
        train, tw.minimize("valid_error"), store=store, executor=tw.executors.Inline()
    )
    first = tw.Round(
        "first",
        goal="Which rate?",
        nuisance={"learning_rate": tw.log(1e-3, 0.5)},
        fixed={"max_train_steps": 5},
        trials_per_study=6,
    )
    results = tw.run(first, workload)
    judged = sum(trial.value is not None for trial in results.trials)
    assert judged == 6 and counted(store, "valid_error", 200).selections == 6
    tw.repeat(results.best(), workload, times=3)
    assert counted(store, "valid_error", 200).selections == 9

    other = tw.Round(
        "other",
        goal="And elsewhere?",
        nuisance={"learning_rate": tw.log(1e-3, 1.0)},
        fixed={"max_train_steps": 5},
        trials_per_study=20,
        seed=7,
    )
    wider = tw.run(other, workload)
    valued = sum(trial.value is not None for trial in wider.trials)
    assert 0 < valued < 20  # those that diverged chose nothing
    used = counted(store, "valid_error", 200)
    assert used.selections == 9 + valued
    assert used.note is not None and counted(store, "valid_error", 1000).note is None
    assert counted(store, "valid_error", 200, seed=7).selections == valued
    assert counted(store, "test_error", 200).selections == 0
