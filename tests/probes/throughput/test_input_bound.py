"""Is training waiting for its data? Planted slow stages, planted `.item()`, and worlds without."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import tunewright as tw
from tunewright.errors import DesignError, WorkloadError
from tunewright.messages import Message
from tunewright.probes.throughput.input_bound import build_answer, deep_enough, find_stalls
from tunewright.probes.throughput.loader_ladder import COPY, Depth, Loader, Rung, Stage, stages_of
from tunewright.probes.throughput.observed import Waits
from tunewright.probes.throughput.rig import Ran
from tunewright.probes.throughput.timing import TimingRule

LOADER = Loader(workers=0)
QUICK = TimingRule(window_s=0.01, seconds=0.05, settling=5, most_settling=5)


# ---- verdicts at their thresholds


def ran(step_s: float, wait_s: float, windows: int = 4) -> Ran:
    return Ran((50 * (step_s + wait_s),) * windows, ((wait_s,) * 50,) * windows, 0.0, 0.0)


def verdict(wait_share: float, slowdown: float, host_waits: float = 0.0, windows: int = 4) -> str:
    real = ran(1.0 - wait_share, wait_share, windows)
    cached = Ran((50 / slowdown,) * windows, ((0.0,) * 50,) * windows, 0.0, 0.0)
    return build_answer("f", 8, real, cached, Waits(host_waits), [], [], None).verdict


@pytest.mark.parametrize(
    "wait_share, slowdown, host_waits, expected",
    [
        (0.50, 2.0, 0.0, "input_bound"),
        (0.11, 1.12, 0.0, "input_bound"),
        (0.11, 1.05, 0.0, "watch"),  # the device worked on meanwhile
        (0.05, 1.02, 0.0, "watch"),
        (0.01, 1.01, 0.0, "fine"),
        (0.01, 1.01, 1.0, "synchronised"),
        (0.01, 1.01, 0.1, "fine"),
    ],
)
def test_verdicts(wait_share: float, slowdown: float, host_waits: float, expected: str) -> None:
    assert verdict(wait_share, slowdown, host_waits) == expected


def test_too_few_steps_and_no_batches_cannot_be_judged() -> None:
    assert verdict(0.5, 2.0, windows=3) == "cannot_judge"
    unseen = Ran((50.0,) * 4, ((),) * 4, 0.0, 0.0)
    answer = build_answer("f", 8, unseen, unseen, Waits(0.0), [], [], None)
    assert answer.verdict == "cannot_judge" and "probes.watched" in answer.missing[0].text
    assert answer.message.code == "probe.input_bound.unknown"


def test_the_fewest_workers_that_keep_up_are_advised() -> None:
    real, cached = ran(0.010, 0.010), ran(0.010, 0.0)
    ladder = [Rung(0, 50.0), Rung(1, 60.0), Rung(2, 110.0), Rung(4, 200.0)]
    stages = [Stage("read", 1e-3), Stage("decode", 15e-3), Stage("collate", 1e-3)]
    answer = build_answer("f", 8, real, cached, Waits(0.0), ladder, stages, LOADER)
    assert answer.verdict == "input_bound" and answer.settings == {"num_workers": 2}
    stage = answer.message.facts["slow_stage"]
    assert stage == {"name": "decode", "share": pytest.approx(15 / 17)}
    assert len(answer.headline.split()) <= 12
    slow = build_answer("f", 8, real, cached, Waits(0.0), ladder[:2], stages, LOADER)
    assert [note.code for note in slow.notes] == ["probe.input_bound.no_workers_keep_up"]
    assert slow.settings == {"num_workers": 1}


def test_a_deeper_prefetch_is_advised_where_it_saves_time() -> None:
    real, cached = ran(0.010, 0.010), ran(0.010, 0.0)
    ladder, mine = [Rung(1, 60.0), Rung(2, 110.0)], Loader(2, prefetch_factor=2)

    def advised(*shares: float) -> dict[str, Any]:
        depths = [Depth(f, share) for f, share in zip((2, 4, 8), shares, strict=True)]
        found = build_answer("f", 8, real, cached, Waits(0.0), ladder, [], mine, depths=depths)
        assert found.depths == tuple(depths) and found.prefetch_factor == 2
        return dict(found.settings)

    assert advised(0.30, 0.10, 0.02) == {"prefetch_factor": 8}
    assert advised(0.30, 0.10, 0.095) == {"prefetch_factor": 4}
    assert advised(0.30, 0.29, 0.28) == {}
    assert (
        deep_enough([Depth(4, 0.1), Depth(8, 0.0)], now_factor=2) is None
    )  # its own was not measured


# ---- stalls


def test_regular_stalls_are_found_and_irregular_ones_are_not() -> None:
    generator = np.random.default_rng(0)
    for period in (3, 8, 16):
        waits = generator.exponential(1e-4, 200)
        waits[period - 1 :: period] += 0.05
        found = find_stalls(waits)
        assert found is not None and found.every == period
        assert found.seconds == pytest.approx(0.05, rel=0.1)
    wrong = 0
    for seed in range(200):
        drawn = np.random.default_rng(seed)
        waits = drawn.exponential(1e-4, 200)
        waits[drawn.random(200) < 0.1] += 0.05  # as often, but at no interval
        wrong += find_stalls(waits) is not None
    assert wrong <= 4
    assert find_stalls([0.0] * 200) is None and find_stalls([]) is None


def test_stalls_are_told_with_their_likely_cause() -> None:
    waits = tuple([1e-4] * 31 + [0.05]) * 10
    real = Ran((1.0,) * 6, tuple(waits[50 * k : 50 * k + 50] for k in range(6)), 0.0, 0.0)
    cached = ran(0.010, 0.0, 6)

    def note(epoch: int | None) -> Message:
        (found,) = build_answer("f", 8, real, cached, Waits(0.0), [], [], Loader(8, epoch)).notes
        return found

    facts = {"every": 32, "ms": pytest.approx(50), "workers": 8}
    assert note(32) == Message("probe.input_bound.stalls", {**facts, "at_epoch": True})
    assert note(100) == Message("probe.input_bound.stalls", {**facts, "at_epoch": False})
    assert "where an epoch of its loader ends" in note(32).text


# ---- real processes


class Pictures:
    """A dataset with transforms, as torchvision's have; one of them is slow."""

    def __init__(self, slow_s: float) -> None:
        def decode(x: Any) -> Any:
            if slow_s:  # a sleep of 0 gives the processor away
                time.sleep(slow_s)
            return x

        def flip(x: Any) -> Any:
            return x[::-1].copy()

        class Compose:
            transforms = (decode, flip)

            def __call__(self, x: Any) -> Any:
                for each in self.transforms:
                    x = each(x)
                return x

        self.transform = Compose()
        self.data = np.random.default_rng(0).normal(size=(512, 16)).astype("float32")

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> Any:
        return self.transform(self.data[place]), place % 3


def make_step(batch_size: int, slow_s: float = 0.0, item: bool = False, direct: bool = False):
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 3))
    optimizer = torch.optim.Adam(model.parameters())

    def forever():
        while True:
            yield from DataLoader(Pictures(slow_s), batch_size, shuffle=True)

    one = torch.randn(batch_size, 16), torch.zeros(batch_size, dtype=torch.long)
    batches = iter(forever())

    def step() -> None:
        x, y = one if direct else next(batches)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if item:
            loss.item()

    return step


def probed(**fixed: Any):
    return tw.probes.input_bound(
        make_step, batch_size=4, fixed=fixed, workers=[0], rule=QUICK, store=None
    )


def test_a_planted_slow_stage_is_named() -> None:
    answer = probed(slow_s=0.002)
    assert answer.verdict == "input_bound"
    assert answer.waiting_share > 0.5 and answer.slowdown > 2
    assert answer.slow_stage is not None and answer.slow_stage.name == "decode"
    assert [stage.name for stage in answer.stages] == ["read", "decode", "flip", "collate"]
    assert answer.workers == 0 and answer.ladder[0].workers == 0
    assert answer.host_waits.per_step == 0  # Adam's own reads are not the user's


class Parcel:
    """A batch of one's own kind, whose way to the device is long."""

    def __init__(self, examples: list[Any]) -> None:
        import torch

        self.x = torch.as_tensor(np.stack([x for x, _ in examples]))
        self.y = torch.as_tensor([y for _, y in examples])

    def to(self, device: Any) -> Parcel:
        time.sleep(0.004)
        return self


def spent(stages: list[Stage]) -> dict[str, float]:
    return {stage.name: stage.seconds_per_batch for stage in stages}


def loader_of(collate: Any = None, batch_size: int | None = 4, pinned: bool = False) -> Any:
    from torch.utils.data import DataLoader

    return DataLoader(Pictures(0.0), batch_size, collate_fn=collate, pin_memory=pinned)


def test_the_copy_to_the_device_is_a_stage_of_its_own() -> None:
    import torch

    names = ["read", "decode", "flip", "collate"]
    here = spent(stages_of(loader_of(), 0.05, torch.device("cpu")))
    assert list(here) == names  # a batch that is there already is not copied
    assert list(spent(stages_of(loader_of(), 0.05))) == names
    moved = spent(stages_of(loader_of(), 0.05, torch.device("meta")))
    assert list(moved) == [*names, COPY] and 0 < moved[COPY] < 0.004
    parcels = spent(stages_of(loader_of(Parcel), 0.05, torch.device("cpu")))
    assert 0.004 <= parcels[COPY] < 0.1
    whole = spent(stages_of(loader_of(batch_size=None), 0.05, torch.device("meta")))
    assert list(whole) == [*names, COPY]  # every place is a batch


def test_a_slow_copy_is_told_from_a_slow_loader() -> None:
    real, cached = ran(0.010, 0.0001), ran(0.010, 0.0)
    stages = [Stage("read", 1e-4), Stage(COPY, 4e-3)]
    answer = build_answer("f", 8, real, cached, Waits(0.0), [], stages, LOADER)
    assert answer.verdict == "watch" and answer.copy_share == pytest.approx(0.396, abs=0.001)
    assert answer.message.code == "probe.input_bound.copies"
    assert answer.message.facts["slow_stage"] is None
    (note,) = answer.notes
    assert note.facts == {"ms": 4.0, "share": pytest.approx(0.4, abs=0.01), "pinned": False}
    with_pin = [Stage("read", 1e-4), Stage("pin", 1e-5), Stage(COPY, 4e-3)]
    pinned = build_answer("f", 8, real, cached, Waits(0.0), [], with_pin, LOADER)
    assert pinned.notes[0].facts["pinned"] and "copy with .to(" in pinned.notes[0].text
    little = build_answer("f", 8, real, cached, Waits(0.0), [], [Stage(COPY, 5e-4)], LOADER)
    assert little.verdict == "fine" and not little.notes


def test_a_planted_slow_copy_is_found() -> None:
    answer = tw.probes.input_bound(
        make_parcel_step, batch_size=4, workers=[0], steps=50, rule=QUICK, store=None
    )
    assert answer.slow_stage is not None and answer.slow_stage.name == COPY
    assert answer.copy_share > 0.1 and "probe.input_bound.slow_copy" in [
        n.code for n in answer.notes
    ]


def make_parcel_step(batch_size: int):
    batches = iter(())

    def step() -> None:
        nonlocal batches
        parcel = next(batches, None)
        if parcel is None:
            batches = iter(loader_of(Parcel, batch_size))
            parcel = next(batches)
        parcel.to("cpu").x.sum()

    return step


def test_a_planted_item_is_counted_and_found() -> None:
    answer = probed(item=True, direct=True)
    assert answer.host_waits.per_step == 1.0
    place, rate = answer.host_waits.places[0]
    assert place.startswith("test_input_bound.py:") and rate == 1.0
    assert answer.verdict == "synchronised"
    assert answer.message.facts["host_waits"]["per_step"] == 1.0
    assert answer.waiting_share is None


def test_questions_that_make_no_sense() -> None:
    with pytest.raises(DesignError, match="give the batch size"):
        tw.probes.input_bound(make_step, store=None)
    with pytest.raises(DesignError, match="at least 50"):
        tw.probes.input_bound(make_step, batch_size=4, steps=10, store=None)
    with pytest.raises(DesignError, match="0 workers or more"):
        tw.probes.input_bound(make_step, batch_size=4, workers=[-1], store=None)
    with pytest.raises(WorkloadError, match="takes no batch_size"):
        tw.probes.input_bound(lambda size: None, batch_size=4, store=None)
