"""Copy the instructions for coding agents into a project."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from tunewright.errors import Misuse
from tunewright.facts import Facts

_INSTRUCTIONS, SKILL = "AGENTS.md", "SKILL.md"
_SKILLS = Path(".agents", "skills", "tunewright")
BEGIN, END = "<!-- tunewright begins -->", "<!-- tunewright ends -->"
Did = Literal["written", "replaced", "added", "unchanged"]


@dataclass(frozen=True)
class Installed(Facts):
    """One file of instructions in a project."""

    path: Path  # of the file
    did: Did  # what happened to it


def text(name: Literal["AGENTS.md", "SKILL.md"]) -> str:
    """The instructions as this version has them.

    Args:
        name: AGENTS.md or SKILL.md.

    >>> "tunewright check" in text("AGENTS.md")
    True
    """
    return files("tunewright.agents").joinpath(name).read_text(encoding="utf-8")


def install(
    folder: str | os.PathLike[str] = ".",
    *,
    yes: bool = False,
    ask: Callable[[Path], bool] | None = None,
) -> list[Installed]:
    """Write AGENTS.md and `.agents/skills/tunewright/SKILL.md` into a project.

    An AGENTS.md that is there keeps what it has: ours is a marked part at its end, which is
    replaced when it is there already. A file that would change is refused unless `yes`, or `ask`
    agrees.

    Args:
        folder: of the project.
        yes: whether to change files that are there.
        ask: whether to change this file; None: refuse.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [one.did for one in install(folder)], [one.did for one in install(folder)]
    (['written', 'written'], ['unchanged', 'unchanged'])
    """
    root = Path(folder)
    if not root.is_dir():
        raise Misuse("agents.no_folder", folder=root)
    ours = f"{BEGIN}\n{text('AGENTS.md').strip()}\n{END}\n"
    planned = [
        (root / _INSTRUCTIONS, _with_part(_read(root / _INSTRUCTIONS), ours)),
        (root / _SKILLS / SKILL, text("SKILL.md")),
    ]
    changes = [path for path, new in planned if path.exists() and _read(path) != new]
    for path in changes:
        if not yes and not (ask is not None and ask(path)):
            raise Misuse("agents.would_change", path=path)
    return [_write(path, new) for path, new in planned]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse("agents.unreadable", path=path, reason=str(error)) from None


def _with_part(known: str, part: str) -> str:
    """A file's text with our part in it, in place of an earlier version."""
    begin, end = known.find(BEGIN), known.find(END)
    if 0 <= begin < end:
        return known[:begin] + part.rstrip("\n") + known[end + len(END) :]
    return f"{known.rstrip()}\n\n{part}" if known.strip() else part


def _write(path: Path, new: str) -> Installed:
    before = _read(path)
    if before == new:
        return Installed(path, "unchanged")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(new, encoding="utf-8")
    if not before:
        return Installed(path, "written")
    return Installed(path, "replaced" if path.name == SKILL or BEGIN in before else "added")
