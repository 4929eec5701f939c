from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from small_project import TRAIN, Tunewright

from tunewright.cli.problems import Misuse
from tunewright.cli.project_folder import anchored, find_project, plain_name

COMMAND = "python train.py --lr={learning_rate} --wd={weight_decay} --seed={run.seed}"


def test_init_writes_a_file_that_is_read_back(tunewright: Tunewright, tmp_path: Path) -> None:
    answer = tunewright("init", COMMAND, "--maximize", "accuracy")
    assert answer.code == 0
    assert "hyperparameters: learning_rate, weight_decay" in answer.out
    project = find_project()
    assert project is not None
    assert project.settings["command"] == COMMAND
    assert not project.settings["objective"].minimize
    assert tomllib.loads((tmp_path / "tunewright.toml").read_text())["workload"]["store"] == (
        "tuning.db"
    )


def test_init_takes_a_function_and_lists_its_signature(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    answer = tunewright("init", "train.py:train", "--minimize", "valid_error")
    assert answer.code == 0
    assert "hyperparameters: learning_rate, layers, max_train_steps" in answer.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((COMMAND,), "--minimize and --maximize"),
        ((COMMAND, "--minimize", "a", "--maximize", "b"), "--minimize and --maximize"),
        (("python train.py --lr={run.sed}", "--minimize", "a"), "{run.seed}"),
        (("train.py:train", "--minimize", "a"), "does not exist"),
    ],
)
def test_init_refuses_what_cannot_be_run(
    tunewright: Tunewright, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    answer = tunewright("init", *arguments)
    assert answer.code == 2
    assert says in answer.err
    assert not (tmp_path / "tunewright.toml").exists()


def test_init_says_what_a_command_lacks(tunewright: Tunewright) -> None:
    answer = tunewright("init", "no-such-program --lr={learning_rate}", "--minimize", "a")
    assert answer.code == 0
    assert "no-such-program is not on the PATH" in answer.out
    assert "without {run.seed}" in answer.out


def test_init_never_overwrites(tunewright: Tunewright, project: Path) -> None:
    before = (project / "tunewright.toml").read_text()
    answer = tunewright("init", COMMAND, "--minimize", "a")
    assert answer.code == 2
    assert (project / "tunewright.toml").read_text() == before


def test_new_writes_a_round_to_fill_in(tunewright: Tunewright, project: Path) -> None:
    answer = tunewright("new", "depth")
    assert answer.code == 0
    text = (project / "rounds" / "depth.toml").read_text()
    assert "layers = 1" in text
    assert "learning_rate" in text
    unfilled = tunewright("run", "depth", "--dry-run")
    assert unfilled.code == 2
    assert "goal: empty" in unfilled.err
    assert tunewright("new", "depth").code == 2


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "", ".", "..", "a/b", "a\nb", "x" * 5000])
def test_a_round_never_leaves_its_folder(tunewright: Tunewright, project: Path, name: str) -> None:
    before = sorted(project.rglob("*"))
    assert tunewright("new", name).code == 2
    assert tunewright("run", name).code == 2
    assert sorted(project.rglob("*")) == before


def test_names_of_other_alphabets_are_names(tunewright: Tunewright, project: Path) -> None:
    assert plain_name("größe-2") == "größe-2"
    assert tunewright("new", "größe-2").code == 0
    assert (project / "rounds" / "größe-2.toml").exists()


def test_commands_find_the_project_from_below(
    tunewright: Tunewright, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = project / "notebooks" / "old"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert tunewright("new", "depth").code == 0
    assert (project / "rounds" / "depth.toml").exists()


def test_without_a_project_the_next_command_is_said(tunewright: Tunewright) -> None:
    answer = tunewright("new", "depth")
    assert answer.code == 2
    assert "tunewright init" in answer.err


def test_every_problem_of_a_file_at_once(tunewright: Tunewright, project: Path) -> None:
    (project / "rounds" / "bad.toml").write_text(
        'gaol = "x"\ntrials_per_study = 0\n[nuisance]\nlearning_rate = { lgo = [1, 2] }\n'
    )
    answer = tunewright("run", "bad")
    assert answer.code == 2
    for part in ("gaol", "goal", "trials_per_study", "'log'"):
        assert part in answer.err
    assert "bad.toml" in answer.err


def test_a_store_is_relative_to_the_file_that_names_it() -> None:
    folder = Path("/home/me")
    assert anchored("postgresql://host/db", folder) == "postgresql://host/db"
    assert anchored("/data/t.db", folder) == "/data/t.db"
    with pytest.raises(Misuse):
        plain_name("a\\b")


def test_doctor_examines_a_fresh_project(tunewright: Tunewright, project: Path) -> None:
    answer = tunewright("doctor", "--json")
    assert answer.code == 0
    found = {one["what"]: one for one in json.loads(answer.out)}
    assert found["workload"]["verdict"] == "ok"
    assert found["locks"]["verdict"] == "ok"
    assert found["store"]["verdict"] == "note"  # not there yet
    assert not list(project.glob("*.doctor*"))
    assert not (project / "tuning.db").exists()


def test_doctor_finds_what_is_broken(tunewright: Tunewright, ran: Path) -> None:
    (ran / "rounds" / "bad.toml").write_text("goal = 3\n")
    (ran / "tuning.db").write_bytes(b"SQLite format 3\x00" + b"\x00" * 5000)
    for extra in ("-wal", "-shm"):
        (ran / f"tuning.db{extra}").unlink(missing_ok=True)
    answer = tunewright("doctor")
    assert answer.code == 3
    assert "damaged" in answer.out
    assert "tunewright restore" in answer.out
    assert "round bad" in answer.out


def test_doctor_speaks_about_a_broken_project_file(tunewright: Tunewright, project: Path) -> None:
    (project / "tunewright.toml").write_text("[workload]\nminimise = 'x'\n")
    answer = tunewright("doctor")
    assert answer.code == 3
    assert "'minimize'" in answer.out
