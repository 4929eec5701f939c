"""Options that are the fields of dataclasses: HfArgumentParser, tyro, simple-parsing, pyrallis.

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
    kind_of,
    read_source,
)
from tunewright.project.programs.literals import dotted, module_constants, value_of

DEEPEST = 6  # nested or inherited dataclasses
# where libraries define the classes that programs hand to their parser
LIBRARIES = {
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


def found_class(name: str, classes: Classes) -> tuple[ast.ClassDef, Source] | Message | None:
    """A class of the program or of a library that is installed; a message where it is not."""
    plain = name.rpartition(".")[2]
    if plain in classes.known:
        return classes.known[plain]
    origin = classes.imported.get(plain, name)
    place = LIBRARIES.get(f"{origin.partition('.')[0]}.{plain}")
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
    found = found_class(name, classes)
    if found is None or isinstance(found, Message) or depth > DEEPEST:
        if isinstance(found, Message):
            yield found
        return
    node, source = found
    names = {**source.constants, **module_constants(ast.Module(node.body, []))}
    inherited: dict[str, Declared | Message] = {}
    beside = classes_of([source, *_beside(source)])
    own = Classes({**beside.known, **classes.known}, classes.imported)
    for base in node.bases:
        base_classes = Classes(own.known, {**source.imports(), **classes.imported})
        for one in fields_of(dotted(base), base_classes, prefix, depth + 1):
            inherited[one.name if isinstance(one, Declared) else one.code] = one
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        named = statement.target.id
        if "ClassVar" in ast.unparse(statement.annotation):
            continue
        nested = _nested(statement, own)
        if nested:
            for one in fields_of(nested, own, f"{prefix}{named}.", depth + 1):
                inherited[one.name if isinstance(one, Declared) else one.code] = one
            continue
        inherited[f"{prefix}{named}"] = source.remarked(_field(statement, prefix + named, names))
    yield from inherited.values()


def _beside(source: Source) -> Iterator[Source]:
    """The files next to it that it imports classes from: `from .base_config import Base`."""
    for name in dict.fromkeys(source.imports().values()):
        module = name.rpartition(".")[0]
        if module.startswith(".") and not module.startswith("..") and module != ".":
            read = read_source(source.path.parent / f"{module[1:].replace('.', '/')}.py")
            if isinstance(read, Source):
                yield read


def is_dataclass(node: ast.ClassDef) -> bool:
    """Whether a class is decorated as a dataclass."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if dotted(called) in _DATACLASS or dotted(called).endswith("dataclass"):
            return True
    return False


def kind_of_annotation(annotation: ast.expr | None) -> tuple[Kind, tuple[Any, ...]]:
    """The kind and the choices that an annotation names.

    >>> [kind_of_annotation(ast.parse(t, mode="eval").body)[0]
    ...  for t in ("float", "Optional[int]", "str | None", "list[int]", "'float'")]
    ['float', 'int', 'str', 'list', 'float']
    """
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return "other", ()
    if isinstance(annotation, ast.BinOp):  # X | None
        parts = [kind_of_annotation(one) for one in (annotation.left, annotation.right)]
        known = [one for one in parts if one[0] != "other"]
        return known[0] if known else ("other", ())
    if isinstance(annotation, ast.Subscript):
        outer = dotted(annotation.value).rpartition(".")[2]
        inner = annotation.slice
        if outer == "Literal":
            values = value_of(inner) if isinstance(inner, ast.Tuple) else [value_of(inner)]
            plain = values if isinstance(values, list) and UNKNOWN not in values else []
            return (kind_of(plain[0]) if plain else "other"), tuple(plain)
        if outer in ("Optional", "Annotated", "Union", "Final"):
            several = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            parts = [kind_of_annotation(one) for one in several]
            known = [one for one in parts if one[0] != "other"]
            return known[0] if known else ("other", ())
        return ("list" if outer in _LISTS else "other"), ()
    named = dotted(annotation).rpartition(".")[2]
    if named in _LISTS:
        return "list", ()
    return _KINDS.get(named, "str" if named == "Path" else "other"), ()


def _nested(statement: ast.AnnAssign, classes: Classes) -> str:
    """The dataclass that a field holds, or nothing."""
    named = dotted(statement.annotation).rpartition(".")[2]
    if named in classes.known and is_dataclass(classes.known[named][0]):
        return named
    return ""


def _field(statement: ast.AnnAssign, name: str, names: Mapping[str, Any]) -> Declared:
    kind, choices = kind_of_annotation(statement.annotation)
    own = Declared(name, name, kind, choices=choices, line=statement.lineno)
    value = statement.value
    if value is None:
        return replace(own, required=True)
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in ("field", "Field"):
        given = {one.arg: one.value for one in value.keywords if one.arg}
        text, inside = UNKNOWN, given.get("metadata")
        if isinstance(inside, ast.Dict):
            pairs = zip(inside.keys, inside.values, strict=True)
            metadata = {value_of(k): v for k, v in pairs if k is not None}
            text = value_of(metadata.get("help"), names)
            listed = value_of(metadata.get("choices"), names)
            own = replace(own, choices=tuple(listed)) if isinstance(listed, list) else own
        own = replace(own, help=text if isinstance(text, str) else "")
        if "default" not in given:
            made = "default_factory" in given
            return replace(own, required=not made, known=not made)
        value = given["default"]
    default = value_of(value, names)
    if default is UNKNOWN:
        return replace(own, known=False)
    found = kind_of(default)
    if own.kind == "float" and found == "int":
        default = float(default)
    return replace(own, default=default, kind=own.kind if own.kind != "other" else found)
