"""The page of bench/mutation.py: scores by folder, every survivor, and why some are equivalent."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

Line = dict[str, Any]
FOLDERS = ("stats", "launches", "checks")


def write_page(raw: Path, again: Path) -> None:
    """Write mutation.md next to the raw lines."""
    lines = [json.loads(line) for line in raw.read_text(encoding="utf-8").splitlines()]
    score(lines)


def score(lines: list[Line]) -> None:
    """Print killed of all, by folder."""
    for folder in FOLDERS:
        own = Counter(one["outcome"] for one in lines if one["file"].startswith(folder))
        print(folder, dict(own))
