"""Offline evaluations on a screen: a line per trial, and the look at the test set."""

from __future__ import annotations

from tunewright.execution.evaluate import Measured
from tunewright.launches.final import FinalCheck
from tunewright.messages import Message, words
from tunewright.present.terminal.plain_table import cell, table
from tunewright.present.terminal.screen import say, screen
from tunewright.store.results import Results


def print_measured(results: Results, found: tuple[Measured, ...]) -> None:
    """One line per trial: the objective in training, the evaluation, and at which step."""
    names = list(dict.fromkeys(name for one in found for name in one.metrics))
    proxy = f"{results.objective.metric} then"
    made = table("trial", "at step", proxy, *names, "", right=("trial", "at step", proxy, *names))
    for one in found:
        made.add_row(
            cell(one.trial.number),
            cell("-" if one.step is None else one.step),
            cell(words.number(one.proxy)),
            *(cell(words.number(one.metrics.get(name))) for name in names),
            cell(_remark(one)),
        )
    screen().print(made)
    if names:
        facts = {
            "round": results.round.name,
            "metric": names[0],
            "minimize": results.objective.minimize,
        }
        say(Message("evaluation.recorded", facts).text)


def print_final(verdict: FinalCheck) -> None:
    """The value on the test set, and whether it may still be believed."""
    say(words.printable(verdict.headline), style="bold")
    say(words.printable(str(verdict.measured)))
    say(words.printable(str(verdict.advice)), style="yellow" if verdict.warns else "")


def _remark(one: Measured) -> str:
    if one.step is None or one.at_best_step:
        return "" if one.reason is None else str(one.reason)
    return str(Message("evaluation.best_kept", {"step": one.trial.best_step}))
