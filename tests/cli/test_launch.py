"""The commands launch, history and variance: what they run, print, keep and refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

from tunewright.launches import lineage
from tunewright.store.store import Store

pytestmark = pytest.mark.beyond_core  # whole rounds, again and again

TRAIN = '''
import math
import random

import numpy as np


def train(run, learning_rate, layers=1, max_train_steps=20):
    """Two layers are better by 0.02; seeds and splits move the value by 0.002 each."""
    init, split = random.Random(run.seeds.init + layers), random.Random(run.seeds.split)
    luck = init.gauss(0, 0.002) + split.gauss(0, 0.002)
    for step in run.steps(max_train_steps):
        loss = 0.1 * (math.log10(learning_rate) + 1.5) ** 2 + 1 / step
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=0.3 + loss - GAIN * layers + luck)
    np.save(run.folder / "per_example.npy", np.array([init.random() < 0.7 for _ in range(200)]))
'''
ROUND = """
goal = "Do more layers help?"
trials_per_study = 10
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 20
"""


@pytest.fixture(params=[0.02])
def tuned(request, tunewright: Tunewright, tmp_path: Path) -> Path:
    """A project whose round `layers` has run; two layers gain this much."""
    (tmp_path / "train.py").write_text(TRAIN.replace("GAIN", str(request.param)))
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "layers.toml").write_text(ROUND)
    assert tunewright("run", "layers", "--on", "inline").code == 0
    return tmp_path


def test_a_launch_repeats_both_and_becomes_the_baseline(tuned, tunewright):
    answer = tunewright("launch", "layers", "--on", "inline", "--why", "cheap enough")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("Launch: better with probability")
    assert "candidate  layers trial" in answer.out
    assert "3 + 3 runs:" in answer.err
    with Store.open(tuned / "tuning.db") as store:
        (decided,) = lineage.launches(store)
        now = lineage.baseline(store)
        results = store.results("layers")
    assert decided.verdict == "launch"
    reasons = [reason["code"] for reason in decided.decision["reasons"]]
    assert {"launch.claim_scientific", "launch.false_launches"} < set(reasons)
    caveats = [caveat["code"] for caveat in decided.decision["caveats"]]
    assert "launch.holds_for" in caveats
    assert decided.why == "cheap enough"
    assert "@" in decided.who
    assert now.place.configuration["layers"] == 2
    assert now.runs == len(decided.decision["candidate_values"])
    assert len(results.repeats(now.place.trial)) >= 3
    shown = tunewright("history")
    assert "cheap enough" in shown.out
    assert f"baseline: layers trial {now.place.trial}" in shown.out
    again = tunewright("launch", "layers", "--on", "inline")
    assert again.code == 2
    assert "is the baseline already" in again.err


@pytest.mark.parametrize("tuned", [0.0], indirect=True)
def test_an_equal_setting_is_not_launched(tuned, tunewright):
    answer = tunewright("launch", "layers", "--on", "inline", "--times", "5", "--json")
    assert answer.code == 0, answer.err
    report = answer.data
    launch = report["decision"]
    assert launch["looks"] == [5]
    assert launch["runs"] == [5, 5]
    assert launch["claim"] == "feature"
    assert launch["threshold"] == 0.9
    if launch["verdict"] == "keep":
        assert report["now"] is None
    # the same pair again is one of several looks
    again = tunewright("launch", "layers", "--on", "inline", "--times", "5", "--json").data[
        "decision"
    ]
    assert again["looks"] == [3, 5, 8, 13, 20]
    assert again["threshold"] >= 0.965


def test_a_dry_run_says_what_it_costs_and_runs_nothing(tuned, tunewright):
    answer = tunewright("launch", "layers", "--dry-run")
    assert answer.code == 0, answer.err
    assert "candidate  layers trial" in answer.out
    data = tunewright("launch", "layers", "--dry-run", "--json").data
    why = data["plan"]["why_baseline"]
    assert why == {"code": "launch.baseline_start", "study": "layers=1"}
    assert (data["decision"], data["recorded"]) == (None, None)
    assert "96.5 %" in answer.out
    assert "6 to 40 runs" in answer.out
    fixed = tunewright("launch", "layers", "--dry-run", "--times", "5", "--sd", "0.01")
    assert "10 runs" in fixed.out
    assert "declared" in fixed.out
    narrow = tunewright("launch", "layers", "--dry-run", "--not-worse-by", "0.001", "--sd", "0.01")
    assert "below one standard deviation" in narrow.out
    with Store.open(tuned / "tuning.db") as store:
        assert not store.results("layers").recorded_repeats
        assert not lineage.launches(store)
    assert tunewright("history", "--json").data["launches"] == []


def test_the_first_baseline_needs_no_comparison(tuned, tunewright):
    answer = tunewright("launch", "layers", "--first", "--trial", "0")
    assert answer.code == 0, answer.err
    assert "layers trial 0 is the first baseline" in answer.out
    assert "layers trial 0 is the baseline already" in tunewright("launch", "layers", "--first").err
    better = tunewright("launch", "layers", "--on", "inline", "--json")
    found = better.data
    assert (found["baseline"]["round"], found["baseline"]["trial"]) == ("layers", 0)
    assert found["decision"]["verdict"] == "launch"
    assert found["recorded"] is not None
    data = tunewright("history", "--json").data
    assert [one["verdict"] for one in data["launches"]] == ["launch", "launch"]
    assert len(data["baselines"]) == 2


def test_the_baseline_can_be_named(tuned, tunewright):
    own = tunewright("launch", "layers", "--baseline", "0", "--dry-run")
    assert "baseline   layers trial 0" in own.out
    other = tunewright("launch", "layers", "--baseline", "layers:2", "--dry-run")
    assert "baseline   layers trial 2" in other.out
    wrong = tunewright("launch", "layers", "--baseline", "layes")
    assert wrong.code == 2
    assert "did you mean 'layers'?" in wrong.err


def test_a_hyperparameter_only_change_takes_less(tuned, tunewright):
    with Store.open(tuned / "tuning.db") as store:
        results = store.results("layers")
    own = [t for t in results.top(20) if t.study == 1]
    answer = tunewright(
        "launch", "layers", "--trial", str(own[0].number), "--baseline", str(own[1].number),
        "--dry-run",
    )  # fmt: skip
    assert "hyperparameters only: only learning_rate changed" in answer.out
    assert "87 %" in answer.out


def test_one_run_each_with_a_known_sd(tuned, tunewright):
    answer = tunewright("launch", "layers", "--times", "1", "--sd", "0.003", "--on", "inline")
    assert answer.code == 0, answer.err
    assert "one run each" in answer.out
    assert answer.out.startswith("Launch")


def test_both_on_shared_splits_are_compared_split_by_split(tuned, tunewright):
    answer = tunewright("launch", "layers", "--splits", "3", "--on", "inline", "--json")
    assert answer.code == 0, answer.err
    found = answer.data["decision"]
    assert found["method"] == "paired by split"
    assert found["verdict"] == "launch"
    assert found["runs"] == [3, 3]


def test_in_general_adds_the_luck_of_tuning_and_of_the_data(tuned, tunewright):
    report = tunewright("launch", "layers", "--on", "inline", "--json").data
    plain = report["decision"]
    trial, against = (str(report[arm]["trial"]) for arm in ("candidate", "baseline"))
    wide = tunewright(
            "launch", "layers", "--trial", trial, "--baseline", against, "--in-general",
            "--on", "inline", "--json",
        ).data["decision"]  # fmt: skip
    assert plain["sources"] == ["trial"]
    assert wide["sources"] == ["trial", "study", "data"]
    assert wide["interval"][0] < plain["interval"][0]


def test_findings_forbid_before_anything_is_run(tuned, tunewright):
    text = (
        (tuned / "train.py").read_text().replace("1 / step", "1 / step + 0.02 * max(0, step - 8)")
    )
    text = text.replace("run.log(step, train_loss=loss)", "run.log(step, train_loss=1 / step)")
    (tuned / "train.py").write_text(text)
    round = ROUND.replace("max_train_steps = 20", "max_train_steps = 200")
    (tuned / "rounds" / "longer.toml").write_text(round)
    assert tunewright("run", "longer", "--on", "inline").code == 0
    answer = tunewright("launch", "longer", "--on", "inline")
    assert answer.code == 0
    assert answer.out.startswith("Undecided: the best trials overfit")
    with Store.open(tuned / "tuning.db") as store:
        assert not store.results("longer").recorded_repeats


def test_a_round_with_one_setting_needs_a_baseline(tuned, tunewright):
    (tuned / "rounds" / "one.toml").write_text(ROUND.replace("[1, 2]", "[2]"))
    assert tunewright("run", "one", "--on", "inline").code == 0
    answer = tunewright("launch", "one")
    assert answer.code == 2
    assert "tunewright launch one --first" in answer.err
    assert tunewright("launch", "one", "--baseline", "layers", "--dry-run").code == 0


def test_variances_together(tuned, tunewright):
    before = tunewright("variance", "layers")
    assert before.code == 0, before.err
    assert "not known: trial" in before.out
    assert "from halves of 10 trials" in before.out
    after = tunewright(
        "variance", "layers", "--times", "3", "--studies", "3", "--splits", "3", "--on", "inline"
    )
    assert after.code == 0, after.err
    assert "from 3 repeats" in after.out
    assert "from 3 studies" in after.out
    assert "from 3 data splits" in after.out
    assert "not known" not in after.out
    data = tunewright("variance", "layers", "--json").data
    assert data["trial"]["sd"] > 0
    assert data["data"]["how"] == {
        "code": "variance.examples_of_runs",
        "examples": 200,
        "runs": 3,
    }
    assert set(data["study"]) == {"layers=1", "layers=2"}
