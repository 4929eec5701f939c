"""Worlds of changes for `bench/referee.py`: what a change does, how noisy a run is, what drifts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
FAMILIES = 8


@dataclass
class World:
    """A stream of changes for many lineages at once; losses, noise sd about 1, start at zero."""

    name: str
    good: float = 0.0
    bad: float = 0.0
    mean_good: float = 1.0
    mean_bad: float = 1.0
    tail: float = 0.0  # degrees of freedom of the noise, scaled to sd 1; 0: normal
    walk: float = 0.0  # sd of the machine's step between two runs
    normal: tuple[float, float] | None = None  # effects are normal with this mean and sd
    families: bool = False  # a good change does half as much for each kept one of its family
    what: str = ""

    def effects(self, random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        """The effect of every change on its own; positive is better."""
        if self.normal is not None:
            return random.normal(*self.normal, shape)
        kind = random.random(shape)
        up, down = (
            random.exponential(self.mean_good, shape),
            random.exponential(self.mean_bad, shape),
        )
        return np.where(kind < self.good, up, np.where(kind < self.good + self.bad, -down, 0.0))

    def noise(self, random: np.random.Generator, count: int) -> Floats:
        """The noise of one run of each lineage."""
        if self.tail:
            return random.standard_t(self.tail, count) / np.sqrt(self.tail / (self.tail - 2))
        return random.normal(size=count)


WORLDS = (
    World("rich", 0.15, 0.45, 1.0, 2.0, what="15 % good, mean 1 sd; 45 % bad, mean 2 sd"),
    World("late", 0.10, 0.45, 0.3, 0.7, what="10 % good, mean 0.3 sd; 45 % bad, mean 0.7 sd"),
    World("null", what="no change does anything"),
    World(
        "drift",
        0.15,
        0.45,
        0.7,
        1.5,
        walk=0.05,
        what="15 % good, mean 0.7; 45 % bad, mean 1.5; the machine walks by 0.05 sd per run",
    ),
    World(
        "interacting",
        0.15,
        0.45,
        0.7,
        1.5,
        families=True,
        what="as drift without it; a good change does half for each kept one of its family (of 8)",
    ),
    World(
        "heavy tails",
        0.15,
        0.45,
        0.7,
        1.5,
        tail=2.5,
        what="the same effects; noise is Student-t with 2.5 degrees of freedom, sd 1",
    ),
    World("wrong prior", normal=(-0.3, 0.5), what="every change does something: normal, -0.3, 0.5"),
    World("large", 0.3, 0.5, 4.0, 6.0, what="30 % good, mean 4 sd; 50 % bad, mean 6 sd"),
)


@dataclass
class Stream:
    """The changes that each lineage meets, the same for every rule, and where each lineage is."""

    world: World
    random: np.random.Generator
    effects: Floats  # (lineages, changes)
    family: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64] = field(init=False)  # the change under judgement
    true: Floats = field(init=False)  # gain so far
    level: Floats = field(init=False)  # what the machine adds to every loss
    kept: npt.NDArray[np.int64] = field(init=False)
    useless: npt.NDArray[np.int64] = field(init=False)  # kept ones that do nothing or harm

    def __post_init__(self) -> None:
        count = len(self.effects)
        self.at = np.zeros(count, dtype=np.int64)
        self.true, self.level = np.zeros(count), np.zeros(count)
        self.kept, self.useless = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self.counts = np.zeros((count, FAMILIES), dtype=np.int64)

    @classmethod
    def of(cls, world: World, lineages: int, changes: int, seed: int, rule: int) -> Stream:
        """The same changes for every rule; noise of its own."""
        shared = np.random.default_rng([seed, sum(map(ord, world.name))])
        effects = world.effects(shared, (lineages, changes))
        family = shared.integers(0, FAMILIES, (lineages, changes))
        own = np.random.default_rng([seed, sum(map(ord, world.name)), rule])
        return cls(world, own, effects, family)

    @property
    def effect(self) -> Floats:
        """What the change under judgement does now."""
        rows = np.arange(len(self.effects))
        own = self.effects[rows, self.at]
        if self.world.families:
            known = self.counts[rows, self.family[rows, self.at]]
            own = np.where(own > 0, own * 0.5**known, own)
        return own

    def run(self, changed: npt.NDArray[np.bool_] | bool = True) -> Floats:
        """One run of each lineage: of its change, or of its baseline."""
        self.level = self.level + self.world.walk * self.random.normal(size=len(self.level))
        noise = self.world.noise(self.random, len(self.true))
        return self.level - self.true - np.where(changed, self.effect, 0.0) + noise

    def decide(self, done: npt.NDArray[np.bool_], keep: npt.NDArray[np.bool_]) -> None:
        """Go to the next change where one is judged."""
        keep = done & keep
        effect, rows = self.effect, np.arange(len(self.true))
        self.true = np.where(keep, self.true + effect, self.true)
        self.kept += keep
        self.useless += keep & (effect <= 0)
        self.counts[rows[keep], self.family[rows, self.at][keep]] += 1
        self.at = np.minimum(self.at + done, self.effects.shape[1] - 1)
