"""Case 28: an exception fails its trial with the traceback; the round goes on."""

from __future__ import annotations

from tests.faults.bad_days import bad_day, check_three_zeros

from tunewright.messages import Message


def test_case_28(tmp_path):
    day = bad_day(tmp_path, ["raises", "raises strange text", "infeasible"])
    check_three_zeros(day)
    trial = day.of("raises")
    facts = {"type": "ValueError", "text": "the data are gone"}
    assert (trial.status, trial.reason) == ("failed", Message("trial.raised", facts))
    assert "misbehaving.py" in trial.detail and "Traceback" in trial.detail
    strange = day.of("raises strange text")
    assert strange.status == "failed"
    assert "half a character" in strange.reason.facts["text"]
    said_so = day.of("infeasible")
    said = Message("trial.infeasible", {"text": "heads do not divide width"})
    assert (said_so.status, said_so.reason) == ("infeasible", said)
