"""The probe `longer`: it speaks where more steps help, and where they do not; else it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.probes import branch_worlds, starts_anew

import tunewright as tw
from tunewright.errors import DesignError
from tunewright.execution.executors.inline import Inline
from tunewright.probes.longer import branching_point, longer
from tunewright.store.store import Store

STEPS = 100


def work(folder: Path, train: Any = branch_worlds.decaying, **more: Any) -> tw.Workload:
    objective = tw.types.Objective("valid_error", True, at="last")
    return tw.Workload(train, objective, store=folder / "tuning.db", executor=Inline(), **more)


def ran(workload: tw.Workload, slow: float, noise: float = 0.002, **fixed: Any) -> tw.types.Results:
    given = {"max_train_steps": STEPS, "slow": slow, "noise": noise, **fixed}
    round = tw.Round(
        "decay",
        goal="Which learning rate?",
        nuisance={"learning_rate": tw.log(0.05, 0.1)},
        fixed=given,
        trials_per_study=3,
        detect=0.01,
    )
    return tw.run(round, workload)


def test_it_finds_the_gain_where_training_was_too_short(tmp_path: Path) -> None:
    own = work(tmp_path)
    results = ran(own, slow=2.0)
    best = results.best()
    found = longer(results, own)
    assert found.verdict == "helps", found
    assert (found.trial, found.steps, found.longer_steps) == (best.number, STEPS, 125)
    assert 0 < found.from_step <= 90 and len(found.longer) == len(found.as_long) == 3
    assert found.settings == {"max_train_steps": 125}
    rate = best.configuration["learning_rate"]
    # from the branching point on the decay is moved; before it the rate had fallen already
    known = branch_worlds.reached(100, rate, 2.0) - branch_worlds.reached(125, rate, 2.0)
    assert 0.2 * known < found.gain < 1.5 * known and found.low > 0
    assert found.message.code == "probe.longer.helps" and len(found.headline.split()) <= 12
    with Store.open(own.store) as store:
        (kept,) = store.probes(name="longer")
        assert kept.answer["verdict"] == "helps" and kept.answer["gain"] == found.gain
        rounds = [r for r in store.rounds() if r.name.startswith("probe_longer_")]
        starts = [
            store.attempts(trial.identity)[-1].start_step
            for record in rounds
            for trial in store.results(record.name).trials
        ]
    assert len(rounds) == 2 and set(starts) == {found.from_step}


def test_it_says_where_longer_training_does_not_help(tmp_path: Path) -> None:
    own = work(tmp_path)
    found = longer(ran(own, slow=0.2, noise=0.001), own)
    assert found.verdict == "does not help", found
    assert found.high < found.matters == 0.01 and not found.settings
    assert found.message.code == "probe.longer.does_not"


def test_it_is_silent_in_noise(tmp_path: Path) -> None:
    own = work(tmp_path)
    found = longer(ran(own, slow=0.2, noise=0.2), own)
    assert found.verdict == "unknown" and found.missing[0].code == "probe.longer.more_seeds"
    assert found.low < 0 < found.high


def test_without_noise_it_cannot_judge(tmp_path: Path) -> None:
    own = work(tmp_path)
    found = longer(ran(own, slow=2.0, noise=0.0), own)
    assert found.verdict == "unknown" and found.missing[0].code == "probe.longer.no_noise"


def test_asked_again_it_trains_nothing(tmp_path: Path) -> None:
    own = work(tmp_path)
    results = ran(own, slow=2.0)
    first = longer(results, own, times=2)
    with Store.open(own.store) as store:
        before = [(r.name, dict(r.counts)) for r in store.rounds()]
    assert longer(results, own, times=2).gain == first.gain
    with Store.open(own.store) as store:
        assert [(r.name, dict(r.counts)) for r in store.rounds()] == before


def test_the_share_and_the_trial_can_be_chosen(tmp_path: Path) -> None:
    own = work(tmp_path)
    results = ran(own, slow=2.0)
    other = results.top(3)[-1].number
    found = longer(results, own, trial=other, share=0.5, times=2)
    assert (found.trial, found.longer_steps, len(found.longer)) == (other, 150, 2)


def test_a_program_that_starts_anew_is_refused_before_compute(tmp_path: Path) -> None:
    own = work(tmp_path, starts_anew.train)
    round = tw.Round(
        "anew",
        goal="?",
        nuisance={"learning_rate": tw.log(0.05, 0.1)},
        fixed={"max_train_steps": 20},
        trials_per_study=2,
    )
    results = tw.run(round, own)
    with pytest.raises(DesignError) as refused:
        longer(results, own)
    assert refused.value.code == "longer.does_not_restore"
    with Store.open(own.store) as store:
        assert [record.name for record in store.rounds()] == ["anew"]


def test_one_that_only_seems_to_resume_is_found_out(tmp_path: Path) -> None:
    own = work(tmp_path, branch_worlds.forgetful)
    found = longer(ran(own, slow=2.0), own)
    assert found.verdict == "unknown" and found.missing[0].code == "probe.longer.not_restored"


def test_what_is_missing_is_refused_before_compute(tmp_path: Path) -> None:
    own = work(tmp_path)
    results = ran(own, slow=2.0)
    with pytest.raises(DesignError) as refused:
        longer(results, own, share=-1.0, times=1)
    assert [p.code for p in refused.value.problems] == ["longer.bad_share", "longer.bad_times"]
    shutil.rmtree(Path(results.root, results.best().folder, "snapshots"))
    with pytest.raises(DesignError) as refused:
        longer(results, own)
    assert refused.value.code == "longer.no_snapshot"
    with Store.open(own.store) as store:
        assert [record.name for record in store.rounds()] == ["decay"]


def test_a_torn_snapshot_is_passed_over(tmp_path: Path) -> None:
    own = work(tmp_path)
    results = ran(own, slow=2.0)
    point = branching_point(results, results.best())
    (point.path / "tree.json").write_bytes(b"torn")
    assert branching_point(results, results.best()).path != point.path
