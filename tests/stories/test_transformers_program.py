"""A Hugging Face Trainer: untouched, its own lines read by a pattern; and with a small callback."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.cli.main import main

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("transformers", "accelerate")),
        reason="needs the extra integrations: scripts/setup all,dev,integrations",
    ),
]

PROGRAM = """
import torch
from transformers import (
    GPT2Config, GPT2LMHeadModel, HfArgumentParser, Trainer, TrainingArguments
)


class Counting(torch.utils.data.Dataset):
    def __init__(self, rows, seed):
        first = torch.randint(0, 16, (rows, 1), generator=torch.Generator().manual_seed(seed))
        self.rows = (first + torch.arange(12)) % 16

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, row):
        return {"input_ids": self.rows[row], "labels": self.rows[row]}


(arguments,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
torch.manual_seed(arguments.seed)
config = GPT2Config(vocab_size=16, n_positions=16, n_embd=16, n_layer=1, n_head=2,
                    bos_token_id=0, eos_token_id=0)
trainer = Trainer(GPT2LMHeadModel(config), arguments, train_dataset=Counting(64, 1),
                  eval_dataset=Counting(32, 2))
trainer.train()
"""
CALLBACK = """
import json

from transformers import TrainerCallback


class JsonLines(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **more):
        print(json.dumps({"step": state.global_step, **(logs or {})}), flush=True)


trainer.add_callback(JsonLines())
trainer.train()
"""
COMMAND = (
    "{python} train.py --output_dir {{run.folder}} --learning_rate {{learning_rate}} "
    "--lr_scheduler_type {{lr_scheduler_type}} --max_steps {{max_steps}} --seed {{run.seed}} "
    "--eval_strategy steps --eval_steps 5 --logging_steps 5 --save_strategy no "
    "--report_to none --disable_tqdm True --per_device_train_batch_size 8 --use_cpu True"
)
ROUND = """
goal = "Which schedule?"
trials_per_study = 1
[scientific]
lr_scheduler_type = ["constant", "cosine"]
[nuisance]
learning_rate = { log = [1e-3, 1e-2] }
[fixed]
max_steps = 20
"""
READ = """
[workload.read]
line = [
  "^{'loss': '(?P<loss>[^']+)', 'grad_norm': '(?P<grad_norm>[^']+)'",
  "^{'eval_loss': '(?P<eval_loss>[^']+)'",
]
"""


def tuned(
    folder: Path, program: str, read: str, capsys: pytest.CaptureFixture[str]
) -> tw.types.Results:
    """The round of a program, trained by its command line."""
    (folder / "train.py").write_text(program)
    command = COMMAND.format(python=shlex.quote(sys.executable))
    assert main(["init", command, "--minimize", "eval_loss"]) == 0
    with (folder / "tunewright.toml").open("a") as file:
        file.write(read)
    (folder / "rounds").mkdir(exist_ok=True)
    (folder / "rounds" / "schedule.toml").write_text(ROUND)
    capsys.readouterr()
    main(["run", "schedule", "--workers", "1", "--json"])
    ran = json.loads(capsys.readouterr().out)["data"]
    assert (ran["why"], ran["counts"]) == ("finished", {"completed": 2}), ran
    return tw.load(tw.project.load(folder).store(), "schedule")


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the network: the model is made from its configuration."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def test_untouched_with_its_own_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tuned(tmp_path, PROGRAM, READ, capsys)
    for trial in results.trials:
        assert trial.curves["eval_loss"].steps.tolist() == [1, 2, 3, 4], "lines, without steps"
        assert len(trial.curves["loss"]) == 4 == len(trial.curves["grad_norm"])
        assert trial.curves["eval_loss"].values[-1] < trial.curves["eval_loss"].values[0]


def test_a_callback_that_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tuned(tmp_path, PROGRAM.replace("trainer.train()\n", "") + CALLBACK, "", capsys)
    assert results.meaning.name("max_train_steps") == "max_steps"
    constant, cosine = results.trials
    for trial in results.trials:
        assert trial.curves["eval_loss"].steps.tolist() == [5, 10, 15, 20]
        assert trial.curves["loss"].steps.tolist() == [5, 10, 15, 20]
    assert len(set(constant.curves["learning_rate"].values.tolist())) == 1
    assert (
        cosine.curves["learning_rate"].values[-1] < 0.1 * cosine.curves["learning_rate"].values[0]
    )
