"""Case 26: what is no number fails with one line; an objective never logged, too."""

from __future__ import annotations

from tests.execution import misbehaving
from tests.faults.bad_days import bad_day, check_three_zeros


def test_case_26(tmp_path):
    kinds = [f"not a number: {what}" for what in misbehaving.NOT_NUMBERS]
    day = bad_day(tmp_path, [*kinds, "never logs"])
    check_three_zeros(day)
    for kind in kinds:
        trial = day.of(kind)
        assert trial.status == "failed"
        assert trial.reason.code.startswith("value.")
        assert trial.reason.facts["metric"] == "valid_error"
        assert "\n" not in str(trial.reason)
        assert trial.attempts == 1
    assert day.of("not a number: matrix").reason.code == "value.array"
    assert day.of("not a number: numeric text").reason.facts["reads_as_number"]
    silent = day.of("never logs")
    assert silent.status == "failed"
    assert silent.reason.code == "objective.never_logged"
