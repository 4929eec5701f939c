"""What each page shows, as plain data read from a store: home, round, trial, campaign, probes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tunewright.campaigns.definition import read_definition
from tunewright.design.conditions import in_words
from tunewright.design.ranges import Choice, as_range
from tunewright.errors import NotFound
from tunewright.launches import lineage
from tunewright.present.figures.ticks import ticks
from tunewright.present.plain import plain
from tunewright.probes.probe import message_of
from tunewright.store import overview
from tunewright.store.overview import STATUSES, Overview
from tunewright.store.probes import ProbeRecord
from tunewright.store.rounds import RoundRecord
from tunewright.store.store import Store
from tunewright.store.trial import Trial

TAIL = 64 * 1024  # bytes of a log that a page shows at a time
BEST = 5


def home(store: Store) -> dict[str, Any]:
    """Every round, campaign and launch decision of a store, newest first."""
    records = store.rounds()
    made: dict[str, Any] = plain(
        {
            "store": store.url,
            "rounds": [_line(record) for record in reversed(records)],
            "campaigns": [
                {"name": one.name, "created": one.created} for one in reversed(store.campaigns())
            ],
            "launches": [_launch(one) for one in reversed(lineage.launches(store))],
            "probes": len(store.probes()),
        }
    )
    return made


def _line(record: RoundRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "goal": record.round.goal,
        "created": record.created,
        "counts": record.counts,
        "trials": sum(record.counts.values()),
        "metric": record.objective.metric,
        "minimize": record.objective.minimize,
        "search": record.search,
        "campaign": record.campaign,
        "purpose": record.purpose,
    }


def _launch(one: Any) -> dict[str, Any]:
    return {
        "verdict": one.verdict,
        "written": one.written,
        "candidate": one.candidate,
        "baseline": one.baseline,
        "why": one.why,
        "goal": one.goal,
    }


def bests(store: Store, names: Iterable[str]) -> dict[str, Any]:
    """The best value of rounds, and the newest note, for the lines of the home page."""
    made: dict[str, Any] = {}
    for name in names:
        columns = overview.read_overview(store, name)
        top = columns.best(1)
        notes = store.notes(columns.record)
        made[name] = {
            "value": float(columns.values[top[0]]) if len(top) else None,
            "trial": int(columns.numbers[top[0]]) if len(top) else None,
            "note": notes[-1].text if notes else "",
        }
    return made


def round_page(store: Store, columns: Overview) -> dict[str, Any]:
    """A round without its trials: question, axes, studies, counts, the best, notes."""
    record = columns.record
    round = record.round
    top = columns.best(BEST)
    counted = np.bincount(columns.statuses, minlength=len(STATUSES))
    made: dict[str, Any] = plain(
        {
            **_line(record),
            "objective": str(record.objective),
            "counts": {s: int(n) for s, n in zip(STATUSES, counted, strict=True) if n},
            "statuses": STATUSES,
            "studies": [study.label for study in round.studies],
            "axes": list(_axes(columns)),
            "metrics": overview.metrics_of(store, record.id),
            "best": [int(columns.numbers[row]) for row in top],
            "value": float(columns.values[top[0]]) if len(top) else None,
            "seconds": float(columns.seconds.sum()),
            "repeats": columns.repeats,
            "notes": [{"text": one.text, "written": one.written} for one in store.notes(record)],
            "command": record.command,
            "definition": round,
        }
    )
    return made


def _axes(columns: Overview) -> Iterable[dict[str, Any]]:
    """Searched hyperparameters with their scale, in the order of `columns.columns`."""
    spaces = {h.column: h for study in columns.record.round.studies for h in study.space}
    for column in columns.columns:
        own = spaces[column]
        yield {
            "column": column,
            "name": own.name,
            "condition": in_words(own.when),
            "range": str(own.range),
            "data": own.range.to_data(),
            "choice": isinstance(own.range, Choice),
            "ticks": [{"at": tick.position, "label": tick.label} for tick in ticks(own.range)],
        }


def scientific(record: RoundRecord) -> list[dict[str, Any]]:
    """The scientific hyperparameters and their values."""
    return [
        {"name": name, "range": str(as_range(declared))}
        for name, declared in record.round.scientific.items()
    ]


def rows(store: Store, name: str, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Trials as the table shows them, with every digit; one that is not there is left out."""
    return [
        plain(
            {
                "number": trial.number,
                "configuration": trial.configuration,
                "value": trial.value,
                "status": trial.status,
                "reason": None if trial.reason is None else str(trial.reason),
                "seconds": trial.seconds,
                "attempts": trial.attempts,
                "peak_memory_mb": trial.peak_memory_mb,
            }
        )
        for trial in store.trials(name, numbers)
    ]


def trial_page(store: Store, name: str, number: int) -> dict[str, Any]:
    """A trial with its attempts, snapshots, origin and repeats."""
    (trial,) = store.trials(name, [number]) or (None,)
    if trial is None:
        raise NotFound("trial.not_found", round=name, trial=number, first=None, last=None)
    record = store.round(name)
    origin = store.provenance(trial.identity)
    made: dict[str, Any] = plain(
        {
            **{key: value for key, value in plain(trial).items() if key != "unit"},
            "reason": None if trial.reason is None else str(trial.reason),
            "round": name,
            "goal": record.round.goal,
            "metric": record.objective.metric,
            "metrics": list(trial.curves),
            "attempted": store.attempts(trial.identity),
            "snapshots": store.snapshots(trial.identity),
            "origin": origin,
            "folder": _folder(store, record, trial),
        }
    )
    return made


def curves_of(trial: Trial, most: int = 1000) -> dict[str, Any]:
    """Every metric of a trial; long curves keep every k-th point and the last."""
    made = {}
    for metric, curve in trial.curves.items():
        every = max(1, -(-len(curve) // most))
        chosen = np.unique(np.append(np.arange(0, len(curve), every), len(curve) - 1))
        made[metric] = {"steps": curve.steps[chosen], "values": curve.values[chosen]}
    return plain(made)  # type: ignore[no-any-return]


def log_tail(store: Store, name: str, number: int) -> dict[str, Any]:
    """The end of the newest log of a trial; empty where there is none."""
    (trial,) = store.trials(name, [number]) or (None,)
    record = store.round(name)
    folder = None if trial is None else _folder(store, record, trial)
    if trial is None or folder is None:
        return {"text": "", "file": ""}
    for path in (
        folder / f"log.{trial.attempts}.tail.txt",
        folder / f"log.{trial.attempts}.txt",
    ):
        text = _end_of(path, folder)
        if text is not None:
            return {"text": text, "file": path.name}
    return {"text": "", "file": ""}


def _end_of(path: Path, folder: Path) -> str | None:
    """The end of a plain file inside a folder; a link that leads elsewhere is no such file."""
    try:
        if path.is_symlink() or path.resolve().parent != folder.resolve() or not path.is_file():
            return None
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            return file.read(TAIL).decode("utf-8", "replace")
    except OSError:
        return None


def _folder(store: Store, record: RoundRecord, trial: Trial) -> Path | None:
    """The folder of a trial, if it lies inside the folder of trials and exists."""
    from tunewright.store.open_store import default_root
    from tunewright.store.rounds import inside

    root = record.folder or ("" if store.path is None else str(default_root(store.path)))
    if not root or not trial.folder:
        return None
    found = inside(Path(root), trial.folder)
    return found if found.is_dir() else None


def campaign_page(store: Store, name: str) -> dict[str, Any]:
    """A campaign: its budget, its steps with their reasons, its rounds."""
    known = read_definition(store, name)
    if known is None:
        others = ", ".join(one.name for one in store.campaigns()) or "none"
        raise NotFound("campaign.not_found", name=name, url=store.url, others=others)
    (record,) = (one for one in store.campaigns() if one.name == name)
    rounds = [one for one in store.rounds() if one.campaign == name]
    made: dict[str, Any] = plain(
        {
            "name": name,
            "goal": known.space.goal,
            "total": known.trials,
            "rounds": [_line(one) for one in rounds],
            "steps": [
                {
                    "number": step.number,
                    "kind": step.kind,
                    "reason": str(step.reason),
                    "round": step.round,
                    "written": step.written,
                }
                for step in store.campaign_steps(record.id)
            ],
        }
    )
    return made


def probes_page(store: Store) -> dict[str, Any]:
    """The answers of probes, newest first, each in words too."""
    made: dict[str, Any] = plain({"probes": [_probe(one) for one in reversed(store.probes())]})
    return made


def _probe(record: ProbeRecord) -> dict[str, Any]:
    known = record.answer.get("message")
    return {
        **plain(record),
        "says": "" if known is None else str(message_of(known)),
        "caveats": [str(message_of(one)) for one in record.answer.get("caveats") or ()],
        "missing": [str(message_of(one)) for one in record.answer.get("missing") or ()],
    }
