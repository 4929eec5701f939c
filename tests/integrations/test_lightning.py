"""Lightning under a trial: two gloo ranks killed, stopped and resumed; and one process."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integrations.troubled import STEPS, check_resumed, needs, trained

import tunewright as tw
from tunewright.checks.applied import AppliedEvidence
from tunewright.store.trial import Trial

pytestmark = needs("lightning")
PROGRAM = """
import logging
import lightning, torch
from tunewright.integrations.lightning import callback

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
run = tw.current_run()
report = callback()

class Line(lightning.LightningModule):
    def __init__(self, lr, depth=1):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(4, 1)
    def error(self, batch):
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
    def training_step(self, batch, number):
        loss = self.error(batch)
        self.log("train_loss", loss)
        return loss
    def validation_step(self, batch, number):
        self.log("valid_error", self.error(batch), sync_dist=True)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), min(self.hparams.lr, 0.06))

class Trouble(lightning.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        trouble(run, trainer.global_step, trainer.global_rank, os.getpid())

torch.manual_seed(run.seeds.init)
made = torch.Generator().manual_seed(0)
x = torch.randn(160, 4, generator=made)
data = torch.utils.data.TensorDataset(x, x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]))
loader = torch.utils.data.DataLoader(data, batch_size=8)
trainer = lightning.Trainer(
    max_steps=run.configuration["max_steps"], val_check_interval=5, log_every_n_steps=1,
    callbacks=[Trouble(), report], accelerator="cpu", devices=RANKS, strategy=STRATEGY,
    logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, default_root_dir=run.folder,
)
trainer.fit(Line(run.configuration["lr"]), loader, loader, ckpt_path=report.checkpoint)
"""


def check_curves(trial: Trial) -> None:
    for name in ("train_loss", "grad_norm"):
        assert trial.curves[name].steps.tolist() == list(range(1, STEPS + 1)), name
    assert trial.curves["valid_error"].steps.tolist() == [5, 10, 15, 20], "no sanity check"
    assert trial.applied is not None
    assert trial.applied["lr"] == trial.configuration["lr"] and trial.applied["depth"] == 1
    assert trial.applied["optimizer.lr"] == min(trial.configuration["lr"], 0.06)  # type: ignore[type-var]
    assert trial.applied["optimizer.name"] == "SGD"


def test_two_ranks_killed_stopped_and_resumed(tmp_path: Path) -> None:
    program = PROGRAM.replace("RANKS", "2").replace("STRATEGY", '"ddp"')
    trial = trained(tmp_path, program)
    check_curves(trial)
    check_resumed(tmp_path, trial, ranks=2)
    (kept,) = (tmp_path / "tuning.db.trials").rglob("lightning")
    assert len(list(kept.iterdir())) <= 3, "the last two checkpoints and the best"


def test_a_users_model_checkpoint_writes_into_the_trial_and_survives_a_resume(
    tmp_path: Path,
) -> None:
    """Its best checkpoint is that of all attempts; the adapter's own checkpoints stay apart."""
    own = """
from lightning.pytorch.callbacks import ModelCheckpoint
best = ModelCheckpoint(monitor="valid_error", save_top_k=1, filename="{step}")
"""
    program = PROGRAM.replace("RANKS", "1").replace("STRATEGY", '"auto"')
    program = program.replace("class Trouble", f"{own}\nclass Trouble")
    program = program.replace(
        "callbacks=[Trouble(), report]", "callbacks=[Trouble(), best, report]"
    )
    program = program.replace("enable_checkpointing=False, ", "")
    program = program.replace("default_root_dir=run.folder,", "")
    program += """
import json
Path(__file__).with_name("best.json").write_text(json.dumps(best.best_model_path))
"""
    trial = trained(tmp_path, program)
    check_curves(trial)
    folder = tmp_path / "tuning.db.trials" / trial.folder
    found = Path(json.loads((tmp_path / "best.json").read_text()))
    assert found.parent.resolve() == (folder / "checkpoints").resolve()
    assert [path.name for path in found.parent.iterdir()] == [found.name], "only the best stays"
    errors = trial.curves["valid_error"]
    best = int(errors.steps[errors.values.argmin()])
    assert found.name == f"step={best}.ckpt"
    assert (folder / "lightning").is_dir()


def test_ranks_that_train_with_different_values_are_found(tmp_path: Path) -> None:
    program = PROGRAM.replace("RANKS", "2").replace("STRATEGY", '"ddp"')
    program = program.replace("trouble(run,", "(lambda *_: None)(run,")
    given = 'run.configuration["lr"]'
    program = program.replace(
        f"Line({given})", f'Line({given} * (1 + int(os.environ.get("LOCAL_RANK", "0"))))'
    )
    trial = trained(tmp_path, program, calls=1)
    rate = trial.configuration["lr"]
    assert isinstance(rate, float) and trial.applied is not None
    assert trial.applied["lr"] == [rate, 2 * rate]
    results = tw.load(tmp_path / "tuning.db", "rate")
    (finding,) = [one for one in tw.check(results) if one.check == "applied"]
    assert finding.verdict == "warn"
    assert isinstance(finding.evidence, AppliedEvidence)
    assert finding.evidence.doubts[0].name == "lr"
