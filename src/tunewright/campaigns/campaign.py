"""A campaign: the whole loop on one search space, as the store has it.

Everything a campaign knows is in the store: its definition, its rounds and probes (they belong to
it by a foreign key), their repeats, the launch, the looks at the test set. What to do next is a
function of that alone, so it can be stopped anywhere and resumed by anybody.

The Bayesian search never suggests a configuration twice in one round, so that a round of more
trials than the space has configurations would wait for ever.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from tunewright.checks.trial_sd import seedless_trials
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value, same_value
from tunewright.design.round import Round
from tunewright.design.round_file import as_data, from_data
from tunewright.errors import NotFound
from tunewright.launches.lineage import Launched, Place, baseline, launches
from tunewright.messages import Message, Text, markup, words
from tunewright.store.campaigns import PROBE, ProbeRecord
from tunewright.store.launches import Evaluation
from tunewright.store.results import Repeats, Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

BATCH_SIZE, TRAIN_STEPS, REPAIR = "batch_size", "train_steps", "repair"

# in the order in which they are asked: how long to train depends on the batch size
SETTLING = (BATCH_SIZE, TRAIN_STEPS, REPAIR)
Answers = Sequence[Mapping[str, Any]]
_SAME_POINT = 0.01  # relative: values closer than this are one point
_BEGINNING = 16  # trials a budget of hours is taken for until some have ended
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Definition:
    """What a campaign was asked for."""

    name: str
    space: Round  # everything searched is nuisance; the rest is fixed
    trials: int | None
    hours: float | None
    default: Mapping[str, Value] | None = None  # the current default, if there is one
    incumbent: Place | None = None  # the launched baseline when it began
    incumbent_repeats: int = 0  # that it had then
    slots: int = 1  # trials at a time
    tests: bool = False  # whether a look at the test set is to end it
    # what probes could choose or fix -> why not, None if they can; without what was given
    able: Mapping[str, Message | None] = field(default_factory=dict)
    extend: float | None = None  # the best are trained so many times as long in the end
    extend_to: int | None = None  # ... or for so many steps
    deterministic: bool = False  # declared: the same value under every seed
    retrained: Place | None = None  # the launched baseline, where it trained for another length
    started: datetime | None = None


def keep_definition(store: Store, definition: Definition) -> int:
    """Write what a campaign was asked for; the key of the campaign."""
    place = definition.incumbent
    return store.add_campaign(
        definition.name,
        {
            "space": as_data(definition.space),
            "trials": definition.trials,
            "hours": definition.hours,
            "default": None if definition.default is None else dict(definition.default),
            "incumbent": None if place is None else asdict(place),
            "incumbent_repeats": definition.incumbent_repeats,
            "slots": definition.slots,
            "tests": definition.tests,
            "able": {n: why and why.to_data() for n, why in definition.able.items()},
            "extend": definition.extend,
            "extend_to": definition.extend_to,
            "deterministic": definition.deterministic,
            "retrained": None if definition.retrained is None else asdict(definition.retrained),
        },
    )


def read_definition(store: Store, name: str) -> Definition | None:
    """What a campaign was asked for last, with when it began; None: no such one."""
    record = store.campaign(name)
    if record is None:
        return None
    fields = record.definition
    place, retrained = fields["incumbent"], fields.get("retrained")
    return Definition(
        name=name,
        space=from_data(fields["space"]),
        trials=fields["trials"],
        hours=fields["hours"],
        default=fields["default"],
        incumbent=None if place is None else Place(**place),
        incumbent_repeats=fields["incumbent_repeats"],
        slots=fields["slots"],
        tests=fields["tests"],
        able={what: _message(why) for what, why in fields.get("able", {}).items()},
        extend=fields.get("extend"),
        extend_to=fields.get("extend_to"),
        deterministic=fields.get("deterministic", False),
        retrained=None if retrained is None else Place(**retrained),
        started=record.created,
    )


def _message(data: Mapping[str, Any] | None) -> Message | None:
    if data is None:
        return None
    return Message(data["code"], {name: fact for name, fact in data.items() if name != "code"})


def configurations(round: Round) -> float:
    """How many different configurations each study of a round has; infinite with a range."""
    counts = [study.configurations for study in round.studies]
    return min(math.inf if count is None else count for count in counts)


def count_untried(round: Round, searched: Sequence[Results]) -> float:
    """How many configurations of a round no trial of the search has tried."""
    names = round.nuisance.keys()
    tried = {
        repr(sorted((n, v) for n, v in trial.configuration.items() if n in names))
        for results in searched
        for trial in results.rows
        if trial.configuration
    }
    return configurations(round) - len(tried)


def without_suggestion(results: Results) -> int:
    """How many trials of a round wait for a suggestion that cannot come."""
    waiting = len(results.waiting)
    waiting += sum(not trial.ended and not trial.configuration for trial in results.rows)
    if results.search != "bayesian" or not waiting:
        return 0
    given = sum(bool(trial.configuration) for trial in results.rows)
    return waiting if given >= configurations(results.round) else 0


def answer(answers: Answers, probe: str) -> Mapping[str, Any] | None:
    """The newest answer of a probe; None before there is one."""
    return next((a for a in reversed(answers) if a.get("probe") == probe), None)


def message_of(probe_answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """An answer as a message's data; a store of version 1 has its text. None for single rows."""
    if "message" in probe_answer:
        return dict(probe_answer["message"])
    return {"code": "legacy", "text": probe_answer["says"]} if probe_answer.get("says") else None


def values_by_probes(answers: Answers) -> dict[str, Value]:
    """Every value that a probe chose.

    >>> size = {"probe": "batch_size", "settings": {"batch_size": 256}}
    >>> values_by_probes([size, {"probe": "clip"}])
    {'batch_size': 256}
    """
    values: dict[str, Value] = {}
    for probe in SETTLING:
        values |= dict((answer(answers, probe) or {}).get("settings") or {})
    return values


def verdict(campaign: Campaign) -> Message:
    """The answer as a code with its facts; its sentence is a headline.

    A candidate that does not beat the baseline is never announced: the answer is the baseline.
    """
    winner, decided = campaign.winner, campaign.launched
    if winner is None:
        return Message("campaign.verdict.nothing")
    facts: dict[str, Any] = {"candidate": str(winner.place)}
    if decided is None or decided.candidate != winner.place:
        return Message("campaign.verdict.open", facts)
    if decided.baseline is None:
        return Message("campaign.verdict.first", facts)
    facts = {**facts, "baseline": str(decided.baseline)}
    return Message(f"campaign.verdict.{decided.verdict}", facts)


@dataclass(frozen=True)
class LoggedStep:
    """One line of the campaign's log."""

    number: int  # from 1
    kind: str
    reason: Message
    round: str  # empty when it is about none, or about one that has not begun
    written: datetime


@dataclass(frozen=True)
class Contender:
    """A trial of one of the campaign's rounds."""

    results: Results = field(repr=False)
    trial: Trial

    @property
    def repeats(self) -> Repeats:
        """It trained again under fresh seeds."""
        return Repeats(self.trial, self.results.repeats(self.trial), self.results)

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place.of(self.results, self.trial)

    @property
    def known_value(self) -> float | None:
        """The mean of its repeats, which were not picked for their value; None without any."""
        values = self.repeats.values
        return statistics.fmean(values) if values else None

    @property
    def reliable(self) -> bool:
        """Whether every repeat that ended completed."""
        return all(repeat.status == "completed" for repeat in self.repeats if repeat.ended)


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A campaign as recorded."""

    definition: Definition  # what `tw.tune` was asked for
    rounds: tuple[Results, ...] = ()  # in the order they began
    kinds: tuple[str, ...] = ()  # what each of them is for: explore, exploit ...
    incumbent: Contender | None = None  # the baseline launched before it, now
    launched: Launched | None = None  # its own decision
    looks: tuple[Evaluation, ...] = ()  # at the test set
    probes: tuple[Mapping[str, Any], ...] = ()  # answers that it asked for
    probe_trials: int = 0  # that they took
    probe_seconds: float = 0.0  # of one slot
    log: tuple[LoggedStep, ...] = ()  # the steps it took, in order

    @property
    def name(self) -> str:
        """What it is called."""
        return self.definition.name

    def __repr__(self) -> str:
        """The name and what it has spent, on one line."""
        return words.one_line(f"<Campaign {self._used}: {self.headline}>")

    def _repr_html_(self) -> str:
        """A card for a notebook: what came of it, what it chose, its steps with their reasons."""
        best = dict(self.best or {})
        names = ("step", "what", "why", "round")
        columns = tuple(Message(f"card.label.{name}").text for name in names)
        rows = tuple((step.number, step.kind, str(step.reason), step.round) for step in self.log)
        table = markup.Table(columns, rows)
        lines = [str(self.space.goal), self._used]
        return markup.card(self.headline, lines, facts=best, table=table)

    @property
    def _used(self) -> str:
        facts = {"name": self.name, "spent": self.spent, "total": self.total}
        return Message("card.campaign", {**facts, "rounds": len(self.rounds)}).text

    @property
    def space(self) -> Round:
        """What is searched, with what its probes have chosen."""
        space = self.definition.space
        known = {n: v for n, v in values_by_probes(self.probes).items() if n not in space.nuisance}
        return replace(space, fixed={**space.fixed, **known}) if known else space

    @property
    def objective(self) -> Objective | None:
        """What it is judged by; None before its first round."""
        return self.rounds[-1].objective if self.rounds else None

    @property
    def searched(self) -> tuple[Results, ...]:
        """Its rounds without that of the current default."""
        return tuple(r for r in self.rounds if self.kind_of(r) != "baseline")

    def kind_of(self, results: Results) -> str:
        """What one of its rounds is for."""
        kinds = {r.round.name: kind for r, kind in zip(self.rounds, self.kinds, strict=True)}
        return kinds.get(results.round.name, "")

    def of_kind(self, *kinds: str) -> tuple[Results, ...]:
        """Its rounds for one of these purposes."""
        pairs = zip(self.rounds, self.kinds, strict=True)
        return tuple(results for results, kind in pairs if kind in kinds)

    @property
    def spent(self) -> int:
        """Trials it has used or laid out, repeats and probes included."""
        trials = sum(r.size + len(r.recorded_repeats) - without_suggestion(r) for r in self.rounds)
        more = 0
        if self.incumbent is not None:
            now = len(self.incumbent.repeats)
            more = max(0, now - self.definition.incumbent_repeats)
        return trials + more + self.probe_trials

    @property
    def total(self) -> int:
        """Trials it may use in all: as asked for, or as many as the hours have room for."""
        definition = self.definition
        if definition.hours is None:
            return definition.trials or 0
        seconds = [t.seconds for t in self.all_trials() if t.ended and t.seconds > 0]
        if not seconds:
            return min(definition.trials or _BEGINNING, _BEGINNING)
        used = sum(seconds) + self.probe_seconds
        room = definition.hours * _SECONDS_PER_HOUR * definition.slots - used
        fits = len(seconds) + max(0, int(room / statistics.fmean(seconds)))
        return fits if definition.trials is None else min(definition.trials, fits)

    @property
    def left(self) -> int:
        """Trials that are still free."""
        return max(0, self.total - self.spent)

    def all_trials(self) -> Iterator[Trial]:
        """Every trial and repeat of its rounds that has a row."""
        for results in self.rounds:
            yield from results.rows
            yield from results.recorded_repeats

    @property
    def extended(self) -> tuple[Results, ...]:
        """Its rounds of full length, where the best were trained longer in the end."""
        return self.of_kind("extend")

    def ranked(self) -> list[Contender]:
        """Completed trials of the search, best first, each configuration once.

        Once some were trained at full length only those count: short trainings do not compare.
        """
        return _rank([r for r in self.extended if r.top(1)]) or self.ranked_short()

    def ranked_short(self) -> list[Contender]:
        """The same without those of full length."""
        return _rank([r for r in self.searched if self.kind_of(r) != "extend"])

    def repeated(self) -> list[Contender]:
        """Configurations of the search that were repeated, by the mean of their repeats.

        All are compared on as many as each has: more runs of one, for the launch, change nothing.
        """
        known = [c for c in self.ranked() if c.repeats.values]
        sign = 1.0 if self.objective is None else self.objective.sign
        count = _repeats_in_common(known)

        def rank(contender: Contender) -> tuple[bool, float]:
            values = contender.repeats.values[: count or None]
            return not contender.reliable, -sign * statistics.fmean(values)

        return sorted(known, key=rank)

    def finalists(self, count: int) -> list[Contender]:
        """The best of the search, no two at what is the same point for all purposes."""
        distinct: list[Contender] = []
        for contender in self.ranked():
            same = (_same_point(contender, other) for other in distinct)
            if len(distinct) < count and not any(same):
                distinct.append(contender)
        return distinct

    @property
    def winner(self) -> Contender | None:
        """The configuration it chose: the best by its repeats, else by its one trial.

        Once it was compared with the baseline it stays, whatever is trained after that.
        """
        decided = self.launched
        if decided is not None and decided.baseline is not None:
            for results in self.rounds:
                if results.round.name == decided.candidate.round:
                    return Contender(results, results.trial(decided.candidate.trial))
        return next(iter((*self.repeated(), *self.ranked())), None)

    @property
    def chose_by(self) -> int:
        """How many repeats of the winner chose it; they flatter it, and decide nothing more."""
        count = _repeats_in_common([c for c in self.ranked() if c.repeats.values])
        winner = self.winner
        if winner is None or not count:
            return 0
        valued = [at for at, repeat in enumerate(winner.repeats) if repeat.value is not None]
        return valued[min(count, len(valued)) - 1] + 1 if valued else 0

    @property
    def fresh(self) -> Repeats | None:
        """The repeats of the winner that had no part in choosing it."""
        winner = self.winner
        if winner is None:
            return None
        return Repeats(winner.trial, winner.repeats.trials[self.chose_by :], winner.results)

    @property
    def tested(self) -> tuple[Evaluation, ...]:
        """The looks at the test set that measured the winner itself."""
        winner = self.winner
        if winner is None:
            return ()
        identities = {trial.identity for trial in (winner.trial, *winner.repeats)}
        return tuple(look for look in self.looks if look.trial in identities)

    @property
    def seedless(self) -> tuple[Place, ...]:
        """Trials whose repeats are all the same, where nothing declares that to be right."""
        if self.definition.deterministic:
            return ()
        known = [*self.rounds, *([self.incumbent.results] if self.incumbent is not None else [])]
        return tuple(
            Place.of(results, results.trial(number))
            for results in known
            for number in seedless_trials(results)
        )

    @property
    def verdict(self) -> Message:
        """What came of it, as a code with facts: launch, keep, undecided, or not yet decided."""
        return verdict(self)

    @property
    def headline(self) -> Text:
        """What came of it, in at most twelve words."""
        return self.verdict.text

    def __str__(self) -> str:
        """Its name and what came of it, on one line."""
        return f"{self.name}: {self.headline}"

    @property
    def best(self) -> Mapping[str, Value] | None:
        """The configuration it chose; None while no trial has completed."""
        return None if self.winner is None else self.winner.trial.configuration

    @property
    def default(self) -> Contender | None:
        """The current default, where it was trained."""
        for results in self.of_kind("baseline"):
            for trial in results.top(1):
                return Contender(results, trial)
        return None

    @property
    def baseline(self) -> Contender | None:
        """What the winner is compared with: what was launched before, else the default."""
        return self.incumbent or self.default


def _repeats_in_common(known: Sequence[Contender]) -> int:
    """On how many repeats each configurations are compared; 0: there is nothing to choose among."""
    pool = [c for c in known if c.reliable] or list(known)
    return min(len(c.repeats.values) for c in pool) if len(pool) > 1 else 0


def _same_point(contender: Contender, other: Contender) -> bool:
    """Whether two configurations differ by less than any training could show."""
    first, second = contender.trial.configuration, other.trial.configuration
    return first.keys() == second.keys() and all(_close(v, second[n]) for n, v in first.items())


def _close(a: Value, b: Value) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= _SAME_POINT * max(abs(a), abs(b))
    return same_value(a, b)


def _rank(rounds: Sequence[Results]) -> list[Contender]:
    contenders = [Contender(r, trial) for r in rounds for trial in r.top()]
    if not contenders:
        return []
    sign = contenders[0].results.objective.sign
    contenders.sort(key=lambda c: -sign * (c.trial.value or 0.0))
    distinct: dict[str, Contender] = {}
    for contender in contenders:
        distinct.setdefault(repr(sorted(contender.trial.configuration.items())), contender)
    return list(distinct.values())


def read_campaign(store: Store, definition: Definition) -> Campaign:
    """A campaign as the store has it now."""
    record = store.campaign(definition.name)
    if record is None:
        return Campaign(definition=definition, incumbent=_incumbent(store, definition))
    belongs = store.campaign_rounds(record.id)
    purposes = {name: purpose for name, purpose in belongs if purpose != PROBE}
    rounds = tuple(store.results(name) for name in purposes)
    mine = [entry for entry in launches(store) if entry.candidate.round in purposes]
    identities = {t.identity for r in rounds for t in (*r.recorded, *r.recorded_repeats)}
    answers = store.probes(campaign=record.id)
    probed = [store.results(name) for name, purpose in belongs if purpose == PROBE]
    return Campaign(
        definition=definition,
        rounds=rounds,
        kinds=tuple(purposes.values()),
        incumbent=_incumbent(store, definition),
        launched=mine[-1] if mine else None,
        looks=tuple(e for e in store.evaluations() if e.look and e.trial in identities),
        probes=tuple({**entry.answer, "probe": entry.name} for entry in answers),
        probe_trials=sum(results.size for results in probed),
        probe_seconds=_probe_seconds(definition, probed, answers),
        log=tuple(
            LoggedStep(step.number, step.kind, step.reason, step.round, step.written)
            for step in store.campaign_steps(record.id)
        ),
    )


def _probe_seconds(
    definition: Definition, rounds: Sequence[Results], answers: Sequence[ProbeRecord]
) -> float:
    """What probes have cost of one slot; those that time steps have the machine to themselves."""
    if definition.hours is None:
        return 0.0
    trained = sum(t.seconds for results in rounds for t in results.rows)
    timed = sum(float(entry.answer.get("seconds") or 0.0) for entry in answers)
    return trained + definition.slots * timed


def _incumbent(store: Store, definition: Definition) -> Contender | None:
    if definition.incumbent is None:
        return None
    results = store.results(definition.incumbent.round)
    return Contender(results, results.trial(definition.incumbent.trial))


def standing_baseline(store: Store) -> tuple[Place, int] | None:
    """The launched baseline of a store, and how many repeats it has; None before any launch."""
    launched = baseline(store)
    if launched is None:
        return None
    results = store.results(launched.place.round)
    return launched.place, len(results.repeats(launched.place.trial))


def campaign(store: str | os.PathLike[str], name: str = "tune") -> Campaign:
    """A campaign as recorded: its rounds, its log, its choice; nothing is trained.

    `campaign.best` is the configuration it chose. `tw.tune` with the same space resumes it.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        name: the `name` that `tw.tune` was called with.
    """
    with Store.open(store, create=False) as opened:
        known = read_definition(opened, name)
        if known is None:
            others = ", ".join(other.name for other in opened.campaigns()) or "none"
            raise NotFound("campaign.not_found", name=name, url=opened.url, others=others)
        return read_campaign(opened, known)
