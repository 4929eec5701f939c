"""The Hugging Face Trainer under a trial: two gloo ranks killed, stopped and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integrations.troubled import TORCHRUN, check_resumed, needs, trained

from tunewright.execution.current_run import Alone
from tunewright.integrations.transformers import training_arguments

pytestmark = needs("transformers", "accelerate")
PROGRAM = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback
from tunewright.integrations.transformers import callback, training_arguments

run = tw.current_run()

class Counting(torch.utils.data.Dataset):
    def __init__(self, rows, seed):
        first = torch.randint(0, 16, (rows, 1), generator=torch.Generator().manual_seed(seed))
        self.rows = (first + torch.arange(12)) % 16
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, row):
        return {"input_ids": self.rows[row], "labels": self.rows[row]}

class Trouble(TrainerCallback):
    def on_step_end(self, args, state, control, **more):
        trouble(run, state.global_step, args.process_index, os.getppid())

arguments = training_arguments(
    eval_strategy="steps", logging_steps=1, learning_rate=run.configuration["lr"] / 10,
    per_device_train_batch_size=4, use_cpu=True, disable_tqdm=True,
)
config = GPT2Config(vocab_size=16, n_positions=16, n_embd=16, n_layer=1, n_head=2,
                    bos_token_id=0, eos_token_id=0)
torch.manual_seed(run.seeds.init)
report = callback()
trainer = Trainer(GPT2LMHeadModel(config), arguments, train_dataset=Counting(64, 1),
                  eval_dataset=Counting(16, 2), callbacks=[Trouble(), report])
trainer.train(resume_from_checkpoint=report.checkpoint)
"""


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the network: the model is made from its configuration."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def test_two_ranks_killed_stopped_and_resumed(tmp_path: Path) -> None:
    trial = trained(tmp_path, PROGRAM, TORCHRUN, metric="eval_loss")
    assert trial.curves["loss"].steps.tolist() == list(range(1, 21))
    assert {"grad_norm", "learning_rate"} <= set(trial.curves)
    assert trial.curves["eval_loss"].steps.tolist() == [5, 10, 15, 20]
    assert trial.applied is not None
    assert trial.applied["max_steps"] == 20, "the argument of the hyperparameter's name"
    assert trial.applied["learning_rate"] == pytest.approx(float(trial.configuration["lr"]) / 10)
    assert trial.applied["optimizer.lr"] == trial.applied["learning_rate"]
    check_resumed(tmp_path, trial, ranks=2)


def test_a_programs_own_arguments_write_into_the_trial_and_resume(tmp_path: Path) -> None:
    """Its output folder is one for all trials: the callback gives each trial its own."""
    program = PROGRAM.replace("os.getppid()", "os.getpid()")
    program = program.replace(
        "training_arguments(\n",
        'TrainingArguments(\n    "out", max_steps=20, save_steps=2, eval_steps=2, '
        'load_best_model_at_end=True, report_to="none",\n',
    )
    program = program.replace("import callback, training_arguments", "import callback")
    program = program.replace("import GPT2Config", "import TrainingArguments, GPT2Config")
    trial = trained(tmp_path, program, metric="eval_loss")
    check_resumed(tmp_path, trial, ranks=1)
    folder = tmp_path / "tuning.db.trials" / trial.folder
    kept = {path.name for path in (folder / "transformers").glob("checkpoint-*")}
    assert {"checkpoint-18", "checkpoint-20"} <= kept and len(kept) <= 4
    assert not list(tmp_path.rglob("out/checkpoint-*"))


def test_alone_the_arguments_are_those_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = training_arguments(Alone(), learning_rate=0.5, use_cpu=True)
    assert made.learning_rate == 0.5 and made.max_steps == -1
    assert Path(made.output_dir) == tmp_path / "transformers"
