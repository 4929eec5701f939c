"""Results: a round as recorded, judged by an objective that may be changed afterwards."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tunewright.actions import ShowRound
from tunewright.design.names import Meaning
from tunewright.design.objective import At, Objective, Relation
from tunewright.design.ranges import Value, same_value
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.stats.spread import identical
from tunewright.store.curves import Curve
from tunewright.store.judge import judge_trial
from tunewright.store.tables import Table, card, pandas_frame, polars_frame, write_export
from tunewright.store.trial import Status, Trial

if TYPE_CHECKING:
    import pandas
    import polars

    from tunewright.store.provenance import Provenance
_FEWEST_ALIKE = 3  # single values that are the same, where no curve has more


@dataclass(frozen=True, kw_only=True)
class Results:
    """A round, its studies, and its trials judged by the objective.

    Build one without a store by `Results.from_parts(round, objective, trials)`; the trials carry
    how their training ended and their curves, and are judged on reading.
    """

    round: Round  # as declared
    objective: Objective  # that judges the trials
    meaning: Meaning = field(default_factory=Meaning)  # which name is the learning rate, and so on
    recorded: tuple[Trial, ...] = field(default=(), repr=False)  # unjudged, by number
    recorded_repeats: tuple[Trial, ...] = field(default=(), repr=False)  # unjudged
    waiting: Sequence[Trial] = field(default=(), repr=False)  # declared and pending, no row yet
    search: str = ""  # which search suggested the trials
    store: str = ""  # where it was read from
    imported: bool = False  # recorded by another tool: no program of ours can train more
    supervised: bool = field(default=False, compare=False)  # a process ran it when it was read
    root: str = ""  # the folder of trials, to which every trial's folder is relative
    notes: tuple[str | Message, ...] = ()  # oldest first; text is the user's own
    # where trials and repeats come from, by their identity in the store
    origins: Mapping[int, Provenance] = field(default_factory=dict, repr=False, compare=False)
    earlier: tuple[Results, ...] = field(default=(), repr=False, compare=False)  # joined with these

    @classmethod
    def from_parts(
        cls,
        round: Round,
        objective: Objective,
        trials: Iterable[Trial],
        repeats: Iterable[Trial] = (),
        meaning: Meaning | None = None,
    ) -> Results:
        """Results of trials that were never in a store: imported, or made for a test."""
        return cls(
            round=round,
            objective=objective,
            meaning=meaning or Meaning(),
            recorded=tuple(sorted(trials, key=_number)),
            recorded_repeats=tuple(repeats),
        )

    @property
    def studies(self) -> tuple[Study, ...]:
        """One study per setting of the scientific hyperparameters."""
        return self.round.studies

    @cached_property
    def rows(self) -> tuple[Trial, ...]:
        """The trials that have a row in the store, by number: all but those that only wait."""
        return tuple(judge_trial(self.objective, trial) for trial in self.recorded)

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial by number, pending and running ones included, repeats not.

        A round may declare far more trials than it has run: `rows` leaves out those that wait
        without a row, and `size` counts all without making them.
        """
        return (
            tuple(sorted((*self.rows, *self.waiting), key=_number)) if self.waiting else self.rows
        )

    @property
    def size(self) -> int:
        """How many trials there are, in any status, repeats left out."""
        return len(self.recorded) + len(self.waiting)

    @property
    def unfinished(self) -> int:
        """How many trials have not ended."""
        return len(self.waiting) + sum(not trial.ended for trial in self.rows)

    @cached_property
    def _ranked(self) -> tuple[Trial, ...]:
        """Completed trials, best first; of equal ones the lowest number."""
        completed = [t for t in self.rows if t.value is not None]
        sign = self.objective.sign
        return tuple(sorted(completed, key=lambda t: (-sign * (t.value or 0.0), t.number or 0)))

    @cached_property
    def _by_number(self) -> dict[int | None, Trial]:
        return {trial.number: trial for trial in self.rows}

    @cached_property
    def _by_study(self) -> dict[int, list[Trial]]:
        grouped: dict[int, list[Trial]] = {}
        for trial in self.rows:
            grouped.setdefault(trial.study, []).append(trial)
        return grouped

    @cached_property
    def _by_parent(self) -> dict[int | None, list[Trial]]:
        grouped: dict[int | None, list[Trial]] = {}
        for repeat in self.recorded_repeats:
            grouped.setdefault(repeat.parent, []).append(judge_trial(self.objective, repeat))
        return grouped

    def best(self, **scientific: Value) -> Trial:
        """The best completed trial, over all studies or under these scientific values."""
        allowed = {study.number for study in self._choose(scientific)}
        for trial in self._ranked:
            if trial.study in allowed:
                return trial
        raise NotFound(
            "trial.none_completed",
            round=self.round.name,
            setting=dict(scientific),
            counts=dict(self.counts),
        )

    def top(self, k: int | None = None) -> tuple[Trial, ...]:
        """The k best completed trials, best first; without `k` all of them."""
        return self._ranked[:k]

    def of(self, study: Study | int) -> tuple[Trial, ...]:
        """The trials of one study, by number."""
        rows = self.rows_of(study)
        number = study if isinstance(study, int) else study.number
        waiting = (trial for trial in self.waiting if trial.study == number)
        return tuple(sorted((*rows, *waiting), key=_number)) if self.waiting else rows

    def rows_of(self, study: Study | int) -> tuple[Trial, ...]:
        """The trials of one study that have a row in the store, by number."""
        number = study if isinstance(study, int) else study.number
        if not 0 <= number < len(self.studies):
            raise NotFound(
                "study.no_such_number",
                round=self.round.name,
                study=number,
                last=len(self.studies) - 1,
                remedy=ShowRound(self.round.name),
            )
        return tuple(self._by_study.get(number, ()))

    def trial(self, number: int) -> Trial:
        """The trial of this number."""
        match = self._by_number.get(number)
        if match is None and self.waiting:
            place = bisect_left(self.waiting, number, key=_number)
            match = self.waiting[place] if place < len(self.waiting) else None
        if match is None or match.number != number:
            known = (*self.rows, *self.waiting[:1], *self.waiting[-1:])
            numbers = [each.number for each in known if each.number is not None]
            raise NotFound(
                "trial.not_found",
                round=self.round.name,
                trial=number,
                first=min(numbers, default=None),
                last=max(numbers, default=None),
                remedy=ShowRound(self.round.name),
            )
        return match

    def repeats(self, trial: Trial | int) -> tuple[Trial, ...]:
        """The repeats of a trial, in the order they were asked for."""
        number = trial if isinstance(trial, int) else trial.number
        return tuple(self._by_parent.get(number, ()))

    def curves(self, trial: Trial | int, metric: str) -> Curve:
        """One metric of one trial."""
        chosen = self.trial(trial) if isinstance(trial, int) else trial
        curve = chosen.curves.only(metric)
        if curve is None:
            logged = list(chosen.curves)
            raise NotFound(
                "metric.not_found",
                trial=chosen.number,
                metric=metric,
                near=nearest(metric, logged),
                logged=logged,
            )
        return curve

    @cached_property
    def counts(self) -> Mapping[Status, int]:
        """How many trials have each status; statuses without any are left out."""
        return _count(self.rows, len(self.waiting))

    def counts_of(self, study: Study | int) -> Mapping[Status, int]:
        """How many trials of one study have each status; as many of every study still wait."""
        return _count(self.rows_of(study), len(self.waiting) // len(self.studies))

    @property
    def infeasible_fraction(self) -> float:
        """The share of infeasible trials among those that completed or were infeasible."""
        infeasible = self.counts.get("infeasible", 0)
        judged = infeasible + self.counts.get("completed", 0)
        return infeasible / judged if judged else 0.0

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Every metric any trial logged, each once."""
        return tuple(dict.fromkeys(name for trial in self.recorded for name in trial.curves))

    def with_objective(
        self,
        objective: Objective | str,
        *,
        minimize: bool | None = None,
        at: At = "best",
        subject_to: Mapping[str, tuple[Relation, float]] | None = None,
    ) -> Results:
        """The same trials judged by another objective: one of `minimize()`, or a metric's name.

        A name alone keeps the direction of the present objective.
        """
        if isinstance(objective, str):
            down = self.objective.minimize if minimize is None else minimize
            objective = Objective(objective, down, at, subject_to or {})
        return replace(self, objective=objective)

    def to_polars(self, table: Table = "trials") -> polars.DataFrame:
        """A polars frame with one row per trial, or per logged point (`"curves"`)."""
        return polars_frame(self, table)

    def to_pandas(self, table: Table = "trials") -> pandas.DataFrame:
        """A pandas frame with one row per trial, or per logged point (`"curves"`)."""
        return pandas_frame(self, table)

    def export(self, path: str | Path, table: Table = "trials") -> Path:
        """Write a .csv, .parquet or .json file with one row per trial, or per logged point."""
        return write_export(self, Path(path), table)

    def __repr__(self) -> str:
        """The name and the counts, on one line."""
        facts = {"counts": dict(self.counts), "trials": self.size}
        return f"<Results of {self.round.name!r}, {Message('card.results', facts)}>"

    def _repr_html_(self) -> str:
        """The verdict card a notebook shows."""
        return card(self)

    def _choose(self, scientific: Mapping[str, Value]) -> list[Study]:
        """The studies of these scientific values; refuses a name or value the round has not."""
        names = list(dict.fromkeys(name for study in self.studies for name in study.scientific))
        for name in scientific:
            if name not in names:
                raise NotFound(
                    "study.not_a_scientific_list",
                    round=self.round.name,
                    name=name,
                    near=nearest(name, names),
                    known=names,
                    remedy=ShowRound(self.round.name),
                )
        chosen = [s for s in self.studies if _matches(s, scientific)]
        if not chosen:
            raise NotFound(
                "study.not_found",
                round=self.round.name,
                setting=dict(scientific),
                studies=[study.label for study in self.studies],
                remedy=ShowRound(self.round.name),
            )
        return chosen


def _count(trials: Iterable[Trial], waiting: int) -> dict[Status, int]:
    counts: dict[Status, int] = {}
    for trial in trials:
        counts[trial.status] = counts.get(trial.status, 0) + 1
    if waiting:
        counts["pending"] = counts.get("pending", 0) + waiting
    return counts


def _number(trial: Trial) -> int:
    return -1 if trial.number is None else trial.number


def _matches(study: Study, scientific: Mapping[str, Value]) -> bool:
    return all(same_value(study.scientific[name], value) for name, value in scientific.items())


@dataclass(frozen=True)
class Repeats:
    """A trial and its repeats, in the order they were asked for; the trial is not one of them."""

    of: Trial
    trials: tuple[Trial, ...]
    results: Results = field(repr=False)  # the round they belong to

    @property
    def objective(self) -> Objective:
        """What they are judged by."""
        return self.results.objective

    @property
    def values(self) -> tuple[float, ...]:
        """The objective of each repeat that completed."""
        return tuple(trial.value for trial in self.trials if trial.value is not None)

    @property
    def deterministic(self) -> bool:
        """Whether the program was declared to give the same value under every seed."""
        return self.results.meaning.deterministic

    @property
    def seedless(self) -> bool:
        """Whether all gave the same value, although nothing declares the program deterministic."""
        metric = self.objective.metric
        return not self.deterministic and _same_values(self.trials, metric, self.losses)

    @property
    def losses(self) -> tuple[str, ...]:
        """The metrics that are losses, by their meaning."""
        return tuple(self.results.meaning.name(loss) for loss in ("train_loss", "valid_loss"))

    @property
    def same_curves(self) -> bool | None:
        """Whether all logged the very same curves; None: too little was logged to know."""
        return same_curves(self.trials, self.objective.metric, self.losses)

    def with_objective(self, objective: Objective) -> Repeats:
        """The same runs under another objective."""
        if objective == self.objective:
            return self
        results = self.results.with_objective(objective)
        alike = {repeat.identity: repeat for repeat in results.repeats(self.of)}
        trials = tuple(alike.get(repeat.identity, repeat) for repeat in self.trials)
        return Repeats(results.trial(self.of.number or 0), trials, results)

    def __len__(self) -> int:
        """How many there are, whatever became of them."""
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        """One after the other."""
        return iter(self.trials)

    def __getitem__(self, at: int) -> Trial:
        """The one at this place."""
        return self.trials[at]


def same_curves(trials: Sequence[Trial], metric: str, losses: Collection[str] = ()) -> bool | None:
    """Whether runs logged the very same curve, but for rounding; None: one point is too little.

    A metric on a coarse grid, such as an accuracy of 50 examples, gives one value twice by chance.
    Losses are finer: runs whose losses differ are not the same, whatever the metric is.
    """
    if any(_same_curve(trials, loss) is False for loss in losses):
        return False
    return _same_curve(trials, metric)


def _same_curve(trials: Sequence[Trial], metric: str) -> bool | None:
    curves = [c for trial in trials if (c := trial.curves.only(metric)) is not None]
    if len(curves) < 2 or min(len(each) for each in curves) < 2:
        return None
    if len({len(each) for each in curves}) > 1:
        return False
    rows = np.array([each.values for each in curves], dtype=float)
    finite = np.isfinite(rows).all(axis=0)
    return all(identical(column) for column in rows[:, finite].T)


def _same_values(trials: Sequence[Trial], metric: str, losses: Collection[str]) -> bool:
    """Whether runs under different seeds gave one value, so that the seed cannot have been used."""
    valued = [trial for trial in trials if trial.value is not None]
    if not identical([trial.value or 0.0 for trial in valued]):
        return False
    curves = same_curves(valued, metric, losses)
    return len(valued) >= _FEWEST_ALIKE if curves is None else curves
