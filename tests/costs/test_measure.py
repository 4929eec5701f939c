"""One short timed training: what it foretells, that it counts, and that it leaves nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import tunewright as tw
from tunewright.budgets.state import in_ledger
from tunewright.costs.measure import DOUBT, foretold, lengths, measured
from tunewright.errors import BudgetSpent, DesignError, WorkloadError
from tunewright.progress.watcher import Silent


def train(run, learning_rate=0.1, max_train_steps=200, broken=False):
    """Notes how long it was trained, in a file beside it."""
    if broken:
        raise RuntimeError("no such data set")
    with Path(TRAINED).open("a") as file:
        file.write(f"{max_train_steps}\n")
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            run.log(step, valid_error=learning_rate)


TRAINED = ""


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tw.Workload:
    monkeypatch.setattr(f"{__name__}.TRAINED", str(tmp_path / "trained"))
    monkeypatch.chdir(tmp_path)
    inline = tw.executors.Inline()
    return tw.Workload(train, tw.minimize("valid_error"), store="tuning.db", executor=inline)


@given(
    begin=st.floats(0, 1e3),
    rate=st.floats(1e-6, 10),
    steps=st.integers(1, 10**6),
    wrong=st.floats(1 / DOUBT, DOUBT),
)
def test_the_range_holds_the_truth_of_a_program_of_known_speed(
    begin: float, rate: float, steps: int, wrong: float
) -> None:
    """Also where the machine gets faster or slower later, by as much as the doubt allows."""
    few, many = lengths(steps)
    low, high = foretold((few, begin + rate * few), (many, begin + rate * many), steps)
    assert low <= begin + rate * steps <= high * (1 + 1e-9) + 1e-9
    if many < steps:
        later = wrong * (begin + rate * steps)
        assert max(low, begin + rate * many) <= max(later, begin + rate * many) * (1 + 1e-9)
        assert later <= high * (1 + 1e-9)


@given(st.integers(1, 10**6), st.none() | st.integers(1, 10**4))
def test_the_short_trainings_are_short_and_no_longer_than_the_whole(
    steps: int, every: int | None
) -> None:
    few, many = lengths(steps, every)
    assert 1 <= few <= many <= steps
    if every is None and steps >= 300:
        assert few + many <= 0.08 * steps
    if every is not None and 3 * every * -(-steps // (100 * every)) <= steps:
        assert few % every == 0, "as many evaluations for each step as in the whole"


@pytest.mark.parametrize(("quick_s", "trained"), [(0.0, [20, 60]), (1e9, [20, 60, 180, 540])])
def test_it_trains_for_a_few_steps_and_leaves_nothing(
    workload: tw.Workload, monkeypatch: pytest.MonkeyPatch, quick_s: float, trained: list[int]
) -> None:
    """Twice; and longer, up to three tenths, while a training is over too soon to be timed."""
    monkeypatch.setattr("tunewright.costs.measure.QUICK_S", quick_s)
    found = measured(workload, {"learning_rate": 0.1, "max_train_steps": 2000}, "off")
    assert [int(one) for one in Path(TRAINED).read_text().split()] == trained
    assert (found.steps, found.evaluations) == (2000, 100)
    assert found.at_most is not None and 0 < found.seconds <= found.at_most
    assert not Path("tuning.db").exists(), "nothing of it is recorded"


def test_it_counts_towards_the_budget(
    workload: tw.Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tunewright.costs.measure.QUICK_S", 1e9)
    path = tw.budgets.write(tw.budgets.Budget(trials=3), tmp_path)
    configuration = {"learning_rate": 0.1, "max_train_steps": 2000}
    tw.costs.measured(workload, configuration, "off")  # the fourth has no room
    assert in_ledger(path).trials == 3 and in_ledger(path).hours > 0
    with pytest.raises(BudgetSpent):
        measured(workload, configuration, "off")
    assert Path(TRAINED).read_text().split() == ["20", "60", "180"], "refused before it trained"


def test_what_cannot_be_shortened_is_refused(workload: tw.Workload) -> None:
    with pytest.raises(DesignError) as refused:
        measured(workload, {"learning_rate": 0.1}, "off")
    assert refused.value.code == "cost.no_length" and "max_train_steps" in str(refused.value)


def test_a_program_that_fails_is_reported(workload: tw.Workload) -> None:
    with pytest.raises(WorkloadError) as failed:
        measured(workload, {"max_train_steps": 200, "broken": True}, "off")
    assert failed.value.code == "cost.short_training" and "no such data set" in str(failed.value)


def test_a_program_that_first_logs_after_the_short_trainings_is_timed(
    workload: tw.Workload,
) -> None:
    heard: list[str] = []

    class Hears(Silent):
        def message(self, text: str) -> None:
            heard.append(text)

    def logs_late(run, max_train_steps=200):
        for step in run.steps(max_train_steps):
            if step >= 100:
                run.log(step, valid_error=0.1)

    late = replace(workload, train=logs_late)
    timing = measured(late, {"max_train_steps": 200}, Hears())
    assert timing.steps == 200 and timing.seconds > 0
    assert len(heard) == 2 and "valid_error was never logged" in heard[1]


def test_a_round_is_measured_only_where_nothing_is_known(workload: tw.Workload) -> None:
    space = {"learning_rate": tw.log(1e-3, 1)}
    fixed = {"max_train_steps": 300}
    asked = tw.Round("r", goal="?", nuisance=space, fixed=fixed, trials_per_study=4)
    assert tw.costs.of_run(asked, workload).basis == "unknown"
    cost = tw.costs.of_run(asked, workload, measure=True, progress="off")
    assert (cost.basis, cost.trainings) == ("measured", (4, 4)) and cost.hours is not None
    before = Path(TRAINED).read_text()
    tw.run(replace(asked, name="other"), workload, progress="off")
    after = Path(TRAINED).read_text()
    known = tw.costs.of_run(asked, workload, measure=True, progress="off")
    assert known.basis == "program" and Path(TRAINED).read_text() == after != before
    campaign = tw.costs.of_tune(workload, {**space, "max_train_steps": 300}, trials=20)
    assert (campaign.basis, campaign.trainings) == ("program", (20, 20))
