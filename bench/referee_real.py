"""The referee against greedy on a real training: planted helpful, null and harmful changes.

    python bench/referee_real.py [orders] [first]      examples/judged_agent, about a second a run

Each order is a shuffled stream of edits of train.py. Greedy runs each once and keeps what is lower;
the judge runs what it deserves. True gains are means of 24 fresh runs of the first and the last
state, with the same 24 seeds, so a state that two rules end with is run once. Adds its lines to
bench/results/referee_real.jsonl; an order that is there already is replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import sklearn.datasets

import tunewright as tw

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "examples" / "judged_agent"
OUT = Path(__file__).parent / "results" / "referee_real.jsonl"
EDITS = (  # what it is planted as, the line, the new value
    ("helpful", "LEARNING_RATE", "0.2"),
    ("helpful", "MOMENTUM", "0.5"),
    ("helpful", "HIDDEN", "24"),
    ("helpful", "STEPS", "330"),
    ("null", "SCALE", "1.01"),
    ("null", "SCALE", "0.99"),
    ("null", "WEIGHT_DECAY", "1e-7"),
    ("null", "WEIGHT_DECAY", "1e-8"),
    ("null", "LEARNING_RATE", None),  # a comment
    ("null", "HIDDEN", None),
    ("null", "STEPS", None),
    ("null", "BATCH", None),
    ("harmful", "SCALE", "0.3"),
    ("harmful", "WEIGHT_DECAY", "0.01"),
    ("harmful", "BATCH", "16"),
    ("harmful", "MOMENTUM", "0.97"),
    ("harmful", "HIDDEN", "12"),
)
FRESH = 24
DIGITS = sklearn.datasets.load_digits(return_X_y=True)


def edited(text: str, name: str, value: str | None) -> str:
    if value is None:
        return text.replace(f"{name} = ", f"# tried\n{name} = ", 1)
    return re.sub(rf"^{name} = [^ \n]+", f"{name} = {value}", text, count=1, flags=re.MULTILINE)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def once(folder: Path, seed: int) -> float:
    """One run, in a fork of this process: it has imported numpy already."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.chdir(folder)
        sys.argv, sys.path[0] = ["train.py", "--seed", str(seed)], str(folder)
        code = 1
        with contextlib.suppress(BaseException):
            runpy.run_path("train.py", run_name="__main__")
            sys.stdout.flush()
            code = 0
        os._exit(code)
    os.close(writing)
    with open(reading) as file:
        out = file.read()
    assert os.waitpid(child, 0)[1] == 0, out
    return float(json.loads(out.splitlines()[-1])["valid_error"])


def begun(folder: Path) -> Path:
    shutil.copytree(PROGRAM, folder, ignore=shutil.ignore_patterns("__pycache__"))
    # the same digits without importing scikit-learn, which takes longer than the training
    images, labels = DIGITS
    np.savez(folder / "digits.npz", images=images, labels=labels)
    text = (folder / "evaluate.py").read_text()
    text = text.replace("from sklearn.datasets import load_digits\n", "")
    read = "(lambda a: (a['images'], a['labels']))(np.load('digits.npz'))"
    (folder / "evaluate.py").write_text(text.replace("load_digits(return_X_y=True)", read))
    (folder / ".gitignore").write_text("tuning*\n__pycache__/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def greedy(folder: Path, edits: list) -> tuple[list, int, float]:
    train, kept = folder / "train.py", []
    best = first = once(folder, 1)
    for number, edit in enumerate(edits):
        before = train.read_text()
        train.write_text(edited(before, *edit[1:]))
        value = once(folder, 100 + number)
        if value < best:
            best = value
            kept.append(edit)
        else:
            train.write_text(before)
    return kept, 1 + len(edits), first - best


def judged(folder: Path, edits: list) -> tuple[list, int, float]:
    train, kept = folder / "train.py", []
    own = tw.referee.begin(
        f"{sys.executable} train.py --seed {{run.seed}}",
        tw.minimize("valid_error"),
        terms=tw.referee.Terms(protect=("evaluate.py",)),
        folder=folder,
        store=folder / "tuning.db",
        executor=tw.executors.Inline(),
    )
    for edit in edits:
        train.write_text(edited(train.read_text(), *edit[1:]))
        if own.attempt().verdict == "keep":
            kept.append(edit)
            git(folder, "commit", "-qam", f"{edit[1]} {edit[2]}")
        else:
            git(folder, "checkout", "-q", "--", ".")
    status = own.status()
    return kept, status.cost.runs, status.running_gain


def mean(folder: Path, known: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Mean and standard error of fresh runs of the program as it is now; each state is run once."""
    text = (folder / "train.py").read_text()
    if text not in known:
        values = [once(folder, seed) for seed in range(5000, 5000 + FRESH)]
        known[text] = float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(FRESH))
    return known[text]


def main() -> None:
    orders = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    wanted = range(start, start + orders)
    lines = [json.loads(line) for line in OUT.read_text().splitlines()] if OUT.exists() else []
    lines = [line for line in lines if line["order"] not in wanted]
    known: dict[str, tuple[float, float]] = {}
    for order in wanted:
        random = np.random.default_rng(order)
        edits = [EDITS[k] for k in random.permutation(len(EDITS))]
        for name, play in (("greedy", greedy), ("judge", judged)):
            with tempfile.TemporaryDirectory() as home:
                folder = begun(Path(home, "program"))
                first = mean(folder, known)
                began = time.monotonic()
                kept, runs, claimed = play(folder, edits)
                lasted = time.monotonic() - began
                end = mean(folder, known)
            kinds = [edit[0] for edit in kept]
            line = {
                "order": order,
                "rule": name,
                "runs": runs,
                "seconds": round(lasted, 1),
                "true": first[0] - end[0],
                "se": float(np.hypot(first[1], end[1])),
                "claimed": claimed,
                **{kind: kinds.count(kind) for kind in ("helpful", "null", "harmful")},
            }
            print(json.dumps(line), flush=True)
            lines.append(line)
            OUT.write_text("".join(json.dumps(one) + "\n" for one in lines))


if __name__ == "__main__":
    main()
