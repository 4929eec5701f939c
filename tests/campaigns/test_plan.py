"""What comes next, on states made by hand: nothing is trained."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tunewright.campaigns.campaign import Campaign, Definition
from tunewright.campaigns.edges import beyond
from tunewright.campaigns.plan import next_step
from tunewright.campaigns.request import as_space
from tunewright.design.ranges import linear, log
from tunewright.errors import DesignError
from tunewright.launches.lineage import Launched, Place
from tunewright.store.launches import Evaluation
from tunewright.store.results import Results
from tunewright.testing import Bowl, Walled, World, results

SPACE = as_space({"learning_rate": log(1e-4, 1.0), "dropout": linear(0, 0.6)}, "tune")
INSIDE = World(Bowl({"learning_rate": 0.5, "dropout": 0.4}), noise_sd=0.002)


def campaign(*rounds: Results, trials: int = 60, **more: object) -> Campaign:
    own = Definition("tune", SPACE, trials, None, **more)  # type: ignore[arg-type]
    return Campaign(
        definition=own, rounds=rounds, kinds=tuple(r.round.name.split("_")[-1] for r in rounds)
    )


def explored(world: World = INSIDE, trials: int = 17, name: str = "tune_1_explore", **repeats: int):
    asked = replace(SPACE, name=name, trials_per_study=trials)
    again = {int(number[1:]): times for number, times in repeats.items()}
    return replace(results(asked, world, repeats=again), search="halton")


def test_it_begins_with_the_whole_space() -> None:
    step = next_step(campaign())
    assert (step.kind, step.search) == ("explore", "halton")
    assert step.round is not None and step.round.name == "tune_1_explore"
    assert step.round.nuisance == SPACE.nuisance
    assert step.reason.code == "campaign.first_round"
    assert step.reason.facts["names"] == ["learning_rate", "dropout"]
    assert (step.round.goal, step.round.change) == (SPACE.goal, step.reason)


def test_what_people_have_today_comes_first_where_it_is_known() -> None:
    step = next_step(campaign(default={"learning_rate": 0.01, "dropout": 0.0}))
    assert step.kind == "baseline"
    assert step.round is not None and dict(step.round.fixed) == {
        "learning_rate": 0.01,
        "dropout": 0.0,
    }


def test_a_round_that_is_not_finished_is_finished_first() -> None:
    own = explored()
    pending = replace(own.recorded[-1], status="pending")
    broken = replace(own, recorded=(*own.recorded[:-1], pending))
    step = next_step(campaign(broken))
    assert step.kind == "finish"
    assert step.round == broken.round


def test_the_best_at_the_end_of_a_range_widens_it() -> None:
    beyond = World(Bowl({"learning_rate": 1.6, "dropout": 0.4}), noise_sd=0.001)
    step = next_step(campaign(explored(beyond, trials=24), trials=100))
    assert step.kind == "widen"
    assert step.round is not None
    assert step.round.nuisance["learning_rate"].high > 1.0
    assert step.round.seed == SPACE.seed, "the data split stays"
    assert step.trials <= 100


def test_when_exploration_is_over_luck_is_measured_then_exploited() -> None:
    own = explored(trials=32)
    step = next_step(campaign(own))
    assert (step.kind, step.times) == ("repeat", 3)
    assert step.of is not None and step.of.trial == own.best().number
    known = explored(trials=32, **{f"t{own.best().number}": 3})
    after = next_step(campaign(known))
    assert (after.kind, after.search) == ("exploit", "bayesian")
    assert after.trials <= campaign(known).left


def test_the_finalists_are_repeated_and_there_is_no_way_back() -> None:
    first = explored(trials=26)
    exploit = explored(trials=22, name="tune_2_exploit")
    exploit = replace(exploit, search="bayesian")
    best = exploit.top(2)
    again = explored(trials=22, name="tune_2_exploit", **{f"t{t.number}": 3 for t in best})
    again = replace(again, search="bayesian")
    assert again.top(2)[0].number == best[0].number
    step = next_step(campaign(first, again))
    assert step.kind in ("repeat", "launch"), step


def test_the_end_without_a_baseline_is_the_first_one() -> None:
    first = explored(trials=6)
    small = campaign(first, trials=6)
    step = next_step(small)
    assert step.kind == "launch"
    assert step.reason.code == "campaign.first_baseline"
    place = Place("tune_1_explore", first.best().number or 0, first.best().configuration)
    now = datetime.now(UTC)
    launched = Launched(1, now, place, None, "launch", {}, "me", "", "", "")
    assert next_step(replace(small, launched=launched)).kind == "done"


def test_the_test_set_comes_last_and_once() -> None:
    first = explored(trials=6)
    place = Place("tune_1_explore", first.best().number or 0, first.best().configuration)
    launched = Launched(1, datetime.now(UTC), place, None, "launch", {}, "me", "", "", "")
    own = replace(campaign(first, trials=6, tests=True), launched=launched)
    step = next_step(own)
    assert step.kind == "test" and step.of == place
    look = Evaluation(
        first.best().identity, 0, 10, {"test_error": 0.1}, "t", "w", "valid_error", 0.1, 1
    )
    assert next_step(replace(own, looks=(look,))).kind == "done"


def test_nothing_trains_and_it_ends_with_a_word() -> None:
    nowhere = World(Walled(Bowl({"learning_rate": 0.5}), {"learning_rate": 1.0}, above=-1.0))
    own = campaign(explored(nowhere, trials=12), trials=12)
    step = next_step(own)
    assert step.kind == "done"
    assert step.reason.code == "campaign.none_completed"


def test_a_space_of_plain_values_is_refused() -> None:
    with pytest.raises(DesignError, match="nothing is searched"):
        as_space({"learning_rate": 0.1}, "tune")


def test_exploitation_at_the_end_of_a_cut_range_gets_it_back() -> None:
    at_the_end = World(Bowl({"learning_rate": 1.0}), noise_sd=0.0)
    cut = replace(
        SPACE,
        name="tune_2_exploit",
        trials_per_study=120,
        nuisance={"learning_rate": log(1e-3, 1e-2), "dropout": linear(0, 0.6)},
    )
    first = explored(trials=20)
    best = first.best().number
    first = explored(trials=20, **{f"t{best}": 3})
    exploit = replace(results(cut, at_the_end), search="bayesian")
    found = beyond(campaign(first, exploit), exploit)
    assert found is not None
    made, moved = found
    assert str(made.nuisance["learning_rate"]) == "log(0.001, 1)", "as far as it was searched"
    assert {name: str(range) for name, range in moved.items()} == {"learning_rate": "log(0.001, 1)"}
    alone = beyond(campaign(exploit), exploit)
    assert alone is not None and alone[0].nuisance["learning_rate"].high > 0.01


def test_exploitation_inside_its_ranges_stays() -> None:
    assert beyond(campaign(explored(trials=24)), explored(trials=24)) is None


def exploiting(world: World, seed: int):
    """The first step of exploitation after 17 quasi-random trials, the best repeated."""
    asked = replace(SPACE, name="tune_1_explore", trials_per_study=17, seed=seed)
    best = results(asked, world).best().number
    own = replace(results(asked, world, repeats={best: 3}), search="halton")
    step = next_step(campaign(own))
    assert (step.kind, step.search) == ("exploit", "bayesian") and step.round is not None
    return step


def test_exploitation_begins_beyond_an_end_towards_which_the_best_lean() -> None:
    past = World(Bowl({"learning_rate": 1.15, "dropout": 0.4}), noise_sd=0.002)
    steps = [exploiting(past, seed) for seed in range(12)]
    assert sum(step.round.nuisance["learning_rate"].high > 1.0 for step in steps) >= 9
    moved = [step.reason.facts["ranges"] for step in steps]
    assert any("learning_rate" in ranges for ranges in moved)
    # an optimum well inside moves nothing
    steps = [exploiting(INSIDE, seed) for seed in range(12)]
    assert sum("learning_rate" in step.reason.facts["ranges"] for step in steps) <= 1


def test_an_end_at_which_trials_diverge_is_not_moved() -> None:
    at_the_end = World(Bowl({"learning_rate": 1.0}), noise_sd=0.0)
    own = replace(results(replace(SPACE, trials_per_study=120), at_the_end), search="bayesian")
    assert beyond(campaign(own), own) is not None
    kept = {t.number for t in own.top(3)}
    walled = tuple(
        replace(t, status="infeasible", value=None)
        if t.unit["learning_rate"] >= 0.9 and t.number not in kept
        else t
        for t in own.recorded
    )
    own = replace(own, recorded=walled)
    assert sum(t.status == "infeasible" for t in own.trials) > 3
    assert beyond(campaign(own), own) is None


def test_no_end_is_moved_past_where_a_value_can_be() -> None:
    off = World(Bowl({"learning_rate": 0.5, "dropout": 0.0}))
    own = explored(off, trials=40)
    found = beyond(campaign(own), own)
    assert found is None or found[0].nuisance["dropout"].low == 0


def test_more_runs_of_the_winner_do_not_dethrone_it() -> None:
    own = explored(replace(INSIDE, noise_sd=0.05), trials=30)
    first, second = (t.number for t in own.top(2))
    made = explored(replace(INSIDE, noise_sd=0.05), trials=30, **{f"t{first}": 2, f"t{second}": 2})
    winner = campaign(made).winner
    assert winner is not None
    for times in range(3, 9):
        again = {f"t{first}": 2, f"t{second}": 2, f"t{winner.trial.number}": times}
        after = explored(replace(INSIDE, noise_sd=0.05), trials=30, **again)
        now = campaign(after).winner
        assert now is not None and now.trial.number == winner.trial.number
