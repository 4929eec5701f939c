"""The parts of a report: origin, tiles, findings, the table of trials, figures in reading order."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tunewright.actions import Action
from tunewright.campaigns.campaign import Campaign
from tunewright.errors import NotFound
from tunewright.finding import VERDICTS, Finding, Verdict
from tunewright.messages import Message, Reader, Text, Words, markup, words
from tunewright.present import figures as plots
from tunewright.present.figures.figure import Figure
from tunewright.present.terminal.round_page import without_fixed
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# ---- the figures of a report in the order they are read, each with its heading


Figures = tuple[Figure[Any], ...]
Findings = Sequence[Finding] | None


def _isolation(results: Results, findings: Findings) -> Figures:
    del findings
    names: Sequence[str | None] = list(results.round.scientific) or [None]
    return tuple(plots.isolation(results, name) for name in names)


CHAPTERS: dict[str, Callable[[Results, Findings], Figures]] = {
    "isolation": _isolation,
    "progress": lambda r, _: (plots.progress(r),),
    "axis": lambda r, _: (plots.axis(r),),
    "sensitivity": lambda r, f: (plots.sensitivity(r, f),),
    "pair": lambda r, f: (plots.pair(r, findings=f),),
    "curves": lambda r, _: (plots.curves(r),),
    "best_of_k": lambda r, _: (plots.best_of_k(r),),
    "best_step": lambda r, _: (plots.best_step(r),),
    "gradient_norm": lambda r, _: (plots.gradient_norm(r),),
}


@dataclass(frozen=True)
class Chapter:
    """One heading of a report with its figures."""

    kind: str  # of the figures
    figures: Figures
    missing: str = ""  # why there is none

    @property
    def heading(self) -> Text:
        """What the figures show."""
        return Message(f"figure.title.{self.kind}").text


def chapters(
    results: Results, findings: Findings = None, only: Sequence[str] = tuple(CHAPTERS)
) -> Iterator[Chapter]:
    """Every chapter of a report, or why these results cannot fill it."""
    for kind, draw in CHAPTERS.items():
        if kind in only:
            try:
                figures = draw(results, findings)
            except NotFound as error:
                yield Chapter(kind, (), str(error))
                continue
            kept = tuple(figure for figure in figures if not figure.empty)
            # the caption of an empty figure explains why
            yield Chapter(kind, kept, "" if kept else figures[0].says)


# ---- where the results of a report come from: time, code, hosts, versions, as far as recorded


_SHORT = 10  # characters of a commit


@dataclass(frozen=True)
class Origin:
    """What was spent, and where and with what the trials ran."""

    seconds: float  # of training, repeats included
    commits: tuple[str, ...] = ()  # in the order they were used
    changed: bool = False  # whether uncommitted changes were there
    hosts: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()  # of Tunewright


def origin_of(results: Results) -> Origin:
    """The origin of a round's trials and repeats."""
    trials: list[Trial] = [*results.recorded, *results.recorded_repeats]
    known = {trial.identity for trial in trials}
    origins = [origin for identity, origin in sorted(results.origins.items()) if identity in known]
    return Origin(
        seconds=sum(trial.seconds for trial in trials),
        commits=_each(origin.commit[:_SHORT] for origin in origins),
        changed=any(origin.diff or origin.left_out for origin in origins),
        hosts=_each(origin.host for origin in origins),
        devices=_each(device for origin in origins for device in origin.devices),
        versions=_each(str(origin.packages.get("tunewright", "")) for origin in origins),
    )


def _each(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


# ---- the three tiles of a report: the best value, the trials, the time they took


@dataclass(frozen=True)
class Tile:
    """One number that matters: its name, the number, and a line about it."""

    label: Text
    value: str
    detail: Text


def tiles(results: Results) -> tuple[Tile, Tile, Tile]:
    """Best, trials and time of a round."""
    return _best(results), _trials(results), _time(origin_of(results).seconds)


def campaign_tiles(campaign: Campaign, together: Results) -> tuple[Tile, Tile, Tile]:
    """Best, trials and time of a campaign; the best is its choice."""
    winner = campaign.winner
    best = _best(together)
    if winner is not None:
        fresh = campaign.fresh.values if campaign.fresh is not None else ()
        values = [float(value) for value in fresh or winner.repeats.values]
        value = statistics.fmean(values) if values else winner.trial.value
        facts = {"place": str(winner.place), "repeats": len(values)}
        metric = winner.results.objective.metric
        best = Tile(_label("best", metric=metric), words.number(value), _detail("chosen", **facts))
    trials = list(campaign.all_trials())
    spent = {"total": campaign.total, "rounds": len(campaign.rounds)}
    counted = Tile(_label("trials"), str(campaign.spent), _detail("spent", **spent))
    return best, counted, _time(sum(trial.seconds for trial in trials))


def _best(results: Results) -> Tile:
    label = _label("best", metric=results.objective.metric)
    for best in results.top(1):
        facts = {"trial": best.shown_number, "step": best.best_step}
        return Tile(label, words.number(best.value), _detail("best", **facts))
    return Tile(label, "–", _detail("none"))


def _trials(results: Results) -> Tile:
    facts = {"counts": results.counts, "studies": len(results.studies)}
    return Tile(_label("trials"), str(results.size), _detail("trials", **facts))


def _time(seconds: float) -> Tile:
    if not seconds:
        return Tile(_label("time"), "–", _detail("no_time"))
    return Tile(_label("time"), words.duration(seconds), _detail("time", hours=seconds / 3600))


def _label(name: str, **facts: object) -> Text:
    return Message(f"tile.{name}", facts).text


def _detail(name: str, **facts: object) -> Text:
    return Message(f"tile.{name}.detail", facts).text


# ---- findings as pages show them: headline, evidence, actions; studies that agree share an entry


# in the order they are shown
TERSE: tuple[Verdict, ...] = ("ok", "cannot_judge")  # one line each in a terminal


@dataclass(frozen=True)
class Entry:
    """One verdict of one question and what to do about it, for all settings that share it."""

    verdict: Verdict
    check: str
    words_by_setting: tuple[tuple[str, Words], ...]  # for each setting; unnamed for the whole round
    actions: tuple[Action, ...] = ()
    others: int = 0  # settings with the same verdict that are not shown


def entries(findings: Sequence[Finding]) -> list[Entry]:
    """Warnings first, each verdict in the order of the checklist.

    Settings that are fine, or cannot be judged, share the entry of the first of them.
    """
    unordered = [_entry(group) for group in groups(findings)]
    return [entry for verdict in VERDICTS for entry in unordered if entry.verdict == verdict]


def tally(findings: Sequence[Finding]) -> dict[str, int]:
    """How many entries each verdict has: settings that share one count once, as they are shown."""
    count: dict[str, int] = dict.fromkeys(VERDICTS, 0)
    for group in groups(findings):
        count[group[0].verdict] += 1
    return count


def groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings by question, verdict and remedy; remedies do not separate terse verdicts."""
    grouped: list[list[Finding]] = []
    for finding in findings:
        same = [group for group in grouped if _alike(group[0], finding)]
        if same:
            same[0].append(finding)
        else:
            grouped.append([finding])
    return grouped


def _alike(finding: Finding, other: Finding) -> bool:
    if (finding.check, finding.verdict) != (other.check, other.verdict):
        return False
    return finding.verdict in TERSE or finding.actions == other.actions


def _entry(group: Sequence[Finding]) -> Entry:
    first = group[0]
    agree = all(finding.words == first.words for finding in group)
    listed = group[:1] if first.verdict in TERSE and not agree else group
    others = len(group) - len(listed)
    return Entry(first.verdict, first.check, _words_by_setting(listed), first.actions, others)


def _words_by_setting(group: Sequence[Finding]) -> tuple[tuple[str, Words], ...]:
    """What was found for each setting; equal headlines, or findings that are equal, are one."""
    first = group[0]
    if len(group) == 1 or any(finding.headline != first.headline for finding in group):
        return tuple(("" if whole(finding) else finding.about, finding.words) for finding in group)
    if all(finding.words == first.words for finding in group):
        names = [finding.about for finding in group]
        about = Message("checklist.settings", {"names": names}).text
        return (("" if first.verdict in TERSE else about, first.words),)
    evidence = tuple(
        Message("checklist.of_setting", {"about": finding.about, "text": line}).text
        for finding in group
        for line in finding.words.evidence
    )
    return (("", Words(first.headline, evidence)),)


def whole(finding: Finding) -> bool:
    """Whether it is about the whole round: no setting need be named."""
    return finding.scope == "round" or finding.about == "all"


def lines_of(actions: Sequence[Action], reader: Reader) -> list[str]:
    """What to type and what it does, in two columns."""
    codes = [words.printable(action.code_for(reader)) for action in actions]
    width = max((len(code) for code in codes), default=0)
    lines = []
    for code, action in zip(codes, actions, strict=True):
        text = words.printable(action.text_for(reader))
        lines.append(f"{code.ljust(width)}    {text}".rstrip() if code else text)
    return lines


def as_markup(findings: Sequence[Finding], reader: Reader) -> str:
    """A list with one item per question and remedy: settings that share them share the item."""
    entries = [_item(group, reader) for group in groups(findings)]
    return markup.render("findings_list.html", entries=entries)


def _item(group: Sequence[Finding], reader: Reader) -> str:
    first = group[0]
    words_by_setting = [
        ((about,) if about else (), finding_words)
        for about, finding_words in _words_by_setting(group)
    ]
    remedies = () if first.verdict == "ok" else first.actions
    actions = [(action.code_for(reader), action.text_for(reader)) for action in remedies]
    return markup.finding(first.verdict, first.check, words_by_setting, actions, first.section)


# ---- the trials of a report: best first, one column per hyperparameter, no empty column


MOST = 300  # rows; an export has all of them
Kind = Literal["trial", "value", "best_step", "setting", "time", "status", "again"]


@dataclass(frozen=True)
class Column:
    """One column: what it holds, and the hyperparameter or metric it is named after."""

    kind: Kind
    name: str = ""
    number: bool = False  # aligned at the right

    @property
    def heading(self) -> str:
        """Its heading: a name of the round, or a word."""
        return self.name or Message(f"trials.{self.kind}").text


@dataclass(frozen=True)
class Cell:
    """What a reader sees, and what a table sorts by."""

    text: str
    key: str = ""


@dataclass(frozen=True)
class Row:
    """One trial as a reader sees it, a cell for each column."""

    number: int | str | None
    status: str
    cells: tuple[Cell, ...]
    trial: int | None = None  # its number among these results


@dataclass(frozen=True)
class TrialRows:
    """The columns, the rows shown, and how many trials there are."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    trials: int

    @property
    def left_out(self) -> int:
        """How many trials are not shown."""
        return self.trials - len(self.rows)


def trial_rows(results: Results, most: int = MOST) -> TrialRows:
    """The best trials, then infeasible, failed, pruned, running and pending ones."""
    order = {"infeasible": 1, "failed": 2, "pruned": 3, "running": 4, "pending": 5}
    rest = [t for t in results.rows if t.value is None] + list(results.waiting[:most])
    rest.sort(key=lambda t: (order.get(t.status, 6), t.number or 0))
    ranked = [*results.top(), *rest]
    listed = ranked[:most]
    columns = tuple(_columns(results, listed))
    rows = tuple(_row(trial, columns) for trial in listed)
    return TrialRows(columns, rows, results.size)


def _columns(results: Results, trials: list[Trial]) -> Iterator[Column]:
    """Only what differs or is known: no column is empty."""
    yield Column("trial", number=True)
    yield Column("value", results.objective.metric, number=True)
    if any(trial.best_step is not None for trial in trials):
        yield Column("best_step", number=True)
    hidden = without_fixed(results.round)
    for name in results.round.names:
        values = [t.configuration[name] for t in trials if name in t.configuration]
        if name not in hidden and values:
            numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
            yield Column("setting", name, number=numbers)
    if any(trial.seconds for trial in trials):
        yield Column("time", number=True)
    if any(trial.status != "completed" for trial in trials):
        yield Column("status")
    if any(trial.command for trial in trials):
        yield Column("again")


def _row(trial: Trial, columns: tuple[Column, ...]) -> Row:
    cells = tuple(_cell(trial, column) for column in columns)
    return Row(trial.shown_number, trial.status, cells, trial.number)


def _cell(trial: Trial, column: Column) -> Cell:
    if column.kind == "trial":
        return Cell(str(trial.shown_number), _key(trial.number))
    if column.kind == "value":
        return Cell("" if trial.value is None else words.number(trial.value), _key(trial.value))
    if column.kind == "best_step":
        return Cell("" if trial.best_step is None else str(trial.best_step), _key(trial.best_step))
    if column.kind == "setting":
        known = column.name in trial.configuration
        value = trial.configuration.get(column.name)
        return Cell(words.value(value) if known else "", _key(value) if known else "")
    if column.kind == "time":
        text: str = words.duration(trial.seconds) if trial.seconds else ""
        return Cell(text, _key(trial.seconds))
    if column.kind == "status":
        facts = {"status": _status_word(trial.status), "reason": trial.reason}
        return Cell(Message("trials.ended", facts).text, trial.status)
    return Cell(trial.command)


def _status_word(status: str) -> Text:
    """A status in the reader's language."""
    return Message(f"status.{status}").text


def _key(value: Any) -> str:
    """What a table sorts by: every digit of a number, the text of anything else."""
    if value is None:
        return ""
    return repr(value) if isinstance(value, int | float) else str(value)
