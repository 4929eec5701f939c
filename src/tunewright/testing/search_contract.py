"""What every search promises, as a function that fails with a sentence."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from tunewright.design.conditions import given
from tunewright.design.ranges import (
    Value,
    choice,
    integers,
    linear,
    log,
    log_from_one,
    same_value,
)
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.messages import Message
from tunewright.search.search import Search, Suggestion
from tunewright.store.trial import Status, Trial


def check_search(search: Search, studies: Sequence[Study] | None = None, count: int = 9) -> None:
    """Raise AssertionError with a sentence where a search breaks a promise of the protocol.

    Without `studies` it is tried on `example_studies()`, which have every kind of range,
    conditional hyperparameters and nothing to search; give your own if it cannot take those.
    `count` suggestions are asked for at a time.
    """
    assert isinstance(search, Search), f"{search!r} lacks name, adaptive or suggest()"
    assert isinstance(search.name, str) and search.name, f"name is {search.name!r}, not text"
    assert isinstance(search.adaptive, bool), f"adaptive is {search.adaptive!r}, not True or False"
    for study in example_studies() if studies is None else studies:
        _check_suggestions(search, study, [], count)
        _check_no_memory(search, study, count)
        if search.adaptive:
            for trials in _histories(search, study, count):
                _check_suggestions(search, study, trials, 3)
                _check_same_answer(search, study, trials)
        else:
            _check_prefixes(search, study, count)


def example_studies() -> tuple[Study, ...]:
    """Studies that between them have everything a search must be able to search."""
    rate = {"learning_rate": log(1e-4, 1e-1)}
    every = {
        "dropout": linear(0.0, 0.5),
        "beta1": log_from_one(0.5, 0.99),
        "width": integers(16, 1024, log=True),
        "layers": integers(1, 4),
        "norm": choice("layer", "batch", None),
    }
    optimizers = given({"adam": {**rate, "beta1": linear(0.8, 0.99)}, "sgd": rate, "none": {}})
    rounds = [
        Round("rate", goal="one range", nuisance=rate, trials_per_study=9),
        Round("every", goal="every range", nuisance={**rate, **every}, trials_per_study=9, seed=7),
        Round(
            "scientific",
            goal="a scientific list and a range",
            scientific={"depth": [1, 2], "dropout": linear(0.0, 0.5)},
            nuisance=rate,
            fixed={"batch_size": 128},
            trials_per_study=9,
        ),
        Round(
            "children",
            goal="children of a scientific parent",
            scientific={"optimizer": ["adam", "sgd", "none"]},
            nuisance={"optimizer": optimizers, "width": integers(1, 8)},
            trials_per_study=9,
        ),
        Round("branches", goal="a parent", nuisance={"optimizer": optimizers}, trials_per_study=9),
        Round("nothing", goal="nothing to search", fixed={"width": 8}, trials_per_study=9),
    ]
    return tuple(study for round in rounds for study in round.studies)


def _check_suggestions(
    search: Search, study: Study, trials: Sequence[Trial], count: int
) -> list[Suggestion]:
    where = f"{search.name} on study {study.round}/{study.label}"
    assert search.suggest(study, trials, 0) == [], f"{where}: asked for none, it suggests some"
    suggestions = search.suggest(study, trials, count)
    assert isinstance(suggestions, list), (
        f"{where}: suggest() gives {type(suggestions).__name__}, not a list"
    )
    assert len(suggestions) <= count, f"{where}: asked for {count}, it suggests {len(suggestions)}"
    for suggestion in suggestions:
        assert isinstance(suggestion, Suggestion), f"{where}: {suggestion!r} is no Suggestion"
        configuration = dict(suggestion.configuration)
        place = study.unit(configuration)  # refuses a configuration outside the study
        expected = study.configuration(place)
        assert set(configuration) == set(expected), (
            f"{where}: the configuration has {sorted(configuration)}, the study {sorted(expected)}"
        )
        if suggestion.unit:
            assert all(0.0 <= u <= 1.0 for u in suggestion.unit.values()), (
                f"{where}: positions {dict(suggestion.unit)} leave the unit cube"
            )
            meant = study.configuration(suggestion.unit)
            assert all(_alike(meant[name], value) for name, value in configuration.items()), (
                f"{where}: the positions {dict(suggestion.unit)} mean another configuration than "
                f"{configuration}"
            )
    return suggestions


def _alike(a: Value, b: Value) -> bool:
    """Equal, or as near as a position of the unit cube can be: 0.1 has none on a log scale."""
    if isinstance(a, float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-9)
    return same_value(a, b)


def _check_no_memory(search: Search, study: Study, count: int) -> None:
    """Asking twice, or about something else in between, changes nothing."""
    where = f"{search.name} on study {study.round}/{study.label}"
    first = search.suggest(study, [], count)
    search.suggest(dataclasses.replace(study, seed=study.seed + 1), [], count)
    state = np.random.get_state()
    try:
        np.random.seed(12345)  # a search that draws from here is not reproducible
        again = search.suggest(study, [], count)
    finally:
        np.random.set_state(state)
    assert again == first, f"{where}: asked the same twice, it answers differently"
    renamed = dataclasses.replace(study, round="another name")
    assert search.suggest(renamed, [], count) == first, (
        f"{where}: the answer depends on the round's name"
    )


def _check_prefixes(search: Search, study: Study, count: int) -> None:
    where = f"{search.name} on study {study.round}/{study.label}"
    whole = search.suggest(study, [], count)
    for size in range(len(whole)):
        assert search.suggest(study, [], size) == whole[:size], (
            f"{where}: the first {size} of {count} suggestions are not those it gives for {size}"
        )
        claimed = [_trial(study, i, s, "running") for i, s in enumerate(whole[:size])]
        assert search.suggest(study, claimed, count - size) == whole[size:], (
            f"{where}: after {size} trials it does not continue where it was"
        )


def _check_same_answer(search: Search, study: Study, trials: Sequence[Trial]) -> None:
    where = f"{search.name} on study {study.round}/{study.label}"
    first = search.suggest(study, trials, 2)
    assert search.suggest(study, trials, 2) == first, (
        f"{where}: the same {len(trials)} trials give two answers"
    )
    assert search.suggest(study, list(reversed(trials)), 2) == first, (
        f"{where}: the order in which {len(trials)} trials arrive changes the answer"
    )


def _histories(search: Search, study: Study, count: int) -> Iterator[list[Trial]]:
    """Trials as a record may hold them: of every status, equal, and of many values."""
    drawn = _check_suggestions(search, study, [], count)
    mixed: tuple[Status, ...] = (
        *("completed", "infeasible", "running", "completed", "failed", "pruned"),
    )
    for statuses in (mixed, ("completed",), ("infeasible",), ("running",), ("pruned",)):
        yield [_trial(study, i, s, statuses[i % len(statuses)]) for i, s in enumerate(drawn)]
    alike = [_trial(study, i, s, "completed") for i, s in enumerate(drawn)]
    yield [dataclasses.replace(trial, value=0.5) for trial in alike]
    yield [dataclasses.replace(alike[0], value=1e30)] if alike else []


_FOR_TEST = Message("foreign", {"source": "test", "text": "made for a test"})


def _trial(study: Study, index: int, suggestion: Suggestion, status: Status) -> Trial:
    place = suggestion.unit or study.unit(suggestion.configuration)
    distance = sum((u - 0.6) ** 2 for u in place.values())
    return Trial(
        number=study.trial_number(index),
        study=study.number,
        index=index,
        configuration=suggestion.configuration,
        unit=suggestion.unit,
        status=status,
        reason=None if status in ("completed", "running") else _FOR_TEST,
        value=0.2 + math.sqrt(distance) if status == "completed" else None,
        best_step=100 if status == "completed" else None,
        search="test",
    )
