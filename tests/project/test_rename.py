"""A round of a project renamed: its file, what continues it, and the recorded one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.errors import Misuse, NotFound
from tunewright.project import Project

ROUND = """\
# why: a comment that stays
goal = "?"
trials_per_study = 1
[nuisance]
learning_rate = { log = [0.1, 1.0] }
"""


def train(run, learning_rate):
    run.log(1, valid_error=learning_rate)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    command = "python train.py {learning_rate} {run.seed}"
    made = tw.project.init(command, minimize="valid_error")
    (tmp_path / "rounds").mkdir(exist_ok=True)
    (tmp_path / "rounds" / "depth.toml").write_text(ROUND)
    (tmp_path / "rounds" / "later.toml").write_text(f'continues = "depth"  # yes\n{ROUND}')
    return made


def recorded(project: Project) -> None:
    workload = tw.Workload(
        train, tw.minimize("valid_error"), store=project.store(), executor=tw.executors.Inline()
    )
    tw.run(project.round("depth"), workload)


def renamed(project: Project, old: str, new: str) -> tw.project.RenamedRound:
    return tw.project.rename(old, new, store=project.store(), project=project)


def test_files_and_the_store(project: Project) -> None:
    recorded(project)
    done = renamed(project, "depth", "width")
    rounds = project.folder / "rounds"
    assert done.recorded and set(done.files) == {rounds / "width.toml", rounds / "later.toml"}
    assert (rounds / "width.toml").read_text() == ROUND
    assert (rounds / "later.toml").read_text() == f'continues = "width"  # yes\n{ROUND}'
    assert [row.name for row in tw.stores.rounds(project.store())] == ["width"]
    assert project.round("width") == tw.load(project.store(), "width").round


def test_a_key_written_in_another_way(project: Project, tmp_path: Path) -> None:
    later = tmp_path / "rounds" / "later.toml"
    text = f'# why\n\'continues\' = """depth""" # yes\n{ROUND}'
    later.write_text(text)
    renamed(project, "depth", "width")
    assert tomllib.loads(later.read_text())["continues"] == "width"
    assert later.read_text().startswith("# why\n")
    assert later.read_text().endswith(ROUND)


def test_a_round_that_has_not_run(project: Project) -> None:
    done = renamed(project, "depth", "width")
    assert not done.recorded and project.round_names == ["later", "width"]


def test_nothing_changes_where_it_is_refused(project: Project) -> None:
    recorded(project)
    for new, code in (("later", "file.exists"), ("depth", "rename.same_name")):
        with pytest.raises(Misuse) as refused:
            renamed(project, "depth", new)
        assert refused.value.code == code
    with pytest.raises(Misuse) as odd:
        renamed(project, "depth", "../x")
    assert odd.value.code == "project.bad_round_name"
    with pytest.raises(NotFound):
        renamed(project, "nothing", "x")
    assert project.round_names == ["depth", "later"]
    assert [row.name for row in tw.stores.rounds(project.store())] == ["depth"]
