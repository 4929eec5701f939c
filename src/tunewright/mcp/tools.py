"""The tools of the MCP server: each calls public functions and answers in few tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tunewright.errors import Misuse, TunewrightError
from tunewright.mcp import rounds, running
from tunewright.mcp.answer import Answer, error_answer, shorten
from tunewright.mcp.arguments import Argument, check_arguments
from tunewright.mcp.place import Place
from tunewright.messages import Message, read_by

_DETAIL = Argument("detail", "flag", "Answer with every fact; may be long.")
_ROUND = Argument("round", "name", "The name of a round.", needed=True)


@dataclass(frozen=True)
class Tool:
    """One tool: its name, what agents read about it, its arguments, the function."""

    name: str
    about: str
    arguments: tuple[Argument, ...]
    answer: Callable[..., Answer]


def _tool(name: str, answer: Callable[..., Answer], *arguments: Argument) -> Tool:
    about = str(Message(f"mcp.about.{name}"))
    return Tool(name, about, (*arguments, _DETAIL), answer)


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        _tool(
            "propose_round",
            rounds.propose_round,
            Argument("name", "name", "Of the new round.", needed=True),
            Argument("goal", "text", "The question that the round answers.", needed=True),
            Argument("scientific", "table", 'Compared: {"layers": [1, 2]}.'),
            Argument("nuisance", "table", 'Tuned: {"lr": {"log": [1e-4, 1]}}.'),
            Argument("fixed", "table", "Constant values."),
            Argument("trials", "count", "Trials per setting; 20 by default."),
        ),
        _tool("dry_run", rounds.dry_run, _ROUND),
        _tool(
            "run",
            running.run,
            _ROUND,
            Argument("trials", "count", "Trials per setting, in place of the round's."),
            Argument("max_hours", "hours", "Begin no trial after so many hours."),
            Argument("workers", "count", "Trials at a time."),
        ),
        _tool(
            "status",
            running.status,
            Argument("handle", "name", "What `run`, `launch` or `judge` answered."),
            Argument("round", "name", "The name of a round."),
            Argument("since", "count", "Ended trials that you know of already."),
            Argument("wait", "count", "Seconds to wait for the end of a handle, at most 50."),
        ),
        _tool("check", rounds.check, _ROUND),
        _tool(
            "next",
            rounds.next_,
            _ROUND,
            Argument("write", "flag", "Write the round that is proposed."),
            Argument("take", "count", "Which proposal, from 1."),
        ),
        _tool(
            "launch",
            running.launch,
            _ROUND,
            Argument("baseline", "text", "ROUND, ROUND:7 or a trial's number."),
            Argument("times", "count", "Decide once, at so many runs each."),
            Argument("first", "flag", "Without a rival: make the best trial the first baseline."),
        ),
        _tool(
            "judge",
            running.judge,
            Argument(
                "action",
                "choice",
                "begin once; try a change; status; history; quote the total gain; audit.",
                needed=True,
                choices=("begin", "try", "status", "history", "quote", "audit"),
            ),
            Argument("change", "text", "Of try: a commit; the working tree by default."),
            Argument("protect", "text", "Of begin: paths no change may touch, with commas."),
        ),
        _tool("history", rounds.history),
        _tool(
            "why",
            rounds.why,
            _ROUND,
            Argument("trial", "count", "The trial's number.", needed=True),
        ),
        _tool(
            "diagnose",
            running.diagnose,
            Argument("path", "path", "A file or folder of curves in the project.", needed=True),
        ),
    )
}


def call(name: str, given: Any, folder: Path) -> Answer:
    """Answer a call; whatever goes wrong is a refusal with a code, never an exception."""
    label = str(name)[:60]
    try:
        if name not in TOOLS:
            raise Misuse("mcp.unknown_tool", tool=label, known=list(TOOLS))
        tool = TOOLS[name]
        with read_by("shell"):
            place = Place.of(folder)
            arguments = check_arguments(name, tool.arguments, given, place.folder)
            detail = bool(arguments.pop("detail", False))
            with contextlib.chdir(place.folder):
                answer = tool.answer(place, detail=detail, **arguments)
                return place.with_cost(answer)
    except TunewrightError as error:
        with read_by("shell"):
            return _with_cost(folder, error_answer(label, error))
    except Exception as error:
        unforeseen = Misuse(
            "mcp.unforeseen", kind=type(error).__name__, text=shorten(f"{error}", 200)
        )
        return replace(error_answer(label, unforeseen), verdict="error")


def _with_cost(folder: Path, answer: Answer) -> Answer:
    """A refusal with what was spent, where there is a project to read it from."""
    try:
        return Place.of(folder).with_cost(answer)
    except Exception:  # the refusal itself may be that there is none
        return answer
