"""Every printed command that trains a trial again, as a shell would execute it."""

from __future__ import annotations

import csv
import html
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

AGAIN = re.compile(r"tunewright again [^\n<]+")


def executed(tunewright: Tunewright, line: str) -> None:
    program, *arguments = shlex.split(line)
    assert program == "tunewright"
    done = tunewright(*arguments, "--on", "inline", "--json")
    assert done.code == 0 and done.data["equal"]


def test_the_commands_of_every_page_run(tunewright: Tunewright, ran: Path) -> None:
    """`trial`, `ls -v`, `report`, `export` and their --json print a command that runs."""
    best = tunewright("show", "layers", "--json").data["best"]
    assert best["command"] == f"tunewright again layers {best['number']}"
    lines = [best["command"]]
    lines += AGAIN.findall(tunewright("trial", "layers", "3").out)
    lines += AGAIN.findall(tunewright("ls", "-v").out)
    assert tunewright("report", "layers").code == 0
    lines += map(html.unescape, AGAIN.findall((ran / "layers.html").read_text())[:1])
    assert tunewright("export", "layers", "t.csv").code == 0
    with open("t.csv", newline="") as file:
        lines += [row["command"] for row in csv.DictReader(file)][:1]
    assert len(lines) == 5
    for line in dict.fromkeys(line.strip() for line in lines):
        executed(tunewright, line)


@pytest.mark.beyond_core
def test_a_command_with_fields_of_ours_runs_again(tunewright: Tunewright, tmp_path: Path) -> None:
    """The `{run.folder}` and `{run.eval_every}` of a command are filled in anew."""
    (tmp_path / "train.py").write_text(
        "import json, pathlib, sys\n"
        "lr, seed, folder, every = sys.argv[1:]\n"
        "assert not list(pathlib.Path(folder).glob('mine'))\n"
        "pathlib.Path(folder, 'mine').touch()\n"
        "for step in range(int(every), 101, int(every)):\n"
        "    print(json.dumps({'step': step, 'e': float(lr) / step + int(seed) % 7}))\n"
    )
    fields = "{lr} {run.seed} {run.folder} {run.eval_every}"
    assert tunewright("init", f"python train.py {fields}", "--minimize", "e").code == 0
    (tmp_path / "rounds").mkdir(exist_ok=True)
    (tmp_path / "rounds" / "a b.toml").write_text(
        'goal = "?"\ntrials_per_study = 1\neval_every = 20\n[nuisance]\nlr = { log = [0.1, 1] }\n'
    )
    assert tunewright("run", "a b").code == 0
    (line,) = AGAIN.findall(tunewright("trial", "a b", "0").out)
    done = tunewright(*shlex.split(line)[1:], "--json")
    assert done.code == 0 and done.data["equal"]
    assert Path(done.data["folder"], "mine").exists()


def test_exit_codes(tunewright: Tunewright, ran: Path) -> None:
    train = ran / "train.py"
    train.write_text(train.read_text().replace("1 / step", "2 / step"))
    refused = tunewright("again", "layers", "0", "--on", "inline", "--json")
    assert refused.code == 2 and refused.error["code"] == "again.code_differs"
    assert refused.error["facts"]["files"] == ["train.py"]
    differs = tunewright("again", "layers", "0", "--anyway", "--on", "inline", "--json")
    assert differs.code == 1 and not differs.data["equal"] and differs.data["difference"] > 0
    missing = tunewright("again", "layers", "0", "--repeat", "2", "--json")
    assert missing.code == 2 and missing.error["code"] == "again.no_such_repeat"
