"""Where results come from: only what their own trials recorded."""

from __future__ import annotations

from dataclasses import replace

from tests.present.figures.known_rounds import one_study

from tunewright.present.report_parts import origin_of, tiles
from tunewright.store.provenance import Provenance


def test_the_origin_is_that_of_the_rounds_own_trials() -> None:
    made = one_study([{"valid_error": [0.5]}] * 3)
    trials = tuple(replace(t, identity=n + 1, seconds=10.0) for n, t in enumerate(made.recorded))
    first = Provenance("c", "/w", commit="a" * 40, host="one", devices=("gpu",))
    second = replace(first, commit="b" * 40, diff="changed", packages={"tunewright": "0.1"})
    origins = {1: first, 2: second, 99: replace(first, host="elsewhere")}
    known = origin_of(replace(made, recorded=trials, origins=origins))
    assert known.commits == ("a" * 10, "b" * 10) and known.changed
    assert (known.hosts, known.devices, known.versions) == (("one",), ("gpu",), ("0.1",))
    assert known.seconds == 30.0


def test_nothing_recorded() -> None:
    made = one_study([{"valid_error": [0.5]}])
    known = origin_of(made)
    assert (known.commits, known.hosts, known.changed) == ((), (), False)
    assert len(tiles(made)) == 3
