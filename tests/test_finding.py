from __future__ import annotations

from tunewright.finding import LegacyFinding as Finding, said_once


def finding(about: str, says: str, verdict: str = "cannot_judge") -> Finding:
    return Finding("overfitting", about, verdict, says)


def test_what_keeps_every_study_from_being_judged_is_said_once() -> None:
    both = [finding("a", "no loss"), finding("b", "no loss")]
    (once,) = said_once(both, "depth")
    assert (once.about, once.says) == ("round depth", "no loss")
    different = [finding("a", "no loss"), finding("b", "too short")]
    assert said_once(different, "depth") == different
    fine = [finding("a", "fine", "ok"), finding("b", "fine", "ok")]
    assert said_once(fine, "depth") == fine
    assert said_once([], "depth") == []
