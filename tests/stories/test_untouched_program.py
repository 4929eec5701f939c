"""An untouched program with nanoGPT's interface and log goes from `init` to a judged round."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.cli.main import main
from tunewright.messages import Message

PROGRAM = """
import math, random, sys

settings = {"learning_rate": 1e-3, "max_iters": 40, "seed": 1337}
for argument in sys.argv[1:]:
    key, value = argument.removeprefix("--").split("=")
    settings[key] = type(settings[key])(float(value))
rng = random.Random(settings["seed"])
print("number of parameters: 10.65M")
for it in range(settings["max_iters"] + 1):
    loss = 1 + 3 * math.exp(-it * settings["learning_rate"]) + rng.gauss(0, 0.001)
    if it % 10 == 0:
        print(f"step {it}: train loss {loss:.4f}, val loss {loss + 0.1:.4f}")
    print(f"iter {it}: loss {loss:.4f}, time {12.5 + it:.2f}ms, mfu -100.00%")
"""
ROUND = """
goal = "Which learning rate is best?"
trials_per_study = 3
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_iters = 40
"""
COMMAND = (
    "{python} train.py --learning_rate={{learning_rate}} --max_iters={{max_iters}} "
    "--seed={{run.seed}}"
)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)["data"]


def test_the_proposed_pattern_is_all_that_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    trains = COMMAND.format(python=shlex.quote(sys.executable))
    assert main(["init", trains, "--minimize", "val_loss"]) == 0
    (tmp_path / "rounds").mkdir(exist_ok=True)
    (tmp_path / "rounds" / "rate.toml").write_text(ROUND)
    capsys.readouterr()

    first = answer(capsys, "run", "rate", "--workers", "1")
    assert first["why"] == "all failed" and first["ended"] == 1, "one trial is enough"
    trial = answer(capsys, "trial", "rate", "0")["trial"]
    assert "val loss" in trial["detail"]
    reason = trial["reason"]
    facts = {name: fact for name, fact in reason.items() if name != "code"}
    sentence = Message(reason["code"], facts.get("facts", facts)).text

    line = re.search(r"write (line = .*)$", sentence)
    assert line is not None, "the sentence has the very line of the file"
    with (tmp_path / "tunewright.toml").open("a") as file:
        file.write(f"\n[workload.read]\n{line.group(1)}\n")
    again = answer(capsys, "run", "rate", "--workers", "1", "--retry-failed")
    assert again["why"] == "finished" and again["counts"] == {"completed": 3}
    assert again["best"]["value"] is not None

    project = tw.project.load(tmp_path)
    results = tw.load(project.store(), "rate")
    assert set(results.trial(0).curves) == {"train_loss", "val_loss", "loss"}
    assert results.trial(0).curves["val_loss"].steps.tolist() == [0, 10, 20, 30, 40]
    findings = {finding.check: finding for finding in tw.check(results)}
    assert "boundary" in findings, "it is judged like any other round"


def test_a_pipe_is_refused_by_init_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    piped = "python train.py --lr={learning_rate} | python convert.py"
    assert main(["init", piped, "--minimize", "val_loss", "--json"]) == 2
    assert not (tmp_path / "tunewright.toml").exists()
    said = capsys.readouterr().out
    assert "command.shell" in said
    assert main(["init", f"bash -c {shlex.quote(piped)}", "--minimize", "val_loss"]) == 0
