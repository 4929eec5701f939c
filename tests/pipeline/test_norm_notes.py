"""Batch norm over few examples or several processes is noted; other norms are not."""

from __future__ import annotations

import pytest
import torch
from tests.pipeline.fitting import X, Y, config, loss
from tests.pipeline.test_fit_ranks import run_ranks
from torch import nn

from tunewright.pipeline import GhostBatchNorm, convert_batch_norm, fit
from tunewright.pipeline.ghost_batch_norm import FEW, norm_notes


def codes(model: nn.Module, examples: int, world: int) -> list[str]:
    return [note.code for note in norm_notes(model, examples, world)]


FEWER, APART = "fit.note.batch_norm_few", "fit.note.batch_norm_apart"


@pytest.mark.parametrize(
    "layer, examples, world, expected",
    [
        (nn.BatchNorm2d(4), FEW - 1, 1, [FEWER]),
        (nn.BatchNorm2d(4), FEW, 1, []),
        (nn.BatchNorm2d(4), FEW, 2, [APART]),
        (nn.BatchNorm2d(4), FEW - 1, 2, [FEWER, APART]),
        (nn.SyncBatchNorm(4), FEW // 2, 2, []),
        (nn.SyncBatchNorm(4), FEW // 4, 2, [FEWER]),
        (GhostBatchNorm(4, 8), 8, 4, []),
        (nn.LayerNorm(4), 1, 8, []),
        (nn.GroupNorm(2, 4), 1, 8, []),
        (nn.InstanceNorm2d(4), 1, 8, []),
    ],
)
def test_when_it_is_noted(layer: nn.Module, examples: int, world: int, expected: list[str]) -> None:
    assert codes(nn.Sequential(nn.Linear(4, 4), layer), examples, world) == expected


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))


def test_fit_notes_it() -> None:
    small = fit(network(), loss, (X, Y), config(batch_size=8, max_train_steps=2))
    (note,) = small.notes
    assert note.code == FEWER and note.facts == {"layers": 1, "examples": 8, "fewest": FEW}
    assert not fit(network(), loss, (X, Y), config(batch_size=32, max_train_steps=2)).notes
    ghost = convert_batch_norm(network(), 8)
    assert not fit(ghost, loss, (X, Y), config(batch_size=8, max_train_steps=2)).notes
    parts = fit(network(), loss, (X, Y), config(batch_size=32, accumulate=4, max_train_steps=2))
    assert [n.code for n in parts.notes] == ["fit.note.accumulation", FEWER]


RANKS = """
import torch
from torch import nn
from tunewright.pipeline import FitConfig, fit, hosts

host = hosts.start("gloo")
x = torch.randn(96, 6, generator=torch.Generator().manual_seed(1))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
fitted = fit(
    model,
    lambda m, b: nn.functional.cross_entropy(m(b[0]), b[1]),
    (x, (x[:, 0] > 0).long()),
    FitConfig(max_train_steps=2, batch_size=32, base_learning_rate=0.1),
)
for note in fitted.notes:
    print(note.code, note.facts["world"], note.facts["examples"], flush=True)
hosts.leave()
"""


def test_two_processes_that_normalise_apart_are_noted() -> None:
    assert run_ranks(RANKS, 2) == [[f"{APART} 2 16"]] * 2
