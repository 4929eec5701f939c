"""A proposal: what to do next, why, and the round or the actions that do it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tunewright.actions import Action, RunRound, RunTrials
from tunewright.design.conditions import Given, When, column_of
from tunewright.design.ranges import Choice, Range, Value, same_value
from tunewright.design.round import Round
from tunewright.design.round_file import as_data
from tunewright.design.study import budget
from tunewright.errors import DesignError
from tunewright.facts import plain
from tunewright.finding import Finding
from tunewright.messages import Message, markup, words
from tunewright.store.results import Results

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
_TRIALS = ("trials", "trials_before")  # facts of a reason
_MOST_GROWTH = 3.0  # times as many trials in one step, however much wider a space gets
Roles = dict[str, dict[str, Any]]  # role -> declarations


def most_trials(round: Round) -> int | None:
    """The configurations of its largest study; None where one of them has no limit.

    >>> from tunewright.design.ranges import integers, log
    >>> lists = {"act": ["relu", "gelu"], "layers": integers(1, 3)}
    >>> most_trials(Round("r", goal="?", nuisance=lists, trials_per_study=4))
    6
    >>> rate = {"learning_rate": log(1e-4, 1e-1)}
    >>> most_trials(Round("r", goal="?", nuisance=rate, trials_per_study=4)) is None
    True
    """
    counts = [study.configurations for study in round.studies]
    return None if None in counts else max(count for count in counts if count is not None)


def count_untried(results: Results) -> int | None:
    """The configurations that no trial has had, in the study with most of them; None: no limit."""
    most = 0
    for study in results.studies:
        count = study.configurations
        if count is None:
            return None
        names = [h.name for h in study.space]
        tried = {
            json.dumps([trial.configuration.get(name) for name in names], default=str)
            for trial in results.rows_of(study.number)
        }
        most = max(most, count - len(tried))
    return most


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
        return "\n".join(["<Proposals>", *(f"  {step!r}" for step in self)])

    def _repr_html_(self) -> str:
        """The most useful first."""
        title = Message("card.proposals").text
        return markup.cards(title, [step._repr_html_() for step in self])


def proposal(
    kind: Kind,
    code: str,
    findings: Sequence[Finding] = (),
    round: Round | None = None,
    actions: tuple[Action, ...] = (),
    search: str = DEFAULT_SEARCH,
    **facts: Any,
) -> Proposal:
    """A proposal whose first action runs its round; code, findings and facts make its reason."""
    if round is not None:
        actions = (RunRound(round.name, _search_argument(search)), *actions)
    return Proposal(
        kind=kind,
        reason=reason(code, findings, **facts),
        round=round,
        actions=actions,
        search=search,
        because=tuple(dict.fromkeys(finding.check for finding in findings)),
    )


def continuation(
    kind: Kind,
    code: str,
    findings: Sequence[Finding],
    round: Round,
    search: str = DEFAULT_SEARCH,
    **facts: Any,
) -> Proposal:
    """A proposal to continue the round that was run, with as many trials as it has now."""
    step = proposal(kind, code, findings, round, search=search, **facts)
    run = RunTrials(round.name, round.trials_per_study, _search_argument(search))
    return replace(step, actions=(run,))


def reason(code: str, findings: Sequence[Finding] = (), **facts: Any) -> Message:
    """Why a step is proposed: the facts of the first finding that asks for it, and what changes.

    >>> reason("proposal.no_trial_has_run").text
    'no trial has run'
    """
    first = findings[0] if findings else None
    finding_facts = {} if first is None else {"finding": _facts(first), "findings": len(findings)}
    return Message(code, {**finding_facts, **plain(facts)})


def warnings(findings: Sequence[Finding], *checks: str) -> list[Finding]:
    """The findings of these checks that warn."""
    return [f for f in findings if f.check in checks and f.verdict == "warn"]


def without_trials(reason: Message) -> Message:
    """The reason without the number of trials, for those who run another number of them."""
    left = {name: fact for name, fact in reason.facts.items() if name not in _TRIALS}
    return Message(reason.code, left)


def _facts(finding: Finding) -> dict[str, Any]:
    """What a sentence about a finding is made of."""
    data = finding.to_data()
    return {name: data[name] for name in ("check", "scope", "about", "verdict", "evidence")}


def _search_argument(search: str) -> str | None:
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
    settings = {"name": next_name(round.name), "change": change, "continues": round.name, **changes}
    return replace(round, **settings)


def under_name(step: Proposal, name: str) -> Proposal:
    """The proposal with its round, and what runs it, under another name."""
    if step.round is None:
        raise DesignError("proposal.has_no_round", kind=step.kind, name=name)
    actions = tuple(
        replace(action, round=name) if isinstance(action, RunRound | RunTrials) else action
        for action in step.actions
    )
    return replace(step, round=replace(step.round, name=name), actions=actions)


def as_dense(trials: int, times: float) -> int:
    """So many trials for a space that is wider: as dense as before, within reason.

    >>> as_dense(16, 4 / 3), as_dense(16, 10.0)
    (21, 48)
    """
    return round(trials * min(max(times, 1.0), _MOST_GROWTH))


def enough_for(round: Round) -> int:
    """As many trials per study as it has, or as what it searches needs by the playbook's ladder.

    Never more than there are configurations to train.
    """
    wanted = max(round.trials_per_study, *(budget(study).suggested for study in round.studies))
    most = most_trials(round)
    return wanted if most is None else max(1, min(wanted, most))


def with_ranges(
    declared: Mapping[str, Any], ranges: Mapping[str, Range], when: When = ()
) -> dict[str, Any]:
    """The declarations of a role with the ranges of these columns replaced.

    >>> from tunewright.design.conditions import given
    >>> from tunewright.design.ranges import log
    >>> role = {"optimizer": given({"adam": {"lr": log(0.1, 1)}, "sgd": {"lr": log(0.1, 1)}})}
    >>> wider = with_ranges(role, {"optimizer.sgd.lr": log(0.1, 10)})["optimizer"]
    >>> [str(children["lr"]) for _, children in wider.branches]
    ['log(0.1, 1)', 'log(0.1, 10)']
    """
    declarations: dict[str, Any] = {}
    for name, declaration in declared.items():
        column = column_of(name, when)
        if isinstance(declaration, Given):
            declarations[name] = Given(
                tuple(
                    (value, with_ranges(children, ranges, (*when, (column, value))))
                    for value, children in declaration.branches
                )
            )
        else:
            declarations[name] = ranges.get(column, declaration)
    return declarations


def ranges_by_column(round: Round) -> dict[str, Range]:
    """Every range that is searched, by column, in the order of the studies."""
    return {h.column: h.range for study in round.studies for h in study.space}


def names_of(round: Round) -> dict[str, str]:
    """What the training function calls each searched column."""
    return {h.column: h.name for study in round.studies for h in study.space}


def fixed_at(round: Round, values: Mapping[str, Value]) -> Roles:
    """The roles with these unconditional nuisance hyperparameters fixed at a value."""
    nuisance = {n: d for n, d in round.nuisance.items() if n not in values}
    return {"nuisance": nuisance, "fixed": {**round.fixed, **values}}


def at_setting(round: Round, setting: Mapping[str, Value]) -> Roles:
    """The roles with the scientific lists fixed at one setting, and what depends on it kept."""
    scientific = {n: d for n, d in round.scientific.items() if n not in setting}
    nuisance = _under(round.nuisance, setting)
    fixed = {**setting, **_under(round.fixed, setting)}
    return {"scientific": scientific, "nuisance": nuisance, "fixed": fixed}


def without_question(round: Round) -> Roles:
    """The roles with every scientific hyperparameter searched like the others."""
    lists = {n: d for n, d in round.scientific.items() if n not in round.nuisance}
    return {"scientific": {}, "nuisance": {**lists, **round.nuisance}, "fixed": {**round.fixed}}


def _under(declared: Mapping[str, Any], setting: Mapping[str, Value]) -> dict[str, Any]:
    """The declarations where a condition on the setting has become certain."""
    declarations: dict[str, Any] = {}
    for name, declaration in declared.items():
        if isinstance(declaration, Given) and name in setting:
            for value, children in declaration.branches:
                if same_value(value, setting[name]):
                    declarations |= _under(children, setting)
        else:
            declarations[name] = declaration
    return declarations


def longer_list(listed: tuple[Value, ...], side: str) -> Choice | None:
    """A list of numbers in order with one more at an end, by the step or ratio of its last two.

    >>> longer_list((1, 2, 3), "high").values, longer_list((64, 128), "low").values
    ((1, 2, 3, 4), (32, 64, 128))
    >>> longer_list((0.0, 0.1, 0.2), "high").values
    (0.0, 0.1, 0.2, 0.3)
    """
    declared = Choice(listed)
    if not declared.ordered or len(declared.values) < 2:
        return None
    numbers = [float(v) for v in declared.values]  # type: ignore[arg-type]
    rising = numbers[-1] > numbers[0]
    at_end = (side == "high") == rising
    last, before = (numbers[-1], numbers[-2]) if at_end else (numbers[0], numbers[1])
    wanted = _next_number(last, before, numbers)
    whole = all(isinstance(v, int) for v in declared.values)
    value: Value = round(wanted) if whole else float(f"{wanted:.6g}")
    if any(same_value(value, v) for v in declared.values):
        return None
    values = (*declared.values, value) if at_end else (value, *declared.values)
    longer = Choice(values)
    return longer if longer.ordered else None


def _next_number(last: float, before: float, numbers: list[float]) -> float:
    ratios = [b / a for a, b in itertools.pairwise(numbers) if a]
    steps = [b - a for a, b in itertools.pairwise(numbers)]
    even = max(steps) - min(steps) <= 1e-9 * max(map(abs, steps))
    geometric = (
        len(ratios) == len(steps)
        and min(ratios) > 0
        and max(ratios) - min(ratios) <= 1e-6 * max(ratios)
    )
    if geometric and (not even or len(numbers) == 2):
        return last * last / before
    return last + (last - before)
