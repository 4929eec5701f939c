"""The page about progress runs as it stands, and what it shows resumes."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.execution.command import Command

pytestmark = pytest.mark.beyond_core
PAGE = Path(__file__).parents[2] / "docs" / "progress.md"
BLOCK = re.compile(r"```(python|toml)\n(.*?)```", re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [body for one, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if one == kind]


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for body in blocks("python"):
        if not body.startswith("# resumes.py"):
            exec(compile(body, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.count("completed") == 4
    read = tomllib.loads(blocks("toml")[0])["workload"]["read"]
    assert Command("train", read=(read["line"],)).read == names["program"].read
    resumed = tw.Workload(
        names["train_resumed"], tw.minimize("valid_error"), executor=tw.executors.Inline()
    )
    assert tw.run(names["round"], resumed).counts == {"completed": 4}


def test_the_command_of_the_page_resumes(tmp_path: Path) -> None:
    (body,) = (body for body in blocks("python") if body.startswith("# resumes.py"))
    (tmp_path / "resumes.py").write_text(body)
    template = f"'{sys.executable}' '{tmp_path / 'resumes.py'}' {{run.folder}} {{learning_rate}}"
    workload = tw.Workload(
        tw.command(template),
        tw.minimize("valid_error"),
        store=tmp_path / "t.db",
        executor=tw.Local(workers=1, devices=[]),
    )
    asked = tw.Round(
        "resumes", goal="?", nuisance={"learning_rate": tw.log(1e-3, 1e-1)}, trials_per_study=1
    )
    (trial,) = tw.run(asked, workload).trials
    assert trial.status == "completed" and trial.attempts == 2
    steps = trial.curves["valid_error"].steps.tolist()
    assert steps == list(range(1, 51)), "the second attempt continued after step 20"
