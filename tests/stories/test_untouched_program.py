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
    said = json.loads(capsys.readouterr().out)
    assert said["ok"], said
    return said["data"]


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


# nanoGPT's own way with settings: globals that `--key=value` overrides, each literal of the same
# type; True and False as Python spells them; checkpoints in out_dir, the learning rate by a cosine.
NANOGPT = """
import json, math, os, random, sys
from ast import literal_eval

out_dir, seed, seed_used, max_iters, eval_interval = "out", 1337, True, 2000, 10
learning_rate, min_lr, decay_lr, bias, dropout = 6e-4, 6e-5, True, False, 0.0
for argument in sys.argv[1:]:
    assert argument.startswith("--")
    key, value = argument[2:].split("=")
    if key not in globals():
        raise ValueError(f"Unknown config key: {key}")
    try:
        attempt = literal_eval(value)
    except (SyntaxError, ValueError):
        attempt = value
    assert type(attempt) == type(globals()[key]), f"{key}: {value!r}"
    globals()[key] = attempt

os.makedirs(out_dir, exist_ok=True)
rng = random.Random(seed if seed_used else 1337)
print("tokens per iteration will be: 491,520")
print("number of parameters: 10.65M")
loss, best = 4.18, math.inf
for it in range(max_iters + 1):
    share = 0.5 * (1 + math.cos(math.pi * it / max_iters))
    rate = min_lr + share * (learning_rate - min_lr) if decay_lr else learning_rate
    if it % eval_interval == 0:
        val = loss + 0.02 * bias + rng.gauss(0, 0.002)
        print(f"step {it}: train loss {loss:.4f}, val loss {val:.4f}")
        if val < best:
            best = val
            with open(os.path.join(out_dir, "ckpt.json"), "w") as file:
                json.dump({"iter_num": it, "best_val_loss": best}, file)
    print(f"iter {it}: loss {loss:.4f}, time {12.5 + it:.2f}ms, mfu -100.00%")
    worst = 1 + (math.log10(rate) + 1.5) ** 2 / 10
    loss += (1.2 + 0.1 * worst - loss) * min(1.0, 2 * rate)
"""
FILE = r"""
[workload]
command = '{python} train.py --out_dir={{run.folder}} --learning_rate={{learning_rate}} \
--decay_lr={{decay_lr}} --bias={{bias}} --max_iters={{max_iters}} --seed={{run.seed}}{more}'
minimize = "val_loss"
booleans = "True/False"

[workload.defaults]
decay_lr = true
bias = false

[workload.means]
learning_rate = "learning_rate"
max_train_steps = "max_iters"
schedule = "decay_lr"
chance = 4.174

[workload.off]
schedule = false

[workload.read]
line = 'step (?P<step>\d+): train loss (?P<train_loss>\S+), val loss (?P<val_loss>\S+)'
"""
BIAS = """
goal = "Does training without biases lower the validation loss?"
trials_per_study = 8
[scientific]
bias = [true, false]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_iters = 40
"""


def set_up(folder: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> None:
    monkeypatch.chdir(folder)
    (folder / "train.py").write_text(NANOGPT)
    written = FILE.replace("\\\n", "").format(python=shlex.quote(sys.executable), more=more)
    (folder / "tunewright.toml").write_text(written)
    (folder / "rounds").mkdir()
    (folder / "rounds" / "bias.toml").write_text(BIAS)


def test_a_nanogpt_program_from_its_first_round_to_a_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(tmp_path, monkeypatch)
    ran = answer(capsys, "run", "bias", "--workers", "1")
    assert (ran["why"], ran["counts"]) == ("finished", {"completed": 16})
    trial = answer(capsys, "trial", "bias", "0")["trial"]
    started = shlex.split(trial["started"])
    assert {"--bias=True", "--decay_lr=True"} <= set(started), "booleans as Python spells them"
    project = tw.project.load(tmp_path)
    results = tw.load(project.store(), "bias")
    assert results.round.fixed == {"max_iters": 40, "decay_lr": True}, "a default counts as fixed"
    folder = Path(results.root) / results.trial(0).folder
    assert json.loads((folder / "ckpt.json").read_text())["iter_num"] in (10, 20, 30, 40)

    checked = answer(capsys, "check", "bias")
    verdicts = {own["check"]: own["verdict"] for own in checked["findings"]}
    assert verdicts["baseline"] == "ok", "the loss falls from 4.18, which is chance"
    assert verdicts["fairness"] == "ok"
    proposals = answer(capsys, "next", "bias", "--write")["proposals"]
    assert proposals and all(one["reason"]["code"].startswith("proposal.") for one in proposals)

    repeats = answer(capsys, "repeat", "bias", "--times", "3", "--workers", "1")
    assert len(set(repeats["values"])) == 3, "the seed reaches the program"
    again = answer(capsys, "again", "bias", str(results.best().number))
    assert again["equal"], "the same seed gives the same curve"
    rival = f"bias:{results.best(bias=True).number}"
    launched = answer(capsys, "launch", "bias", "--baseline", rival, "--workers", "1")
    assert launched["decision"]["verdict"] == "launch", "0.02 better, with seeds of 0.002"
    assert launched["decision"]["claim"] == "feature"
    history = answer(capsys, "history")
    assert len(history["launches"]) == 1


def test_a_seed_that_the_program_ignores_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(tmp_path, monkeypatch, more=" --seed_used=False")
    answer(capsys, "run", "bias", "--workers", "1")
    answer(capsys, "repeat", "bias", "--times", "3", "--workers", "1")
    launched = answer(capsys, "launch", "bias", "--baseline", "bias:0", "--workers", "1")
    codes = [reason["code"] for reason in launched["decision"]["reasons"]]
    assert launched["decision"]["verdict"] == "undecided"
    assert codes[0] == "launch.identical_repeats"
