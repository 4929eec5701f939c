"""Options of argparse: every `add_argument` of a file, also in loops, groups and functions.

Options declared under an `if` are marked. Of subcommands that train, the first is read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tunewright.messages import Message
from tunewright.project.programs.declared import (
    UNKNOWN,
    Declared,
    Kind,
    Source,
    assignments_of,
    dotted_name,
    kind_of,
    value_of,
)

_TITLE = "title of "  # before the name of a group; no name of Python has a space
_MOST_TURNS = 100  # of a loop that declares options
_TRAINS = ("train", "fit", "run", "pretrain", "finetune")  # subcommands that may train
_KINDS: dict[str, Kind] = {"float": "float", "int": "int", "str": "str", "Path": "str"}


@dataclass(frozen=True)
class Options:
    """The options of a parser, and the subcommand that has them."""

    declared: tuple[Declared, ...]
    subcommand: str = ""
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True)
class _AddedOption:
    """One option and the parser it was added to."""

    option: Declared
    parser: str


def argparse_options(source: Source, imported: bool = False) -> Options:
    """The options that the file declares; those without a name are left out.

    Of an imported file, what stands below `if __name__ == "__main__"` is another program's.
    """
    names = dict(source.constants)
    body = [node for node in source.tree.body if not (imported and _is_main(node))]
    declared = [
        replace(each, option=source.with_remark(each.option)) for each in _walk(body, names, False)
    ]
    commands = _subcommands(source)
    chosen = next((each for each in _TRAINS if each in commands.values()), "")
    notes = []
    if commands:
        facts = {"chosen": chosen, "known": list(dict.fromkeys(commands.values()))}
        notes.append(Message("scan.subcommands", facts))
    defaults = dict(_set_defaults(source, names))
    options: dict[str, Declared] = {}
    for each in declared:
        if commands.get(each.parser, chosen) != chosen:
            continue
        option = each.option
        if option.name in defaults:
            option = replace(option, default=defaults[option.name], known=True)
        if option.name in options and not options[option.name].conditional:
            continue
        if option.name in options and option.conditional:
            continue
        options[option.name] = option
    return Options(tuple(options.values()), chosen, tuple(notes))


def _walk(
    body: list[ast.stmt], names: Mapping[str, Any], conditional: bool
) -> Iterator[_AddedOption]:
    """The options of statements in order; loops over literals are unrolled."""
    known = dict(names)
    for node in body:
        for name, value in assignments_of(node):
            if (constant := value_of(value, known)) is not UNKNOWN:
                known[name] = constant
            if title := _group(value, known):
                known[_TITLE + name] = title
        if isinstance(node, ast.For):
            for bound in _turns(node, known):
                yield from _walk(node.body, {**known, **bound}, conditional)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _walk(node.body, known, conditional)
        elif isinstance(node, ast.If):
            under = conditional or not _is_main(node)
            yield from _walk(node.body, known, under)
            yield from _walk(node.orelse, known, under)
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from _walk(node.body, known, conditional)
        elif isinstance(node, ast.Try):
            for part in (node.body, node.orelse, node.finalbody):
                yield from _walk(part, known, conditional)
        else:
            for call in ast.walk(node):
                func = call.func if isinstance(call, ast.Call) else None
                if isinstance(func, ast.Attribute) and func.attr == "add_argument":
                    assert isinstance(call, ast.Call)
                    option = _option(call, known, conditional)
                    if option is not None:
                        parser = dotted_name(func.value)
                        titled = replace(option, section=str(known.get(_TITLE + parser, "")))
                        yield _AddedOption(titled, parser)


def _group(value: ast.expr, names: Mapping[str, Any]) -> str:
    """The title of `parser.add_argument_group("title")`; empty for any other expression."""
    if not isinstance(value, ast.Call) or not dotted_name(value.func).endswith(
        ".add_argument_group"
    ):
        return ""
    titles = [
        *value.args[:1],
        *(keyword.value for keyword in value.keywords if keyword.arg == "title"),
    ]
    title = value_of(titles[0], names) if titles else ""
    return title if isinstance(title, str) else ""


def _is_main(node: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__"`."""
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Compare) and dotted_name(test.left) == "__name__"


def _turns(node: ast.For, names: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The names that each turn of a loop binds; one turn that binds nothing if unknown."""
    values = value_of(node.iter, names)
    if not isinstance(values, list):
        yield {}
        return
    for value in values[:_MOST_TURNS]:
        if isinstance(node.target, ast.Name):
            yield {node.target.id: value}
        elif isinstance(node.target, ast.Tuple) and isinstance(value, list):
            targets = [target.id for target in node.target.elts if isinstance(target, ast.Name)]
            yield dict(zip(targets, value, strict=False))


def _option(call: ast.Call, names: Mapping[str, Any], conditional: bool) -> Declared | None:
    flags = [value_of(word, names) for word in call.args]
    if not flags or not all(isinstance(word, str) for word in flags):
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    action = value_of(given.get("action"), names) if "action" in given else ""
    by_name = dotted_name(given.get("action")).rpartition(".")[2]
    if action in ("version", "help"):
        return None
    long = [word for word in flags if word.startswith("--")]
    positional = not flags[0].startswith("-")
    option = "" if positional else (long or flags)[0]
    dest = value_of(given.get("dest"), names) if "dest" in given else UNKNOWN
    name = dest if isinstance(dest, str) else (option or flags[0]).lstrip("-").replace("-", "_")
    default = value_of(given["default"], names) if "default" in given else None
    known = default is not UNKNOWN
    notes: list[Message] = []
    kind, passed, off = _kind(given, default), "value", ""
    if action in ("store_true", "store_false"):
        kind = "bool"
        passed = "flag" if action == "store_true" else "negative flag"
        default, known = (default if isinstance(default, bool) else action == "store_false"), True
    elif action == "BooleanOptionalAction" or by_name == "BooleanOptionalAction":
        kind, passed, off = "bool", "pair", f"--no-{option.removeprefix('--')}"
    elif action in ("append", "extend") or "nargs" in given:
        several = value_of(given.get("nargs"), names)
        kind = kind if several == "?" else "list"
    elif action in ("count", "store_const", "append_const"):
        kind = "other"
    if dotted_name(given.get("type")) == "bool":
        kind = "bool"
        notes.append(Message("scan.type_bool", {"name": name}))
    required = value_of(given.get("required"), names) is True if "required" in given else False
    if positional and "default" not in given:
        required = value_of(given.get("nargs"), names) not in ("?", "*")
    choices = value_of(given.get("choices"), names)
    text = value_of(given.get("help"), names)
    return Declared(
        name,
        option,
        kind,
        None if not known else default,
        known,
        tuple(choices) if isinstance(choices, list) else (),
        passed,  # type: ignore[arg-type]
        off,
        required,
        conditional,
        text if isinstance(text, str) else "",
        line=call.lineno,
        notes=tuple(notes),
    )


def _kind(given: Mapping[str, ast.expr], default: Any) -> Kind:
    """The kind by `type=`, else by the default."""
    named = dotted_name(given.get("type")).rpartition(".")[2]
    if named in _KINDS:
        return _KINDS[named]
    if "bool" in named.lower():  # str2bool and its relatives
        return "bool"
    if "type" in given and not named:  # lambda x: int(x)
        return kind_of(default)
    kind = kind_of(default)
    return "str" if kind == "other" and "type" not in given else kind


def _set_defaults(source: Source, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What `parser.set_defaults(lr=0.1)` gives."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and dotted_name(node.func).endswith(".set_defaults"):
            for keyword in node.keywords:
                value = value_of(keyword.value, names)
                if keyword.arg and value is not UNKNOWN:
                    yield keyword.arg, value


def _subcommands(source: Source) -> dict[str, str]:
    """The variables that hold the parser of a subcommand."""
    commands: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        if dotted_name(node.value.func).endswith(".add_parser") and node.value.args:
            command = value_of(node.value.args[0])
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(command, str):
                    commands[target.id] = command
    return commands
