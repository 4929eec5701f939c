"""Accelerate under a trial: two gloo ranks killed, stopped and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integrations.troubled import TORCHRUN, check_resumed, needs, trained

from tunewright.execution.current_run import Alone
from tunewright.integrations.accelerate import tracker

pytestmark = needs("accelerate")
PROGRAM = """
import torch
from accelerate import Accelerator
from tunewright.integrations.accelerate import tracker

run = tw.current_run()
track = tracker()
accelerator = Accelerator(cpu=True, log_with=track)
lr, steps = run.configuration["lr"], run.configuration["max_steps"]
rank = accelerator.process_index
accelerator.init_trackers("line", config={"lr": lr, "batch_size": 8 + rank})
torch.manual_seed(run.seeds.init)
x = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]])
model = torch.nn.Linear(4, 1)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr))
first = track.resume(accelerator)
for step in range(first + 1, steps + 1):
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    accelerator.log({"train_loss": loss.item(), "phase": "warm"}, step=step)
    if step % 5 == 0:
        accelerator.log({"valid_error": loss.detach()}, step=step)
    trouble(run, step, rank, os.getppid())
    track.save_if_due(accelerator, step, steps)
accelerator.end_training()
"""


def test_two_ranks_killed_stopped_and_resumed(tmp_path: Path) -> None:
    trial = trained(tmp_path, PROGRAM, TORCHRUN)
    assert trial.curves["train_loss"].steps.tolist() == list(range(1, 21))
    losses = trial.curves["train_loss"].values.tolist()
    assert losses == sorted(losses, reverse=True), "one descent: the state was restored"
    assert trial.curves["valid_error"].steps.tolist() == [5, 10, 15, 20]
    assert "phase" not in trial.curves
    assert trial.applied is not None
    rate = trial.configuration["lr"]
    config = {n: v for n, v in trial.applied.items() if not n.startswith("optimizer")}
    assert config == {"lr": rate, "batch_size": 8}
    assert (trial.applied["optimizer.lr"], trial.applied["optimizer.name"]) == (rate, "SGD")
    check_resumed(tmp_path, trial, ranks=2)


def test_alone_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    from accelerate import Accelerator

    own = tracker(Alone())
    accelerator = Accelerator(cpu=True, log_with=own)
    accelerator.init_trackers("line", config={"lr": 0.1})
    assert own.resume(accelerator) == 0
    accelerator.log({"loss": 1.0}, step=1)
    own.save_if_due(accelerator, 1, 1)
    assert list(tmp_path.iterdir()) == []
