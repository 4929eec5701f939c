"""Budgets: what counts, who is refused, and that recorded trials stay."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, strategies

import tunewright as tw
from tunewright.budgets.gate import Gate, through
from tunewright.budgets.state import LEDGER, in_ledger
from tunewright.errors import BudgetSpent, DesignError
from tunewright.store.store import Store

RATES = tw.Round(
    "rates", goal="?", nuisance={"rate": tw.linear(0.1, 0.9)}, trials_per_study=4, seed=1
)


def ask(store: Path, count: int) -> int:
    """Train trials of the round by hand; how many there were."""
    done = 0
    with tw.open_round(RATES, tw.minimize("error"), store) as session:
        while done < count and (trial := session.ask()) is not None:
            trial.log(1, error=trial.configuration["rate"])
            trial.finish()
            done += 1
    return done


def test_without_a_budget_nothing_is_limited(tmp_path: Path) -> None:
    assert tw.budgets.state(tmp_path / "tuning.db") is None
    assert ask(tmp_path / "tuning.db", 9) == 4


def test_a_trial_beyond_the_budget_is_refused_and_what_is_recorded_stays(tmp_path: Path) -> None:
    store = tmp_path / "tuning.db"
    tw.budgets.write(tw.budgets.Budget(trials=3), tmp_path)
    with pytest.raises(BudgetSpent) as refused:
        ask(store, 9)
    assert refused.value.code == "budget.spent"
    assert refused.value.refusal == "budget_spent"
    assert refused.value.facts["over"] == ["trials"]
    assert tw.load(store, "rates").counts == {"completed": 3, "pending": 1}
    tw.budgets.write(tw.budgets.Budget(trials=4), tmp_path)
    assert ask(store, 9) == 1
    assert ask(store, 9) == 0, "nothing is left to train, so nothing is refused"


def test_what_began_before_the_budget_does_not_count(tmp_path: Path) -> None:
    store = tmp_path / "tuning.db"
    ask(store, 2)
    time.sleep(0.01)
    tw.budgets.write(tw.budgets.Budget(trials=2), tmp_path)
    found = tw.budgets.state(store)
    assert found is not None and found.spent.trials == 0 and found.left == {"trials": 2}
    assert ask(store, 9) == 2


def test_training_that_no_store_has_goes_to_the_ledger(tmp_path: Path) -> None:
    store = tmp_path / "tuning.db"
    path = tw.budgets.write(tw.budgets.Budget(trials=2), tmp_path)
    for _ in range(2):
        with through(store, "again"):
            pass
    with pytest.raises(BudgetSpent), through(store, "again"):
        raise AssertionError("it must not begin")
    assert in_ledger(path).trials == 2
    ledger = tmp_path / LEDGER
    ledger.write_text(ledger.read_text() + '{"at": 1, "tri')  # torn
    assert in_ledger(path).trials == 2


def test_money_is_hours_times_their_price(tmp_path: Path) -> None:
    store = tmp_path / "tuning.db"
    ask(store, 1)
    budget = tw.budgets.Budget(money=1.0, price_per_hour=10.0, currency="EUR", since=1.0)
    tw.budgets.write(budget, tmp_path)
    found = tw.budgets.state(store)
    assert found is not None and found.spent.money == pytest.approx(10 * found.spent.hours)
    assert found.over == ()


def test_a_gate_counts_what_it_has_let_through(tmp_path: Path) -> None:
    tw.budgets.write(tw.budgets.Budget(trials=5), tmp_path)
    with Store.open(tmp_path / "tuning.db") as store:
        gate = Gate.of(store)
        assert gate.allows(3) == 3
        gate.count(3)
        assert gate.allows(3) == 2
        gate.count(2)
        assert gate.allows(1) == 0


@given(
    strategies.integers(0, 50),
    strategies.integers(0, 50),
    strategies.none() | strategies.integers(0, 50),
)
def test_only_more_raises_a_budget(before: int, now: int, hours: int | None) -> None:
    first = tw.budgets.Budget(trials=before, hours=hours)
    assert tw.budgets.Budget(trials=now, hours=hours).raises(first) == (now > before)
    assert tw.budgets.Budget(trials=before).raises(first) == (hours is not None)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"hours": -1}, "budget.bad_amount"),
        ({"hours": float("nan")}, "budget.bad_amount"),
        ({"trials": 1.5}, "budget.bad_trials"),
        ({"trials": True}, "budget.bad_trials"),
        ({"money": 3}, "budget.no_price"),
        ({"currency": "x" * 30}, "budget.bad_currency"),
    ],
)
def test_what_is_no_budget_is_refused(given: dict[str, object], code: str) -> None:
    with pytest.raises(DesignError) as refused:
        tw.budgets.Budget(**given)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_an_unknown_key_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "budget.toml").write_text("trails = 3\n")
    with pytest.raises(DesignError) as refused:
        tw.budgets.read(tmp_path / "budget.toml")
    assert refused.value.code == "file.unknown_key"
