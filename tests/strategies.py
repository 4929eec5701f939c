"""Hypothesis strategies for values, ranges and rounds, shared by the tests of several folders."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st

from tunewright.design.conditions import given
from tunewright.design.kinds.powers_of_two import powers_of_two
from tunewright.design.ranges import (
    Range,
    choice,
    integers,
    linear,
    log,
    log_from_one,
)
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.messages import Message

# a busy machine is no fault of the code under test
settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("house")

names = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=12
)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
numbers = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False))
values = st.one_of(st.none(), st.booleans(), numbers, texts)
units = st.floats(0.0, 1.0)


def distinct(elements: st.SearchStrategy[Any], **sizes: int) -> st.SearchStrategy[list[Any]]:
    """Lists of values that differ as hyperparameter values do (True is not 1, but 1.0 is)."""
    return st.lists(elements, unique_by=lambda v: (isinstance(v, bool), v), **sizes)


@st.composite
def bounds(draw: st.DrawFn, low: float, high: float) -> tuple[float, float]:
    """Two different floats in order."""
    a, b = draw(st.floats(low, high)), draw(st.floats(low, high))
    a, b = min(a, b), max(a, b)
    return (a, b) if a < b else (a, math.nextafter(a, math.inf))


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    """Any range of any kind, narrow and wide."""
    kind = draw(st.sampled_from(["linear", "log", "log_from_one", "integers", "choice"]))
    try:
        if kind == "linear":
            return linear(*draw(bounds(-1e300, 1e300)))
        if kind == "log":
            return log(*draw(bounds(5e-324, 1e300)))
        if kind == "log_from_one":
            return log_from_one(*draw(bounds(-1e6, 1 - 1e-9)))
        if kind == "integers":
            low, high = sorted(draw(distinct(st.integers(1, 2**53), min_size=2, max_size=2)))
            return integers(low, high, draw(st.booleans()))
    except DesignError:  # the ends have one logarithm
        return linear(0, 1)
    return choice(*draw(distinct(values, min_size=1, max_size=5)))


@st.composite
def moderate_ranges(draw: st.DrawFn) -> Range:
    """Ranges as rounds have them: numbers of a usual size, at least a tenth of a decade wide."""
    kind = draw(st.sampled_from(["linear", "log", "log_from_one", "integers", "choice", "powers"]))
    low, wide = draw(st.floats(1e-6, 1e3)), draw(st.floats(1.3, 1e5))
    if kind == "linear":
        start = draw(st.floats(-1e3, 1e3))
        return linear(start, start + low * wide)
    if kind == "log":
        return log(low, low * wide)
    if kind == "log_from_one":
        far = draw(st.floats(0.01, 1.0))
        return log_from_one(1 - far, 1 - far / min(wide, 1e4))
    if kind == "integers":
        first = draw(st.integers(1, 1000))
        return integers(first, first + draw(st.integers(1, 10_000)), draw(st.booleans()))
    if kind == "powers":
        first = draw(st.integers(0, 12))
        return powers_of_two(2**first, 2 ** (first + draw(st.integers(1, 12))))
    return choice(*draw(distinct(values, min_size=1, max_size=5)))


@st.composite
def mappings(draw: st.DrawFn, pool: list[str], leaf: st.SearchStrategy[Any], depth: int) -> Any:
    """Hyperparameters out of a pool of names (each used once per branch), some of them givens."""
    declared: dict[str, Any] = {}
    while pool and draw(st.integers(0, 3)):
        name = pool.pop()
        if depth and pool and draw(st.integers(0, 3)) == 0:
            below = [pool.pop() for _ in range(min(2, len(pool)))]
            branches = draw(distinct(st.one_of(texts, values), min_size=1, max_size=3))
            declared[name] = given(
                {value: draw(mappings(list(below), leaf, depth - 1)) for value in branches}
            )
        else:
            declared[name] = draw(leaf)
    return declared


# what a round changes about the one before: a code, and facts as a proposal has them
changes = st.builds(
    Message,
    st.just("change.wider"),
    st.fixed_dictionaries(
        {
            "names": st.lists(texts, max_size=3).map(tuple),
            "finding": st.dictionaries(texts, st.one_of(st.none(), st.floats(), st.booleans())),
        }
    ),
)


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    """Rounds with lists, ranges, givens and fixed values in every role."""
    pool = draw(st.lists(names, min_size=6, max_size=10, unique=True))
    scientific = {
        pool.pop(): draw(
            ranges() if draw(st.booleans()) else distinct(values, min_size=1, max_size=3)
        )
        for _ in range(draw(st.integers(0, 2)))
    }
    nuisance = draw(mappings(pool, ranges(), depth=2))
    fixed = {pool.pop(): draw(values) for _ in range(min(len(pool), draw(st.integers(0, 2))))}
    try:
        return Round(
            draw(names),
            goal=draw(texts.filter(str.strip)),
            scientific=scientific,
            nuisance=nuisance,
            fixed=fixed,
            trials_per_study=draw(st.integers(1, 50)),
            seed=draw(st.integers(0, 2**63 - 1)),
            detect=draw(st.one_of(st.none(), st.floats(1e-9, 1e9))),
            change=draw(st.one_of(st.none(), changes)),
        )
    except DesignError as error:
        # names with dots can meet the column of another; everything else must be accepted
        assert "under this column" in str(error), error
        return Round("r", goal="?", trials_per_study=1)
