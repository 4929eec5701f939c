from __future__ import annotations

from pathlib import Path

from tests.cli.small_project import Tunewright

ROUND = """\
goal = "Do more layers help?"
trials_per_study = 12
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = {{ log = [{low}, {high}] }}
[fixed]
max_train_steps = 100
"""
TRAIN = """\
import math

def train(run, learning_rate, layers=1, max_train_steps=100):
    for step in run.steps(max_train_steps):
        loss = 1 + (math.log10(learning_rate) + 2) ** 2 + 2 * math.exp(-step / 15)
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=loss / 10 - 0.01 * layers)
"""


def ran(tunewright: Tunewright, folder: Path, low: float, high: float) -> None:
    (folder / "train.py").write_text(TRAIN)
    assert tunewright("init", "train.py:train", "--minimize", "valid_error").code == 0
    (folder / "rounds").mkdir()
    (folder / "rounds" / "layers.toml").write_text(ROUND.format(low=low, high=high))
    assert tunewright("run", "layers", "--on", "inline").code == 0


def test_a_best_rate_outside_the_range_exits_with_1(tunewright: Tunewright, tmp_path: Path) -> None:
    ran(tunewright, tmp_path, 1e-6, 1e-3)
    answer = tunewright("check", "layers")
    assert answer.code == 1, answer.err
    headline, evidence, action, *_ = answer.out.splitlines()
    assert headline.startswith("warn  boundary") and headline.endswith("learning_rate")
    assert "layers=1, layers=2: " in headline
    assert "log(1e-06, 0.001)" in evidence
    assert action.strip().startswith("-> ") and "log(1e-06, 0.01)" in action
    # the least certain come last, and then the count
    assert answer.out.splitlines()[-1].startswith("layers: ")
    assert "?     variance" in answer.out
    assert "-> tunewright repeat layers --times 5" in answer.out


def test_json_is_the_findings_as_they_are(tunewright: Tunewright, tmp_path: Path) -> None:
    ran(tunewright, tmp_path, 1e-4, 1.0)
    answer = tunewright("check", "layers", "--json")
    findings = answer.data["findings"]
    boundary = [f for f in findings if f["check"] == "boundary"]
    assert {f["verdict"] for f in boundary} == {"ok"}
    assert boundary[0]["evidence"]["edges"][0]["column"] == "learning_rate"
    for finding in findings:  # facts, without words
        assert set(finding) == {
            "check", "scope", "about", "verdict", "evidence", "actions", "chance_among"
        }  # fmt: skip
    assert all("argv" in action for finding in findings for action in finding["actions"])
    assert answer.code == int(any(f["verdict"] == "warn" for f in findings))
    assert {f["verdict"] for f in findings if f["check"] == "same_code"} <= {"ok", "note"}


def test_a_misspelt_round_is_wrong_use(tunewright: Tunewright, tmp_path: Path) -> None:
    ran(tunewright, tmp_path, 1e-4, 1.0)
    answer = tunewright("check", "layer")
    assert answer.code == 2
    assert "layers" in answer.err
