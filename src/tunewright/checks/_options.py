"""Does the program know and read the options of its command line? Found by reading its source.

A program that calls `parse_known_args` and drops the rest ignores a misspelt option without a
word. The source is read, never imported, and only while its hash is the one that provenance has.
Where a program builds its options at run time nothing is concluded.
"""

from __future__ import annotations

import ast
import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from tunewright.checks._doubt import Doubt, numbers
from tunewright.design.ranges import Value, is_number
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.store.trial import Trial

LARGEST = 2_000_000  # bytes of a source file
_HARMLESS = {"print", "str", "repr", "len", "type", "isinstance"}  # calls that read no option


@dataclass(frozen=True)
class OptionSigns:
    """How the program's source declares the options of its trials."""

    doubts: tuple[Doubt, ...] = ()
    read: int = 0  # trials whose options were looked up


@dataclass(frozen=True)
class Program:
    """The syntax trees of a program's files."""

    trees: tuple[ast.Module, ...]

    @cached_property
    def _nodes(self) -> tuple[ast.AST, ...]:
        return tuple(node for tree in self.trees for node in ast.walk(tree))

    @cached_property
    def _added(self) -> tuple[ast.Call, ...]:
        return tuple(self._calls("add_argument"))

    def _calls(self, name: str) -> Iterator[ast.Call]:
        for node in self._nodes:
            if isinstance(node, ast.Call) and _last_name(node.func) == name:
                yield node

    @cached_property
    def options(self) -> frozenset[str] | None:
        """Every option that the source names; None: it builds some at run time."""
        if not self._added or self._reads_argv:
            return None
        named: set[str] = set()
        for call in self._added:
            for word in call.args:
                if not (isinstance(word, ast.Constant) and isinstance(word.value, str)):
                    return None
                named.add(word.value)
        constants = (n.value for n in self._nodes if isinstance(n, ast.Constant))
        return frozenset(named | {c for c in constants if isinstance(c, str) and c[:1] == "-"})

    @cached_property
    def _reads_argv(self) -> bool:
        return any(isinstance(n, ast.Attribute) and n.attr == "argv" for n in self._nodes)

    @cached_property
    def drops_unknown(self) -> bool:
        """Whether options that the program does not know are dropped."""
        calls = list(self._calls("parse_known_args"))
        return bool(calls) and all(self._dropped(call) for call in calls)

    def _dropped(self, call: ast.Call) -> bool:
        for node in self._nodes:
            if isinstance(node, ast.Subscript) and node.value is call:
                return isinstance(node.slice, ast.Constant) and node.slice.value == 0
            if isinstance(node, ast.Assign) and node.value is call:
                target = node.targets[0]
                if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                    return False
                rest = target.elts[1]
                return isinstance(rest, ast.Name) and not self._loaded(rest.id)
        return False

    def _loaded(self, name: str) -> bool:
        return any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            for n in self._nodes
        )

    def ignores(self, option: str) -> bool:
        """Whether this option is dropped; argparse takes the beginning of a long one for it."""
        known = self.options
        if known is None or not self.drops_unknown:
            return False
        return not any(each == option or each.startswith(option) for each in known)

    def never_reads(self, option: str) -> bool:
        """Whether the option is parsed and its value never looked at."""
        if self.options is None or self._passes_all_on:
            return False
        calls = [call for call in self._added if any(_text(word) == option for word in call.args)]
        if len(calls) != 1 or any(k.arg == "action" for k in calls[0].keywords):
            return False
        name = _destination(calls[0])
        return not any(isinstance(n, ast.Attribute) and n.attr == name for n in self._nodes)

    @cached_property
    def _passes_all_on(self) -> bool:
        """Whether the parsed options go somewhere as a whole that is not the program's own."""
        defined = {n.name for n in self._nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        parsed = {
            _last_name(target.elts[0] if isinstance(target, ast.Tuple) else target)
            for node in self._nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if any(
                isinstance(n, ast.Call) and _last_name(n.func) in ("parse_args", "parse_known_args")
                for n in ast.walk(node.value)
            )
        }
        for node in self._nodes:
            if not isinstance(node, ast.Call):
                continue
            called = _last_name(node.func)
            if called in ("vars", "asdict", "setattr", "getattr", "exec", "eval", "globals"):
                return True
            values = [*node.args, *(k.value for k in node.keywords)]
            whole = any(isinstance(v, ast.Name) and v.id in parsed for v in values)
            if whole and called not in defined | _HARMLESS:
                return True
        whole_reads = ("__dict__", "_get_kwargs")
        return any(isinstance(n, ast.Attribute) and n.attr in whole_reads for n in self._nodes)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _destination(call: ast.Call) -> str:
    """The attribute under which argparse stores an option."""
    for keyword in call.keywords:
        if keyword.arg == "dest":
            return _text(keyword.value)
    long = [w for w in map(_text, call.args) if w.startswith("--")] or [_text(call.args[0])]
    return long[0].lstrip("-").replace("-", "_")


# ---- the trials


def option_signs(results: Results) -> OptionSigns:
    """Look up the options of every trial that ran a command whose source is still the same."""
    known: dict[tuple[str, str], Program | None] = {}
    by_option: dict[str, list[tuple[Trial, str]]] = {}
    kinds: dict[str, str] = {}
    read = 0
    for trial in results.rows:
        origin = results.origins.get(trial.identity)
        if origin is None or not trial.ended or not trial.started or not origin.sources:
            continue
        key = (origin.folder, origin.program)
        if key not in known:
            known[key] = _program(origin)
        program = known[key]
        if program is None or program.options is None:
            continue
        read += 1
        for option, value in options_of(trial.started):
            by_option.setdefault(option, []).append((trial, value))
            if option not in kinds:
                unknown, unread = program.ignores(option), program.never_reads(option)
                kinds[option] = "unknown" if unknown else "unread" if unread else ""
    doubts = [
        doubt
        for option, uses in by_option.items()
        if kinds[option]
        for doubt in _doubt(option, kinds[option], uses, read)
    ]
    return OptionSigns(tuple(doubts), read)


def _program(origin: Provenance) -> Program | None:
    """The program as it was run; None where a file is gone, changed or no Python."""
    trees = []
    for name, recorded in origin.sources.items():
        path = Path(origin.folder) / name
        try:
            if path.suffix != ".py" or path.stat().st_size > LARGEST:
                return None
            tree = ast.parse(path.read_bytes().decode("utf-8", "backslashreplace"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        if (
            hashlib.sha256(ast.dump(tree).encode("utf-8", "backslashreplace")).hexdigest()
            != recorded
        ):
            return None
        trees.append(tree)
    return Program(tuple(trees))


def options_of(command: str) -> list[tuple[str, str]]:
    """The options of a command line after its script, with their values.

    >>> options_of("python -u train.py --lr=0.1 --wd 0 -v")
    [('--lr', '0.1'), ('--wd', '0'), ('-v', '')]
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    scripts = [at for at, word in enumerate(words) if word.endswith(".py")]
    modules = [at + 1 for at, word in enumerate(words) if word == "-m"]
    if not scripts and not modules:
        return []
    words = words[min(scripts or modules) + 1 :]
    options = []
    for at, word in enumerate(words):
        if not word.startswith("-") or _is_text_number(word):
            continue
        option, equals, value = word.partition("=")
        following = words[at + 1] if at + 1 < len(words) else ""
        follows = not following.startswith("-") or _is_text_number(following)
        options.append((option, value if equals else following if follows else ""))
    return options


def _is_text_number(word: str) -> bool:
    """Whether a word is a number: `-1e-3` is no option."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _doubt(option: str, kind: str, uses: Sequence[tuple[Trial, str]], read: int) -> Iterator[Doubt]:
    trials = [trial for trial, _ in uses]
    name = _hyperparameter(option, uses)
    if name is None:  # an option that the template fixes: no value of the round is lost
        return
    given = tuple(dict.fromkeys(t.configuration[name] for t in trials))[:3]
    yield Doubt(
        "unknown_option" if kind == "unknown" else "unread_option",
        name,
        len(trials),
        read,
        numbers(trials),
        given,
        option=option,
    )


def _hyperparameter(option: str, uses: Sequence[tuple[Trial, str]]) -> str | None:
    """The hyperparameter whose value the option carries in every trial."""
    first = uses[0][0].configuration
    fits = [n for n in first if all(is_value(t.configuration, n, text) for t, text in uses)]
    return min(fits, key=lambda n: -_alike(n, option), default=None)


def _alike(name: str, option: str) -> float:
    return SequenceMatcher(None, name, option.lstrip("-").replace("-", "_")).ratio()


def is_value(configuration: Mapping[str, Value], name: str, text: str) -> bool:
    """Whether a configuration gives a hyperparameter the value that this text writes."""
    value = configuration.get(name)
    if is_number(value) and _is_text_number(text):
        return float(value) == float(text)
    return value is not None and str(value).lower() == text.lower()
