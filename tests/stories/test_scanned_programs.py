"""Five unchanged programs go from `init --scan` to a trial with its curve."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.cli.main import main


def needs(*names: str) -> pytest.MarkDecorator:
    absent = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(absent), reason=f"needs {', '.join(absent)}")


# globals that `--key=value` overrides, as nanoGPT has them, and its two kinds of lines
NANOGPT = """
import math, random
out_dir = 'out'
seed = 1337
eval_interval = 10
learning_rate = 6e-4 # max learning rate
weight_decay = 1e-1
decay_lr = True
max_iters = 40
exec(open('configurator.py').read()) # overrides from command line
rng = random.Random(seed)
for it in range(max_iters + 1):
    loss = 1 + 3 * math.exp(-it * learning_rate) + rng.gauss(0, 0.001)
    if it % eval_interval == 0:
        print(f"step {it}: train loss {loss:.4f}, val loss {loss + 0.1:.4f}")
    print(f"iter {it}: loss {loss:.4f}, time {12.5 + it:.2f}ms, mfu -100.00%")
"""
CONFIGURATOR = """
import sys
from ast import literal_eval
for arg in sys.argv[1:]:
    key, val = arg[2:].split('=')
    try:
        val_read = literal_eval(val)
    except (SyntaxError, ValueError):
        val_read = val
    assert type(val_read) == type(globals()[key]), (key, val)
    globals()[key] = val_read
"""
DATA = """
import torch
made = torch.Generator().manual_seed(0)
x = torch.randn(64, 4, generator=made)
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]])
"""
TRANSFORMERS = """
from dataclasses import dataclass, field
import torch
from transformers import GPT2Config, GPT2LMHeadModel, HfArgumentParser, Trainer, TrainingArguments

@dataclass
class ModelArguments:
    n_embd: int = field(default=16, metadata={"help": "width"})

class Counting(torch.utils.data.Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, row):
        ids = (row + torch.arange(12)) % 16
        return {"input_ids": ids, "labels": ids}

parser = HfArgumentParser((ModelArguments, TrainingArguments))
model, arguments = parser.parse_args_into_dataclasses()
torch.manual_seed(arguments.seed)
config = GPT2Config(vocab_size=16, n_positions=16, n_embd=model.n_embd, n_layer=1, n_head=2,
                    bos_token_id=0, eos_token_id=0)
trainer = Trainer(GPT2LMHeadModel(config), arguments, train_dataset=Counting(),
                  eval_dataset=Counting())
trainer.train()
trainer.save_state()
"""
LIGHTNING = (
    DATA
    + """
import argparse, lightning
from lightning.pytorch.loggers import CSVLogger

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--max-steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--output-dir", default="out")
asked = parser.parse_args()
lightning.seed_everything(asked.seed)

class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, number):
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
    def validation_step(self, batch, number):
        self.log("val_loss", self.training_step(batch, number))
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), asked.lr)

loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)
lightning.Trainer(max_steps=asked.max_steps, accelerator="cpu", logger=CSVLogger(asked.output_dir),
                  enable_progress_bar=False).fit(Line(), loader, loader)
"""
)
KERAS = """
import argparse, os
import keras, numpy
parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--output-dir", default=".")
asked = parser.parse_args()
keras.utils.set_random_seed(asked.seed)
x = numpy.random.default_rng(0).normal(size=(64, 4)).astype("float32")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(asked.learning_rate), "mse")
log = keras.callbacks.CSVLogger(os.path.join(asked.output_dir, "log.csv"))
model.fit(x, x[:, :1], epochs=asked.epochs, validation_split=0.25, callbacks=[log], verbose=0)
"""
ACCELERATE = (
    DATA
    + """
import argparse
from accelerate import Accelerator
from accelerate.utils import set_seed
parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float, default=0.1)
parser.add_argument("--max_train_steps", type=int, default=10)
parser.add_argument("--seed", type=int, default=None)
asked = parser.parse_args()
set_seed(asked.seed)
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), asked.learning_rate)
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(1, asked.max_train_steps + 1):
    loss = torch.nn.functional.mse_loss(model(x), y)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.print(f"step {step}: eval_loss: {loss.item():.4f}")
"""
)
LAST = " --logging_steps=2 --eval_strategy=steps --eval_steps=2 --report_to=none --use_cpu=true"
LAST += " --disable_tqdm=true --save_strategy=no --max_steps=4"


def scanned(
    folder: Path, text: str, metric: str, more: str = "", try_s: float | None = None
) -> tw.project.Scan:
    (folder / "train.py").write_text(text)
    program = f"{sys.executable} train.py{more}"
    return tw.project.scan(program, minimize=metric, folder=folder, try_s=try_s)


def one_trial(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    read: str = "",
) -> Any:
    """The first trial of the round that was written; `read` is what a user adds."""
    monkeypatch.chdir(folder)
    if read:
        with (folder / "tunewright.toml").open("a") as file:
            file.write(f"\n[workload.read]\n{read}\n")
    capsys.readouterr()
    main(["run", "first", "--trials", "1", "--workers", "1", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said["ok"], said
    project = tw.project.load(folder)
    trial = tw.load(project.store(), "first").trial(0)
    assert trial.status == "completed", (trial.reason, said)
    return trial


def test_a_program_like_nanogpt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "configurator.py").write_text(CONFIGURATOR)
    found = scanned(tmp_path, NANOGPT, "val_loss", try_s=60)
    assert found.style == "configurator" and found.roles()["max_iters"] == "fixed"
    trial = one_trial(tmp_path, monkeypatch, capsys)
    assert trial.curves["val_loss"].steps.tolist() == [0, 10, 20, 30, 40]


@pytest.mark.torch
@needs("transformers", "accelerate")
def test_a_trainer_with_dataclasses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = scanned(tmp_path, TRANSFORMERS, "eval_loss", LAST)
    roles = found.roles()
    assert found.style == "dataclass"
    assert (roles["learning_rate"], roles["per_device_train_batch_size"]) == ("nuisance", "fixed")
    assert (roles["n_embd"], roles["seed"], roles["output_dir"]) == ("scientific", "seed", "folder")
    trial = one_trial(tmp_path, monkeypatch, capsys, 'file = "trainer_state.json"')
    assert trial.curves["eval_loss"].steps.tolist() == [2, 4]


@pytest.mark.torch
@needs("lightning")
def test_a_lightning_script_by_its_metrics_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scanned(tmp_path, LIGHTNING, "val_loss")
    trial = one_trial(tmp_path, monkeypatch, capsys, 'file = "**/metrics.csv"')
    assert len(trial.curves["val_loss"].steps) == 5, "20 steps, 4 an epoch"


@pytest.mark.torch
@needs("keras", "torch")
def test_a_keras_script_by_its_csv_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(os.environ, "KERAS_BACKEND", "torch")
    scanned(tmp_path, KERAS, "val_loss")
    read = 'file = "log.csv"\nstep = "epoch"\nstep_times = 2'
    trial = one_trial(tmp_path, monkeypatch, capsys, read)
    assert trial.curves["val_loss"].steps.tolist() == [0, 2, 4]


@pytest.mark.torch
@needs("accelerate")
def test_an_accelerate_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = scanned(tmp_path, ACCELERATE, "eval_loss", try_s=100)
    assert found.roles()["max_train_steps"] == "fixed"
    trial = one_trial(tmp_path, monkeypatch, capsys)
    assert trial.curves["eval_loss"].steps.tolist() == list(range(1, 11))
