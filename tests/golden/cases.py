"""Which commands the golden facts are about, and how one is asked for its facts.

`READING` names commands that change nothing: they share one copy of the golden store. `WRITING` has
stories of several commands, each in a copy of its own.
"""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden import extract

HERE = Path(__file__).parent
PROJECT, FACTS = HERE / "version_1", HERE / "facts"
STORE = "tuning.sqlite"
INLINE = ("--on", "inline")
# 1e-9 but for the model of the Bayesian search, whose fit depends on the machine's linear algebra
TOLERANCE = {"believe": 1e-4}
MAIN = ("optimizer", "rate", "rate_2", "reasons", "my round", "searching", "asked", "elsewhere")
TUNED = ("tune_1_explore", "tune_2_exploit")
PROBED = ("probe_train_steps_289456a9", "probe_stability_cd225488")
STUDIES = ("rate.study2", "rate.trial11.split1")
Arguments = tuple[str, ...]

READING: dict[str, tuple[Arguments, ...]] = {
    "ls": ((),),
    "show": (
        *((name,) for name in (*MAIN, *TUNED, *PROBED, *STUDIES)),
        ("rate", "--at", "last"),
        ("optimizer", "--minimize", "full_valid_error"),
        ("reasons", "--maximize", "train_loss", "--at", "last"),
        ("nothing",),
    ),
    "trial": (
        *(("reasons", str(number)) for number in range(20)),
        *(("optimizer", number) for number in ("0", "17")),
        *(("rate_2", number) for number in ("9", "20")),
        *(("asked", number) for number in ("2", "3", "4", "6")),
        *(("my round", number) for number in ("0", "9")),
        ("searching", "11"),
        ("elsewhere", "7"),
        ("rate", "11", "--at", "last"),
        ("rate", "99"),
    ),
    "believe": (("rate_2",), ("optimizer",), ("my round",), ("searching",), ("asked",)),
    "check": (
        *((name,) for name in (*MAIN, *TUNED)),
        ("rate_2", "--at", "last"),
        ("optimizer", "--minimize", "train_loss"),
        ("rate", "--minimize", "no_such_metric"),
    ),
    "next": (*((name,) for name in (*MAIN, *TUNED)), ("rate", "--at", "last")),
    "extend": (
        ("rate_2", "--max-train-steps", "200"),
        ("optimizer", "--max-train-steps", "80", "--tune", "dropout", "--trials", "7"),
        ("rate_2", "--max-train-steps", "20"),
    ),
    "variance": (("rate",), ("rate_2",), ("optimizer",), ("my round",), ("tune_2_exploit",)),
    "history": ((),),
    "plot": (
        ("optimizer", "--format", "svg"),
        ("rate_2", "--format", "svg", "--only", "axis", "--only", "best_of_k"),
        ("my round", "--format", "svg", "--only", "gradient_norm"),
        ("asked", "--format", "svg", "--only", "curves", "--only", "best_step"),
    ),
    "report": (
        ("optimizer",),
        ("rate_2", "--out", "rate_2.html"),
        ("reasons", "--out", "reasons.txt"),
    ),
    "export": tuple(
        (name, f"{table}{ending}", "--table", table)
        for name in ("optimizer", "reasons", "my round")
        for table, ending in (("trials", ".csv"), ("trials", ".json"), ("curves", ".json"))
    ),
    "doctor": ((),),
    "launch": (("rate_2", "--dry-run"), ("optimizer", "--dry-run"), ("nothing", "--dry-run")),
    "run": (("my round", "--dry-run"), ("rate_2", "--dry-run"), ("nothing", "--dry-run")),
    "tune": (("tune", "--trials", "40", "--dry-run"),),
    "restore": (("--list",),),
    "probe": (
        ("clip", "my round", "--recorded"),
        ("clip", "rate_2", "--recorded"),
        ("critical-batch", "my round", "--noise-scale", "16,256"),
    ),
}
# commands that print no JSON, and words that must be among what each prints
SAYS: dict[str, tuple[str, ...]] = {
    "export": (),
    "run": ("my round", "rate_2", "rate_3", "0.08543", "10 trials", "16 trials"),
    "tune": ("39 of 40", "tune_2_exploit trial 11", "optimizer trial 17", "0.1062"),
    "restore": ("18 rounds", "17 rounds"),
    "repeat": ("trial 1", "7 repeats"),
    "note": ("my round", "2 notes"),
    "stop": ("my round",),
    "import": ("again", "0.47", "trial 10"),
    "backup": (),
    "launch": ("rate_2 trial 9", "optimizer trial 17", "96.5 %"),  # with --dry-run
    "final": ("rate_2_final",),  # with --fold
}
SILENT = ("--dry-run", "--first", "--fold")  # with these, a command prints no JSON either

WRITING: dict[str, tuple[Arguments, ...]] = {
    "run what is left": (
        ("run", "my round", *INLINE),
        ("show", "my round"),
        ("check", "my round"),
        ("launch", "my round", *INLINE),
        ("history",),
    ),
    "run more trials": (
        ("run", "rate", "--trials", "14", *INLINE),
        ("show", "rate"),
        ("check", "rate_2"),
        ("stop", "rate"),
        ("run", "rate", "--trials", "14", *INLINE),
    ),
    "follow a proposal": (
        ("next", "rate", "--write"),
        ("run", "rate_3", "--trials", "6", *INLINE),
        ("show", "rate_3"),
        ("check", "rate_3"),
        ("next", "rate_3"),
    ),
    "train longer": (
        ("extend", "rate_2", "--max-train-steps", "80", "--write"),
        ("run", "rate_3", *INLINE),
        ("show", "rate_3"),
        ("next", "rate_3"),
    ),
    "repeat and launch": (
        ("repeat", "rate_2", "--times", "7", "--trial", "1", *INLINE),
        ("variance", "rate_2", "--times", "6", *INLINE),
        ("launch", "rate_2", *INLINE),
        ("launch", "rate_2", "--baseline", "rate", *INLINE),
        ("launch", "rate", "--baseline", "rate_2:9", "--times", "3", *INLINE),
        ("launch", "optimizer", "--first"),
        ("history",),
    ),
    "measure": (
        ("evaluate", "optimizer", "--top", "2", *INLINE),
        ("evaluate", "reasons", "--trial", "6", *INLINE),
        ("final", "rate_2"),  # a second look at the test set is refused
        ("final", "rate_2", "--anyway"),
        ("final", "rate_2", "--fold", "keep", "--no-later-launch"),
        ("trial", "rate_2", "9"),
    ),
    "ask the probes again": (
        ("probe", "train-steps", "rate_2", "--metric", "train_loss", "--at-most", "0.05", *INLINE),
        ("probe", "stability", "rate_2", "--steps", "60", *INLINE),
        ("ls",),
    ),
    "go on with the campaign": (
        ("tune", "tune", "--trials", "40", *INLINE),
        ("ls",),
        ("history",),
    ),
    "write and import": (
        ("note", "my round", "another note"),
        ("stop", "my round", "7"),
        ("stop", "my round", "77"),
        ("import", "table", "runs_elsewhere.csv", "--minimize", "valid_loss", "--name", "again"),
        ("import", "table", "runs_elsewhere.csv", "--minimize", "valid_loss", "--name", "again"),
        ("show", "again"),
        ("show", "my round"),
    ),
    "back up and restore": (
        ("backup",),
        ("note", "rate", "lost again"),
        ("restore",),
        ("show", "rate"),
    ),
    "rebuild": (
        ("restore", "--rebuild"),
        ("ls",),
        ("history",),
        *(("show", name) for name in ("optimizer", "reasons", "my round", "searching", "asked")),
        ("trial", "reasons", "14"),
        ("trial", "optimizer", "17"),
        ("check", "rate_2"),
        ("next", "rate"),
        ("variance", "rate"),
        ("final", "rate_2"),  # a second look at the test set is refused
        ("final", "rate_2", "--anyway"),
        ("show", "elsewhere"),
        ("run", "my round", *INLINE),
        ("show", "my round"),
    ),
}


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    code: int
    out: str
    told: str  # on standard error


def copied(into: Path) -> Path:
    """A copy of the golden project, which commands may change."""
    left_out = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PROJECT, into / "project", ignore=left_out))


def asked(project: Path, command: Sequence[str]) -> Answer:
    """Run one command in a project, in this process."""
    from tunewright.cli.main import main

    out, told = io.StringIO(), io.StringIO()
    with chdir(project), redirect_stdout(out), redirect_stderr(told):
        code = main(list(command))
    return Answer(code, out.getvalue(), told.getvalue())


def facts_of(project: Path, command: Sequence[str]) -> dict[str, Any]:
    """The exit code of a command, and the facts in its answer where there is one."""
    verb, *arguments = command
    found: Any = None
    if any(option in arguments for option in SILENT) or verb not in extract.FACTS:
        answer = asked(project, command)
        if verb == "export":
            found = exported(project / arguments[1])
        elif not answer.code:
            found = {"says": [text for text in SAYS[verb] if text in answer.out]}
    else:
        answer = asked(project, [*command, "--json"])
        data = extract.data_of(answer.out)
        found = None if data is None else extract.FACTS[verb](data)
    told = {"command": list(command), "exit_code": answer.code, "facts": found}
    return dict(json.loads(json.dumps(told)))


def exported(path: Path) -> Any:
    """A digest of each column that `export` wrote; sentences only by whether they are there."""
    if path.suffix == ".json":
        rows = json.loads(path.read_text(encoding="utf-8"))
    else:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [
                {name: _cell(text) for name, text in row.items()} for row in csv.DictReader(file)
            ]
    names = list(rows[0])
    columns = {name: [row[name] for row in rows] for name in names}
    return {
        "rows": len(rows),
        "columns": {
            name: {
                "digest": extract.digest(cells),
                "filled": sum(c not in (None, "") for c in cells),
            }
            for name, cells in columns.items()
        },
    }


def _cell(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def differences(found: Any, golden: Any, tolerance: float, place: str = "") -> list[str]:
    """Where two facts differ, a line each; numbers may differ by the relative tolerance."""
    if place.endswith(".evidence"):
        return _numbers_lost(found, golden, tolerance, place)
    if isinstance(found, dict) and isinstance(golden, dict):
        lines = [f"{place}.{name}: is new" for name in found.keys() - golden.keys()]
        lines += [f"{place}.{name}: is gone" for name in golden.keys() - found.keys()]
        for name in found.keys() & golden.keys():
            lines += differences(found[name], golden[name], tolerance, f"{place}.{name}")
        return sorted(lines)
    if isinstance(found, list) and isinstance(golden, list) and len(found) == len(golden):
        pairs = enumerate(zip(found, golden, strict=True))
        return [
            line for n, (f, g) in pairs for line in differences(f, g, tolerance, f"{place}.{n}")
        ]
    if _is_number(found) and _is_number(golden):
        close = abs(found - golden) <= tolerance * max(abs(found), abs(golden))
        return [] if close else [f"{place}: {found!r}, was {golden!r}"]
    return [] if found == golden else [f"{place}: {found!r}, was {golden!r}"]


def _numbers_lost(found: Any, golden: Any, tolerance: float, place: str) -> list[str]:
    """Numbers of an evidence that are no longer among its numbers, whatever they are called now.

    Parts with many numbers were recorded as their count and sum; those compare where the count is
    the same.
    """
    now = [float(n) for n in found.values() if _is_number(n)]
    lines = []
    for name, value in golden.items():
        if isinstance(value, list):
            same = isinstance(found.get(name), list) and found[name][0] == value[0]
            if not same:  # it has other parts now
                continue
            lines += differences(found[name], value, tolerance, f"{place} {name}")
        elif _is_number(value) and not any(
            abs(n - value) <= tolerance * max(abs(n), abs(value)) for n in now
        ):
            lines.append(f"{place} {name}: {value!r} is gone")
    return lines


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
