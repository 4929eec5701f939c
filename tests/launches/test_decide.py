"""The launch decision: what it says, what forbids it, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from tests.launches.arms import (
    HIGH,
    LOW,
    ROUND,
    SAME,
    arm,
    codes,
    facts,
    of,
    repeats_of,
    round_results,
)

from tunewright.design.names import Meaning
from tunewright.design.objective import maximize
from tunewright.errors import DesignError
from tunewright.launches.arm import Arm
from tunewright.launches.decide import decide
from tunewright.launches.launch import FIVE_LOOKS, NINE_LOOKS, TWO_LOOKS, LaunchTerms
from tunewright.messages import Message
from tunewright.stats.gain import History
from tunewright.stats.spread import Spread


def test_a_clear_gain_is_launched_and_an_equal_pair_kept():
    clear = of(HIGH, LOW)
    assert clear.verdict == "launch"
    assert clear.probability > 0.99
    assert clear.gain == pytest.approx(0.038)
    low, high = clear.shrunk_interval
    assert low < clear.shrunk_gain < clear.gain < high, "an estimate lies in its own interval"
    assert clear.shrunk_gain > 0.038 * 0.8, "six standard errors leave little to shrink"
    assert clear.interval[0] < clear.gain < clear.interval[1]
    assert clear.runs_needed == 0
    equal = of(SAME, LOW)
    assert equal.gain == 0  # whatever rounding makes of it
    assert facts(equal.reasons, "launch.difference")["gain"] == 0
    assert equal.verdict == "keep"
    assert equal.probability == pytest.approx(0.5)
    assert of(LOW, HIGH).verdict == "keep"


def test_gain_is_positive_where_smaller_is_better():
    results = round_results({0: [0.30, 0.31, 0.30, 0.29, 0.31], 1: [0.25, 0.26, 0.24, 0.25, 0.26]})
    launch = decide(repeats_of(results, 1), repeats_of(results, 0))
    assert launch.verdict == "launch"
    assert launch.gain == pytest.approx(0.05)
    assert launch.candidate == "depth trial 1"
    assert launch.claim == "feature"
    held = {"name": "max_train_steps", "value": 100, "when": []}
    assert Message("launch.holds_for", held) in launch.caveats
    wrong = facts(launch.reasons, "launch.false_launches")
    assert (wrong["rate"], wrong["at_most"]) == (0.10, False)


def test_a_hyperparameter_the_round_did_not_ask_about_takes_less():
    slightly = (0.705, 0.715, 0.695, 0.71, 0.72)
    feature = of(slightly, LOW, claim="feature")
    only = of(slightly, LOW, claim="hyperparameters")
    assert (feature.threshold, only.threshold) == (0.90, 0.78)
    assert (feature.false_launch_rate, only.false_launch_rate) == (0.10, 0.25)
    assert feature.probability == only.probability


def test_other_numbers_of_runs_than_planned_mean_several_looks():
    assert of(HIGH, LOW).looks == (5,)
    assert of(HIGH[:3], LOW[:3]).looks == FIVE_LOOKS.looks
    assert of(HIGH[:3], LOW[:3], plan=3).looks == (3,)
    again = of(HIGH, LOW, looked=1)
    assert again.looks == FIVE_LOOKS.looks
    assert again.threshold == 0.965
    assert "launch.looked_before" in codes(again.reasons)
    assert of(HIGH, LOW, plan=TWO_LOOKS).threshold == 0.94
    assert of(HIGH[:3], LOW[:3], plan=NINE_LOOKS, claim="hyperparameters").threshold == 0.875


def test_the_sequential_plan_asks_for_more_runs_until_it_is_settled():
    first = of((0.71, 0.70, 0.72), (0.70, 0.71, 0.70))
    assert (first.verdict, first.runs_needed) == ("undecided", 2)
    second = of((0.71, 0.70, 0.72, 0.71, 0.71), LOW, looked=1)
    assert (second.verdict, second.runs_needed) == ("undecided", 3)
    worse = of((0.69, 0.68, 0.70, 0.69, 0.69), LOW, looked=1)
    assert worse.verdict == "keep"
    assert codes(worse.reasons)[1] == "launch.futile"
    twenty = [0.70 + 0.01 * (k % 5) for k in range(20)]
    open_still = of([v + 0.004 for v in twenty], twenty, looked=4, detect=0.004)
    assert (open_still.verdict, open_still.runs_needed) == ("undecided", 0)
    assert codes(open_still.reasons)[0] == "launch.too_small"


def test_two_looks_end_in_launch_or_keep():
    ten = LOW * 2
    assert of(LOW, SAME, plan=TWO_LOOKS).runs_needed == 5
    assert of(SAME * 2, ten, plan=TWO_LOOKS).verdict == "keep"


def test_complexity_has_to_be_gained_first():
    assert of(HIGH, LOW, complexity=0.01).verdict == "launch"
    dear = of(HIGH, LOW, complexity=0.05)
    assert dear.verdict == "keep"
    assert dear.probability < 0.1
    assert facts(dear.reasons, "launch.probability")["must_exceed"] == 0.05


def test_something_that_does_not_help_can_be_removed():
    launch = of(SAME, LOW, not_worse_by=0.02)
    assert launch.verdict == "launch"
    assert launch.threshold == 0.90
    assert facts(launch.reasons, "launch.probability")["not_worse_by"] == 0.02
    assert of(LOW, HIGH, not_worse_by=0.01).verdict == "keep"
    assert of(SAME, LOW, not_worse_by=0.02, looked=1).threshold == 0.97
    narrow = of(SAME, LOW, not_worse_by=0.002)
    assert narrow.verdict == "keep"


def test_one_run_each_is_enough_when_the_sd_is_known():
    assert of([0.74], [0.70]).verdict == "undecided"
    assert of([0.74], [0.70]).probability is None
    launch = of([0.74], [0.70], sd=0.01)
    assert launch.verdict == "launch"
    assert launch.looks == (1,)
    assert "launch.one_run" in codes(launch.caveats)
    assert of([0.71], [0.70], sd=0.01).verdict == "keep"
    assert of([0.71], [0.70], sd=0.01, claim="hyperparameters").threshold == 0.75
    against_five = of([0.74], LOW, sd=0.01)
    assert against_five.verdict == "launch"
    assert of([0.74], LOW).verdict == "undecided"


def test_too_few_or_unbalanced_runs_are_not_judged():
    two = of(HIGH[:2], LOW[:2])
    assert (two.verdict, two.runs_needed) == ("undecided", 1)
    assert two.probability is not None
    assert of(HIGH[:2], LOW[:2], history=History.from_repeats(0.01, 8)).verdict == "launch"
    ten = of(HIGH[:3], LOW * 2)
    assert (ten.verdict, ten.runs_needed) == ("undecided", 7)
    unbalanced = facts(ten.reasons, "launch.unbalanced")
    assert (unbalanced["more"], unbalanced["arm"]) == (7, "candidate")
    nothing = of([], LOW)
    assert (nothing.verdict, nothing.gain, nothing.interval) == ("undecided", None, None)


def test_unequal_arms_get_a_variance_each():
    assert of(HIGH, LOW[:4]).method == "a variance each"
    assert of(HIGH, LOW).method == "one variance"


def test_a_history_that_the_runs_contradict_is_left_out():
    fits = of(HIGH, LOW, history=History.from_repeats(0.01, 20))
    assert not fits.history_dropped
    assert fits.history_sd == 0.01
    small = of(HIGH, LOW, history=History.from_repeats(0.001, 20))
    assert small.history_dropped
    assert facts(small.caveats, "launch.history_contradicted") == {"sd": 0.001}
    without = of(HIGH, LOW)
    assert small.probability == without.probability


def test_an_unmatched_infeasible_repeat_leaves_it_undecided():
    results = round_results({0: [0.3, 0.31, 0.3, 0.29, 0.31], 1: [0.2, 0.21, 0.2, None, 0.21]})
    launch = decide(repeats_of(results, 1), repeats_of(results, 0))
    assert launch.verdict == "undecided"
    assert launch.runs_needed == 0
    assert codes(launch.reasons)[0] == "launch.infeasible_repeats"
    assert launch.reasons[0].facts["candidate"] == 1
    assert launch.reasons[0].facts["candidate_asked"] == 5
    both = round_results({0: [0.3, 0.31, None, 0.29, 0.31], 1: [0.2, 0.21, 0.2, None, 0.21]})
    assert decide(repeats_of(both, 1), repeats_of(both, 0)).verdict == "launch"


def test_arms_on_different_splits_are_not_compared():
    here, there = (arm(v, splits=(s,) * 5) for v, s in ((HIGH, 0), (LOW, 1)))
    there = replace(there, label="baseline")
    launch = decide(here, there)
    assert launch.verdict == "undecided"
    assert codes(launch.reasons)[0] == "launch.different_splits"
    assert decide(here, there, LaunchTerms(same_data=True)).verdict == "launch"
    assert decide(here, replace(there, splits=(0,) * 5)).verdict == "launch"


def test_shared_splits_are_compared_one_by_one():
    splits = (1, 2, 3, 4, 5)
    base = (0.5, 0.6, 0.7, 0.8, 0.9)
    better = (0.511, 0.609, 0.712, 0.81, 0.909)
    unpaired = of(better, base)
    paired = decide(arm(better, splits=splits), arm(base, "baseline", splits=splits))
    assert (unpaired.verdict, paired.verdict) == ("keep", "launch")
    assert paired.method == "paired by split"
    assert paired.looks == (5,)
    twice = decide(arm(better * 2, splits=splits * 2), arm(base * 2, "baseline", splits=splits * 2))
    assert twice.looks == (5,)
    assert twice.verdict == "launch"


def test_more_candidates_must_be_surer():
    assert [of(HIGH, LOW, candidates=m).threshold for m in (2, 3, 4, 5)] == [
        0.947,
        0.961,
        0.975,
        0.975,
    ]
    assert of(HIGH, LOW, candidates=10).threshold == pytest.approx(0.99)
    assert of(HIGH, LOW, candidates=2, looked=1).threshold == pytest.approx(1 - 0.035 / 2)


def test_tuning_luck_and_finite_data_widen_the_interval():
    plain = of(HIGH, LOW)
    halves = Message("variance.halves", {"trials": 16, "each": False})
    luck = Spread("study", 0.05, 0.02, 0.1, 2.0, halves)
    shared = Message("variance.shared_examples", {"examples": 1000})
    finite = Spread("data", 0.02, 0.02, 0.02, float("inf"), shared)
    wide = of(HIGH, LOW, study=luck)
    assert wide.sources == ("trial", "study")
    assert facts(wide.reasons, "launch.variance_included")["sd"] == 0.05
    assert "16 trials" in str(wide.reasons[-2])
    assert wide.verdict == "keep"
    both = of(HIGH, LOW, data=finite)
    assert plain.interval[0] > both.interval[0] > wide.interval[0]
    assert both.probability < plain.probability


def test_caveats_about_the_runs():
    wild = (0.9, 0.6, 0.8, 0.5, 0.9)
    assert facts(of(wild, LOW).caveats, "launch.unequal_spread")["ratio"] > 3
    constant = of((0.9,) * 5, (0.8,) * 5)
    assert constant.verdict == "undecided"
    assert constant.reasons[0].code == "launch.identical_repeats"
    by_chance = decide(arm((0.9,) * 5, alike=False), arm(LOW, "baseline"))
    assert "launch.same_curves" not in codes(by_chance.caveats)
    failed = decide(arm(HIGH[:4], failed=1), arm(LOW, "baseline"))
    assert failed.looks == (5,)
    assert facts(failed.caveats, "launch.lost_runs")["failed"] == 1
    other = decide(arm(HIGH, code=frozenset({"abc"})), arm(LOW, "baseline", code=frozenset({"d"})))
    assert facts(other.caveats, "launch.different_code") == {
        "candidate": ["abc"],
        "baseline": ["d"],
    }


def test_repeats_that_logged_the_same_curve_did_not_use_their_seed():
    same = round_results({0: [0.3] * 5, 1: [0.2] * 5})
    launch = decide(repeats_of(same, 1), repeats_of(same, 0))
    assert codes(launch.caveats).count("launch.same_curves") == 2


def test_how_many_runs_would_find_it():
    keep = of((0.705, 0.715, 0.695, 0.71, 0.72), LOW)
    assert {"launch.runs_to_find", "launch.too_small_to_find"} & set(codes(keep.reasons))
    assert facts(of(SAME, LOW, detect=0.01).reasons, "launch.runs_to_find")["gain"] == 0.01


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(DesignError, match="judge both alike"):
        decide(arm(HIGH), arm(LOW, "baseline", objective=maximize("recall")))
    with pytest.raises(DesignError, match="both candidate and baseline"):
        decide(arm(LOW), arm(LOW))
    with pytest.raises(DesignError, match="not_worse_by="):
        of(HIGH, LOW, complexity=-0.1)
    with pytest.raises(DesignError, match="two questions"):
        of(HIGH, LOW, complexity=0.1, not_worse_by=0.1)
    with pytest.raises(DesignError, match="above 0"):
        of(HIGH, LOW, not_worse_by=0.0)
    with pytest.raises(DesignError, match="sd=-1"):
        of(HIGH, LOW, sd=-1)
    with pytest.raises(DesignError, match="feature, hyperparameters"):
        of(HIGH, LOW, claim="featur")
    with pytest.raises(DesignError, match="candidates=0"):
        of(HIGH, LOW, candidates=0)
    with pytest.raises(DesignError, match="detect=0"):
        of(HIGH, LOW, detect=0)
    with pytest.raises(DesignError, match="give the repeats"):
        decide([0.1, 0.2], arm(LOW))
    with pytest.raises(DesignError, match="calibrated"):
        of(HIGH, LOW, plan=replace(FIVE_LOOKS, looks=(3, 4, 5)))


numbers = st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: round(x, 6))
runs = st.lists(numbers, min_size=3, max_size=6)


@settings(max_examples=60, deadline=None)
@given(runs, runs, st.floats(-100, 100), st.floats(0.01, 100))
def test_a_shift_of_both_changes_nothing_and_units_do_not_matter(candidate, baseline, by, times):
    moved = of([times * (v + by) for v in candidate], [times * (v + by) for v in baseline])
    plain = of(candidate, baseline)
    if plain.sd > 1e-3:
        assert moved.probability == pytest.approx(plain.probability, abs=1e-4)
        assert moved.verdict == plain.verdict or abs(plain.probability - plain.threshold) < 1e-3
    assert 0 <= plain.probability <= 1


@settings(max_examples=60, deadline=None)
@given(runs, runs)
def test_the_other_way_round_is_the_complement(candidate, baseline):
    one, other = of(candidate, baseline), of(baseline, candidate)
    assert one.probability == pytest.approx(1 - other.probability, abs=1e-9)
    assert one.gain == pytest.approx(-other.gain)


def test_an_arm_by_hand_names_the_split_of_every_value():
    with pytest.raises(DesignError, match="2 splits"):
        Arm("mine", (0.1, 0.2, 0.3), maximize("accuracy"), splits=(1, 2))
    assert ROUND.seed == 0


def test_arms_of_different_lengths_are_not_compared_unless_asked():
    short, long = arm(HIGH, steps=50.0), arm(LOW, "baseline", steps=120.0)
    found = decide(short, long)
    assert (found.verdict, found.runs_needed) == ("undecided", 0)
    assert found.reasons[0].code == "launch.different_lengths"
    assert facts(found.reasons, "launch.different_lengths") == {"candidate": 50, "baseline": 120}
    assert decide(short, long, LaunchTerms(any_length=True)).verdict == "launch"
    assert decide(short, replace(long, steps=50.0)).verdict == "launch"
    assert decide(short, replace(long, steps=None)).verdict == "launch"


def test_the_length_of_an_arm_is_found_by_its_meaning():
    results = round_results({7: HIGH, 6: LOW})
    assert Arm.of(repeats_of(results, 7)).steps == 100
    other = replace(results, meaning=Meaning({"max_train_steps": "layers"}))
    assert Arm.of(repeats_of(other, 7)).steps == 2


def test_caveats_name_only_what_both_arms_have():
    fixed = replace(ROUND, fixed={"max_train_steps": 100, "learning_rate": 0.001}, nuisance={})
    own = arm(HIGH, round=ROUND, configuration={"max_train_steps": 100, "learning_rate": 0.0054})
    old = arm(
        LOW,
        "baseline",
        round=fixed,
        configuration={"max_train_steps": 100, "learning_rate": 0.001},
    )
    found = [c.facts["name"] for c in decide(own, old).caveats if c.code == "launch.holds_for"]
    assert found == ["max_train_steps"]


def test_an_estimate_lies_in_its_own_interval():
    for gain in (0.001, 0.01, 0.05, 0.5):
        candidate = tuple(value + gain for value in LOW)
        found = of(candidate, LOW)
        low, high = found.shrunk_interval
        assert low < found.shrunk_gain < high
        said = facts(found.reasons, "launch.difference")
        assert said["interval"] == [low, high] and said["shrunk_gain"] == found.shrunk_gain
    assert found.shrunk_gain > 0.99 * found.gain, "40 standard errors are hardly shrunk"


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_a_value_that_is_no_number_is_refused(wrong):
    with pytest.raises(DesignError) as refused:
        decide(arm([0.7, wrong, 0.8]), arm(LOW))
    assert refused.value.code == "launch.value_not_finite"
    assert refused.value.facts["label"]


@pytest.mark.parametrize("wrong", [(3, 5), [3, 5], "5", 2.5, True, 0])
def test_a_plan_that_is_none_is_refused_with_its_value(wrong):
    with pytest.raises(DesignError) as refused:
        LaunchTerms(plan=wrong)
    assert (refused.value.code, refused.value.facts["plan"]) == ("launch.bad_plan", wrong)
