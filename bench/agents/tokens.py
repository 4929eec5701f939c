"""How many tokens each answer of the server has, in a whole round, a launch and a judge loop.

    python bench/agents/tokens.py         prints the table of bench/results/tokens.md

No tokenizer is needed: `tokens` is the rule that the server enforces (bytes of compact JSON over
four), `pieces` a stricter count: at most six letters, three digits or one other sign each.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])  # the tests are importable in children

from tests.mcp import test_judge_loop as loop, test_stdio as stdio

from tunewright.mcp.answer import tokens
from tunewright.mcp.tools import TOOLS, call

PIECE = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^A-Za-z\d\s]")
seen: list[tuple[str, str, int, int, int]] = []


def ask(folder: Path, tool: str, **given: Any) -> dict[str, Any]:
    """The answer of a tool, measured."""
    data = call(tool, given, folder).to_data()
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    verdict = data["verdict"] if data["ok"] else data["error"]["code"]
    size = len(text.encode("utf-8", "backslashreplace"))
    if not given.get("detail"):
        seen.append((tool, verdict, size, tokens(data), len(PIECE.findall(text))))
    return data


def ended(folder: Path, data: dict[str, Any]) -> dict[str, Any]:
    """The answer of a handle once it no longer runs."""
    while data["verdict"] in ("started", "running"):
        time.sleep(0.3)
        data = ask(folder, "status", **data["next"]["arguments"])
    return data


def round_and_launch(folder: Path) -> None:
    """Propose, run, check, launch; and what is refused."""
    (folder / "train.py").write_text(stdio.TRAIN)
    (folder / "tunewright.toml").write_text(
        '[workload]\nfunction = "train.py:train"\nminimize = "valid_error"\nstore = "tuning.db"\n'
    )
    (folder / "rounds").mkdir()
    (folder / "budget.toml").write_text("trials = 60\n")
    ask(folder, "propose_round", **stdio.PROPOSED)
    seeds = {**stdio.PROPOSED, "name": "s", "nuisance": {"seed": [1, 2]}}
    ask(folder, "propose_round", **seeds)
    ask(folder, "dry_run", round="layers")
    ended(folder, ask(folder, "run", round="layers"))
    for tool in ("check", "next"):
        ask(folder, tool, round="layers")
    ask(folder, "why", round="layers", trial=1)
    ended(folder, ask(folder, "launch", round="layers", times=3))
    ask(folder, "history")
    ask(folder, "check", round="../../etc/passwd")
    ask(folder, "run", round="none such")
    ask(folder, "check", round="layers", shell="rm -rf /")
    ask(folder, "nothing")


def judge_loop(folder: Path) -> None:
    """Two changes, a quote, an audit, a status, and a diagnosis."""
    (folder / "train.py").write_text(loop.TRAIN.format(gain=0.0))
    command = f"{sys.executable} train.py --seed {{run.seed}}"
    (folder / "tunewright.toml").write_text(
        f'[workload]\ncommand = {json.dumps(command)}\nminimize = "val_loss"\nstore = "tuning.db"\n'
    )
    (folder / ".gitignore").write_text("*\n!train.py\n")
    loop.git(folder, "init", "-q")
    loop.git(folder, "add", "-f", "train.py")
    loop.git(folder, "commit", "-qm", "first")
    begin = ["judge", "begin", command, "--minimize", "val_loss"]
    words = [sys.executable, "-m", "tunewright", *begin]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    for gain in (0.2, -0.2):
        (folder / "train.py").write_text(loop.TRAIN.format(gain=gain))
        loop.git(folder, "commit", "-qam", f"gain {gain}")
        ended(folder, ask(folder, "judge", action="try"))
    for action in ("quote", "audit"):
        ended(folder, ask(folder, "judge", action=action))
    ask(folder, "judge", action="status")
    lines = ["step,val_loss,train_loss"]
    lines += [f"{k},{1 / k + max(0, k - 30) * 0.02},{1 / k}" for k in range(1, 61)]
    (folder / "curves.csv").write_text("\n".join(lines) + "\n")
    ask(folder, "diagnose", path="curves.csv")


def main() -> None:
    """Print a line for each tool and verdict, the largest answer of each."""
    for play in (round_and_launch, judge_loop):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            play(Path(folder))
    assert {line[0] for line in seen} >= set(TOOLS)
    largest: dict[tuple[str, str], tuple[int, int, int]] = {}
    for tool, verdict, *sizes in seen:
        known = largest.get((tool, verdict), (0, 0, 0))
        largest[tool, verdict] = max(known, (sizes[0], sizes[1], sizes[2]))
    print("| tool | verdict or code | bytes | tokens | pieces |\n|---|---|---|---|---|")
    for (tool, verdict), sizes in largest.items():
        print(f"| {tool} | {verdict} | {sizes[0]} | {sizes[1]} | {sizes[2]} |")
    most = [max(line[k] for line in seen) for k in (2, 3, 4)]
    print(f"| all {len(seen)} answers | the largest | {most[0]} | {most[1]} | {most[2]} |")


if __name__ == "__main__":
    main()
