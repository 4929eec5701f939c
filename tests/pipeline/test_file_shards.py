"""Files shared out over ranks: each once, evenly, otherwise in every epoch; on two processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests.pipeline.test_fit_ranks import run_ranks

from tunewright.errors import PipelineError
from tunewright.pipeline import file_shards
from tunewright.pipeline.agreement import check_files
from tunewright.pipeline.hosts import Host


def shards(files: dict[str, int], world: int, epoch: int = 0, seed: int = 0) -> list[tuple]:
    ranks = (Host(rank, world) for rank in range(world))
    return [file_shards.shard(files, epoch=epoch, seed=seed, host=host) for host in ranks]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=60),
    st.integers(1, 8),
    st.integers(0, 5),
    st.integers(0, 2**32),
)
def test_each_file_once_and_loads_differ_by_no_more_than_the_largest(
    sizes, world, epoch, seed
) -> None:
    files = {f"part-{k}": size for k, size in enumerate(sizes)}
    if len(files) < world:
        with pytest.raises(PipelineError) as raised:
            shards(files, world)
        assert raised.value.code == "files.fewer_than_ranks"
        return
    found = shards(files, world, epoch, seed)
    assert sorted(name for mine in found for name in mine) == sorted(files)
    loads = [sum(files[name] for name in mine) for mine in found]
    assert max(loads) - min(loads) <= max(sizes)
    backwards = dict(reversed(files.items()))
    assert shards(backwards, world, epoch, seed) == found  # as another rank may list them


def test_every_epoch_meets_other_files_and_a_seed_repeats_them() -> None:
    files = {f"part-{k:02d}": 900 + 7 * k for k in range(24)}
    epochs = [shards(files, 4, epoch) for epoch in range(6)]
    assert [shards(files, 4, epoch) for epoch in range(6)] == epochs
    assert (
        len({frozenset(found[0]) for found in epochs}) == 6
    )  # other files, not just another order
    assert shards(files, 4, 0, seed=1) != epochs[0]
    largest = [next(r for r, mine in enumerate(e) if "part-23" in mine) for e in epochs]
    assert len(set(largest)) > 1


def test_sizes_are_read_and_bad_ones_refused(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("b", "a")]
    for length, path in enumerate(paths, start=1):
        path.write_bytes(b"x" * length)
    found = file_shards.sizes(paths)
    assert found == {str(tmp_path / "a"): 2, str(tmp_path / "b"): 1}
    check_files(found, Host())
    for bad, code in (
        (lambda: file_shards.sizes([*paths, paths[0]]), "files.twice"),
        (lambda: file_shards.sizes([tmp_path / "none"]), "files.unreadable"),
        (lambda: shards({"a": -1}, 1), "files.bad_size"),
    ):
        with pytest.raises(PipelineError) as raised:
            bad()
        assert raised.value.code == code


RANKS = """
import sys
from pathlib import Path
import torch
from torch import nn
from tunewright.errors import PipelineError
from tunewright.pipeline import FitConfig, Validation, agreement, evaluate, file_shards, fit, hosts

host = hosts.start("gloo")
folder = Path(sys.argv[1])
files = file_shards.sizes(folder.glob("*.pt"))
agreement.check_files(files, host)
seeds = hosts.seeds(5, host)


def shard_of(epoch):
    names = file_shards.shard(files, epoch=epoch, seed=seeds.order, host=host)
    return torch.cat([torch.load(name, weights_only=True) for name in names])


class Stream:  # each rank reads its own files alone
    epoch = 0

    def __iter__(self):
        rows = shard_of(self.epoch)
        self.epoch += 1
        return iter([rows[k : k + 4] for k in range(0, len(rows) - 3, 4)])


mine = shard_of(0)
total = float(hosts.all_sum(torch.tensor(float(len(mine))), host))
weights = mine[:, 0].abs()


def metrics(model, rows):
    return {"square": rows[:, 0].square(), "model": model(rows[:, 1:]).squeeze(1)}


torch.manual_seed(0)
model = nn.Linear(3, 1)
plain = evaluate(model, mine, metrics, sharded=True, host=host, keep_values=True)
small = evaluate(model, mine, metrics, sharded=True, host=host, batch_size=2)
weighed = evaluate(model, mine, metrics, sharded=True, host=host, weights=weights)
counted = evaluate(model, mine, lambda m, rows: {"right": (rows[:, 1] > 0).float()},
                   sharded=True, host=host, labels=(mine[:, 0] > 0).long(), correct="right")
fitted = fit(
    nn.Linear(3, 1), lambda m, rows: (m(rows[:, 1:]) - rows[:, :1]).square().mean(), Stream(),
    FitConfig(max_train_steps=8, batch_size=4 * host.world, base_learning_rate=0.01),
    valid=Validation(mine, metrics, sharded=True),
)
print(len(mine), total, plain.weight, len(plain.values["square"]))
print(repr(plain.metrics["square"]), repr(small.metrics["square"]))
print(repr(weighed.metrics["square"]))
print([(c.label, c.correct, c.total) for c in counted.class_counts])
print(repr(fitted.evaluation.metrics["square"]), fitted.evaluation.weight)
try:
    evaluate(model, mine, metrics, host=host)
    print("evaluated")
except PipelineError as error:
    print(error.code)
try:
    evaluate(model, mine[: len(mine) * host.rank], metrics, sharded=True, host=host)
except PipelineError as error:
    print(error.code)
try:
    agreement.check_files({name: size + host.rank for name, size in files.items()}, host)
except PipelineError as error:
    print(error.code)
sys.stdout.flush()
hosts.leave()
"""


def test_two_ranks_read_their_own_files_and_evaluate_all_examples_exactly(tmp_path: Path) -> None:
    import torch

    generator = torch.Generator().manual_seed(0)
    parts = [torch.randn(length, 4, generator=generator) for length in (9, 5, 30, 7, 3)]
    for k, rows in enumerate(parts):
        torch.save(rows, tmp_path / f"part-{k}.pt")
    whole = torch.cat(parts).double()
    squares, weights = whole[:, 0].float().square().double(), whole[:, 0].abs()
    first, second = run_ranks(RANKS, 2, tmp_path)
    mine, yours = (int(lines[0].split()[0]) for lines in (first, second))
    assert mine + yours == 54 and mine != yours  # uneven shards
    assert first[1:] == second[1:]
    assert first[0].split()[1:] == ["54.0", "54.0", "54"]
    by_two, by_one = (float(text) for text in first[1].split())
    assert by_two == pytest.approx(float(squares.mean()), rel=1e-12) and by_one == by_two
    expected = float((squares * weights).sum() / weights.sum())
    assert float(first[2]) == pytest.approx(expected, rel=1e-9)
    right, positive = whole[:, 1] > 0, whole[:, 0] > 0
    counts = [(k, int((right & (positive == k)).sum()), int((positive == k).sum())) for k in (0, 1)]
    assert first[3] == str(counts)
    logged, weight = first[4].split()
    assert float(logged) == by_two and weight == "54.0"
    assert first[5:] == [
        "evaluation.ranks_differ",
        "evaluation.empty_shard",
        "ranks.files_differ",
    ]
