"""Early stopping beyond one supervisor: ask and tell, workers that join, other executors."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.execution import early_stopping as module
from tunewright.execution.asked_trial import Asked
from tunewright.execution.early_stopping import EarlyStopping, is_spared
from tunewright.execution.executors import inline
from tunewright.stats.early_stopping import LEAST
from tunewright.store.store import Store

STEPS = 40
ROUND = tw.Round(
    "level",
    goal="Which level?",
    nuisance={"level": tw.linear(0.1, 1.0)},
    fixed={"max_train_steps": STEPS},
    trials_per_study=LEAST + 20,
)
OBJECTIVE = tw.minimize("err")


def value(level: float, step: int) -> float:
    return level + 0.1 * (1 - step / STEPS) ** 4


def slowly(run: tw.protocols.Run, level: float, max_train_steps: int) -> None:
    for step in run.steps(max_train_steps):
        time.sleep(0.02)
        run.log(step, err=value(level, step))


def trained(trial: Asked, *, obeys: bool = True, last: int = STEPS) -> None:
    """Log a trial to its end, or until it is asked to stop."""
    for step in range(1, last + 1):
        trial.log(step, err=value(float(trial.configuration["level"]), step))  # type: ignore[arg-type]
        if obeys and trial.stop_asked:
            break
    trial.finish()


def begun(store: Path, count: int = LEAST) -> None:
    """The first trials of the round, all to their end, by another worker."""
    with tw.open_round(ROUND, OBJECTIVE, store) as session:
        for trial in session.ask(count):
            trained(trial)


def test_a_trial_that_is_asked_for_learns_that_it_cannot_win(tmp_path: Path) -> None:
    store = tmp_path / "t.db"
    begun(store)
    with tw.open_round(ROUND, OBJECTIVE, store, early_stopping=True) as session:
        while (trial := session.ask()) is not None:
            trained(trial)
        results = session.results()
    pruned = [t for t in results.trials if t.status == "pruned"]
    assert pruned and set(results.counts) == {"completed", "pruned"}
    assert all(not is_spared(t.seed) and len(t.curves["err"]) < STEPS for t in pruned)
    bounds = [t.bound_of("err") for t in pruned]
    assert all(bound is not None and bound > results.top(5)[-1].value for bound in bounds)  # type: ignore[operator]


def test_a_stop_that_is_not_obeyed_changes_nothing_at_the_end(tmp_path: Path) -> None:
    store = tmp_path / "t.db"
    begun(store)
    with tw.open_round(ROUND, OBJECTIVE, store, early_stopping=True) as session:
        asked = session.ask(20)
        for trial in asked[:10]:
            trained(trial, obeys=False)  # the whole schedule: its value is known
        hopeless = [t for t in asked[:10] if t.stop_asked]
        assert hopeless and all(t.status == "completed" for t in hopeless)
        for trial in asked[10:]:
            trained(trial, obeys=False, last=STEPS - 1)
        assert {t.status for t in asked[10:] if t.stop_asked} == {"pruned"}


def test_a_configuration_added_by_hand_is_never_stopped(tmp_path: Path) -> None:
    store = tmp_path / "t.db"
    begun(store)
    with tw.open_round(ROUND, OBJECTIVE, store, early_stopping=True) as session:
        trial = session.add({"level": 1.0})
        trained(trial)
        assert trial.status == "completed" and not trial.stop_asked


def test_without_the_option_nothing_is_asked_to_stop(tmp_path: Path) -> None:
    store = tmp_path / "t.db"
    begun(store)
    with tw.open_round(ROUND, OBJECTIVE, store) as session:
        trial = session.ask()
        assert trial is not None
        trained(trial)
        assert not trial.stop_asked and trial.status == "completed"


def test_what_another_worker_finishes_counts(tmp_path: Path) -> None:
    store = tmp_path / "t.db"
    begun(store, count=10)
    with Store.open(store) as opened:
        record = opened.round("level")
        early = EarlyStopping.of(opened.results("level"))
        assert early.bound((0, STEPS)) is None
        begun(store, count=LEAST - 10)
        early.catch_up(opened, record.id, now=0.0)
        bound = early.bound((0, STEPS))
        assert bound is not None and bound.curves == LEAST
        begun(store, count=5)
        early.catch_up(opened, record.id, now=module.CATCH_UP_S / 2)
        assert early.bound((0, STEPS)) is bound, "not looked at again so soon"
        early.catch_up(opened, record.id, now=module.CATCH_UP_S)
        again = early.bound((0, STEPS))
        assert again is not None and again.curves == LEAST + 5


def test_a_worker_that_joins_stops_what_cannot_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inline, "GLANCE_S", 0.01)
    begun(tmp_path / "t.db")
    workload = tw.Workload(
        slowly, OBJECTIVE, store=tmp_path / "t.db", executor=tw.executors.Inline()
    )
    counts = tw.worker("level", workload, early_stopping=True).counts
    assert counts["pruned"] > 0 and counts["completed"] >= LEAST


@pytest.mark.beyond_core
@pytest.mark.parametrize(
    "executor",
    [
        lambda: tw.Local(workers=2),
        lambda: tw.executors.Packed(trials=2, device="cpu"),
        pytest.param(lambda: tw.executors.Ray(address="local"), marks=pytest.mark.ray),
    ],
    ids=["local", "packed", "ray"],
)
def test_every_executor_stops_what_cannot_win(tmp_path: Path, executor: Any) -> None:
    store = tmp_path / "t.db"
    begun(store)
    workload = tw.Workload(slowly, OBJECTIVE, store=store, executor=executor())
    own = replace(ROUND, trials_per_study=LEAST + 10)
    results = tw.run(own, workload, progress="off", early_stopping=True)
    pruned = [t for t in results.trials if t.status == "pruned"]
    assert pruned and set(results.counts) == {"completed", "pruned"}
    assert all(t.reason and t.reason.code == "trial.pruned" and t.value is None for t in pruned)
