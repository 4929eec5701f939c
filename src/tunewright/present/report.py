"""A round as a report: the verdict first, the plots second, the tables third."""

from __future__ import annotations

import io
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console

import tunewright
from tunewright.advice.proposal import ranges_by_column, with_ranges
from tunewright.budgets.spending import spending
from tunewright.campaigns.campaign import Campaign, message_of
from tunewright.campaigns.probe import left_alone
from tunewright.campaigns.train_longer import ranks_alike
from tunewright.checks.checklist import check
from tunewright.costs.tune import spent_on
from tunewright.errors import DesignError, NotFound
from tunewright.finding import Finding
from tunewright.launches.lineage import Launched
from tunewright.messages import Message, Reader, Text
from tunewright.present import html
from tunewright.present.answer import Answer, answer
from tunewright.present.figures.progress import progress
from tunewright.present.html import Head, card_of
from tunewright.present.live_figures import packed
from tunewright.present.report_parts import Chapter, campaign_tiles, chapters, tiles, trial_rows
from tunewright.present.terminal.report_page import print_report
from tunewright.store.joined import joined
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# ---- A campaign as a report: what it chose and why, step by step, before all its trials together


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
    wide = campaign.of_kind("explore", "widen")
    base = wide[-1] if wide else rounds[0]
    ranges = ranges_by_column(base.round)
    for other in rounds:
        known = ranges_by_column(other.round)
        ranges = {c: r.hull(known[c]) if c in known else r for c, r in ranges.items()}
    # the step's own reason stands in the table above
    combined = replace(
        base.round,
        goal=campaign.definition.space.goal,
        change=None,
        nuisance=with_ranges(base.round.nuisance, ranges),
    )
    placed = (
        replace(t, unit=combined.studies[t.study].unit(t.configuration)) for t in base.recorded
    )
    return joined(
        replace(base, round=combined, recorded=tuple(placed)), *(r for r in rounds if r is not base)
    )


def _choice(campaign: Campaign) -> Message | None:
    """What the candidate reached, and its configuration; None while no trial has completed."""
    winner = campaign.winner
    if winner is None:
        return None
    searched = campaign.definition.space.nuisance
    fresh = campaign.fresh
    values = [float(value) for value in (fresh.values if fresh is not None else ())]
    picked = not values  # only the repeats that chose it are there: they flatter it
    values = values or [float(value) for value in winner.repeats.values]
    facts = {
        "verdict": None if campaign.launched is None else campaign.launched.verdict,
        "metric": winner.results.objective.metric,
        "value": winner.trial.value,
        "repeats": values,
        "picked": picked and bool(values) and campaign.chose_by > 0,
        "mean": statistics.fmean(values) if values else None,
        "sd": statistics.stdev(values) if len(values) > 1 else None,
        "settings": {n: v for n, v in winner.trial.configuration.items() if n in searched},
    }
    return Message("campaign.chosen", facts)


def summary_lines(campaign: Campaign) -> Iterator[Text]:
    """What it found, the most important first; the verdict stands above."""
    for message in _summary(campaign):
        yield message.text


def _summary(campaign: Campaign) -> Iterator[Message]:
    winner = campaign.winner
    if (choice := _choice(campaign)) is not None:
        yield choice
    if winner is not None:
        place = {"place": str(winner.place), "step": winner.trial.best_step}
        yield Message("campaign.place", place)
    if campaign.launched is not None and (
        winner is None or campaign.launched.candidate == winner.place
    ):
        yield Message("campaign.launched", _launch(campaign.launched))
    for look in campaign.tested[-1:]:
        yield Message(
            "campaign.tested",
            {"look": look.look, "metrics": {n: float(v) for n, v in look.metrics.items()}},
        )
    yield Message("campaign.spent", _spent(campaign))
    for probe in campaign.probes:
        if (answer := message_of(probe)) is not None:  # single rows of a probe have none
            yield Message("campaign.probe", {"probe": probe.get("probe", ""), "answer": answer})
    alike = ranks_alike(campaign)
    if alike is not None:
        yield Message("campaign.lengths", {"says": str(alike.says)})
    for line in left_alone(campaign):
        yield Message("campaign.left_out", {"what": str(line)})


def rows(campaign: Campaign) -> list[StepRow]:
    """The campaign's log."""
    return [StepRow(s.number, s.kind, str(s.reason), s.round) for s in campaign.log]


def _campaign_head(campaign: Campaign) -> Head:
    """What its page begins with, before the report of all trials together."""
    definition = campaign.definition
    budget = Message("campaign.budget", {"trials": campaign.total, "hours": definition.hours}).text
    return Head(
        name=campaign.name,
        goal=str(definition.space.goal),
        answer=campaign.headline,
        campaign=True,
        budget=budget,
        summary=tuple(summary_lines(campaign)),
        progress=card_of(progress(campaign.rounds)) if campaign.rounds else None,
        steps=tuple(rows(campaign)),
    )


def _lead_text(campaign: Campaign) -> Iterator[str]:
    """The same as plain lines."""
    yield campaign.name
    yield campaign.headline
    yield from summary_lines(campaign)
    yield ""
    for row in rows(campaign):
        yield f"{row.number:>3}  {row.kind:<10} {row.reason}"
    yield ""


def _launch(launched: Launched) -> dict[str, Any]:
    """The facts of its launch."""
    decision = launched.decision
    reasons = decision.get("reasons") or [None]
    return {
        "baseline": None if launched.baseline is None else str(launched.baseline),
        "verdict": launched.verdict,
        "probability": decision.get("probability"),
        "gain": decision.get("gain"),
        "interval": decision.get("interval"),
        "reason": None if launched.verdict == "launch" else reasons[0],
        "deterministic": bool(decision.get("deterministic")),
        "false_launch_rate": decision.get("false_launch_rate"),
    }


def _spent(campaign: Campaign) -> dict[str, Any]:
    """The facts of what it cost."""
    trials: list[Trial] = list(campaign.all_trials())
    return {
        "spent": campaign.spent,
        "total": campaign.total,
        "rounds": len(campaign.rounds),
        "repeats": sum(trial.number is None for trial in trials),
        "infeasible": sum(trial.status == "infeasible" for trial in trials),
        "seconds": sum(trial.seconds for trial in trials),
    }


# ---- report


_WIDTH = 120  # of the text, where no terminal gives one


@dataclass(frozen=True)
class Report:
    """Results with the findings about them; shows itself in a notebook."""

    results: Results
    findings: tuple[Finding, ...]
    campaign: Campaign | None = None  # whose trials the results are, if it is about one
    reader: Reader = "python"  # actions are calls in Python and commands at a shell
    written: date = field(default_factory=lambda: datetime.now(UTC).date())

    @cached_property
    def answer(self) -> Answer:
        """What the round found, what not to trust, what next."""
        return answer(self.results, self.findings)

    @cached_property
    def chapters(self) -> tuple[Chapter, ...]:
        """The figures, in the order they are read."""
        all_chapters = chapters(self.results, self.findings)
        if self.campaign is None:
            return tuple(all_chapters)
        # how the best came about stands above, by its rounds
        return tuple(chapter for chapter in all_chapters if chapter.kind != "progress")

    @property
    def html(self) -> str:
        """The whole report as one page that needs nothing else."""
        campaign = self.campaign
        title = campaign.name if campaign is not None else self.results.round.name
        figures = packed(self.results, self.chapters)
        return html.page(self._body, f"{title}: {self.results.round.goal}", figures)

    @property
    def text(self) -> str:
        """The report as plain text."""
        written = io.StringIO()
        if self.campaign is not None:
            written.writelines(f"{line}\n" for line in _lead_text(self.campaign))
        console = Console(file=written, width=_WIDTH)
        print_report(self.results, self.answer, self.chapters, console, self.reader)
        return written.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write an .html or .txt file; the path's ending selects the format."""
        target = Path(path)
        kinds = {".html": "html", ".htm": "html", ".txt": "text"}
        kind = kinds.get(target.suffix.lower())
        if kind is None:
            raise DesignError("report.bad_ending", target=target.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(getattr(self, kind), encoding="utf-8", errors="replace")
        return target

    def _repr_html_(self) -> str:
        return self._body

    @property
    def _body(self) -> str:
        campaign, results = self.campaign, self.results
        if campaign is None:
            head = html.Head(results.round.name, self.answer.goal, self.answer.headline.text)
            three, spent = tiles(results), spending(results)
        else:
            head, three = _campaign_head(campaign), campaign_tiles(campaign, results)
            spent = spent_on(campaign)
        contents = html.Contents(
            results=results,
            answer=self.answer,
            chapters=self.chapters,
            trials=trial_rows(results),
            tiles=three,
            head=head,
            reader=self.reader,
            version=tunewright.__version__,
            written=self.written,
            spent=spent.message,
        )
        return html.body(contents)


def report(
    results: Results | Campaign, path: str | Path | None = None, *, reader: Reader = "python"
) -> Report:
    """Check the results and report on them; with a path, written there as .html or .txt.

    A campaign of `tune` is reported on with its choice, its steps and all its trials together.
    `reader="shell"` shows commands where a report shows calls.

    Args:
        results: a round, or a campaign of `tw.tune`.
        path: a file to write, .html or .txt; None: nothing is written.
        reader: "python" shows calls as next steps, "shell" shows commands.
    """
    if isinstance(results, Campaign):
        if not results.searched:
            raise NotFound("report.campaign_empty", campaign=results.name)
        together = whole(results)
        document = Report(together, tuple(check(together)), results, reader)
    else:
        document = Report(results, tuple(check(results)), reader=reader)
    if path is not None:
        document.save(path)
    return document
