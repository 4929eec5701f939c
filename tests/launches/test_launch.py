"""A launch decision as an object: its headline and its plain data."""

from __future__ import annotations

import json

from tests.launches.arms import HIGH, LOW, SAME, arm, codes, of, warning

from tunewright.launches.decide import decide


def test_the_headline_answers_whether_to_launch_in_twelve_words():
    twenty = [0.70 + 0.01 * (k % 5) for k in range(20)]
    splits = arm(HIGH, splits=(0,) * 5), arm(LOW, "baseline", splits=(1,) * 5)
    shown = {
        "launch": of(HIGH, LOW),
        "margin": of(SAME, LOW, not_worse_by=0.02),
        "noise": of((0.705, 0.715, 0.695, 0.71, 0.72), LOW),
        "worse": of(LOW, HIGH),
        "loss": of(LOW, HIGH, not_worse_by=0.01),
        "cost": of(HIGH, LOW, complexity=0.05),
        "futile": of((0.701, 0.69, 0.70, 0.70, 0.73), LOW, looked=1, detect=0.05),
        "more": of(HIGH[:2], LOW[:2]),
        "small": of([v + 0.004 for v in twenty], twenty, looked=4, detect=0.004),
        "splits": decide(*splits),
        "finding": of(HIGH, LOW, findings=[warning("fairness")]),
    }
    said = {name: launch.headline for name, launch in shown.items()}
    assert len(set(said.values())) == len(said)
    for name, headline in said.items():
        assert len(headline.split()) <= 12, headline
        first = {"launch": "Launch", "keep": "Keep", "undecided": "Undecided"}
        assert headline.startswith(first[shown[name].verdict])


def test_the_data_of_a_launch_are_facts_only():
    launch = of(HIGH, LOW)
    data = json.loads(json.dumps(launch.to_data()))
    assert data["runs"] == [5, 5]
    assert data["verdict"] == "launch"
    assert [one["code"] for one in data["reasons"]] == codes(launch.reasons)
    assert data["reasons"][0]["probability"] == launch.probability
    assert not any(" is better " in str(value) for value in data.values())
