"""The files a training program is made of, and what counts as a change of them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from tunewright.execution.command import command
from tunewright.execution.sources import sources
from tunewright.store.provenance import digest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "__init__.py").write_text("from .layers import dense\n")
    (tmp_path / "net" / "layers.py").write_text("def dense():\n    return 1\n")
    (tmp_path / "train.py").write_text("import json\nimport net\n\ndef train(run): net.dense()\n")
    (tmp_path / "evaluate.py").write_text("import train\n")
    return tmp_path


def test_a_command_is_its_script_and_what_that_imports(project: Path) -> None:
    found = sources(command("python train.py --lr {lr}"), project)
    assert list(found) == ["net/__init__.py", "net/layers.py", "train.py"]
    assert sources(command("python -m train --lr {lr}"), project) == found
    assert sources(command("program {lr}"), project) == {}


def test_a_comment_changes_nothing_and_a_number_does(project: Path) -> None:
    own = command("python train.py {lr}")
    before = sources(own, project)
    (project / "net" / "layers.py").write_text("def dense():  # one\n\n    return 1\n")
    assert digest(sources(own, project)) == digest(before)
    (project / "net" / "layers.py").write_text("def dense():\n    return 2\n")
    after = sources(own, project)
    assert [name for name in after if after[name] != before[name]] == ["net/layers.py"]
    assert digest(after) != digest(before)


def test_a_function_is_its_module(project: Path, monkeypatch: Any) -> None:
    spec = importlib.util.spec_from_file_location("own_train", project / "train.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "own_train", module)
    monkeypatch.syspath_prepend(str(project))
    spec.loader.exec_module(module)
    assert list(sources(module.train, project)) == ["net/__init__.py", "net/layers.py", "train.py"]
    assert list(sources(module.train, project / "net")) == ["the training function"]


def test_a_file_that_cannot_be_parsed_is_hashed_as_it_is(project: Path) -> None:
    (project / "train.sh").write_text("python train.py\n")
    (project / "train.py").write_text("print 'two'\n")
    assert list(sources(command("bash train.sh"), project)) == ["train.sh"]
    assert list(sources(command("python2 train.py"), project)) == ["train.py"]
