"""A report as one HTML file: no outside host, works without script, opens from disk, prints.

Everything that came from a record is text here: names and notes are escaped, and the page forbids
itself to load anything or to run any script but its own. That one sorts the table and draws the
figures anew, so that they can be pointed at and trials be selected; the pictures stay for print.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from tunewright.actions import Export
from tunewright.design.conditions import in_words
from tunewright.errors import MissingExtra
from tunewright.messages import Message, Reader, Text, language, markup, words
from tunewright.present.answer import Answer
from tunewright.present.figures import style
from tunewright.present.figures.figure import Figure
from tunewright.present.next_step import TABLE
from tunewright.present.report_parts import Chapter, Tile, TrialRows, as_markup, origin_of
from tunewright.store.results import Results

# ---- the script of a report: the dashboard's modules, joined so that one file needs no other.
#
# The modules are plain files, which the dashboard serves as they are. A page that is opened from
# disk may not load files, and its policy names the one script that may run by its sum. So each
# module becomes a function that returns what it exports, in an order in which every import is
# known.


STATIC = Path(__file__).parents[1] / "ui" / "static"  # files: nothing of the dashboard is imported
_ENTRY = "report.js"
_STYLES = ("vendor/uplot.css", "figures.css")
_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_EXPORTS = re.compile(r"\bexport\s*\{([^}]*)\};?\s*$")  # how a minified module ends


@cache
def live_script() -> str:
    """Every module that the figures of a report need, as one classic script."""
    folder = STATIC / "vendor"
    plots = (folder / "uplot.js").read_text(encoding="utf-8")
    terms = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("LICENSE.*"))]
    licences = "\n".join(terms).replace("*/", "* /")
    functions: dict[str, str] = {}
    _join(_ENTRY, functions)
    modules = "\n".join(functions.values())
    return f"/*! {licences} */\n{plots}\n(() => {{\nconst modules = {{}};\n{modules}\n}})();\n"


@cache
def live_style() -> str:
    """The rules that those figures need."""
    return "".join((STATIC / name).read_text(encoding="utf-8") for name in _STYLES)


def _join(name: str, functions: dict[str, str]) -> None:
    """Add a module and, before it, what it imports."""
    if name in functions:
        return
    text = (STATIC / name).read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(text):
        _join(_module_path(name, other), functions)
    functions[name] = as_function(name, text)


def as_function(name: str, text: str) -> str:
    """A module as an entry of `modules`.

    >>> print(as_function("a.js", 'import { b as c } from "./b.js";\\nexport const d = c;'))
    modules["a.js"] = (() => {
    "use strict";
    const { b: c } = modules["b.js"];
    const d = c;
    return { d };
    })();
    """

    def as_const(statement: re.Match[str]) -> str:
        names = statement[1].replace(" as ", ": ")
        return f'const {{ {names} }} = modules["{_module_path(name, statement[2])}"];'

    exported = _EXPORT.findall(text)
    text = _EXPORT.sub("", _IMPORT.sub(as_const, text))
    if export_list := _EXPORTS.search(text):
        for pair in export_list[1].split(","):
            local, _, public = pair.strip().partition(" as ")
            exported.append(f"{public or local}: {local}")
        text = text[: export_list.start()]
    return (
        f'modules["{name}"] = (() => {{\n"use strict";\n{text.rstrip()}\n'
        f"return {{ {', '.join(exported)} }};\n}})();"
    )


def _module_path(name: str, other: str) -> str:
    """The path of an imported module below the folder of modules."""
    return str(PurePosixPath(name).parent / other)


# ---- html


_TEMPLATES = Path(__file__).parent / "templates"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# of the page itself, next to the colours of figures: light, dark
SURFACES = {"line": ("#DADDE1", "#343A41"), "card": ("#FFFFFF", "#20252B")}


@dataclass(frozen=True)
class Head:
    """What a page begins with: the question, the answer, and of a campaign its steps."""

    name: str
    goal: str
    answer: Text
    campaign: bool = False
    budget: str = ""
    summary: tuple[str, ...] = ()
    progress: Card | None = None
    steps: tuple[Any, ...] = ()

    @property
    def columns(self) -> list[Text]:
        """The headings of the table of steps."""
        return [Message(f"steps.{name}").text for name in ("step", "kind", "why", "round")]


@dataclass(frozen=True)
class Card:
    """A figure as a page shows it: markup, or why there is none."""

    title: str
    caption: str
    wide: bool
    picture: Any = field(default="", repr=False)
    missing: str = ""
    place: int | None = None  # among the figures of a report, by which its script finds it


@dataclass(frozen=True)
class Contents:
    """Everything that a report shows."""

    results: Results
    answer: Answer
    chapters: Sequence[Chapter]
    trials: TrialRows
    tiles: Sequence[Tile]
    head: Head
    reader: Reader
    version: str
    written: date
    spent: Message  # and what is left


def page(body: str, title: str, figures: str = "") -> str:
    """A whole page around the body of a report; `figures` is the data of those that are live."""
    script = (_TEMPLATES / "sort.js").read_text(encoding="utf-8")
    if figures:
        script += live_script()
    sum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{sum}'"
    )
    css = "body{margin:0}.tunewright-page,body{background:var(--tw-paper)}"
    if figures:
        css += live_style() + (_TEMPLATES / "live.css").read_text(encoding="utf-8")
    facts = {"policy": policy, "title": title, "script": script, "style": css, "data": figures}
    facts["language"] = language()
    return str(markup.render("page.html", _TEMPLATES, body=body, **facts))


def body(contents: Contents) -> str:
    """The report as markup that can stand in a page or a notebook: verdict, figures, trials."""
    answer = contents.answer
    every = [figure for chapter in contents.chapters for figure in chapter.figures]
    facts = {
        "style": _style(),
        "head": contents.head,
        "heading": heading,
        "tiles": contents.tiles,
        "warned": bool(answer.warnings),
        "trust": answer.trust.text,
        "doubts": as_markup(answer.doubts, contents.reader) if answer.doubts else "",
        "notes": [Message("note", {"text": note}).text for note in contents.results.notes],
        "chips": _chips(contents.results),
        "next": [_step(step, contents.reader) for step in answer.next],
        "summary": _summary(contents),
        "figures": [card_of(figure, at) for at, figure in enumerate(every)],
        "folds": _folds(answer, contents.reader),
        "trials": contents.trials,
        "caption": _caption(contents),
        "undrawn": _undrawn(contents.chapters),
        "footer": _footer(contents),
    }
    return markup.render("report.html", _TEMPLATES, **facts)


@cache
def _style() -> str:
    """The colours, light and dark, then the layout."""
    named = {**style.VARIABLES, **SURFACES}
    light = "".join(f"--tw-{name}:{colour};" for name, (colour, _) in named.items())
    dark = "".join(f"--tw-{name}:{colour};" for name, (_, colour) in named.items())
    root = ".tunewright-page,.tunewright"
    return (
        f"{root}{{{light}color-scheme:light dark}}\n"
        f"@media screen and (prefers-color-scheme:dark){{{root}{{{dark}}}}}\n"
        f"{(_TEMPLATES / 'report.css').read_text(encoding='utf-8')}{markup.style()}"
    )


def heading(name: str, **facts: Any) -> Text:
    """A heading of the page, in the reader's language."""
    return Message(f"heading.{name}", facts).text


def card_of(figure: Figure[Any], place: int | None = None) -> Card:
    """A figure with its words below, or the words alone where it cannot be drawn."""
    from markupsafe import Markup

    try:
        picture = Markup(figure.svg())
        return Card(figure.title, figure.says, figure.wide, picture, place=place)
    except MissingExtra as error:  # the words are still worth reading
        return Card(figure.title, figure.says, figure.wide, missing=str(error), place=place)


def _chips(results: Results) -> list[str]:
    """What every conclusion holds for: the fixed hyperparameters."""
    fixed = dict.fromkeys(f for study in results.studies for f in study.fixed)
    return [f"{f.name} = {words.value(f.value)}{in_words(f.when)}" for f in fixed]


def _step(step: Any, reader: Reader) -> dict[str, str]:
    code = step.action.code_for(reader) or step.action.text_for(reader)
    return {"code": code, "why": step.why.text_for(reader)}


def _summary(contents: Contents) -> list[str]:
    """What the round found beyond the answer in the first line and the tiles."""
    tiled = ("answer.counts",)
    # the head of a campaign has these already
    summary = () if contents.head.campaign else contents.answer.summary
    sentences = [m.text_for(contents.reader) for m in summary if m.code not in tiled]
    compared = [f for f in contents.answer.compared if f not in contents.answer.doubts]
    return [*sentences, *(str(finding.words) for finding in compared)]


def _folds(answer: Answer, reader: Reader) -> list[dict[str, str]]:
    """What is fine and what could not be judged; what warns stands above."""
    return [
        {
            "summary": heading(name, findings=len(findings)),
            "findings": as_markup(findings, reader),
        }
        for name, findings in (("fine", answer.fine), ("unknown", answer.unknown))
        if findings
    ]


def _caption(contents: Contents) -> Text:
    export = Export(contents.results.round.name, TABLE).code_for(contents.reader)
    metric, trials = contents.results.objective.metric, contents.trials
    facts = {"trials": trials.trials, "metric": metric, "left_out": trials.left_out}
    return Message("trials.caption", {**facts, "export": export}).text


def _undrawn(chapters: Iterable[Chapter]) -> str:
    """One line about what could not be drawn, and why."""
    missing = [{"figure": c.heading, "why": c.missing} for c in chapters if c.missing]
    return Message("report.undrawn", {"missing": missing}).text if missing else ""


def _footer(contents: Contents) -> list[Text]:
    results, version = contents.results, contents.version
    known = origin_of(results)
    facts = {"objective": str(results.objective), "search": results.search}
    messages = [
        Message("report.searched_by" if results.search else "report.objective", facts),
        contents.spent,
    ]
    if known.commits:
        commits = {"commits": known.commits, "changed": known.changed}
        messages.append(Message("report.commits", commits))
    if known.hosts:
        messages.append(Message("report.hosts", {"hosts": known.hosts, "devices": known.devices}))
    versions = {"version": version, "ran_with": [v for v in known.versions if v != version]}
    messages.append(Message("report.version", versions))
    messages.append(Message("report.written", {"date": contents.written.isoformat()}))
    return [message.text for message in messages]
