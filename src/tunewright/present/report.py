"""A round as a report: the verdict first, the plots second, the tables third."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path

from rich.console import Console

import tunewright
from tunewright.campaigns.campaign import Campaign
from tunewright.checks.checklist import check
from tunewright.errors import DesignError, NotFound
from tunewright.finding import Finding
from tunewright.messages import Reader
from tunewright.present import html
from tunewright.present.answer import Answer, answer
from tunewright.present.campaign_report import campaign_head, lead_text, whole
from tunewright.present.chapters import Chapter, chapters
from tunewright.present.live_figures import packed
from tunewright.present.terminal.report_page import print_report
from tunewright.present.tiles import campaign_tiles, tiles
from tunewright.present.trial_rows import trial_rows
from tunewright.store.results import Results

WIDTH = 120  # of the text, where no terminal gives one


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
        found = chapters(self.results, self.findings)
        if self.campaign is None:
            return tuple(found)
        # how the best came about stands above, by its rounds
        return tuple(chapter for chapter in found if chapter.kind != "progress")

    @property
    def html(self) -> str:
        """The whole report as one page that needs nothing else."""
        own = self.campaign
        title = own.name if own is not None else self.results.round.name
        figures = packed(self.results, self.chapters)
        return html.page(self._body, f"{title}: {self.results.round.goal}", figures)

    @property
    def text(self) -> str:
        """The report as plain text."""
        written = io.StringIO()
        if self.campaign is not None:
            written.writelines(f"{line}\n" for line in lead_text(self.campaign))
        console = Console(file=written, width=WIDTH)
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
        own, results = self.campaign, self.results
        if own is None:
            head = html.Head(results.round.name, self.answer.asked, self.answer.headline.text)
            three = tiles(results)
        else:
            head, three = campaign_head(own), campaign_tiles(own, results)
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
        made = Report(together, tuple(check(together)), results, reader)
    else:
        made = Report(results, tuple(check(results)), reader=reader)
    if path is not None:
        made.save(path)
    return made
