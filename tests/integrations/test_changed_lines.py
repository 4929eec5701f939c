"""A program that trains today, and has its own options, changes at most three lines."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import pytest
from tests.integrations.troubled import needs

import tunewright as tw

DOCS = Path(__file__).parents[2] / "docs"
OPTIONS = """import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--max_steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
"""
LIGHTNING = """
import lightning
import torch

class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, number):
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[0][:, :1])

    def validation_step(self, batch, number):
        self.log("valid_error", torch.nn.functional.mse_loss(self.layer(batch[0]), batch[0][:, :1]))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), args.lr)

lightning.seed_everything(args.seed)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(80, 4)), batch_size=8)
trainer = lightning.Trainer(max_steps=args.max_steps, val_check_interval=5, accelerator="cpu")
trainer.fit(Line(), data, data)
"""
TRAINER = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(args.seed)
rows = [(torch.arange(12) + first) % 16 for first in range(16)]
data = [{"input_ids": row, "labels": row} for row in rows]
config = GPT2Config(vocab_size=16, n_positions=16, n_embd=16, n_layer=1, n_head=2,
                    bos_token_id=0, eos_token_id=0)
arguments = TrainingArguments("out", learning_rate=args.lr, max_steps=args.max_steps, use_cpu=True,
                              eval_strategy="steps", eval_steps=5, save_steps=5, report_to="none")
trainer = Trainer(GPT2LMHeadModel(config), arguments, train_dataset=data, eval_dataset=data)
trainer.train()
"""
ACCELERATE = """
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed

set_seed(args.seed)
accelerator = Accelerator(cpu=True)
accelerator.init_trackers("line", config=vars(args))
x = torch.randn(64, 4)
model = torch.nn.Linear(4, 1)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), args.lr))
for step in range(1, args.max_steps + 1):
    loss = torch.nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    accelerator.log({"valid_error": loss.item()}, step=step)
accelerator.end_training()
"""
KERAS = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

keras.utils.set_random_seed(args.seed % 2**32)
x = np.random.default_rng(0).standard_normal((32, 4)).astype("float32")
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(args.lr), "mse")
model.fit(x, x[:, :1], batch_size=8, epochs=args.max_steps // 4, validation_data=(x, x[:, :1]))
"""
# the library: its program, what replaces what, and the metric
CHANGES = {
    "lightning": (
        LIGHTNING,
        {
            "\nimport lightning": "\nfrom tunewright.integrations.lightning import callback"
            "\nimport lightning",
            'accelerator="cpu")': 'accelerator="cpu", callbacks=[report := callback()])',
            "fit(Line(), data, data)": "fit(Line(), data, data, ckpt_path=report.checkpoint)",
        },
        "valid_error",
    ),
    "transformers": (
        TRAINER,
        {
            "\nimport torch": "\nfrom tunewright.integrations.transformers import callback"
            "\nimport torch",
            "eval_dataset=data)": "eval_dataset=data, callbacks=[report := callback()])",
            "train()": "train(resume_from_checkpoint=report.checkpoint)",
        },
        "eval_loss",
    ),
    "accelerate": (
        ACCELERATE,
        {
            "\nimport torch": "\nfrom tunewright.integrations.accelerate import tracker"
            "\nimport torch",
            "cpu=True)": "cpu=True, log_with=tracker())",
        },
        "valid_error",
    ),
    "keras": (
        KERAS,
        {
            "\nimport numpy": "\nfrom tunewright.integrations.keras import callback\nimport numpy",
            "(x, x[:, :1]))": "(x, x[:, :1]), callbacks=[callback()])",
        },
        "val_loss",
    ),
}


@pytest.mark.parametrize("library", [pytest.param(one, marks=needs(one)) for one in CHANGES])
def test_at_most_three_lines(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, changes, metric = CHANGES[library]
    before = after = OPTIONS + program
    for old, new in changes.items():
        assert before.count(old) == 1, old
        after = after.replace(old, new)
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    count = sum(line.startswith("+ ") for line in lines)
    assert count == len(changes) <= 3
    words = {2: "Two lines", 3: "Three lines"}[count]
    assert f"**{words}**" in (DOCS / f"{library}.md").read_text(encoding="utf-8")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(after)
    command = (
        f"'{sys.executable}' train.py --lr={{lr}} --max_steps={{max_steps}} --seed={{run.seed}}"
    )
    workload = tw.Workload(
        tw.command(command),
        tw.minimize(metric),
        store=tmp_path / "tuning.db",
        executor=tw.Local(workers=1, devices=[]),
        means={"max_train_steps": "max_steps"},
    )
    round = tw.Round(
        name="rate",
        goal="Which learning rate?",
        nuisance={"lr": tw.log(0.001, 0.1)},
        fixed={"max_steps": 20},
        trials_per_study=1,
    )
    (trial,) = tw.run(round, workload, progress="off").trials
    assert trial.status == "completed", trial.detail
    assert trial.curves[metric].steps[-1] == 20 and len(trial.curves[metric]) >= 4
