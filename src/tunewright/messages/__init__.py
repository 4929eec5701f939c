"""Words: codes and plain facts in, text for readers out. Imports nothing else of this package.

Everything above works with codes and facts; a sentence is made here, when somebody reads it. One
package per language holds the sentences (`en`, `zh`), and `--json` prints the facts themselves,
never translated. The language comes from `--lang`, TUNEWRIGHT_LANG or the locale.

    Message("objective.never_logged", {"metric": "valid_error"}).text
    finding("density", verdict, facts)    ->  Words(headline, evidence)
    action("run_trials", facts)           ->  what the action does, in a few words

What a reader can type differs: the same fact is a call in Python and a line of the project's file
at a shell. A command runs inside `read_by("shell")`; everywhere else Python is the reader.
"""

from __future__ import annotations

import contextlib
import shlex
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Literal

from tunewright.messages import words
from tunewright.messages._language import (
    catalogue,
    language as language,
    language_named as language_named,
    read_in as read_in,
)

Reader = Literal["python", "shell"]
Facts = Mapping[str, Any]
Wording = str | Callable[[Facts], str]  # a format string over the facts, or a function of them
Template = Wording | Mapping[Reader, Wording]  # or one wording for each reader
_usual: list[Reader] = ["python"]  # the last one reads what this process shows, in every thread
_now: ContextVar[Reader | None] = ContextVar("_now", default=None)  # of the text being made


class Text(str):
    """Rendered text: for readers only. No code outside this package may look inside it."""

    __slots__ = ()


@contextlib.contextmanager
def read_by(reader: Reader) -> Iterator[None]:
    """Make every sentence of this process for a reader, wherever nobody names another one.

    >>> with read_by("shell"):
    ...     reader()
    'shell'
    """
    _usual.append(reader)
    try:
        yield
    finally:
        _usual.pop()


def reader() -> Reader:
    """Who reads the sentences that are made now."""
    return _now.get() or _usual[-1]


@dataclass(frozen=True)
class Message:
    """A sentence as data: its code and the facts that it states.

    >>> Message("objective.never_logged", {"metric": "valid_error"}).text
    'the objective valid_error was never logged'
    """

    code: str
    facts: Facts = field(default_factory=dict)

    @property
    def text(self) -> Text:
        """The sentence in the reader's language."""
        return text(self.code, self.facts)

    def text_for(self, reader: Reader) -> Text:
        """The sentence as this reader can use it."""
        return text(self.code, self.facts, reader)

    def to_data(self) -> dict[str, Any]:
        """Plain data: the code beside the facts; a message among the facts becomes data too."""
        return {"code": self.code, **{name: _data(fact) for name, fact in self.facts.items()}}

    def __str__(self) -> str:
        """The sentence."""
        return self.text


def _data(fact: Any) -> Any:
    """A fact with the messages in it as plain data."""
    if isinstance(fact, Message):
        return fact.to_data()
    if isinstance(fact, Mapping):
        return {name: _data(value) for name, value in fact.items()}
    return [_data(value) for value in fact] if isinstance(fact, list | tuple) else fact


@dataclass(frozen=True)
class Words:
    """A finding in words: the answer in at most twelve words, then its evidence."""

    headline: Text
    evidence: tuple[Text, ...] = ()  # one sentence each, with the numbers

    def __str__(self) -> str:
        """Headline and evidence on one line."""
        return words.phrase("stop").join([self.headline, *self.evidence])


def text(code: str, facts: Facts, reader: Reader | None = None) -> Text:
    """The sentence of a code and its facts."""
    sentences: Mapping[str, Template] = catalogue().SENTENCES
    return Text(fill(sentences[code], facts, reader))


def is_code(code: str) -> bool:
    """Whether the catalogue has a sentence of this code."""
    return code in catalogue().SENTENCES


def message_from(data: Facts) -> Message:
    """The message that plain data of `Message.to_data` means."""
    return Message(data["code"], {name: fact for name, fact in data.items() if name != "code"})


def sentence(message: Message | Facts) -> Text:
    """The sentence of a message, or of its plain data as the database has it."""
    return (message if isinstance(message, Message) else message_from(message)).text


def finding(check: str, verdict: str, facts: Facts) -> Words:
    """What one check found, in words; `facts` is its evidence as plain data."""
    if "why" in facts and verdict == "cannot_judge":
        return Words(Text(catalogue().CANNOT_JUDGE[check]), (sentence(facts["why"]),))
    headline, *evidence = catalogue().FINDINGS[check](verdict, facts)
    return Words(Text(headline), tuple(Text(line) for line in evidence))


def action(kind: str, facts: Facts, reader: Reader = "python") -> Text:
    """What an action does, in a few words."""
    return Text(fill(catalogue().ACTIONS[kind], facts, reader))


def section(check: str) -> Text:
    """The section of the playbook that asks the question of a check."""
    return Text(catalogue().SECTIONS[check])


def label(english: str) -> Text:
    """A fixed text of a page, a table or a help page, in the reader's language.

    A text of several paragraphs is looked up whole, then paragraph by paragraph.

    >>> label("best trials")
    'best trials'
    """
    labels = catalogue().LABELS
    if english in labels:
        return Text(labels[english])
    return Text(
        "\n\n".join(labels.get(paragraph, paragraph) for paragraph in english.split("\n\n"))
    )


def padded(english: str, width: int) -> Text:
    """A label filled up with spaces to a number of columns; a Chinese character takes two.

    >>> padded("best", 6)
    'best  '
    """
    return filled(label(english), width)


def filled(text: str, width: int) -> Text:
    """A text filled up with spaces to a number of columns; a Chinese character takes two.

    >>> filled("保留", 6)
    '保留  '
    """
    wide = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
    return Text(text + " " * (width - wide))


def worded(name: str, /, **facts: Any) -> Text:
    """A short line of a screen, by the last part of its code.

    >>> worded("wrote", path="report.html")
    'wrote report.html'
    """
    return text(f"screen.{name}", facts)


def fill(template: Template, facts: Facts, reader: Reader | None = None) -> str:
    """A template with its facts filled in; messages among them are for the same reader.

    >>> fill("{n:count trial} took {s:duration} at {rate:number}", {"n": 2, "s": 61, "rate": 1e-4})
    '2 trials took 1m01 at 1e-4'
    """
    chosen = reader or _now.get() or _usual[-1]
    if isinstance(template, Mapping):
        template = template[chosen]
    before = _now.set(chosen)
    try:
        return template(facts) if callable(template) else _FORMATTER.vformat(template, (), facts)
    finally:
        _now.reset(before)


class _Formatter(Formatter):
    """Format fields by what they are: number, duration, percent, count NOUN, list and so on.

    `{declare.means.train_loss}` is a declaration, as the reader writes it; the name of another one
    is a fact: `{meaning:means}`, or with the value `{name:off {constant}}`.
    """

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:
        return _TABLES if key == "declare" else super().get_value(key, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> Any:
        kind, _, rest = format_spec.partition(" ")
        if isinstance(value, _Declaration):
            return declaration(value.table, value.name, words.read_value(format_spec))
        if kind in words.TABLES:
            return declaration(kind, str(value), words.read_value(rest))
        if kind == "number":
            return words.number(value)
        if kind == "duration":
            return words.duration(value)
        if kind == "percent":
            return f"{value:.0%}"
        if kind == "probability":
            return words.probability(value)
        if kind == "list":
            return ", ".join(words.value(part) for part in value)
        if kind == "few":
            return words.few(value)
        if kind == "count":
            noun, _, plural = rest.partition("/")
            return words.count(value, noun, plural or None)
        if kind == "range":
            return words.range_of(value)
        if kind == "ranges":
            ranges = (words.phrase("in", name=n, range=words.range_of(r)) for n, r in value.items())
            return words.phrase("and").join(ranges)
        if kind == "message":  # a sentence inside a sentence
            return sentence(value)
        if kind == "words":  # arguments of a command, as a shell takes them
            return shlex.join(str(argument) for argument in value)
        if kind == "quoted":  # an argument of a command, as a shell takes it
            return shlex.quote(str(value))
        if kind == "settings":
            return words.settings(value)
        if kind == "objective":
            return words.objective(str(value))
        if kind == "place":
            return words.place(str(value))
        return super().format_field(value, format_spec)


@dataclass(frozen=True)
class _Declaration:
    """One entry of a table of declarations."""

    table: str
    name: str


class _Table:
    """Makes the declarations of one table, by attribute: a format string has no calls."""

    def __init__(self, table: str) -> None:
        self._table = table

    def __getattr__(self, name: str) -> _Declaration:
        return _Declaration(self._table, name)


class _Tables:
    """The tables of declarations, by attribute."""

    means = _Table("means")
    off = _Table("off")
    workload = _Table("workload")


_TABLES = _Tables()
_FORMATTER = _Formatter()


def declaration(table: str, name: str, value: Any = None) -> str:
    """A declaration of the workload, as the reader writes it; None where the value is open.

    >>> declaration("off", "dropout", 0.0)
    'off={"dropout": 0.0}'
    >>> with read_by("shell"):
    ...     declaration("off", "dropout", 0.0)
    'dropout = 0.0 under [workload.off] in tunewright.toml'
    """
    if reader() == "shell":
        return words.as_setting(table, name, value)
    return words.as_argument(table, name, value)
