from __future__ import annotations

from pathlib import Path

import pytest
from tests.problems import problems, states

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
        "read": (),
        "read_file": {},
        "objective": minimize("valid_error", at="last", subject_to={"latency_ms": ("<=", 20)}),
        "deterministic": False,
        "store": "postgresql://host/db",
        "folder": "/data/trials",
        "evaluate": "python full.py {checkpoint}",
        "test": "train.py:test",
        "means": {"learning_rate": "optimizer.lr", "steps_per_epoch": 390},
        "off": {"clip": None, "augment": False},
        "booleans": None,
        "defaults": {},
        "search": None,
        "eval_every": None,
        "sinks": (),
    }


def test_how_a_command_is_run(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        [workload]
        command = "python train.py --lr={lr} --amp={amp} --clip={clip}"
        minimize = "valid_error"
        search = "bayesian"
        eval_every = 25
        [workload.booleans]
        amp = "flag"
        [workload.defaults]
        lr = 0.001
        clip = { none = true }
        """,
    )
    assert (found["search"], found["eval_every"]) == ("bayesian", 25)
    assert found["booleans"] == {"amp": "flag"}
    assert found["defaults"] == {"lr": 0.001, "clip": None}


def test_how_a_command_is_run_is_checked_all_at_once(tmp_path: Path) -> None:
    with pytest.raises(DesignError) as refused:
        read(
            tmp_path,
            """
            [workload]
            function = "train.py:train"
            minimize = "valid_error"
            search = "grid"
            eval_every = 0
            booleans = "True/False"
            defaults = 3
            """,
        )
    found = [code for code, _ in problems(refused.value)]
    assert set(found) == {
        *("file.bad_search", "workload.bad_eval_every"),
        *("workload.only_of_a_command", "workload.not_a_table"),
    }


def test_a_function_and_the_defaults(tmp_path: Path) -> None:
    found = read(tmp_path, '[workload]\nfunction = "train.py:train"\nmaximize = "accuracy"')
    assert found["function"] == "train.py:train" and found["command"] is None
    assert found["objective"] == maximize("accuracy")
    assert (found["store"], found["folder"], found["means"]) == ("tuning.db", None, {})


@pytest.mark.parametrize(
    "text, said",
    [
        ("", ("workload.one_of_two", {"one": "command", "other": "function", "both": False})),
        ("", ("workload.one_of_two", {"one": "minimize", "other": "maximize", "both": False})),
        ("workload = 3", ("workload.not_table", {"table": 3})),
        (
            "[wrkload]",
            (
                "file.unknown_key",
                {"key": "wrkload", "of": "file", "near": "workload", "known": ["workload"]},
            ),
        ),
        (
            "[workload]\nminimise = 'x'",
            ("file.unknown_key", {"key": "minimise", "of": "workload", "near": "minimize"}),
        ),
        (
            "[workload]\nminimize = 'a'\nmaximize = 'a'",
            ("workload.one_of_two", {"one": "minimize", "other": "maximize", "both": True}),
        ),
        ("[workload]\ncommand = 3", ("workload.not_text", {"key": "command", "value": 3})),
        ("[workload]\nminimize = ''", ("workload.not_text", {"key": "minimize", "value": ""})),
        ("[workload]\nminimize = 'a'\nat = 'end'", ("objective.bad_at", {"at": "end"})),
        (
            "[workload.means]\nlerning_rate = 'lr'",
            ("meaning.unknown", {"meaning": "lerning_rate", "near": "learning_rate"}),
        ),
        ("[workload]\nmeans = 3", ("meaning.not_mapping", {"part": "means", "declared": 3})),
        (
            "[workload.off]\nx = 1979-05-27",
            ("value.not_plain", {"place": "off x", "value": "1979-05-27", "type": "date"}),
        ),
    ],
)
def test_refusals_name_the_file(tmp_path: Path, text: str, said) -> None:
    with pytest.raises(DesignError) as refused:
        read(tmp_path, text)
    path = str(tmp_path / "tunewright.toml")
    assert all(facts["within"][0] == path for _, facts in problems(refused.value))
    assert states(refused.value, *said)


def test_a_missing_file_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as missing:
        read_workload(tmp_path / "tunewright.toml")
    assert states(missing.value, "file.missing", {"near": None, "how": {"code": "file.init"}})


@pytest.mark.parametrize("written", ["'val (?P<val>x)'", "['val (?P<val>x)']"])
def test_patterns_of_lines(tmp_path: Path, written: str) -> None:
    found = read(
        tmp_path,
        f"""
        [workload]
        command = "python train.py"
        minimize = "val"
        [workload.read]
        line = {written}
        """,
    )
    assert found["read"] == ("val (?P<val>x)",)


@pytest.mark.parametrize(
    ("part", "trains", "code"),
    [
        ("read = 'val'", "command", "read.not_table"),
        ("read.line = 3", "command", "read.not_text"),
        ("read.line = [3]", "command", "read.not_text"),
        ("read.lines = 'val'", "command", "file.unknown_key"),
        ("read.line = 'val (?P<val>x)'", "function", "read.without_command"),
    ],
)
def test_patterns_that_make_no_sense(tmp_path: Path, part: str, trains: str, code: str) -> None:
    with pytest.raises(DesignError) as refused:
        read(tmp_path, f'[workload]\n{trains} = "train.py:train"\nminimize = "val"\n{part}')
    problems = [
        one.facts.get("problem", {}).get("code", one.code) for one in refused.value.problems
    ]
    assert code in problems
