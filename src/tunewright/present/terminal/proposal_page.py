"""Proposals and longer rounds on a screen: what to do, why, and what would change."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tunewright.advice.extend import Extension
from tunewright.advice.proposal import Proposal
from tunewright.design.ranges import Range
from tunewright.design.round import Round, changes
from tunewright.messages import Message, worded, words
from tunewright.present.terminal.screen import cell, earlier_line, say, table
from tunewright.probes.probe import Answer
from tunewright.store.results import Results

_INDENT = 4  # the number of a proposal and the space after it
_MOST_CHANGES = 6
_UNSAID = ("seed",)  # changes that need no line


def print_proposals(results: Results, proposals: Sequence[Proposal], console: Console) -> None:
    """Print the ranked list; the first one in bold."""
    name = words.printable(results.round.name)
    facts = {"round": name, "proposals": len(proposals)}
    console.print(Text(Message("page.proposals", facts).text))
    if line := earlier_line(results):
        console.print(Text(line, style="dim"), soft_wrap=True)
    width = max((len(proposal.kind) for proposal in proposals), default=0)
    for number, proposal in enumerate(proposals, start=1):
        text = Text(f"{number}".ljust(_INDENT))
        text.append(f"{proposal.kind.ljust(width)}  ", style="bold" if number == 1 else "")
        text.append(words.printable(proposal.reason.text))
        console.print(text, soft_wrap=True)
        arrow = " " * (_INDENT + width) + "  "
        for change in _changes(results.round, proposal):
            console.print(Text(f"{arrow}{words.printable(change)}", style="dim"), soft_wrap=True)
        for action in proposal.actions if proposal.round is None else ():
            command = action.command or action.text
            console.print(Text(f"{arrow}-> {words.printable(command)}"), soft_wrap=True)


def _changes(old: Round, proposal: Proposal) -> list[str]:
    """What a proposed round changes that its reason does not mention, one line each."""
    new = proposal.round
    if new is None:
        return []
    reason = proposal.reason.facts
    named = {*_UNSAID, *reason.get("ranges", ()), *reason.get("values", ())}
    lines: list[str] = [
        change.message.text
        for change in changes(old, new)
        if change.what not in named and change.now != str(reason.get("steps", ""))
    ]
    if new.trials != old.trials:
        lines.append(worded("trials_after", trials=new.trials, before=old.trials))
    if len(lines) > _MOST_CHANGES:
        more = worded("more_changes", count=len(lines) - _MOST_CHANGES + 1)
        lines = [*lines[: _MOST_CHANGES - 1], more]
    return lines


def print_extension(results: Results, extension: Extension, console: Console) -> None:
    """Print what becomes of every hyperparameter, the schedule's rule, and what it costs."""
    name = words.printable(results.round.name)
    steps = {"old": extension.old_steps, "new": extension.new_steps}
    console.print(Text(worded("extension", round=name, trial=extension.best.number, **steps)))
    rows = table("hyperparameter", "transfers", "role", "value", "why")
    for hyperparameter in extension.hyperparameters:
        value, transfer = hyperparameter.value, hyperparameter.transfer
        rows.add_row(
            cell(hyperparameter.name),
            cell(transfer.likelihood if transfer.area != "length" else ""),
            cell(hyperparameter.role, "bold" if hyperparameter.role == "nuisance" else ""),
            cell(str(value) if isinstance(value, Range) else words.value(value)),
            cell(hyperparameter.why.text),
        )
    console.print(rows)
    console.print(
        Text(worded("schedule", rule=words.printable(extension.rule.text))), soft_wrap=True
    )
    for note in extension.notes:
        console.print(
            Text(worded("note", text=words.printable(note.text)), style="yellow"), soft_wrap=True
        )
    total = extension.round.trials * extension.new_steps
    before = sum(t.ended for t in results.rows if t.origin is None) * extension.old_steps
    cost = {"trials": extension.round.trials, "steps": extension.new_steps, "total": total}
    if before:
        cost_line = worded(
            "extension_cost_times", times=f"{total / before:.2g}", round=name, **cost
        )
    else:
        cost_line = worded("extension_cost", **cost)
    console.print(Text(cost_line), soft_wrap=True)


# ---- the answer of a probe on a screen: headline, sentence, what is missing, the settings,
# caveats


def print_answer(answer: Answer, caveats: Sequence[Message] = ()) -> None:
    """The end of every probe's page."""
    say()
    say(words.printable(answer.headline), style="bold")
    say(words.printable(answer.message.text))
    for lack in answer.missing:
        say(f"  {worded('missing', what=words.printable(lack.text))}")
    if answer.settings:
        say()
        say(worded("for_configuration"))
        for name, value in answer.settings.items():
            say(f"  {name} = {value!r}")
    for caveat in caveats:
        say(f"  {worded('caveat', what=words.printable(caveat.text))}")
