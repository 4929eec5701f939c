"""A proposal: what to do next, why, and the round or the actions that do it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tunewright.actions import Action, RunRound, RunTrials
from tunewright.advice.finite import most_trials
from tunewright.design.budget import budget
from tunewright.design.round import Round
from tunewright.design.round_data import as_data
from tunewright.errors import DesignError
from tunewright.facts import plain
from tunewright.finding import Finding
from tunewright.messages import Message, markup, words

Kind = Literal[
    "finish",  # run what is left
    "repair",  # instability or a bug is fixed before tuning
    "widen",  # the best lies at an end of a range
    "narrow",  # around the best, or away from where trials diverge
    "regularise",  # the best overfit
    "longer",  # the best were still improving
    "shorter",  # the best had levelled off by half of training
    "compare_again",  # the settings were not tuned alike
    "more_trials",  # the study is too small for what it wants to see
    "fix",  # what does not matter need not be searched
    "repeat",  # the seed variance has to be known first
    "exploit",  # exploration is done: Bayesian search around the best
    "stop",  # more tuning gains less than what matters
]
DEFAULT_SEARCH = "halton"
TRIALS = ("trials", "trials_before")  # facts of a reason
MOST_GROWTH = 3.0  # times as many trials in one step, however much wider a space gets


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A suggested next step: why, and the round or the actions that carry it out.

    `round` can be run as it is. Under the name of the results' own round it continues that one
    with more trials; otherwise it has a new name and, by `continues`, the old trials that fit count
    too. Where it is None, `actions` are what to do.

    >>> import tunewright as tw
    >>> from tunewright.testing.surfaces import Bowl
    >>> from tunewright.testing.worlds import World, results
    >>> rates = tw.Round("rates", goal="?", nuisance={"lr": tw.log(1e-3, 1)}, trials_per_study=20)
    >>> tw.next_round(results(rates, World(Bowl({"lr": 1.0}))))[0].kind
    'widen'
    """

    kind: Kind  # what the step does: widen, narrow, more_trials ...
    reason: Message  # with the facts of the finding that asks for it
    round: Round | None = None
    actions: tuple[Action, ...] = ()  # in order; the first one runs the round, if there is one
    search: str = DEFAULT_SEARCH  # which search the round is meant for
    because: tuple[str, ...] = ()  # the checks whose findings ask for it

    @property
    def commands(self) -> tuple[str, ...]:
        """The actions as a shell takes them, every argument quoted."""
        return tuple(action.command for action in self.actions if action.argv)

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data, without words."""
        return {
            "kind": self.kind,
            "reason": plain(self.reason),
            "round": None if self.round is None else as_data(self.round),
            "actions": [action.to_data() for action in self.actions],
            "search": self.search,
            "because": list(self.because),
        }

    def __str__(self) -> str:
        """The kind and the reason on one line."""
        return f"{self.kind:13}  {self.reason}"

    def __repr__(self) -> str:
        """The kind, the reason, and the round if there is one."""
        round = "" if self.round is None else f", round {self.round.name!r}"
        return f"<{self.kind}: {words.one_line(str(self.reason))[:300]}{round}>"

    def _repr_html_(self) -> str:
        """A card for a notebook: why, and the calls that carry it out."""
        calls = [(action.call, action.text) for action in self.actions]
        return markup.card(self.kind, [self.reason], actions=calls)


class Proposals(tuple[Proposal, ...]):
    """Ranked proposals: a tuple that a notebook shows as a list of cards."""

    __slots__ = ()

    def __repr__(self) -> str:
        """One line for each."""
        return "\n".join(["<Proposals>", *(f"  {one!r}" for one in self)])

    def _repr_html_(self) -> str:
        """The most useful first."""
        title = Message("card.proposals").text
        return markup.cards(title, [one._repr_html_() for one in self])


def proposal(
    kind: Kind,
    reason: Message,
    findings: Collection[Finding] = (),
    round: Round | None = None,
    actions: tuple[Action, ...] = (),
    search: str = DEFAULT_SEARCH,
) -> Proposal:
    """A proposal whose first action runs its round."""
    if round is not None:
        actions = (RunRound(round.name, _named(search)), *actions)
    because = tuple(dict.fromkeys(finding.check for finding in findings))
    return Proposal(
        kind=kind, reason=reason, round=round, actions=actions, search=search, because=because
    )


def continued(
    kind: Kind,
    reason: Message,
    findings: Collection[Finding],
    round: Round,
    search: str = DEFAULT_SEARCH,
) -> Proposal:
    """A proposal to continue the round that was run, with as many trials as it has now."""
    made = proposal(kind, reason, findings, round, search=search)
    run = RunTrials(round.name, round.trials_per_study, _named(search))
    return replace(made, actions=(run,))


def reason(code: str, findings: Sequence[Finding] = (), **facts: Any) -> Message:
    """Why a step is proposed: the facts of the first finding that asks for it, and what changes.

    >>> reason("proposal.no_trial_has_run").text
    'no trial has run'
    """
    first = findings[0] if findings else None
    asked = {} if first is None else {"finding": _facts(first), "findings": len(findings)}
    return Message(code, {**asked, **plain(facts)})


def without_trials(reason: Message) -> Message:
    """The reason without the number of trials, for those who run another number of them."""
    left = {name: fact for name, fact in reason.facts.items() if name not in TRIALS}
    return Message(reason.code, left)


def _facts(finding: Finding) -> dict[str, Any]:
    """What a sentence about a finding is made of."""
    data = finding.to_data()
    return {name: data[name] for name in ("check", "scope", "about", "verdict", "evidence")}


def _named(search: str) -> str | None:
    """The search as a command names it; None for the one that needs no name."""
    return None if search == DEFAULT_SEARCH else search


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


def successor(round: Round, change: Message, **changes: Any) -> Round:
    """The round that follows: a new name, the same goal, what changes, old trials counting.

    The seed stays, because the data split goes by it: trials on other splits do not compare.
    """
    settings = {
        "name": next_name(round.name),
        "change": change,
        "continues": round.name,
        **changes,
    }
    return replace(round, **settings)


def renamed(made: Proposal, name: str) -> Proposal:
    """The proposal with its round, and what runs it, under another name."""
    if made.round is None:
        raise DesignError("proposal.has_no_round", kind=made.kind, name=name)
    actions = tuple(
        replace(action, round=name) if isinstance(action, RunRound | RunTrials) else action
        for action in made.actions
    )
    return replace(made, round=replace(made.round, name=name), actions=actions)


def grown(trials: int, times: float) -> int:
    """So many trials for a space that is wider: as dense as before, within reason.

    >>> grown(16, 4 / 3), grown(16, 10.0)
    (21, 48)
    """
    return round(trials * min(max(times, 1.0), MOST_GROWTH))


def enough_for(round: Round) -> int:
    """As many trials per study as it has, or as what it searches needs by the playbook's ladder.

    Never more than there are configurations to train.
    """
    wanted = max(round.trials_per_study, *(budget(study).suggested for study in round.studies))
    most = most_trials(round)
    return wanted if most is None else max(1, min(wanted, most))
