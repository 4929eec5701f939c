"""One round on a screen: what was asked, what was found, what limits it, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from tunewright.budgets.spending import spending
from tunewright.design.ranges import Range, as_range
from tunewright.design.round import Round
from tunewright.messages import Message, label, padded, worded, words
from tunewright.present.next_step import next_steps
from tunewright.present.terminal.screen import LABEL, cell, print_pair, table
from tunewright.store.campaigns import PROBE
from tunewright.store.outcome import kind
from tunewright.store.overview import Tracked
from tunewright.store.results import Results
from tunewright.store.trial import Status, Trial

MOST_REASONS = 5  # of one status, each on a line
ORDER: tuple[Status, ...] = (
    *("completed", "infeasible", "failed", "pruned", "unmeasured", "running", "pending"),
)


def print_round(results: Results, console: Console) -> None:
    """Print the page: verdict first, table after it, the next commands last."""
    round = results.round
    name, goal = words.printable(round.name), words.one_line(round.asks)
    console.print(Text.assemble((name, "bold"), f"  {goal}"))
    console.print(Text(verdict(results)), soft_wrap=True)
    console.print()
    for title, text in roles(round):
        print_pair(console, title, text)
    console.print()
    console.print(studies_table(results))
    console.print()
    for title, text in remarks(results):
        print_pair(console, title, text)
    if not results.imported:
        console.print(Text(words.printable(spending(results).message.text)), soft_wrap=True)
    for step in next_steps(results):
        print_pair(console, "next", f"{words.printable(step.action.command)}  ({step.why})")


def counts_line(results: Results) -> str:
    """How many trials there are, and what became of them."""
    return Message("round.counts", _counts(results)).text


def verdict(results: Results) -> str:
    """The counts, and the best trial of all."""
    for best in results.top(1):
        without = without_fixed(results.round)
        settings = {name: v for name, v in best.configuration.items() if name not in without}
        facts = {
            **_counts(results),
            "metric": words.printable(results.objective.metric),
            "value": best.value,
            "trial": best.shown_number,
            "step": best.best_step,
            "settings": settings,
        }
        return Message("round.best", facts).text
    return Message("round.none_completed", _counts(results)).text


def _counts(results: Results) -> dict[str, Any]:
    return {"counts": results.counts, "trials": results.size}


def roles(round: Round) -> Iterator[tuple[str, str]]:
    """Each role with its hyperparameters, conditional ones by their full name."""
    searched = {h.column: _range_text(h.range) for study in round.studies for h in study.space}
    lists = {name: as_range(declared) for name, declared in round.scientific.items()}
    scientific = {name: _range_text(declared) for name, declared in lists.items()}
    nuisance = {name: text for name, text in searched.items() if name not in round.scientific}
    fixed = {f.column: words.value(f.value) for study in round.studies for f in study.fixed}
    for title, hyperparameters in (
        ("scientific", scientific),
        ("nuisance", nuisance),
        ("fixed", fixed),
    ):
        if hyperparameters:
            yield (
                title,
                "   ".join(f"{words.printable(n)} {text}" for n, text in hyperparameters.items()),
            )


def studies_table(results: Results) -> RenderableType:
    """One row per study: its counts and its best trial."""
    metric = words.printable(results.objective.metric)
    present = [status for status in ORDER if status in results.counts]
    rows = table(
        "study",
        *present,
        words.phrase("best_of", metric=metric),
        "trial",
        "configuration",
        right=tuple(present),
    )
    hidden = (*without_fixed(results.round), *results.round.scientific)
    for study in results.studies:
        trials = results.rows_of(study)
        best = _best_of(results, trials)
        by_status = results.counts_of(study)
        counts = [str(by_status.get(status, 0)) for status in present]
        row: list[object] = ["-", "-", ""]
        if best is not None:
            settings = words.configuration(best.configuration, hidden)
            row = [words.number(best.value), best.shown_number, settings]
        rows.add_row(cell(study.label), *counts, *(cell(text) for text in row))
    return rows


def _best_of(results: Results, trials: tuple[Trial, ...]) -> Trial | None:
    """The best completed one of these trials."""
    completed = [trial for trial in trials if trial.value is not None]
    return max(completed, key=lambda t: results.objective.sign * (t.value or 0.0), default=None)


def remarks(results: Results) -> Iterator[tuple[str, str]]:
    """What limits the conclusions: why trials did not complete, caveats, notes."""
    for status in ("infeasible", "failed", "pruned", "unmeasured"):
        by_reason = reasons(results, status)
        if len(by_reason) > MOST_REASONS:  # words of the training program may differ in each trial
            others = [number for _, numbers in by_reason[MOST_REASONS:] for number in numbers]
            rest = Message("round.other_reasons").text
            by_reason = [*by_reason[:MOST_REASONS], (rest, others)]
        for reason, numbers in by_reason:
            facts = {"reason": reason, "numbers": numbers, "trials": results.size}
            yield status, Message("round.why_not_completed", facts).text
    if results.round.caveats:
        yield "caveats", "; ".join(words.printable(caveat.text) for caveat in results.round.caveats)
    for note in results.notes:
        yield "note", words.one_line(str(note))


def reasons(results: Results, status: Status) -> list[tuple[str, list[int | None]]]:
    """Why trials ended so, most frequent first; reasons that differ in the step alone are one."""
    by_reason: dict[str, list[int | None]] = {}
    for trial in results.rows:
        if trial.status == status:
            reason = kind(trial.reason)
            by_reason.setdefault(
                words.one_line(str(reason or worded("no_reason_given"))), []
            ).append(trial.number)
    return sorted(by_reason.items(), key=lambda pair: -len(pair[1]))


def without_fixed(round: Round) -> tuple[str, ...]:
    """Names that are fixed in every study and so need not be repeated with each configuration."""
    fixed = {f.name for study in round.studies for f in study.fixed}
    searched = {h.name for study in round.studies for h in study.space}
    return tuple(sorted(fixed - searched))


def _range_text(searched: Range | None) -> str:
    if searched is not None and searched.choices is not None and searched.belief is None:
        return f"[{', '.join(words.value(v) for v in searched.choices)}]"
    return str(searched)


# ---- the tracking table on a screen: every round with its best trial and how to find it again


_GAP = 2  # between columns
_NARROWEST = 12  # of the goal


def print_tracking(rows: Sequence[Tracked], console: Console, details: bool = False) -> None:
    """Print one line per round, oldest first, then the rounds of probes; or all that is known."""
    if not rows:
        console.print(Text(worded("no_rounds")))
        return
    probes = [row for row in rows if row.purpose == PROBE]
    designed = [row for row in rows if row.purpose != PROBE]
    for title, some in (("round", designed), ("probe", probes)):
        if some:
            console.print(
                _details_table(some, title) if details else _brief(some, title, console.width)
            )


def _brief(rows: Sequence[Tracked], title: str, width: int) -> RenderableType:
    """One line a round; only the goal gives way where the screen is narrow."""
    names = (title, "trials", "best", "trial", "objective", "goal")
    lines = [(cell(row.name, "bold"), *_line(row)) for row in rows]
    wide = [
        max(cell_len(label(name)), *(cell_len(line[place].plain) for line in lines))
        for place, name in enumerate(names[:-1])
    ]
    tracking = table(*names, right=("best", "trial"))
    for line in lines:
        line[-1].truncate(
            max(_NARROWEST, width - sum(wide) - _GAP * len(wide)), overflow="ellipsis"
        )
        tracking.add_row(*line)
    return tracking


def _line(row: Tracked) -> tuple[Text, ...]:
    value, number = ("-", "-") if row.best is None else (row.best.value, row.best.number)
    value_text = words.number(value) if isinstance(value, float) else value
    goal = cell(words.one_line(str(row.goal)))
    return (
        _in_line(row),
        cell(value_text),
        cell(number),
        cell(words.objective(row.objective)),
        goal,
    )


def _in_line(row: Tracked) -> Text:
    """How many trials there are, and those that are not completed, on one line."""
    others = _other_statuses(row)
    if not others:
        return Text(str(row.trials))
    return Text(worded("counted", trials=row.trials, others=", ".join(others)))


def _other_statuses(row: Tracked) -> list[str]:
    """How many trials of each other status there are."""
    return [
        worded("of_status", count=n, status=label(status))
        for status, n in row.counts.items()
        if status != "completed"
    ]


def _details_table(rows: Sequence[Tracked], title: str) -> RenderableType:
    tracking = table(title, "trials", "best", "goal, and how to find it again")
    for row in rows:
        tracking.add_row(cell(row.name, "bold"), trials(row), best(row), details(row))
    return tracking


def trials(row: Tracked) -> Text:
    """How many trials there are; those that are not completed by their status."""
    return Text("\n".join([str(row.trials), *_other_statuses(row)]))


def best(row: Tracked) -> Text:
    """The best value and the trial that reached it."""
    if row.best is None:
        return Text("-")
    return Text(worded("best_of_trial", value=row.best.value, trial=row.best.number))


def details(row: Tracked) -> Text:
    """The goal, and below it the note, the files and the command."""
    text = Text(words.printable(row.asks))
    for title, content in _detail_lines(row):
        text.append("\n")
        text.append(padded(title, LABEL), style="dim")
        text.append(words.printable(content))
    return text


def _detail_lines(row: Tracked) -> Iterator[tuple[str, str]]:
    yield "objective", words.objective(row.objective)
    if row.note:
        yield "note", str(row.note)
    if row.definition:
        yield "config", near(row.definition)
    if row.checkpoint:
        yield "checkpoint", near(row.checkpoint)
    if row.command:
        yield "again", row.command


def near(path: str) -> str:
    """A path as one would type it here."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
