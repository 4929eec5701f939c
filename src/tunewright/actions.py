"""Actions: what to do next, as data. A shell shows a quoted command, Python shows a call.

Advice that no command carries out is an `Advise` with the code of its sentence.
"""

from __future__ import annotations

import dataclasses
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

    @property
    def argv(self) -> Argv:
        """The words of the command that does it, unquoted; empty where there is none."""
        return ()

    @property
    def command(self) -> str:
        """The command as a shell takes it: every argument quoted."""
        return shlex.join(self.argv)

    @property
    def call(self) -> str:
        """The call in Python, given `results` and `workload`; empty where there is none."""
        return ""

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


def command_about(
    *verb: str, round: str, then: Sequence[str] = (), options: Sequence[str] = ()
) -> Argv:
    """The words of a command about a round.

    A name that begins with a dash stands after `--`, where no option is read any more.

    >>> command_about("trial", round="--x", then=("7",))
    ('tunewright', 'trial', '--', '--x', '7')
    """
    about = (round, *then)
    if any(word.startswith("-") for word in about):
        return ("tunewright", *verb, *options, "--", *about)
    return ("tunewright", *verb, *about, *options)


@dataclass(frozen=True)
class RunTrials(Action):
    """Run the trials that are left, or more of them."""

    kind: ClassVar[str] = "run_trials"
    trains: ClassVar[bool] = True
    round: str
    trials_per_study: int | None = None
    search: str | None = None  # the one it began with, when none is named

    @property
    def argv(self) -> Argv:
        """`tunewright run ROUND`, with the new number of trials per study."""
        per_study, search = self.trials_per_study, self.search
        with_search = () if search is None else ("--search", search)
        more = () if per_study is None else ("--trials", str(per_study))
        return command_about("run", round=self.round, options=(*with_search, *more))

    @property
    def call(self) -> str:
        """`tw.run`, with the round changed where it grows."""
        changed = "results.round"
        if self.trials_per_study is not None:
            grown = f"trials_per_study={self.trials_per_study}"
            changed = f"dataclasses.replace(results.round, {grown})"
        return f"tw.run({changed}, workload{_searching(self.search)})"


@dataclass(frozen=True)
class RunRound(Action):
    """Run the round that a proposal makes."""

    kind: ClassVar[str] = "run_round"
    trains: ClassVar[bool] = True
    round: str  # its name
    search: str | None = None

    @property
    def argv(self) -> Argv:
        """`tunewright run ROUND`, once its file is written."""
        options = () if self.search is None else ("--search", self.search)
        return command_about("run", round=self.round, options=options)

    @property
    def call(self) -> str:
        """`tw.run`, given the `proposal`."""
        return f"tw.run(proposal.round, workload{_searching(self.search)})"


def _searching(search: str | None) -> str:
    return "" if search is None else f", tw.search.{search.capitalize()}()"


@dataclass(frozen=True)
class Repeat(Action):
    """Train a configuration again under new seeds."""

    kind: ClassVar[str] = "repeat"
    trains: ClassVar[bool] = True
    round: str
    times: int = 5
    trial: int | None = None  # the best one, when none is named

    @property
    def argv(self) -> Argv:
        """`tunewright repeat ROUND --times N`."""
        which = () if self.trial is None else ("--trial", str(self.trial))
        return command_about(
            "repeat", round=self.round, options=(*which, "--times", str(self.times))
        )

    @property
    def call(self) -> str:
        """`tw.repeat`."""
        which = "results.top(1)[0]" if self.trial is None else f"results.trial({self.trial})"
        return f"tw.repeat({which}, workload, times={self.times})"


@dataclass(frozen=True)
class TrainAgain(Action):
    """Train a trial anew under its own seed, and compare it with what was recorded."""

    kind: ClassVar[str] = "again"
    trains: ClassVar[bool] = True
    round: str
    number: int
    repeat: int | None = None  # of that trial, from 1
    anyway: bool = False  # although the program has changed

    @property
    def argv(self) -> Argv:
        """`tunewright again ROUND N`."""
        which = () if self.repeat is None else ("--repeat", str(self.repeat))
        anyway = ("--anyway",) if self.anyway else ()
        return command_about(
            "again", round=self.round, then=(str(self.number),), options=(*which, *anyway)
        )

    @property
    def call(self) -> str:
        """`tw.trials.again`."""
        which = f"results.trial({self.number})"
        if self.repeat is not None:
            which = f"results.repeats({self.number})[{self.repeat - 1}]"
        return f"tw.trials.again({which}, workload{', anyway=True' if self.anyway else ''})"


@dataclass(frozen=True)
class MeasureVariance(Action):
    """Train what it takes to know study or data variance."""

    kind: ClassVar[str] = "variance"
    trains: ClassVar[bool] = True
    round: str
    times: int | None = None  # repeats of the best trial
    studies: int | None = None  # whole searches
    splits: int | None = None  # data splits

    @property
    def argv(self) -> Argv:
        """`tunewright variance ROUND`, with what to train."""
        asked = (("times", self.times), ("studies", self.studies), ("splits", self.splits))
        options = [word for name, n in asked if n is not None for word in (f"--{name}", str(n))]
        return command_about("variance", round=self.round, options=options)

    @property
    def call(self) -> str:
        """`tw.launches.variance`."""
        asked = {"times": self.times, "studies": self.studies, "splits": self.splits}
        options = "".join(f", {name}={n}" for name, n in asked.items() if n is not None)
        return f"tw.launches.variance(results, workload{options})"


@dataclass(frozen=True)
class NextRound(Action):
    """Ask for proposals; `write` makes the round file of the first one."""

    kind: ClassVar[str] = "next_round"
    round: str
    write: bool = False
    take: int | None = None  # another proposal than the first one, counted from 1

    @property
    def argv(self) -> Argv:
        """`tunewright next ROUND`."""
        options = ("--write",) if self.write else ()
        if self.take is not None:
            options = (*options, "--take", str(self.take))
        return command_about("next", round=self.round, options=options)

    @property
    def call(self) -> str:
        """`tw.next_round`."""
        return "tw.next_round(results)"


@dataclass(frozen=True)
class CheckRound(Action):
    """Read the checklist of a round."""

    kind: ClassVar[str] = "check"
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright check ROUND`."""
        return command_about("check", round=self.round)

    @property
    def call(self) -> str:
        """`tw.check`."""
        return "tw.check(results)"


@dataclass(frozen=True)
class StopRound(Action):
    """Ask whoever runs a round to stop it."""

    kind: ClassVar[str] = "stop_round"
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright stop ROUND`."""
        return command_about("stop", round=self.round)

    @property
    def call(self) -> str:
        """`tw.stores.stop`."""
        return f"tw.stores.stop(results.store, {self.round!r})"


@dataclass(frozen=True)
class RemoveRound(Action):
    """Remove a round, so that it can be brought back."""

    kind: ClassVar[str] = "remove_round"
    round: str
    undo: bool = False  # bring it back

    @property
    def argv(self) -> Argv:
        """`tunewright rm ROUND`."""
        return command_about("rm", round=self.round, options=("--undo",) if self.undo else ())

    @property
    def call(self) -> str:
        """`tw.stores.remove`, or what undoes it."""
        if self.undo:
            return f"tw.stores.bring_back(results.store, {self.round!r})"
        return f"tw.stores.remove(results.store, {self.round!r})"


@dataclass(frozen=True)
class ShowRound(Action):
    """Look at a round: its best trials, and why others did not complete."""

    kind: ClassVar[str] = "show_round"
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright show ROUND`."""
        return command_about("show", round=self.round)

    @property
    def call(self) -> str:
        """The trials."""
        return "results.trials"


@dataclass(frozen=True)
class ShowTrial(Action):
    """Look at one trial: its configuration, curves, log and origin."""

    kind: ClassVar[str] = "show_trial"
    round: str
    number: int

    @property
    def argv(self) -> Argv:
        """`tunewright trial ROUND N`."""
        return command_about("trial", round=self.round, then=(str(self.number),))

    @property
    def call(self) -> str:
        """`results.trial`."""
        return f"results.trial({self.number})"


@dataclass(frozen=True)
class Probe(Action):
    """Look closer by a probe (`stability`, `warmup`, `clip`) from the best trial of a round."""

    kind: ClassVar[str] = "probe"
    trains: ClassVar[bool] = True
    name: str
    round: str | None = None  # the best trial of the store, when none is named

    @property
    def argv(self) -> Argv:
        """`tunewright probe NAME ROUND`."""
        if self.round is None:
            return ("tunewright", "probe", self.name)
        return command_about("probe", self.name, round=self.round)

    @property
    def call(self) -> str:
        """The function of that name in `tw.probes`."""
        trial = "" if self.round is None else ", trial=results.top(1)[0]"
        return f"tw.probes.{self.name}(workload{trial})"


@dataclass(frozen=True)
class ProbeLonger(Action):
    """Resume the best trial of a round from its snapshot, and train it a little longer."""

    kind: ClassVar[str] = "probe_longer"
    trains: ClassVar[bool] = True
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright probe longer ROUND`."""
        return command_about("probe", "longer", round=self.round)

    @property
    def call(self) -> str:
        """`tw.probes.longer`."""
        return "tw.probes.longer(results, workload)"


@dataclass(frozen=True)
class Note(Action):
    """Write a note about a round."""

    kind: ClassVar[str] = "note"
    round: str
    note: str = "..."  # what to write

    @property
    def argv(self) -> Argv:
        """`tunewright note ROUND TEXT`."""
        return command_about("note", round=self.round, then=(self.note,))

    @property
    def call(self) -> str:
        """`tw.stores.note`."""
        return f"tw.stores.note(results.store, {self.round!r}, {self.note!r})"


@dataclass(frozen=True)
class Launch(Action):
    """Decide whether the best of a round becomes the baseline."""

    kind: ClassVar[str] = "launch"
    trains: ClassVar[bool] = True
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright launch ROUND`."""
        return command_about("launch", round=self.round)

    @property
    def call(self) -> str:
        """`tw.launch`."""
        return "tw.launch(results, workload)"


@dataclass(frozen=True)
class Extend(Action):
    """Train the neighbourhood of the best for more steps."""

    kind: ClassVar[str] = "extend"
    trains: ClassVar[bool] = True
    round: str
    max_train_steps: int

    @property
    def argv(self) -> Argv:
        """`tunewright extend ROUND --max-train-steps N`."""
        options = ("--max-train-steps", str(self.max_train_steps))
        return command_about("extend", round=self.round, options=options)

    @property
    def call(self) -> str:
        """`tw.advice.extend`."""
        return f"tw.advice.extend(results, {self.max_train_steps})"


@dataclass(frozen=True)
class SearchRange(Action):
    """Search one hyperparameter in another range; `next_round` makes the round of it."""

    kind: ClassVar[str] = "search_range"
    column: str
    range: Any  # a range of `design`, which this leaf does not know; it has `to_data` and `call`

    @property
    def call(self) -> str:
        """The range, as Python writes it."""
        return str(self.range.call)


@dataclass(frozen=True)
class Declare(Action):
    """Declare what the training program calls something, or which value switches it off."""

    kind: ClassVar[str] = "declare"
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
class Advise(Action):
    """Advice that no command carries out: the code of its sentence and the facts in it."""

    kind: ClassVar[str] = "advise"
    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def text_for(self, reader: Reader) -> Text:
        """The advice."""
        return messages.action(self.code, self.facts, reader)


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


@dataclass(frozen=True)
class ReportRound(Action):
    """Write the report of a round."""

    kind: ClassVar[str] = "report"
    round: str

    @property
    def argv(self) -> Argv:
        """`tunewright report ROUND`."""
        return command_about("report", round=self.round)

    @property
    def call(self) -> str:
        """`tw.report`."""
        return "tw.report(results)"


@dataclass(frozen=True)
class Export(Action):
    """Write every trial of a round to a table."""

    kind: ClassVar[str] = "export"
    round: str
    path: str

    @property
    def argv(self) -> Argv:
        """`tunewright export ROUND FILE`."""
        return command_about("export", round=self.round, then=(self.path,))

    @property
    def call(self) -> str:
        """`results.export`."""
        return f"results.export({self.path!r})"
