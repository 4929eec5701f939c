"""Options that are the parameters of functions: click, typer, python-fire, LightningCLI, tyro.

`click.option` decorators give click's; the others follow the signature.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tunewright.project.programs.declared import UNKNOWN, Declared, Kind, Source, kind_of
from tunewright.project.programs.fields import kind_of_annotation
from tunewright.project.programs.literals import dotted, value_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_CLICK_KINDS: dict[str, Kind] = {
    **{"float": "float", "int": "int", "str": "str", "bool": "bool"},
    **{"FLOAT": "float", "INT": "int", "STRING": "str", "BOOL": "bool", "Path": "str"},
    **{"FloatRange": "float", "IntRange": "int", "File": "str", "Choice": "str"},
}


def functions_of(source: Source) -> Iterator[Function]:
    """Every function of a file."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def click_options(source: Source) -> list[Declared]:
    """The options of click's decorators, in the order a reader sees them."""
    found: dict[str, Declared] = {}
    for function in functions_of(source):
        for decorator in function.decorator_list:
            if not isinstance(decorator, ast.Call):
                continue
            called = dotted(decorator.func).rpartition(".")[2]
            if called in ("option", "argument"):
                own = _click(decorator, called == "argument", source.constants)
                if own is not None:
                    found.setdefault(own.name, own)
    return list(found.values())


def typer_options(source: Source) -> list[Declared]:
    """The parameters of typer's commands: `@app.command()`, or the function of `typer.run`."""
    run = {
        dotted(node.args[0])
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and dotted(node.func) == "typer.run" and node.args
    }
    commands = [f for f in functions_of(source) if f.name in run or _typer_command(f)]
    named = [f for f in commands if f.name in ("train", "main", "fit", "run")]
    if len(commands) > 1 and named:
        commands = named[:1]
    found: list[Declared] = []
    for function in commands[:1]:
        for own in parameters(function, source.constants):
            found.append(_of_typer(own, function, source.constants))
    return found


def parameters(function: Function, names: Mapping[str, Any], skip: int = 0) -> Iterator[Declared]:
    """The parameters of a function as options of the same names."""
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    lacking = len(placed) - len(arguments.defaults)
    pairs: list[tuple[ast.arg, ast.expr | None]] = [
        (one, arguments.defaults[at - lacking] if at >= lacking else None)
        for at, one in enumerate(placed)
    ][skip:]
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    for one, given in pairs:
        kind, choices = kind_of_annotation(one.annotation)
        default = None if given is None else value_of(given, names)
        if kind == "other" and default is not UNKNOWN:
            kind = kind_of(default)
        if kind == "float" and type(default) is int:
            default = float(default)
        yield Declared(
            one.arg,
            one.arg,
            kind,
            None if default is UNKNOWN else default,
            default is not UNKNOWN,
            choices,
            required=given is None,
            line=one.lineno,
        )


def _click(call: ast.Call, positional: bool, names: Mapping[str, Any]) -> Declared | None:
    words = [one for one in (value_of(a, names) for a in call.args) if isinstance(one, str)]
    if not words:
        return None
    given = {one.arg: one.value for one in call.keywords if one.arg}
    flags = [one for one in words if one.startswith("-")]
    plain = [one for one in words if not one.startswith("-")]
    long = [one for one in flags if one.startswith("--")]
    option, off, passed = (long or flags or [""])[0], "", "value"
    if "/" in option:
        option, _, off = option.partition("/")
        passed = "pair"
    name = plain[0] if plain else option.lstrip("-").replace("-", "_")
    default = value_of(given["default"], names) if "default" in given else None
    known = default is not UNKNOWN
    type_, choices = given.get("type"), UNKNOWN
    called = type_.func if isinstance(type_, ast.Call) else type_
    kind = _CLICK_KINDS.get(
        dotted(called).rpartition(".")[2], kind_of(default) if known else "other"
    )
    if isinstance(type_, ast.Call) and dotted(type_.func).endswith("Choice") and type_.args:
        choices = value_of(type_.args[0], names)
    if value_of(given.get("is_flag"), names) is True and passed == "value":
        kind, passed = "bool", "flag"
        default = bool(default) if known else False
    elif passed == "pair":
        kind = "bool"
    elif "multiple" in given or "nargs" in given:
        kind = "list"
    if kind == "float" and type(default) is int:
        default = float(default)
    text = value_of(given.get("help"), names)
    return Declared(
        name,
        "" if positional else option,
        "str" if kind == "other" and default is None else kind,
        default if known else None,
        known,
        tuple(choices) if isinstance(choices, list) else (),
        passed,  # type: ignore[arg-type]
        off,
        positional or value_of(given.get("required"), names) is True,
        help=text if isinstance(text, str) else "",
        line=call.lineno,
    )


def _typer_command(function: Function) -> bool:
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if dotted(called).endswith((".command", ".callback")):
            return True
    return False


def _of_typer(own: Declared, function: Function, names: Mapping[str, Any]) -> Declared:
    """A parameter as typer makes an option of it: dashes, and `--x/--no-x` for a boolean."""
    call = _typer_call(own.name, function)
    given = [] if call is None else list(call.args)
    default, required = own.default, own.required
    if call is not None and _is_default(own.name, function, call):
        first = given.pop(0) if given else None
        if isinstance(first, ast.Constant) and first.value is Ellipsis:
            default, required, known = None, True, True
        else:
            default = value_of(first, names) if first is not None else None
            required, known = first is None, default is not UNKNOWN
        own = replace(own, default=default if known else None, known=known, required=required)
    flags = [one for one in (value_of(a, names) for a in given) if isinstance(one, str)]
    flags = [one for one in flags if one.startswith("--")]
    spelled = flags[0] if flags else f"--{own.name.replace('_', '-')}"
    positional = (required and call is None) or (
        call is not None and dotted(call.func).endswith("Argument")
    )
    if own.kind == "float" and type(own.default) is int:
        own = replace(own, default=float(own.default))
    if own.kind == "other" and own.default is not None:
        own = replace(own, kind=kind_of(own.default))
    if own.kind == "bool":
        on, _, off = spelled.partition("/")
        off = off or ("" if flags else f"--no-{on.removeprefix('--')}")
        return replace(own, option=on, off_option=off, passed="pair" if off else "flag")
    return replace(own, option="" if positional else spelled)


def _typer_call(name: str, function: Function) -> ast.Call | None:
    """`typer.Option(...)` of a parameter, as its default or inside Annotated."""
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr | None] = dict(
        zip((one.arg for one in placed[::-1]), arguments.defaults[::-1], strict=False)
    )
    defaults |= {
        one.arg: given
        for one, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    for one in [*placed, *arguments.kwonlyargs]:
        if one.arg != name:
            continue
        inside = list(ast.walk(one.annotation)) if one.annotation is not None else []
        for node in (defaults.get(name), *inside):
            called = dotted(node.func) if isinstance(node, ast.Call) else ""
            if called.rpartition(".")[2] in ("Option", "Argument"):
                assert isinstance(node, ast.Call)
                return node
    return None


def _is_default(name: str, function: Function, call: ast.Call) -> bool:
    """Whether the call stands as the default, not inside Annotated."""
    arguments = function.args
    return any(call is one for one in (*arguments.defaults, *arguments.kw_defaults))
