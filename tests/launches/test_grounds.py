"""What a launch claims, and which findings forbid it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.launches.arms import HIGH, LOW, facts, of, repeats_of, round_results, warning

from tunewright.checks.density import density
from tunewright.checks.fairness import FairnessEvidence
from tunewright.design.guards import BatchSizeChange
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.finding import Finding
from tunewright.launches.decide import decide
from tunewright.launches.launch import LaunchTerms
from tunewright.testing import Bowl, results


def test_the_claim_follows_what_the_round_asked():
    results = round_results({n: [0.3, 0.31, 0.29, 0.3, 0.3] for n in (0, 1, 2)})
    other = replace(repeats_of(results, 2).of, configuration={"layers": 1, "learning_rate": 0.02})
    within = replace(repeats_of(results, 2), of=other)
    asked = decide(repeats_of(results, 1), repeats_of(results, 0))
    not_asked = decide(within, repeats_of(results, 0))
    assert (asked.claim, not_asked.claim) == ("feature", "hyperparameters")
    assert facts(asked.reasons, "launch.claim_scientific")["names"] == ["layers"]
    assert facts(not_asked.reasons, "launch.claim_not_asked")["names"][0] == "learning_rate"


@pytest.mark.parametrize("check", ["overfitting", "fairness", "boundary", "edge_of_divergence"])
def test_findings_forbid_claims_about_features_but_not_shipping_a_point(check):
    results = round_results({0: [0.3, 0.31, 0.3, 0.29, 0.31], 1: [0.2, 0.21, 0.2, 0.22, 0.21]})
    arms = repeats_of(results, 1), repeats_of(results, 0)
    warned = warning(check, "study", "layers=2")
    forbidden = decide(*arms, findings=[warned])
    assert forbidden.verdict == "undecided"
    assert facts(forbidden.reasons, "launch.finding")["check"] == check
    assert forbidden.reasons[0].code == "launch.finding"
    assert forbidden.forbidden is False  # the runs were there already
    point = decide(*arms, LaunchTerms(claim="hyperparameters"), findings=[warned])
    assert point.verdict == "launch"
    assert facts(point.caveats, "launch.finding")["about"] == "layers=2"
    elsewhere = decide(*arms, findings=[replace(warned, about="layers=7")])
    assert elsewhere.verdict == "launch"
    assert decide(*arms, findings=[replace(warned, verdict="note")]).verdict == "launch"


def test_what_makes_the_round_meaningless_forbids_every_claim():
    assert (
        of(HIGH, LOW, findings=[warning("baseline")], claim="hyperparameters").verdict
        == "undecided"
    )
    launch = of(HIGH, LOW, findings=[warning("same_code")])
    assert launch.verdict == "launch"  # the repeats decide, and they share their code
    limit = facts(launch.caveats, "launch.finding")
    assert (limit["check"], limit["scope"], limit["about"]) == ("same_code", "round", "depth")


def density_finding():
    round = Round(
        "depth",
        goal="Deeper?",
        nuisance={"learning_rate": log(1e-4, 1.0)},
        trials_per_study=20,
        detect=1e-6,
    )
    (found,) = density(results(round, Bowl({"learning_rate": 0.5})))
    return replace(found, scope="round", about="depth", verdict="warn")


def test_a_converted_finding_keeps_its_evidence_in_the_reason():
    dense = density_finding()
    launch = of(HIGH, LOW, findings=[replace(dense, check="boundary")])
    assert launch.verdict == "undecided"
    kept = facts(launch.reasons, "launch.finding")
    assert kept["evidence"] == dense.evidence.to_data()
    assert kept["scope"] == "round"
    elsewhere = replace(dense, check="boundary", scope="study", about="layers=7")
    assert of(HIGH, LOW, findings=[elsewhere]).verdict == "launch"


def test_values_tuned_for_another_batch_size_are_a_caveat_and_no_objection():
    kept = BatchSizeChange("batch_size", "first", 32, 512, ("learning_rate",), ("weight_decay",))
    noted = Finding(
        check="fairness",
        scope="round",
        about="depth",
        verdict="note",
        evidence=FairnessEvidence((), "all", kept=kept),
    )
    launch = of(HIGH, LOW, findings=[noted])
    assert launch.verdict == "launch"
    found = facts(launch.caveats, "continued.batch_size")
    assert (found["before"], found["now"], found["optimizer"]) == (32, 512, ["learning_rate"])
    silent = replace(noted, evidence=FairnessEvidence((), "all"))
    assert "continued.batch_size" not in {c.code for c in of(HIGH, LOW, findings=[silent]).caveats}
