"""Known worlds for the throughput probes: steps whose time, memory and noise are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tunewright.probes.throughput.observed import Waits
from tunewright.probes.throughput.rig import CannotStep, Device, OutOfMemory, Ran

IDENTITY = {"model": "world", "optimizer": "SGD", "precision": "float32", "device": "world"}


@dataclass
class World:
    """A step of `overhead_s + per_example_s * batch` with noise, in limited memory."""

    overhead_s: float = 1e-3
    per_example_s: float = 1e-5
    noise: float = 0.0  # relative, of each window
    mood: float = 0.0  # relative, of each fresh process
    fixed_mb: float = 500.0
    mb_per_example: float = 2.0
    memory_mb: Callable[[int], float] | None = None  # instead of the line
    total_mb: float = 16_000.0
    fragmented: float = 1.0  # reserved over allocated
    input_s: float = 0.0  # waited for each batch
    input_per_example_s: float = 0.0
    busy_share: float | None = None
    unseen_memory: bool = False  # as of a command on a GPU
    most: int | None = None  # larger ones are refused, as by a small dataset
    refused: tuple[int, ...] = ()  # sizes that raise a ValueError
    leaks: float = 0.0  # share of what a size took that it leaves behind in its process
    builds_once: bool = False  # as what joins a process group
    kind: str = "cpu"
    identity: dict[str, str] = field(default_factory=lambda: dict(IDENTITY))
    seed: int = 0

    def __post_init__(self) -> None:
        self.generator = np.random.default_rng(self.seed)
        self.opened = self.out_of_memory = 0
        self.built: list[int] = []
        self.rigs: list[WorldRig] = []

    def step_s(self, size: int) -> float:
        return self.overhead_s + self.per_example_s * size

    def wait_s(self, size: int) -> float:
        return self.input_s + self.input_per_example_s * size

    def needs_mb(self, size: int) -> float:
        if self.memory_mb is not None:
            return self.memory_mb(size)
        return self.fixed_mb + self.mb_per_example * size

    def open(self) -> WorldRig:
        self.opened += 1
        self.rigs.append(WorldRig(self))
        return self.rigs[-1]

    def held_by_others(self, rig: WorldRig) -> float:
        """Memory that other processes hold at the same time."""
        return sum(each.held_mb for each in self.rigs if each is not rig)


class WorldRig:
    """One fresh process of a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.pace = float(np.exp(world.mood * world.generator.normal()))
        self.size = 0
        self.sizes: list[int] = []  # built here, one after the other
        self.held_mb = self.left_mb = 0.0
        self.closed = False

    def build(self, batch_size: int, synthetic: bool = False) -> Device:
        world = self.world
        assert not self.closed
        if world.most is not None and batch_size > world.most:
            raise CannotStep(
                "error.text", text=f"world failed at {batch_size}: only {world.most} examples."
            )
        if batch_size in world.refused:
            raise CannotStep(
                "error.text", text=f"world failed at {batch_size}: ValueError: not this one."
            )
        if world.builds_once and self.sizes:
            raise CannotStep("error.text", text="world failed: it has been built before.")
        self.size = batch_size
        self.sizes.append(batch_size)
        world.built.append(batch_size)
        seen = None if world.unseen_memory else world.total_mb
        return Device(world.kind, seen, seen)

    def run(
        self, windows: Sequence[int], cached: Sequence[bool] = (), count_waits: bool = False
    ) -> Ran:
        world = self.world
        held = world.needs_mb(self.size) * world.fragmented + self.left_mb
        if held + world.held_by_others(self) > world.total_mb:
            world.out_of_memory += 1
            raise OutOfMemory("the world is full")
        self.held_mb = held
        seconds, waits = [], []
        for steps, no_input in zip(windows, cached or [False] * len(windows), strict=True):
            wait = 0.0 if no_input else world.wait_s(self.size)
            noise = float(np.exp(world.noise * world.generator.normal()))
            seconds.append(steps * (world.step_s(self.size) + wait) * self.pace * noise)
            waits.append((wait,) * steps if world.wait_s(self.size) else ())
        found = None
        if count_waits:
            busy = None if world.busy_share is None else world.busy_share * seconds[0] / windows[0]
            found = Waits(0.0, (), busy)
        memory = (None, None) if world.unseen_memory else (world.needs_mb(self.size), held)
        return Ran(tuple(seconds), tuple(waits), *memory, found)

    def identify(self) -> dict[str, str]:
        return dict(self.world.identity)

    def rest(self) -> float:
        self.held_mb = self.left_mb = self.held_mb * self.world.leaks
        return self.left_mb / self.world.total_mb

    def close(self) -> None:
        self.closed = True
        self.held_mb = 0.0
