from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
from tests.checks.curve_worlds import noise, results_of, rise, shape

from tunewright import messages
from tunewright.actions import ShowTrial, plain
from tunewright.checks.baseline import BaselineEvidence
from tunewright.checks.instability import instability
from tunewright.checks.overfitting import overfitting
from tunewright.checks.periodicity import periodicity
from tunewright.checks.saturated import saturated
from tunewright.checks.step_variance import step_variance
from tunewright.checks.still_improving import still_improving
from tunewright.checks.training_bug import training_bug
from tunewright.design.ranges import log
from tunewright.finding import Evidence, Finding, NotJudged, said_once
from tunewright.messages import Message

QUESTIONS = (
    overfitting,
    still_improving,
    saturated,
    training_bug,
    periodicity,
    instability,
    step_variance,
)


def unjudged(about: str, code: str) -> Finding:
    return Finding("overfitting", "study", about, "cannot_judge", NotJudged(Message(code)))


def test_what_keeps_every_study_from_being_judged_is_said_once() -> None:
    code = "baseline.none_completed"
    (once,) = said_once([unjudged("a", code), unjudged("b", code)], "depth")
    assert (once.scope, once.about, once.evidence.why.code) == ("round", "depth", code)
    different = [unjudged("a", code), unjudged("b", "fairness.one_setting")]
    assert said_once(different, "depth") == different
    fine = [
        Finding("baseline", "study", about, "ok", BaselineEvidence("loss", 0.5, chance=1.0))
        for about in "ab"
    ]
    assert said_once(fine, "depth") == fine
    assert said_once([], "depth") == []


def test_a_finding_is_facts_and_its_words_are_made_of_them() -> None:
    evidence = BaselineEvidence("valid_loss", best=0.5, chance=2.3)
    found = Finding("baseline", "round", "depth", "ok", evidence, (ShowTrial("depth", 3),))
    data = found.to_data()
    assert data["evidence"] == {"metric": "valid_loss", "best": 0.5, "chance": 2.3, "start": None}
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


def worlds() -> list[dict[str, np.ndarray]]:
    """One where all is quiet, and three in which every question finds something between them."""
    rng = np.random.default_rng(0)
    jitter = 0.005 * noise(rng, 12, 100, 0.3)
    wave = 0.02 * np.sin(np.arange(100) * 2 * np.pi / 5)
    spiking = (shape("slow", 100) + 0.1) * np.exp(4 * jitter)
    spiking[:, 60:63] *= 3
    rates, levels = np.ones((12, 100)), 0.02 * np.arange(12)[:, None]
    return [
        {
            "valid_error": shape("slow", 100) + jitter + levels,
            "train_loss": shape("linear", 100) + jitter,
        },
        {"valid_error": rise(100, 0.2, 0.4) + jitter, "train_loss": rise(100, 0.2, 0.4) + jitter},
        {"valid_error": shape("linear", 100) + jitter + wave, "train_loss": spiking},
        {"valid_error": shape("fast", 100) + 0.1 * jitter, "learning_rate": rates},
    ]


def test_every_answer_is_plain_data_with_a_section_and_a_name() -> None:
    verdicts: dict[str, set[str]] = {}
    for curves in worlds():
        configurations = [{"learning_rate": 0.1 * (k + 1)} for k in range(12)]
        results = results_of(
            curves, scientific={"layers": [1, 2]}, configurations=configurations, detect=0.01
        )
        for question in QUESTIONS:
            for one in question(results):
                assert one.check == question.__name__ and one.section
                assert one.about.removeprefix("round ") in ("layers=1", "layers=2", "depth")
                assert json.loads(json.dumps(plain(one), allow_nan=False))["check"] == one.check
                verdicts.setdefault(one.check, set()).add(one.verdict)
    assert all({"ok", "warn"} <= seen for seen in verdicts.values()), verdicts


def test_an_empty_round_is_answered_by_every_question() -> None:
    values = shape("slow", 60) * float("nan")
    for question in QUESTIONS:
        (found,) = question(results_of({"valid_error": [values] * 4}))
        assert found.verdict == "cannot_judge"
