"""Old trials still count: results together with the trials of earlier rounds that fit its space.

A trial of an earlier round fits if the later round could have run it: its scientific setting is one
of the later studies', its values lie in the ranges, and everything fixed has the same value, so
max_train_steps too. What was widened keeps all trials, what was narrowed those inside.

Each round is spread evenly over its own space, so where both searched, the joined trials are
denser than elsewhere. That leaves questions about positions untouched (ends of ranges, regions,
what decides, which setting is better: all compare trials given where they lie) and makes shares
and averages lean towards the old space, which a note reports with the factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tunewright.design.conditions import holds
from tunewright.design.ranges import Value, same_value
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

_MOST_ROUNDS = 100  # followed backwards
_SLIGHT = 1.05  # times as dense: not worth a note


def joined(results: Results, *earlier: Results) -> Results:
    """The results with those completed and infeasible trials of earlier rounds that fit them.

    They are judged by these results' objective. They take numbers after the round's own, the same
    index in every study where they had one point, and `trial.origin` has where they were run.
    """
    together = results
    for other in earlier:
        if not isinstance(other, Results):
            raise DesignError("joined.not_results", other=other)
        together = _join(together, other)
    return replace(together, earlier=(*results.earlier, *earlier)) if earlier else together


def with_earlier(store: Store, name: str) -> Results:
    """A round's results joined with those of the rounds it continues, as far back as they go."""
    results = store.results(name)
    return joined(results, *earlier_rounds(store, results.round))


def alone(results: Results) -> Results:
    """The round's own trials and repeats, without those of the earlier rounds joined to them."""
    if not results.earlier:
        return results
    joined_numbers = {t.number for t in results.recorded if t.origin is not None}
    return replace(
        results,
        recorded=tuple(t for t in results.recorded if t.origin is None),
        recorded_repeats=tuple(
            r for r in results.recorded_repeats if r.parent not in joined_numbers
        ),
        earlier=(),
    )


def earlier_rounds(store: Store, round: Round) -> list[Results]:
    """The rounds a round continues, the newest first; one that this store lacks ends the line."""
    names, rounds = [round.name], []
    while round.continues and round.continues not in names and len(names) < _MOST_ROUNDS:
        try:
            rounds.append(store.results(round.continues))
        except NotFound:
            break
        names.append(round.continues)
        round = rounds[-1].round
    return rounds


def fitting(study: Study, configuration: Mapping[str, Value]) -> dict[str, float] | None:
    """The position of a configuration in a study's space; None if the study could not run it."""
    try:
        unit = study.unit(configuration)
    except DesignError:
        return None
    settings: dict[str, Value] = dict(study.scientific)
    names = set(study.scientific)
    for h in study.space:
        if h.column in unit:
            settings[h.column] = configuration[h.name]
            names.add(h.name)
    for f in study.fixed:
        if holds(f.when, settings):
            if f.name not in configuration or not same_value(configuration[f.name], f.value):
                return None
            names.add(f.name)
    return unit if names == set(configuration) else None


def overlap(old: Study, new: Study) -> float:
    """The share of the new study's space that the old one covers; 0 if they do not compare.

    >>> from tunewright.design.round import Round
    >>> from tunewright.design.ranges import log
    >>> one, two = (
    ...     Round("r", goal="?", nuisance={"lr": log(1e-4, top)}, trials_per_study=4)
    ...     for top in (1e-1, 1.0)
    ... )
    >>> round(overlap(one.studies[0], two.studies[0]), 3)
    0.75
    """
    mine = {h.column: h.range for h in old.space}
    share = 1.0
    for h in new.space:
        if h.column in mine:
            share *= h.range.covered(mine[h.column])
    return share


def _counts(results: Results, trial: Trial) -> bool:
    """Whether something was learned from it: a trial stopped early is known to be no better."""
    known = trial.bound_of(results.objective.metric) is not None
    return trial.status in ("completed", "infeasible") or known


def _join(results: Results, other: Results) -> Results:
    places = {t.origin or (results.round.name, t.number) for t in results.recorded}
    fits = [
        (study, replace(trial, unit=unit))
        for trial in other.recorded
        if _counts(results, trial)
        and (trial.origin or (other.round.name, trial.number)) not in places
        for study in results.studies
        if (unit := fitting(study, trial.configuration)) is not None
    ]
    if not fits:
        return results
    same_store = results.store == other.store and results.root == other.root
    known = (*results.recorded, *results.waiting[-1:])
    start = 1 + max((t.index for t in known if t.index is not None), default=-1)
    start = max([start, *(_at_least(t.number, len(results.studies)) for t in known)])
    placed = dict(_place(fits, start))
    trials, renumbered = [], {}
    for place, (study, trial) in enumerate(fits):
        index = placed[place]
        number = study.trial_number(index)
        renumbered[trial.number] = (study, number)
        trials.append(
            replace(
                trial,
                number=number,
                study=study.number,
                index=index,
                identity=trial.identity if same_store else 0,
                search=trial.search or other.search,
                origin=trial.origin or (other.round.name, trial.number or 0),
            )
        )
    repeats = [
        replace(
            repeat,
            parent=number,
            study=study.number,
            identity=repeat.identity if same_store else 0,
        )
        for repeat in other.recorded_repeats
        if repeat.parent in renumbered
        for study, number in [renumbered[repeat.parent]]
    ]
    return replace(
        results,
        recorded=tuple(sorted([*results.recorded, *trials], key=lambda t: t.number or 0)),
        recorded_repeats=(*results.recorded_repeats, *repeats),
        origins={**other.origins, **results.origins} if same_store else results.origins,
        notes=(*results.notes, _note(results, other, fits)),
    )


def _at_least(number: int | None, studies: int) -> int:
    """The first index whose numbers all lie beyond this one."""
    return 0 if number is None else number // studies + 1


def _place(fits: list[tuple[Study, Trial]], start: int) -> Iterator[tuple[int, int]]:
    """An index for each: points that studies shared go on being shared, unless two would meet."""
    wanted = [(study.number, trial.index) for study, trial in fits]
    shared = all(index is not None for _, index in wanted) and len(set(wanted)) == len(wanted)
    for place, (_, trial) in enumerate(fits):
        yield place, start + ((trial.index or 0) if shared else place)


def _note(results: Results, other: Results, fits: Iterable[tuple[Study, Trial]]) -> Message:
    counted = list(fits)
    ended = sum(_counts(results, t) for t in other.recorded)
    share = overlap(other.studies[counted[0][1].study], counted[0][0])
    ended_here = sum(t.ended for t in results.recorded)
    dense = 1 + len(counted) / (ended_here * share) if ended_here and 0 < share < 1 else 1.0
    facts = {
        "round": other.round.name,
        "trials": len(counted),
        "ended": ended,
        "times_as_dense": dense if dense > _SLIGHT else None,
        "seed_differs": results.round.seed != other.round.seed,
    }
    return Message("note.joined", facts)
