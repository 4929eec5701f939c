"""Repeats: the same configuration under fresh seeds, as many as asked for in all."""

from __future__ import annotations

import sys

import pytest
from tests.execution.watching import Kept, Scripted, completed

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import Busy, DesignError, NotFound, WorkloadError
from tunewright.execution.command import command
from tunewright.execution.executors.executor import Ended
from tunewright.execution.executors.inline import Inline
from tunewright.execution.repeat import repeat, run_repeats
from tunewright.execution.run import load, run
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

KILLED = Message("program.exited", {"status": -11, "signal": "SIGSEGV"})


def train(run, learning_rate, layers=1, journal=""):
    if journal:
        with open(journal, "a") as file:
            file.write(f"{run.number} {run.attempt} {learning_rate} {run.seeds.trial}\n")
    run.log(1, valid_error=learning_rate + run.seeds.trial / 2**40)


ROUND = Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    trials_per_study=3,
)


@pytest.fixture
def workload(tmp_path):
    def make(train=train, executor=None, objective=None, store="tuning.db"):
        objective = objective or minimize("valid_error")
        return Workload(train, objective, store=tmp_path / store, executor=executor or Inline())

    return make


def test_repeats_share_the_configuration_and_differ_in_their_seeds(workload):
    best = run(ROUND, workload()).best()
    repeats = repeat(best, workload(), times=5)
    assert len(repeats) == 5
    assert repeats.of.number == best.number
    assert {t.status for t in repeats} == {"completed"}
    assert all(t.configuration == best.configuration for t in repeats)
    assert len({t.seed for t in repeats} | {best.seed}) == 6
    assert all(t.number is None and t.parent == best.number for t in repeats)
    assert repeats.values == tuple(t.value for t in repeats)
    assert len(set(repeats.values)) == 5
    assert repeats.objective == minimize("valid_error")
    assert repeats[0].folder.endswith(".repeat1")


def test_repeats_are_not_among_the_trials(workload):
    results = run(ROUND, workload())
    repeat(results.best(), workload(), times=3)
    after = load(workload().store, "depth")
    assert after.trials == results.trials
    assert after.best().number == results.best().number
    assert len(after.repeats(after.best())) == 3
    assert run(ROUND, workload()).counts == {"completed": 6}


def test_five_times_twice_means_five_in_all(workload):
    best = run(ROUND, workload()).best()
    executor = Scripted()
    first = repeat(best, workload(executor=executor), times=3)
    assert len(executor.started) == 3
    again = repeat(best, workload(executor=executor), times=3)
    assert len(executor.started) == 3
    assert again.trials == first.trials
    more = repeat(best, workload(executor=executor), times=5)
    assert len(executor.started) == 5
    assert more.trials[:3] == first.trials
    assert len(repeat(best, workload(executor=executor), times=2)) == 5


def test_candidate_and_baseline_share_seeds_pair_by_pair(workload):
    results = run(ROUND, workload())
    one = repeat(results.best(layers=1), workload(), times=3)
    two = repeat(results.best(layers=2), workload(), times=3)
    assert [t.seed for t in one] == [t.seed for t in two]


def test_an_interrupted_repeat_goes_on(workload):
    best = run(ROUND, workload()).best()

    class Breaking(Scripted):
        def events(self, timeout_s):
            raise RuntimeError("the pool is gone")

    with pytest.raises(RuntimeError):
        repeat(best, workload(executor=Breaking(lambda given: [])), times=2)
    repeats = repeat(best, workload(), times=2)
    assert [t.status for t in repeats] == ["completed", "completed"]
    assert [t.attempts for t in repeats] == [2, 2]


def test_the_watcher_sees_repeats_without_a_number(workload):
    best = run(ROUND, workload()).best()
    watch = Kept()
    repeats, summary, _ = run_repeats(best, workload(), 4, watch)
    assert watch.told[0] == ("began", "depth", 4, 0)
    assert [s.number for s in watch.all("claimed")] == [None] * 4
    assert [c.value for c in watch.all("ended")] == list(repeats.values)
    assert watch.all("best") == []
    assert summary.why == "finished"


def test_failed_and_dead_repeats_end_like_trials(workload):
    best = run(ROUND, workload()).best()

    def script(given):
        assert given.number is None
        if given.folder.name.endswith("repeat1"):
            return [Ended(given.trial, given.attempt, Outcome("died", KILLED))]
        if given.folder.name.endswith("repeat2"):
            return [
                Ended(
                    given.trial,
                    given.attempt,
                    Outcome("failed", Message("trial.failed", {"text": "no data"})),
                )
            ]
        return completed(given)

    repeats = repeat(best, workload(executor=Scripted(script)), times=3)
    assert [t.status for t in repeats] == ["failed", "failed", "completed"]
    facts = {"deaths": 3, "cause": KILLED.to_data()}
    assert repeats[0].reason == Message("trial.died_repeatedly", facts)
    assert len(repeats.values) == 1


def test_what_cannot_be_repeated_is_refused_before_compute(workload, tmp_path):
    results = run(ROUND, workload())
    best = results.best()
    (one,) = repeat(best, workload(), times=1)
    executor = Scripted()
    with pytest.raises(DesignError, match=f"repeat of trial {best.number}"):
        repeat(one, workload(executor=executor), times=1)
    for times in (0, True, 2.5):
        with pytest.raises(DesignError, match="times="):
            repeat(best, workload(executor=executor), times=times)
    with pytest.raises(DesignError, match=r"results\.best\(\)"):
        repeat(3, workload(executor=executor), times=1)
    with pytest.raises(NotFound, match=r"other\.db"):
        repeat(best, workload(store="other.db", executor=executor), times=1)
    Store.open(tmp_path / "other.db").close()
    with pytest.raises(NotFound, match="the store"):
        repeat(best, workload(store="other.db", executor=executor), times=1)

    def renamed(run, learning_rat, layers=1, journal=""):
        pass

    with pytest.raises(WorkloadError, match="Did it become learning_rat"):
        repeat(best, workload(renamed, executor), times=1)
    assert executor.started == []


def test_a_command_that_never_learns_its_seed_is_refused_with_the_remedy(workload):
    best = run(ROUND, workload()).best()
    line = f"{sys.executable} train.py --lr={{learning_rate}} --layers={{layers}} {{journal}}"
    with pytest.raises(WorkloadError, match=r"--seed=\{run.seed\}"):
        repeat(best, workload(command(line)), times=5)
    executor = Scripted()
    repeat(best, workload(command(line + " {run.seed}"), executor), times=2)
    assert len(executor.started) == 2


def test_a_running_round_is_not_repeated_beside(workload):
    best = run(ROUND, workload()).best()
    with Store.open(workload().store) as store:
        store.register(store.round("depth").id, "supervisor", exclusive=True)
        with pytest.raises(Busy, match="pid"):
            repeat(best, workload(), times=1)


def test_repeats_are_judged_as_their_parent_was(workload):
    best = run(ROUND, workload()).best()
    repeats = repeat(best, workload(objective=minimize("something_else")), times=1)
    assert repeats[0].status == "completed"
    assert repeats.objective.metric == "valid_error"
