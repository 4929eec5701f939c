"""One round on a screen: what was asked, what was found, what limits it, what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from tunewright.design.ranges import Choice, Range, as_range
from tunewright.design.round import Round
from tunewright.messages import words
from tunewright.present.next_step import next_steps
from tunewright.present.terminal.plain_table import cell, table
from tunewright.store.reason import kind
from tunewright.store.results import Results
from tunewright.store.trial import Status, Trial

MOST_REASONS = 5  # of one status, each on a line
ORDER: tuple[Status, ...] = ("completed", "infeasible", "failed", "pruned", "running", "pending")
LABEL = 12  # width of the left column


def print_round(results: Results, console: Console) -> None:
    """Print the page: verdict first, table after it, the next commands last."""
    own = results.round
    console.print(Text.assemble((words.printable(own.name), "bold"), f"  {_line(own.goal)}"))
    console.print(Text(verdict(results)), soft_wrap=True)
    console.print()
    for label, text in roles(own):
        _print_pair(console, label, text)
    console.print()
    console.print(studies_table(results))
    console.print()
    for label, text in remarks(results):
        _print_pair(console, label, text)
    for step in next_steps(results):
        _print_pair(console, "next", f"{step.command}  ({step.why})")


def counts_line(results: Results) -> str:
    """How many trials there are, and what became of them."""
    parts = [f"{results.counts[status]} {status}" for status in ORDER if status in results.counts]
    return f"{words.count(len(results.trials), 'trial')}: {', '.join(parts) or 'none yet'}"


def verdict(results: Results) -> str:
    """The counts, and the best trial of all."""
    metric = words.printable(results.objective.metric)
    top = results.top(1)
    if not top:
        return f"{counts_line(results)}. No trial completed yet."
    best = top[0]
    settings = words.configuration(best.configuration, without_fixed(results.round))
    return (
        f"{counts_line(results)}. Best {words.number(best.value)} {metric}, trial {best.number} "
        f"at step {best.best_step}: {settings}"
    )


def roles(own: Round) -> Iterator[tuple[str, str]]:
    """Each role with its hyperparameters, conditional ones by their full name."""
    searched = {h.column: _shown(h.range) for study in own.studies for h in study.space}
    lists = {name: as_range(declared) for name, declared in own.scientific.items()}
    scientific = {name: _shown(declared) for name, declared in lists.items()}
    nuisance = {name: text for name, text in searched.items() if name not in own.scientific}
    fixed = {f.column: words.value(f.value) for study in own.studies for f in study.fixed}
    for label, found in (("scientific", scientific), ("nuisance", nuisance), ("fixed", fixed)):
        if found:
            yield label, "   ".join(f"{words.printable(n)} {text}" for n, text in found.items())


def studies_table(results: Results) -> RenderableType:
    """One row per study: its counts and its best trial."""
    metric = words.printable(results.objective.metric)
    present = [status for status in ORDER if status in results.counts]
    made = table(
        "study", *present, f"best {metric}", "trial", "configuration", right=tuple(present)
    )
    hidden = (*without_fixed(results.round), *results.round.scientific)
    for study in results.studies:
        trials = results.of(study)
        best = best_of(results, trials)
        counts = [str(sum(t.status == status for t in trials)) for status in present]
        row: list[object] = ["-", "-", ""]
        if best is not None:
            settings = words.configuration(best.configuration, hidden)
            row = [words.number(best.value), best.number, settings]
        made.add_row(cell(study.label), *counts, *(cell(text) for text in row))
    return made


def best_of(results: Results, trials: tuple[Trial, ...]) -> Trial | None:
    """The best completed one of these trials."""
    completed = [trial for trial in trials if trial.value is not None]
    return max(completed, key=lambda t: results.objective.sign * (t.value or 0.0), default=None)


def remarks(results: Results) -> Iterator[tuple[str, str]]:
    """What limits the conclusions: why trials did not complete, caveats, notes."""
    for status in ("infeasible", "failed", "pruned"):
        found = reasons(results, status)
        if len(found) > MOST_REASONS:  # words of the training program may differ in each trial
            others = [number for _, numbers in found[MOST_REASONS:] for number in numbers]
            found = [*found[:MOST_REASONS], ("other reasons", others)]
        for reason, numbers in found:
            listed = ", ".join(str(n) for n in numbers[:8]) + (" ..." if len(numbers) > 8 else "")
            what = "trial" if len(numbers) == 1 else "trials"
            yield status, f"{len(numbers)} of {len(results.trials)}: {reason} ({what} {listed})"
    if results.round.caveats:
        yield "caveats", "; ".join(words.printable(caveat) for caveat in results.round.caveats)
    for note in results.notes:
        yield "note", _line(note)


def reasons(results: Results, status: Status) -> list[tuple[str, list[int | None]]]:
    """Why trials ended so, most frequent first; reasons that differ in the step alone are one."""
    found: dict[str, list[int | None]] = {}
    for trial in results.trials:
        if trial.status == status:
            own = kind(trial.reason)
            found.setdefault(_line(str(own or "no reason given")), []).append(trial.number)
    return sorted(found.items(), key=lambda pair: -len(pair[1]))


def without_fixed(own: Round) -> tuple[str, ...]:
    """Names that are fixed in every study and so need not be said with each configuration."""
    fixed = {f.name for study in own.studies for f in study.fixed}
    searched = {h.name for study in own.studies for h in study.space}
    return tuple(sorted(fixed - searched))


def _shown(searched: Range | None) -> str:
    if isinstance(searched, Choice):
        return f"[{', '.join(words.value(v) for v in searched.values)}]"
    return str(searched)


def _print_pair(console: Console, label: str, text: str) -> None:
    line = Text.assemble((label.ljust(LABEL), "dim"), text)
    console.print(line, soft_wrap=True)


def _line(text: str) -> str:
    return words.printable(" ".join(text.split()))
