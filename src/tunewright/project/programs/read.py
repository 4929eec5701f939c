"""Which options a program has, by the library that reads its command line.

The script and the files of its folder that it imports are read, nothing is imported or run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tunewright.messages import Message
from tunewright.project.programs.adapters import adapter_note
from tunewright.project.programs.argparse_options import argparse_options
from tunewright.project.programs.config_files import (
    absl_options,
    hydra_options,
    module_options,
    overridden,
    seeds_in_code,
)
from tunewright.project.programs.declared import (
    Declared,
    Source,
    assignments_of,
    dotted_name,
    read_source,
    value_of,
)
from tunewright.project.programs.functions import (
    Classes,
    classes_of,
    click_options,
    fields_of,
    functions_of,
    parameters,
    typer_options,
)

_MOST_FILES = 40  # of the program's own folder
Style = Literal[
    "argparse",
    "click",
    "typer",
    "fire",
    "dataclass",
    "tyro",
    "lightning",
    "hydra",
    "absl",
    "configurator",
    "constants",
    "none",
]
_PARSER_NAME = re.compile(r"\.[^.]*(pars|arg|opt)[^.]*$", re.IGNORECASE)
_PARSERS = ("HfArgumentParser", "H4ArgumentParser", "TrlParser")


@dataclass(frozen=True)
class Read:
    """The options of a program as its source declares them."""

    style: Style
    options: tuple[Declared, ...]
    words: tuple[str, ...] = ()  # that the command needs before its options: a subcommand
    notes: tuple[Message, ...] = ()
    files: tuple[str, ...] = ()  # that were read
    adapter: Message | None = None  # how the library that trains would report to a trial


def read_program(script: Path) -> Read:
    """The options of a script; what could not be read is a note."""
    first = read_source(script)
    if isinstance(first, Message):
        return Read("none", (), notes=(first,))
    sources, notes = _with_imports(first)
    imported = [name for source in sources for name in source.imports().values()]
    return replace(_options(first, sources, notes), adapter=adapter_note(imported))


def _options(first: Source, sources: list[Source], notes: list[Message]) -> Read:
    classes = classes_of(sources)
    files = tuple(source.path.name for source in sources)
    for reader in (_hydra, _absl, _dataclasses, _lightning, _click, _typer, _argparse, _fire):
        read = reader(sources, classes)
        if read is not None and read.options:
            seeds = _seed_notes(first, read.options)
            return replace(read, notes=(*notes, *read.notes, *seeds), files=files)
    if options := overridden(first):
        seeds = _seed_notes(first, options)
        return Read("configurator", tuple(options), notes=(*notes, *seeds), files=files)
    options = module_options(first)
    style: Style = "constants" if options else "none"
    notes += [] if options else [Message("scan.nothing_found", {"path": first.path.name})]
    notes += _seed_notes(first, options)
    return Read(style, tuple(options), notes=tuple(notes), files=files)


def _with_imports(first: Source) -> tuple[list[Source], list[Message]]:
    """The script and what it imports from its folder, the script first."""
    sources, notes, seen = [first], list[Message](), {first.path.resolve()}
    at = 0
    while at < len(sources) and len(sources) < _MOST_FILES:
        source = sources[at]
        at += 1
        for path in _local(source, first.path.parent):
            if path.resolve() in seen or len(sources) >= _MOST_FILES:
                continue
            seen.add(path.resolve())
            read = read_source(path)
            if isinstance(read, Message):
                notes.append(read)
            else:
                sources.append(read)
    return sources, notes


def _local(source: Source, root: Path, names: Iterable[str] | None = None) -> list[Path]:
    """The files of the program's folder that a file imports, or those of these names."""
    files: list[Path] = []
    for name in dict.fromkeys(source.imports().values() if names is None else names):
        level = len(name) - len(name.lstrip("."))
        bases = [source.path.parent, root]
        if level:
            base = source.path.parent
            for _ in range(level - 1):
                base = base.parent
            bases = [base]
        parts = [part for part in name.lstrip(".").split(".") if part]
        for base in bases:
            for length in (len(parts), len(parts) - 1):
                path = base.joinpath(*parts[:length]) if length > 0 else None
                if path is None:
                    continue
                for file in (path.with_suffix(".py"), path / "__init__.py"):
                    if file.is_file() and file not in files:
                        files.append(file)
    return files


def _calls(sources: Iterable[Source], *names: str) -> list[tuple[ast.Call, Source]]:
    """The calls of functions by their last name, the script's first."""
    return [
        (node, source)
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] in names
    ]


def _split(entries: Iterable[Declared | Message]) -> tuple[list[Declared], list[Message]]:
    options: dict[str, Declared] = {}
    notes: list[Message] = []
    for each in entries:
        if isinstance(each, Message):
            notes.append(each)
        else:
            options.setdefault(each.name, each)
    return list(options.values()), notes


def _hydra(sources: list[Source], classes: Classes) -> Read | None:
    options, notes = _split(hydra_options(sources[0]))
    return Read("hydra", tuple(options), notes=tuple(notes)) if options or notes else None


def _absl(sources: list[Source], classes: Classes) -> Read | None:
    options, notes = _split(option for source in sources for option in absl_options(source))
    return Read("absl", tuple(options), notes=tuple(notes)) if options else None


def _dataclasses(sources: list[Source], classes: Classes) -> Read | None:
    """HfArgumentParser((A, B)), tyro.cli(A), pyrallis and draccus, simple-parsing."""
    for call, source in _calls(sources, *_PARSERS):
        listed = call.args[0] if call.args else None
        for keyword in call.keywords:
            listed = keyword.value if keyword.arg == "dataclass_types" else listed
        listed = _assignment_to(listed, source)
        several = listed.elts if isinstance(listed, ast.Tuple | ast.List) else [listed]
        fields = [each for name in several for each in fields_of(dotted_name(name), classes)]
        options, notes = _split(fields)
        flat = [replace(each, option=f"--{each.option.rpartition('.')[2]}") for each in options]
        return Read("dataclass", tuple(flat), notes=tuple(notes))
    for call, _ in _calls(sources, "cli", "parse", "wrap", "add_arguments"):
        called = dotted_name(call.func)
        library = called.partition(".")[0]
        if call.args and (
            library in ("tyro", "pyrallis", "draccus", "simple_parsing")
            or called.endswith(".add_arguments")
        ):
            options, notes = _split(fields_of(dotted_name(call.args[0]), classes))
            if options:
                return Read(
                    "tyro", tuple(_of_tyro(o, library) for o in options), notes=tuple(notes)
                )
    return None


def _assignment_to(listed: ast.expr | None, source: Source) -> ast.expr | None:
    """The classes behind a name that the file gives them before it makes the parser."""
    if isinstance(listed, ast.Name):
        for node in ast.walk(source.tree):
            pairs = assignments_of(node) if isinstance(node, ast.Assign) else []
            several = [value for name, value in pairs if name == listed.id]
            if several and isinstance(several[0], ast.Tuple | ast.List):
                return several[0]
    return listed


def _of_tyro(option: Declared, library: str) -> Declared:
    """A field as tyro spells it, `--learning-rate`, with `--no-x` for false; others keep `_`."""
    if library != "tyro":
        return replace(option, option=f"--{option.option}")
    spelled = option.option.replace("_", "-")
    if option.kind == "bool" and option.value is not None:
        parts = spelled.split(".")
        off = ".".join([*parts[:-1], f"no-{parts[-1]}"])
        return replace(option, option=f"--{spelled}", off_option=f"--{off}", passed="pair")
    return replace(option, option=f"--{spelled}")


def _lightning(sources: list[Source], classes: Classes) -> Read | None:
    """LightningCLI(Model, Data): the parameters of their `__init__`, and the trainer's length."""
    for call, _ in _calls(sources, "LightningCLI"):
        given = [dotted_name(each) for each in call.args[:2]]
        named = {keyword.arg: dotted_name(keyword.value) for keyword in call.keywords}
        pairs = list(zip(("model", "data"), given, strict=False))
        pairs += [
            ("model", named.get("model_class", "")),
            ("data", named.get("datamodule_class", "")),
        ]
        options: dict[str, Declared] = {}
        for part, name in pairs:
            if name.rpartition(".")[2] not in classes.known:
                continue
            node, source = classes.known[name.rpartition(".")[2]]
            for function in node.body:
                if isinstance(function, ast.FunctionDef) and function.name == "__init__":
                    for option in parameters(function, source.constants, skip=1):
                        full = f"{part}.{option.name}"
                        options[full] = replace(option, name=full, option=f"--{full}")
        if not options:
            return None
        options |= {each.name: each for each in _of_trainer()}
        words = () if value_of(_keyword_value(call, "run")) is False else ("fit",)
        return Read("lightning", tuple(options.values()), words)
    return None


def _keyword_value(call: ast.Call, name: str) -> ast.expr | None:
    """The expression of a keyword argument."""
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _of_trainer() -> list[Declared]:
    """What every LightningCLI takes, whatever the model."""
    return [
        Declared("seed_everything", "--seed_everything", "int", 0),
        Declared("trainer.max_epochs", "--trainer.max_epochs", "int", None),
        Declared("trainer.max_steps", "--trainer.max_steps", "int", -1),
        Declared("trainer.gradient_clip_val", "--trainer.gradient_clip_val", "float", None),
        Declared("trainer.accumulate_grad_batches", "--trainer.accumulate_grad_batches", "int", 1),
        Declared("trainer.default_root_dir", "--trainer.default_root_dir", "str", None),
    ]


def _click(sources: list[Source], classes: Classes) -> Read | None:
    options, _ = _split(option for source in sources[:1] for option in click_options(source))
    return Read("click", tuple(options)) if options else None


def _typer(sources: list[Source], classes: Classes) -> Read | None:
    options = typer_options(sources[0])
    return Read("typer", tuple(options)) if options else None


def _argparse(sources: list[Source], classes: Classes) -> Read | None:
    parsers = [argparse_options(source, imported=at > 0) for at, source in enumerate(sources)]
    if parsers[0].declared:  # other files count where the script asks one for its parser
        imported_parsers = {n for n in sources[0].imports().values() if _PARSER_NAME.search(n)}
        files = {
            path.resolve() for path in _local(sources[0], sources[0].path.parent, imported_parsers)
        }
        pairs = zip(parsers[1:], sources[1:], strict=True)
        parsers = [
            parsers[0],
            *(parser for parser, source in pairs if source.path.resolve() in files),
        ]
    options, _ = _split(option for parser in parsers for option in parser.declared)
    if not options:
        return None
    notes = tuple(note for read in parsers for note in read.notes)
    words = tuple(read.subcommand for read in parsers if read.subcommand)[:1]
    return Read("argparse", tuple(options), words, notes)


def _fire(sources: list[Source], classes: Classes) -> Read | None:
    """fire.Fire(train), jsonargparse's CLI(train), tyro.cli(train): the function's parameters."""
    for call, source in _calls(sources[:1], "Fire", "CLI", "auto_cli", "cli"):
        if not call.args or dotted_name(call.func) not in (
            *("fire.Fire", "Fire", "CLI", "auto_cli", "jsonargparse.CLI", "tyro.cli"),
            "jsonargparse.auto_cli",
        ):
            continue
        for function in functions_of(source):
            if function.name == dotted_name(call.args[0]):
                options = [
                    replace(o, option=f"--{o.name}") for o in parameters(function, source.constants)
                ]
                if dotted_name(call.func) == "tyro.cli":
                    return Read(
                        "tyro", tuple(_of_tyro(replace(o, option=o.name), "tyro") for o in options)
                    )
                return Read("fire", tuple(options))
    return None


def _seed_notes(source: Source, options: Iterable[Declared]) -> list[Message]:
    """A seed that no option changes makes every repeat the same run."""
    from tunewright.design.guards import is_seed

    if any(is_seed(option.name) for option in options):
        return []
    lines = seeds_in_code(source)
    return [Message("scan.no_seed_option", {"path": source.path.name, "lines": lines})]
