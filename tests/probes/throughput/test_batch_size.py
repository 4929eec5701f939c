"""The batch-size probe in known worlds: knee, largest size, verdicts, record, and real steps."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.probes.step_worlds import IDENTITY, World

import tunewright as tw
from tunewright.errors import DesignError, WorkloadError
from tunewright.messages import Message
from tunewright.probes.probe import Answer, as_document
from tunewright.probes.throughput.batch_size import probe_rig
from tunewright.probes.throughput.size_answer import BatchSizes, Cost
from tunewright.probes.throughput.size_sweep import BatchSizeTerms
from tunewright.probes.throughput.subject import Subject
from tunewright.probes.throughput.timing import TimingRule
from tunewright.store.store import Store

QUICK = TimingRule(window_s=0.02, seconds=0.12, settling=3, most_settling=6)
WORLD = Subject(print, "factory", "worlds.make_step")


def probed(world: World, store: Path | None = None, cost: Cost | None = None, **how: Any):
    again, said = how.pop("again", False), []
    alone, longest = how.pop("alone", None), how.pop("long", None)
    answer = probe_rig(
        world.open,
        WORLD,
        BatchSizeTerms(**{"smallest": 1, **how}),
        cost or Cost(),
        store,
        again=again,
        say=said.append,
        alone=alone,
        longest=longest,
    )
    return answer, said


def true_knee(world: World) -> int:
    sizes = (2**k for k in range(20))
    return next(b for b in sizes if 2 * world.step_s(b) / world.step_s(2 * b) < 1.10)


@settings(max_examples=40, deadline=None)
@given(speed=st.floats(-6.0, -4.0), seed=st.integers(0, 1000))
def test_the_knee_of_a_calm_world(speed: float, seed: int) -> None:
    world = World(per_example_s=10**speed, noise=0.002, seed=seed, mb_per_example=0.2)
    answer, _ = probed(world)
    assert abs(math.log2(answer.knee / true_knee(world))) <= 1
    assert answer.knee <= answer.largest.batch_size and world.out_of_memory == 0
    assert answer.settings == {"batch_size": answer.chosen}
    assert answer.chosen == answer.knee  # steps fall as 1 / batch: the fastest ends soonest


def test_error_rate_of_the_knee_on_a_restless_machine() -> None:
    """2 % noise of windows, 2 % between processes: within one doubling in 97 of 100 worlds."""
    off = []
    for seed in range(100):
        speed = np.random.default_rng(seed).uniform(-6, -4)
        world = World(per_example_s=10**speed, noise=0.02, mood=0.02, seed=seed, mb_per_example=0.2)
        off.append(abs(math.log2(probed(world)[0].knee / true_knee(world))) > 1)
    assert np.mean(off) <= 0.03


def test_sizes_beyond_the_knee_are_not_measured_unless_asked() -> None:
    world = World(mb_per_example=0.1)
    answer, _ = probed(world)
    assert sum(row.batch_size > answer.knee for row in answer.rows) == 2
    everything, _ = probed(World(mb_per_example=0.1), everything=True)
    assert everything.rows[-1].batch_size * 2 > everything.largest.batch_size
    assert everything.knee == answer.knee
    some, _ = probed(World(), sizes=(16, 64, 256))
    assert [row.batch_size for row in some.rows] == [16, 64, 256]


@pytest.mark.parametrize("world", [World(), World(unseen_memory=True)])
@pytest.mark.parametrize("sizes", [(32, 48, 96), (16, 64, 250), (100, 101)])
def test_exactly_the_sizes_asked_for_are_measured(world: World, sizes: tuple[int, ...]) -> None:
    answer, _ = probed(world, sizes=sizes, smallest=min(sizes), largest=max(sizes))
    assert [row.batch_size for row in answer.rows] == list(sizes)
    assert answer.chosen in sizes


def test_a_size_that_does_not_fit_is_not_tried_though_it_was_asked_for() -> None:
    world = World(mb_per_example=100.0, total_mb=8_000)
    answer, _ = probed(world, sizes=(8, 16, 48, 640), smallest=8, largest=640)
    assert [row.batch_size for row in answer.rows] == [8, 16, 48]
    assert world.out_of_memory == 0


@pytest.mark.parametrize("unseen", [False, True])
def test_a_refused_size_does_not_end_the_ladder(unseen: bool) -> None:
    world = World(refused=(8,), unseen_memory=unseen, mb_per_example=0.1)
    answer, _ = probed(world)
    plain, _ = probed(World(unseen_memory=unseen, mb_per_example=0.1))
    assert answer.knee == plain.knee > 16
    assert 8 not in [row.batch_size for row in answer.rows]
    asked, said = probed(World(refused=(48,)), sizes=(32, 48, 96), smallest=32, largest=96)
    assert [row.batch_size for row in asked.rows] == [32, 96]
    assert any("48" in line for line in said)
    with pytest.raises(WorkloadError, match="not this one"):
        probed(World(refused=(1, 2, 4)))


def test_an_edit_of_the_step_is_measured_anew(tmp_path: Path, monkeypatch: Any) -> None:
    store = tmp_path / "tuning.db"
    module = "tunewright.probes.throughput.batch_size.sources"
    monkeypatch.setattr(module, lambda function: {"steps.py": "one"})
    first, _ = probed(World(), store)
    same = World()
    again, _ = probed(same, store)
    assert again.from_record and again.knee == first.knee
    monkeypatch.setattr(module, lambda function: {"steps.py": "two"})
    edited, _ = probed(World(per_example_s=1e-4), store)
    assert not edited.from_record and edited.knee < first.knee
    assert [note.facts["what"] for note in edited.notes if note.code == "probe.changed"] == ["code"]


def test_memory_that_ends_before_the_knee() -> None:
    world = World(per_example_s=1e-7, mb_per_example=100.0, total_mb=8_000)
    answer, _ = probed(world)
    assert answer.knee == 64 and 64 <= answer.largest.batch_size <= 68
    assert world.out_of_memory == 0


@settings(max_examples=20, deadline=None)
@given(longer=st.floats(0.5, 16.0), per_example=st.floats(1.0, 40.0))
def test_the_largest_holds_for_the_longest_examples_too(longer: float, per_example: float) -> None:
    usual = World(mb_per_example=per_example, per_example_s=1e-7)
    long = World(mb_per_example=longer * per_example, per_example_s=1e-7)
    answer, said = probed(usual, long=long.open, longest={"length": 4096})
    size, limit = answer.largest.batch_size, 0.92 * 16_000
    assert usual.out_of_memory == long.out_of_memory == answer.largest.out_of_memory == 0
    assert usual.needs_mb(size) <= limit and long.needs_mb(size) <= limit
    needs_most = max(usual, long, key=lambda world: world.needs_mb(size))
    assert needs_most.needs_mb(size + 16 + size // 16) > limit  # and is the largest that does
    assert max(usual.built) <= size and answer.rows[-1].batch_size <= size
    facts = answer.message.facts
    assert (facts["largest"], facts["longest"]) == (size, "length=4096")
    assert facts["limit_found"]
    assert said[0] == "the largest with length=4096:"


def test_the_longest_examples_that_never_fit_are_refused() -> None:
    with pytest.raises(WorkloadError, match="with length=9 does not fit at all: batch size 1 "):
        probed(World(), long=World(fixed_mb=20_000).open, longest={"length": 9})


def test_the_answer_has_the_shape_of_every_answer() -> None:
    answer, said = probed(World())
    assert isinstance(answer, Answer) and answer.missing == ()
    assert answer.message.code == "probe.batch_size.chosen"
    assert answer.message.facts["largest"] == answer.largest.batch_size
    assert len(answer.headline.split()) <= 12
    assert answer.notes[0].code == "probe.batch_size.accumulation"
    assert any(line.startswith(f"batch size {answer.knee}: ") for line in said)
    document = as_document(answer)
    assert document["knee"] == answer.knee and document["probe"] == "batch_size"


def test_an_input_bound_world_is_told_apart() -> None:
    answer, _ = probed(World(input_per_example_s=5e-5))
    assert answer.bottleneck.kind == "input"
    assert answer.row(answer.knee).cached_rate is not None
    assert probed(World(input_s=1e-6))[0].bottleneck.kind == "none"


def test_a_launch_bound_world_is_told_apart() -> None:
    assert probed(World(kind="cuda", busy_share=0.3))[0].bottleneck.kind == "launch"
    assert probed(World(kind="cuda", busy_share=0.9))[0].bottleneck.kind == "none"


def test_communication_is_the_bottleneck_of_slow_networks() -> None:
    one = World()
    fast = World(per_example_s=one.per_example_s / 2)  # each of two does half of the batch
    slow = World(overhead_s=4e-3, per_example_s=2e-5)
    answer, _ = probed(slow, processes=2, smallest=2, alone=one.open)
    assert answer.bottleneck.kind == "communication" and answer.efficiency < 0.6
    assert probed(fast, processes=2, smallest=2, alone=one.open)[0].bottleneck.kind == "none"


def test_it_says_what_the_next_size_would_bring() -> None:
    calm = World(mb_per_example=0.1)
    answer, _ = probed(calm)
    beyond = answer.rows[-2]
    more = beyond.rate.examples_per_s / answer.row(answer.knee).rate.examples_per_s - 1
    following = {"batch_size": beyond.batch_size, "gain": more, "unsure": False}
    assert answer.message.facts["following"] == following
    slower = World(mb_per_example=0.1)
    slower.step_s = lambda size: 1e-3 if size <= 64 else 1e-3 * (size / 64) ** 1.2  # type: ignore
    following = probed(slower)[0].message.facts["following"]
    assert following["batch_size"] == 128 and following["gain"] == pytest.approx(-0.13, abs=0.01)
    restless = World(mb_per_example=0.1, noise=0.3, seed=2)
    answer, _ = probed(restless)
    assert answer.message.facts["following"]["unsure"]
    assert [lack.code for lack in answer.missing] == ["probe.batch_size.calmer"]


def test_a_step_that_ignores_the_batch_size_is_noticed() -> None:
    answer, _ = probed(World(per_example_s=0.0, mb_per_example=0.0), largest=64)
    assert "probe.batch_size.unused" in [note.code for note in answer.notes]


def test_nothing_fits() -> None:
    with pytest.raises(WorkloadError, match="does not fit at all: batch size 1 "):
        probed(World(fixed_mb=20_000))


# ---- the record


def test_the_same_question_again_is_free(tmp_path: Path) -> None:
    world, store = World(), tmp_path / "tuning.db"
    first, _ = probed(world, store)
    opened = world.opened
    again, _ = probed(world, store)
    assert world.opened == opened + 1  # one look at what is trained
    assert again.from_record and not first.from_record
    assert dataclasses.replace(again, from_record=False) == first
    cheap = Cost(steps={64: 1000}, critical_batch_size=64)
    assert probed(world, store, cost=cheap)[0].chosen == 64  # prices are today's
    built = len(world.built)
    probed(world, store, again=True)
    assert len(world.built) > built + 10


@pytest.mark.parametrize(
    "name, words",
    [
        ("model", "the model"),
        ("optimizer", "the optimizer"),
        ("precision", "the precision"),
        ("device", "the device"),
        ("processes", "the number of processes"),
        ("example", "the shape of an example"),
    ],
)
def test_a_change_makes_the_record_stale_and_is_named(
    tmp_path: Path, name: str, words: str
) -> None:
    store = tmp_path / "tuning.db"
    old = World(identity={**IDENTITY, "processes": "1", "example": "(8,)", name: "old"})
    new = World(identity={**IDENTITY, "processes": "1", "example": "(8,)", name: "new"})
    probed(old, store)
    answer, said = probed(new, store)
    assert not answer.from_record
    change = answer.notes[0]
    assert change == Message("probe.changed", {"what": name, "before": "old", "now": "new"})
    assert said[0] == change.text and words in said[0]
    assert probed(old, store)[0].from_record  # back again: the first answer is good again


def test_an_interrupted_probe_goes_on(tmp_path: Path) -> None:
    store, world = tmp_path / "tuning.db", World()

    class Cut(Exception):
        pass

    def say(line: str) -> None:
        if line.startswith("batch size 4: ") and "examples/s" in line:
            raise Cut

    asked = BatchSizeTerms(smallest=1)
    with pytest.raises(Cut):
        probe_rig(world.open, WORLD, asked, Cost(), store, say=say)
    assert all(rig.closed for rig in world.rigs)
    with Store.open(store) as kept:
        done = [p.answer["row"]["batch_size"] for p in kept.probes()]
    assert done == [1, 2, 4]
    world.built.clear()
    probe_rig(world.open, WORLD, asked, Cost(), store)
    # in the ladder alone, and not timed again
    assert [world.built.count(size) for size in (1, 2, 4)] == [1, 1, 1]
    assert world.built.count(8) == 2


# ---- real steps


def make_step(batch_size: int):
    import torch
    from torch import nn

    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(batch_size, 64), torch.randint(10, (batch_size,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


@pytest.mark.slow  # the quick version is on the digits, in test_real_throughput.py
def test_real_steps_within_a_memory_limit(tmp_path: Path) -> None:
    answer = tw.probes.batch_size(
        make_step,
        terms=BatchSizeTerms(
            smallest=256, sizes=[256, 1024], largest=65_536, memory_gb=0.6, rule=QUICK
        ),
        store=tmp_path / "tuning.db",
    )
    assert isinstance(answer, BatchSizes)
    assert [row.batch_size for row in answer.rows] == [256, 1024]
    assert all(row.rate.low <= row.rate.examples_per_s <= row.rate.high for row in answer.rows)
    assert answer.largest.out_of_memory == 0
    assert answer.identity["optimizer"] == "SGD (momentum)"
    assert "19,210 parameters" in answer.identity["model"]
    assert answer.identity["example"] == "(64,) float32"


def make_long_step(batch_size: int, length: int = 16):
    import torch

    def step() -> None:
        (torch.ones(batch_size, length, 256) * 2.0).sum()

    return step


@pytest.mark.slow
def test_real_steps_hold_for_the_longest_examples() -> None:
    """About 0.03 MB per example, and 0.5 MB at the longest: 0.7 GB hold some 800 of those."""
    asked = BatchSizeTerms(
        smallest=64, largest=8192, memory_gb=0.7, rule=QUICK, longest={"length": 256}
    )
    answer = tw.probes.batch_size(make_long_step, terms=asked, store=None)
    assert answer.largest.longest == "length=256" and answer.largest.out_of_memory == 0
    assert 64 < answer.largest.batch_size < 1600
    assert answer.rows[-1].batch_size <= answer.largest.batch_size
    with pytest.raises(DesignError, match=r"takes no 'lenght'.*Did you mean 'length'"):
        wrong = replace(asked, longest={"lenght": 256})
        tw.probes.batch_size(make_long_step, terms=wrong, store=None)


def test_it_is_not_called_under_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(DesignError, match="without torchrun; with processes=4"):
        tw.probes.batch_size(make_step, store=None)
