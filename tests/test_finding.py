from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np

from tunewright import messages
from tunewright.actions import ShowTrial
from tunewright.checks.baseline import BaselineEvidence
from tunewright.design.ranges import log
from tunewright.finding import Evidence, Finding, NotJudged, merge_not_judged
from tunewright.messages import Message


def unjudged(about: str, code: str) -> Finding:
    return Finding(
        check="overfitting",
        scope="study",
        about=about,
        verdict="cannot_judge",
        evidence=NotJudged(Message(code)),
    )


def test_what_keeps_every_study_from_being_judged_is_said_once() -> None:
    code = "baseline.none_completed"
    (once,) = merge_not_judged([unjudged("a", code), unjudged("b", code)], "depth")
    assert (once.scope, once.about, once.evidence.why.code) == ("round", "depth", code)
    different = [unjudged("a", code), unjudged("b", "fairness.one_setting")]
    assert merge_not_judged(different, "depth") == different
    fine = [
        Finding(
            check="baseline",
            scope="study",
            about=about,
            verdict="ok",
            evidence=BaselineEvidence("loss", 0.5, chance=1.0),
        )
        for about in "ab"
    ]
    assert merge_not_judged(fine, "depth") == fine
    assert merge_not_judged([], "depth") == []


def test_a_finding_is_facts_and_its_words_are_made_of_them() -> None:
    evidence = BaselineEvidence("valid_loss", best=0.5, chance=2.3)
    found = Finding(
        check="baseline",
        scope="round",
        about="depth",
        verdict="ok",
        evidence=evidence,
        actions=(ShowTrial("depth", 3),),
    )
    data = found.to_data()
    known = {"metric": "valid_loss", "best": 0.5, "chance": 2.3, "start": None}
    assert data["evidence"].items() >= known.items()
    assert data["actions"][0]["argv"] == ["tunewright", "trial", "depth", "3"]
    assert json.loads(json.dumps(data)) == data
    assert found.words == messages.finding("baseline", "ok", data["evidence"])
    assert found.headline == found.words.headline and found.section
    chance = replace(found, verdict="note", chance_among=40)
    assert len(chance.words.evidence) == len(found.words.evidence) + 1


def test_evidence_becomes_plain_data_whatever_it_holds() -> None:
    @dataclass(frozen=True)
    class Point:
        at: float

    @dataclass(frozen=True)
    class Anything(Evidence):
        range: object
        points: tuple[Point, ...]
        why: Message
        number: object

    made = Anything(log(1e-4, 0.1), (Point(0.5),), Message("a", {"b": (1, 2)}), np.float64(2.0))
    assert made.to_data() == {
        "range": {"log": [1e-4, 0.1]},
        "points": [{"at": 0.5}],
        "why": {"code": "a", "b": [1, 2]},
        "number": 2.0,
    }
