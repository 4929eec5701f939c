"""The file of what a sink has written: torn, foreign or lost, it begins anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunewright.sinks._queue import Written


def test_it_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    own = Written(tmp_path / "deep" / "mlflow.json", {"1": "completed 1 3"}, 2, "it is down")
    own.save()
    assert Written.read(own.path) == own
    assert not own.path.with_suffix(".new").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"done": 3}', '{"done": {}, "left": "x"}', "1"])
def test_a_torn_or_foreign_file_is_empty(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mlflow.json"
    path.write_text(text)
    assert Written.read(path) == Written(path)
    assert Written.read(tmp_path / "absent.json").done == {}
