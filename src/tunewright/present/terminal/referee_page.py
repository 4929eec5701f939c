"""What the referee answers on a screen: a decision, a status, the decisions so far, an audit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tunewright.messages import Message, words
from tunewright.present.terminal.screen import cell, table
from tunewright.referee.answers import Audit, Cost, Decision, Quote, Status

_STYLES = {"keep": "bold green", "discard": "", "undecided": "yellow"}


def print_decision(one: Decision, console: Console) -> None:
    """One sentence, the values, and what it cost."""
    console.print(Text(words.printable(one.sentence), style=_STYLES[one.verdict]), soft_wrap=True)
    if one.values:
        values = ", ".join(words.number(value) for value in one.values)
        console.print(Text(f"values {values}; sd of one run {words.number(one.sd)}", style="dim"))
    console.print(Text(_cost(one.cost), style="dim"), soft_wrap=True)


def print_status(status: Status, console: Console) -> None:
    """Where the lineage stands; the running gain is labelled as what it is."""
    lines = [
        f"{status.name}: {words.printable(status.command)}",
        f"{status.first[:12]} -> {status.current[:12]}: {status.kept} of "
        f"{words.count(status.tried, 'change')} kept, {status.undecided} undecided",
    ]
    if status.sd is not None and status.baseline is not None:
        lines.append(
            f"{status.metric} {words.number(status.baseline)} (sd of one run "
            f"{words.number(status.sd)}); running estimate of the gain, not to be quoted: "
            f"{words.number(status.running_gain)}"
        )
    lines.append(_cost(status.cost))
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    if status.quote is not None:
        print_quote(status.quote, status.metric, console)


def print_quote(quote: Quote, metric: str, console: Console) -> None:
    """The quoted total with its interval."""
    facts = {
        "metric": metric,
        "gain": quote.gain,
        "low": quote.interval[0],
        "high": quote.interval[1],
        "first": quote.first[:12],
        "current": quote.current[:12],
        "runs": quote.runs,
    }
    console.print(Text(Message("referee.quote", facts).text, style="bold"), soft_wrap=True)


def print_decisions(decisions: Sequence[Decision], console: Console) -> None:
    """One line per decision, oldest first."""
    rows = table("change", "commit", "verdict", "gain", "90 % interval", "runs", "what")
    for one in decisions:
        low, high = (words.number(end) for end in one.interval)
        rows.add_row(
            cell(one.number),
            cell(one.commit[:12]),
            cell(one.verdict, _STYLES[one.verdict]),
            cell(words.number(one.expected_gain)),
            cell(f"{low} to {high}"),
            cell(one.runs),
            cell(one.summary),
        )
    console.print(rows)


def print_audit(audit: Audit, console: Console) -> None:
    """One line per kept change, then where the lineage continues."""
    rows = table("commit", "verdict", "loss without it", "90 % interval", "runs", "what")
    for one in audit.removals:
        loss = "" if one.loss is None else words.number(one.loss)
        ends = one.interval
        interval = "" if ends is None else f"{words.number(ends[0])} to {words.number(ends[1])}"
        rows.add_row(
            cell(one.commit[:12]),
            cell(one.verdict),
            cell(loss),
            cell(interval),
            cell(one.runs),
            cell(one.summary),
        )
    console.print(rows)
    removed = sum(one.verdict == "remove" for one in audit.removals)
    facts = {"removed": removed, "commit": audit.commit[:12]}
    console.print(Text(Message("referee.audit", facts).text), soft_wrap=True)


def _cost(cost: Cost) -> str:
    left = [] if cost.runs_left is None else [f"{words.count(cost.runs_left, 'run')} left"]
    left += [] if cost.hours_left is None else [f"{cost.hours_left:.3g} hours left"]
    spent = f"{words.count(cost.runs, 'run')} in {words.duration(3600 * cost.hours)}"
    return f"cost: {', '.join([spent, *left])}"
