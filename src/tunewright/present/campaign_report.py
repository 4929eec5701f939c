"""A campaign as a report: what it chose and why, step by step, before all its trials together."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tunewright.advice.range_overlap import hull
from tunewright.advice.rewrite import searched_ranges, with_ranges
from tunewright.campaigns.campaign import Campaign, Contender, kind_of
from tunewright.campaigns.probe import skipped
from tunewright.campaigns.probe_answers import sentence_of
from tunewright.campaigns.train_longer import ranks_alike
from tunewright.messages import words
from tunewright.present.answer import settings
from tunewright.present.figures.progress import progress
from tunewright.present.html import figure_markup, items, text
from tunewright.store.joined import joined
from tunewright.store.results import Results
from tunewright.store.trial import Trial

VERDICTS = {
    "launch": "It beats the baseline",
    "keep": "It does not beat the baseline: keep that",
    "undecided": "Whether it beats the baseline is undecided",
}


@dataclass(frozen=True)
class StepRow:
    """One step as a reader sees it."""

    number: int
    kind: str
    reason: str
    round: str


def whole(campaign: Campaign) -> Results:
    """Its trials together, in a space as wide as any of its rounds searched."""
    rounds = campaign.searched
    wide = [r for r in rounds if kind_of(r.round.name) in ("explore", "widen")]
    base = wide[-1] if wide else rounds[0]
    ranges = searched_ranges(base.round)
    for other in rounds:
        known = searched_ranges(other.round)
        ranges = {c: hull(r, known[c]) if c in known else r for c, r in ranges.items()}
    # the step's own reason stands in the table above
    asked = replace(
        base.round,
        goal=base.round.goal.partition(" [")[0],
        nuisance=with_ranges(base.round.nuisance, ranges),
    )
    placed = (replace(t, unit=asked.studies[t.study].unit(t.configuration)) for t in base.recorded)
    return joined(
        replace(base, round=asked, recorded=tuple(placed)), *(r for r in rounds if r is not base)
    )


def chosen(campaign: Campaign) -> str:
    """What it chose, in one sentence."""
    winner = campaign.winner
    if winner is None:
        return "No trial completed, so nothing was chosen."
    searched = campaign.definition.space.nuisance
    shown = {n: v for n, v in winner.trial.configuration.items() if n in searched}
    return f"{_value(winner)}: {settings(shown)}."


def found(campaign: Campaign) -> Iterator[str]:
    """What it found, the most important first; the choice itself is said apart."""
    winner = campaign.winner
    if winner is not None:
        yield f"It is {winner.place}, best at step {winner.trial.best_step}."
    if campaign.launched is not None:
        yield _launch_sentence(campaign)
    for look in campaign.looks[-1:]:
        measured = ", ".join(f"{name} {words.number(v)}" for name, v in look.metrics.items())
        times = "the first look" if look.look == 1 else f"look number {look.look}: be careful"
        yield f"On the test set ({times}): {measured}."
    yield _spent(campaign)
    for probe in campaign.probes:
        if sentence := sentence_of(probe):  # single rows of a probe have none
            yield f"Probe {probe.get('probe', '')}: {sentence}"
    alike = ranks_alike(campaign)
    if alike is not None:
        yield f"Short against long training: {alike.says}."
    for line in skipped(campaign):
        yield f"Left out: {line}."


def rows(campaign: Campaign) -> list[StepRow]:
    """The campaign's log."""
    return [StepRow(s.number, s.kind, s.reason, s.round) for s in campaign.log]


def lead(campaign: Campaign) -> Iterator[str]:
    """The markup that comes before the report of all trials together."""
    definition = campaign.definition
    yield f"<h1>{text(campaign.name)}</h1>"
    budget = f"{words.count(campaign.total, 'trial')}" + (
        f" or {definition.hours:g} hours" if definition.hours is not None else ""
    )
    yield f'<p class="asked">{text(definition.space.goal)} Within {text(budget)}.</p>'
    tone = "" if campaign.winner is not None else " warned"
    yield f'<section class="verdict{tone}" aria-label="Verdict">'
    yield f"<p><strong>{text(chosen(campaign))}</strong></p>"
    yield items(text(sentence) for sentence in found(campaign))
    yield "</section>"
    if campaign.rounds:
        yield "<h2>How it came about</h2>"
        yield figure_markup(progress(campaign.rounds))
    yield '<div class="wide"><table><caption>Every step, and why</caption><thead><tr>'
    yield '<th class="number">step</th><th>what</th><th>why</th><th>round</th></tr></thead><tbody>'
    for row in rows(campaign):
        yield (
            f'<tr><td class="number">{row.number}</td><td>{text(row.kind)}</td>'
            f"<td>{text(row.reason)}</td><td>{text(row.round)}</td></tr>"
        )
    yield "</tbody></table></div>"
    yield "<h2>All its trials together</h2>"


def lead_text(campaign: Campaign) -> Iterator[str]:
    """The same as plain lines."""
    yield campaign.name
    yield chosen(campaign)
    yield from found(campaign)
    yield ""
    for row in rows(campaign):
        yield f"{row.number:>3}  {row.kind:<10} {row.reason}"
    yield ""


def _value(one: Contender) -> str:
    metric, values = one.results.objective.metric, one.repeats.values
    if not values:
        return f"{metric} {words.number(one.trial.value)} in one trial"
    mean = words.number(statistics.fmean(values))
    if len(values) == 1:
        return f"{metric} {mean} in one repeat"
    spread = float(f"{statistics.stdev(values):.2g}")
    return f"{metric} {mean} on average of {len(values)} fresh seeds (sd {words.number(spread)})"


def _launch_sentence(campaign: Campaign) -> str:
    own = campaign.launched
    assert own is not None
    if own.baseline is None:
        return "It is the first baseline of this store: there was none to compare it with."
    told = own.decision
    says = VERDICTS.get(own.verdict, own.verdict)
    parts = [f"{says} ({own.baseline})"]
    if told.get("probability") is not None:
        parts.append(f"probability of a gain {told['probability']:.2f}")
    if told.get("gain") is not None and told.get("interval"):
        low, high = (words.number(float(x)) for x in told["interval"])
        parts.append(f"gain {words.number(float(told['gain']))}, 90 % interval {low} to {high}")
    if own.verdict != "launch" and told.get("reasons"):
        parts.append(str(told["reasons"][0]))
    return "; ".join(parts) + "."


def _spent(campaign: Campaign) -> str:
    own: list[Trial] = list(campaign.all_trials())
    infeasible = sum(t.status == "infeasible" for t in own)
    seconds = sum(t.seconds for t in own)
    rounds = words.count(len(campaign.rounds), "round")
    repeats = sum(t.number is None for t in own)
    return (
        f"{campaign.spent} of {words.count(campaign.total, 'trial')} used in {rounds} "
        f"({words.count(repeats, 'repeat')}, {infeasible} infeasible), {words.duration(seconds)} "
        "of training."
    )
