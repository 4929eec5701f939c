"""Were the values really applied? A program may ignore what it is given, and nothing else shows it.

Evidence, the strongest first: the values that the program reports it used (`run.applied`), on every
rank, and the learning rate that its optimizer holds; a logged learning rate that is not the given
one, or does not follow the given schedule; an option of the command line that the program drops or
never reads; trials with other values and the same curve, digit for digit. A hyperparameter that is
ignored while seeds differ and nothing is reported or logged leaves no trace: it is named as unseen,
and two short trials that share a seed show it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.actions import Advise, Note, ShowTrial
from tunewright.checks._doubt import MILD, Doubt, Kind, numbers
from tunewright.checks._followed_rate import rate_signs
from tunewright.checks._options import option_signs
from tunewright.checks._same_curves import same_curves
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, is_number, same_value
from tunewright.finding import Evidence, Finding, Verdict, not_judged
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_CLOSE = 1e-5  # relative: what float32 and printing change
# where adapters report the learning rates of optimizers, one per group of parameters
_HELD = re.compile(r"optimizer\d*\.(.+\.)?(lr|learning_rate|initial_learning_rate|warmup_target)")


@dataclass(frozen=True)
class AppliedEvidence(Evidence):
    """What shows that values were applied, and what casts doubt on it."""

    trials: int  # that have ended
    echoed: int  # of these, how many reported the values that they used
    rates: int  # logged their learning rate
    options: int  # had their options looked up in the program's source
    curves: int  # have curves that carry enough information to be compared
    confirmed: tuple[str, ...] = ()  # hyperparameters that were seen to be applied
    unseen: tuple[str, ...] = ()  # that differ between trials, without a sign either way
    doubts: tuple[Doubt, ...] = ()  # the certain ones first


@dataclass(frozen=True)
class _EchoSigns:
    doubts: tuple[Doubt, ...]
    echoed: int
    confirmed: frozenset[str]


def applied(results: Results) -> list[Finding]:
    """Ask whether the program used the values that its trials were given."""
    name = results.round.name
    ended = [t for t in results.rows if t.ended and t.configuration]
    echo, rate = _echoes(results.meaning, ended), rate_signs(results)
    options, curves = option_signs(results), same_curves(results)
    strongest = (*echo.doubts, *rate.doubts, *options.doubts, *curves.doubts)
    confirmed = (echo.confirmed | rate.follows | curves.acts) - {d.name for d in strongest}
    evidence = AppliedEvidence(
        trials=len(ended),
        echoed=echo.echoed,
        rates=rate.read,
        options=options.read,
        curves=curves.compared,
        confirmed=tuple(sorted(confirmed)),
        unseen=tuple(sorted(_names_that_vary(ended) - confirmed - {d.name for d in strongest})),
        doubts=_strongest_first(strongest, echo.confirmed | rate.follows),
    )
    if evidence.doubts:
        warns = any(_warns(doubt) for doubt in evidence.doubts)
        actions = tuple(_actions(name, evidence.doubts[0]))
        verdict: Verdict = "warn" if warns else "note"
        return [Finding.of_round("applied", name, verdict, evidence, actions)]
    if evidence.confirmed or evidence.options or evidence.curves > 1:
        return [Finding.of_round("applied", name, "ok", evidence)]
    why = Message("applied.nothing_shows" if ended else "applied.none_ended")
    advice = Advise("report_applied") if ended and not results.imported else Note(name)
    return [not_judged("applied", name, why, advice, scope="round")]


def _names_that_vary(trials: Sequence[Trial]) -> set[str]:
    """The hyperparameters that have several values."""
    values: dict[str, set[str]] = {}
    for trial in trials:
        for name, value in trial.configuration.items():
            values.setdefault(name, set()).add(repr(value))
    return {name for name, several in values.items() if len(several) > 1}


def _warns(doubt: Doubt) -> bool:
    return doubt.certain and doubt.kind not in MILD


def _strongest_first(doubts: Iterable[Doubt], confirmed: frozenset[str]) -> tuple[Doubt, ...]:
    """One doubt for each hyperparameter, warnings first; stronger evidence overrules a curve."""
    kept: dict[str, Doubt] = {}
    for doubt in doubts:
        overruled = doubt.kind == "curves" and doubt.name in confirmed
        if not overruled and (doubt.name not in kept or _warns(doubt) > _warns(kept[doubt.name])):
            kept[doubt.name] = doubt
    return tuple(sorted(kept.values(), key=lambda d: not _warns(d)))


def _actions(round: str, first: Doubt) -> Iterator[Advise | ShowTrial]:
    codes = {
        "unknown_option": "correct_option",
        "unread_option": "read_option",
        "ranks": "same_values_on_ranks",
        "scaled": "declare_scaled",
        "curves": "compare_by_hand",
    }
    yield Advise(codes.get(first.kind, "trace_value"), {"name": first.name, "option": first.option})
    for number in first.trials[:1]:
        yield ShowTrial(round, number)


# ---- what programs report


def _echoes(meaning: Meaning, ended: Sequence[Trial]) -> _EchoSigns:
    """Compare what programs report with what they were given, by name and by meaning."""
    reporting = [t for t in ended if t.applied]
    by_name: dict[str, list[tuple[Trial, Any]]] = {}
    for trial in reporting:
        for name, value in _values_by_name(meaning, trial):
            by_name.setdefault(name, []).append((trial, value))
    doubts = {name: list(_doubts(name, reports)) for name, reports in by_name.items()}
    rate = meaning.name("learning_rate")
    held = [(t, rates) for t in reporting if _is_rate(t, rate) and (rates := _optimizer_rates(t))]
    if held and not doubts.get(rate):
        doubts[rate] = list(_optimizer_doubts(rate, held))
    every = tuple(doubt for several in doubts.values() for doubt in several)
    confirmed = frozenset(name for name, several in doubts.items() if not several)
    if rate not in by_name and any(not _holds(t, rate, rates) for t, rates in held):
        confirmed -= {rate}
    return _EchoSigns(every, len(reporting), confirmed)


# A program may report the value that it was given and train with another. What its optimizer holds
# may rightly differ, scaled by the batch size or for one group of parameters. So another rate is no
# sign by itself: several given rates that became one are.


def _is_rate(trial: Trial, name: str) -> bool:
    return is_number(trial.configuration.get(name))


def _optimizer_rates(trial: Trial) -> dict[str, list[float]]:
    """The rates that its optimizers hold, by where they were reported: one, or one per rank."""
    rates: dict[str, list[float]] = {}
    for name, value in (trial.applied or {}).items():
        several = value if isinstance(value, list | tuple) else [value]
        # a rate of zero starts a warm-up
        if _HELD.fullmatch(name) and several and all(is_number(v) and v > 0 for v in several):
            rates[name] = [float(v) for v in several]
    return rates


def _holds(trial: Trial, name: str, rates: Mapping[str, Sequence[float]]) -> bool:
    given: Any = trial.configuration[name]
    return any(math.isclose(given, v, rel_tol=_CLOSE) for held in rates.values() for v in held)


def _optimizer_doubts(
    name: str, held: Sequence[tuple[Trial, Mapping[str, Sequence[float]]]]
) -> Iterator[Doubt]:
    unequal = [
        (t, by_rank)
        for t, rates in held
        for by_rank in rates.values()
        if not math.isclose(min(by_rank), max(by_rank), rel_tol=_CLOSE)
    ]
    if unequal:
        yield _doubt("ranks", name, unequal, len(held))
        return
    other = [(t, rates) for t, rates in held if not _holds(t, name, rates)]
    given = {t.configuration[name] for t, _ in other}
    if len(given) > 1 and all(rates == other[0][1] for _, rates in other):
        first = [(t, next(iter(rates.values()))[0]) for t, rates in other]
        yield _doubt("echo", name, first, len(held))


def _values_by_name(meaning: Meaning, trial: Trial) -> Iterator[tuple[str, Any]]:
    """The reported values under the names of the trial's hyperparameters."""
    reported: Mapping[str, Any] = trial.applied or {}
    for name in trial.configuration:
        if name in reported:
            yield name, reported[name]
        elif (means := meaning.of(name)) is not None and means in reported:
            yield name, reported[means]


def _doubts(name: str, reports: Sequence[tuple[Trial, Any]]) -> Iterator[Doubt]:
    ranks = [(t, v) for t, v in reports if _by_rank(t.configuration[name], v)]
    unequal = [(t, v) for t, v in ranks if not all(_agree(v[0], each) for each in v)]
    if unequal:
        yield _doubt("ranks", name, unequal, len(reports))
        return
    single = [(t, v[0] if _by_rank(t.configuration[name], v) else v) for t, v in reports]
    other = [(t, v) for t, v in single if not _agree(t.configuration[name], v)]
    if not other:
        return
    ratios = [v / t.configuration[name] for t, v in single if _both(t.configuration[name], v)]
    scaled = len(ratios) == len(single) and len(ratios) > 2 and _agree(min(ratios), max(ratios))
    distinct = len({t.configuration[name] for t, _ in single}) > 2
    yield _doubt("scaled" if scaled and distinct else "echo", name, other, len(reports))


def _doubt(kind: Kind, name: str, reports: Sequence[tuple[Trial, Any]], of: int) -> Doubt:
    trials = [trial for trial, _ in reports]
    return Doubt(
        kind=kind,
        name=name,
        runs=len(reports),
        of=of,
        trials=numbers(trials),
        given=tuple(t.configuration[name] for t in trials[:3]),
        seen=tuple(v for _, v in reports[:3]),
    )


def _by_rank(given: Value, reported: Any) -> bool:
    """Whether a list was reported for one value: what each rank used."""
    return isinstance(reported, list | tuple) and len(reported) > 0 and not isinstance(given, list)


def _both(given: Any, reported: Any) -> bool:
    return is_number(given) and is_number(reported) and given != 0


def _agree(given: Any, reported: Any) -> bool:
    """Whether two values are one, but for rounding and spelling.

    >>> _agree(0.1, 0.10000000149), _agree("cosine", "SchedulerType.COSINE"), _agree(64, 32)
    (True, True, False)
    """
    if isinstance(reported, str) and is_number(given):
        try:
            reported = float(reported)
        except ValueError:
            return False
    if is_number(given) and is_number(reported):
        largest = max(abs(float(given)), abs(float(reported)))
        return bool(abs(float(given) - float(reported)) <= _CLOSE * largest)
    if isinstance(given, bool) != isinstance(reported, bool):
        return str(given).lower() == str(reported).lower()
    if isinstance(given, str) and isinstance(reported, str):
        text, other = given.lower(), reported.lower()
        return text == other or other.rpartition(".")[2] == text
    return same_value(given, reported)
