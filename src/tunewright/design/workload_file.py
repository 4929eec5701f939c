"""The workload file, `tunewright.toml`: what is trained, what its names mean, the objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.sink import sinks_from
from tunewright.design.toml_file import read_toml, unknown_key
from tunewright.errors import DesignError
from tunewright.messages import Message

SEARCHES = ("halton", "bayesian", "auto")
KEYS = (
    "command",
    "function",
    "read",
    "minimize",
    "maximize",
    "at",
    "subject_to",
    "store",
    "folder",
    "evaluate",
    "test",
    "means",
    "off",
    "deterministic",
    "booleans",
    "defaults",
    "search",
    "eval_every",
    "sinks",
)
_FILE_KEYS = ("file", "step", "step_times")  # of [workload.read]: a file that grows
_READ_KEYS = ("line", *_FILE_KEYS)
NOT_TEXT = (
    *("at", "subject_to", "means", "off", "deterministic", "read"),
    *("booleans", "defaults", "eval_every", "sinks"),
)


class WorkloadFile(TypedDict):
    """The contents of a workload file; `command` or `function` is None."""

    command: str | None  # a template, as in command("python train.py --lr={learning_rate}")
    function: str | None  # file.py:function or module:function
    read: tuple[str, ...]  # patterns of lines that are measurements, of a command
    read_file: dict[str, Any]  # file, step and step_times of [workload.read]; empty: no file
    objective: Objective
    store: str  # a path or a URL
    folder: str | None  # where trial folders stand
    evaluate: str | None  # the offline evaluation: a function, or a command's template
    test: str | None  # the same on the test set
    means: dict[str, Any]
    off: dict[str, Any]
    deterministic: bool  # every seed gives the same value
    booleans: str | dict[str, str] | None  # how the command spells true and false
    defaults: dict[str, Any]  # of the command's fields
    search: str | None  # halton, bayesian or auto, for rounds that name none
    eval_every: int | None  # steps between evaluations
    sinks: tuple[str, ...]  # trackers that receive a copy of every trial: "mlflow"


def read_workload(path: str | Path) -> WorkloadFile:
    """Read a workload file; every problem at once, each with the file."""
    path = Path(path)
    data = read_toml(path, Message("file.init"))
    problems = [unknown_key(key, ("workload",), "file") for key in data if key != "workload"]
    table = data.get("workload", {})
    if not isinstance(table, Mapping):
        problems.append(Message("workload.not_table", {"table": table}))
        table = {}
    problems += [unknown_key(key, KEYS, "workload") for key in table if key not in KEYS]
    problems += [
        Message("workload.not_text", {"key": key, "value": table[key]})
        for key in KEYS
        if key not in NOT_TEXT
        and key in table
        and not (isinstance(table[key], str) and table[key].strip())
    ]
    for one, other in (("command", "function"), ("minimize", "maximize")):
        if (one in table) == (other in table):
            problems.append(
                Message("workload.one_of_two", {"one": one, "other": other, "both": one in table})
            )
    problems += [*option_problems(table), *_of_a_command(table)]
    read = _read(table, problems)
    part = table.get("read", {})
    followed = {k: part[k] for k in _FILE_KEYS if k in part} if isinstance(part, Mapping) else {}
    if followed and "file" not in followed:
        problems.append(Message("read.step_without_file", {"keys": list(followed)}))
    sinks = _sinks(table, problems)
    objective = _objective(table, problems)
    for part in ("means", "off", "defaults"):
        table = {**table, part: _plain(table.get(part, {}))}
    try:
        Meaning(table["means"], table["off"], table.get("deterministic", False))
    except DesignError as error:
        problems += error.problems
    if problems or objective is None:
        found = DesignError.several(problems)
        raise DesignError.several(found.inside("file.problem", path=str(path)))
    return WorkloadFile(
        command=table.get("command"),
        function=table.get("function"),
        read=read,
        read_file=followed,
        objective=objective,
        store=table.get("store", "tuning.db"),
        folder=table.get("folder"),
        evaluate=table.get("evaluate"),
        test=table.get("test"),
        means=table["means"],
        off=table["off"],
        deterministic=table.get("deterministic", False),
        booleans=table.get("booleans"),
        defaults=table["defaults"],
        search=table.get("search"),
        eval_every=table.get("eval_every"),
        sinks=sinks,
    )


def option_problems(table: Mapping[str, Any]) -> Iterator[Message]:
    """What is wrong with `search` and `eval_every`, which a workload and a round file have."""
    search, every = table.get("search"), table.get("eval_every")
    if search is not None and search not in SEARCHES:
        yield Message("file.bad_search", {"search": search, "known": list(SEARCHES)})
    if every is not None and (type(every) is not int or every < 1):
        yield Message("workload.bad_eval_every", {"eval_every": every})


def _sinks(table: Mapping[str, Any], problems: list[Message]) -> tuple[str, ...]:
    """The trackers of `sinks`, one or a list of them."""
    given = table.get("sinks", [])
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, list):
        problems.append(Message("sink.not_text", {"value": given}))
        return ()
    try:
        return tuple(sink.text for sink in sinks_from(given))
    except DesignError as error:
        problems += error.problems
        return ()


def _of_a_command(table: Mapping[str, Any]) -> Iterator[Message]:
    """A function has its own booleans and defaults: those keys would change nothing."""
    for key in ("booleans", "defaults"):
        if key in table and "command" not in table:
            yield Message("workload.only_of_a_command", {"key": key})
    if not isinstance(table.get("defaults", {}), Mapping):
        yield Message("workload.not_a_table", {"key": "defaults", "value": table["defaults"]})


def _read(table: Mapping[str, Any], problems: list[Message]) -> tuple[str, ...]:
    """The patterns of [workload.read]: `line`, one or a list of them."""
    part = table.get("read", {})
    if not isinstance(part, Mapping):
        problems.append(Message("read.not_table", {"value": part}))
        return ()
    problems += [unknown_key(key, _READ_KEYS, "read") for key in part if key not in _READ_KEYS]
    lines = part.get("line", [])
    lines = [lines] if isinstance(lines, str) else lines
    if not isinstance(lines, list) or not all(isinstance(one, str) for one in lines):
        problems.append(Message("read.not_text", {"pattern": lines}))
        return ()
    if (lines or "file" in part) and "command" not in table:
        problems.append(Message("read.without_command"))
    return tuple(lines)


def _objective(table: Mapping[str, Any], problems: list[Message]) -> Objective | None:
    minimized = "minimize" in table
    metric = table.get("minimize", table.get("maximize", "?"))
    try:
        return Objective(metric, minimized, table.get("at", "best"), table.get("subject_to", {}))
    except DesignError as error:
        if isinstance(metric, str) and metric.strip():  # an odd metric has been reported
            problems += error.problems
        return None


def _plain(part: Any) -> Any:
    """None as files write it, `{ none = true }`, as Python has it."""
    if not isinstance(part, Mapping):
        return part
    return {name: None if value == {"none": True} else value for name, value in part.items()}
