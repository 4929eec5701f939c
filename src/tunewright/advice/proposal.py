"""A proposal: what to do next, why, and the round or the commands that do it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

from tunewright.design.budget import budget
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.finding import Finding

Kind = Literal[
    "finish",  # run what is left
    "repair",  # instability or a bug comes before tuning
    "widen",  # the best lies at an end of a range
    "narrow",  # around the best, or away from where trials diverge
    "regularise",  # the best overfit
    "longer",  # the best were still improving
    "shorter",  # the best had settled by half of training
    "compare_again",  # the settings were not tuned alike
    "more_trials",  # the study is too small for what it wants to see
    "fix",  # what does not matter need not be searched
    "repeat",  # luck has to be known first
    "exploit",  # exploration is done: Bayesian search around the best
    "stop",  # more tuning gains less than what matters
]
MOST_GROWTH = 3.0  # times as many trials in one step, however much wider a space gets


@dataclass(frozen=True)
class Proposal:
    """One way on, the reason for it, and how to go it.

    `round` can be run as it is. Under the name of the results' own round it continues that one
    with more trials; otherwise it has a name of its own and, by `continues`, the old trials that
    fit count too. Where it is None, `commands` say what to do.
    """

    kind: Kind
    reason: str  # one sentence with the numbers
    round: Round | None = None
    commands: tuple[str, ...] = ()  # in order; the first one runs the round, if there is one
    search: str = "halton"  # which search the round is meant for
    because: tuple[str, ...] = ()  # the checks whose findings ask for it

    def __str__(self) -> str:
        """The kind and the reason on one line."""
        return f"{self.kind:13}  {self.reason}"


def proposal(
    kind: Kind,
    reason: str,
    findings: Collection[Finding] = (),
    round: Round | None = None,
    commands: tuple[str, ...] = (),
    search: str = "halton",
) -> Proposal:
    """A proposal whose first command runs its round."""
    if round is not None:
        option = "" if search == "halton" else f" --search {search}"
        commands = (f"tunewright run {shlex.quote(round.name)}{option}", *commands)
    because = tuple(dict.fromkeys(finding.check for finding in findings))
    return Proposal(kind, reason, round, commands, search, because)


def continued(
    kind: Kind, reason: str, findings: Collection[Finding], round: Round, search: str = "halton"
) -> Proposal:
    """A proposal to go on with the round that was run, with as many trials as it has now."""
    made = proposal(kind, reason, findings, round, search=search)
    trials = f"{made.commands[0]} --trials {round.trials_per_study}"
    return replace(made, commands=(trials,))


def next_name(name: str, taken: Collection[str] = ()) -> str:
    """The name of the round after this one that is not taken yet.

    >>> next_name("depth"), next_name("depth_2"), next_name("depth", taken={"depth_2"})
    ('depth_2', 'depth_3', 'depth_3')
    """
    counted = re.fullmatch(r"(.+)_(\d{1,6})", name)
    stem, number = (counted[1], int(counted[2])) if counted else (name, 1)
    while True:
        number += 1
        if f"{stem}_{number}" not in taken:
            return f"{stem}_{number}"


def successor(round: Round, what: str, **changes: Any) -> Round:
    """The round that follows: a name of its own, the same question, old trials counting.

    The seed stays, because the data split goes by it: trials on other splits do not compare.
    """
    goal = round.goal.partition(" [")[0]
    settings = {
        "name": next_name(round.name),
        "goal": f"{goal} [{what}]",
        "continues": round.name,
        **changes,
    }
    return replace(round, **settings)


def renamed(made: Proposal, name: str) -> Proposal:
    """The proposal with its round, and what runs it, under another name."""
    if made.round is None:
        raise DesignError(f"the proposal {made.kind!r} has no round that could be called {name!r}.")
    old, new = shlex.quote(made.round.name), shlex.quote(name)
    first = made.commands[0].replace(f"tunewright run {old}", f"tunewright run {new}", 1)
    return replace(made, round=replace(made.round, name=name), commands=(first, *made.commands[1:]))


def grown(trials: int, times: float) -> int:
    """So many trials for a space that is wider: as dense as before, within reason.

    >>> grown(16, 4 / 3), grown(16, 10.0)
    (21, 48)
    """
    return round(trials * min(max(times, 1.0), MOST_GROWTH))


def enough_for(round: Round) -> int:
    """As many trials per study as it has, or as what it searches needs by the playbook's ladder."""
    return max(round.trials_per_study, *(budget(study).suggested for study in round.studies))
