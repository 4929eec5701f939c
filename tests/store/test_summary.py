"""Summaries say what the curves say, and a trial without one reads the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.store import fenced_writes
from tunewright.store.curves import Curve, pack
from tunewright.store.outcome import Outcome
from tunewright.store.schema import curve_summary, trial_summary
from tunewright.store.store import Store

LONG, SHORT = 3_000, 20


def record(store: Store, points: int) -> None:
    """A round of four trials: good, better, diverged, failed."""
    round = tw.Round("r", goal="q", nuisance={"rate": tw.log(1e-3, 1)}, trials_per_study=4)
    kept = store.begin(
        round,
        tw.minimize("loss"),
        Meaning(),
        search="halton",
        suggestions=lambda study, count: tw.search.Halton().suggest(study, [], count),
    )
    owner = store.register(kept.id, "supervisor", exclusive=True)
    steps = np.arange(1, points + 1)
    for claim in store.claim(kept.id, owner, 4):
        number = claim.number or 0
        loss = 1.0 / steps + 0.1 * (3 - number)
        if number == 2:
            loss[points // 2] = np.nan
        half = points // 2
        store.began(claim, 0, "here")
        store.log(
            claim,
            [pack({"loss": (steps[:half], loss[:half]), "norm": (steps[:half], -loss[:half])})],
            0,
        )
        rest = [pack({"loss": (steps[half:], loss[half:]), "norm": (steps[half:], -loss[half:])})]
        store.end(claim, Outcome("failed" if number == 3 else "completed", batches=rest, first=1))


def rows(store: Store) -> dict[int, fenced_writes.Row]:
    with store.reading() as connection:  # the page's reader is above it
        record = store.round("r")
        found = fenced_writes.judge_rows(connection, record.id, record.objective)
        return {row.key: row for row in found}


def forget(store: Store) -> None:
    with store._database.writing() as connection:
        connection.execute(trial_summary.delete())
        connection.execute(curve_summary.delete())


@pytest.mark.parametrize("points", [LONG, SHORT])
def test_a_row_is_what_the_curves_say(store_url: str, points: int) -> None:
    with Store.open(store_url) as store:
        record(store, points)
        found = rows(store)
        results = store.results("r")
        for trial in results.trials:
            row = found[trial.identity]
            assert (row.status, row.value, row.step) == (trial.status, trial.value, trial.best_step)
        forget(store)
        assert rows(store) == found


def test_only_long_trials_have_one(store_url: str) -> None:
    with Store.open(store_url) as store:
        record(store, SHORT)
        with store.reading() as connection:
            assert connection.execute(trial_summary.select()).all() == []
            assert connection.execute(curve_summary.select()).all() == []


@pytest.mark.parametrize("points", [LONG, SHORT])
def test_buckets_without_a_summary_are_the_same(store_url: str, points: int) -> None:
    with Store.open(store_url) as store:
        record(store, points)
        read = []
        for _ in range(2):
            with store.reading() as connection:
                key = store.round("r").id
                read.append(dict(fenced_writes.buckets_of(connection, key, "norm")))
            forget(store)
        assert read[0].keys() == read[1].keys() and len(read[0]) == 4
        for key, before in read[0].items():
            after = read[1][key]
            assert before.last == after.last == points
            np.testing.assert_array_equal(before.low, after.low)
            np.testing.assert_array_equal(before.high, after.high)


def test_a_trial_that_ends_again_replaces_its_summary(store_url: str) -> None:
    with Store.open(store_url) as store:
        record(store, LONG)
        kept = store.round("r")
        store.reopen(kept.id)  # the failed one
        owner = store.register(kept.id, "worker", exclusive=False)
        (claim,) = store.claim(kept.id, owner, 1)
        store.began(claim, 0, "here")
        steps = np.arange(1, LONG + 1)
        store.end(
            claim, Outcome("completed", batches=[pack({"loss": (steps, 5.0 / steps)})], first=0)
        )
        row = rows(store)[claim.trial]
        assert (row.status, row.value, row.step) == ("completed", 5.0 / LONG, LONG)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2**62), st.floats(allow_nan=True, allow_infinity=True)),
        min_size=1,
        max_size=600,
        unique_by=lambda point: point[0],
    )
)
def test_buckets_hold_every_finite_value(points: list[tuple[int, float]]) -> None:
    points.sort()
    curve = Curve(np.array([p[0] for p in points]), np.array([p[1] for p in points]))
    reduced = fenced_writes.reduce(curve)
    with np.errstate(over="ignore"):
        single = curve.values.astype(np.float32)
    finite = single[np.isfinite(single)]
    assert reduced.last == curve.steps[-1]
    if len(finite):
        assert np.nanmin(reduced.low) == finite.min()
        assert np.nanmax(reduced.high) == finite.max()
    else:
        assert np.isnan(reduced.low).all()
    again = fenced_writes.unpack_buckets(reduced.last, fenced_writes.pack_buckets(reduced))
    assert again is not None
    np.testing.assert_array_equal(again.low, reduced.low)
    np.testing.assert_array_equal(again.high, reduced.high)


def test_bytes_of_another_length_are_no_buckets() -> None:
    assert fenced_writes.unpack_buckets(10, b"12345678") is None
