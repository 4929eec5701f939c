"""Which data files does each process read? A pure function of names, sizes, seed, epoch and rank.

Where every host would read the whole data set, the network carries it once per host; give each its
own files instead (playbook, "Considerations for multi-host pipelines": shard data files across
hosts). Shards are disjoint, complete, balanced by size, and drawn anew for every epoch.

    sizes = file_shards.sizes(Path("data").glob("*.tar"))
    agreement.check_files(sizes, host)                          # every rank sees the same files
    for path in file_shards.shard(sizes, epoch=epoch, seed=seeds.order, host=host): ...
    evaluate(model, my_examples, metrics, sharded=True)         # an exact mean over all shards
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.hosts import Host


def sizes(paths: Iterable[Path | str]) -> dict[str, int]:
    """The files with their sizes in bytes, in the order of their names."""
    by_path: dict[str, int] = {}
    for path in sorted(map(str, paths)):
        if path in by_path:
            raise PipelineError("files.twice", path=path)
        try:
            by_path[path] = os.stat(path).st_size
        except OSError as error:
            raise PipelineError("files.unreadable", path=path, error=str(error)) from None
    return by_path


def shard(
    files: Mapping[str, int], *, epoch: int, seed: int, host: Host | None = None
) -> tuple[str, ...]:
    """The files that this rank reads in one epoch, in the order in which to read them.

    `files` gives each file's size, in bytes or examples. Loads differ by at most the largest file:
    files of about one size are drawn in random order, the large ones first, and each goes to the
    rank with the least so far. `seed` is alike on all ranks (`seeds.order`).

    >>> files = {"a": 4, "b": 3, "c": 3, "d": 2}
    >>> first, second = (shard(files, epoch=0, seed=0, host=Host(rank, 2)) for rank in (0, 1))
    >>> sorted(first + second), sum(files[name] for name in first)
    (['a', 'b', 'c', 'd'], 6)
    """
    host = host or hosts.current()
    if any(type(size) is not int or size < 0 for size in files.values()):
        bad = next(n for n, size in files.items() if type(size) is not int or size < 0)
        raise PipelineError("files.bad_size", path=bad, size=files[bad])
    if len(files) < host.world:
        raise PipelineError("files.fewer_than_ranks", files=len(files), world=host.world)
    random = np.random.Generator(np.random.PCG64([seed, epoch]))
    names = sorted(files)  # whatever the order in which a rank listed them
    drawn = [names[place] for place in random.permutation(len(names))]
    # Sorted by size alone the same files would meet in every epoch: only the power of two counts.
    drawn.sort(key=lambda name: -files[name].bit_length())
    ranks: list[list[str]] = [[] for _ in range(host.world)]
    loads = [(0, 0)] * host.world  # bytes, then files: empty ones are shared out too
    for name in drawn:
        least = min(range(host.world), key=lambda rank: loads[rank])
        ranks[least].append(name)
        loads[least] = (loads[least][0] + files[name], loads[least][1] + 1)
    labels = random.permutation(host.world)  # else rank 0 would always hold the largest
    mine = ranks[int(labels[host.rank])]
    return tuple(mine[place] for place in random.permutation(len(mine)))
