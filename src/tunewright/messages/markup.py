"""Findings and cards as markup, in a report and in a notebook: all text is escaped.

Templates are rendered by Jinja with escaping on; control characters become visible first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tunewright.messages import Words, words

if TYPE_CHECKING:
    from jinja2 import Environment

SIGNS = {"warn": "warn", "note": "note", "ok": "ok", "cannot_judge": "?"}
TEMPLATES = Path(__file__).parent / "templates"
MOST_ROWS = 60  # of a table in a notebook

Entry = tuple[Sequence[str], Words]  # the settings that it holds for, and what was found


@cache
def environment(folder: Path = TEMPLATES) -> Environment:
    """The templates of a folder: every value is escaped, and none may be missing."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=harmless,
    )


@cache
def style() -> str:
    """The style of findings, for a page or a notebook."""
    return (TEMPLATES / "findings.css").read_text(encoding="utf-8")


def harmless(value: Any) -> Any:
    """A value as a page may show it: text on one line without control characters."""
    if hasattr(value, "__html__"):  # markup that a template of ours made
        return value
    return words.one_line(str(value))


def render(name: str, folder: Path = TEMPLATES, **facts: Any) -> str:
    """A template filled in; the result is safe to stand inside another one."""
    from markupsafe import Markup

    return Markup(environment(folder).get_template(name).render(**facts))


def finding(
    verdict: str,
    check: str,
    entries: Iterable[Entry],
    actions: Iterable[tuple[str, str]] = (),
    section: str = "",
) -> str:
    """One question with one verdict: what was found for each setting, then what to do about all."""
    return render(
        "finding.html",
        verdict=verdict,
        sign=SIGNS[verdict],
        check=check,
        section=section,
        entries=[(", ".join(about), answer) for about, answer in entries],
        actions=list(actions),
    )


def alone(*entries: str) -> str:
    """Findings with the style they need, as a notebook shows them."""
    return render("findings.html", style=style(), title="", entries=entries, folds=())


def with_folds(
    visible: Iterable[str], folds: Iterable[tuple[str, Sequence[str]]], title: str
) -> str:
    """Findings of which some are shown and the others stand below a summary that opens."""
    groups = [(summary, entries) for summary, entries in folds if entries]
    return render("findings.html", style=style(), title=title, entries=list(visible), folds=groups)


@dataclass(frozen=True)
class Table:
    """A table of a card: headings, and rows of plain values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def card(
    title: str,
    lines: Iterable[Any] = (),
    *,
    facts: Mapping[str, Any] | None = None,
    table: Table | None = None,
    actions: Iterable[tuple[str, str]] = (),
) -> str:
    """A small card for a notebook: a title, sentences, named facts, a table, and what to type."""
    rows = () if table is None else table.rows
    return render(
        "card.html",
        title=title,
        lines=[line for line in lines if line],
        facts=[(name, words.value(value)) for name, value in (facts or {}).items()],
        columns=() if table is None else table.columns,
        rows=[[words.value(cell) for cell in row] for row in rows[:MOST_ROWS]],
        more=max(0, len(rows) - MOST_ROWS),
        actions=list(actions),
    )


def cards(title: str, rendered_cards: Sequence[str]) -> str:
    """Several cards below one title."""
    return render("cards.html", title=title, cards=rendered_cards)


def text(value: Any) -> str:
    """Words, or text from the database, harmless in a page."""
    return escape(words.one_line(str(value)), quote=True)
