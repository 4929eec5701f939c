"""How fast is the input pipeline alone, with how many workers, and which of its stages is slow?

Works on the `DataLoader` that the training itself uses: iterated without training at several
numbers of workers, and taken apart in one process: reading an example, each of its transforms,
collating, pinning, copying to the device.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

WARMING = 2  # batches before the clock starts: workers have to come up
COPY = "copy to the device"
TRANSFORMS = ("transform", "transforms")  # where datasets keep them, by torchvision's custom


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


def workers_of(loader: Any) -> tuple[int | None, int | None]:
    """How many workers a loader has, and the batches of its epoch; None where there is none."""
    if loader is None:
        return None, None
    try:
        return int(loader.num_workers), len(loader)
    except TypeError:  # without an end
        return int(loader.num_workers), None


def climb(loader: Any, workers: Sequence[int], seconds: float) -> list[tuple[int, float]]:
    """Batches per second of the loader alone at each number of workers; none without a loader."""
    if loader is None:
        return []
    return [(count, _rate(_with_workers(loader, count), seconds)) for count in workers]


def stages_of(loader: Any, seconds: float, device: Any = None) -> list[tuple[str, float]]:
    """Seconds per batch of each stage, in the order in which they happen.

    The last, of a batch that is not on the device already, is its copy there, waited for.
    """
    if loader is None or _is_stream(loader.dataset):
        return []  # a stream has no places to read one example from
    places = _places(loader)
    batch = next(places)
    steps = _chain(loader.dataset)
    names = [name for name, _ in steps]
    spent = dict.fromkeys([*names, "collate"], 0.0)
    pins = bool(loader.pin_memory)
    count, until = 0, time.perf_counter() + seconds
    while count < 2 or (time.perf_counter() < until and count < 100):
        examples = []
        for place in batch:
            value: Any = place
            for name, stage in steps:
                before = time.perf_counter()
                value = stage(value)
                spent[name] += time.perf_counter() - before
            examples.append(value)
        before = time.perf_counter()
        made = loader.collate_fn(examples if loader.batch_sampler is not None else examples[0])
        spent["collate"] += time.perf_counter() - before
        if pins:
            before = time.perf_counter()
            made = _pinned(made)
            spent["pin"] = spent.get("pin", 0.0) + time.perf_counter() - before
        if device is not None:
            before = time.perf_counter()
            if _copied(made, device, pins):
                _wait(device)
                spent[COPY] = spent.get(COPY, 0.0) + time.perf_counter() - before
        count, batch = count + 1, next(places, batch)
    return [(name, total / count) for name, total in spent.items()]


def _chain(dataset: Any) -> list[tuple[str, Callable[[Any], Any]]]:
    """The stages of one example. What has transforms is read without them, then transformed."""
    transform = next((t for n in TRANSFORMS if (t := getattr(dataset, n, None)) is not None), None)
    if transform is None or not callable(transform):
        return [("read", dataset.__getitem__)]
    parts = list(getattr(transform, "transforms", None) or [transform])
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


class _Bare:
    """A dataset read with its transform replaced by one that only notes what it is given."""

    def __init__(self, dataset: Any, given: list[Any]) -> None:
        self._dataset, self._given = dataset, given
        self._name = next(n for n in TRANSFORMS if getattr(dataset, n, None) is not None)

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


def _with_workers(loader: Any, workers: int) -> Any:
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
            "prefetch_factor": loader.prefetch_factor,
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
    warming = WARMING + int(loader.num_workers)
    batches = itertools.chain.from_iterable(loader for _ in itertools.count())
    for _ in itertools.islice(batches, warming):
        pass
    started, count = time.perf_counter(), 0
    for _ in batches:
        count += 1
        if time.perf_counter() - started >= seconds and count >= 3:
            break
    return count / (time.perf_counter() - started)


def _pinned(made: Any) -> Any:
    pinning: Any = importlib.import_module("torch.utils.data._utils.pin_memory")
    return pinning.pin_memory(made)


def _copied(made: Any, device: Any, pinned: bool) -> bool:
    """Copy every part of a batch to the device; whether anything was not there yet."""
    import torch

    if isinstance(made, torch.Tensor):
        return made.to(device, non_blocking=pinned) is not made
    if isinstance(made, Mapping):
        return any([_copied(part, device, pinned) for part in made.values()])
    if isinstance(made, list | tuple):
        return any([_copied(part, device, pinned) for part in made])
    if hasattr(made, "to"):  # a batch of one's own kind, which may move in place
        made.to(device)
        return True
    return False


def _wait(device: Any) -> None:
    if device.type == "cuda":
        import torch

        torch.cuda.synchronize(device)
