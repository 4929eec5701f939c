"""A round as a report: the verdict first, the plots second, the tables third."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tunewright
from tunewright.checks.checklist import check
from tunewright.checks.finding import Finding
from tunewright.errors import DesignError
from tunewright.record.results import Results
from tunewright.reports import html
from tunewright.reports.answer import Answer, answer
from tunewright.reports.chapters import Chapter, chapters
from tunewright.reports.text import print_report
from tunewright.reports.trial_rows import trial_rows

WIDTH = 120  # of the text, where no terminal says


@dataclass(frozen=True)
class Report:
    """Results with the findings about them; shows itself in a notebook."""

    results: Results
    findings: tuple[Finding, ...]

    @cached_property
    def answer(self) -> Answer:
        """What the round found, what not to trust, what next."""
        return answer(self.results, self.findings)

    @cached_property
    def chapters(self) -> tuple[Chapter, ...]:
        """The figures, in the order they are read."""
        return tuple(chapters(self.results, self.findings))

    @property
    def html(self) -> str:
        """The whole report as one page that needs nothing else."""
        return html.page(self._body, f"{self.results.round.name}: {self.results.round.goal}")

    @property
    def text(self) -> str:
        """The report as plain text."""
        from rich.console import Console

        written = io.StringIO()
        print_report(self.results, self.answer, self.chapters, Console(file=written, width=WIDTH))
        return written.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write an .html or .txt file, as the path's ending says."""
        target = Path(path)
        kinds = {".html": "html", ".htm": "html", ".txt": "text"}
        kind = kinds.get(target.suffix.lower())
        if kind is None:
            raise DesignError(
                f"report: cannot write {target.name!r}. End the path in .html for a page or .txt "
                "for plain text."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(getattr(self, kind), encoding="utf-8", errors="replace")
        return target

    def _repr_html_(self) -> str:
        return self._body

    @property
    def _body(self) -> str:
        rows = trial_rows(self.results)
        version = tunewright.__version__
        return html.body(self.results, self.answer, self.chapters, rows, version)


def report(results: Results, path: str | Path | None = None) -> Report:
    """Check the results and report on them; with a path, written there as .html or .txt."""
    made = Report(results, tuple(check(results)))
    if path is not None:
        made.save(path)
    return made
