"""Batches ahead of their step: the same ones, at most so many, and never mixed with training."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.pipeline.fitting import X, Y, config, loss, losses, mlp, same
from torch import nn

from tunewright.errors import PipelineError
from tunewright.pipeline import fit
from tunewright.pipeline.batches import map_tensors
from tunewright.pipeline.prefetch import Prefetched

CPU = torch.device("cpu")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


def ahead(items, count: int = 2, guarded: bool = False) -> Prefetched:
    return Prefetched(iter(items), count, CPU, map_tensors, guarded)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_the_same_batches_in_the_same_order(count: int, guarded: bool) -> None:
    early = ahead(range(50), count, guarded)
    assert list(early) == list(range(50)) and list(early) == []


def test_the_next_batches_are_made_while_a_step_runs_and_no_more_than_asked() -> None:
    made: list[int] = []
    reached = threading.Semaphore(0)

    def items():
        for k in range(20):
            made.append(k)
            reached.release()
            yield k

    early = ahead(items(), 3)
    assert next(early) == 0
    for _ in range(4):  # without anybody asking: the step of batch 0 still runs
        assert reached.acquire(timeout=30)
    assert made == [0, 1, 2, 3] and not reached.acquire(timeout=0.05)
    early.close()
    assert list(early) == [] and len(made) == 4


def test_an_error_comes_at_the_place_of_its_batch() -> None:
    def items():
        yield 1
        yield 2
        raise KeyError("three")

    early = ahead(items(), 5)
    assert [next(early), next(early)] == [1, 2]
    for _ in range(2):
        with pytest.raises(KeyError, match="three"):
            next(early)


def test_a_thread_is_gone_after_close() -> None:
    before = threading.active_count()
    early = ahead(range(1000))
    next(early)
    early.close()
    early.close()
    assert threading.active_count() == before


@pytest.mark.parametrize(
    "draw, name",
    [
        (lambda: torch.rand(1), "torch"),
        (random.random, "random"),
        (lambda: np.random.rand(), "numpy"),
    ],
)
def test_batches_that_draw_as_training_does_are_refused(draw, name: str) -> None:
    with pytest.raises(PipelineError) as raised:
        next(ahead((draw() for _ in range(9)), guarded=True))
    assert raised.value.code == "batches.prefetch_draws"
    assert raised.value.facts["generators"] == [name]


# ---- through fit


def dropped() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 2))


def by_step(step: int):
    ids = torch.randint(len(X), (16,), generator=torch.Generator().manual_seed(step))
    return X[ids], Y[ids]


def test_fit_trains_the_same_with_batches_made_ahead_and_after_a_resume(tmp_path: Path) -> None:
    plain, early, resumed = dropped(), dropped(), dropped()
    expected = fit(plain, loss, by_step, config(prefetch=0))
    found = fit(early, loss, by_step, config(prefetch=4))
    assert same(plain, early) and found.curves == expected.curves

    calls = 0

    def broken(model, batch):
        nonlocal calls
        calls += 1
        if calls > 27:
            raise KeyboardInterrupt
        return loss(model, batch)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        fit(dropped(), broken, by_step, config(prefetch=4), folder=tmp_path)
    assert threading.active_count() == before
    again = fit(resumed, loss, by_step, config(prefetch=4), folder=tmp_path)
    assert again.start_step == 25 and same(plain, resumed)
    assert again.curves["train_loss"] == expected.curves["train_loss"]


def test_a_loader_and_a_dataset_ahead() -> None:
    class Loader:
        def __iter__(self):
            return iter([by_step(k) for k in range(7)])

    plain, early = dropped(), dropped()
    fit(plain, loss, Loader(), config())
    fit(early, loss, Loader(), config(prefetch=3))
    assert same(plain, early)
    shuffled = torch.utils.data.DataLoader(list(zip(X, Y, strict=True)), 16, shuffle=True)
    with pytest.raises(PipelineError) as raised:
        fit(dropped(), loss, shuffled, config(prefetch=2))
    assert raised.value.code == "batches.prefetch_draws"
    with pytest.raises(PipelineError) as raised:
        fit(dropped(), loss, list(zip(X, Y, strict=True)), config(prefetch=2))
    assert raised.value.code == "batches.prefetch_needs_workers"


@pytest.mark.parametrize("prefetch", [-1, 1.5, True])
def test_a_bad_number_is_refused(prefetch) -> None:
    with pytest.raises(PipelineError, match="prefetch="):
        config(prefetch=prefetch)


@needs_cuda
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("capture", [False, True])
def test_on_a_gpu_tensors_of_the_host_train_the_same_ahead(capture: bool, weighted: bool) -> None:
    weights = torch.linspace(0, 1, len(X)) if weighted else None
    found = []
    for prefetch in (0, 1, 4, None):
        model = mlp().cuda()
        settings = config(max_train_steps=300, prefetch=prefetch, capture=capture)
        fitted = fit(model, losses, (X, Y), settings, weights=weights)
        assert fitted.captured == capture
        found.append(model)
    assert all(same(found[0], other) for other in found[1:])
