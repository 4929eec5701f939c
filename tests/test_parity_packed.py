"""Two doors, one answer: `--pack` trains as `tw.executors.Packed` does, on the GPU's stand-in."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_parity import SPACE, Shell, doors as doors, made as made, same, shell as shell

import tunewright as tw
from tunewright.present import envelope as facts

pytest.importorskip("torch")
pytestmark = [pytest.mark.beyond_core, pytest.mark.torch]

TRAIN = """
import torch
from torch import nn

from tunewright.pipeline import FitConfig, Validation, fit

X = torch.randn(256, 6, generator=torch.Generator().manual_seed(0))
Y = X[:, :3].argmax(1)


def train(run, learning_rate, max_train_steps=20):
    torch.manual_seed(run.seeds.init)
    net = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.2), nn.Linear(8, 3))
    config = FitConfig(max_train_steps=max_train_steps, batch_size=16,
                       base_learning_rate=learning_rate, capture=True)

    def loss(model, batch):
        return nn.functional.cross_entropy(model(batch[0]), batch[1])

    def each(model, batch):
        losses = nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="none")
        return {"valid_error": losses}

    fit(net, loss, (X, Y), config, valid=Validation((X, Y), each), run=run)
"""


def test_run_and_repeat_in_a_pack(
    doors: tuple[Path, Path], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "cpu")  # the only device that --pack finds
    for folder in doors:
        (folder / "train.py").write_text(TRAIN)
        (folder / "rounds" / "packed.toml").write_text(SPACE)
    pack = tw.executors.Packed(trials=2, device="cpu")
    mine = tw.project.load().workload(executor=pack)
    results = tw.run(tw.project.load().round("packed"), mine)
    same(facts.of_run(results, "finished", 0.0, 4), shell("run", "packed", "--pack", "2"))
    shown = shell("show", "packed")
    same(facts.of_round(results), shown)
    assert [trial["status"] for trial in shown["trials"]] == ["completed"] * 4
    repeats = tw.repeat(results.best(), mine, times=2)
    found = shell("repeat", "packed", "--times", "2", "--pack", "2")
    same(facts.of_repeats(repeats, "finished"), found)
