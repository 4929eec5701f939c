"""The commands probe stability, warmup and clip, as a newcomer types them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

ROOT = Path(__file__).parents[2]
WORLD = (ROOT / "tests" / "probes" / "sharpness_world.py").read_text(encoding="utf-8")
ROUND = """
goal = "Which learning rate?"
trials_per_study = 4
[nuisance]
learning_rate = { log = [5e-3, 1.2e-2] }
[fixed]
max_train_steps = 100
"""


@pytest.fixture
def sharp(tunewright: Tunewright, tmp_path: Path) -> Tunewright:
    """A project whose training is unstable above a learning rate of 0.02 without warm-up."""
    (tmp_path / "train.py").write_text(WORLD)
    assert tunewright("init", "train.py:train", "--minimize", "valid_loss").code == 0
    with (tmp_path / "tunewright.toml").open("a") as file:
        file.write('\n[workload.off]\nschedule = "constant"\n')
    return tunewright


def test_stability_ends_in_one_sentence(sharp: Tunewright) -> None:
    command = ("probe", "stability", "--fixed", "learning_rate=0.01", "--on", "inline")
    answer = sharp(*command)
    assert answer.code == 0, answer.err
    lines = answer.out.strip().splitlines()
    assert lines[-1].startswith("unstable from learning rate 0.03 on, 3 times the best, 0.01")
    assert [line.split()[-1] for line in lines[1:9]] == ["stable"] * 5 + ["recovered"] * 3
    assert "trial 7 completed" in answer.err  # progress goes elsewhere
    again = sharp(*command)
    assert again.out == answer.out and "begins" not in again.err


def test_every_digit_as_json(sharp: Tunewright) -> None:
    answer = sharp(
        *("probe", "stability", "--fixed", "learning_rate=0.01", "--steps", "80"),
        *("--on", "inline", "--json"),
    )
    found = answer.data
    assert found["probe"] == "stability" and found["steps"] == 80
    assert found["unstable_base_learning_rate"] == pytest.approx(0.03)
    assert [run["stable"] for run in found["runs"]] == [True] * 5 + [False] * 3


def test_warmup_prints_the_lines_for_the_configuration(sharp: Tunewright) -> None:
    answer = sharp(
        *("probe", "warmup", "--fixed", "learning_rate=0.01", "--repeats", "2", "--on", "inline")
    )
    assert answer.code == 0, answer.err
    assert "100 warm-up steps make learning rate 0.3 stable" in answer.out
    configured = answer.out.partition("For the configuration:")[2]
    for line in ("warmup_steps = 100", "max_train_steps = 1100", "learning_rate = 0.3"):
        assert f"  {line}\n" in configured
    assert "caveat: a warm-up of 10% of max_train_steps" in answer.out


def test_clip_mends_outliers(sharp: Tunewright) -> None:
    fixed = ("learning_rate=0.02", "sharp=5.0", "burst=40.0")
    options = [word for text in fixed for word in ("--fixed", text)]
    answer = sharp("probe", "clip", *options, "--on", "inline")
    assert answer.code == 0, answer.err
    assert "makes learning rate 0.02 stable" in answer.out and "  clip_norm = " in answer.out


def test_a_probe_may_begin_from_a_round(sharp: Tunewright, tmp_path: Path) -> None:
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "rates.toml").write_text(ROUND)
    assert sharp("run", "rates", "--on", "inline").code == 0
    shown = sharp("trial", "rates", "2", "--json").data
    answer = sharp("probe", "stability", "rates", "--trial", "2", "--on", "inline", "--json")
    found = answer.data
    assert found["learning_rate"] == shown["trial"]["configuration"]["learning_rate"]
    recorded = sharp("probe", "clip", "rates", "--recorded")
    assert recorded.code == 0 and "clipping might begin at" in recorded.out
    assert "begins" not in recorded.err  # nothing is trained


def test_what_is_missing_is_said(sharp: Tunewright) -> None:
    answer = sharp("probe", "warmup")
    assert "Whether warm-up helps cannot be judged" in answer.out
    assert "missing: learning_rate: no value above 0 is known" in answer.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["stability", "--trial", "3"], "--trial 3: of which round?"),
        (["stability", "--fixed", "learning_rate"], "not NAME=VALUE"),
        (["clip", "--recorded"], "--recorded: of which round?"),
        (["stability", "--fixed", "learning_rat=0.1"], "Did you mean 'learning_rate'?"),
    ],
)
def test_wrong_use_is_told(sharp: Tunewright, words: list[str], says: str) -> None:
    answer = sharp("probe", *words)
    assert answer.code == 2 and says in answer.err


def test_an_interrupted_probe_says_how_to_go_on(sharp: Tunewright, tmp_path: Path) -> None:
    """Ctrl-C once: the running trial finishes, no other begins; the same command does the rest."""
    (tmp_path / "train.py").write_text(
        "import os, signal\n"
        "from pathlib import Path\n"
        + WORLD.removeprefix('"""')
        .partition('"""')[2]
        .replace("from __future__ import annotations", "")
        + "\n\nunhurried = train\n\n\n"
        "def train(run, learning_rate, schedule='linear', max_train_steps=1000):\n"
        "    unhurried(run, learning_rate, schedule=schedule, max_train_steps=max_train_steps)\n"
        "    if run.number == 2 and not Path('once').exists():\n"
        "        Path('once').touch()\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    command = ("probe", "stability", "--fixed", "learning_rate=0.01", "--on", "inline")
    first = sharp(*command)
    assert first.code == 130, first.err
    assert "interrupted; the same command resumes where it stopped" in first.err
    assert "nstable" not in first.out
    second = sharp(*command)
    assert second.code == 0 and "unstable from learning rate 0.03 on" in second.out
    assert second.err.count(" begins") == 5  # three of eight had ended
