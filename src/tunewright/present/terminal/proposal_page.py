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
    width = max((len(one.kind) for one in proposals), default=0)
    for number, one in enumerate(proposals, start=1):
        text = Text(f"{number}".ljust(_INDENT))
        text.append(f"{one.kind.ljust(width)}  ", style="bold" if number == 1 else "")
        text.append(words.printable(one.reason.text))
        console.print(text, soft_wrap=True)
        arrow = " " * (_INDENT + width) + "  "
        for change in _changes(results.round, one):
            console.print(Text(f"{arrow}{words.printable(change)}", style="dim"), soft_wrap=True)
        for action in one.actions if one.round is None else ():
            shown = action.command or action.text
            console.print(Text(f"{arrow}-> {words.printable(shown)}"), soft_wrap=True)


def _changes(old: Round, one: Proposal) -> list[str]:
    """What a proposed round changes that its reason does not mention, one line each."""
    new = one.round
    if new is None:
        return []
    said = one.reason.facts
    named = {*_UNSAID, *said.get("ranges", ()), *said.get("values", ())}
    found: list[str] = [
        change.message.text
        for change in changes(old, new)
        if change.what not in named and change.now != str(said.get("steps", ""))
    ]
    if new.trials != old.trials:
        found.append(worded("trials_after", trials=new.trials, before=old.trials))
    if len(found) > _MOST_CHANGES:
        more = worded("more_changes", count=len(found) - _MOST_CHANGES + 1)
        found = [*found[: _MOST_CHANGES - 1], more]
    return found


def print_extension(results: Results, made: Extension, console: Console) -> None:
    """Print what becomes of every hyperparameter, the schedule's rule, and what it costs."""
    name = words.printable(results.round.name)
    steps = {"old": made.old_steps, "new": made.new_steps}
    console.print(Text(worded("extension", round=name, trial=made.best.number, **steps)))
    rows = table("hyperparameter", "transfers", "role", "value", "why")
    for one in made.hyperparameters:
        value = str(one.value) if isinstance(one.value, Range) else words.value(one.value)
        likely = one.transfer.likelihood if one.transfer.area != "length" else ""
        rows.add_row(
            cell(one.name),
            cell(likely),
            cell(one.role, "bold" if one.role == "nuisance" else ""),
            cell(value),
            cell(one.why.text),
        )
    console.print(rows)
    console.print(Text(worded("schedule", rule=words.printable(made.rule.text))), soft_wrap=True)
    for note in made.notes:
        console.print(
            Text(worded("note", text=words.printable(note.text)), style="yellow"), soft_wrap=True
        )
    total = made.round.trials * made.new_steps
    before = sum(t.ended for t in results.rows if t.origin is None) * made.old_steps
    cost = {"trials": made.round.trials, "steps": made.new_steps, "total": total}
    if before:
        said = worded("extension_cost_times", times=f"{total / before:.2g}", round=name, **cost)
    else:
        said = worded("extension_cost", **cost)
    console.print(Text(said), soft_wrap=True)


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
