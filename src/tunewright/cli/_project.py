"""The project a command works on: `tunewright.toml`, the rounds beside it, and the store it names.

Commands look in the working folder and those above it. Paths in the file are relative to it.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tunewright.cli._errors import Misuse
from tunewright.cli._training_function import find_function
from tunewright.design.round import Round
from tunewright.design.round_file import read_round
from tunewright.design.workload_file import WorkloadFile, read_workload
from tunewright.execution.command import command
from tunewright.execution.executors.executor import Executor
from tunewright.execution.workload import Workload
from tunewright.store.store import Store

FILE = "tunewright.toml"
ROUNDS = "rounds"
DEFAULT_STORE = "tuning.db"


@dataclass(frozen=True)
class Project:
    """A folder with a `tunewright.toml`."""

    folder: Path
    settings: WorkloadFile

    def store(self, instead: str | None = None) -> str:
        """The store's address: the one given on the command line, else the file's."""
        return instead or anchored(self.settings["store"], self.folder)

    def round_file(self, name: str) -> Path:
        """Where the round of this name is described."""
        return self.folder / ROUNDS / f"{plain_name(name)}.toml"

    def round(self, name: str) -> Round:
        """The round as its file describes it."""
        path = self.round_file(name)
        if not path.is_file():
            known = sorted(p.stem for p in path.parent.glob("*.toml"))
            near = difflib.get_close_matches(name, known, n=1)
            others = f"there is: {', '.join(known)}" if known else ""
            raise Misuse(
                f"no round {name!r}: {path} does not exist",
                cause=f"did you mean {near[0]!r}?" if near else others,
                remedy=f"tunewright run {near[0]}" if near else f"tunewright new {name}",
            )
        return read_round(path)

    def workload(self, store: str | None = None, executor: Executor | None = None) -> Workload:
        """What is trained and how it is judged, ready to run."""
        own = self.settings
        template, named = own["command"], own["function"]
        train = command(template) if template else find_function(named or "", self.folder)
        trials_in = own["folder"]
        return Workload(
            train,
            own["objective"],
            store=self.store(store),
            executor=executor,
            means=own["means"],
            off=own["off"],
            folder=None if trials_in is None else self.folder / trials_in,
        )

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Work in the project's folder, where commands and relative paths are at home."""
        with contextlib.chdir(self.folder):
            yield


def find_project(start: Path | None = None) -> Project | None:
    """The project of this folder or of the nearest one above it."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return Project(folder, read_workload(folder / FILE))
    return None


def need_project() -> Project:
    """The project, or what to do without one."""
    found = find_project()
    if found is None:
        raise Misuse(
            f"no {FILE} here or above",
            where=str(Path.cwd()),
            remedy='tunewright init "python train.py --lr={learning_rate} --seed={run.seed}" '
            "--minimize valid_error",
        )
    return found


def store_address(instead: str | None) -> str:
    """The store to read: the one given, the project's, or tuning.db in this folder."""
    if instead:
        return instead
    project = find_project()
    if project is not None:
        return project.store()
    if Path(DEFAULT_STORE).is_file():
        return DEFAULT_STORE
    raise Misuse(
        f"no store: neither {FILE} nor {DEFAULT_STORE} is here or above",
        where=str(Path.cwd()),
        remedy="go to the project's folder, or name one with --store; tunewright init makes a "
        "project, tunewright demo a store to look at",
    )


def open_store(instead: str | None) -> Store:
    """The store to read; it must be there already."""
    return Store.open(store_address(instead), create=False)


def anchored(store: str, folder: Path) -> str:
    """A store's address with a relative path made absolute from a folder.

    >>> anchored("tuning.db", Path("/home/me")), anchored("sqlite:///a.db", Path("/home/me"))
    ('/home/me/tuning.db', 'sqlite:////home/me/a.db')
    """
    scheme, divider, rest = store.partition(":///")
    if divider and scheme.startswith("sqlite"):
        return f"{scheme}:///{folder / rest}"
    if "://" in store:
        return store
    return str(folder / Path(store).expanduser())


def plain_name(name: str) -> str:
    """A round's name that is a plain file name too: it never leads outside the rounds folder."""
    odd = not name or name in (".", "..") or name.startswith(".") or not name.isprintable()
    if odd or any(sign in name for sign in "/\\:\0") or len(name) > 200:
        shown = name if len(name) <= 40 else name[:40] + "..."
        raise Misuse(
            f"{shown!r} cannot name a round: it is a file's name below {ROUNDS}/",
            remedy="letters, digits, - and _, such as weight_decay",
        )
    return name
