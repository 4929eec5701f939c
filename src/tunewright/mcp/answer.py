"""An answer to an agent: a verdict, a sentence, numbers, and what to do next, in few tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tunewright.actions import Action
from tunewright.errors import TunewrightError
from tunewright.facts import plain
from tunewright.messages import Message, Text
from tunewright.store.plain_json import finite

_SCHEMA_VERSION = 1
MOST_TOKENS = 400  # of an answer without detail
_BYTES_PER_TOKEN = 4  # the rule by which tokens are counted: JSON as UTF-8, four bytes each
_LONGEST_SENTENCE = 300  # characters
# what an agent calls for an action, by its kind; other actions are commands
_TOOLS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "run_trials": ("run", ("round", "trials_per_study")),
    "run_round": ("run", ("round",)),
    "check": ("check", ("round",)),
    "next_round": ("next", ("round", "write", "take")),
    "launch": ("launch", ("round",)),
    "show_trial": ("why", ("round", "number")),
    "join_round": ("status", ("round",)),
    "show_round": ("status", ("round",)),
}
_ARGUMENTS = {"trials_per_study": "trials", "number": "trial"}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool answers; every field but the detail is always there."""

    tool: str
    verdict: str  # one word: ok, warn, running, refused ...
    sentence: str | Text  # what it means, for readers
    numbers: Mapping[str, Any] = field(default_factory=dict)
    error_rate: float | None = None  # the measured rate at which this verdict is wrong
    next: Mapping[str, Any] | None = None  # the tool to call, or the command to run
    cost: Mapping[str, Any] | None = None  # trials and hours so far
    left: Mapping[str, float] | None = None  # of the budget; None: no budget
    error: Mapping[str, Any] | None = None  # code, refusal and facts of a refusal
    detail: Any = None  # only when it is asked for

    @property
    def ok(self) -> bool:
        """Whether it is no refusal."""
        return self.error is None

    def to_data(self) -> dict[str, Any]:
        """Plain data within the limit of tokens; long lists are cut, with their number kept."""
        data: dict[str, Any] = {
            "schema_version": _SCHEMA_VERSION,
            "tool": self.tool,
            "ok": self.ok,
            "verdict": self.verdict,
            "sentence": shorten(self.sentence),
            "numbers": finite(plain(dict(self.numbers))),
            "error_rate": self.error_rate,
            "next": self.next,
            "cost": self.cost,
            "budget_left": self.left,
        }
        if self.error is not None:
            data["error"] = finite(plain(dict(self.error)))
        fitted = within(data)
        return fitted if self.detail is None else {**fitted, "detail": finite(plain(self.detail))}


def tokens(data: Any) -> int:
    """Tokens of plain data by the four-bytes rule.

    >>> tokens({"ok": True})
    3
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return -(-len(text.encode("utf-8", "backslashreplace")) // _BYTES_PER_TOKEN)


def shorten(text: str, longest: int = _LONGEST_SENTENCE) -> str:
    """The beginning of a text that is too long."""
    whole = str(text)
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"


def within(data: dict[str, Any]) -> dict[str, Any]:
    """The data within the limit: the largest parts of the numbers and of an error's facts go."""
    fitted = {**data}
    while tokens(fitted) > MOST_TOKENS:
        holders = [name for name in ("numbers", "error") if fitted.get(name)]
        sizes = {(h, k): tokens(v) for h in holders for k, v in fitted[h].items() if k != "code"}
        sizes = {key: size for key, size in sizes.items() if size > 4}
        if not sizes:
            fitted["sentence"] = shorten(fitted["sentence"], len(fitted["sentence"]) // 2)
            if len(fitted["sentence"]) < 8:
                fitted["next"] = None
                break
            continue
        holder, name = max(sizes, key=lambda key: sizes[key])
        value = fitted[holder][name]
        shorter: Any = {"cut": len(value)} if isinstance(value, Sequence | Mapping) else None
        fitted[holder] = {**fitted[holder], name: shorter}
    return fitted


def call_for(action: Action) -> dict[str, Any]:
    """An action as an agent carries it out: a tool with its arguments, or a command."""
    data = action.to_data()
    if action.kind in _TOOLS:
        tool, names = _TOOLS[action.kind]
        given = {_ARGUMENTS.get(n, n): data[n] for n in names if data.get(n) not in (None, False)}
        return {"tool": tool, "arguments": given}
    if action.command:
        return {"command": shorten(action.command, 200)}
    return {"advice": shorten(action.shell_text, 200)}


def error_answer(tool: str, error: TunewrightError) -> Answer:
    """The answer that an error means: its code, the refusal, and what helps."""
    facts = {
        name: shorten(value, 120) if isinstance(value, str) else value
        for name, value in error.facts.items()
    }
    refusal = error.refusal
    error_facts = {"code": error.code, **({"refusal": refusal} if refusal else {}), "facts": facts}
    remedy = error.remedy
    return Answer(
        tool=tool,
        verdict="refused",
        sentence=error.text_for("shell"),
        error=error_facts,
        next=None if remedy is None else call_for(remedy),
    )


def text_of(code: str, **facts: Any) -> Text:
    """A sentence of the catalogue."""
    return Message(code, facts).text
