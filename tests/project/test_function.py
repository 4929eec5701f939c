from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tunewright.actions import Advise
from tunewright.errors import Misuse
from tunewright.messages import Message
from tunewright.project._project import find_function


@pytest.fixture(autouse=True)
def _restored_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])


def project(folder: Path, text: str, name: str = "train_me.py") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_a_file_and_a_function(tmp_path: Path) -> None:
    function = find_function("train_me.py:train", project(tmp_path, "def train(run): return 7\n"))
    assert function(None) == 7
    assert function.__module__ == "train_me"  # workers import it by this name


def test_two_projects_with_files_of_one_name(tmp_path: Path) -> None:
    first = project(tmp_path / "a", "def train(run): return 'a'\n")
    second = project(tmp_path / "b", "def train(run): return 'b'\n")
    assert find_function("train_me.py:train", first)(None) == "a"
    assert find_function("train_me.py:train", second)(None) == "b"
    assert find_function("train_me.py:train", first)(None) == "a"


def test_a_module_below_the_project(tmp_path: Path) -> None:
    (tmp_path / "package_of_mine").mkdir()
    (tmp_path / "package_of_mine" / "loop.py").write_text("def train(run): return 3\n")
    assert find_function("package_of_mine.loop:train", tmp_path)(None) == 3


@pytest.mark.parametrize(
    ("named", "text", "what", "remedy"),
    [
        ("train_me.py", "", "not a file and a function", "name_function"),
        ("train_me.py:trian", "def train(run): ...\n", "no function 'trian'", "did_you_mean"),
        ("train_mee.py:train", "", "does not exist", "did_you_mean"),
        ("train_me.py:train", "train = 3\n", "not a function", ""),
        ("train_me.py:train", "import no_such_thing\n", "No module named 'no_such_thing'", ""),
        ("train_me.py:train", "import sys\nsys.exit('usage')\n", "SystemExit: usage", ""),
        ("no_such_module:train", "", "cannot be imported", "check_name_and_folder"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, named: str, text: str, what: str, remedy: str
) -> None:
    project(tmp_path, text)
    with pytest.raises(Misuse) as caught:
        find_function(named, tmp_path)
    assert what in str(caught.value)
    found = caught.value.remedy
    assert (found.code if isinstance(found, Advise) else "") == remedy


def test_the_line_that_broke_is_named(tmp_path: Path) -> None:
    project(tmp_path, "x = 1\ny = x / 0\n")
    with pytest.raises(Misuse) as caught:
        find_function("train_me.py:train", tmp_path)
    assert caught.value.where.endswith("train_me.py:2")


def test_a_name_of_the_standard_library_is_refused(tmp_path: Path) -> None:
    project(tmp_path, "def train(run): ...\n", "queue.py")
    with pytest.raises(Misuse, match=r"queue\.py cannot be imported by that name"):
        find_function("queue.py:train", tmp_path)


def test_a_script_that_asks_for_arguments_is_told_where_and_why(tmp_path: Path) -> None:
    script = "import argparse\nparser = argparse.ArgumentParser()\nparser.parse_args(['--lr'])\n"
    (tmp_path / "asks_for_arguments.py").write_text(script)
    with pytest.raises(Misuse) as refused:
        find_function("asks_for_arguments.py:train", tmp_path)
    problem = refused.value
    assert problem.where.endswith("asks_for_arguments.py:3")
    assert problem.cause == Message("function.ends_on_import")
