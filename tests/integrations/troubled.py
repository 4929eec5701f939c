"""A trial that is killed at step 7 and stopped at step 13, as a command under tw.run."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.store.trial import Trial

# What happens to the program, once each; rank 0 kills `victim`, or asks for a stop and waits.
TROUBLE = """
import os, signal, sys, time, warnings
from pathlib import Path
import tunewright as tw
warnings.simplefilter("ignore")

def trouble(run, step, rank, victim):
    journal = Path(__file__).with_name(f"journal{rank}")
    met = journal.read_text().split() if journal.exists() else []
    with journal.open("a") as file:
        file.write(f"{step}\\n")
    if rank == 0 and step == 7 and "killed" not in met:
        journal.open("a").write("killed\\n")
        os.kill(victim, signal.SIGKILL)
        time.sleep(60)
    if rank == 0 and step == 13 and "stopped" not in met:
        journal.open("a").write("stopped\\n")
        tw.stores.stop(Path(__file__).with_name("tuning.db"), "rate")
        while not run.stop_asked:
            time.sleep(0.05)
"""
TORCHRUN = "-m torch.distributed.run --nproc-per-node=2 --master-port={run.port} "
STEPS = 20


def needs(*libraries: str) -> list[pytest.MarkDecorator]:
    """The marks of a test that trains with these libraries."""
    missing = any(importlib.util.find_spec(name) is None for name in libraries)
    reason = "needs the extra integrations: scripts/setup all,dev,integrations"
    return [pytest.mark.torch, pytest.mark.beyond_core, pytest.mark.skipif(missing, reason=reason)]


def round_of(**fixed: float) -> tw.Round:
    return tw.Round(
        name="rate",
        goal="Which learning rate?",
        nuisance={"lr": tw.log(0.05, 0.2)},
        fixed={"max_steps": STEPS, **fixed},
        trials_per_study=1,
    )


def trained(
    place: Path, program: str, launcher: str = "", metric: str = "valid_error", calls: int = 2
) -> Trial:
    """Run the program as a command until its round is finished; the second call resumes."""
    file = place / "train.py"
    file.write_text(TROUBLE + program)
    train = tw.command(f"'{sys.executable}' {launcher}'{file}' {{config}} {{run.seed}}")
    workload = tw.Workload(
        train,
        tw.minimize(metric),
        store=place / "tuning.db",
        executor=tw.Local(workers=1, devices=[]),
        means={"max_train_steps": "max_steps"},
        eval_every=5,
    )
    for call in range(calls):
        results = tw.run(round_of(), workload, progress="off")
        (trial,) = results.trials
        logs = sorted((place / "tuning.db.trials").rglob("log.*.txt"))
        shown = trial.detail + "".join(log.read_text()[-3000:] for log in logs)
        wanted = "completed" if call == calls - 1 else "pending"
        assert trial.status == wanted, (trial, str(trial.reason), shown)
    return trial


def check_resumed(place: Path, trial: Trial, ranks: int) -> None:
    """Killed once, stopped once, and one whole curve; every rank trained the same steps."""
    assert trial.attempts == 3
    journals = [(place / f"journal{rank}").read_text().split() for rank in range(ranks)]
    steps = [int(word) for word in journals[0] if word.isdigit()]
    again = [now for before, now in zip([0, *steps], steps, strict=False) if now <= before]
    assert len(again) == 1 and 1 < again[0] <= 7, (steps, "after the kill: from a checkpoint")
    assert steps.count(14) == 1, "after the stop: from where it stopped"
    assert max(steps) == STEPS
    for other in journals[1:]:
        assert sorted(set(map(int, other)) - {7}) == sorted(set(steps) - {7}), "all ranks"


def same(applied: Mapping[str, object] | None, configuration: Mapping[str, object]) -> bool:
    return applied is not None and all(applied.get(n) == v for n, v in configuration.items())


assert os.name == "posix"
