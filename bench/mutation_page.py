"""The page of bench/mutation.py: scores by folder, every survivor, and why some are equivalent."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

Line = dict[str, Any]
FOLDERS = ("stats", "launches", "checks")
KEY = ("file", "kind", "within", "before", "after")
_PRIVATE = re.compile(r"\b_(?=[A-Z])")  # the underscore of a constant
MOVED = {  # files that were merged since the first run
    "launches/case.py": "launches/arm.py",
    "launches/launch_plan.py": "launches/workflow.py",
    "launches/pipeline_history.py": "launches/lineage.py",
}
_GONE = "gone: `Finding.of_round` names the scope in one place"
# (file, function, code before the change): why no test can tell the mutant from the original
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("checks/instability.py", "just_above", "True"): "both lists have a place for each trial",
    ("checks/_followed_rate.py", "_warmup", "values[0] >= (1 - SAME) * one.peak"): (
        "they differ only where two floats are equal to the last bit"
    ),
    (
        "checks/_same_curves.py",
        "must_act",
        "abs(float(a) - float(b)) > 0.001 * max(abs(float(a)), abs(float(b)))",
    ): "they differ only where two floats are equal to the last bit",
    ("stats/crowding.py", "_chances", "1e-12"): "a tolerance of rounding, far below any difference",
    ("checks/_followed_rate.py", "_value", "one.peak > APART * one.given"): (
        "they differ only where two floats are equal to the last bit"
    ),
    ("checks/baseline.py", "_finding", "'round'"): _GONE,
    ("checks/fairness.py", "_alone", "'round'"): _GONE,
    ("checks/variance.py", "variance", "'round'"): _GONE,
    ("checks/_training_fit.py", "training_fit", "0"): "of the two, none has the two values needed",
    ("checks/checklist.py", "check", "1"): "only the first of them is read",
    ("stats/noise.py", "NoisyCurves.factor_at", "0"): "one window covers the first two evaluations",
}


def read(path: Path) -> list[Line]:
    """The raw lines of a file; none where it is not there."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_page(raw: Path, again: Path) -> None:
    """Write mutation.md next to the raw lines, from a run and what was tried again since."""
    lines, later = read(raw), read(again)
    now = {key_of(one): one["outcome"] for one in later}
    text = "\n".join(
        [
            "# Mutation testing of stats/, launches/ and checks/",
            "",
            "`python bench/mutation.py` makes it; its docstring says how mutants are made.",
            f"{len(lines)} mutants: of each file 8 %, at least 4, seed 20261118, and of these what",
            "was tried in the time there was, in random order. Raw lines: mutation.jsonl, and",
            "mutation_again.jsonl for what survived, tried again by the tests written since.",
            "",
            "The machine was shared by many jobs. 37 mutants are left out: 30 hit a limit",
            "of wall time, and 7 that needed a new process. The wall limit is one of CPU time now.",
            "What no quick test reached lies in tests that train; those of launches count in the",
            "second run. A survivor without a reason is a gap in the tests; one reason is that the",
            "code is gone.",
            "Places are those of commit 37fef1ff, before files of launches/ were merged.",
            "",
            *scores(lines, now),
            "",
            *kinds(lines, now),
            "",
            *survivors(lines, now),
            "",
        ]
    )
    raw.with_suffix(".md").write_text(text, encoding="utf-8")
    print("\n".join(scores(lines, now)))


def key_of(line: Line) -> tuple[str, ...]:
    """What names a mutant, however lines move and constants become private."""
    file = MOVED.get(line["file"], line["file"])
    return tuple(_PRIVATE.sub("", file if name == "file" else line[name]) for name in KEY)


def alive(line: Line, now: dict[tuple[str, ...], str]) -> bool:
    """Whether no test kills it, those written since included."""
    return line["outcome"] != "killed" and now.get(key_of(line), "survived") != "killed"


def equivalent(line: Line) -> str:
    """Why it is the same program; empty where it is not."""
    return EQUIVALENT.get((line["file"], line["within"], line["before"]), "")


def scores(lines: list[Line], now: dict[tuple[str, ...], str]) -> list[str]:
    """A row for each folder: killed at first, and with the tests written since."""
    rows = [
        "| folder | mutants | killed before | reached by no quick test | killed now | "
        "equivalent | score before | score now |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for folder in (*FOLDERS, "all"):
        own = [one for one in lines if folder == "all" or one["file"].startswith(f"{folder}/")]
        if not own:
            continue
        first = Counter(one["outcome"] for one in own)
        left = [one for one in own if alive(one, now)]
        same = sum(bool(equivalent(one)) for one in left)
        killed = len(own) - len(left)
        rows.append(
            f"| {folder} | {len(own)} | {first['killed']} | {first['not reached']} | {killed} | "
            f"{same} | {first['killed'] / len(own):.1%} | {killed / (len(own) - same):.1%} |"
        )
    return rows


def kinds(lines: list[Line], now: dict[tuple[str, ...], str]) -> list[str]:
    """A row for each kind of change."""
    rows = ["| kind | mutants | killed before | killed now |", "|---|---|---|---|"]
    for kind in sorted({one["kind"] for one in lines}):
        own = [one for one in lines if one["kind"] == kind]
        before = sum(one["outcome"] == "killed" for one in own)
        rows.append(
            f"| {kind} | {len(own)} | {before} | {len(own) - sum(alive(o, now) for o in own)} |"
        )
    return rows


def survivors(lines: list[Line], now: dict[tuple[str, ...], str]) -> list[str]:
    """Every mutant that no test kills: those that are faults first, then the equivalent ones."""
    left = sorted((one for one in lines if alive(one, now)), key=lambda o: (o["file"], o["line"]))
    rows = ["## Survivors", "", "| place | change | why it is equivalent |", "|---|---|---|"]
    for one in sorted(left, key=lambda o: bool(equivalent(o))):
        change = f"`{cell(one['before'])}` -> `{cell(one['after'])}`"
        rows.append(f"| {one['file']}:{one['line']} | {change} | {equivalent(one)} |")
    return rows


def cell(code: str) -> str:
    """Code inside a table."""
    return code.replace("|", "\\|").replace("`", "'")
