"""What the referee answers on a screen: a decision, a status, the decisions so far, an audit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tunewright.messages import Message, worded, words
from tunewright.present.terminal.screen import cell, table
from tunewright.referee.answers import Audit, Cost, Decision, Quote, Status

_STYLES = {"keep": "bold green", "discard": "", "undecided": "yellow"}


def print_decision(decision: Decision, console: Console) -> None:
    """One sentence, the values, and what it cost."""
    console.print(
        Text(words.printable(decision.sentence), style=_STYLES[decision.verdict]), soft_wrap=True
    )
    if decision.values:
        values = ", ".join(words.number(value) for value in decision.values)
        console.print(Text(worded("judge.values", values=values, sd=decision.sd), style="dim"))
    console.print(Text(_cost(decision.cost), style="dim"), soft_wrap=True)


def print_status(status: Status, console: Console) -> None:
    """Where the lineage stands; the running gain is labelled as what it is."""
    lines = [
        f"{status.name}: {words.printable(status.command)}",
        worded(
            "judge.stands",
            first=status.first[:12],
            current=status.current[:12],
            kept=status.kept,
            tried=status.tried,
            undecided=status.undecided,
        ),
    ]
    if status.sd is not None and status.baseline is not None:
        lines.append(
            worded(
                "judge.running",
                metric=status.metric,
                baseline=status.baseline,
                sd=status.sd,
                gain=status.running_gain,
            )
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
    for decision in decisions:
        low, high = (words.number(end) for end in decision.interval)
        rows.add_row(
            cell(decision.number),
            cell(decision.commit[:12]),
            cell(worded(f"verdict.{decision.verdict}"), _STYLES[decision.verdict]),
            cell(words.number(decision.expected_gain)),
            cell(worded("between", low=low, high=high)),
            cell(decision.runs),
            cell(decision.summary),
        )
    console.print(rows)


def print_audit(audit: Audit, console: Console) -> None:
    """One line per kept change, then where the lineage continues."""
    rows = table("commit", "verdict", "loss without it", "90 % interval", "runs", "what")
    for removal in audit.removals:
        loss = "" if removal.loss is None else words.number(removal.loss)
        ends = removal.interval
        interval = ""
        if ends is not None:
            low, high = (words.number(end) for end in ends)
            interval = worded("between", low=low, high=high)
        rows.add_row(
            cell(removal.commit[:12]),
            cell(removal.verdict),
            cell(loss),
            cell(interval),
            cell(removal.runs),
            cell(removal.summary),
        )
    console.print(rows)
    removed = sum(removal.verdict == "remove" for removal in audit.removals)
    facts = {"removed": removed, "commit": audit.commit[:12]}
    console.print(Text(Message("referee.audit", facts).text), soft_wrap=True)


def _cost(cost: Cost) -> str:
    parts = [worded("judge.spent", runs=cost.runs, seconds=3600 * cost.hours)]
    if cost.runs_left is not None:
        parts.append(worded("judge.runs_left", runs=cost.runs_left))
    if cost.hours_left is not None:
        parts.append(worded("judge.hours_left", hours=cost.hours_left))
    return worded("judge.cost", parts=", ".join(parts))
