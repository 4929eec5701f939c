"""From a foreign record to results: a round, an objective, and trials that belong to its studies.

Every importer takes the same options (`Options`), so that whatever was guessed can be overruled in
the same words whichever tool the trials come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from tunewright.design.guards import is_seed
from tunewright.design.names import Meaning, guess_note, with_guesses
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value, same_value
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError, NotFound
from tunewright.importers.files import did_you_mean
from tunewright.importers.foreign import ForeignTrial, Source, plain_name, uncertain
from tunewright.importers.roles import Role, guess_roles
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.plain_json import LONGEST_TEXT, storable
from tunewright.store.results import Results
from tunewright.store.trial import Trial


class Options(TypedDict, total=False):
    """What a user can set in every importer, where its guess is wrong."""

    name: str  # of the round
    round: Round  # the whole round, in place of any guess
    roles: Mapping[str, Role]  # {"optimizer": "scientific", "host": "left_out"}
    ranges: Mapping[str, Any]  # {"learning_rate": log(1e-5, 1e-1)}
    means: Mapping[str, Any]  # as in Workload(means=)
    search: str  # "random" or "grid" when points were laid out beforehand, "tpe" and so on if not


def take_over(source: Source, objective: Objective, options: Options) -> Results:
    """The results of a foreign record, under the round given or a guessed one."""
    if not source.trials:
        raise NotFound("importers.no_ended_trial", origin=source.origin)
    trials = _with_numbers(source.trials)
    meaning, taken = _meaning(trials, options.get("means") or {})
    _check_logged(source, objective, trials)
    given_round = options.get("round")
    search = options.get("search", source.search)
    if given_round is not None:
        if options.get("roles") or options.get("ranges"):
            raise DesignError("importers.roles_twice")
        round, notes = given_round, source.notes
        left_out = frozenset(n for t in trials for n in t.configuration) - set(round.names)
    else:
        round, notes, left_out, trials = _guess_round(source, trials, meaning, options)
    placed, problems = [], []
    for trial in trials:
        study = _study_of(round, trial.configuration)
        if study is not None:
            placed.append((trial, study))
        elif trial.status not in ("failed", "pruned"):  # these may lack some hyperparameters
            problems.append(_belongs_nowhere(round, trial))
    if problems:
        left = len(problems) - 10
        more = [Message("problems.more", {"count": left})] if left > 0 else []
        raise DesignError.several([*problems[:10], *more])
    if len(placed) < len(trials):
        numbers = {trial.number for trial, _ in placed}
        called = [trial.name for trial in trials if trial.number not in numbers]
        notes = (*notes, Message("imported.no_study", {"trials": called}))
    rows = [_trial(t, study, search, left_out) for t, study in placed]
    results = Results.from_parts(round, objective, rows, meaning=meaning)
    return replace(results, search=search, notes=(*notes, *taken), imported=True)


def position(study: Study, configuration: Mapping[str, Value]) -> dict[str, float]:
    """Where a configuration lies, as far as its values are in the ranges of the study."""
    settings: dict[str, Value] = dict(study.scientific)
    positions: dict[str, float] = {}
    for h in study.space:
        if h.active(settings) and h.name in configuration:
            value = settings[h.column] = configuration[h.name]
            try:
                positions[h.column] = h.range.unit(value)
            except DesignError:
                continue
    return positions


def _meaning(
    trials: Sequence[ForeignTrial], declared: Mapping[str, Any]
) -> tuple[Meaning, tuple[Message, ...]]:
    """What names mean: as the user declares, else by their usual spelling."""
    names = dict.fromkeys(name for trial in trials for name in trial.configuration)
    metrics = dict.fromkeys(name for trial in trials for name in trial.points)
    meaning = with_guesses(Meaning(declared), names, metrics)
    return meaning, tuple(guess_note(meaning))


def _with_numbers(trials: Sequence[ForeignTrial]) -> list[ForeignTrial]:
    """Trials under the numbers that they had, or in order where these are not unique."""
    numbers = [trial.number for trial in trials]
    unique = None not in numbers and len(set(numbers)) == len(numbers)
    if unique and min(n for n in numbers if n is not None) >= 0:
        return sorted(trials, key=lambda t: t.number or 0)
    return [replace(trial, number=place) for place, trial in enumerate(trials)]


def _check_logged(source: Source, objective: Objective, trials: Sequence[ForeignTrial]) -> None:
    """Refuse an objective that no trial has: it is misspelt, and every trial would be failed."""
    metrics = list(dict.fromkeys(metric for trial in trials for metric in trial.points))
    if metrics and objective.metric not in metrics:
        raise DesignError(
            "importers.no_metric",
            origin=source.origin,
            metric=objective.metric,
            hint=did_you_mean(objective.metric, metrics),
        )


def _guess_round(
    source: Source, trials: Sequence[ForeignTrial], meaning: Meaning, options: Options
) -> tuple[Round, tuple[Message, ...], frozenset[str], list[ForeignTrial]]:
    """A round of guessed roles, its notes, what has no role, and the trials that are whole."""
    roles = guess_roles(
        trials,
        options.get("roles") or {},
        options.get("ranges") or {},
        source.ranges,
        meaning,
    )
    round = Round(
        plain_name(options.get("name") or source.name),
        goal=Message("goal.imported", {"origin": source.origin}),
        scientific=roles.scientific,
        nuisance=roles.nuisance,
        fixed=roles.fixed,
        trials_per_study=1,
    )
    counts = [0] * len(round.studies)
    aside = {trial.number for trial in roles.incomplete}
    whole = [trial for trial in trials if trial.number not in aside]
    for trial in whole:
        study = _study_of(round, trial.configuration)
        if study is not None:
            counts[study.number] += 1
    round = replace(round, trials_per_study=max(*counts, 1))
    return round, (*source.notes, *roles.notes), frozenset(roles.left_out), whole


def _study_of(round: Round, configuration: Mapping[str, Value]) -> Study | None:
    for study in round.studies:
        if all(
            name in configuration and same_value(configuration[name], value)
            for name, value in study.scientific.items()
        ):
            return study
    return None


def _belongs_nowhere(round: Round, trial: ForeignTrial) -> Message:
    setting = {name: trial.configuration.get(name) for name in round.scientific}
    return Message("importers.no_study", {"trial": trial.number, "setting": setting})


def _trial(trial: ForeignTrial, study: Study, search: str, left_out: frozenset[str]) -> Trial:
    configuration = {n: v for n, v in trial.configuration.items() if n not in left_out}
    points = trial.points
    batches = [Batch(1, 0, pack(points, uncertain(points)))] if points else []
    return Trial(
        number=trial.number,
        study=study.number,
        index=None,
        configuration=configuration,
        unit=position(study, configuration),
        status=trial.status,
        reason=trial.reason,
        curves=Curves(batches),
        seed=_seed(trial, left_out),
        attempts=1,
        seconds=trial.seconds,
        detail=storable(trial.detail, LONGEST_TEXT),
        search=search,
    )


def _seed(trial: ForeignTrial, left_out: frozenset[str]) -> int:
    """The trial's seed: as its record has it, or under a name such as `seed`."""
    seeds = [trial.seed, *(trial.configuration.get(n) for n in sorted(left_out) if is_seed(n))]
    return next((abs(s) for s in seeds if isinstance(s, int) and not isinstance(s, bool)), 0)
