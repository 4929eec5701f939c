"""One outcome, one codec: what it writes comes back, and what it never wrote is refused."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, get_args

import pytest
from tests.store.record_parts import KILLED, curve

from tunewright.errors import Damaged
from tunewright.store.outcome import End, Outcome, outcome_data, outcome_from
from tunewright.store.trial import ENDED

WHOLE = Outcome(
    "died",
    KILLED,
    "the last lines",
    seconds=2.5,
    peak_memory_mb=12.0,
    start_step=3,
    first=1,
    batches=(curve(0.5), curve(0.4, first=2)),
)


@pytest.mark.parametrize("status", get_args(End))
def test_an_outcome_survives_json(status: End) -> None:
    for outcome in (Outcome(status), Outcome(status, KILLED, first=0)):
        assert outcome_from(json.loads(json.dumps(outcome_data(outcome)))) == outcome
    assert outcome_from(json.loads(json.dumps(outcome_data(WHOLE)))) == WHOLE


def test_every_field_travels() -> None:
    assert set(outcome_data(WHOLE)) == {each.name for each in fields(Outcome)}


@pytest.mark.parametrize("status", get_args(End))
def test_only_a_death_and_a_stop_are_due_again(status: End) -> None:
    expected = status if status in ENDED else "pending"
    assert Outcome(status).becomes == expected
    assert (status in ("died", "stopped")) == (expected == "pending")


@pytest.mark.parametrize(("died", "status"), [(True, "died"), (False, "stopped")])
def test_files_of_earlier_versions_are_read(died: bool, status: str) -> None:
    old = {**outcome_data(Outcome("failed", first=0)), "status": "pending", "died": died}
    assert outcome_from({**old, "start_step": 0}).status == status
    third = {**outcome_data(Outcome("failed", KILLED, first=0)), "died": True}
    assert outcome_from(third).status == "failed", "its third death: the trial has failed"


@pytest.mark.parametrize(
    "patch",
    [
        {"status": "running"},
        {"status": "pending"} | {"died": 1},
        {"status": 3},
        {"reason": None},
        {"seconds": "1"},
        {"seconds": float("nan")},
        {"seconds": True},
        {"peak_memory_mb": float("inf")},
        {"start_step": 1.5},
        {"first": -1},
        {"first": 2_000_000},
        {"batches": "text"},
        {"batches": ["not base64"]},
        {"batches": [3]},
        {"more": 1},
    ],
    ids=str,
)
def test_data_that_was_never_written_is_refused(patch: dict[str, Any]) -> None:
    with pytest.raises(Damaged) as refused:
        outcome_from({**outcome_data(WHOLE), **patch})
    assert refused.value.facts["name"] in {*patch, "batches"}


@pytest.mark.parametrize("name", [each.name for each in fields(Outcome)])
def test_a_field_that_an_earlier_version_did_not_write_has_its_default(name: str) -> None:
    data = outcome_data(WHOLE)
    del data[name]
    if name != "status":
        made = outcome_from(data)
        assert getattr(made, name) == getattr(Outcome("died"), name)
        return
    with pytest.raises(Damaged) as refused:
        outcome_from(data)
    assert refused.value.facts["name"] == "status"
