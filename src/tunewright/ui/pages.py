"""What each page shows, as plain data read from a store: home, round, trial, campaign, probes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tunewright.campaigns.campaign import read_campaign, read_definition
from tunewright.campaigns.plan import next_step
from tunewright.diagnosis.answer import Answer as Diagnosed
from tunewright.diagnosis.diagnose import diagnose
from tunewright.errors import NotFound
from tunewright.launches import lineage
from tunewright.messages import Message
from tunewright.present.envelope import of_campaign, plain
from tunewright.present.live_figures import axis_of
from tunewright.probes.probe import message_of
from tunewright.store import overview
from tunewright.store.campaigns import ProbeRecord
from tunewright.store.overview import STATUSES, Overview
from tunewright.store.rounds import RoundRecord
from tunewright.store.store import Store
from tunewright.store.trial import Trial
from tunewright.ui import files

_TAIL = 64 * 1024  # bytes of a log that a page shows at a time
_BEST = 5


def home(store: Store) -> dict[str, Any]:
    """Every round, campaign and launch decision of a store, newest first."""
    records = store.rounds()
    page: dict[str, Any] = plain(
        {
            "store": store.url,
            "rounds": [_line(record) for record in reversed(records)],
            "campaigns": [
                {"name": campaign.name, "created": campaign.created}
                for campaign in reversed(store.campaigns())
            ],
            "launches": [_launch(launch) for launch in reversed(lineage.launches(store))],
            "probes": len(store.probes()),
        }
    )
    return page


def _line(record: RoundRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "goal": str(record.round.goal),
        "asks": str(record.round.asks),
        "created": record.created,
        "counts": record.counts,
        "trials": sum(record.counts.values()),
        "metric": record.objective.metric,
        "minimize": record.objective.minimize,
        "search": record.search,
        "campaign": record.campaign,
        "purpose": record.purpose,
    }


def _launch(launch: Any) -> dict[str, Any]:
    return {
        "verdict": launch.verdict,
        "written": launch.written,
        "candidate": launch.candidate,
        "baseline": launch.baseline,
        "why": launch.why,
        "goal": launch.goal,
    }


def bests(
    store: Store, names: Iterable[str], known: dict[int, tuple[object, Any]]
) -> dict[str, Any]:
    """The best value of rounds, and the newest note, for the lines of the home page.

    `known` holds the best of each round by its key, and what its trials were at: a round is read
    again only where they have changed. A name that the store lacks is left out.
    """
    records = {record.name: record for record in store.rounds()}
    stamps = overview.stamps(store)
    by_name: dict[str, Any] = {}
    for name in names:
        record = records.get(name)
        if record is None:
            continue
        stamp = stamps.get(record.id)
        kept = known.get(record.id)
        if kept is None or kept[0] != stamp:
            kept = known[record.id] = (stamp, overview.best_of(store, record))
        notes = store.notes(record)
        by_name[name] = {
            "value": None if kept[1] is None else kept[1].value,
            "trial": None if kept[1] is None else kept[1].number,
            "note": str(notes[-1].text) if notes else "",
        }
    return by_name


def round_page(store: Store, columns: Overview) -> dict[str, Any]:
    """A round without its trials: question, axes, studies, counts, the best, notes."""
    record = columns.record
    round = record.round
    top = columns.best(_BEST)
    counted = np.bincount(columns.statuses, minlength=len(STATUSES))
    page: dict[str, Any] = plain(
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
            "notes": [
                {"text": str(note.text), "written": note.written} for note in store.notes(record)
            ],
            "command": record.command,
            "definition": round,
        }
    )
    return page


def _axes(columns: Overview) -> Iterable[dict[str, Any]]:
    """Searched hyperparameters with their scale, in the order of `columns.columns`."""
    spaces = {h.column: h for study in columns.record.round.studies for h in study.space}
    for column in columns.columns:
        yield axis_of(spaces[column])


def diagnosis_page(store: Store, name: str, number: int) -> dict[str, Any]:
    """What the curves of one trial show: the answers of `tw.diagnose`, with their words."""
    (trial,) = store.trials(name, [number]) or (None,)
    if trial is None:
        raise NotFound("trial.not_found", round=name, trial=number, first=None, last=None)
    objective = store.round(name).objective
    larger = () if objective.minimize else (objective.metric,)
    diagnosis = diagnose(trial, maximize=larger)
    facts = {verdict: len(diagnosis.of(verdict)) for verdict in ("warn", "note", "cannot_judge")}
    page: dict[str, Any] = plain(
        {
            "round": name,
            "trial": number,
            "headline": Message("diagnosis.tally", {"runs": 1, **facts}).text,
            "diagnosis": diagnosis,
            "answers": [_answer(answer) for answer in diagnosis.answers],
        }
    )
    return page


def _answer(answer: Diagnosed) -> dict[str, Any]:
    """One question, answered, in the form of an entry of the checklist."""
    words = answer.words
    finding = {"headline": str(words.headline), "evidence": [str(line) for line in words.evidence]}
    actions = answer.actions if answer.verdict in ("warn", "note") else ()
    return {
        "question": answer.question,
        "verdict": answer.verdict,
        "found": [{"about": "", **finding}],
        "others": 0,
        "actions": [
            {"command": action.command, "text": str(action.shell_text)} for action in actions
        ],
    }


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
    place = files.place_of(store, record, trial)
    page: dict[str, Any] = plain(
        {
            **{key: value for key, value in plain(trial).items() if key != "unit"},
            "reason": None if trial.reason is None else str(trial.reason),
            "round": name,
            "goal": str(record.round.goal),
            "metric": record.objective.metric,
            "metrics": list(trial.curves),
            "diagnosed": bool(trial.curves),
            "attempted": store.attempts(trial.identity),
            "snapshots": store.snapshots(trial.identity),
            "origin": origin,
            "folder": None if place is None else place.path,
            "files": [] if place is None else files.list_files(place),
        }
    )
    return page


def curves_of(trial: Trial, most: int = 1000) -> dict[str, Any]:
    """Every metric of a trial; long curves keep every k-th point and the last."""
    curves = {}
    for metric, curve in trial.curves.items():
        every = max(1, -(-len(curve) // most))
        chosen = np.unique(np.append(np.arange(0, len(curve), every), len(curve) - 1))
        curves[metric] = {"steps": curve.steps[chosen], "values": curve.values[chosen]}
        if curve.sd is not None:
            curves[metric]["sd"] = curve.sd[chosen]
    return plain(curves)  # type: ignore[no-any-return]


def place(store: Store, name: str, number: int) -> tuple[Trial, files.Place | None]:
    """A trial, and its folder if that is on this machine."""
    (trial,) = store.trials(name, [number]) or (None,)
    if trial is None:
        raise NotFound("trial.not_found", round=name, trial=number, first=None, last=None)
    return trial, files.place_of(store, store.round(name), trial)


def log_tail(store: Store, name: str, number: int) -> dict[str, Any]:
    """The end of the newest log of a trial; empty where there is none."""
    trial, folder = place(store, name, number)
    for log in (f"log.{trial.attempts}.tail.txt", f"log.{trial.attempts}.txt"):
        text = None if folder is None else files.tail(folder, log, _TAIL)
        if text is not None:
            return {"text": text, "file": log}
    return {"text": "", "file": ""}


def campaign_page(store: Store, name: str) -> dict[str, Any]:
    """A campaign: its budget, its steps with their reasons, its rounds."""
    known = read_definition(store, name)
    if known is None:
        others = ", ".join(campaign.name for campaign in store.campaigns()) or "none"
        raise NotFound("campaign.not_found", name=name, url=store.url, others=others)
    campaign = read_campaign(store, known)
    step = next_step(campaign)
    rounds = [round for round in store.rounds() if round.campaign == name]
    page: dict[str, Any] = plain(
        {
            **of_campaign(campaign),
            "goal": str(known.space.goal),
            "headline": str(campaign.headline),
            "left": campaign.left,
            "rounds": [_line(round) for round in rounds],
            "steps": [
                {
                    "number": step.number,
                    "kind": step.kind,
                    "reason": str(step.reason),
                    "round": step.round,
                    "written": step.written,
                }
                for step in campaign.log
            ],
            "next": {"kind": step.kind, "reason": str(step.reason), "trials": step.trials},
        }
    )
    return page


def probes_page(store: Store) -> dict[str, Any]:
    """The answers of probes, newest first, each in words too."""
    page: dict[str, Any] = plain({"probes": [_probe(probe) for probe in reversed(store.probes())]})
    return page


def _probe(record: ProbeRecord) -> dict[str, Any]:
    known = record.answer.get("message")
    return {
        **plain(record),
        "says": "" if known is None else str(message_of(known)),
        "caveats": [str(message_of(message)) for message in record.answer.get("caveats") or ()],
        "missing": [str(message_of(message)) for message in record.answer.get("missing") or ()],
    }
