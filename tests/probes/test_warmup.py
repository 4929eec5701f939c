"""The warm-up probe: a world whose limit is known, stable ones, and a residual network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.probes import residual_world, sharpness_world

from tunewright.design.objective import maximize, minimize
from tunewright.errors import DesignError
from tunewright.execution.executors.inline import Inline
from tunewright.execution.workload import Workload
from tunewright.probes.probe import Answer, as_document
from tunewright.probes.starting_point import by_meaning
from tunewright.probes.warmup import Arm, climb, compare_arms, lengths, warmup
from tunewright.store.store import Store

HOLD = {"schedule": "constant"}


@pytest.fixture
def workload(tmp_path: Path) -> Any:
    def make(train: Any = sharpness_world.train, **more: Any) -> Workload:
        given = {"off": HOLD, **more}
        store = tmp_path / "tuning.db"
        return Workload(train, minimize("valid_loss"), store=store, executor=Inline(), **given)

    return make


def test_the_shortest_warm_up_is_found_and_pays(workload: Any) -> None:
    own = workload()
    found = warmup(own, fixed={"learning_rate": 0.01})
    assert isinstance(found, Answer)
    assert found.unstable_base_learning_rate == pytest.approx(0.03)
    assert found.base_learning_rate == pytest.approx(0.3)
    assert [(rung.warmup_steps, rung.stable) for rung in found.rungs] == [(10, False), (100, True)]
    assert all(len(rung.runs) == 2 for rung in found.rungs)
    assert found.compared is not None and found.compared.gain is not None
    assert found.compared.gain > 10 * (found.compared.error or 0)
    assert found.settings == {"warmup_steps": 100, "max_train_steps": 1100, "learning_rate": 0.3}
    assert found.message.code == "probe.warmup.found"
    assert found.message.facts["compared"] == found.compared.message
    assert len(found.headline.split()) <= 12
    (said,) = found.caveats
    long = {"share": pytest.approx(0.1), "name": "max_train_steps", "steps": 1100}
    assert (said.code, said.facts) == ("probe.warmup.long", long)
    with Store.open(own.store) as store:
        kept = store.probes()[-1].answer
    assert kept["probe"] == "warmup" and kept["warmup_steps"] == 100
    assert json.loads(json.dumps(as_document(found)))["rungs"][1]["warmup_steps"] == 100


def test_whole_trainings_are_compared_on_equal_and_fresh_draws(workload: Any) -> None:
    own = workload()
    found = warmup(own, fixed={"learning_rate": 0.01, "max_train_steps": 200}, repeats=2)
    assert found.compared is not None
    with Store.open(own.store) as store:
        rounds = {record.name.split("_")[1]: record.name for record in store.rounds()}
        plain = store.results(rounds["baseline"]).trials
        warm = store.results(rounds["prepended"]).trials
    assert {t.seed for t in plain} == {t.seed for t in warm} and len({t.seed for t in warm}) == 2
    assert {t.configuration["schedule"] for t in (*plain, *warm)} == {"linear"}
    added = found.warmup_steps or 0
    assert {t.configuration["max_train_steps"] for t in plain} == {200}
    assert {t.configuration["max_train_steps"] for t in warm} == {200 + added}
    assert [len(arm.values) for arm in found.compared.candidates] == [2, 2]


def test_a_stable_world_needs_none(workload: Any) -> None:
    found = warmup(workload(), fixed={"learning_rate": 0.01, "sharp": 1.0})
    assert found.message.code == "probe.warmup.not_needed"
    assert found.message.facts["stability"].code == "probe.stability.stable"
    assert not found.settings and not found.rungs and not found.missing


def test_it_falls_back_to_three_times_and_then_to_both(workload: Any) -> None:
    """Ten times sharper: no warm-up within a tenth of training is long enough."""
    found = warmup(workload(), fixed={"learning_rate": 0.001, "sharp": 1000.0}, repeats=0)
    tried = [(rung.base_learning_rate, rung.warmup_steps) for rung in found.rungs]
    unstable = found.unstable_base_learning_rate or 0
    times = [(pytest.approx(10 * unstable), 10), (pytest.approx(10 * unstable), 100)]
    times += [(pytest.approx(3 * unstable), 10), (pytest.approx(3 * unstable), 100)]
    assert tried[:4] == times
    assert found.clip_norm is not None and found.rungs[-1].clip_norm == found.clip_norm
    assert found.settings["clip_norm"] == found.clip_norm
    assert found.message.facts["clip_norm"] == found.clip_norm
    assert found.message.facts["search_again"] == "learning_rate"  # nothing was compared


def test_clipping_alone_is_preferred_to_both(workload: Any) -> None:
    """Outliers of the gradient: no warm-up helps, clipping does."""
    fixed = {"learning_rate": 0.02, "sharp": 5.0, "burst": 40.0}
    found = warmup(workload(), fixed=fixed, repeats=0)
    assert found.rungs and not any(rung.stable for rung in found.rungs)
    assert all(rung.clip_norm is None for rung in found.rungs)
    assert found.settings == {"clip_norm": found.clip_norm}
    assert found.message.code == "probe.warmup.clipping_works"
    assert found.message.facts["longest"] == 100


def test_a_program_that_adds_warm_up_itself_keeps_its_max_train_steps(workload: Any) -> None:
    def adds(
        run: Any,
        learning_rate: float,
        warmup_steps: int = 0,
        schedule: str = "linear",
        max_train_steps: int = 1000,
    ) -> None:
        sharpness_world.train(
            run,
            learning_rate,
            warmup_steps=warmup_steps,
            schedule=schedule,
            max_train_steps=max_train_steps + warmup_steps,
        )

    found = warmup(workload(adds), fixed={"learning_rate": 0.01}, repeats=0)
    assert found.settings == {"warmup_steps": 100}
    assert found.rungs[-1].on_top


def test_what_is_missing_is_named(workload: Any) -> None:
    def bare(run: Any, learning_rate: float = 0.1, max_train_steps: int = 100) -> None:
        raise AssertionError("nothing may train")

    found = warmup(workload(bare, off=None))
    (said,) = found.missing
    assert said.code == "probe.takes_no_hyperparameter"
    assert 'means={"warmup_steps": ...}' in said.text


def test_no_warm_up_fits_into_a_few_steps(workload: Any) -> None:
    assert lengths(9) == () and lengths(10) == (1,) and lengths(1_000_000)[-1] == 100_000
    found = warmup(workload(), fixed={"learning_rate": 0.01, "max_train_steps": 9})
    (said,) = found.missing
    assert (said.code, said.facts) == ("probe.warmup.too_few_steps", {"steps": 9})


@pytest.mark.parametrize("wrong", [{"times": ()}, {"times": (0.5,)}, {"repeats": -1}])
def test_what_makes_no_sense_is_refused(workload: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(DesignError, match=next(iter(wrong))):
        warmup(workload(), fixed={"learning_rate": 0.01}, **wrong)


def test_gains_are_positive_where_it_is_better() -> None:
    baseline = Arm(0.1, 0, (0.7, 0.8))
    good, bad, gone = Arm(0.3, 10, (0.8, 0.9)), Arm(1.0, 10, (0.6, 0.7)), Arm(3.0, 10, (0.99, None))
    up = compare_arms(maximize("accuracy"), baseline, [bad, gone, good])
    assert up.best == good and up.gain == pytest.approx(0.1) and up.error == pytest.approx(0.0)
    down = compare_arms(minimize("error"), baseline, [good])
    assert down.gain == pytest.approx(-0.1) and "worse by 0.1" in down.message.text
    nothing = compare_arms(minimize("error"), baseline, [gone])
    assert nothing.gain is None and nothing.message.code == "probe.prepended.unstable"


def test_warm_up_makes_a_residual_network_with_large_branches_stable(workload: Any) -> None:
    start = by_meaning(workload(residual_world.train), {"learning_rate": 3e-4}, None)
    rungs, missing = climb(start, 3e-3, beyond=3)
    assert not missing
    assert [(rung.warmup_steps, rung.stable) for rung in rungs] == [(10, False), (100, True)]


@pytest.mark.slow
def test_the_whole_procedure_on_a_residual_network(workload: Any) -> None:
    found = warmup(workload(residual_world.train), fixed={"learning_rate": 3e-4}, steps=200)
    assert found.unstable_base_learning_rate and found.rungs[-1].stable
    assert found.compared is not None and found.settings
