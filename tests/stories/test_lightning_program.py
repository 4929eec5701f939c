"""A Lightning program with a callback of nine lines is killed, stopped, and resumes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.cli.main import main

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        importlib.util.find_spec("lightning") is None,
        reason="needs the extra integrations: scripts/setup all,dev,integrations",
    ),
]

PROGRAM = """
import logging, os, signal, time, warnings
from pathlib import Path

import tunewright as tw


def train(run, learning_rate=0.1, max_steps=40):
    import lightning
    import torch

    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    journal = Path(__file__).parent / "journal"

    class Line(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def error(self, batch):
            return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

        def training_step(self, batch, number):
            return self.error(batch)

        def validation_step(self, batch, number):
            self.log("valid_error", self.error(batch))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), learning_rate)

    class Report(lightning.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, number):
            run.log(trainer.global_step, train_loss=outputs["loss"].item())
            if run.save_due(trainer.global_step):
                trainer.save_checkpoint(saved)

        def on_validation_end(self, trainer, module):
            if not trainer.sanity_checking:
                metrics = {name: value.item() for name, value in trainer.logged_metrics.items()}
                run.log(trainer.global_step, metrics)

    class Trouble(lightning.Callback):  # what happens to this program, once each
        def on_train_batch_end(self, trainer, module, outputs, batch, number):
            step, met = trainer.global_step, journal.read_text().split() if journal.exists() else []
            with journal.open("a") as file:
                file.write(f"{step}\\n")
            if step == 14 and "killed" not in met:
                journal.open("a").write("killed\\n")
                os.kill(os.getpid(), signal.SIGKILL)
            if step == 26 and "stopped" not in met:
                journal.open("a").write("stopped\\n")
                tw.stores.stop(Path(__file__).parent / "tuning.db", "rate")
                while not run.stop_asked:  # the request takes a moment to arrive
                    time.sleep(0.05)

    saved = Path(run.folder) / "last.ckpt"
    if saved.exists():
        run.resumed_at(torch.load(saved, weights_only=True)["global_step"])
    torch.manual_seed(run.seeds.init)
    made = torch.Generator().manual_seed(0)
    x = torch.randn(80, 4, generator=made)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]])
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, batch_size=8)
    trainer = lightning.Trainer(
        max_steps=max_steps,
        val_check_interval=run.eval_every,
        callbacks=[Report(), Trouble()],
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=run.folder,
    )
    trainer.fit(Line(), loader, loader, ckpt_path=saved if saved.exists() else None)
"""
ROUND = """
goal = "Which learning rate is best?"
trials_per_study = 1
eval_every = 5
[nuisance]
learning_rate = { log = [0.05, 0.2] }
[fixed]
max_steps = 40
"""


def test_killed_stopped_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    assert main(["init", "train.py:train", "--minimize", "valid_error"]) == 0
    text = (tmp_path / "tunewright.toml").read_text()
    assert 'max_train_steps = "max_steps"' in text, "its usual name is known"
    (tmp_path / "rounds").mkdir(exist_ok=True)
    (tmp_path / "rounds" / "rate.toml").write_text(ROUND)
    capsys.readouterr()
    main(["run", "rate", "--workers", "1", "--json"])
    first = json.loads(capsys.readouterr().out)["data"]
    assert first["why"] != "finished" and first["counts"] == {"pending": 1}, first
    main(["run", "rate", "--workers", "1", "--json"])
    second = json.loads(capsys.readouterr().out)["data"]
    assert second["why"] == "finished" and second["counts"] == {"completed": 1}, second

    trial = tw.load(tw.project.load(tmp_path).store(), "rate").trial(0)
    assert trial.attempts == 3
    assert trial.curves["train_loss"].steps.tolist() == list(range(1, 41)), "one curve, whole"
    assert trial.curves["valid_error"].steps.tolist() == list(range(5, 41, 5))
    assert trial.value < trial.curves["valid_error"].values[0]
    steps = [int(word) for word in (tmp_path / "journal").read_text().split() if word.isdigit()]
    starts = [now for before, now in zip([0, *steps], steps, strict=False) if now <= before]
    assert len(starts) == 1 and 1 < starts[0] <= 14, "after the kill: from its last checkpoint"
    assert steps.count(40) == 1 and len(steps) < 40 + 14, "after the stop: from where it stopped"
