"""Options in configuration files and in constants: Hydra, ml_collections, nanoGPT, autoresearch.

A file that executes its command line (`exec(open("configurator.py").read())`) takes `--name=value`
for each constant above that line. Other constants are replaced by `with_values` when it starts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tunewright.messages import Message
from tunewright.project.programs.declared import (
    UNKNOWN,
    Declared,
    Source,
    assignments_of,
    dotted_name,
    kind_of,
    read_source,
    value_of,
)

LARGEST = 1_000_000  # bytes of a YAML file
_DEEPEST = 8
_FLAGS = {
    "DEFINE_float": "float",
    "DEFINE_integer": "int",
    "DEFINE_bool": "bool",
    "DEFINE_boolean": "bool",
    "DEFINE_string": "str",
    "DEFINE_enum": "str",
}
_HOLDER = re.compile(r"hyper|config|args|settings|params", re.IGNORECASE)  # of constants: a class
_MACHINERY = re.compile(r"^(_|[A-Z]$)")


# ---- Hydra
def hydra_options(source: Source) -> Iterator[Declared | Message]:
    """The values of the YAML files that `@hydra.main` names, by their dotted names."""
    for folder, name in _hydra_main(source):
        if folder is None or name is None:
            yield Message("scan.hydra_not_named", {"path": source.path.name})
            continue
        values: dict[str, Any] = {}
        notes: list[Message] = []
        _merge(values, _compose(source.path.parent / folder, name, notes))
        yield from notes
        for full_name, value in _flat(values):
            yield Declared(full_name, full_name, kind_of(value), value)


def _hydra_main(source: Source) -> Iterator[tuple[str | None, str | None]]:
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and dotted_name(decorator.func) == "hydra.main":
                given = {keyword.arg: keyword.value for keyword in decorator.keywords}
                places = [
                    value_of(given[key] if key in given else _argument(decorator, at))
                    for at, key in enumerate(("config_path", "config_name"))
                ]
                folder, name = (word if isinstance(word, str) else None for word in places)
                yield folder, name


def _argument(call: ast.Call, at: int) -> ast.expr | None:
    return call.args[at] if at < len(call.args) else None


def _compose(folder: Path, name: str, notes: list[Message], depth: int = 0) -> dict[str, Any]:
    """A file with the files of its `defaults` list merged in, as Hydra does."""
    path = folder / (name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
    data = _yaml(path, notes)
    if not isinstance(data, dict) or depth > _DEEPEST:
        return {}
    entries = {key: value for key, value in data.items() if key not in ("defaults", "hydra")}
    listed = data.get("defaults")
    composed: dict[str, Any] = {}
    placed = False
    for entry in listed if isinstance(listed, list) else ():
        if entry == "_self_":
            _merge(composed, entries)
            placed = True
            continue
        if isinstance(entry, str):
            _merge(composed, _compose(folder, entry, notes, depth + 1))
            continue
        if not isinstance(entry, dict):
            continue
        for group, chosen in entry.items():
            words = str(group).split()
            optional, plain = "optional" in words, words[-1] if words else ""
            if chosen is None or "hydra" in plain or not isinstance(chosen, str):
                continue
            group_name, _, package = plain.lstrip("/").partition("@")
            inner_folder = folder / group_name
            if optional and not (inner_folder / f"{chosen}.yaml").exists():
                continue
            inner = _compose(inner_folder, chosen, notes, depth + 1)
            keys = (package or group_name).replace("/", ".").split(".")
            if _is_global(inner_folder / f"{chosen}.yaml") or package == "_global_":
                keys = []
            for key in reversed(keys):
                inner = {key: inner}
            _merge(composed, inner)
    if not placed:
        _merge(composed, entries)
    return composed


def _is_global(path: Path) -> bool:
    try:
        return "@package _global_" in path.read_text(encoding="utf-8")[:1000]
    except (OSError, UnicodeDecodeError):
        return False


def _yaml(path: Path, notes: list[Message]) -> Any:
    try:
        import yaml
    except ImportError:
        notes.append(Message("scan.no_yaml", {"path": path.name}))
        return None
    try:
        if path.stat().st_size > LARGEST:
            notes.append(Message("scan.too_large", {"path": path.name, "largest": LARGEST}))
            return None
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        facts = {"path": path.name, "error": error.strerror or str(error)}
        notes.append(Message("scan.not_readable", facts))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        facts = {"path": path.name, "error": type(error).__name__}
        notes.append(Message("scan.not_readable", facts))
    return None


def _merge(into: dict[str, Any], data: Mapping[str, Any]) -> None:
    for key, value in data.items():
        mine = into.get(str(key))
        if isinstance(value, dict) and isinstance(mine, dict):
            _merge(mine, value)
        elif isinstance(value, dict):
            into[str(key)] = {}
            _merge(into[str(key)], value)
        else:
            into[str(key)] = value


def _flat(data: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Dotted names with plain values; interpolations and instantiation keys are left out."""
    for key, value in data.items():
        if str(key).startswith("_"):
            continue
        if isinstance(value, dict):
            if depth < _DEEPEST:
                yield from _flat(value, f"{before}{key}.", depth + 1)
        elif isinstance(value, str) and ("${" in value or value == "???"):
            continue
        elif isinstance(value, str):
            yield f"{before}{key}", _yaml_number(value)
        else:
            yield f"{before}{key}", value


def _yaml_number(text: str) -> Any:
    """YAML 1.1 reads 1e-3 as text, OmegaConf as a number."""
    try:
        return float(text) if "e" in text.lower() and text[:1] in "+-.0123456789" else text
    except ValueError:
        return text


# ---- absl and ml_collections
def absl_options(source: Source) -> Iterator[Declared | Message]:
    """`flags.DEFINE_float(...)`, and the values of a file behind `DEFINE_config_file`."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        called = dotted_name(node.func).rpartition(".")[2]
        values = [value_of(word, source.constants) for word in node.args]
        given = {
            keyword.arg: value_of(keyword.value, source.constants) for keyword in node.keywords
        }
        name = values[0] if values else given.get("name")
        if not isinstance(name, str):
            continue
        default = values[1] if len(values) > 1 else given.get("default")
        if called in _FLAGS:
            kind: Any = _FLAGS[called]
            known = default is not UNKNOWN
            listed = values[2] if called == "DEFINE_enum" and len(values) > 2 else None
            yield Declared(
                name,
                f"--{name}",
                kind,
                float(default) if kind == "float" and type(default) is int else default,
                known,
                tuple(listed) if isinstance(listed, list) else (),
                "pair" if kind == "bool" else "value",
                f"--no{name}" if kind == "bool" else "",
                line=node.lineno,
            )
        elif called == "DEFINE_config_file":
            yield from _config_file(source, name, default)


def _config_file(source: Source, name: str, default: Any) -> Iterator[Declared | Message]:
    folder = source.path.parent
    places = [default] if isinstance(default, str) else []
    places += [f"{folder_name}/default.py" for folder_name in ("configs", "config")]
    for place in places:
        path = folder / place
        if not path.is_file():
            continue
        read = read_source(path)
        if isinstance(read, Message):
            yield read
            return
        if not isinstance(default, str):
            yield Declared(name, f"--{name}", "str", place, line=0)
        for inner, value, line in _config_dict(read):
            plain = isinstance(value, bool | int | float | str)
            yield Declared(
                f"{name}.{inner}",
                f"--{name}.{inner}",
                kind_of(value),
                value if plain else None,
                plain,
                line=line,
            )
        return
    yield Message("scan.config_not_found", {"name": name})


def _config_dict(source: Source) -> Iterator[tuple[str, Any, int]]:
    """The values that `get_config` gives: `config.x = 1`, or the fields of a dataclass."""
    names = dict(source.constants)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = dotted_name(node.targets[0])
            root, _, inner = target.partition(".")
            if inner and root in ("config", "cfg", "c"):
                value = value_of(node.value, names)
                if value is not UNKNOWN or not isinstance(node.value, ast.Call):
                    yield inner, None if value is UNKNOWN else value, node.lineno
        elif isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    value = value_of(statement.value, names)
                    if statement.value is not None:
                        plain = None if value is UNKNOWN else value
                        yield statement.target.id, plain, statement.lineno


def overridden(source: Source) -> list[Declared]:
    """The constants that the file's own command line overrides, nanoGPT's way; none if it has none.

    The file either executes another one, or loops over `sys.argv` and sets `globals()`.
    """
    at = next((n for n, node in enumerate(source.tree.body) if _overrides(node)), None)
    if at is None:
        return []
    options: dict[str, Declared] = {}
    for node in source.tree.body[:at]:
        for name, value in assignments_of(node):
            known_value = value_of(value, source.constants)
            if name.startswith("_") or isinstance(known_value, list) or known_value is None:
                continue
            known = known_value is not UNKNOWN
            plain = known_value if known else None
            if known or isinstance(value, ast.IfExp):
                option = Declared(name, f"--{name}", kind_of(plain), plain, known, line=node.lineno)
                options[name] = source.with_remark(option)
    return list(options.values())


def module_options(source: Source) -> list[Declared]:
    """The constants of a program without a command line: of its module, and of a settings class."""
    options: dict[str, Declared] = {}
    counted = _names_set_again(source)
    for node in source.tree.body:
        for name, value in assignments_of(node):
            constant = value_of(value, source.constants)
            if constant is UNKNOWN or constant is None or _MACHINERY.match(name) or name in counted:
                continue
            if name in options:
                options.pop(name)  # set twice: which one counts is not known
                continue
            option = Declared(name, name, kind_of(constant), constant, line=node.lineno)
            options[name] = source.with_remark(option)
    for holder in _holders(source):
        for statement in holder.body:
            for name, value in assignments_of(statement):
                constant = value_of(value, source.constants)
                if constant is UNKNOWN or constant is None:
                    continue
                full = f"{holder.name}.{name}"
                option = Declared(full, full, kind_of(constant), constant, line=statement.lineno)
                options[full] = source.with_remark(option)
    return list(options.values())


def _names_set_again(source: Source) -> set[str]:
    """The names that a loop, a branch or a function changes: counters and sums, no settings."""
    changed: set[str] = set()
    for statement in source.tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                changed.add(node.target.id)
            elif isinstance(node, ast.Global):
                changed.update(node.names)
            elif isinstance(node, ast.For | ast.While) and node in source.tree.body:
                stored = (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
                changed.update(inner.id for inner in stored if isinstance(inner.ctx, ast.Store))
    return changed


def seeds_in_code(source: Source) -> list[int]:
    """The lines that seed a generator with a plain number, which no option changes."""
    lines = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and node.args:
            called = dotted_name(node.func).rpartition(".")[2]
            seeds = called in ("manual_seed", "seed", "seed_everything", "set_seed", "PRNGKey")
            if seeds and isinstance(value_of(node.args[0]), int):
                lines.append(node.lineno)
    return lines


def _overrides(node: ast.stmt) -> bool:
    """Whether a statement lets the command line set globals."""
    text = ""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and dotted_name(inner.func) == "exec":
            text = ast.unparse(inner)
            if "open(" in text or "read" in text:
                return True
    if isinstance(node, ast.For):
        text = ast.unparse(node)
        return "sys.argv" in text and "globals()[" in text
    return False


def _holders(source: Source) -> Iterator[ast.ClassDef]:
    """The classes whose defaults are the settings: named so, and made without arguments."""
    dictionaries = {
        dotted_name(node.func)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and not node.args and not node.keywords
    }
    for node in source.tree.body:
        if (
            isinstance(node, ast.ClassDef)
            and node.name in dictionaries
            and _HOLDER.search(node.name)
        ):
            yield node
