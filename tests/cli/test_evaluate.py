"""`tunewright evaluate` and `tunewright final`, as a newcomer would call them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import ROUND, TRAIN, Tunewright

SAVING = TRAIN.replace(
    "def train(run, learning_rate, layers=1, max_train_steps=20):",
    "def train(run, learning_rate, layers=1, max_train_steps=20, everything=False):",
).replace(
    "run.log(step, valid_error=loss / layers)",
    "run.log(step, valid_error=loss / layers)\n            run.save({'loss': loss})",
)
MEASURES = """

def full(checkpoint):
    return {"full_error": checkpoint.state["loss"] * 1.5}


def test(checkpoint):
    return {"test_error": checkpoint.state["loss"] * 2}
"""


@pytest.fixture
def trained(tmp_path: Path, tunewright: Tunewright) -> Path:
    """A project whose trials saved checkpoints, run."""
    (tmp_path / "train.py").write_text(SAVING + MEASURES)
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "layers.toml").write_text(ROUND)
    assert tunewright("run", "layers", "--on", "inline").code == 0
    return tmp_path


def test_evaluate_prints_a_line_per_trial_and_records_it(
    trained: Path, tunewright: Tunewright
) -> None:
    answer = tunewright(
        "evaluate", "layers", "--top", "2", "--with", "train.py:full", "--on", "inline"
    )
    assert answer.code == 0, answer.err
    head, *rows, last = answer.out.splitlines()
    assert head.split() == ["trial", "at", "step", "valid_error", "then", "full_error"]
    assert len(rows) == 2
    assert "tunewright show layers --minimize full_error ranks by it" in last
    measured = [(float(row.split()[3]), int(row.split()[0])) for row in rows]
    ranked = tunewright("show", "layers", "--minimize", "full_error").out
    assert f"full_error, trial {min(measured)[1]} at step" in ranked
    number = rows[0].split()[0]
    assert "full_error" in tunewright("trial", "layers", number).out
    data = tunewright(
        "evaluate",
        "layers",
        "--top",
        "1",
        "--with",
        "train.py:full",
        "--on",
        "inline",
        "--json",
    ).data
    assert data[0]["metrics"].keys() == {"full_error"}


def test_what_measures_is_taken_from_the_project(trained: Path, tunewright: Tunewright) -> None:
    missing = tunewright("evaluate", "layers")
    assert missing.code == 2
    assert "what measures a checkpoint?" in missing.err
    path = trained / "tunewright.toml"
    path.write_text(path.read_text().replace("store =", 'evaluate = "train.py:full"\nstore ='))
    assert tunewright("evaluate", "layers", "--on", "inline").code == 0


def test_when_none_could_be_measured_the_exit_code_says_so(
    trained: Path, tunewright: Tunewright
) -> None:
    (trained / "wrong.py").write_text("def full(checkpoint):\n    return checkpoint.nothing\n")
    answer = tunewright("evaluate", "layers", "--with", "wrong.py:full", "--on", "inline")
    assert answer.code == 3
    assert "AttributeError" in answer.out


def test_final_looks_once_and_warns_the_second_time(trained: Path, tunewright: Tunewright) -> None:
    first = tunewright("final", "layers", "--with", "train.py:test")
    assert first.code == 0, first.err
    assert "the first look at the test set" in first.out
    refused = tunewright("final", "layers", "--with", "train.py:test", "--trial", "1", "--json")
    assert refused.code == 13 and refused.error["refusal"] == "test_peek"
    second = tunewright("final", "layers", "--with", "train.py:test", "--trial", "1", "--anyway")
    assert "but the test set was used before" in second.out
    data = tunewright("final", "layers", "--with", "train.py:test", "--anyway", "--json").data
    assert data["evaluation"]["look"] == 3
    assert len(data["earlier"]) == 2


def test_fold_writes_the_last_round_only_when_nothing_follows(
    trained: Path, tunewright: Tunewright
) -> None:
    refused = tunewright("final", "layers", "--fold", "everything")
    assert refused.code == 2
    assert "--no-later-launch" in refused.err
    answer = tunewright("final", "layers", "--fold", "everything", "--no-later-launch")
    assert answer.code == 0, answer.err
    assert "next: tunewright run layers_final" in answer.out
    assert "everything = true" in (trained / "rounds" / "layers_final.toml").read_text()
    assert tunewright("run", "layers_final", "--on", "inline").code == 0
    again = tunewright("final", "layers", "--fold", "everything", "--no-later-launch")
    assert again.code == 2
    assert "is there already" in again.err
