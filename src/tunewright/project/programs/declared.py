"""An option that a program declares, and a source file of it."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tunewright.messages import Message
from tunewright.project.programs.remarks import Remarks, remarks_of

LARGEST = 5_000_000  # bytes of a source file that is read
UNKNOWN = object()  # a value that the source alone does not give

Kind = Literal["float", "int", "str", "bool", "list", "other"]
# how true and false are passed: as a value, a flag that is there or not, or one of two flags
Passed = Literal["value", "flag", "negative flag", "pair"]


@dataclass(frozen=True)
class Declared:
    """One option of a program."""

    name: str  # as rounds call it
    option: str  # how it is passed: `--lr`, `optimizer.lr`; empty: by its position
    kind: Kind = "other"
    default: Any = None
    known: bool = True  # whether the default could be read
    choices: tuple[Any, ...] = ()
    passed: Passed = "value"
    off_option: str = ""  # of a pair: the option that means false
    required: bool = False
    conditional: bool = False  # declared under an `if`
    help: str = ""
    section: str = ""  # the group or the heading that it stands under
    line: int = 0
    notes: tuple[Message, ...] = ()

    @property
    def value(self) -> Any:
        """The default as a plain value of a round, None where there is none."""
        plain = isinstance(self.default, bool | int | float | str)
        return self.default if self.known and plain else None


@dataclass(frozen=True)
class Source:
    """A parsed file of a program."""

    path: Path
    text: str
    tree: ast.Module
    constants: Mapping[str, Any] = field(default_factory=dict)  # of the module, by name

    @cached_property
    def remarks(self) -> Remarks:
        """Its comments."""
        return remarks_of(self.text)

    def remarked(self, own: Declared) -> Declared:
        """The option with the heading above its line and the remark beside it."""
        section = own.section or self.remarks.heading(own.line)
        return replace(own, section=section, help=own.help or self.remarks.remark(own.line))

    def imports(self) -> dict[str, str]:
        """What each imported name is: `{"DC": "dataclasses.dataclass"}`."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    found[one.asname or one.name.partition(".")[0]] = (
                        one.name if one.asname else one.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                dots = "." * node.level
                for one in node.names:
                    found[one.asname or one.name] = f"{dots}{node.module or ''}.{one.name}"
        return found


def read_source(path: Path) -> Source | Message:
    """A file as a syntax tree; a message where it cannot be read."""
    from tunewright.project.programs.literals import module_constants

    try:
        if path.stat().st_size > LARGEST:
            return Message("scan.too_large", {"path": path.name, "largest": LARGEST})
        with tokenize.open(path) as file:  # the encoding that the file declares
            text = file.read()
    except (UnicodeDecodeError, LookupError, SyntaxError) as error:
        return Message("scan.not_decodable", {"path": path.name, "error": str(error)})
    except OSError as error:
        facts = {"path": path.name, "error": error.strerror or str(error)}
        return Message("scan.not_readable", facts)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        where = {"path": path.name, "line": error.lineno or 0}
        return Message("scan.syntax_error", {**where, "error": error.msg})
    except (RecursionError, MemoryError, ValueError) as error:
        where = {"path": path.name, "line": 0}
        return Message("scan.syntax_error", {**where, "error": type(error).__name__})
    return Source(path, text, tree, module_constants(tree))


def kind_of(default: Any) -> Kind:
    """The kind that a default has.

    >>> [kind_of(value) for value in (0.1, 3, True, "adam", [1], None)]
    ['float', 'int', 'bool', 'str', 'list', 'other']
    """
    if isinstance(default, bool):
        return "bool"
    for kind, name in ((int, "int"), (float, "float"), (str, "str")):
        if isinstance(default, kind):
            return name  # type: ignore[return-value]
    return "list" if isinstance(default, list | tuple) else "other"
