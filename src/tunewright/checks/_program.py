"""Which files of the program differ between trials? Round files and documents do not count.

The program's own files are compared by the hashes that provenance has of them, tracked by git or
not. With these known, another Python file cannot matter: the program does not import it. What else
git sees counts, such as a configuration in YAML, unless it is a round, a report or a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tunewright.store.provenance import LONGEST_DIFF, Provenance, committed_between, prefix_of

_NONE = "none"
_NAMES = {"tunewright.toml", ".gitignore", ".gitattributes", "LICENSE"}
_ENDINGS = {".md", ".rst", ".html", ".db", ".sqlite", ".sqlite3", ".db-wal", ".db-shm", ".png"}
_FOLDERS = {"rounds", "reports", "docs"}
_CHANGED = "diff --git a/"  # begins what git shows of one file


@dataclass(frozen=True)
class Compared:
    """One value for each trial, and the files by which they differ."""

    values: Sequence[str]
    files: Sequence[str] = ()


def by_sources(origins: Sequence[Provenance]) -> Compared:
    """The program's own files; alike for all where they are not recorded."""
    if not all(origin.sources for origin in origins):
        return Compared([_NONE] * len(origins))
    names = sorted({name for origin in origins for name in origin.sources})
    differ = [n for n in names if len({own.sources.get(n) for own in origins}) > 1]
    return Compared([origin.program[:10] for origin in origins], differ)


def by_commit(origins: Sequence[Provenance]) -> Compared:
    """The commits, those that differ from the first in nothing that counts taken for the same."""
    folder = next((own.folder for own in origins if own.commit), "")

    def changed(first: Provenance, other: Provenance) -> Sequence[str] | None:
        return committed_between(folder, first.commit, other.commit)

    return _compared(origins, lambda own: own.commit, changed)


def by_diff(origins: Sequence[Provenance]) -> Compared:
    """The uncommitted changes, as far as they count."""
    return _compared(origins, lambda own: own.diff_sha256, _diffs_apart)


def _compared(
    origins: Sequence[Provenance],
    value: Callable[[Provenance], str],
    changed: Callable[[Provenance, Provenance], Sequence[str] | None],
) -> Compared:
    first, known = origins[0], all(origin.sources for origin in origins)
    own = value(first)[:10] or _NONE
    seen: dict[str, str] = {value(first): own}  # a commit or a diff -> how it is called
    differ: dict[str, None] = {}
    for origin in origins:
        if value(origin) in seen:
            continue
        files = changed(first, origin)
        counting = None if files is None else list(_counting(files, origins if known else ()))
        # where git does not know, the hashes of the program's own files have to do
        alike = known if counting is None else not counting
        seen[value(origin)] = own if alike else value(origin)[:10] or _NONE
        differ |= dict.fromkeys(counting or ())
    return Compared([seen[value(origin)] for origin in origins], tuple(differ))


def _counting(files: Sequence[str], known: Sequence[Provenance]) -> Iterator[str]:
    """Of files that differ those that may change what a trial does; `known` has its sources."""
    prefix = prefix_of(known[0].folder) if known else ""
    for name in files:
        path = PurePosixPath(name)
        aside = path.name in _NAMES or path.suffix in _ENDINGS or _FOLDERS & set(path.parts[:-1])
        stored = any(part.endswith(".trials") for part in path.parts)
        # a Python file of the working folder is judged by its hash, or is not imported
        judged = bool(known) and path.suffix == ".py" and name.startswith(prefix)
        if not (aside or stored or judged):
            yield name


def _diffs_apart(first: Provenance, other: Provenance) -> Sequence[str] | None:
    """The files whose uncommitted changes differ; None when a diff was cut."""
    if max(len(first.diff), len(other.diff)) >= LONGEST_DIFF:
        return None
    ours, theirs = _by_file(first.diff), _by_file(other.diff)
    differ = [n for n in dict.fromkeys((*ours, *theirs)) if ours.get(n) != theirs.get(n)]
    return differ or None  # the checksums differ, so something does


def _by_file(diff: str) -> Mapping[str, str]:
    """What git shows of each file."""
    found: dict[str, str] = {}
    name = ""
    for line in diff.splitlines():
        if line.startswith(_CHANGED):
            name = line[len(_CHANGED) :].partition(" b/")[0]
        found[name] = f"{found.get(name, '')}{line}\n"
    return found
