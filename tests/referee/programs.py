"""A git repository with a training program whose loss is one line of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

PROGRAM = """\
import json, random, sys
SIZE = {size}
random.seed(int(sys.argv[1]))
print(json.dumps({{"step": 1, "loss": SIZE + random.gauss(0, 0.1)}}))
"""


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def write(folder: Path, size: float, extra: str = "") -> None:
    (folder / "train.py").write_text(PROGRAM.format(size=size) + extra)


def repository(folder: Path, size: float = 2.0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("tuning*\n__pycache__/\n")
    (folder / "data.txt").write_text("a\nb\n")
    write(folder, size)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def commit(folder: Path, size: float, extra: str = "") -> str:
    write(folder, size, extra)
    git(folder, "commit", "-qam", f"size {size}")
    return git(folder, "rev-parse", "HEAD")
