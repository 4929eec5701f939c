"""The receipt of a round: everything that its conclusions rest on, in one JSON file."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tunewright
from tunewright.budgets.state import state
from tunewright.checks.checklist import check
from tunewright.errors import Misuse, NotFound
from tunewright.facts import plain
from tunewright.receipts._launches import about, launch_data, other_rounds
from tunewright.receipts._rounds import (
    origins_data,
    origins_from,
    results_from,
    round_data,
)
from tunewright.receipts.rates import ERROR_RATES
from tunewright.store.joined import with_earlier
from tunewright.store.launches import Evaluation
from tunewright.store.plain_json import finite
from tunewright.store.results import Results
from tunewright.store.store import Store

FORMAT, VERSION = "tunewright-receipt", 1
SEAL = "sha256"  # of everything else in the receipt


def receipt(store: str | os.PathLike[str] | Results, round: str = "") -> dict[str, Any]:
    """The receipt of a round as plain data: its trials with curves, verdicts, launches, looks.

    Args:
        store: the store, or results that no store has (imported, or made for a test).
        round: the name of the round in the store.

    >>> import tunewright as tw
    >>> from tunewright.testing.surfaces import Bowl
    >>> from tunewright.testing.worlds import results
    >>> rates = tw.Round("rates", goal="?", nuisance={"lr": tw.log(1e-3, 1)}, trials_per_study=8)
    >>> made = tw.receipts.receipt(results(rates, Bowl({"lr": 0.5})))
    >>> made["round"]["name"], len(made["trials"]), sorted(made["arms"][0])
    ('rates', 8, ['counts', 'hours', 'setting', 'study', 'trials'])
    """
    if isinstance(store, Results):
        return _contents(store, None)
    with Store.open(store, create=False) as opened:
        return _contents(with_earlier(opened, round), opened)


def write(
    store: str | os.PathLike[str] | Results, round: str, path: str | os.PathLike[str]
) -> Path:
    """Write the receipt of a round to a file; a name that ends in .gz is compressed.

    Args:
        store: the store, or results that no store has.
        round: the name of the round in the store.
        path: of the file; one that is there is overwritten.

    >>> import tempfile, tunewright as tw
    >>> rate = tw.Round("rate", goal="?", nuisance={"rate": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/tuning.db"
    ...     with tw.open_round(rate, tw.minimize("error"), store) as session:
    ...         while (trial := session.ask()) is not None:
    ...             trial.log(1, error=trial.configuration["rate"])
    ...             trial.finish()
    ...     made = tw.receipts.write(store, "rate", f"{folder}/rate.json")
    ...     tw.receipts.verify(made).malpractice
    ()
    """
    data = receipt(store, round)
    target = Path(path)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    try:
        target.write_bytes(gzip.compress(text, mtime=0) if target.suffix == ".gz" else text)
    except OSError as error:
        raise Misuse("receipt.cannot_write", path=target, reason=error.strerror) from None
    return target


def seal(data: dict[str, Any]) -> str:
    """The hash of everything in a receipt but the hash itself."""
    rest = {name: value for name, value in data.items() if name != SEAL}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _contents(results: Results, store: Store | None) -> dict[str, Any]:
    origins = origins_data(results)
    body = round_data(results)
    earlier = [round_data(round) for round in results.earlier]
    launches = [] if store is None else store.launches()
    names = {results.round.name, *(before.round.name for before in results.earlier)}
    about_it = [launch for launch in launches if about(launch, names)]
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "tunewright": tunewright.__version__,
        **body,
        "earlier": earlier,
        "origins": origins,
        "arms": _arms(results),
        "budget": _budget(store),
        "seeds": {
            "round": results.round.seed,
            "earlier": [before.round.seed for before in results.earlier],
        },
        "looks": [] if store is None else _looks(store, results),
        "launches": [launch_data(launch) for launch in about_it],
        "other_rounds": {} if store is None else other_rounds(store, about_it, names),
        "error_rates": dict(ERROR_RATES),
    }
    data = _portable(data)
    read = as_results(data)
    data["findings"] = [finding.to_data() for finding in check(read)]
    data["findings"] = _portable(data["findings"])
    data["only_here"] = _portable(_only_here(results, data["findings"]))
    return {**data, SEAL: seal(data)}


def as_results(data: dict[str, Any]) -> Results:
    """The results that a receipt means, with the rounds that were joined."""
    origins = origins_from(data["origins"])
    earlier = tuple(results_from(round, origins) for round in data["earlier"])
    return results_from(data, origins, earlier)


def rounds_of(data: dict[str, Any], results: Results) -> dict[str, Results]:
    """Every round of a receipt by its name, each alone: as its launches name trials."""
    alone = replace(
        results,
        recorded=tuple(t for t in results.recorded if t.origin is None),
        earlier=(),
    )
    rounds = {alone.round.name: alone}
    rounds |= {before.round.name: before for before in results.earlier}
    for name, other in data["other_rounds"].items():
        rounds[name] = results_from(other, {})
    return rounds


def _portable(data: Any) -> Any:
    """The data as JSON gives it back."""
    return json.loads(json.dumps(finite(plain(data)), ensure_ascii=False, allow_nan=False))


def _arms(results: Results) -> list[dict[str, Any]]:
    """What each setting of the scientific hyperparameters was given."""
    arms = []
    for study in results.studies:
        trials = [trial for trial in results.of(study) if trial.origin is None]
        counts: dict[str, int] = {}
        for trial in trials:
            counts[trial.status] = counts.get(trial.status, 0) + 1
        hours = sum(trial.seconds for trial in trials) / 3600
        arms.append(
            {
                "study": study.number,
                "setting": study.label,
                "trials": sum(trial.ended for trial in trials),
                "counts": counts,
                "hours": hours,
            }
        )
    return arms


def _budget(store: Store | None) -> Any:
    known = None if store is None or store.path is None else state(store.path)
    return None if known is None else {k: v for k, v in known.to_data().items() if k != "path"}


def _looks(store: Store, results: Results) -> list[dict[str, Any]]:
    """Looks at the test set of the program that trained this round, other rounds' included."""
    try:
        program = store.round(results.round.name).command
    except NotFound:
        program = ""
    trials = {trial.identity for trial in results.recorded}
    looked = [evaluation for evaluation in store.evaluations() if evaluation.look]
    return [
        _look(evaluation)
        for evaluation in looked
        if evaluation.workload == program or evaluation.trial in trials
    ]


def _look(evaluation: Evaluation) -> dict[str, Any]:
    data = asdict(evaluation)
    return {**data, "when": None if evaluation.when is None else evaluation.when.isoformat()}


def _only_here(results: Results, portable: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Verdicts that this machine reaches and another cannot: they read the program's files."""
    if not results.origins:
        return []  # nothing is known of the program's files here either
    known = {(finding["check"], finding["about"]): finding["verdict"] for finding in portable}
    return [
        {"check": finding.check, "about": finding.about, "verdict": finding.verdict}
        for finding in check(results)
        if known.get((finding.check, finding.about)) != finding.verdict
    ]


__all__ = ["FORMAT", "SEAL", "VERSION", "as_results", "receipt", "rounds_of", "seal", "write"]
