"""Notes on a batch size: throughput that does not double, upfront costs, and later changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.probes.step_worlds import World
from tests.probes.throughput.test_batch_size import probed

import tunewright as tw
from tunewright.probes.throughput.size_answer import (
    Cost,
    costs,
    deferral_note,
    later_change,
    room_for_more,
)
from tunewright.probes.throughput.size_sweep import SizeRow
from tunewright.probes.throughput.timing import Timing

NOT_DOUBLING = "probe.batch_size.not_doubling"


def codes(answer) -> list[str]:
    return [note.code for note in answer.notes]


@pytest.mark.parametrize(
    "world, flagged",
    [
        (World(overhead_s=1e-3, per_example_s=1e-5), False),  # 2 in the time of 1
        (World(overhead_s=1e-3, per_example_s=5e-5), False),
        (World(overhead_s=1e-3, per_example_s=1e-3), True),  # half of a step grows with the batch
        (World(overhead_s=1e-5, per_example_s=1e-3), True),  # full from the first example on
    ],
)
def test_throughput_that_does_not_double_is_flagged(world: World, flagged: bool) -> None:
    answer, _ = probed(world)
    assert (NOT_DOUBLING in codes(answer)) == flagged
    assert answer.provisional == flagged == answer.message.facts["provisional"]
    if flagged:
        facts = next(n.facts for n in answer.notes if n.code == NOT_DOUBLING)
        expected = 2 * world.step_s(1) / world.step_s(2)
        assert (facts["small"], facts["large"]) == (1, 2)
        assert facts["gain"] == pytest.approx(expected, rel=0.01)


def test_noise_alone_is_not_flagged() -> None:
    flagged = 0
    for seed in range(50):
        world = World(overhead_s=1e-3, per_example_s=1e-5, noise=0.03, mood=0.03, seed=seed)
        flagged += NOT_DOUBLING in codes(probed(world)[0])
    assert flagged <= 1


def test_sizes_at_which_a_device_may_be_full_are_not_flagged() -> None:
    full = World(overhead_s=1e-5, per_example_s=1e-3)
    answer, _ = probed(full, sizes=(64, 128), smallest=64)
    assert NOT_DOUBLING not in codes(answer) and not answer.provisional


def test_an_input_bound_answer_is_provisional() -> None:
    answer, _ = probed(World(input_s=2e-3))
    assert answer.bottleneck.kind == "input" and answer.provisional


# ---- upfront


TIMES = {32: 0.1, 64: 0.1, 128: 0.1}  # steps fall as 1 / batch: 128 ends soonest


def priced(upfront) -> list:
    cost = Cost(price_per_device_hour=2.0, upfront=upfront, steps={32: 36_000.0})
    return deferral_note(costs(TIMES, cost), cost, soonest=128)


def test_a_large_upfront_cost_is_deferred() -> None:
    (note,) = priced({128: 100.0})
    assert note.code == "probe.batch_size.defer"
    assert note.facts == {
        "batch_size": 128,
        "extra": 100.0,
        "usage": pytest.approx(1.0),  # half an hour at 64
        "instead": 64,
        "trainings": pytest.approx(200.0),  # each saves a quarter of an hour
    }


@pytest.mark.parametrize("upfront", [0.0, 100.0, {}, {128: 0.5}, {32: 5.0, 64: 5.0, 128: 5.0}])
def test_what_costs_no_more_than_a_training_is_not_deferred(upfront) -> None:
    assert priced(upfront) == []


def test_the_probe_says_it() -> None:
    world = World(mb_per_example=0.1)
    plain, _ = probed(world)
    assert "probe.batch_size.defer" not in codes(plain)
    costly, _ = probed(World(mb_per_example=0.1), cost=Cost(upfront={plain.chosen: 1e6}))
    assert "probe.batch_size.defer" in codes(costly)


def test_several_processes_are_noted() -> None:
    alone, together = World(), World()
    one, _ = probed(alone)
    assert "probe.batch_size.several_processes" not in codes(one)
    two, _ = probed(together, processes=2, smallest=2, alone=alone.open)
    facts = next(n.facts for n in two.notes if n.code == "probe.batch_size.several_processes")
    assert facts["processes"] == 2 and facts["times"] == pytest.approx(2 * two.efficiency)


# ---- later


def train(run, learning_rate, batch_size=32, max_train_steps=3):
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=learning_rate)


def test_a_later_change_names_the_sizes_that_were_tuned(tmp_path: Path) -> None:
    store = tmp_path / "tuning.db"
    assert later_change(None, "batch_size", 64).facts == {"batch_size": 64, "recorded": []}
    assert later_change(store, "batch_size", 64).facts["recorded"] == []
    assert not store.exists()
    workload = tw.Workload(
        train, tw.minimize("valid_error"), store=store, executor=tw.executors.Inline()
    )
    for size in (32, 64):
        asked = tw.Round(
            f"size_{size}",
            goal="Which rate?",
            nuisance={"learning_rate": tw.log(1e-3, 1.0)},
            fixed={"batch_size": size, "max_train_steps": 3},
            trials_per_study=1,
        )
        tw.run(asked, workload)
    assert later_change(store, "batch_size", 64).facts["recorded"] == [32]
    assert later_change(store, "batch_size", 128).facts["recorded"] == [32, 64]


# ---- several trials at once


@pytest.mark.parametrize(
    "busy, processes, expected",
    [(0.35, 1, [0.35]), (0.9, 1, []), (None, 1, []), (0.35, 2, [])],
)
def test_a_device_that_idles_has_room_for_more_trials(busy, processes, expected) -> None:
    timing = Timing(10, (0.1, 0.1, 0.1), True)
    rows = [SizeRow(size, timing, None, None, None, busy_share=busy) for size in (32, 64)]
    notes = room_for_more(rows, 64, processes)
    assert [note.facts["busy_share"] for note in notes] == expected
    assert all(note.code == "probe.batch_size.pack" and "64" in note.text for note in notes)
