"""Actions: what to do next, as data. A shell shows a quoted command, Python shows a call.

A class has a usage line, `run {round} [--trials {trials_per_study}]`, and a template of the call; a
part in brackets drops out where its field is None or False. Advice that no command carries out is
an `Advise` with the code of its sentence.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from tunewright import messages
from tunewright.facts import plain
from tunewright.messages import Reader, Text

Argv = tuple[str, ...]  # the words of a command line, unquoted


@dataclass(frozen=True)
class Action:
    """Something worth doing: its facts, the command line and the call that do it.

    >>> RunTrials("my round; ls", trials_per_study=32).command
    "tunewright run 'my round; ls' --trials 32"
    >>> Repeat("depth").call
    'tw.repeat(results.top(1)[0], workload, times=5)'
    """

    kind: ClassVar[str] = ""
    trains: ClassVar[bool] = False  # needs the training program
    _usage: ClassVar[str] = ""
    _call: ClassVar[str] = ""

    def __init_subclass__(
        cls, kind: str, command: str = "", call: str = "", trains: bool = False
    ) -> None:
        """State the usage line and the template of the call of a kind of action."""
        cls.kind, cls.trains, cls._usage, cls._call = kind, trains, command, call

    @property
    def argv(self) -> Argv:
        """The words of the command that does it, unquoted; empty where there is none."""
        return _words(self._usage, vars(self)) if self._usage else ()

    @property
    def command(self) -> str:
        """The command as a shell takes it: every argument quoted."""
        return shlex.join(self.argv)

    @property
    def call(self) -> str:
        """The call in Python, given `results` and `workload`; empty where there is none."""
        return self._call.format(**vars(self))

    @property
    def text(self) -> Text:
        """What it does, in a few words, for a reader of Python."""
        return self.text_for("python")

    @property
    def shell_text(self) -> Text:
        """The same for a reader at a shell."""
        return self.text_for("shell")

    def text_for(self, reader: Reader) -> Text:
        """What it does, as this reader can use it."""
        return messages.action(self.kind, self._fields(), reader)

    def code_for(self, reader: Reader) -> str:
        """What this reader types: the call, or the quoted command; empty where there is none."""
        return self.call if reader == "python" else self.command

    def __str__(self) -> str:
        """The call and what it does, on one line."""
        return f"{self.call}  ({self.text})" if self.call else self.text

    def to_data(self) -> dict[str, Any]:
        """Plain data: the kind, its facts, and the words of the command."""
        return {"kind": self.kind, **self._fields(), "argv": list(self.argv)}

    def _fields(self) -> dict[str, Any]:
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}


def _words(usage: str, facts: Mapping[str, Any]) -> Argv:
    """The words of a command line, of its usage and the facts.

    A name that begins with a dash stands after `--`, where no option is read any more.

    >>> _words("trial {round} {number} [--log]", {"round": "--x", "number": 7, "log": True})
    ('tunewright', 'trial', '--log', '--', '--x', '7')
    """
    words, options, dashed = ["tunewright"], [], list[str]()
    for part in re.findall(r"\[[^]]+]|\S+", usage):
        *option, last = part.strip("[]").split()
        if last.startswith("{"):
            fact = facts[last[1:-1]]
            if fact is None:
                continue
            value = str(fact)
            if option:
                options += [*option, value]
            else:
                (dashed if dashed or value.startswith("-") else words).append(value)
        elif part == last:
            words.append(last)
        elif facts[last.removeprefix("--")]:
            options.append(last)
    return (*words, *options, *(("--", *dashed) if dashed else ()))


@dataclass(frozen=True)
class RunTrials(
    Action,
    kind="run_trials",
    command="run {round} [--search {search}] [--trials {trials_per_study}]",
    trains=True,
):
    """Run the trials that are left, or more of them."""

    round: str
    trials_per_study: int | None = None
    search: str | None = None  # the one it began with, when none is named

    @property
    def call(self) -> str:
        """`tw.run`, with the round changed where it grows."""
        changed = "results.round"
        if self.trials_per_study is not None:
            grown = f"trials_per_study={self.trials_per_study}"
            changed = f"dataclasses.replace(results.round, {grown})"
        return f"tw.run({changed}, workload{_searching(self.search)})"


@dataclass(frozen=True)
class RunRound(Action, kind="run_round", command="run {round} [--search {search}]", trains=True):
    """Run the round that a proposal makes, once its file is written."""

    round: str  # its name
    search: str | None = None

    @property
    def call(self) -> str:
        """`tw.run`, given the `proposal`."""
        return f"tw.run(proposal.round, workload{_searching(self.search)})"


def _searching(search: str | None) -> str:
    return "" if search is None else f", tw.search.{search.capitalize()}()"


@dataclass(frozen=True)
class Repeat(
    Action,
    kind="repeat",
    command="repeat {round} [--trial {trial}] [--times {times}]",
    trains=True,
):
    """Train a configuration again under new seeds."""

    round: str
    times: int = 5
    trial: int | None = None  # the best one, when none is named

    @property
    def call(self) -> str:
        """`tw.repeat`."""
        which = "results.top(1)[0]" if self.trial is None else f"results.trial({self.trial})"
        return f"tw.repeat({which}, workload, times={self.times})"


@dataclass(frozen=True)
class TrainAgain(
    Action,
    kind="again",
    command="again {round} {number} [--repeat {repeat}] [--anyway]",
    trains=True,
):
    """Train a trial anew under its own seed, and compare it with what was recorded."""

    round: str
    number: int
    repeat: int | None = None  # of that trial, from 1
    anyway: bool = False  # although the program has changed

    @property
    def call(self) -> str:
        """`tw.trials.again`."""
        which = f"results.trial({self.number})"
        if self.repeat is not None:
            which = f"results.repeats({self.number})[{self.repeat - 1}]"
        return f"tw.trials.again({which}, workload{', anyway=True' if self.anyway else ''})"


@dataclass(frozen=True)
class MeasureVariance(
    Action,
    kind="variance",
    command="variance {round} [--times {times}] [--studies {studies}] [--splits {splits}]",
    trains=True,
):
    """Train what it takes to know study or data variance."""

    round: str
    times: int | None = None  # repeats of the best trial
    studies: int | None = None  # whole searches
    splits: int | None = None  # data splits

    @property
    def call(self) -> str:
        """`tw.launches.variance`."""
        counts = {"times": self.times, "studies": self.studies, "splits": self.splits}
        options = "".join(f", {name}={n}" for name, n in counts.items() if n is not None)
        return f"tw.launches.variance(results, workload{options})"


@dataclass(frozen=True)
class NextRound(
    Action,
    kind="next_round",
    command="next {round} [--write] [--take {take}]",
    call="tw.next_round(results)",
):
    """Ask for proposals; `write` makes the round file of the first one."""

    round: str
    write: bool = False
    take: int | None = None  # another proposal than the first one, counted from 1


@dataclass(frozen=True)
class CheckRound(Action, kind="check", command="check {round}", call="tw.check(results)"):
    """Read the checklist of a round."""

    round: str


@dataclass(frozen=True)
class StopRound(
    Action,
    kind="stop_round",
    command="stop {round}",
    call="tw.stores.stop(results.store, {round!r})",
):
    """Ask whoever runs a round to stop it."""

    round: str


@dataclass(frozen=True)
class RemoveRound(Action, kind="remove_round", command="rm {round} [--undo]"):
    """Remove a round, so that it can be brought back."""

    round: str
    undo: bool = False  # bring it back

    @property
    def call(self) -> str:
        """`tw.stores.remove`, or what undoes it."""
        return f"tw.stores.{'bring_back' if self.undo else 'remove'}(results.store, {self.round!r})"


@dataclass(frozen=True)
class ShowRound(Action, kind="show_round", command="show {round}", call="results.trials"):
    """Look at a round: its best trials, and why others did not complete."""

    round: str


@dataclass(frozen=True)
class ShowTrial(
    Action, kind="show_trial", command="trial {round} {number}", call="results.trial({number})"
):
    """Look at one trial: its configuration, curves, log and origin."""

    round: str
    number: int


@dataclass(frozen=True)
class Probe(Action, kind="probe", command="probe {name} {round}", trains=True):
    """Look closer by a probe (`stability`, `warmup`, `clip`) from the best trial of a round."""

    name: str
    round: str | None = None  # the best trial of the store, when none is named

    @property
    def call(self) -> str:
        """The function of that name in `tw.probes`."""
        trial = "" if self.round is None else ", trial=results.top(1)[0]"
        return f"tw.probes.{self.name}(workload{trial})"


@dataclass(frozen=True)
class ProbeLonger(
    Action,
    kind="probe_longer",
    command="probe longer {round}",
    call="tw.probes.longer(results, workload)",
    trains=True,
):
    """Resume the best trial of a round from its snapshot, and train it a little longer."""

    round: str


@dataclass(frozen=True)
class Note(
    Action,
    kind="note",
    command="note {round} {note}",
    call="tw.stores.note(results.store, {round!r}, {note!r})",
):
    """Write a note about a round."""

    round: str
    note: str = "..."  # what to write


@dataclass(frozen=True)
class Launch(
    Action,
    kind="launch",
    command="launch {round}",
    call="tw.launch(results, workload)",
    trains=True,
):
    """Decide whether the best of a round becomes the baseline."""

    round: str


@dataclass(frozen=True)
class Extend(
    Action,
    kind="extend",
    command="extend {round} [--max-train-steps {max_train_steps}]",
    call="tw.advice.extend(results, {max_train_steps})",
    trains=True,
):
    """Train the neighbourhood of the best for more steps."""

    round: str
    max_train_steps: int


@dataclass(frozen=True)
class SearchRange(Action, kind="search_range", call="{range.call}"):
    """Search one hyperparameter in another range; `next_round` makes the round of it."""

    column: str
    range: Any  # a range of `design`, which this leaf does not know; it has `to_data` and `call`


@dataclass(frozen=True)
class Declare(Action, kind="declare"):
    """Declare what the training program calls something, or which value switches it off."""

    name: str  # the meaning, or the hyperparameter that is switched off
    value: Any = None  # where it is known
    table: Literal["means", "off"] = "means"

    @property
    def call(self) -> str:
        """The workload with the declaration added; an ellipsis where the value is not known."""
        value = "..." if self.value is None else repr(self.value)
        declared = f"{{**(workload.{self.table} or {{}}), {self.name!r}: {value}}}"
        return f"dataclasses.replace(workload, {self.table}={declared})"


@dataclass(frozen=True)
class Advise(Action, kind="advise"):
    """Advice that no command carries out: the code of its sentence and the facts in it."""

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def text_for(self, reader: Reader) -> Text:
        """The advice."""
        return messages.action(self.code, self.facts, reader)


@dataclass(frozen=True)
class ReportRound(Action, kind="report", command="report {round}", call="tw.report(results)"):
    """Write the report of a round."""

    round: str


@dataclass(frozen=True)
class Export(
    Action, kind="export", command="export {round} {path}", call="results.export({path!r})"
):
    """Write every trial of a round to a table."""

    round: str
    path: str


def for_imported(actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions of a round that another tool trained: what needs its program is advice alone.

    >>> for_imported([Repeat("mine"), NextRound("mine", write=True)])
    (NextRound(round='mine', write=False, take=None), Advise(code='train_elsewhere', facts={}))
    """
    kept = [
        replace(action, write=False) if isinstance(action, NextRound) else action
        for action in actions
        if not action.trains
    ]
    if len(kept) < len(actions):
        kept.append(Advise("train_elsewhere"))
    return tuple(kept)
