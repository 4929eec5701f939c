"""`tunewright probe train-steps` and `probe critical-batch`, as the shell would call them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

pytestmark = pytest.mark.beyond_core  # many trials or repetitions: seconds each

WORLDS = Path(__file__).parents[1] / "probes"
ROUND = """
goal = "Which batch size?"
trials_per_study = 12
[nuisance]
learning_rate = { log = [1e-4, 1.0] }
[fixed]
max_train_steps = 1200
"""


@pytest.fixture
def fitting(tunewright: Tunewright, tmp_path: Path) -> Path:
    """A project whose perfect fit is known."""
    (tmp_path / "train.py").write_text((WORLDS / "fitting_worlds.py").read_text())
    assert tunewright("init", "train.py:fits", "--minimize", "valid_error").code == 0
    return tmp_path


def declare_off(folder: Path) -> None:
    page = folder / "tunewright.toml"
    page.write_text(page.read_text() + '\n[workload.off]\nschedule = "constant"\n')


SWEEP = ("probe", "train-steps", "--learning-rate", "0.1", "--on", "inline")


def test_train_steps_ends_in_a_sentence_and_a_line_for_the_configuration(fitting, tunewright):
    declare_off(fitting)
    answer = tunewright(*SWEEP, "--plot", "sweep.png")
    assert answer.code == 0, answer.err
    assert "0.1           345" in answer.out and "infeasible" in answer.out
    assert "Begin with max_train_steps = 350." in answer.out
    assert answer.out.rstrip().endswith("max_train_steps = 350")
    assert "7 trials" in answer.err  # progress
    assert (fitting / "sweep.png").stat().st_size > 1000
    again = tunewright(*SWEEP, "--json")
    assert again.data["fit_steps"] == 345 and "begins" not in again.err


def test_train_steps_names_what_is_missing(fitting, tunewright):
    answer = tunewright(*SWEEP)
    line = 'schedule = "constant" under [workload.off] in tunewright.toml'
    assert f"missing: the value that switches schedule off: {line}" in answer.out
    assert not (fitting / "tuning.db").exists()


def test_wrong_values_are_refused_with_what_would_be_right(fitting, tunewright):
    answer = tunewright(*SWEEP, "--factor", "0.5", "--at-most", "0.1")
    assert answer.code == 2
    assert "factor=0.5" in answer.err and "of which metric?" in answer.err


@pytest.fixture
def scaling(tunewright: Tunewright, tmp_path: Path) -> Path:
    """A project whose critical batch size is 64."""
    (tmp_path / "train.py").write_text((WORLDS / "scaling_worlds.py").read_text())
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "batch.toml").write_text(ROUND)
    return tmp_path


def test_critical_batch_shows_every_size_and_the_critical_one(scaling, tunewright):
    asked = ("probe", "critical-batch", "batch", "--sizes", "8,32,128,512", "--on", "inline")
    answer = tunewright(*asked, "--plot", "scaling.svg")
    assert answer.code == 0, answer.err
    assert "the critical batch size is about" in answer.out
    assert answer.out.count(" of 12") == 4 and "batch_size = " in answer.out
    assert (scaling / "scaling.svg").stat().st_size > 1000
    found = tunewright(*asked, "--json").data
    assert found["low"] < 64 < found["high"] and len(found["sizes"]) == 4


def test_critical_batch_asks_for_what_it_needs(scaling, tunewright):
    answer = tunewright("probe", "critical-batch", "batch")
    assert answer.code == 2 and "--sizes 16,32,64" in answer.err
    assert "not numbers" in tunewright("probe", "critical-batch", "batch", "--sizes", "a,b").err
    one = tunewright("probe", "critical-batch", "batch", "--noise-scale", "8")
    assert one.code == 2 and "not two" in one.err
    nearest = tunewright("probe", "critical-batch", "bach", "--sizes", "8,16")
    assert nearest.code == 2 and "did you mean 'batch'" in nearest.err


def test_the_noise_scale_reads_what_a_round_logged(tunewright, tmp_path):
    (tmp_path / "train.py").write_text(
        "def train(run, learning_rate=0.1, max_train_steps=50):\n"
        "    for step in run.steps(max_train_steps):\n"
        "        # |G|^2 = 1, S = 100: |g|^2 = 1 + 100 / B\n"
        "        run.log(step, gradient_norm_small=(1 + 100 / 8) ** 0.5)\n"
        "        run.log(step, gradient_norm=(1 + 100 / 64) ** 0.5, valid_error=1 / step)\n"
    )
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "first.toml").write_text(
        'goal = "g"\ntrials_per_study = 1\n[nuisance]\nlearning_rate = { log = [0.01, 1.0] }\n'
    )
    assert tunewright("run", "first", "--on", "inline").code == 0
    answer = tunewright("probe", "critical-batch", "first", "--noise-scale", "8,64")
    assert answer.code == 0, answer.err
    assert "100 at 90%" in answer.out and "pre-screen" in answer.out
    missing = tunewright(
        "probe", "critical-batch", "first", "--noise-scale", "8,64", "--small-norm", "gnorm"
    )
    assert missing.code == 2 and "never logged gnorm" in missing.err


LONG_ROUND = """
goal = "Which learning rate?"
trials_per_study = 2
detect = 0.01
[nuisance]
learning_rate = { log = [0.05, 0.1] }
[fixed]
max_train_steps = 100
slow = 2.0
noise = 0.002
"""


def test_longer_resumes_the_best_trial_and_says_what_it_gains(tunewright, tmp_path):
    (tmp_path / "train.py").write_text((WORLDS / "branch_worlds.py").read_text())
    assert tunewright("init", "train.py:decaying", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir(exist_ok=True)
    (tmp_path / "rounds" / "decay.toml").write_text(LONG_ROUND)
    assert tunewright("run", "decay", "--on", "inline").code == 0
    answer = tunewright("probe", "longer", "decay", "--on", "inline", "--json")
    assert answer.code == 0, answer.err
    found = answer.data
    assert (found["probe"], found["verdict"]) == ("longer", "helps")
    assert (found["steps"], found["longer_steps"]) == (100, 125)
    assert found["settings"] == {"max_train_steps": 125}
    again = tunewright("probe", "longer", "decay", "--on", "inline")
    assert again.code == 0 and "begins" not in again.err
    refused = tunewright("probe", "longer", "decay", "--share", "-1", "--json")
    assert refused.error["code"] == "longer.bad_share"
