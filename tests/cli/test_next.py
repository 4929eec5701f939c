from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

from tunewright.design.objective import minimize
from tunewright.design.round_file import read_round
from tunewright.project._project import comment
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.bayesian.earlier import learning_from_earlier
from tunewright.search.halton import Halton

pytestmark = pytest.mark.beyond_core  # whole rounds, again and again

TRAIN = """\
import math

def train(run, learning_rate, layers=1, dropout=0.0, max_train_steps=100):
    for step in run.steps(max_train_steps):
        loss = 1 + (math.log10(learning_rate) + 2.7) ** 2 + 2 * math.exp(-step / 8)
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=loss / 10 - 0.03 * layers)
"""
ROUND = """\
# ours
goal = "Do more layers help?"
trials_per_study = 12  # enough
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-6, 1e-3] }
[fixed]
max_train_steps = 100
"""


@pytest.fixture
def folder(tunewright: Tunewright, tmp_path: Path) -> Path:
    """A project whose round `layers` has been run, its best learning rate outside the range."""
    (tmp_path / "train.py").write_text(TRAIN)
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "layers.toml").write_text(ROUND)
    assert tunewright("run", "layers", "--on", "inline").code == 0
    return tmp_path


def test_the_first_proposal_is_written_and_runs(tunewright: Tunewright, folder: Path) -> None:
    answer = tunewright("next", "layers")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[0].endswith("ways on, the most urgent first")
    assert lines[1].startswith("1   widen")
    assert lines[-1] == "next: tunewright next layers --write"
    assert not (folder / "rounds" / "layers_2.toml").exists()
    answer = tunewright("next", "layers", "--write")
    assert answer.out.splitlines()[-2:] == [
        "wrote rounds/layers_2.toml: widen",
        "next: tunewright run layers_2 --dry-run",
    ]
    text = (folder / "rounds" / "layers_2.toml").read_text()
    assert text.startswith("# widen: ")
    wide = read_round(folder / "rounds" / "layers_2.toml")
    assert str(wide.nuisance["learning_rate"]) == "log(1e-06, 0.01)"
    assert (wide.trials_per_study, wide.continues, wide.fixed["dropout"]) == (16, "layers", 0.0)
    assert tunewright("run", "layers_2", "--on", "inline").code == 0
    # the old trials count
    answer = tunewright("check", "layers_2")
    assert "24 earlier trials count too: 24 of layers" in answer.out
    assert "warn  boundary" not in answer.out
    # a joined trial can be looked at under the number the checklist gives it
    answer = tunewright("trial", "layers_2", "40")
    assert "earlier" in answer.out and "of layers" in answer.out


def test_another_proposal_is_taken_by_its_number(tunewright: Tunewright, folder: Path) -> None:
    answer = tunewright("next", "layers", "--write", "--take", "2")
    assert "wrote rounds/layers_2.toml: widen" in answer.out
    assert read_round(folder / "rounds" / "layers_2.toml").trials_per_study == 8
    # a name that is taken is not used again
    answer = tunewright("next", "layers", "--write")
    assert "wrote rounds/layers_3.toml: widen" in answer.out
    answer = tunewright("next", "layers", "--write", "--take", "99")
    assert answer.code == 2
    assert "--take 99: there are" in answer.err


def test_more_trials_change_one_number_of_the_file(tunewright: Tunewright, folder: Path) -> None:
    few = folder / "rounds" / "few.toml"
    few.write_text(ROUND.replace("= 12", "= 5"))
    assert tunewright("run", "few", "--on", "inline").code == 0
    answer = tunewright("next", "few")
    assert answer.out.splitlines()[-1] == "next: tunewright run few --trials 10"
    answer = tunewright("next", "few", "--write")
    assert answer.code == 0, answer.err
    assert few.read_text() == ROUND.replace("= 12", "= 10")
    assert "wrote rounds/few.toml: more_trials" in answer.out


def test_json_holds_the_rounds(tunewright: Tunewright, folder: Path) -> None:
    found = tunewright("next", "layers", "--json").data
    first = found["proposals"][0]
    assert (found["round"], found["wrote"], first["kind"]) == ("layers", None, "widen")
    assert first["round"]["nuisance"]["learning_rate"] == {"log": [1e-6, 0.01]}
    assert first["actions"][0]["argv"] == ["tunewright", "run", "layers_2"]
    assert first["reason"]["finding"]["check"] == "boundary"
    assert first["because"] == ["boundary"]


def test_what_has_to_be_done_first_is_no_round(tunewright: Tunewright, folder: Path) -> None:
    text = ROUND.replace("1e-3", "1e-1").replace("[scientific]", "detect = 0.5\n[scientific]")
    (folder / "rounds" / "fine.toml").write_text(text)
    assert tunewright("run", "fine", "--on", "inline").code == 0
    answer = tunewright("next", "fine")
    assert answer.out.splitlines()[1].startswith("1   stop"), answer.out
    assert answer.out.splitlines()[-1] == "next: tunewright launch fine"
    answer = tunewright("next", "fine", "--write")
    assert answer.code == 2
    assert "no round is to be written" in answer.err
    assert "tunewright launch fine" in answer.err


def test_longer_training(tunewright: Tunewright, folder: Path) -> None:
    answer = tunewright("extend", "layers", "--max-train-steps", "500")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("layers: from 100 to 500 steps, as in trial ")
    assert "layers           likely     fixed     2" in answer.out
    assert "cost: 5 trials of 500 steps are 2500 steps, 1 times those of layers" in answer.out
    assert answer.out.splitlines()[-1] == (
        "next: tunewright extend layers --max-train-steps 500 --write"
    )
    answer = tunewright("extend", "layers", "--max-train-steps", "500", "--write", "--trials", "3")
    assert "wrote rounds/layers_2.toml" in answer.out
    made = read_round(folder / "rounds" / "layers_2.toml")
    assert (made.trials_per_study, made.fixed["max_train_steps"]) == (3, 500)
    assert tunewright("run", "layers_2", "--on", "inline").code == 0
    answer = tunewright("next", "layers_2")
    assert "lengths of training: " in answer.out
    found = tunewright("extend", "layers", "--max-train-steps", "700", "--json").data
    assert found["extension"]["round"]["fixed"]["max_train_steps"] == 700


def test_a_shorter_training_is_no_extension(tunewright: Tunewright, folder: Path) -> None:
    answer = tunewright("extend", "layers", "--max-train-steps", "50")
    assert answer.code == 2
    assert "not longer than the 100 steps of layers" in answer.err


def test_exploitation_learns_from_the_trials_before(tunewright: Tunewright, folder: Path) -> None:
    text = ROUND.replace("1e-3", "1e-1").replace("= 12", "= 40")
    (folder / "rounds" / "fine.toml").write_text(text)
    assert tunewright("run", "fine", "--on", "inline").code == 0
    proposals = tunewright("next", "fine", "--json").data["proposals"]
    take = 1 + [one["kind"] for one in proposals].index("exploit")
    answer = tunewright("next", "fine", "--write", "--take", str(take))
    assert "next: tunewright run fine_2 --search bayesian --dry-run" in answer.out, answer.out
    made = read_round(folder / "rounds" / "fine_2.toml")
    store, goal = str(folder / "tuning.db"), minimize("valid_error")
    search = learning_from_earlier(Bayesian(), made, store, goal)
    assert isinstance(search, Bayesian)
    assert [own.round.name for own in search.earlier] == ["fine"]
    # another search, or a round without a past, stays as it was
    assert learning_from_earlier(Halton(), made, store, goal) == Halton()
    assert learning_from_earlier(Bayesian(), replace(made, continues=""), store, goal) == Bayesian()
    answer = tunewright("run", "fine_2", "--search", "bayesian", "--on", "inline", "--trials", "3")
    assert answer.code == 0, answer.err


def test_a_reason_is_a_comment() -> None:
    assert comment("a b\nc").startswith("# a b")
    assert all(line.startswith("# ") for line in comment("word " * 60).splitlines())
