"""What the Bayesian search believes, on a screen: what to expect, what diverges, what is left."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from tunewright.messages import words
from tunewright.present.terminal.plain_table import cell, table
from tunewright.present.terminal.round_page import without_fixed
from tunewright.search.bayesian.bayesian import SURE
from tunewright.search.bayesian.belief import NEXT, Axis, Belief
from tunewright.store.results import Results


def print_beliefs(results: Results, beliefs: tuple[Belief, ...], console: Console) -> None:
    """One paragraph per study: the verdict, the best to expect, and the map of what diverges."""
    console.print(Text(words.printable(results.round.name), style="bold"))
    for belief in beliefs:
        if len(beliefs) > 1:
            console.print(Text(f"\n{words.printable(belief.study.label)}", style="bold"))
        for line in lines(results, belief):
            console.print(Text(line), soft_wrap=True)
        if belief.infeasible and belief.axes:
            console.print(Text("feasible where the others are as recommended:"))
            console.print(_map(belief.axes))


def lines(results: Results, belief: Belief) -> Iterator[str]:
    """The sentences of one study, the verdict first."""
    learned = f"learnt from {words.count(belief.outcomes, 'trial')}"
    if belief.earlier:
        learned += f", {belief.earlier} of them of earlier rounds"
    if belief.infeasible:
        learned += f", {belief.infeasible} of them infeasible"
    if belief.predicted is None or belief.recommended is None:
        yield f"{belief.says} ({learned})"
        return
    metric = words.printable(results.objective.metric)
    expected = belief.predicted
    gain, enough = words.number(belief.gain), words.number(belief.worthwhile)
    yield (
        f"{belief.says}: {gain} {metric} is expected of {NEXT} more trials, {enough} is worth them"
    )
    hidden = without_fixed(results.round)
    settings = words.configuration(belief.configuration, hidden)
    yield (
        f"best to expect {words.number(expected.value)} {metric} (90 % interval "
        f"{words.number(expected.low)} to {words.number(expected.high)}), as trial "
        f"{belief.recommended.number}: {settings}"
    )
    if belief.feasible is not None and belief.infeasible:
        sure = "" if belief.feasible >= SURE else "; none that completed is surer"
        yield f"feasible there with probability {belief.feasible:.2f}{sure}"
    yield learned


def _map(axes: tuple[Axis, ...]) -> object:
    made = table("hyperparameter", "from", "", "to", f"probability below {SURE}")
    for axis in axes:
        bars = "".join(words.BLOCKS[min(int(p * len(words.BLOCKS)), 7)] for p in axis.feasible)
        made.add_row(
            cell(axis.column),
            words.value(axis.values[0]),
            bars,
            words.value(axis.values[-1]),
            cell(_unsure(axis)),
        )
    return made


def _unsure(axis: Axis) -> str:
    unsure = [words.value(v) for v, p in zip(axis.values, axis.feasible, strict=True) if p < SURE]
    if not unsure:
        return "nowhere"
    if len(unsure) == len(axis.values):
        return "everywhere"
    return ", ".join(unsure)
