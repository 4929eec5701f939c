from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, results_of

from tunewright.checks.checklist import one_length
from tunewright.checks.saturated import saturated
from tunewright.checks.still_improving import still_improving
from tunewright.finding import Finding, Verdict


def both(detect: float | None) -> tuple[Finding, Finding]:
    """Curves that level off within a margin by half of training, and still gain."""
    t = np.arange(1, 101) / 100
    curves = 0.2 + 0.8 * np.exp(-t / 0.03) - 0.006 * t + 0.02 * np.arange(8)[:, None]
    curves = curves + 1e-4 * noise(np.random.default_rng(0), 8, 100, 0.0)
    made = results_of({"valid_error": curves}, detect=detect)
    return still_improving(made)[0], saturated(made)[0]


@pytest.mark.parametrize("detect", [None, 0.05])
@pytest.mark.parametrize(("late", "early"), [("warn", "warn"), ("warn", "note"), ("note", "warn")])
def test_one_opinion_about_the_length_of_training(
    detect: float | None, late: Verdict, early: Verdict
) -> None:
    longer, shorter = both(detect)
    given = [replace(longer, verdict=late), replace(shorter, verdict=early)]
    found = {f.check: f for f in one_length(given)}
    warned = [f.check for f in found.values() if f.verdict == "warn"]
    assert len(warned) == 1
    if warned == ["still_improving"]:
        assert found["saturated"].evidence.proposed_max_train_steps is None
        assert found["saturated"].evidence.still_improving
    else:
        assert found["still_improving"].evidence.immaterial
    if late == early:  # what was declared to matter decides
        assert warned == ["still_improving" if detect is None else "saturated"]


def test_findings_that_do_not_disagree_stay_as_they_are() -> None:
    longer, shorter = both(None)
    for given in ([longer], [shorter], [longer, replace(shorter, verdict="ok")]):
        assert one_length(given) == given
    other = replace(shorter, about="another study")
    assert one_length([longer, other]) == [longer, other]
