"""The project of a folder: `tunewright.toml`, the rounds beside it, the store and the function.

It is looked for in the working folder and those above it. Paths in the file are relative to it.

It is imported as a module by its own name, so that worker processes can import it again.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tunewright.actions import Advise, RunTrials
from tunewright.advice.proposal import Proposal, next_name, under_name
from tunewright.budgets.file import FILE as BUDGET
from tunewright.design.round import Round
from tunewright.design.round_file import RoundFile, read_round_file, write_round
from tunewright.design.workload_file import WorkloadFile, read_workload
from tunewright.errors import Misuse, NotFound, TunewrightError
from tunewright.execution.command import Command, command
from tunewright.execution.command_syntax import JSON
from tunewright.execution.executors.executor import Executor
from tunewright.execution.growing_file import GrowingFile
from tunewright.execution.prepare import problems_of
from tunewright.execution.workload import Train, Workload
from tunewright.messages import Message, words
from tunewright.nearest import nearest
from tunewright.remedies import InitProject, NewRound
from tunewright.store.results import Results
from tunewright.store.store import Store

FILE = "tunewright.toml"
ROUNDS = "rounds"
DEFAULT_STORE = "tuning.db"


def find_function(named: str, folder: Path) -> Callable[..., Any]:
    """The function of `file.py:name` (below the project's folder) or `module:name`."""
    place, colon, name = named.rpartition(":")
    if not colon or not place or not name.isidentifier():
        raise Misuse("function.bad_name", named=named, remedy=Advise("name_function"))
    path = folder / place
    module = _from_file(path) if place.endswith(".py") else _by_name(place, folder)
    target = getattr(module, name, None)
    if target is None:
        callables = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        near = nearest(name, callables)
        raise Misuse(
            "function.not_found",
            place=place,
            name=name,
            where=str(getattr(module, "__file__", place)),
            remedy=(
                Advise("did_you_mean", {"name": near})
                if near
                else Advise("choose_among", {"names": callables})
            ),
        )
    if not callable(target):
        raise Misuse("function.not_a_function", named=named, found=target, where=str(path))
    function: Callable[..., Any] = target
    return function


def _from_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        nearby = [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
        near = nearest(path.name, nearby)
        raise Misuse(
            "function.file_missing",
            path=path,
            cause=Message("function.file_stands"),
            remedy=Advise("did_you_mean", {"name": near}) if near else None,
        )
    name = path.stem
    if not name.isidentifier() or name in sys.stdlib_module_names:
        raise Misuse(
            "function.bad_file_name",
            path=path.name,
            cause=Message("function.imported_again"),
            remedy=Advise("rename_file", {"name": f"train_{name.replace('-', '_')}.py"}),
        )
    if str(path.parent) in sys.path:
        sys.path.remove(str(path.parent))
    sys.path.insert(0, str(path.parent))  # before another project with a file of the same name
    loaded = sys.modules.get(name)
    if loaded is not None and Path(getattr(loaded, "__file__", None) or "").resolve() != path:
        del sys.modules[name]
    module = _import_module(name)
    place = Path(module.__file__ or "").resolve()
    if place != path:
        raise Misuse("function.hidden", path=path.name, where=str(place))
    return module


def _by_name(name: str, folder: Path) -> ModuleType:
    if str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))
    return _import_module(name)


def _import_module(name: str) -> ModuleType:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # whatever the file does when it is imported
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [f for f in frames if "importlib" not in f.filename and f.filename != __file__]
        broken = theirs or frames
        ends = isinstance(error, SystemExit)  # where it asks for its arguments, not in argparse
        last = broken[0 if ends else -1]
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        raise Misuse(
            "function.import_failed",
            name=name,
            kind=type(error).__name__,
            error=error,
            where="" if missing else f"{last.filename}:{last.lineno}",
            cause=Message("function.ends_on_import") if ends else None,
            remedy=Advise("check_name_and_folder") if missing else None,
        ) from error


@dataclass(frozen=True)
class Project:
    """A folder with a `tunewright.toml`."""

    folder: Path  # that has the file
    settings: WorkloadFile  # what the file declares

    def store(self, instead: str | None = None) -> str:
        """The store's address: the one given on the command line, else the file's."""
        return instead or anchor(self.settings["store"], self.folder)

    def round_file(self, name: str) -> Path:
        """Where the round of this name is described."""
        return self.folder / ROUNDS / f"{plain_name(name)}.toml"

    def round(self, name: str) -> Round:
        """The round as its file describes it."""
        return self.described(name).round

    def described(self, name: str) -> RoundFile:
        """The round as its file describes it, and how it is to run; every problem at once."""
        path = self.round_file(name)
        if not path.is_file():
            known = sorted(p.stem for p in path.parent.glob("*.toml"))
            near = nearest(name, known)
            raise Misuse(
                "project.no_round",
                name=name,
                path=path,
                cause=_nearest(near, known),
                remedy=RunTrials(near) if near else NewRound(name),
            )
        return read_round_file(path, self._problems_of)

    def _problems_of(self, round: Round, named: frozenset[str]) -> list[Message]:
        """What the program refuses of a round; nothing where the program itself is at fault."""
        try:
            with self.entered():
                workload = self.workload()
        except TunewrightError:
            return []
        return problems_of(round, workload, elsewhere=named)

    def workload(
        self,
        store: str | None = None,
        executor: Executor | None = None,
        round: str | None = None,
        sinks: Sequence[str] | None = None,
    ) -> Workload:
        """What is trained and how it is judged, ready to run, as a round's file wants it.

        `sinks` take the place of those that the file names.
        """
        settings = self.settings
        template, named = settings["command"], settings["function"]
        if template:
            spelled = settings["booleans"] or JSON
            train: Train | Command = command(
                template,
                booleans=spelled,
                defaults=settings["defaults"],
                read=settings["read"],
                file=_file(settings["read_file"]),
            )
        else:
            train = find_function(named or "", self.folder)
        every = settings["eval_every"]
        if round is not None and self.round_file(round).is_file():
            every = self.described(round).eval_every or every
        trials_in = settings["folder"]
        return Workload(
            train,
            settings["objective"],
            store=self.store(store),
            executor=executor,
            means=settings["means"],
            off=settings["off"],
            deterministic=settings["deterministic"],
            folder=None if trials_in is None else self.folder / trials_in,
            eval_every=every,
            sinks=settings["sinks"] if sinks is None else tuple(sinks),
            budget=self.folder / BUDGET,
        )

    def search(self, round: str) -> str | None:
        """The search that a round's file or `tunewright.toml` names; None: neither does."""
        return self.described(round).search or self.settings["search"]

    @property
    def hyperparameters(self) -> list[str]:
        """The hyperparameters that the program takes, in the order it names them."""
        with self.entered():
            return names_in_order(self.workload())

    @property
    def remarks(self) -> list[Message]:
        """What may be missing in the training command, before anything runs."""
        with self.entered():
            train = self.workload().train
            return _command_remarks(train) if isinstance(train, Command) else []

    @property
    def round_names(self) -> list[str]:
        """The rounds that have a file."""
        return sorted(path.stem for path in (self.folder / ROUNDS).glob("*.toml"))

    def next_round(self, results: Results) -> list[Proposal]:
        """What to do after a round, as `tw.next_round` has it, under names that are still free."""
        free = next_name(results.round.name, self.names_taken(results.store))
        return proposals_under(results, free)

    def names_taken(self, store: str | None = None) -> set[str]:
        """The names of rounds in the store and in the folder."""
        return {*names_in_store(self.store(store)), *self.round_names}

    def write(self, round: Round, reason: str = "", search: str | None = None) -> Path:
        """Write a round's file, the reason first as a comment; refuses to change one."""
        path = self.round_file(round.name)
        if path.exists():
            raise Misuse("file.exists", path=path, remedy=RunTrials(round.name))
        path.parent.mkdir(exist_ok=True)
        write_round(round, path, search)
        if reason:
            path.write_text(comment(reason) + path.read_text(encoding="utf-8"), encoding="utf-8")
        return path

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Work in the project's folder, where commands and relative paths are at home."""
        with contextlib.chdir(self.folder):
            yield


def find(start: Path | str | None = None) -> Project | None:
    """The project of this folder or of the nearest one above it; None if there is none.

    Args:
        start: the folder to begin with; None: the working folder.
    """
    start = Path(start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return Project(folder, read_workload(folder / FILE))
    return None


def load(start: Path | str | None = None) -> Project:
    """The project of this folder or of the nearest one above it; refuses where there is none.

    Args:
        start: the folder to begin with; None: the working folder.
    """
    project = find(start)
    if project is None:
        raise Misuse(
            "project.no_file", file=FILE, where=str(start or Path.cwd()), remedy=InitProject()
        )
    return project


def store_address(instead: str | None) -> str:
    """The store to read: the one given, the project's, or tuning.db in this folder."""
    if instead:
        return instead
    project = find()
    if project is not None:
        return project.store()
    if Path(DEFAULT_STORE).is_file():
        return DEFAULT_STORE
    raise Misuse(
        "project.no_store",
        file=FILE,
        default_store=DEFAULT_STORE,
        where=str(Path.cwd()),
        remedy=Advise("find_store"),
    )


def proposals_under(results: Results, free: str) -> list[Proposal]:
    """The proposals after a round, with new rounds under a name that is free."""
    # every check is imported with it, which commands that only look for the project do not need
    from tunewright.advice.next_round import next_round

    return [
        under_name(proposal, free)
        if proposal.round and proposal.round.name != results.round.name
        else proposal
        for proposal in next_round(results)
    ]


def names_in_store(store: str) -> Collection[str]:
    """The names of the rounds of a store; none where it is not there yet."""
    try:
        with Store.open(store, create=False) as opened:
            return [record.name for record in opened.rounds()]
    except NotFound:
        return []


def names_in_order(workload: Workload) -> list[str]:
    """The hyperparameters in the order the program names them."""
    if isinstance(workload.train, Command):
        return list(workload.train.hyperparameters)
    names = inspect.signature(workload.train).parameters
    return [name for name in names if name in workload.accepts.names]


def _command_remarks(train: Command) -> list[Message]:
    """What may be missing in a command."""
    remarks = []
    program = train.words[0].fill({}) if not train.words[0].fields else ""
    if program and shutil.which(program) is None:
        remarks.append(Message("project.program_missing", {"program": program}))
    plain = [word.fill({}) for word in train.words[1:] if not word.fields]
    script = next((word for word in plain if word.endswith(".py")), "")
    if script and not Path(script).exists():
        remarks.append(Message("project.script_missing", {"script": script}))
    if not train.takes_seed:
        remarks.append(Message("project.no_seed", {"placeholder": "{run.seed}"}))
    return remarks


def comment(text: str) -> str:
    """A sentence as comment lines of a round file.

    >>> print(comment("widen: the best lie at the end"), end="")
    # widen: the best lie at the end
    """
    lines = textwrap.wrap(words.printable(text), 96)
    return "".join(f"# {line}\n" for line in lines)


def anchor(store: str, folder: Path) -> str:
    """A store's address with a relative path made absolute from a folder.

    >>> anchor("tuning.db", Path("/home/me")), anchor("sqlite:///a.db", Path("/home/me"))
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
        text = name if len(name) <= 40 else name[:40] + "..."
        raise Misuse(
            "project.bad_round_name", shown=text, rounds=ROUNDS, remedy=Advise("plain_name")
        )
    return name


def _file(read: Mapping[str, Any]) -> GrowingFile | None:
    """The file that [workload.read] names."""
    if "file" not in read:
        return None
    return GrowingFile(read["file"], read.get("step", ""), read.get("step_times", 1))


def _nearest(near: str | None, known: list[str]) -> Message | None:
    """The likely cause of a name that no round has: a typo, or another round that is meant."""
    if near:
        return Message("project.nearest_round", {"near": near})
    return Message("project.rounds_are", {"known": known}) if known else None
