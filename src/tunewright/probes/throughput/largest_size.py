"""Which is the largest batch size that fits, found without running out of memory?

A ladder of small sizes, three steps each, gives the memory model; its prediction is tried by two
real steps in a fresh process, and corrected until it holds. Only where memory is no line in the
batch size, or cannot be seen, is it found the old way, by doubling until it fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tunewright.messages import Message
from tunewright.probes.throughput.rig import CannotStep, Device, OutOfMemory, Ran, Rig, Rigs

# ---- how much memory does a batch size take? A straight line through a few small ones.
#
# Weights, gradients and optimizer state take the same at every batch size; activations grow with
# it. So small batches, which cannot run out of memory, predict where the limit will be reached,
# and one real step there confirms it.


_STRAIGHT = 0.05  # misfit, of the growth, up to which a line is believed
_FLAT = 0.002  # growth over the whole ladder, of its peak, below which memory does not depend on it


@dataclass(frozen=True)
class MemoryPoint:
    """What one batch size took."""

    batch_size: int
    peak_mb: float


@dataclass(frozen=True)
class MemoryModel:
    """Peak memory as a line in the batch size."""

    fixed_mb: float
    mb_per_example: float
    misfit: float  # the largest distance of a point from the line, of the growth

    @property
    def straight(self) -> bool:
        """Whether predictions from it may be tried."""
        return self.misfit <= _STRAIGHT and self.mb_per_example > 0

    def peak_mb(self, batch_size: int) -> float:
        """What a batch size will take."""
        return self.fixed_mb + self.mb_per_example * batch_size

    def largest(self, limit_mb: float) -> int:
        """The largest size that stays within the limit; 0 if none does.

        >>> MemoryModel(1000.0, 2.0, 0.0).largest(5000.0)
        2000
        """
        if self.mb_per_example <= 0:
            raise ValueError("memory does not grow with the batch size")
        return max(0, int((limit_mb - self.fixed_mb) / self.mb_per_example))

    def through(self, point: MemoryPoint) -> MemoryModel:
        """The line of the same fixed part that goes through a point measured far out."""
        slope = (point.peak_mb - self.fixed_mb) / point.batch_size
        return MemoryModel(self.fixed_mb, slope, self.misfit)


def flat(points: Sequence[MemoryPoint]) -> bool:
    """Whether memory does not depend on the batch size, as far as the ladder went."""
    peaks = [point.peak_mb for point in points]
    return max(peaks) - min(peaks) <= _FLAT * max(peaks)


def fit_line(points: Sequence[MemoryPoint]) -> MemoryModel:
    """The line through the largest sizes: small ones hide below what is allocated anyway.

    >>> fit_line([MemoryPoint(b, 300.0 + 2 * b) for b in (1, 2, 4, 8)])
    MemoryModel(fixed_mb=300.0, mb_per_example=2.0, misfit=0.0)
    """
    used = sorted(points, key=lambda point: point.batch_size)[-3:]
    if len(used) < 2:
        return MemoryModel(used[0].peak_mb, 0.0, 0.0)
    middle = sum(point.batch_size for point in used) / len(used)
    mean = sum(point.peak_mb for point in used) / len(used)
    square = sum((point.batch_size - middle) ** 2 for point in used)
    slope = sum((p.batch_size - middle) * (p.peak_mb - mean) for p in used) / square
    model = MemoryModel(mean - slope * middle, slope, 0.0)
    growth = max(abs(used[-1].peak_mb - used[0].peak_mb), 1e-9)
    misfit = max(abs(model.peak_mb(p.batch_size) - p.peak_mb) for p in used) / growth
    return MemoryModel(model.fixed_mb, slope, misfit if misfit > 1e-9 else 0.0)


# ---- largest size


_SAFE = 0.92  # of the memory may be held; the rest is for what no allocator counts
_FEWEST = 4  # sizes of the ladder
_VISIBLE = 0.03  # growth, of the limit, that a slope is read from
_HALFWAY = 0.5  # of the room for examples, which the ladder does not pass
_CORRECTIONS = 4
_CLOSE = 0.03  # of the limit: a size that leaves no more than this free is the largest
_AIM = 0.99  # of the limit, for a prediction: a little too much would have to be tried again
_BISECTIONS = 6
ROUND = 8  # sizes are multiples of this, from 64 on
SETTLE = (1, 1, 1)  # windows: the first step allocates the optimizer's state

How = Literal["memory model", "doubling", "asked", "step time", "refused", "not limited"]


@dataclass(frozen=True)
class Bounds:
    """Up to which size, and within which memory, the largest is looked for."""

    most: int  # never tried above this
    unit: int = 1  # sizes are multiples: one example per process at least
    memory_mb: float | None = None  # a limit of one's own
    longest_step_s: float = 20.0  # a step that would take longer is not tried


@dataclass(frozen=True)
class Largest:
    """The largest batch size, and how it was found."""

    batch_size: int
    how: How
    limit_mb: float | None  # None: the memory cannot be seen
    reserved_mb: float | None  # what it held
    model: MemoryModel | None
    points: tuple[MemoryPoint, ...]  # of the ladder
    out_of_memory: int  # how often memory did run out on the way
    reason: str = ""  # why nothing larger was tried
    longest: str = ""  # the hyperparameters of the longest examples with which it holds too

    @property
    def may_be_larger(self) -> bool:
        """Whether larger sizes were left untried for another reason than memory."""
        return self.how not in ("memory model", "doubling")

    def surely_fits(self, size: int) -> bool:
        """Whether a size takes at most half of the memory, as far as can be measured."""
        if size <= max((point.batch_size for point in self.points), default=0):
            return True
        if self.model is None or self.limit_mb is None or not self.model.straight:
            return False
        return size <= self.batch_size and self.model.peak_mb(size) <= _HALFWAY * self.limit_mb


def limit_of(device: Device, memory_mb: float | None) -> float:
    """How much memory a batch size may hold; without end where it cannot be seen."""
    if device.total_mb is None or device.free_mb is None:
        return math.inf
    total = min(device.total_mb, memory_mb or math.inf)
    return min(_SAFE * total, device.free_mb)


@dataclass
class _Search:
    """What is known so far."""

    rigs: Rigs
    bounds: Bounds
    limit_mb: float
    say: Callable[[str], None]
    points: list[MemoryPoint] = field(default_factory=list)
    step_s: float = 0.0  # of the largest size of the ladder

    def round_down(self, size: float) -> int:
        unit = math.lcm(self.bounds.unit, ROUND) if size >= ROUND * ROUND else self.bounds.unit
        return max(int(size) - int(size) % unit, self.bounds.unit)

    @property
    def most(self) -> int:
        """The largest size worth trying: as asked, and as a step lasts no longer than allowed."""
        last = self.points[-1].batch_size
        by_time = last * self.bounds.longest_step_s / self.step_s if self.step_s else math.inf
        return self.round_down(min(self.bounds.most, max(by_time, last)))

    @property
    def seen(self) -> bool:
        """Whether the memory can be seen."""
        return math.isfinite(self.limit_mb)

    def finish(self, size: int, how: How, reserved: float, reason: str = "") -> Largest:
        model = fit_line(self.points) if self.seen and len(self.points) > 1 else None
        if self.seen and how == "memory model" and size >= self.most:
            how = "asked" if self.most == self.round_down(self.bounds.most) else "step time"
        return Largest(
            batch_size=size,
            how=how,
            limit_mb=self.limit_mb if self.seen else None,
            reserved_mb=reserved if self.seen else None,
            model=model,
            points=tuple(self.points) if self.seen else (),
            out_of_memory=self.rigs.out_of_memory,
            reason=reason,
        )

    def fits(self, size: int) -> float | None:
        """What a size holds after two real steps; None if it does not fit.

        The process is a fresh one, or one that has done nothing but such steps and gave all back.
        """
        try:
            held = self.rigs.trial(lambda rig: _build_and_run(rig, size, (1, 1))).reserved_mb or 0.0
        except OutOfMemory:
            self.say(Message("probe.progress.out_of_memory", {"batch_size": size}).text)
            return None
        limit = self.limit_mb if self.seen else None
        facts = {"batch_size": size, "held_mb": held, "limit_mb": limit}
        self.say(Message("probe.progress.fits", facts).text)
        return held

    def fits_or_refused(self, size: int) -> float | None:
        """What a size holds; None if it does not fit, or is refused."""
        try:
            return self.fits(size)
        except CannotStep as refusal:
            facts = {"batch_size": size, "error": str(refusal)}
            self.say(Message("probe.progress.refused", facts).text)
            return None


def find_largest(
    rigs: Rigs, bounds: Bounds, device: Device, first: MemoryPoint, say: Callable[[str], None]
) -> Largest:
    """Find it, beginning with what the smallest size took on its device."""
    search = _Search(rigs, bounds, limit_of(device, bounds.memory_mb), say)
    search.points.append(first)
    refused = _climb(search)
    last = search.points[-1]
    if refused:
        return search.finish(last.batch_size, "refused", last.peak_mb, refused)
    if rigs.out_of_memory:
        return _double(search, last.batch_size, last.batch_size * 2)
    if not search.seen:
        end: How = "asked" if last.batch_size * 2 > bounds.most else "step time"
        return search.finish(last.batch_size, end, 0.0)
    if len(search.points) == 1:
        return search.finish(last.batch_size, "asked", last.peak_mb)
    model = fit_line(search.points)
    if flat(search.points):
        held = search.fits_or_refused(search.most)
        if held is not None:
            return search.finish(search.most, "not limited", held)
        return _double(search, last.batch_size, search.most)
    if not model.straight:
        return _double(search, last.batch_size, None)
    return _try_prediction(search, model, last)


def both(usual: Largest, second: Largest, longest: str) -> Largest:
    """The largest size that holds for usual examples, looked for up to that of the longest."""
    failures = usual.out_of_memory + second.out_of_memory
    largest = replace(usual, out_of_memory=failures, longest=longest)
    if usual.batch_size < second.batch_size:
        return largest
    return replace(largest, how=second.how, reserved_mb=second.reserved_mb, reason=second.reason)


def _climb(search: _Search) -> str:
    """Double in small steps until the slope shows; the refusal, if the last size was refused.

    One refused size is no evidence about the next: it may be no multiple of something.
    """
    size, refused = search.points[0].batch_size, ""
    while (size := size * 2) <= search.bounds.most:
        growth = search.points[-1].peak_mb - search.points[0].peak_mb
        enough = len(search.points) >= _FEWEST and growth >= _VISIBLE * search.limit_mb
        if enough or _ahead(search) > _HALFWAY:
            break
        if search.step_s * 2 > search.bounds.longest_step_s:
            break
        try:
            _measure(search, size)
        except OutOfMemory:
            break
        except CannotStep as refusal:
            if refused:  # twice in a row: whatever is larger is refused as well
                return refused
            refused = str(refusal)
            continue
        refused = ""
    return refused


def _ahead(search: _Search) -> float:
    """How much of the room for examples the next doubling will take, of a line."""
    if len(search.points) < 2:
        return 0.0
    before, last = search.points[-2:]
    coming = last.peak_mb + 2 * (last.peak_mb - before.peak_mb) - search.points[0].peak_mb
    return coming / max(search.limit_mb - search.points[0].peak_mb, 1e-9)


def _measure(search: _Search, size: int) -> None:
    """One size of the ladder."""
    ran = search.rigs.use(lambda rig: _build_and_run(rig, size, SETTLE))
    search.points.append(MemoryPoint(size, ran.reserved_mb or 0.0))
    search.step_s = min(ran.seconds)
    facts = {"batch_size": size, "reserved_mb": ran.reserved_mb}
    search.say(Message("probe.progress.memory", facts).text)


def _build_and_run(rig: Rig, size: int, windows: Sequence[int]) -> Ran:
    rig.build(size)
    return rig.run(windows)


def _try_prediction(search: _Search, model: MemoryModel, last: MemoryPoint) -> Largest:
    """Try what the line predicts; a line through what was found there predicts better."""
    good, held = last.batch_size, last.peak_mb
    bad: int | None = None
    size = min(search.round_down(model.largest(_AIM * search.limit_mb)), search.most)
    for _ in range(_CORRECTIONS):
        if size <= good or (bad is not None and size >= bad):
            break
        try:
            needed_mb = search.fits(size)
        except CannotStep as refusal:
            doubled = last.batch_size * 2 ** int(math.log2(size / last.batch_size))
            if doubled <= good or doubled == size:
                return search.finish(good, "refused", held, str(refusal))
            size = doubled  # sizes of the ladder were accepted, so another such may be
            continue
        if needed_mb is None:
            return _double(search, good, size)
        if needed_mb <= search.limit_mb:
            good, held = size, needed_mb
            if size >= search.most or needed_mb >= (1 - _CLOSE) * search.limit_mb:
                break
        else:
            bad = size
        model = model.through(MemoryPoint(size, needed_mb))
        size = min(search.round_down(model.largest(_AIM * search.limit_mb)), search.most)
    return search.finish(good, "memory model", held)


def _double(search: _Search, good: int, bad: int | None) -> Largest:
    """Double until it fails, then halve the gap between what fits and what does not."""
    held = search.points[-1].peak_mb
    size = good * 2
    while bad is None and size <= search.most:
        needed_mb = search.fits_or_refused(size)
        if needed_mb is None or needed_mb > search.limit_mb:
            bad = size
        else:
            good, held, size = size, needed_mb, size * 2
    if bad is None:
        return search.finish(good, "asked", held)
    for _ in range(_BISECTIONS):
        size = search.round_down((good + bad) / 2)
        if size <= good or size >= bad or bad - good <= _CLOSE * good:
            break
        needed_mb = search.fits_or_refused(size)
        if needed_mb is None or needed_mb > search.limit_mb:
            bad = size
        else:
            good, held = size, needed_mb
    return search.finish(good, "doubling", held)
