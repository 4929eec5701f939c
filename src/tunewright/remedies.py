"""Remedies: actions that help after an error, about a store, a project or a command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tunewright.actions import Action, Advise, Argv, command_about


@dataclass(frozen=True)
class FirstRun(Action):
    """Run a round, which makes the store, or name another store."""

    kind: ClassVar[str] = "first_run"

    @property
    def argv(self) -> Argv:
        """`tunewright run ROUND`, where ROUND is a round file or its name."""
        return ("tunewright", "run", "ROUND")

    @property
    def call(self) -> str:
        """`tw.run`."""
        return "tw.run(round, workload)"


@dataclass(frozen=True)
class ListRounds(Action):
    """See which rounds a store holds."""

    kind: ClassVar[str] = "list_rounds"

    @property
    def argv(self) -> Argv:
        """`tunewright ls`."""
        return ("tunewright", "ls")

    @property
    def call(self) -> str:
        """`tw.stores.rounds`."""
        return "tw.stores.rounds(workload.store)"


@dataclass(frozen=True)
class JoinRound(Action):
    """Work on a round that another process runs."""

    kind: ClassVar[str] = "join_round"
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright worker ROUND`."""
        return command_about("worker", round=self.round)

    @property
    def call(self) -> str:
        """`tw.worker`."""
        return f"tw.worker({self.round!r}, workload)"


@dataclass(frozen=True)
class Doctor(Action):
    """Check the machine and the store."""

    kind: ClassVar[str] = "doctor"

    @property
    def argv(self) -> Argv:
        """`tunewright doctor`."""
        return ("tunewright", "doctor")

    @property
    def call(self) -> str:
        """`tw.project.doctor`."""
        return "tw.project.doctor()"


@dataclass(frozen=True)
class Restore(Action):
    """Bring a damaged store back: from its newest backup, or from its trial folders."""

    kind: ClassVar[str] = "restore"
    rebuild: bool = False

    @property
    def argv(self) -> Argv:
        """`tunewright restore`."""
        return ("tunewright", "restore", *(("--rebuild",) if self.rebuild else ()))

    @property
    def call(self) -> str:
        """`tw.stores.restore`, or `tw.stores.rebuild`."""
        return f"tw.stores.{'rebuild' if self.rebuild else 'restore'}(workload.store)"


@dataclass(frozen=True)
class BackUp(Action):
    """Write a backup of a store."""

    kind: ClassVar[str] = "backup"

    @property
    def argv(self) -> Argv:
        """`tunewright backup`."""
        return ("tunewright", "backup")

    @property
    def call(self) -> str:
        """`tw.stores.backup`."""
        return "tw.stores.backup(workload.store)"


@dataclass(frozen=True)
class ListBackups(Action):
    """See which backups a store has."""

    kind: ClassVar[str] = "list_backups"

    @property
    def argv(self) -> Argv:
        """`tunewright restore --list`."""
        return ("tunewright", "restore", "--list")

    @property
    def call(self) -> str:
        """`tw.stores.backups`."""
        return "tw.stores.backups(workload.store)"


@dataclass(frozen=True)
class InitProject(Action):
    """Make a project of a folder; the command and the metric are examples."""

    kind: ClassVar[str] = "init"
    trains: ClassVar[bool] = False
    program: str = "python train.py --lr={learning_rate} --seed={run.seed}"
    metric: str = "valid_error"

    @property
    def argv(self) -> Argv:
        """`tunewright init COMMAND --minimize METRIC`."""
        return ("tunewright", "init", self.program, "--minimize", self.metric)

    @property
    def call(self) -> str:
        """`tw.project.init`."""
        return f"tw.project.init({self.program!r}, minimize={self.metric!r})"


@dataclass(frozen=True)
class SetBudget(Action):
    """Raise the budget of a project."""

    kind: ClassVar[str] = "set_budget"

    @property
    def argv(self) -> Argv:
        """`tunewright budget set`."""
        return ("tunewright", "budget", "set")

    @property
    def call(self) -> str:
        """`tw.budgets.write`."""
        return "tw.budgets.write(tw.budgets.Budget(hours=8))"


@dataclass(frozen=True)
class NewRound(Action):
    """Write a round file to fill in."""

    kind: ClassVar[str] = "new_round"
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright new ROUND`."""
        return command_about("new", round=self.round)

    @property
    def call(self) -> str:
        """`tw.project.new`."""
        return f"tw.project.new({self.round!r})"


@dataclass(frozen=True)
class Tune(Action):
    """Let a campaign search the space of a round file."""

    kind: ClassVar[str] = "tune"
    trains: ClassVar[bool] = True
    round: str
    trials: int = 50

    @property
    def argv(self) -> Argv:
        """`tunewright tune ROUND --trials N`."""
        return command_about("tune", round=self.round, options=("--trials", str(self.trials)))

    @property
    def call(self) -> str:
        """`tw.tune`."""
        space = f"tw.project.load().round({self.round!r})"
        return f"tw.tune(workload, {space}, trials={self.trials})"


def use(*words: str) -> Advise:
    """Advice to write these words on the command line.

    >>> use("--minimize", "valid error").shell_text
    "--minimize 'valid error'"
    """
    return Advise("use_words", {"words": list(words)})
