"""How fast is the input pipeline alone, with how many workers, and which of its stages is slow?

Works on the `DataLoader` that the training itself uses: iterated without training at several
numbers of workers, and taken apart in one process: reading an example, each of its transforms,
collating, pinning, copying to the device.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

# ---- what is a stage of the input pipeline like? The same result again, the same on a whole
# batch?
#
# A stage that gives the same result again can be done once, ahead of training. One that gives the
# same on a stack of examples as on each can run after batching. Both are tried on real examples;
# what cannot be tried is not known (None), and nothing is advised about it.


_TRIED = 16  # examples in a stack
_REPEATED = 5  # timings, of which the best counts


def same_again(stage: Callable[[Any], Any], value: Any) -> bool | None:
    """Whether a stage gives the same result twice; None where results cannot be compared.

    >>> import random
    >>> same_again(lambda x: 2 * x, 3), same_again(lambda x: random.random(), 3)
    (True, False)
    """
    try:
        first, *others = (stage(copy.deepcopy(value)) for _ in range(3))
        return _all([equal(first, other) for other in others])
    except Exception:
        return None


def speedup_on_batch(stage: Callable[[Any], Any], values: Sequence[Any]) -> float | None:
    """How much faster a stage is on a stack of examples; None where the results are not the same.

    >>> speedup_on_batch(lambda x: x[::-1], [np.arange(3), np.arange(3) + 1]) is None
    True
    """
    values = list(values)[:_TRIED]
    try:
        stacked = _stack(values)
        if stacked is None:
            return None
        together = stage(copy.deepcopy(stacked))
        apart = _stack([stage(copy.deepcopy(value)) for value in values])
        if apart is None or not _close(together, apart):
            return None
        each = _fastest(lambda: [stage(value) for value in values])
        return each / max(_fastest(lambda: stage(stacked)), 1e-9)
    except Exception:
        return None


def equal(left: Any, right: Any) -> bool | None:
    """Whether two examples are the same; None where that cannot be seen.

    >>> equal((np.ones(2), "a"), (np.ones(2), "a")), equal(object(), object())
    (True, None)
    """
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.dtype == right.dtype and bool(np.array_equal(left, right))
    if hasattr(left, "detach") and hasattr(right, "detach"):
        return equal(left.detach().cpu().numpy(), right.detach().cpu().numpy())
    if hasattr(left, "tobytes") and hasattr(right, "tobytes"):  # an image
        return bool(left.tobytes() == right.tobytes())
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and _all(equal(left[name], right[name]) for name in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and _all(
            equal(a, b) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, int | float | str | bytes | bool | None):
        return bool(left == right)
    return None


def size_of(example: Any) -> int | None:
    """The bytes of an example; None where they cannot be seen.

    >>> size_of((np.zeros(4, "float32"), 1))
    24
    """
    if hasattr(example, "nbytes"):
        return int(example.nbytes)
    if isinstance(example, str | bytes):
        return len(example)
    if isinstance(example, int | float | bool | None):
        return 8
    if hasattr(example, "tobytes"):
        return len(example.tobytes())
    parts = example.values() if isinstance(example, Mapping) else example
    if not isinstance(example, Mapping | list | tuple):
        return None
    sizes = [size_of(part) for part in parts]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _all(results: Any) -> bool | None:
    answers = list(results)
    return None if None in answers else all(answers)


def _stack(values: Sequence[Any]) -> Any:
    if len(values) < 2:
        return None
    if all(isinstance(value, np.ndarray) for value in values):
        return np.stack(values)
    if all(hasattr(value, "detach") for value in values):
        import torch

        return torch.stack(list(values))
    return None


def _close(left: Any, right: Any) -> bool:
    if hasattr(left, "detach"):
        left, right = left.detach().cpu().numpy(), right.detach().cpu().numpy()
    same = type(left) is type(right) and left.shape == right.shape and left.dtype == right.dtype
    return bool(same and np.allclose(left, right, rtol=1e-4, atol=1e-6, equal_nan=True))


def _fastest(work: Callable[[], Any]) -> float:
    spent = []
    for _ in range(_REPEATED):
        before = time.perf_counter()
        work()
        spent.append(time.perf_counter() - before)
    return min(spent)


# ---- loader ladder


_WARMING = 2  # batches before the clock starts: workers have to come up
PIN, COPY = "pin", "copy to the device"
_TRANSFORMS = ("transform", "transforms")  # where datasets keep them, by torchvision's custom


@dataclasses.dataclass(frozen=True)
class Rung:
    """The input pipeline alone at a number of workers."""

    workers: int
    batches_per_s: float


@dataclasses.dataclass(frozen=True)
class Stage:
    """One stage of the input pipeline, in one process."""

    name: str
    seconds_per_batch: float
    waiting_share: float | None = None  # of its time off the processor: it waits for data
    same_again: bool | None = None  # whether it gives the same result twice; None: not known
    batched_speedup: float | None = None  # on a stack of examples, if the result is the same


@dataclasses.dataclass(frozen=True)
class Depth:
    """How long training would wait for the loader at a number of batches loaded ahead."""

    prefetch_factor: int  # batches ahead of each worker
    waiting_share: float


@dataclasses.dataclass(frozen=True)
class Loader:
    """The DataLoader that the training iterates."""

    workers: int
    epoch: int | None = None  # batches; None: without an end
    prefetch_factor: int | None = None  # None without workers
    examples_mb: float | None = None  # of the whole data set, as its examples leave it


def describe_loader(loader: Any) -> Loader | None:
    """What a loader is set to; None where there is none."""
    if loader is None:
        return None
    try:
        epoch = len(loader)
    except TypeError:  # without an end
        epoch = None
    return Loader(int(loader.num_workers), epoch, loader.prefetch_factor, _examples_mb(loader))


def waits_at(
    loader: Any, workers: int, factors: Sequence[int], step_s: float, seconds: float
) -> list[Depth]:
    """How long a training that takes a batch every `step_s` waits, at each prefetch factor."""
    return [
        Depth(factor, _waiting(_with_workers(loader, workers, factor), step_s, seconds))
        for factor in factors
    ]


def climb(loader: Any, workers: Sequence[int], seconds: float) -> list[tuple[int, float]]:
    """Batches per second of the loader alone at each number of workers; none without a loader."""
    if loader is None:
        return []
    return [(count, _rate(_with_workers(loader, count), seconds)) for count in workers]


def stages_of(loader: Any, seconds: float, device: Any = None) -> list[Stage]:
    """What each stage takes and is like, in the order in which they happen.

    The last, of a batch that is not on the device already, is its copy there, waited for.
    """
    if loader is None or _is_stream(loader.dataset):
        return []  # a stream has no places to read one example from
    places = _places(loader)
    batch = next(places)
    steps = _chain(loader.dataset)
    names = [name for name, _ in steps]
    spent = dict.fromkeys([*names, "collate"], 0.0)
    worked = dict.fromkeys(names, 0.0)  # on the processor
    pins = bool(loader.pin_memory)
    count, until = 0, time.perf_counter() + seconds
    while count < 2 or (time.perf_counter() < until and count < 100):
        examples = []
        for place in batch:
            value: Any = place
            for name, stage in steps:
                before, busy = time.perf_counter(), time.process_time()
                value = stage(value)
                worked[name] += time.process_time() - busy
                spent[name] += time.perf_counter() - before
            examples.append(value)
        before = time.perf_counter()
        collated = loader.collate_fn(examples if loader.batch_sampler is not None else examples[0])
        spent["collate"] += time.perf_counter() - before
        if pins:
            before = time.perf_counter()
            collated = _pin(collated)
            spent[PIN] = spent.get(PIN, 0.0) + time.perf_counter() - before
        if device is not None:
            before = time.perf_counter()
            if _copy_to_device(collated, device, pins):
                _wait(device)
                spent[COPY] = spent.get(COPY, 0.0) + time.perf_counter() - before
        count, batch = count + 1, next(places, batch)
    traits = _traits(loader.dataset, list(batch)) if count else {}
    return [
        Stage(
            name,
            total / count,
            max(0.0, 1 - worked[name] / total) if total > 0 and name in worked else None,
            *traits.get(name, (None, None)),
        )
        for name, total in spent.items()
    ]


def _traits(dataset: Any, places: Sequence[Any]) -> dict[str, tuple[bool | None, float | None]]:
    """Of each stage: whether it gives the same again, and how much faster it is on a batch."""
    (first, read), *_ = chain = _chain(dataset)
    traits: dict[str, tuple[bool | None, float | None]] = {
        first: (same_again(read, places[0]), None)
    }
    values = [read(place) for place in places[:_TRIED]]
    for (name, _), part in zip(chain[1:], _parts(dataset), strict=True):
        traits[name] = (same_again(part, values[0]), speedup_on_batch(part, values))
        values = [part(value) for value in values]
    return traits


def _examples_mb(loader: Any) -> float | None:
    """What all examples take, by the first one; None where it cannot be seen."""
    if _is_stream(loader.dataset):
        return None
    try:
        size, count = size_of(loader.dataset[0]), len(loader.dataset)
    except Exception:  # of a program: no length, or no such place
        return None
    return None if size is None else size * count / 2**20


def _chain(dataset: Any) -> list[tuple[str, Callable[[Any], Any]]]:
    """The stages of one example. What has transforms is read without them, then transformed."""
    parts = _parts(dataset)
    if not parts:
        return [("read", dataset.__getitem__)]
    seen: dict[int, Any] = {}

    def read(place: Any) -> Any:
        """The example with the transform taken out, and what the transform is given."""
        given: list[Any] = []
        bare = _Bare(dataset, given)
        seen[0] = bare.read(place)
        return given[0] if given else seen[0]

    chain: list[tuple[str, Callable[[Any], Any]]] = [("read", read)]
    chain += [(_name(part), part) for part in parts]

    def whole(value: Any) -> Any:
        example = seen[0]
        return (value, *example[1:]) if isinstance(example, tuple) else value

    last_name, last = chain[-1]
    chain[-1] = (last_name, lambda value: whole(last(value)))
    return chain


def _parts(dataset: Any) -> list[Callable[[Any], Any]]:
    """The transforms of a dataset, one by one; none where it has none."""
    transform = next((t for n in _TRANSFORMS if (t := getattr(dataset, n, None)) is not None), None)
    if transform is None or not callable(transform):
        return []
    return list(getattr(transform, "transforms", None) or [transform])


class _Bare:
    """A dataset read with its transform replaced by one that only notes what it is given."""

    def __init__(self, dataset: Any, given: list[Any]) -> None:
        self._dataset, self._given = dataset, given
        self._name = next(n for n in _TRANSFORMS if getattr(dataset, n, None) is not None)

    def read(self, place: Any) -> Any:
        kept = getattr(self._dataset, self._name)
        setattr(self._dataset, self._name, self._note)
        try:
            return self._dataset[place]
        finally:
            setattr(self._dataset, self._name, kept)

    def _note(self, value: Any, *rest: Any) -> Any:
        self._given.append(value)
        return (value, *rest) if rest else value


def _name(part: Any) -> str:
    return str(getattr(part, "__name__", type(part).__name__))


def _places(loader: Any) -> Iterator[list[Any]]:
    """The places of batch after batch, over and over; of a dataset of whole batches, one each."""
    sampler = loader.batch_sampler
    if sampler is None:
        return ([place] for _ in itertools.count() for place in loader.sampler)
    return itertools.chain.from_iterable(
        [list(batch) for batch in itertools.islice(sampler, 100)] for _ in itertools.count()
    )


def _is_stream(dataset: Any) -> bool:
    """Whether it is read in order only; every dataset of torch has a `__getitem__`, in name."""
    from torch.utils.data import IterableDataset

    return isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__")


def _with_workers(loader: Any, workers: int, prefetch_factor: int | None = None) -> Any:
    from torch.utils.data import DataLoader

    given: dict[str, Any] = {
        "collate_fn": loader.collate_fn,
        "num_workers": workers,
        "worker_init_fn": loader.worker_init_fn,
        "multiprocessing_context": loader.multiprocessing_context if workers else None,
        "pin_memory": loader.pin_memory,
    }
    if workers:  # as the training has them; a loader without workers refuses them
        given |= {
            "persistent_workers": loader.persistent_workers,
            "prefetch_factor": prefetch_factor or loader.prefetch_factor,
            "timeout": loader.timeout,
        }
    if _is_stream(loader.dataset):
        ends = {"drop_last": loader.drop_last} if loader.batch_size is not None else {}
        return DataLoader(loader.dataset, batch_size=loader.batch_size, **ends, **given)
    if loader.batch_sampler is None:
        return DataLoader(loader.dataset, batch_size=None, sampler=loader.sampler, **given)
    return DataLoader(loader.dataset, batch_sampler=loader.batch_sampler, **given)


def _rate(loader: Any, seconds: float) -> float:
    """Batches per second; over and over, if the data ends too soon."""
    warming = _WARMING + int(loader.num_workers)
    batches = itertools.chain.from_iterable(loader for _ in itertools.count())
    for _ in itertools.islice(batches, warming):
        pass
    started, count = time.perf_counter(), 0
    for _ in batches:
        count += 1
        if time.perf_counter() - started >= seconds and count >= 3:
            break
    return count / (time.perf_counter() - started)


def _waiting(loader: Any, step_s: float, seconds: float) -> float:
    """The share of its time that a step of this length waits for the loader, after a while."""
    batches = itertools.chain.from_iterable(loader for _ in itertools.count())
    for _ in itertools.islice(batches, _WARMING + int(loader.num_workers)):
        time.sleep(step_s)
    started, waited, count = time.perf_counter(), 0.0, 0
    while count < 3 or time.perf_counter() - started < seconds:
        before = time.perf_counter()
        next(batches)
        waited += time.perf_counter() - before
        time.sleep(step_s)
        count += 1
    return waited / (time.perf_counter() - started)


def _pin(batch: Any) -> Any:
    pinning: Any = importlib.import_module("torch.utils.data._utils.pin_memory")
    return pinning.pin_memory(batch)


def _copy_to_device(batch: Any, device: Any, pinned: bool) -> bool:
    """Copy every part of a batch to the device; whether anything was not there yet."""
    import torch

    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=pinned) is not batch
    if isinstance(batch, Mapping):
        return any([_copy_to_device(part, device, pinned) for part in batch.values()])
    if isinstance(batch, list | tuple):
        return any([_copy_to_device(part, device, pinned) for part in batch])
    if hasattr(batch, "to"):  # a batch of one's own kind, which may move in place
        batch.to(device)
        return True
    return False


def _wait(device: Any) -> None:
    if device.type == "cuda":
        import torch

        torch.cuda.synchronize(device)
