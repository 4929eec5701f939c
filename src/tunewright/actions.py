"""Actions: what to do next, as data. A shell shows a quoted command, Python shows a call.

Advice that no command carries out is an `Advise` with the code of its sentence.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tunewright import messages
from tunewright.messages import Reader, Text, declarations


@dataclass(frozen=True)
class Action:
    """Something worth doing: its facts, the command line and the call that do it.

    >>> RunTrials("my round; ls", trials_per_study=32).command
    "tunewright run 'my round; ls' --trials 32"
    >>> Repeat("depth").call
    'tw.repeat(results.top(1)[0], workload, times=5)'
    """

    kind: ClassVar[str] = ""

    @property
    def argv(self) -> tuple[str, ...]:
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
        return messages.action(self.kind, vars(self), reader)

    def code_for(self, reader: Reader) -> str:
        """What this reader types: the call, or the quoted command; empty where there is none."""
        return self.call if reader == "python" else self.command

    def to_data(self) -> dict[str, Any]:
        """Plain data: the kind, its facts, and the words of the command."""
        return {"kind": self.kind, **dataclasses.asdict(self), "argv": list(self.argv)}


@dataclass(frozen=True)
class RunTrials(Action):
    """Run the trials that are left, or more of them."""

    kind: ClassVar[str] = "run_trials"
    round: str
    trials_per_study: int | None = None

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright run ROUND`, with the new number of trials per study."""
        per_study = self.trials_per_study
        more = () if per_study is None else ("--trials", str(per_study))
        return ("tunewright", "run", self.round, *more)

    @property
    def call(self) -> str:
        """`tw.run`, with the round changed where it grows."""
        if self.trials_per_study is None:
            return "tw.run(results.round, workload)"
        changed = f"dataclasses.replace(results.round, trials_per_study={self.trials_per_study})"
        return f"tw.run({changed}, workload)"


@dataclass(frozen=True)
class Repeat(Action):
    """Train a configuration again under new seeds."""

    kind: ClassVar[str] = "repeat"
    round: str
    times: int = 5
    trial: int | None = None  # the best one, when none is named

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright repeat ROUND --times N`."""
        which = () if self.trial is None else ("--trial", str(self.trial))
        return ("tunewright", "repeat", self.round, *which, "--times", str(self.times))

    @property
    def call(self) -> str:
        """`tw.repeat`."""
        which = "results.top(1)[0]" if self.trial is None else f"results.trial({self.trial})"
        return f"tw.repeat({which}, workload, times={self.times})"


@dataclass(frozen=True)
class NextRound(Action):
    """Ask for proposals; `write` makes the round file of the first one."""

    kind: ClassVar[str] = "next_round"
    round: str
    write: bool = False

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright next ROUND`."""
        return ("tunewright", "next", self.round, *(("--write",) if self.write else ()))

    @property
    def call(self) -> str:
        """`tw.next_round`."""
        return "tw.next_round(results)"


@dataclass(frozen=True)
class Advise(Action):
    """Advice that no command carries out: the code of its sentence and the facts in it."""

    kind: ClassVar[str] = "advise"
    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def text_for(self, reader: Reader) -> Text:
        """The advice."""
        return messages.action(self.code, self.facts, reader)


@dataclass(frozen=True)
class ShowTrial(Action):
    """Look at one trial: its curves, its log, how it ended."""

    kind: ClassVar[str] = "show_trial"
    round: str
    number: int

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright trial ROUND N`."""
        return ("tunewright", "trial", self.round, str(self.number))

    @property
    def call(self) -> str:
        """The trial of the results."""
        return f"results.trial({self.number})"


@dataclass(frozen=True)
class ShowRound(Action):
    """Look at the whole round."""

    kind: ClassVar[str] = "show_round"
    round: str

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright show ROUND`."""
        return ("tunewright", "show", self.round)

    @property
    def call(self) -> str:
        """The results, which a notebook shows."""
        return "results"


@dataclass(frozen=True)
class Probe(Action):
    """Measure something with short runs, from the best trial of a round."""

    kind: ClassVar[str] = "probe"
    name: str
    round: str | None = None

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright probe NAME ROUND`."""
        return ("tunewright", "probe", self.name, *(() if self.round is None else (self.round,)))

    @property
    def call(self) -> str:
        """The probe's function, which takes its name with underscores."""
        trial = "" if self.round is None else ", trial=results.best()"
        return f"tw.probes.{self.name.replace('-', '_')}(workload{trial})"


@dataclass(frozen=True)
class Extend(Action):
    """Ask for a longer round around the best trial."""

    kind: ClassVar[str] = "extend"
    round: str
    max_train_steps: int

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright extend ROUND --max-train-steps N`."""
        steps = str(self.max_train_steps)
        return ("tunewright", "extend", self.round, "--max-train-steps", steps)

    @property
    def call(self) -> str:
        """`tw.extend`."""
        return f"tw.extend(results, max_train_steps={self.max_train_steps})"


@dataclass(frozen=True)
class CheckRound(Action):
    """Read the checklist of a round."""

    kind: ClassVar[str] = "check"
    round: str

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright check ROUND`."""
        return ("tunewright", "check", self.round)

    @property
    def call(self) -> str:
        """`tw.check`."""
        return "tw.check(results)"


@dataclass(frozen=True)
class ReportRound(Action):
    """Write the report of a round."""

    kind: ClassVar[str] = "report"
    round: str

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright report ROUND`."""
        return ("tunewright", "report", self.round)

    @property
    def call(self) -> str:
        """`tw.report`."""
        return "tw.report(results)"


@dataclass(frozen=True)
class Launch(Action):
    """Decide whether the best trial becomes the baseline."""

    kind: ClassVar[str] = "launch"
    round: str

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright launch ROUND`."""
        return ("tunewright", "launch", self.round)


@dataclass(frozen=True)
class Export(Action):
    """Write every trial of a round to a table."""

    kind: ClassVar[str] = "export"
    round: str
    path: str

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright export ROUND FILE`."""
        return ("tunewright", "export", self.round, self.path)

    @property
    def call(self) -> str:
        """`results.export`."""
        return f"results.export({self.path!r})"


@dataclass(frozen=True)
class Declare(Action):
    """Declare once what the training program calls something, or which value switches it off.

    >>> Declare("train_loss", "train/loss").call
    'Workload(..., means={"train_loss": "train/loss"})'
    """

    kind: ClassVar[str] = "declare"
    name: str  # the meaning, or the hyperparameter that is switched off
    value: Any = None  # where it is known
    table: Literal["means", "off"] = "means"

    @property
    def call(self) -> str:
        """The argument of `Workload`; at a shell it is a line of the project's file."""
        return declarations.as_argument(self.table, self.name, self.value)
