"""What a round, its repeats and its probes will cost, against what they then take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, update

import tunewright as tw
from tunewright.errors import DesignError
from tunewright.probes.stability import FACTORS
from tunewright.store.schema import attempt, trial

BEGINS_S, STEP_S, EVALUATION_S = 2.0, 0.01, 0.5  # of a program of known speed


def train(run, learning_rate, max_train_steps=100, warmup_steps=0, batch_size=32):
    for step in run.steps(max_train_steps):
        run.log(step, train_loss=1 / step)
        if run.eval_due(step):
            run.log(step, valid_error=learning_rate)


def of_steps(name: str, steps: int, trials: int = 4) -> tw.Round:
    space = {"learning_rate": tw.log(1e-3, 1)}
    fixed = {"max_train_steps": steps}
    return tw.Round(name, goal="?", nuisance=space, fixed=fixed, trials_per_study=trials)


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tw.Workload:
    monkeypatch.chdir(tmp_path)
    inline = tw.executors.Inline()
    return tw.Workload(train, tw.minimize("valid_error"), store="tuning.db", executor=inline)


def ran(round: tw.Round, workload: tw.Workload, steps: int) -> float:
    """Run a round; its recorded hours, in the database too, as its program of known speed takes."""
    results = tw.run(round, workload, progress="off")
    seconds = BEGINS_S + STEP_S * steps + EVALUATION_S * min(steps, 100)
    with create_engine("sqlite:///tuning.db").begin() as connection:
        own = [one.identity for one in results.trials]
        connection.execute(update(trial).where(trial.c.id.in_(own)).values(seconds=seconds))
        connection.execute(update(attempt).where(attempt.c.trial.in_(own)).values(seconds=seconds))
    again = tw.load("tuning.db", round.name)
    return sum(one.seconds for one in again.trials) / 3600


@pytest.mark.parametrize("steps", [50, 100, 400])
def test_the_range_holds_what_the_round_then_takes(workload: tw.Workload, steps: int) -> None:
    ran(of_steps("before", 100), workload, 100)
    asked = of_steps("asked", steps, trials=6)
    cost = tw.costs.of_run(asked, workload)
    assert cost.basis == ("program" if steps == 100 else "scaled") and cost.hours is not None
    took = ran(asked, workload, steps)
    assert cost.hours[0] <= took * (1 + 1e-9) and took <= cost.hours[1] * (1 + 1e-9)
    assert tw.costs.of_run(asked, workload).trainings == (0, 0), "nothing is left"


def test_the_rest_of_a_round_is_judged_by_its_own_trials(workload: tw.Workload) -> None:
    ran(of_steps("r", 100, trials=3), workload, 100)
    cost = tw.costs.of_run(of_steps("r", 100, trials=8), workload)
    assert (cost.basis, cost.seen, cost.trainings) == ("round", 3, (5, 5))
    seconds = BEGINS_S + STEP_S * 100 + EVALUATION_S * 100
    assert cost.hours == pytest.approx((5 * seconds / 3600,) * 2), "they do not vary"


def test_repeats_that_are_there_already_cost_nothing(workload: tw.Workload) -> None:
    ran(of_steps("r", 20, trials=2), workload, 20)
    best = tw.load("tuning.db", "r").best()
    assert tw.costs.of_repeat(best, workload, 5).trainings == (5, 5)
    tw.repeat(best, workload, times=2, progress="off")
    assert tw.costs.of_repeat(best, workload, 5).trainings == (3, 3)
    assert tw.costs.of_repeat(best, workload, 2).hours == (0.0, 0.0)


def test_spent_and_left_of_a_round_and_of_its_budget(workload: tw.Workload, tmp_path: Path) -> None:
    limits = tw.budgets.Budget(hours=1.0, price_per_hour=36.0, currency="EUR", since=1.0)
    tw.budgets.write(limits, tmp_path)
    hours = ran(of_steps("r", 100, trials=3), workload, 100)
    found = tw.budgets.spending(tw.load("tuning.db", "r"))
    assert (found.spent.trials, found.spent.hours) == (3, pytest.approx(hours))
    assert found.spent.money == pytest.approx(36 * hours) and found.currency == "EUR"
    assert found.left.trainings == (0, 0)
    assert found.budget is not None and found.budget.left == {"hours": pytest.approx(1 - hours)}
    assert "EUR" in str(found.message) and "left of the budget" in str(found.message)
    other = tw.budgets.spending(tw.load("tuning.db", "r"), tw.budgets.Price(1.0))
    assert other.spent.money == pytest.approx(hours)
    cost = tw.costs.of_run(of_steps("r", 100, trials=300), workload)
    assert cost.exceeds == ("hours",) and cost.price is not None and cost.money is not None


@pytest.mark.parametrize(
    ("probe", "asked", "numbers"),
    [
        ("stability", {"steps": 50}, (len(FACTORS), len(FACTORS))),
        ("clip", {"steps": 50}, (8, 16)),
        ("warmup", {"steps": 50, "repeats": 2}, (8, 38)),
        ("critical_batch", {"batch_sizes": [8, 64], "trials": 5}, (10, 10)),
        ("train_steps", {}, (7, 65)),
    ],
)
def test_a_probe_is_foretold(
    workload: tw.Workload, probe: str, asked: dict[str, object], numbers: tuple[int, int]
) -> None:
    ran(of_steps("r", 100), workload, 100)
    cost = tw.costs.of_probe(probe, workload, **asked)
    assert cost.trainings == numbers and cost.hours is not None
    assert 0 < cost.hours[0] < cost.hours[1]


def test_a_probe_trains_within_its_range(workload: tw.Workload) -> None:
    ran(of_steps("r", 100), workload, 100)
    cost = tw.costs.of_probe("stability", workload, steps=60)
    answer = tw.probes.stability(workload, steps=60, progress="off")
    assert cost.trainings[0] <= len(answer.runs) <= cost.trainings[1]
    seconds = len(answer.runs) * (BEGINS_S + 60 * STEP_S + 60 * EVALUATION_S)
    assert cost.hours is not None and cost.hours[0] <= seconds / 3600 <= cost.hours[1]


def test_an_unknown_probe_is_refused(workload: tw.Workload) -> None:
    with pytest.raises(DesignError) as refused:
        tw.costs.of_probe("stabilty", workload)
    assert refused.value.code == "cost.unknown_probe" and "stability" in str(refused.value)


def test_a_larger_batch_may_take_longer(workload: tw.Workload) -> None:
    ran(of_steps("r", 100), workload, 100)
    assert tw.load("tuning.db", "r").trials[0].configuration["batch_size"] == 32
    asked = {"trials": 2, "max_train_steps": 100}
    same, large = (
        tw.costs.of_probe("critical_batch", workload, batch_sizes=[size], **asked).hours
        for size in (32, 320)
    )
    assert same is not None and large is not None
    assert large[0] == pytest.approx(same[0]) and large[1] > 5 * same[1]


def test_the_limit_of_hours_caps_a_campaign(workload: tw.Workload) -> None:
    ran(of_steps("r", 100), workload, 100)
    space = {"learning_rate": tw.log(1e-3, 1), "max_train_steps": 100}
    free = tw.costs.of_tune(workload, space, trials=40)
    capped = tw.costs.of_tune(workload, space, trials=40, hours=0.1)
    assert free.clock_hours is not None and capped.clock_hours is not None
    assert capped.clock_hours[1] == pytest.approx(0.1) and free.clock_hours[1] > 0.11
    longer = tw.costs.of_tune(workload, space, trials=40, terms=tw.campaigns.TuneTerms(extend=5.0))
    assert longer.hours is not None and free.hours is not None
    assert longer.hours[1] > free.hours[1] and longer.basis == "scaled"


def test_what_is_asked_of_a_round_that_has_no_length(workload: tw.Workload) -> None:
    def unlimited(run, learning_rate):
        run.log(1, valid_error=learning_rate)

    other = replace(workload, train=unlimited)
    round = replace(of_steps("open", 1), fixed={})
    assert tw.costs.of_run(round, other).hours is None
    tw.run(replace(round, trials_per_study=2), other, progress="off")
    assert tw.costs.of_run(replace(round, trials_per_study=4), other).basis == "round"
