"""Remedies: actions that help after an error, about a store, a project or a command line."""

from __future__ import annotations

from dataclasses import dataclass

from tunewright.actions import Action, Advise


@dataclass(frozen=True)
class FirstRun(Action, kind="first_run", command="run ROUND", call="tw.run(round, workload)"):
    """Run a round (ROUND: its file or name), which makes the store, or name another store."""


@dataclass(frozen=True)
class ListRounds(Action, kind="list_rounds", command="ls", call="tw.stores.rounds(workload.store)"):
    """See which rounds a store holds."""


@dataclass(frozen=True)
class JoinRound(
    Action, kind="join_round", command="worker {round}", call="tw.worker({round!r}, workload)"
):
    """Work on a round that another process runs."""

    round: str


@dataclass(frozen=True)
class Doctor(Action, kind="doctor", command="doctor", call="tw.project.doctor()"):
    """Check the machine and the store."""


@dataclass(frozen=True)
class Restore(Action, kind="restore", command="restore [--rebuild]"):
    """Bring a damaged store back: from its newest backup, or from its trial folders."""

    rebuild: bool = False

    @property
    def call(self) -> str:
        """`tw.stores.restore`, or `tw.stores.rebuild`."""
        return f"tw.stores.{'rebuild' if self.rebuild else 'restore'}(workload.store)"


@dataclass(frozen=True)
class BackUp(Action, kind="backup", command="backup", call="tw.stores.backup(workload.store)"):
    """Write a backup of a store."""


@dataclass(frozen=True)
class ListBackups(
    Action,
    kind="list_backups",
    command="restore --list",
    call="tw.stores.backups(workload.store)",
):
    """See which backups a store has."""


@dataclass(frozen=True)
class InitProject(
    Action,
    kind="init",
    command="init {program} [--minimize {metric}]",
    call="tw.project.init({program!r}, minimize={metric!r})",
):
    """Make a project of a folder; the command and the metric are examples."""

    program: str = "python train.py --lr={learning_rate} --seed={run.seed}"
    metric: str = "valid_error"


@dataclass(frozen=True)
class ScanProgram(
    Action,
    kind="scan",
    command="init --scan {program} [--minimize {metric}]",
    call="tw.project.scan({program!r}, minimize={metric!r})",
):
    """Make a project of a program by its source; the metric is an example."""

    program: str
    metric: str = "valid_error"


@dataclass(frozen=True)
class SetBudget(
    Action,
    kind="set_budget",
    command="budget set",
    call="tw.budgets.write(tw.budgets.Budget(hours=8))",
):
    """Raise the budget of a project."""


@dataclass(frozen=True)
class NewRound(Action, kind="new_round", command="new {round}", call="tw.project.new({round!r})"):
    """Write a round file to fill in."""

    round: str


@dataclass(frozen=True)
class Tune(
    Action,
    kind="tune",
    command="tune {round} [--trials {trials}]",
    call="tw.tune(workload, tw.project.load().round({round!r}), trials={trials})",
    trains=True,
):
    """Let a campaign search the space of a round file."""

    round: str
    trials: int = 50


def use(*words: str) -> Advise:
    """Advice to write these words on the command line.

    >>> use("--minimize", "valid error").shell_text
    "--minimize 'valid error'"
    """
    return Advise("use_words", {"words": list(words)})
