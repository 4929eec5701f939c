"""The envelope of `--json`: one object per command, on standard output, errors included.

    {"schema_version": 1, "command": "check", "ok": true, "data": {...}}
    {"schema_version": 1, "command": "check", "ok": false, "error": {...}, "exit_code": 2}

It holds facts and codes, never translated; `message` alone is text for readers. While a command
answers by an envelope, everything else that is printed goes to standard error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any

from tunewright.actions import Action
from tunewright.design.round import Round
from tunewright.design.round_file import as_data
from tunewright.errors import TunewrightError

if TYPE_CHECKING:  # every command imports this file, `--help` too
    from tunewright.budgets.cost import Price
    from tunewright.campaigns.campaign import Campaign
    from tunewright.campaigns.step import Step as CampaignStep
    from tunewright.store.results import Repeats, Results
    from tunewright.store.trial import Trial

# ---- facts as plain JSON data: data classes field by field, null for NaN and infinities.
#
# What has a `to_data` (findings, actions, messages) decides itself; words are never added here.


_CURVES = "curves"  # the field that a trial has, by far the largest part of it


def plain(value: Any, *, curves: bool = False) -> Any:
    """JSON data for anything a command answers; trials come without curves unless asked for.

    >>> plain({"value": float("nan"), "steps": (1, 2), "path": PurePath("a")})
    {'value': None, 'steps': [1, 2], 'path': 'a'}
    """
    if hasattr(value, "to_data") and not isinstance(value, type):
        return plain(value.to_data(), curves=curves)  # facts, without words
    if isinstance(value, Round):
        return plain(as_data(value))  # the words of a round file, rather than ranges as classes
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (f.name for f in dataclasses.fields(value) if not f.name.startswith("_"))
        kept = (name for name in names if curves or name != _CURVES)
        return {name: plain(getattr(value, name), curves=curves) for name in kept}
    if isinstance(value, Mapping):
        return {str(key): plain(entry, curves=curves) for key, entry in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):  # arrays, and scalars that came out of one
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(element, curves=curves) for element in value]
    return str(value)


def as_json(value: Any) -> str:
    """JSON text for a screen or a program; always valid, never NaN."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


# ---- envelope


_SCHEMA_VERSION = 1
_answers: list[tuple[str, IO[str]]] = []  # the command that answers, and where its answer goes


@contextlib.contextmanager
def answering(command: str) -> Iterator[None]:
    """Keep standard output for the envelope of a command; whatever else is printed goes aside."""
    _answers.append((command, sys.stdout))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.pop()


def success(command: str, data: Any) -> dict[str, Any]:
    """The envelope of an answer."""
    return {
        "schema_version": _SCHEMA_VERSION,
        "command": command,
        "ok": True,
        "data": plain(data),
    }


def failure(command: str, error: BaseException, exit_code: int) -> dict[str, Any]:
    """The envelope of an error: its code, its facts, and the command that helps.

    >>> failure("ls", LookupError("no store"), 2)["error"]["code"]
    'lookup_error'
    """
    return {
        "schema_version": _SCHEMA_VERSION,
        "command": command,
        "ok": False,
        "error": {
            "code": code_of(error),
            **_refusal(error),
            "message": message_of(error),
            "facts": plain(getattr(error, "facts", {})),
            **_several(error),
            "remedy": remedy_of(error),
        },
        "exit_code": exit_code,
    }


def _refusal(error: BaseException) -> dict[str, str]:
    """The stable code of a refusal; nothing for any other error."""
    refusal = getattr(error, "refusal", None)
    return {} if refusal is None else {"refusal": refusal}


def show(command: str, data: Any) -> None:
    """Print the envelope of an answer."""
    _print(success(command, data))


def _several(error: BaseException) -> dict[str, Any]:
    """Every problem, where the error has more than one."""
    if not isinstance(error, TunewrightError) or len(error.problems) == 1:
        return {}
    return {"problems": plain(error.to_data()["problems"])}


def show_error(command: str, error: BaseException, exit_code: int = 2) -> None:
    """Print the envelope of an error."""
    _print(failure(command, error, exit_code))


def current() -> str:
    """The command that is answering; empty outside of `answering`."""
    return _answers[-1][0] if _answers else ""


def code_of(error: BaseException) -> str:
    """The code of an error; its class in small letters where it carries none.

    >>> code_of(LookupError()), code_of(KeyboardInterrupt())
    ('lookup_error', 'keyboard_interrupt')
    """
    code = getattr(error, "code", None)
    if isinstance(code, str) and code:
        return code
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()


def message_of(error: BaseException) -> str:
    """What happened, in a sentence; the words of typer where it refuses an option."""
    described = getattr(error, "format_message", None)
    return str(described() if described is not None else error)


def remedy_of(error: BaseException) -> dict[str, Any] | None:
    """The command that helps, as words of a command line; None where nothing is known to help."""
    remedy = getattr(error, "remedy", None)
    if isinstance(remedy, Action):
        return remedy.to_data()
    context = getattr(error, "ctx", None)  # of typer, where an option or argument is wrong
    return None if context is None else {"argv": [*context.command_path.split(), "--help"]}


def _print(envelope: dict[str, Any]) -> None:
    stream = _answers[-1][1] if _answers else sys.stdout
    print(as_json(envelope), file=stream, flush=True)


# ---- what commands answer as data: the facts of a round, a run, repeats, a campaign.
#
# Python objects in, mappings out; `--json` prints them inside the envelope. Sentences stay out: a
# reader of the data makes their own, in their own language.


Facts = dict[str, Any]


def of_round(results: Results, *, curves: bool = False) -> Facts:
    """A round as recorded: what was asked, every trial, the best, and what to do next."""
    from tunewright.budgets.spending import spending
    from tunewright.present.next_step import next_steps

    best = best_of(results)
    facts: Facts = plain(
        {
            "round": results.round,
            "objective": results.objective,
            "search": results.search,
            "store": results.store,
            "root": results.root,
            "running": results.supervised,
            "counts": results.counts,
            "studies": results.studies,
            "best": None if best is None else of_trial(results, best, curves=curves),
            "trials": [of_trial(results, trial, curves=curves) for trial in results.trials],
            "repeats": [
                of_trial(results, repeat, curves=curves, repeat=k)
                for trial in results.rows
                for k, repeat in enumerate(results.repeats(trial), start=1)
            ],
            "notes": results.notes,
            "spending": spending(results),
            "next": next_steps(results),
        },
        curves=curves,
    )
    return facts


def of_trial(
    results: Results, trial: Trial, *, curves: bool = False, repeat: int | None = None
) -> Facts:
    """A trial with its folder as this machine finds it, and which repeat of its parent it is."""
    facts: Facts = plain(trial, curves=curves)
    if results.root and trial.folder:
        facts["folder"] = str(Path(results.root, trial.folder).absolute())
    return facts if trial.number is not None else {**facts, "repeat": repeat}


def of_run(
    results: Results, why: str, seconds: float, ended: int, price: Price | None = None
) -> Facts:
    """What a call of `run` came to: why it returned, the counts, the best, what to do next."""
    from tunewright.budgets.spending import spending
    from tunewright.present.next_step import next_steps

    best = best_of(results)
    facts: Facts = plain(
        {
            "round": results.round.name,
            "why": why,
            "seconds": seconds,
            "ended": ended,
            "counts": results.counts,
            "best": None if best is None else of_trial(results, best),
            "next": next_steps(results),
            "spending": spending(results, price),
            **_budget(results),
        }
    )
    return facts


def _budget(results: Results) -> Facts:
    """What is spent and left, where the store has a budget."""
    from tunewright.budgets.state import state

    known = state(results.store) if results.store else None
    return {} if known is None else {"budget": known}


def of_repeats(repeats: Repeats, why: str) -> Facts:
    """Repeats of a trial: their values, the mean, and how far seeds move them."""
    from tunewright.present.next_step import next_steps

    values = repeats.values
    facts: Facts = plain(
        {
            "round": repeats.results.round.name,
            "why": why,
            "of": of_trial(repeats.results, repeats.of),
            "repeats": [
                of_trial(repeats.results, repeat, repeat=k)
                for k, repeat in enumerate(repeats.trials, start=1)
            ],
            "values": values,
            "mean": statistics.fmean(values) if values else None,
            "sd": statistics.stdev(values) if len(values) > 1 else None,
            "seedless": repeats.seedless,
            "next": next_steps(repeats.results),
            **_budget(repeats.results),
        }
    )
    return facts


def of_campaign(campaign: Campaign) -> Facts:
    """A campaign as recorded: its budget, its steps, and the configuration it chose."""
    winner = campaign.winner
    chosen: Mapping[str, Any] | None = None
    if winner is not None:
        chosen = {
            "round": winner.results.round.name,
            "trial": winner.trial.number,
            "value": winner.known_value if winner.repeats.values else winner.trial.value,
            "repeats": winner.repeats.values,
            "fresh": () if campaign.fresh is None else campaign.fresh.values,
        }
    launched = campaign.launched
    facts: Facts = plain(
        {
            "name": campaign.name,
            "spent": campaign.spent,
            "total": campaign.total,
            "best": campaign.best,
            "verdict": campaign.verdict,
            "winner": chosen,
            "launched": None if launched is None else launched.verdict,
            "rounds": [results.round.name for results in campaign.rounds],
            "steps": [{"kind": step.kind, "round": step.round} for step in campaign.log],
        }
    )
    return facts


def of_step(step: CampaignStep) -> Facts:
    """A step of a campaign: what would be done, with how many trials."""
    facts: Facts = plain(
        {"kind": step.kind, "trials": step.trials, "round": step.about, "search": step.search}
    )
    return facts


def without(value: Any, *names: str) -> Facts:
    """JSON data without some of its fields: those that are sentences."""
    return {name: fact for name, fact in plain(value).items() if name not in names}


def each_without(values: Sequence[Any], *names: str) -> list[Facts]:
    """The same of several values."""
    return [without(value, *names) for value in values]


def best_of(results: Results) -> Trial | None:
    """The best completed trial of a round; None before any has completed."""
    for trial in results.top(1):
        return trial
    return None
