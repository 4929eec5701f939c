from __future__ import annotations

from pathlib import Path

import pytest

from tunewright.design.objective import maximize, minimize
from tunewright.design.workload_file import read_workload
from tunewright.errors import DesignError, NotFound


def read(tmp_path: Path, text: str):
    path = tmp_path / "tunewright.toml"
    path.write_text(text)
    return read_workload(path)


def test_a_command(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        [workload]
        command = "python train.py --lr={learning_rate} --seed={run.seed}"
        minimize = "valid_error"
        at = "last"
        subject_to = { latency_ms = ["<=", 20] }
        store = "postgresql://host/db"
        folder = "/data/trials"
        evaluate = "python full.py {checkpoint}"
        test = "train.py:test"
        [workload.means]
        learning_rate = "optimizer.lr"
        steps_per_epoch = 390
        [workload.off]
        clip = { none = true }
        augment = false
        """,
    )
    assert found == {
        "command": "python train.py --lr={learning_rate} --seed={run.seed}",
        "function": None,
        "objective": minimize("valid_error", at="last", subject_to={"latency_ms": ("<=", 20)}),
        "store": "postgresql://host/db",
        "folder": "/data/trials",
        "evaluate": "python full.py {checkpoint}",
        "test": "train.py:test",
        "means": {"learning_rate": "optimizer.lr", "steps_per_epoch": 390},
        "off": {"clip": None, "augment": False},
    }


def test_a_function_and_the_defaults(tmp_path: Path) -> None:
    found = read(tmp_path, '[workload]\nfunction = "train.py:train"\nmaximize = "accuracy"')
    assert found["function"] == "train.py:train" and found["command"] is None
    assert found["objective"] == maximize("accuracy")
    assert (found["store"], found["folder"], found["means"]) == ("tuning.db", None, {})


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "[workload] needs one of command and function; neither is there."),
        ("", "[workload] needs one of minimize and maximize; neither is there."),
        ("workload = 3", "workload: 3 is not a table; write [workload]."),
        ("[wrkload]", "wrkload: not a table here. Did you mean 'workload'?"),
        (
            "[workload]\nminimise = 'x'",
            "minimise: not a key of [workload]. Did you mean 'minimize'?",
        ),
        ("[workload]\nminimize = 'a'\nmaximize = 'a'", "minimize and maximize; both are there."),
        ("[workload]\ncommand = 3", "command: 3 is not text."),
        ("[workload]\nminimize = ''", "minimize: '' is not text."),
        ("[workload]\nminimize = 'a'\nat = 'end'", "minimize(at='end')"),
        ("[workload.means]\nlerning_rate = 'lr'", "Did you mean 'learning_rate'?"),
        ("[workload]\nmeans = 3", "means: 3 is not a mapping of names."),
        ("[workload.off]\nx = 1979-05-27", "off x: datetime.date(1979, 5, 27) is a date."),
    ],
)
def test_refusals_name_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DesignError) as refused:
        read(tmp_path, text)
    problems = str(refused.value).split("\n")
    assert all(p.startswith(str(tmp_path / "tunewright.toml")) for p in problems)
    assert any(said in p for p in problems), problems


def test_a_missing_file_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Write one: tunewright init"):
        read_workload(tmp_path / "tunewright.toml")
