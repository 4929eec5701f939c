"""Any outcome survives JSON and the file of a trial; one field of another kind is refused."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st
from tests import strategies  # noqa: F401  (the profile of this house)
from tests.store.record_parts import curve

from tunewright.errors import Damaged
from tunewright.messages import Message
from tunewright.store import spool
from tunewright.store.outcome import LARGEST, End, Ended, Outcome, outcome_data, outcome_from

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
reasons = st.none() | st.builds(
    Message, st.just("foreign"), st.fixed_dictionaries({"source": texts, "text": texts})
)
sizes = st.floats(0, 2.0**53)
batches = st.lists(
    st.builds(lambda values: curve(*values), st.lists(st.floats(), min_size=1, max_size=4)),
    max_size=3,
)
outcomes = st.builds(
    Outcome,
    st.sampled_from(get_args(End)),
    reasons,
    texts,
    seconds=sizes,
    peak_memory_mb=st.none() | sizes,
    start_step=st.none() | st.integers(0, 2**53),
    first=st.none() | st.integers(0, LARGEST["first"]),
    batches=batches.map(tuple),
)


@given(outcomes)
def test_any_outcome_survives_json(outcome: Outcome) -> None:
    assert outcome_from(json.loads(json.dumps(outcome_data(outcome)))) == outcome


@given(outcomes, st.integers(1, 2**31), st.integers(1, LARGEST["attempt"]))
def test_any_outcome_survives_the_file_of_its_trial(
    outcome: Outcome, trial: int, attempt: int
) -> None:
    ended = Ended(trial, attempt, outcome)
    with tempfile.TemporaryDirectory() as folder:
        path = spool.write_result(Path(folder), ended, flushed=False)
        assert spool.read_result(path) == ended
        assert spool.results_in(Path(folder)) == [ended]


@given(outcomes, st.data())
def test_a_field_of_another_kind_is_refused(outcome: Outcome, data: st.DataObject) -> None:
    told: dict[str, Any] = outcome_data(outcome)
    name = data.draw(st.sampled_from(sorted(told)))
    told[name] = data.draw(st.sampled_from([{}, {"a": 1}, True, [3], [None], -(2**60)]))
    with pytest.raises(Damaged):
        outcome_from(told)


known = {*outcome_data(Outcome("failed")), "died"}  # what version 0.1 wrote too


@given(outcomes, texts.filter(lambda name: name not in known))
def test_a_field_that_nobody_wrote_is_refused(outcome: Outcome, name: str) -> None:
    with pytest.raises(Damaged):
        outcome_from({**outcome_data(outcome), name: 1})
