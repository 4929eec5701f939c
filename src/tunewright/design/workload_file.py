"""TOML files; the workload file, `tunewright.toml`; the tracker that it names.

    Sink.parse("mlflow:http://tracking.example:5000")
    Sink("tensorboard", where="runs")

A sink is plain data, so that a workload can name it without importing any tracker.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.errors import DesignError, MissingExtra, NotFound
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.remedies import use

_BARE = re.compile(r"[A-Za-z0-9_-]+")
LARGEST = 1_000_000  # bytes of a round or workload file
_LONGEST_VALUE = 1000  # characters that are read as a number or quoted text
_DEEPEST = 32  # parts of a dotted key: the parser takes gigabytes for thousands of them
_DEEP_KEY = re.compile(rf"^[\s\[]*(?:[^\s.=#]+\s*\.\s*){{{_DEEPEST},}}", re.MULTILINE)

# each tracker, the package that writes it, and the folder it uses where no address is given
_TRACKERS = {
    "mlflow": ("mlflow", "mlruns"),
    "swanlab": ("swanlab", "swanlog"),
    "tensorboard": ("tensorboard", "runs"),
    "trackio": ("trackio", "trackio"),
    "wandb": ("wandb", "wandb"),
}

# where users have set the address of a tracker already
_ENVIRONMENT = {"mlflow": "MLFLOW_TRACKING_URI", "trackio": "TRACKIO_DIR"}
LONGEST = 2000  # characters of an address
_SEARCHES = ("halton", "bayesian", "auto")
_KEYS = (
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
_NOT_TEXT = (
    *("at", "subject_to", "means", "off", "deterministic", "read"),
    *("booleans", "defaults", "eval_every", "sinks"),
)


def read_toml(path: Path, how: Message | None = None) -> dict[str, Any]:
    """The tables of a file; `how` explains how to make a missing one."""
    try:
        if path.stat().st_size > LARGEST:
            raise DesignError("file.too_large", path=path, largest=LARGEST)
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows write a byte-order mark
        if _DEEP_KEY.search(text):
            raise DesignError("file.deep_key", path=path, deepest=_DEEPEST)
        return tomllib.loads(text)
    except FileNotFoundError:
        there = sorted(other.stem for other in path.parent.glob(f"*{path.suffix}"))
        near = difflib.get_close_matches(path.stem, there, n=1)
        nearest = str(path.with_stem(near[0])) if near else None
        remedy = None if how is None else how.to_data()
        raise NotFound("file.missing", path=path, near=nearest, how=remedy) from None
    except OSError as error:
        raise NotFound("file.cannot_be_read", path=path, reason=error.strerror) from None
    except DesignError:
        raise
    except UnicodeDecodeError as error:
        raise DesignError("file.not_utf8", path=path, byte=error.start) from None
    except ValueError as error:  # of TOML, or a number with thousands of digits
        raise DesignError("file.not_toml", path=path, error=error) from None
    except RecursionError:
        raise DesignError("file.too_deep", path=path) from None


def read_value(text: str) -> Any:
    """A value as a round file has it; a bare word is text, as shells and templates write it.

    >>> [read_value(text) for text in ("1e-3", "true", "True", '"true"', "adam", "null")]
    [0.001, True, 'True', 'true', 'adam', None]
    """
    if text == "null" or not text.isprintable() or len(text) > _LONGEST_VALUE:
        return None if text == "null" else text
    try:
        table = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    value = table.pop("value")
    if value == {"none": True}:
        return None
    plain = isinstance(value, bool | int | float | str) and not table
    return value if plain else text


def unknown_key(key: Any, known: Sequence[str], of: str) -> Message:
    """The problem of an unknown key, with the nearest right one; `of` is file, round or workload.

    >>> str(unknown_key("minimise", ["minimize", "maximize"], "workload"))
    "minimise: not a key of [workload]. Did you mean 'minimize'?"
    """
    near = nearest(key, known)
    facts = {"key": str(key), "of": of, "near": near}
    return Message("file.unknown_key", {**facts, "known": list(known)})


def toml_value(value: Any) -> str:
    """Any plain value on one line; None is written as a table.

    >>> toml_value({"log": [0.0001, 0.1]}), toml_value([None, "relu"])
    ('{ log = [0.0001, 0.1] }', '[{ none = true }, "relu"]')
    """
    if value is None:
        return "{ none = true }"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return f"[{', '.join(toml_value(v) for v in value)}]"


def toml_key(key: str) -> str:
    """A key, quoted where TOML wants it."""
    return key if _BARE.fullmatch(key) else toml_value(key)


def toml_lines(title: str, table: Mapping[str, Any]) -> Iterator[str]:
    """A table and, below it, the tables of its givens.

    Pairs have no table form, and stand before all tables: where there are any, all givens are
    written on one line, since the order of givens counts.
    """
    yield f"[{title}]"
    givens = {n: v["given"] for n, v in table.items() if isinstance(v, Mapping) and "given" in v}
    if not all(isinstance(branches, Mapping) for branches in givens.values()):
        givens = {}
    for name, value in table.items():
        if name not in givens:
            yield f"{toml_key(name)} = {toml_value(value)}"
    for name, branches in givens.items():
        for branch, children in branches.items():
            yield ""
            yield from toml_lines(f"{title}.{toml_key(name)}.given.{toml_key(branch)}", children)


@dataclass(frozen=True)
class Sink:
    """A tracker and where it keeps its runs.

    `tracker` is mlflow, tensorboard, wandb, trackio or swanlab. `where` is a folder; for mlflow
    also a URL. `project` names the project of W&B, Trackio and SwanLab; it precedes the round's
    name in MLflow and TensorBoard.
    """

    tracker: str
    where: str = ""
    project: str = ""

    def __post_init__(self) -> None:
        """Refuse a tracker that nobody knows and an address that is no text."""
        if self.tracker not in _TRACKERS:
            near = nearest(self.tracker, _TRACKERS)
            raise DesignError(
                "sink.unknown",
                tracker=self.tracker,
                known=sorted(_TRACKERS),
                remedy=use("--sink", near) if near else None,
            )
        for field in ("where", "project"):
            text = getattr(self, field)
            if not isinstance(text, str) or len(text) > LONGEST or not _plain(text):
                raise DesignError("sink.bad_text", field=field, value=text)
        if "://" in self.where and self.tracker != "mlflow":
            raise DesignError("sink.not_a_folder", tracker=self.tracker, where=self.where)

    @classmethod
    def parse(cls, text: str | Sink) -> Sink:
        """A sink from its text: TRACKER, TRACKER:WHERE.

        >>> Sink.parse("mlflow"), Sink.parse("tensorboard:runs/a")
        (Sink(tracker='mlflow', where='', project=''), \
Sink(tracker='tensorboard', where='runs/a', project=''))
        """
        if isinstance(text, Sink):
            return text
        if not isinstance(text, str):
            raise DesignError("sink.not_text", value=text)
        tracker, colon, where = text.partition(":")
        if colon and not where.strip():
            raise DesignError("sink.no_address", value=text)
        return cls(tracker.strip(), where.strip())

    @property
    def text(self) -> str:
        """What `parse` reads; a project has no place in it."""
        return f"{self.tracker}:{self.where}" if self.where else self.tracker

    @property
    def mark(self) -> str:
        """A short name of a file for this sink: equal addresses have equal marks."""
        identity = f"{self.tracker}\0{self.where}\0{self.project}".encode()
        return f"{self.tracker}-{hashlib.sha256(identity).hexdigest()[:12]}"

    def with_address(self, folder: Path | None = None) -> Sink:
        """This sink with its address filled in; relative folders begin at `folder`."""
        where = self.where or os.environ.get(_ENVIRONMENT.get(self.tracker, ""), "")
        where = where or _TRACKERS[self.tracker][1]
        if "://" in where or (self.tracker == "mlflow" and where.startswith("databricks")):
            return replace(self, where=where)
        local_path = Path(where).expanduser()
        return replace(self, where=str((folder or Path.cwd()) / local_path))

    def need(self) -> None:
        """Refuse a tracker whose package is not installed, before anything trains."""
        package = _TRACKERS[self.tracker][0]
        if importlib.util.find_spec(package) is None:
            purpose = f"sink {self.tracker}"
            raise MissingExtra("extra.missing", purpose=purpose, package=package, extra="trackers")


def sinks_from(given: Iterable[str | Sink] | str | Sink) -> tuple[Sink, ...]:
    """Sinks from what users write, every problem at once; each address once.

    >>> [sink.text for sink in sinks_from(["mlflow", "mlflow", "tensorboard:a"])]
    ['mlflow', 'tensorboard:a']
    """
    if isinstance(given, str | Sink):
        given = (given,)
    sinks: list[Sink] = []
    problems: list[Message] = []
    for item in given:
        try:
            sink = Sink.parse(item)
        except DesignError as error:
            problems += error.problems
        else:
            if sink not in sinks:
                sinks.append(sink)
    if problems:
        raise DesignError.several(problems)
    return tuple(sinks)


def _plain(text: str) -> bool:
    return text.isprintable() and not text.startswith("-")


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
    problems += [unknown_key(key, _KEYS, "workload") for key in table if key not in _KEYS]
    problems += [
        Message("workload.not_text", {"key": key, "value": table[key]})
        for key in _KEYS
        if key not in _NOT_TEXT
        and key in table
        and not (isinstance(table[key], str) and table[key].strip())
    ]
    for either, other in (("command", "function"), ("minimize", "maximize")):
        if (either in table) == (other in table):
            problems.append(
                Message(
                    "workload.one_of_two", {"one": either, "other": other, "both": either in table}
                )
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
        table = {**table, part: _plain_table(table.get(part, {}))}
    try:
        Meaning(table["means"], table["off"], table.get("deterministic", False))
    except DesignError as error:
        problems += error.problems
    if problems or objective is None:
        every = DesignError.several(problems)
        raise DesignError.several(every.inside("file.problem", path=str(path)))
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
    if search is not None and search not in _SEARCHES:
        yield Message("file.bad_search", {"search": search, "known": list(_SEARCHES)})
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
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
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


def _plain_table(part: Any) -> Any:
    """None as files write it, `{ none = true }`, as Python has it."""
    if not isinstance(part, Mapping):
        return part
    return {name: None if value == {"none": True} else value for name, value in part.items()}
