"""What a decision adds to its interval, and the facts of its caveats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.launches.arms import HIGH, LOW, arm, codes, facts, of, repeats_of, round_results

from tunewright.launches.decide import decide
from tunewright.launches.launch import FIVE_LOOKS, POWER, LaunchTerms, Plan
from tunewright.launches.variance import FILE, variances_of
from tunewright.messages import Message
from tunewright.stats.spread import Spread

REPEATS = {7: [0.20, 0.21, 0.19, 0.20, 0.22]}


@pytest.mark.parametrize("sd", [0.5, 10.0])
def test_study_variance_adds_its_square_to_that_of_the_runs(sd: float) -> None:
    alone = of(HIGH, LOW)
    spread = Spread("study", sd, sd / 2, sd * 2, float("inf"), Message("variance.studies"))
    both = of(HIGH, LOW, study=spread)
    assert alone.interval is not None and both.interval is not None
    half = (both.interval[1] - both.interval[0]) / 2
    assert half == pytest.approx(1.645 * sd, rel=0.01)  # the runs' own share is far smaller
    assert both.gain == alone.gain
    assert both.sources == ("trial", "study") and alone.sources == ("trial",)


def test_as_many_infeasible_repeats_in_both_arms_limit_nothing() -> None:
    def limits(candidate: int, baseline: int) -> list[str]:
        own = replace(arm(HIGH), infeasible=candidate)
        return codes(decide(own, replace(arm(LOW, "baseline"), infeasible=baseline)).caveats)

    assert "launch.baseline_infeasible" not in limits(1, 1)
    assert "launch.baseline_infeasible" not in limits(0, 0)
    assert "launch.baseline_infeasible" in limits(0, 1)


def test_caveats_name_the_arm_they_are_about() -> None:
    noisy = decide(
        arm([v + d for v, d in zip(HIGH, (0.1, -0.1, 0.2, -0.2, 0), strict=True)]),
        arm(LOW, "baseline"),
    )
    assert facts(noisy.caveats, "launch.unequal_spread")["arm"] == "candidate"
    calm = decide(
        arm(HIGH),
        arm([v + d for v, d in zip(LOW, (0.1, -0.1, 0.2, -0.2, 0), strict=True)], "baseline"),
    )
    assert facts(calm.caveats, "launch.unequal_spread")["arm"] == "baseline"
    lost = decide(arm(HIGH), replace(arm(LOW, "baseline"), failed=2, unfinished=1))
    assert facts(lost.caveats, "launch.lost_runs") == {
        "arm": "baseline",
        "asked": 8,
        "failed": 2,
        "unfinished": 1,
    }


def test_a_program_declared_deterministic_whose_runs_differ_is_named_with_their_sd() -> None:
    found = decide(arm(HIGH), arm([0.7] * 5, "baseline"), LaunchTerms(deterministic=True))
    known = facts(found.reasons, "launch.not_deterministic")["arms"]
    assert known == {"candidate": pytest.approx(np.std(HIGH, ddof=1))}
    assert found.verdict == "undecided"


@pytest.mark.parametrize(
    ("own", "other", "apart"),
    [
        ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), False),
        ((0, 0, 0, 1, 1), (0, 0, 0, 1, 1), True),  # two shared splits are too few for pairs
        ((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), True),
        ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9), False),  # each run has its own: as if drawn
    ],
)
def test_runs_on_other_splits_are_not_compared(own, other, apart) -> None:
    found = decide(arm(HIGH, splits=own), arm(LOW, "baseline", splits=other))
    assert ("launch.different_splits" in codes([*found.reasons, *found.caveats])) == apart
    same = decide(
        arm(HIGH, splits=own), arm(LOW, "baseline", splits=other), LaunchTerms(same_data=True)
    )
    assert "launch.different_splits" not in codes([*same.reasons, *same.caveats])


def test_one_run_each_on_its_own_split_is_not_as_if_drawn() -> None:
    terms = LaunchTerms(sd=0.01)
    from tunewright.stats.gain import History

    found = decide(
        arm(HIGH[:1], splits=(1,)),
        arm(LOW[:1], "baseline", splits=(2,)),
        terms,
        history=History.from_declaration(0.01),
    )
    assert "launch.different_splits" in codes([*found.reasons, *found.caveats])


def test_the_best_of_four_is_too_good_by_something_and_the_best_of_fewer_is_not_said() -> None:
    made = round_results(REPEATS)
    found = variances_of(made)
    assert found.optimism is not None and found.optimism > 0
    fewer = [t for t in made.recorded if t.study == 0 or t.number in (3, 5, 7)]
    assert variances_of(replace(made, recorded=tuple(fewer))).optimism is None


def test_the_difference_is_known_from_examples_of_the_best_other_study(tmp_path) -> None:
    made = round_results(REPEATS)
    placed = replace(
        made,
        root=str(tmp_path),
        recorded=tuple(replace(t, folder=f"r1/{t.number}") for t in made.recorded),
    )
    random = np.random.default_rng(10)
    for number in (7, 5):  # both of the second study
        (tmp_path / f"r1/{number}").mkdir(parents=True)
        np.save(tmp_path / f"r1/{number}" / FILE, random.random(100))
    found = variances_of(placed)
    assert found.data is not None and found.data_of_gain is None
    (tmp_path / "r1/6").mkdir()
    np.save(tmp_path / "r1/6" / FILE, random.random(100))
    assert variances_of(placed).data_of_gain is not None


def test_five_looks_find_larger_gains_more_often() -> None:
    for power in POWER.values():
        assert tuple(power) == (0.5, 1.0, 2.0)  # trial standard deviations
        shares = list(power.values())
        assert shares == sorted(shares) and 0 < shares[0] < shares[-1] == 1.0


def test_the_repeats_of_a_launch_are_those_of_its_trial() -> None:
    own = repeats_of(round_results(REPEATS), 7)
    assert own.values == tuple(REPEATS[7])


@pytest.mark.parametrize(
    ("plan", "verdict"),
    [(FIVE_LOOKS, "keep"), (Plan(FIVE_LOOKS.looks, gives_up=False), "undecided")],
    ids=["gives up", "goes to the end"],
)
def test_a_hopeless_candidate_is_given_up_from_the_second_look_on(plan: Plan, verdict: str) -> None:
    worse, better = (0.60, 0.61, 0.60, 0.59, 0.60), (0.70, 0.71, 0.70, 0.69, 0.70)
    assert of(worse[:3], better[:3], plan=plan).verdict == "undecided"
    assert of(worse, better, plan=plan).verdict == verdict


def test_a_plan_that_ended_without_an_answer_names_its_runs() -> None:
    alike = tuple(0.70 + 0.01 * (n % 3) for n in range(20))
    found = of(alike, alike, plan=Plan(FIVE_LOOKS.looks, gives_up=False))
    assert found.verdict == "undecided" and facts(found.reasons, "launch.too_small") == {"runs": 20}


def test_arms_paired_by_split_count_their_shared_splits_as_runs() -> None:
    better, base, splits = (
        (0.71, 0.70, 0.72, 0.70, 0.72),
        (0.70, 0.71, 0.70, 0.71, 0.70),
        (1, 2, 3, 4, 5),
    )
    own, other = arm(better, splits=splits), arm(base, "baseline", splits=splits)
    found = decide(own, other, LaunchTerms(plan=FIVE_LOOKS))
    assert (found.method, found.verdict) == ("paired by split", "undecided")
    assert facts(found.reasons, "launch.next_look") == {"runs": 8} and found.runs_needed == 3
