"""Actions: what to do next, as data. A shell shows a quoted command, Python shows a call.

Advice that no command carries out is an `Advise` with the code of its sentence.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tunewright import messages
from tunewright.messages import Text


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
        """What it does, in a few words."""
        return messages.action(self.kind, vars(self))

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
class MeasureVariance(Action):
    """Train what it takes to know study or data variance."""

    kind: ClassVar[str] = "variance"
    round: str
    times: int | None = None  # repeats of the best trial
    studies: int | None = None  # whole searches
    splits: int | None = None  # data splits

    @property
    def argv(self) -> tuple[str, ...]:
        """`tunewright variance ROUND`, with what to train."""
        asked = (("times", self.times), ("studies", self.studies), ("splits", self.splits))
        options = (word for name, n in asked if n is not None for word in (f"--{name}", str(n)))
        return ("tunewright", "variance", self.round, *options)

    @property
    def call(self) -> str:
        """`tw.variance`."""
        asked = {"times": self.times, "studies": self.studies, "splits": self.splits}
        options = "".join(f", {name}={n}" for name, n in asked.items() if n is not None)
        return f"tw.variance(results, workload{options})"


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

    @property
    def text(self) -> Text:
        """The advice."""
        return messages.action(self.code, self.facts)
