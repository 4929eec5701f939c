"""Each finding leads to the right proposal first; a clean round to exploitation or the end."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.advice.clean_worlds import INSIDE, clean, first
from tests.launches.rounds_of_worlds import REFERENCE, asked, ran, with_added

import tunewright as tw
from tunewright.actions import Launch, Probe, Repeat, RunRound, RunTrials, ShowRound
from tunewright.advice.next_round import next_round
from tunewright.checks.checklist import check
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.testing import Basin, Bowl, Surface, Unlucky, Walled


def kinds(results: Results) -> list[str]:
    return [one.kind for one in next_round(results, check(results))]


NAN = Message("metric.not_finite", {"metric": "valid_error", "value": "nan", "step": 1})


def test_a_clean_round_is_done_exploring() -> None:
    made = first(ran(asked(), clean()))
    assert (made.kind, made.search) == ("exploit", "bayesian")
    assert made.actions == (RunRound("first_2", search="bayesian"),)
    assert made.round is not None and not made.round.scientific
    assert made.round.continues == "first"
    # narrower, and the optimum is inside
    for name, at in (("learning_rate", 0.5), ("beta1", 0.5)):
        own, before = made.round.nuisance[name], REFERENCE[name]
        assert own != before
        assert own.low <= before.value(at) <= own.high


def test_a_clean_round_that_has_what_it_wants_to_detect_stops() -> None:
    made = next_round(ran(asked(detect=0.05), clean()))
    assert [one.kind for one in made] == ["stop"]  # and no more of what gains too little
    assert made[0].round is None
    assert made[0].actions == (Launch("first"),)
    assert made[0].reason.code == "proposal.saturated"
    assert made[0].reason.facts["matters"] == {"size": 0.05, "source": "detect"}


def test_without_a_yardstick_repeats_are_proposed_too() -> None:
    made = next_round(ran(asked(), clean()))
    assert made[1].kind == "repeat"
    assert made[1].actions == (Repeat("first", times=5),)
    assert made[1].reason.facts["matters"] is None


def test_an_optimum_outside_is_followed_first() -> None:
    made = first(ran(asked(), clean(Bowl({"learning_rate": 1.2, "beta1": 0.5}))))
    assert made.kind == "widen"
    assert made.because == ("boundary",)
    assert made.reason.facts["finding"]["check"] == "boundary"
    assert made.reason.facts["ranges"] == {"learning_rate": {"log": [1e-4, 1.0]}}
    assert made.round is not None
    assert str(made.round.nuisance["learning_rate"]) == "log(0.0001, 1)"
    assert made.round.nuisance["beta1"] == REFERENCE["beta1"]
    assert made.round.trials_per_study == 32  # four decades instead of three
    assert made.round.seed == asked().seed  # the data split goes by it


def test_a_rate_held_down_by_divergence_is_repaired_first() -> None:
    surface = Walled(Bowl({"learning_rate": 0.75, "beta1": 0.5}), {"learning_rate": 1.0}, above=0.7)
    made = first(ran(asked(trials_per_study=40), clean(surface)))
    assert made.kind == "repair"
    assert made.because == ("edge_of_divergence",)
    probes = ("stability", "warmup", "clip")
    assert made.actions == tuple(Probe(name, "first") for name in probes)


def test_spikes_of_the_best_are_repaired_first() -> None:
    spikes = np.zeros(100)
    spikes[60:63] = 3.0
    made = first(with_added(ran(asked(), clean(evaluations=100)), train_loss=spikes))
    assert (made.kind, made.because) == ("repair", ("instability",))


def test_a_training_loss_that_rises_comes_before_everything() -> None:
    up = np.linspace(0, 1, 50) ** 2
    outside = Bowl({"learning_rate": 1.2, "beta1": 0.5})
    made = next_round(with_added(ran(asked(), clean(outside)), train_loss=up))
    assert [one.kind for one in made[:2]] == ["repair", "widen"]
    assert made[0].because[0] == "training_bug"
    assert made[0].actions[-1].argv[:3] == ("tunewright", "trial", "first")


def test_nothing_learned_comes_before_everything() -> None:
    flat = with_added(
        ran(asked(), clean()), valid_error=lambda t: 1 - t.curves["valid_error"].values
    )
    made = first(flat)
    assert (made.kind, made.because[0]) == ("repair", "baseline")


def test_everything_diverging_is_a_bug() -> None:
    made = first(ran(asked(), clean(Unlucky(INSIDE, share=0.97))))
    assert (made.kind, made.because[0]) == ("repair", "infeasible")
    assert made.actions[0].argv[:3] == ("tunewright", "trial", "first")


def test_no_more_trials_of_a_space_in_which_everything_diverges() -> None:
    for share in (0.97, 1.0):
        found = next_round(ran(asked(trials_per_study=16), clean(Unlucky(INSIDE, share=share))))
        assert [one.kind for one in found] == ["repair"]
        assert found[0].reason.code == "proposal.suspect"


def test_an_adaptive_search_in_which_nothing_completed_is_looked_into() -> None:
    made = ran(asked(), clean(Unlucky(INSIDE, share=1.0)))
    trials = tuple(replace(t, search="bayesian") for t in made.recorded)
    (found,) = next_round(replace(made, search="bayesian", recorded=trials))
    assert (found.kind, found.reason.code) == ("repair", "proposal.none_completed")
    assert found.actions == (ShowRound("first"),)


def test_a_space_that_mostly_diverges_is_searched_where_it_trains() -> None:
    surface = Walled(Bowl({"learning_rate": 0.02, "beta1": 0.5}), {"learning_rate": 1.0}, above=0.3)
    made = ran(asked(trials_per_study=60), clean(surface))
    found = next_round(made)
    narrower = next(one for one in found if one.kind == "narrow" and "infeasible" in one.because)
    assert narrower.round is not None
    rates = narrower.round.nuisance["learning_rate"]
    assert rates.low == 1e-4
    assert REFERENCE["learning_rate"].unit(rates.high) == pytest.approx(0.3, abs=0.05)
    assert [one.kind for one in found].index("repair") > [one.kind for one in found].index("narrow")


def test_too_few_trials_for_what_is_to_be_detected_continue_the_round() -> None:
    made = first(ran(asked(detect=0.001, trials_per_study=12), clean(noise_sd=0.0)))
    assert made.kind == "more_trials"
    assert made.round is not None
    assert (made.round.name, made.round.trials_per_study) == ("first", 24)
    assert made.actions == (RunTrials("first", trials_per_study=24),)
    assert (made.reason.facts["trials"], made.reason.facts["trials_before"]) == (24, 12)


def test_after_two_doublings_the_ranges_are_narrowed_instead() -> None:
    made = ran(asked(detect=1e-5, trials_per_study=48), clean(noise_sd=0.0))
    assert kinds(made)[:2] == ["narrow", "more_trials"]


def test_too_few_completed_trials_to_judge_the_space() -> None:
    made = first(ran(asked(trials_per_study=5), clean()))
    assert (made.kind, made.actions) == ("more_trials", (RunTrials("first", 10),))
    assert made.reason.facts["finding"]["verdict"] == "cannot_judge"


def test_unequal_tuning_is_compared_again() -> None:
    made = ran(asked(scientific={"act": ["a", "b"]}), clean(effect=lambda s: 0.05 * s.number))
    gone = set(np.random.default_rng(1).permutation(24)[:14].tolist())
    lost = tuple(
        replace(t, status="infeasible", reason=NAN) if t.study == 1 and t.index in gone else t
        for t in made.recorded
    )
    found = next_round(replace(made, recorded=lost))
    again = next(one for one in found if one.kind == "compare_again")
    assert found[0] is again
    assert again.round is not None
    assert again.round.scientific == made.round.scientific
    own = {s.label: {h.column for h in s.space} for s in again.round.studies}
    assert own["act=a"] != own["act=b"]  # each has ranges of its own


def test_what_does_not_matter_is_fixed_at_the_best() -> None:
    nuisance = {name: REFERENCE[name] for name in ("learning_rate", "beta1", "epsilon")}
    made = ran(asked(nuisance=nuisance, trials_per_study=30), clean())
    found = next_round(made)
    fixed = next(one for one in found if one.kind == "fix")
    assert fixed.round is not None
    assert set(fixed.round.nuisance) == {"learning_rate", "beta1"}
    assert fixed.round.fixed["epsilon"] == made.best().configuration["epsilon"]


def test_pending_trials_are_run_first() -> None:
    made = ran(asked(), clean())
    half = tuple(replace(t, status="pending") if t.number > 12 else t for t in made.recorded)
    found = first(replace(made, recorded=half))
    assert (found.kind, found.actions) == ("finish", (RunTrials("first"),))
    assert found.reason == Message("proposal.unfinished", {"left": 11, "trials_in_all": 24})
    assert first(replace(made, recorded=())).kind == "finish"


def test_an_answered_question_is_exploited_at_its_answer() -> None:
    nuisance = {
        "act": tw.given(
            {
                "a": {"learning_rate": REFERENCE["learning_rate"]},
                "b": {"learning_rate": REFERENCE["learning_rate"]},
            }
        ),
        "beta1": REFERENCE["beta1"],
    }
    round = asked(scientific={"act": ["a", "b"]}, nuisance=nuisance)
    made = first(ran(round, clean(effect=lambda s: 0.2 * s.number)))
    assert made.kind == "exploit"
    assert made.round is not None
    assert made.round.fixed["act"] == "a"
    assert set(made.round.nuisance) == {"beta1", "learning_rate"}
    assert made.round.nuisance["learning_rate"] != REFERENCE["learning_rate"]


def test_an_open_question_is_exploited_by_searching_it_too() -> None:
    few = next_round(ran(asked(scientific={"act": ["a", "b"]}), clean()))
    assert few[0].kind == "more_trials"
    # after two doublings they are as good as equal
    many = next_round(ran(asked(scientific={"act": ["a", "b"]}, trials_per_study=40), clean()))
    assert many[0].kind == "exploit"
    assert many[0].round is not None and not many[0].round.scientific
    assert set(many[0].round.nuisance) == {"act", "learning_rate", "beta1"}
    assert many[-1].kind == "more_trials"


def test_an_adaptive_round_goes_on_or_stops() -> None:
    made = ran(asked(detect=0.02), clean())
    adaptive = replace(
        made,
        search="bayesian",
        recorded=tuple(replace(t, search="bayesian") for t in made.recorded),
    )
    assert first(adaptive).kind == "stop"
    # best found late: the search still gains
    late = tuple(
        replace(t, number=23 - t.number, index=None)
        for t in sorted(adaptive.trials, key=lambda t: t.value or 0.0)
    )
    gaining = replace(adaptive, recorded=tuple(sorted(late, key=lambda t: t.number or 0)))
    found = first(replace(gaining, round=replace(made.round, detect=1e-4)))
    assert (found.kind, found.actions) == ("exploit", (RunTrials("first", 36, "bayesian"),))


def test_a_search_whose_last_half_gained_nothing_is_not_continued() -> None:
    made = ran(asked(), clean())
    by_value = sorted(made.trials, key=lambda t: t.value or 0.0)  # the best came first
    early = tuple(replace(t, number=n, index=n, search="bayesian") for n, t in enumerate(by_value))
    found = next_round(replace(made, search="bayesian", recorded=early))
    assert "exploit" not in [one.kind for one in found]
    repeats = next(one for one in found if one.kind == "repeat")
    assert repeats.reason.facts["gain"] == 0
    late = tuple(
        replace(t, number=n, index=n, search="bayesian") for n, t in enumerate(by_value[::-1])
    )
    found = next_round(replace(made, search="bayesian", recorded=late))
    gains = {one.kind: one.reason.facts.get("gain") for one in found}
    assert gains["exploit"] == gains["repeat"] > 0


def test_every_proposed_round_can_be_run() -> None:
    """In any world: rounds have names of their own, or are the round itself with more trials."""
    surfaces: list[Surface] = [
        INSIDE,
        Bowl({"learning_rate": -0.2, "beta1": 1.1}),
        Basin({"learning_rate": 1.0, "beta1": 0.5}),
        Walled(INSIDE, {"learning_rate": 1.0}, above=0.4),
        Unlucky(INSIDE, share=0.5),
    ]
    for number, surface in enumerate(surfaces):
        for trials in (4, 12, 30):
            round = asked(trials_per_study=trials, seed=number)
            made = next_round(ran(round, clean(surface)))
            assert made, (number, trials)
            for one in made:
                assert one.reason.text and "{" not in one.reason.text
                assert one.round is not None or one.actions
                if one.round is not None:
                    assert one.actions[0].argv[:3] == ("tunewright", "run", one.round.name)
                    if one.round.name == round.name:
                        assert one.round.trials_per_study > trials
                    else:
                        assert one.round.name == "first_2"


def test_findings_are_asked_for_when_not_given() -> None:
    made = ran(asked(), clean())
    assert next_round(made) == next_round(made, check(made))


def test_names_are_public() -> None:
    assert tw.next_round is next_round


def test_the_page_runs_as_it_stands() -> None:
    page = (Path(__file__).parents[2] / "docs" / "next_round.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, "next_round.md", "exec"), names)
    assert names["first"].kind == "widen"
