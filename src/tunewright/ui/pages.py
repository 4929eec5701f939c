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


def _launch(one: Any) -> dict[str, Any]:
    return {
        "verdict": one.verdict,
        "written": one.written,
        "candidate": one.candidate,
        "baseline": one.baseline,
        "why": one.why,
        "goal": one.goal,
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
    made: dict[str, Any] = {}
    for name in names:
        record = records.get(name)
        if record is None:
            continue
        stamp = stamps.get(record.id)
        kept = known.get(record.id)
        if kept is None or kept[0] != stamp:
            kept = known[record.id] = (stamp, overview.best_of(store, record))
        notes = store.notes(record)
        made[name] = {
            "value": None if kept[1] is None else kept[1].value,
            "trial": None if kept[1] is None else kept[1].number,
            "note": str(notes[-1].text) if notes else "",
        }
    return made


def round_page(store: Store, columns: Overview) -> dict[str, Any]:
    """A round without its trials: question, axes, studies, counts, the best, notes."""
    record = columns.record
    round = record.round
    top = columns.best(_BEST)
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
            "notes": [
                {"text": str(one.text), "written": one.written} for one in store.notes(record)
            ],
            "command": record.command,
            "definition": round,
        }
    )
    return made


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
    found = diagnose(trial, maximize=larger)
    facts = {verdict: len(found.of(verdict)) for verdict in ("warn", "note", "cannot_judge")}
    made: dict[str, Any] = plain(
        {
            "round": name,
            "trial": number,
            "headline": Message("diagnosis.tally", {"runs": 1, **facts}).text,
            "diagnosis": found,
            "answers": [_answer(one) for one in found.answers],
        }
    )
    return made


def _answer(one: Diagnosed) -> dict[str, Any]:
    """One question, answered, in the form of an entry of the checklist."""
    words = one.words
    found = {"headline": str(words.headline), "evidence": [str(line) for line in words.evidence]}
    actions = one.actions if one.verdict in ("warn", "note") else ()
    return {
        "question": one.question,
        "verdict": one.verdict,
        "found": [{"about": "", **found}],
        "others": 0,
        "actions": [{"command": own.command, "text": str(own.shell_text)} for own in actions],
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
    made: dict[str, Any] = plain(
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
            "files": [] if place is None else files.listed(place),
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
        if curve.sd is not None:
            made[metric]["sd"] = curve.sd[chosen]
    return plain(made)  # type: ignore[no-any-return]


def place(store: Store, name: str, number: int) -> tuple[Trial, files.Place | None]:
    """A trial, and its folder if that is on this machine."""
    (trial,) = store.trials(name, [number]) or (None,)
    if trial is None:
        raise NotFound("trial.not_found", round=name, trial=number, first=None, last=None)
    return trial, files.place_of(store, store.round(name), trial)


def log_tail(store: Store, name: str, number: int) -> dict[str, Any]:
    """The end of the newest log of a trial; empty where there is none."""
    trial, found = place(store, name, number)
    for log in (f"log.{trial.attempts}.tail.txt", f"log.{trial.attempts}.txt"):
        text = None if found is None else files.tail(found, log, _TAIL)
        if text is not None:
            return {"text": text, "file": log}
    return {"text": "", "file": ""}


def campaign_page(store: Store, name: str) -> dict[str, Any]:
    """A campaign: its budget, its steps with their reasons, its rounds."""
    known = read_definition(store, name)
    if known is None:
        others = ", ".join(one.name for one in store.campaigns()) or "none"
        raise NotFound("campaign.not_found", name=name, url=store.url, others=others)
    campaign = read_campaign(store, known)
    step = next_step(campaign)
    rounds = [one for one in store.rounds() if one.campaign == name]
    made: dict[str, Any] = plain(
        {
            **of_campaign(campaign),
            "goal": str(known.space.goal),
            "headline": str(campaign.headline),
            "left": campaign.left,
            "rounds": [_line(one) for one in rounds],
            "steps": [
                {
                    "number": one.number,
                    "kind": one.kind,
                    "reason": str(one.reason),
                    "round": one.round,
                    "written": one.written,
                }
                for one in campaign.log
            ],
            "next": {"kind": step.kind, "reason": str(step.reason), "trials": step.trials},
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
