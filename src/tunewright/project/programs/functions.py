"""Options that are parameters of functions or fields of dataclasses.

`click.option` decorators give click's; the others follow the signature.

Fields of base classes and of nested dataclasses count too. Classes of known libraries are read from
their installed source, without an import.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tunewright.messages import Message
from tunewright.project.programs.declared import (
    UNKNOWN,
    Declared,
    Kind,
    Source,
    dotted_name,
    kind_of,
    module_constants,
    read_source,
    value_of,
)

_DEEPEST = 6  # nested or inherited dataclasses

# where libraries define the classes that programs hand to their parser
_LIBRARIES = {
    "transformers.TrainingArguments": "transformers/training_args.py",
    "transformers.Seq2SeqTrainingArguments": "transformers/training_args_seq2seq.py",
    "trl.SFTConfig": "trl/trainer/sft_config.py",
    "trl.DPOConfig": "trl/trainer/dpo_config.py",
    "trl.GRPOConfig": "trl/trainer/grpo_config.py",
    "trl.RewardConfig": "trl/trainer/reward_config.py",
    "trl.ModelConfig": "trl/trainer/model_config.py",
    "trl.ScriptArguments": "trl/scripts/utils.py",
    "trl.DatasetMixtureConfig": "trl/scripts/utils.py",
}
_KINDS: dict[str, Kind] = {"float": "float", "int": "int", "str": "str", "bool": "bool"}
_LISTS = ("list", "List", "tuple", "Tuple", "Sequence", "dict", "Dict", "set", "Set")
_DATACLASS = ("dataclass", "dataclasses.dataclass", "chex.dataclass", "attr.s", "attrs.define")
Function = ast.FunctionDef | ast.AsyncFunctionDef
_CLICK_KINDS: dict[str, Kind] = {
    **{"float": "float", "int": "int", "str": "str", "bool": "bool"},
    **{"FLOAT": "float", "INT": "int", "STRING": "str", "BOOL": "bool", "Path": "str"},
    **{"FloatRange": "float", "IntRange": "int", "File": "str", "Choice": "str"},
}


@dataclass(frozen=True)
class Classes:
    """The classes of a program's files, by name, with the file of each."""

    known: Mapping[str, tuple[ast.ClassDef, Source]] = field(default_factory=dict)
    imported: Mapping[str, str] = field(default_factory=dict)  # names of the program's files


def classes_of(sources: list[Source]) -> Classes:
    """Every class that the files define at their top."""
    known: dict[str, tuple[ast.ClassDef, Source]] = {}
    imported: dict[str, str] = {}
    for source in sources:
        imported |= {n: path for n, path in source.imports().items() if n not in imported}
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                known.setdefault(node.name, (node, source))
    return Classes(known, imported)


def _find_class(name: str, classes: Classes) -> tuple[ast.ClassDef, Source] | Message | None:
    """A class of the program or of a library that is installed; a message where it is not."""
    plain = name.rpartition(".")[2]
    if plain in classes.known:
        return classes.known[plain]
    origin = classes.imported.get(plain, name)
    place = _LIBRARIES.get(f"{origin.partition('.')[0]}.{plain}")
    if place is None:
        return None
    package, _, inside = place.partition("/")
    spec = importlib.util.find_spec(package)  # looks for the folder, imports nothing
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        source = read_source(Path(folder) / inside)
        if isinstance(source, Source):
            for node in source.tree.body:
                if isinstance(node, ast.ClassDef) and node.name == plain:
                    return node, source
    return Message("scan.library_missing", {"library": package, "name": plain})


def fields_of(
    name: str, classes: Classes, prefix: str = "", depth: int = 0
) -> Iterator[Declared | Message]:
    """The fields of a dataclass and of those it inherits or holds, as options without dashes."""
    place = _find_class(name, classes)
    if place is None or isinstance(place, Message) or depth > _DEEPEST:
        if isinstance(place, Message):
            yield place
        return
    node, source = place
    names = {**source.constants, **module_constants(ast.Module(node.body, []))}
    inherited: dict[str, Declared | Message] = {}
    beside = classes_of([source, *_beside(source)])
    both = Classes({**beside.known, **classes.known}, classes.imported)
    for base in node.bases:
        base_classes = Classes(both.known, {**source.imports(), **classes.imported})
        for inherited_field in fields_of(dotted_name(base), base_classes, prefix, depth + 1):
            inherited[
                inherited_field.name
                if isinstance(inherited_field, Declared)
                else inherited_field.code
            ] = inherited_field
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        named = statement.target.id
        if "ClassVar" in ast.unparse(statement.annotation):
            continue
        nested = _nested(statement, both)
        if nested:
            for inherited_field in fields_of(nested, both, f"{prefix}{named}.", depth + 1):
                inherited[
                    inherited_field.name
                    if isinstance(inherited_field, Declared)
                    else inherited_field.code
                ] = inherited_field
            continue
        inherited[f"{prefix}{named}"] = source.with_remark(_field(statement, prefix + named, names))
    yield from inherited.values()


def _beside(source: Source) -> Iterator[Source]:
    """The files next to it that it imports classes from: `from .base_config import Base`."""
    for name in dict.fromkeys(source.imports().values()):
        module = name.rpartition(".")[0]
        if module.startswith(".") and not module.startswith("..") and module != ".":
            read = read_source(source.path.parent / f"{module[1:].replace('.', '/')}.py")
            if isinstance(read, Source):
                yield read


def _is_dataclass(node: ast.ClassDef) -> bool:
    """Whether a class is decorated as a dataclass."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if dotted_name(called) in _DATACLASS or dotted_name(called).endswith("dataclass"):
            return True
    return False


def _kind_of_annotation(annotation: ast.expr | None) -> tuple[Kind, tuple[Any, ...]]:
    """The kind and the choices that an annotation names.

    >>> [_kind_of_annotation(ast.parse(t, mode="eval").body)[0]
    ...  for t in ("float", "Optional[int]", "str | None", "list[int]", "'float'")]
    ['float', 'int', 'str', 'list', 'float']
    """
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return "other", ()
    if isinstance(annotation, ast.BinOp):  # X | None
        parts = [_kind_of_annotation(part) for part in (annotation.left, annotation.right)]
        known = [part for part in parts if part[0] != "other"]
        return known[0] if known else ("other", ())
    if isinstance(annotation, ast.Subscript):
        outer = dotted_name(annotation.value).rpartition(".")[2]
        inner = annotation.slice
        if outer == "Literal":
            values = value_of(inner) if isinstance(inner, ast.Tuple) else [value_of(inner)]
            plain = values if isinstance(values, list) and UNKNOWN not in values else []
            return (kind_of(plain[0]) if plain else "other"), tuple(plain)
        if outer in ("Optional", "Annotated", "Union", "Final"):
            several = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            parts = [_kind_of_annotation(part) for part in several]
            known = [part for part in parts if part[0] != "other"]
            return known[0] if known else ("other", ())
        return ("list" if outer in _LISTS else "other"), ()
    named = dotted_name(annotation).rpartition(".")[2]
    if named in _LISTS:
        return "list", ()
    return _KINDS.get(named, "str" if named == "Path" else "other"), ()


def _nested(statement: ast.AnnAssign, classes: Classes) -> str:
    """The dataclass that a field holds, or nothing."""
    named = dotted_name(statement.annotation).rpartition(".")[2]
    if named in classes.known and _is_dataclass(classes.known[named][0]):
        return named
    return ""


def _field(statement: ast.AnnAssign, name: str, names: Mapping[str, Any]) -> Declared:
    kind, choices = _kind_of_annotation(statement.annotation)
    option = Declared(name, name, kind, choices=choices, line=statement.lineno)
    value = statement.value
    if value is None:
        return replace(option, required=True)
    if isinstance(value, ast.Call) and dotted_name(value.func).rpartition(".")[2] in (
        "field",
        "Field",
    ):
        given = {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg}
        text, inside = UNKNOWN, given.get("metadata")
        if isinstance(inside, ast.Dict):
            pairs = zip(inside.keys, inside.values, strict=True)
            metadata = {value_of(k): v for k, v in pairs if k is not None}
            text = value_of(metadata.get("help"), names)
            listed = value_of(metadata.get("choices"), names)
            option = replace(option, choices=tuple(listed)) if isinstance(listed, list) else option
        option = replace(option, help=text if isinstance(text, str) else "")
        if "default" not in given:
            from_factory = "default_factory" in given
            return replace(option, required=not from_factory, known=not from_factory)
        value = given["default"]
    default = value_of(value, names)
    if default is UNKNOWN:
        return replace(option, known=False)
    kind_of_default = kind_of(default)
    if option.kind == "float" and kind_of_default == "int":
        default = float(default)
    return replace(
        option, default=default, kind=option.kind if option.kind != "other" else kind_of_default
    )


def functions_of(source: Source) -> Iterator[Function]:
    """Every function of a file."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def click_options(source: Source) -> list[Declared]:
    """The options of click's decorators, in the order a reader sees them."""
    options: dict[str, Declared] = {}
    for function in functions_of(source):
        for decorator in function.decorator_list:
            if not isinstance(decorator, ast.Call):
                continue
            called = dotted_name(decorator.func).rpartition(".")[2]
            if called in ("option", "argument"):
                option = _click(decorator, called == "argument", source.constants)
                if option is not None:
                    options.setdefault(option.name, option)
    return list(options.values())


def typer_options(source: Source) -> list[Declared]:
    """The parameters of typer's commands: `@app.command()`, or the function of `typer.run`."""
    run = {
        dotted_name(node.args[0])
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and dotted_name(node.func) == "typer.run" and node.args
    }
    commands = [f for f in functions_of(source) if f.name in run or _typer_command(f)]
    named = [f for f in commands if f.name in ("train", "main", "fit", "run")]
    if len(commands) > 1 and named:
        commands = named[:1]
    options: list[Declared] = []
    for function in commands[:1]:
        for option in parameters(function, source.constants):
            options.append(_of_typer(option, function, source.constants))
    return options


def parameters(function: Function, names: Mapping[str, Any], skip: int = 0) -> Iterator[Declared]:
    """The parameters of a function as options of the same names."""
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    lacking = len(placed) - len(arguments.defaults)
    pairs: list[tuple[ast.arg, ast.expr | None]] = [
        (parameter, arguments.defaults[at - lacking] if at >= lacking else None)
        for at, parameter in enumerate(placed)
    ][skip:]
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    for parameter, given in pairs:
        kind, choices = _kind_of_annotation(parameter.annotation)
        default = None if given is None else value_of(given, names)
        if kind == "other" and default is not UNKNOWN:
            kind = kind_of(default)
        if kind == "float" and type(default) is int:
            default = float(default)
        yield Declared(
            parameter.arg,
            parameter.arg,
            kind,
            None if default is UNKNOWN else default,
            default is not UNKNOWN,
            choices,
            required=given is None,
            line=parameter.lineno,
        )


def _click(call: ast.Call, positional: bool, names: Mapping[str, Any]) -> Declared | None:
    words = [word for word in (value_of(a, names) for a in call.args) if isinstance(word, str)]
    if not words:
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    flags = [word for word in words if word.startswith("-")]
    plain = [word for word in words if not word.startswith("-")]
    long = [word for word in flags if word.startswith("--")]
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
        dotted_name(called).rpartition(".")[2], kind_of(default) if known else "other"
    )
    if isinstance(type_, ast.Call) and dotted_name(type_.func).endswith("Choice") and type_.args:
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
        if dotted_name(called).endswith((".command", ".callback")):
            return True
    return False


def _of_typer(option: Declared, function: Function, names: Mapping[str, Any]) -> Declared:
    """A parameter as typer makes an option of it: dashes, and `--x/--no-x` for a boolean."""
    call = _typer_call(option.name, function)
    given = [] if call is None else list(call.args)
    default, required = option.default, option.required
    if call is not None and _is_default(option.name, function, call):
        first = given.pop(0) if given else None
        if isinstance(first, ast.Constant) and first.value is Ellipsis:
            default, required, known = None, True, True
        else:
            default = value_of(first, names) if first is not None else None
            required, known = first is None, default is not UNKNOWN
        option = replace(option, default=default if known else None, known=known, required=required)
    flags = [word for word in (value_of(a, names) for a in given) if isinstance(word, str)]
    flags = [word for word in flags if word.startswith("--")]
    spelled = flags[0] if flags else f"--{option.name.replace('_', '-')}"
    positional = (required and call is None) or (
        call is not None and dotted_name(call.func).endswith("Argument")
    )
    if option.kind == "float" and type(option.default) is int:
        option = replace(option, default=float(option.default))
    if option.kind == "other" and option.default is not None:
        option = replace(option, kind=kind_of(option.default))
    if option.kind == "bool":
        on, _, off = spelled.partition("/")
        off = off or ("" if flags else f"--no-{on.removeprefix('--')}")
        return replace(option, option=on, off_option=off, passed="pair" if off else "flag")
    return replace(option, option="" if positional else spelled)


def _typer_call(name: str, function: Function) -> ast.Call | None:
    """`typer.Option(...)` of a parameter, as its default or inside Annotated."""
    arguments = function.args
    placed = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr | None] = dict(
        zip((parameter.arg for parameter in placed[::-1]), arguments.defaults[::-1], strict=False)
    )
    defaults |= {
        parameter.arg: given
        for parameter, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    for parameter in [*placed, *arguments.kwonlyargs]:
        if parameter.arg != name:
            continue
        inside = list(ast.walk(parameter.annotation)) if parameter.annotation is not None else []
        for node in (defaults.get(name), *inside):
            called = dotted_name(node.func) if isinstance(node, ast.Call) else ""
            if called.rpartition(".")[2] in ("Option", "Argument"):
                assert isinstance(node, ast.Call)
                return node
    return None


def _is_default(name: str, function: Function, call: ast.Call) -> bool:
    """Whether the call stands as the default, not inside Annotated."""
    arguments = function.args
    return any(call is default for default in (*arguments.defaults, *arguments.kw_defaults))
