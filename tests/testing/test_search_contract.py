from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from tunewright.search.halton import Halton
from tunewright.search.search import Suggestion
from tunewright.testing import check_search, example_studies


@dataclass
class Wrapped:
    """Halton with one thing wrong."""

    wrong: str = ""
    adaptive: bool = False
    name: str = "wrapped"
    asked: list[int] = field(default_factory=list)

    def suggest(self, study, trials, count):
        self.asked.append(count)
        wrong = self.wrong
        if wrong == "name" and study.round != "another name":
            return Halton().suggest(study, [], count)
        if wrong == "name":
            return Halton().suggest(study, [], count + 1)[1:]
        if wrong == "restarts":
            return Halton().suggest(study, [], count)
        found = Halton().suggest(study, trials, count)
        if wrong == "more" and count:
            found = Halton().suggest(study, trials, count + 1)
        elif wrong == "none asked":
            found = Halton().suggest(study, trials, max(count, 1))
        elif wrong == "tuple":
            return tuple(found) if count else []
        elif wrong == "memory" and len(self.asked) % 3 == 0:
            found.reverse()
        elif wrong == "global random" and found:
            found = [found[np.random.randint(len(found))] for _ in found]
        elif wrong == "prefix":
            found.reverse()
        elif wrong == "extra name":
            found = [Suggestion({**s.configuration, "extra": 1}, s.unit) for s in found]
        elif wrong == "unit":
            found = [
                Suggestion(s.configuration, {c: 1 - u for c, u in s.unit.items()}) for s in found
            ]
        elif wrong == "arrival" and trials:
            found = Halton().suggest(study, trials[:1], count)
        return found


def test_examples_have_everything() -> None:
    kinds = {type(h.range).__name__ for study in example_studies() for h in study.space}
    assert kinds == {"Linear", "Log", "LogFromOne", "Integers", "Choice"}
    assert any(len(study.branches) > 1 for study in example_studies())
    assert any(not study.space for study in example_studies())


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_good_search_passes(adaptive: bool) -> None:
    check_search(Wrapped(adaptive=adaptive))


@pytest.mark.parametrize(
    "wrong, adaptive, said",
    [
        ("name", False, "the answer depends on the round's name"),
        ("more", False, "asked for 9, it suggests 10"),
        ("none asked", False, "asked for none, it suggests some"),
        ("tuple", False, "suggest() gives tuple, not a list"),
        ("memory", False, "asked the same twice, it answers differently"),
        ("global random", False, "asked the same twice, it answers differently"),
        ("prefix", False, "suggestions are not those it gives for"),
        ("restarts", False, "it does not continue where it was"),
        ("extra name", False, "the configuration has ['extra', 'learning_rate'], the study"),
        ("unit", False, "mean another configuration than"),
        ("arrival", True, "the order in which 9 trials arrive changes the answer"),
    ],
)
def test_what_is_wrong_is_said(wrong: str, adaptive: bool, said: str) -> None:
    random.seed(0)
    with pytest.raises(AssertionError) as broken:
        check_search(Wrapped(wrong, adaptive))
    assert said in str(broken.value)


def test_something_else_is_no_search() -> None:
    with pytest.raises(AssertionError, match="lacks name, adaptive or suggest"):
        check_search(object())
    with pytest.raises(AssertionError, match="name is '', not text"):
        check_search(Wrapped(name=""))
