"""Renaming a round of a project: in the store, and its file in rounds/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tunewright import stores
from tunewright.actions import Advise
from tunewright.design.toml_file import read_toml
from tunewright.errors import Misuse
from tunewright.project._project import Project, plain_name, recorded_names
from tunewright.store.user_requests import Renamed


@dataclass(frozen=True, kw_only=True)
class RenamedRound:
    """What has another name now."""

    old: str  # the name it had
    new: str  # the name it has
    recorded: bool  # the store had it
    also: tuple[str, ...]  # its replicates, by their new names
    continued_by: tuple[str, ...]  # recorded rounds that continue it
    files: tuple[Path, ...]  # the round's file, and files of rounds that continue it


def rename(old: str, new: str, *, store: str, project: Project | None = None) -> RenamedRound:
    """Give a round another name: the recorded one, its file, and `continues` in other files.

    Everything is checked before anything changes.

    Args:
        old: the name of a round.
        new: a name that is free.
        store: the store of the round.
        project: whose files change too; None: none.
    """
    if plain_name(new) == old:
        raise Misuse("rename.same_name", name=old)
    source = None if project is None else project.round_file(old)
    target = None if project is None else project.round_file(new)
    has_file = source is not None and source.is_file()
    recorded = old in recorded_names(store)
    if has_file and target is not None and target.exists():
        raise Misuse("file.exists", path=target, remedy=Advise("name_or_delete"))
    only_file = has_file and not recorded
    done = Renamed(old, new) if only_file else stores.rename(store, old, new)
    files = () if project is None else tuple(_renamed_files(project, old, new))
    return RenamedRound(
        old=old,
        new=new,
        recorded=recorded,
        also=done.also,
        continued_by=done.continued_by,
        files=files,
    )


def _renamed_files(project: Project, old: str, new: str) -> list[Path]:
    changed = []
    for path in sorted(project.round_file(old).parent.glob("*.toml")):
        if read_toml(path).get("continues") == old:
            _set(path, "continues", new)
            changed.append(path)
    source = project.round_file(old)
    if source.is_file():
        if read_toml(source).get("name") == old:
            _set(source, "name", new)
        target = project.round_file(new)
        source.rename(target)
        changed = [target if path == source else path for path in changed]
        changed = changed if target in changed else [target, *changed]
    return changed


def _set(path: Path, key: str, value: str) -> None:
    """Change one key above the tables of a file; tomlkit keeps comments and order."""
    import tomlkit

    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    document[key] = value
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
