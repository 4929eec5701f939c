"""Files that a short run wrote into its folder and that have measurements, as patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tunewright.execution.growing_file import EVENTS, KINDS, FileReader, GrowingFile

MOST_FILES = 2_000  # below the folder that are looked at
MOST_SHOWN = 8
_NUMBERED = re.compile(r"\d+")


@dataclass(frozen=True)
class WrittenFile:
    """A file with measurements: how to find it in any trial's folder, and its metrics."""

    pattern: str
    metrics: tuple[str, ...]
    points: int
    has_metric: bool  # the objective's


def written_files(folder: Path, metric: str, besides: str = "") -> tuple[WrittenFile, ...]:
    """The files below a folder that have a step and numbers; with the objective's metric first."""
    found: dict[str, WrittenFile] = {}
    for path in sorted(folder.rglob("*"))[:MOST_FILES]:
        inside = path.relative_to(folder)
        kind = path.suffix in KINDS or EVENTS in path.name
        if not kind or not path.is_file() or inside.as_posix() == besides:
            continue
        pattern = _pattern(inside)
        if pattern in found:
            continue
        readings = FileReader(GrowingFile(pattern), folder).read()
        metrics = tuple(dict.fromkeys(name for one in readings for name in one.metrics))
        if metrics:
            found[pattern] = WrittenFile(pattern, metrics, len(readings), metric in metrics)
    ranked = sorted(found.values(), key=lambda one: (not one.has_metric, -one.points))
    return tuple(ranked[:MOST_SHOWN])


def _pattern(inside: Path) -> str:
    """Where such a file is in another trial's folder: numbers and folders differ by run.

    >>> _pattern(Path("lightning_logs/version_0/metrics.csv"))
    '**/metrics.csv'
    >>> _pattern(Path("log_12.csv")), _pattern(Path("runs/events.out.tfevents.17.host"))
    ('log_*.csv', '**/events.out.tfevents.*')
    """
    name = f"events.out.{EVENTS}.*" if EVENTS in inside.name else _NUMBERED.sub("*", inside.name)
    return name if len(inside.parts) == 1 else f"**/{name}"
