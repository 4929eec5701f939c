"""Programs that do not use their seed: their identical repeats decide nothing."""

from __future__ import annotations

import pytest
from tests.launches.arms import arm, codes, facts, repeats_of, round_results

import tunewright as tw
from tunewright.checks.trial_sd import seedless_trials, trial_sd
from tunewright.checks.variance import variance as variance_check
from tunewright.launches.decide import decide
from tunewright.launches.launch import LaunchTerms
from tunewright.launches.variance import variances_of
from tunewright.store.results import Repeats

SAME = (0.5, 0.5, 0.5)


def forgot_the_seed(run, learning_rate=0.01, max_train_steps=20):
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=1 / (1 + learning_rate * step))


def coarse(run, learning_rate=0.01, max_train_steps=20):
    """It uses its seed, and gives the same value at the end all the same."""
    for step in run.steps(max_train_steps):
        luck = run.seeds.trial % 97 / 1000 if step < max_train_steps else 0.0
        run.log(step, valid_error=1 / (1 + learning_rate * step) + luck)


def saturated(run, learning_rate=0.01, max_train_steps=20):
    """Its error on few examples is the same under every seed; its loss shows that it uses it."""
    for step in run.steps(max_train_steps):
        luck = run.seeds.trial % 97 / 1000
        run.log(step, valid_error=0.5 if step < 10 else 0.0, train_loss=1 / step + luck)


def deaf(run, learning_rate=0.01, max_train_steps=20):
    """Its losses are the same under every seed, its speed is not."""
    for step in run.steps(max_train_steps):
        speed = 1000 + run.seeds.trial % 97
        run.log(step, valid_error=1 / step, train_loss=1 / step, steps_per_s=speed)


def two_settings(tmp_path, train, **more):
    own = tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=tmp_path / "s.db",
        executor=tw.executors.Inline(),
        **more,
    )
    asked = tw.Round(
        "r",
        goal="q",
        scientific={"learning_rate": [0.01, 0.0100001]},
        trials_per_study=1,
        fixed={"max_train_steps": 20},
    )
    return tw.run(asked, own), own


def runs_of(store):
    return len(tw.load(store, "r").recorded_repeats)


def test_identical_arms_are_refused_whatever_their_means():
    found = decide(arm((0.6, 0.6, 0.6)), arm(SAME, "baseline"), LaunchTerms(plan=3))
    assert (found.verdict, found.runs_needed) == ("undecided", 0)
    assert found.reasons[0].code == "launch.identical_repeats"
    assert facts(found.reasons, "launch.identical_repeats")["runs"] == {
        "candidate": 3,
        "baseline": 3,
    }


def test_repeats_that_differ_by_rounding_are_identical():
    found = decide(arm((0.6, 0.6 + 1e-16, 0.6)), arm((0.5, 0.5, 0.5 - 1e-16), "baseline"))
    assert found.reasons[0].code == "launch.identical_repeats"


def test_one_value_in_common_is_a_caveat_where_the_other_arm_varies():
    found = decide(arm((0.6, 0.6, 0.6)), arm((0.5, 0.52, 0.51), "baseline"), LaunchTerms(plan=3))
    assert "launch.identical_repeats" not in codes(found.reasons)
    caveat = facts(found.caveats, "launch.same_curves")
    assert caveat == {"runs": 3, "arm": "candidate"}
    assert found.runs_needed > 0 or found.verdict != "undecided"


def test_one_value_in_both_arms_by_chance_is_not_certainty():
    own, other = arm((0.6,) * 5, alike=False), arm((0.5,) * 5, "baseline", alike=False)
    found = decide(own, other)
    assert (found.verdict, found.reasons[0].code) == ("undecided", "launch.no_spread")
    assert found.runs_needed > 0


def test_the_launch_of_a_program_without_its_seed_is_refused_before_the_baseline_runs(tmp_path):
    results, own = two_settings(tmp_path, forgot_the_seed)
    report = tw.launch(results, own, trial=1, against=0)
    assert report.decision.verdict == "undecided"
    assert report.decision.reasons[0].code == "launch.identical_repeats"
    assert runs_of(own.store) == 3, "the baseline is not trained again for nothing"
    again = tw.launch(results, own, trial=1, against=0)
    assert again.decision.reasons[0].code == "launch.identical_repeats"
    assert runs_of(own.store) == 3 and again.recorded is None


def test_repeats_variance_and_the_checklist_say_so(tmp_path):
    results, own = two_settings(tmp_path, forgot_the_seed)
    repeats = tw.repeat(results.trial(0), own, times=3)
    assert repeats.seedless
    results = tw.load(own.store, "r")
    (found,) = variance_check(results)
    assert (found.verdict, found.evidence.seedless) == ("warn", (0,))
    assert found.evidence.spread is None
    assert variances_of(results).seedless == (0,) and variances_of(results).trial is None
    assert trial_sd(results, results.studies[0]) is None


def test_a_seed_that_is_used_is_seen_in_the_curves(tmp_path):
    results, own = two_settings(tmp_path, coarse)
    repeats = tw.repeat(results.trial(0), own, times=3)
    assert len(set(repeats.values)) == 1 and not repeats.seedless
    assert seedless_trials(tw.load(own.store, "r")) == ()


@pytest.mark.parametrize(("candidate", "verdict"), [(1, "launch"), (0, "keep")])
def test_a_declared_deterministic_program_is_compared_without_probability(
    tmp_path, candidate, verdict
):
    results, own = two_settings(tmp_path, forgot_the_seed, deterministic=True)
    report = tw.launch(results, own, trial=candidate, against=1 - candidate)
    found = report.decision
    assert found.verdict == verdict and found.deterministic
    assert found.probability is None and found.interval is None
    assert found.false_launch_rate is None
    difference = results.trial(1 - candidate).value - results.trial(candidate).value
    assert found.gain == pytest.approx(difference)
    assert found.reasons[0].code == "launch.deterministic"
    assert runs_of(own.store) == 0, "nothing is trained again"
    assert (report.recorded is not None) and found.to_data()["probability"] is None


def test_what_is_asked_for_holds_without_probability_too():
    terms = LaunchTerms(deterministic=True, complexity=0.2)
    assert decide(arm((0.6,)), arm((0.5,), "baseline"), terms).verdict == "keep"
    margin = LaunchTerms(deterministic=True, not_worse_by=0.2)
    assert decide(arm((0.4,)), arm((0.5,), "baseline"), margin).verdict == "launch"


def test_declared_deterministic_but_varying_is_refused():
    terms = LaunchTerms(deterministic=True)
    found = decide(arm((0.6, 0.61, 0.6)), arm(SAME, "baseline"), terms)
    assert found.verdict == "undecided"
    assert found.reasons[0].code == "launch.not_deterministic"


def test_the_declaration_is_kept_with_the_round(tmp_path):
    results, own = two_settings(tmp_path, forgot_the_seed, deterministic=True)
    tw.repeat(results.trial(0), own, times=3)
    results = tw.load(own.store, "r")
    assert results.meaning.deterministic
    assert not Repeats(results.trial(0), results.repeats(0), results).seedless
    (found,) = variance_check(results)
    assert found.verdict == "ok" and found.evidence.deterministic


def test_single_values_on_a_grid_need_three_runs():
    two = repeats_of(round_results({7: [0.2, 0.2]}), 7)
    three = repeats_of(round_results({7: [0.2, 0.2, 0.2]}), 7)
    assert (two.seedless, three.seedless) == (False, True)


@pytest.mark.parametrize(("train", "uses_seed"), [(saturated, True), (deaf, False)])
def test_losses_that_differ_show_that_the_seed_is_used(tmp_path, train, uses_seed):
    results, own = two_settings(tmp_path, train)
    tw.repeat(results.trial(0), own, times=3)
    repeated = tw.load(own.store, "r")
    assert seedless_trials(repeated) == (() if uses_seed else (0,))
    group = Repeats(repeated.trial(0), repeated.repeats(0), repeated)
    assert group.values[0] == group.values[1] == group.values[2]
    assert (group.seedless, group.same_curves) == (not uses_seed, not uses_seed)
