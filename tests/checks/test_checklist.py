from __future__ import annotations

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, results_of
from tests.checks.rates import at_most
from tests.checks.space_worlds import healthy, warnings

from tunewright.advice.next_round import next_round
from tunewright.checks.boundary import BoundaryEvidence
from tunewright.checks.checklist import QUESTIONS, by_chance, check
from tunewright.checks.saturated import saturated
from tunewright.checks.sensitivity import SensitivityEvidence
from tunewright.checks.still_improving import still_improving
from tunewright.design.conditions import given
from tunewright.design.objective import maximize, minimize
from tunewright.design.ranges import choice, integers, linear, log, log_from_one
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.present.envelope import as_json
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing import Bowl, Unlucky, Walled, World, results


def test_every_question_is_asked_once_in_order_and_answers() -> None:
    names = [question.__name__ for question in QUESTIONS]
    assert len(set(names)) == len(names)
    found = check(healthy(0, scientific=True))
    names.remove("validation_size")  # only where values were logged with their uncertainty
    assert list(dict.fromkeys(f.check for f in found)) == names
    assert all(f.headline and f.section for f in found)
    assert all(f.advice for f in found if f.verdict == "warn")


def test_a_healthy_study_of_16_trials_ends_without_warning_most_of_the_time() -> None:
    # measured on 300: docs/methods.md
    counts = warnings(healthy, 25)
    assert at_most(counts["any"], 25, 0.15), counts


@pytest.mark.slow
def test_healthy_studies_one_by_one() -> None:
    counts = warnings(healthy, 200)
    assert at_most(counts["any"], 200, 0.12), counts


ROUNDS = {
    "empty": Round("empty", goal="?", trials_per_study=4),
    "one value": Round("one", goal="?", nuisance={"a": choice("x")}, trials_per_study=4),
    "mixed": Round(
        "mixed",
        goal="?",
        scientific={"layers": [1, 2, 3], "width": linear(0.0, 1.0)},
        nuisance={
            "optimizer": given(
                {"adam": {"beta1": log_from_one(0.8, 0.99)}, "sgd": {"momentum": linear(0.0, 0.9)}}
            ),
            "learning_rate": log(1e-4, 1e-1),
            "units": integers(8, 512, log=True),
            "act": choice("relu", "gelu", "tanh"),
        },
        trials_per_study=18,
    ),
}
SURFACES = {
    "flat": Bowl({}),
    "bowl": Bowl({"learning_rate": 0.7}),
    "wall": Walled(Bowl({"learning_rate": 0.7}), {"learning_rate": 1.0}, above=0.6),
    "all diverge": Unlucky(Bowl({}), share=1.0),
}


@pytest.mark.parametrize("round", ROUNDS.values(), ids=list(ROUNDS))
@pytest.mark.parametrize("surface", SURFACES)
def test_any_round_can_be_asked_and_its_findings_are_plain_data(round: Round, surface: str) -> None:
    for objective in (minimize("valid_error"), maximize("accuracy")):
        found = check(results(round, World(SURFACES[surface], objective=objective)))
        assert found
        assert as_json(found)


@pytest.mark.parametrize("status", ["pending", "running", "failed"])
def test_a_round_without_an_ended_trial(status: str) -> None:
    round = ROUNDS["mixed"]
    trials = [
        Trial(number=n, study=n % 3, index=n // 3, configuration={}, unit={}, status=status)
        for n in range(9)
    ]  # type: ignore[arg-type]
    found = check(Results.from_parts(round, minimize("valid_error"), trials))
    assert not any(f.verdict == "warn" for f in found)
    assert any(f.verdict == "cannot_judge" for f in found)


def test_equal_values_everywhere_are_no_finding() -> None:
    found = check(results(ROUNDS["mixed"], Bowl({})))
    assert not [f for f in found if f.check in ("boundary", "sensitivity") and f.verdict == "warn"]
    shares = [
        one.share
        for f in found
        if isinstance(f.evidence, SensitivityEvidence)
        for one in f.evidence.importances
    ]
    assert shares and all(np.isfinite(share) for share in shares)


def test_among_many_studies_a_few_warnings_are_chance_and_many_are_not() -> None:
    def findings(warned: int) -> list[Finding]:
        return [
            Finding(
                check="boundary",
                scope="study",
                about=f"seed={n}",
                verdict="warn" if n < warned else "ok",
                evidence=BoundaryEvidence(()),
            )
            for n in range(40)
        ]

    few = by_chance(findings(2), "seed=30")
    assert {f.verdict for f in few} == {"note", "ok"}
    assert [f.chance_among for f in few[:3]] == [40, 40, None]
    assert [f.verdict for f in by_chance(findings(2), "seed=1")[:2]] == ["note", "warn"]
    assert sum(f.verdict == "warn" for f in by_chance(findings(8), "seed=30")) == 8
    assert by_chance(findings(1)[:5], "seed=30") == findings(1)[:5]


@pytest.mark.parametrize("detect", [None, 0.05])
def test_one_warning_about_the_length_of_training(detect: float | None) -> None:
    """Curves that settle within a margin and still gain: what was declared to matter decides."""
    t = np.arange(1, 101) / 100
    level = 0.02 * np.arange(8)[:, None]
    curves = 0.2 + 0.8 * np.exp(-t / 0.03) - 0.006 * t + level
    curves = curves + 1e-4 * noise(np.random.default_rng(0), 8, 100, 0.0)
    made = results_of({"valid_error": curves}, detect=detect)
    apart = {f.check: f.verdict for ask in (still_improving, saturated) for f in ask(made)}
    assert apart == {"still_improving": "warn", "saturated": "warn"}
    found = {f.check: f for f in check(made) if f.check in apart}
    stays, yields = ("still_improving", "saturated")[:: 1 if detect is None else -1]
    assert (found[stays].verdict, found[yields].verdict) == ("warn", "note")
    assert found["saturated"].evidence.still_improving is (detect is None)
    assert found["still_improving"].evidence.immaterial is (detect is not None)
    assert len(found[yields].headline.split()) <= 12
    kinds = [one.kind for one in next_round(made, list(found.values()))]
    assert len({"longer", "shorter"} & set(kinds)) <= 1
