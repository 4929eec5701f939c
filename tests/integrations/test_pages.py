"""One page per library, executed: its files are run as a round."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from tests.integrations.troubled import needs

import tunewright as tw
from tunewright.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "lightning": ("lightning", "valid_error"),
    "transformers": ("transformers", "eval_loss"),
    "accelerate": ("accelerate", "valid_error"),
    "keras": ("keras", "val_loss"),
}


@pytest.mark.parametrize(
    "page", [pytest.param(name, marks=needs(PAGES[name][0])) for name in PAGES]
)
def test_the_program_of_the_page(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"```(?:toml|python)\n# (\S+)\n(.*?)```", text, re.DOTALL))
    assert set(files) == {"train.py", "tunewright.toml", "rounds/rate.toml"}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("KERAS_BACKEND", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, {"KERAS_BACKEND": "torch"}.get(name, "1"))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert main(["run", "rate", "--workers", "1", "--json"]) in (0, None)
    results = tw.load(tmp_path / "tuning.db", "rate")
    assert [trial.status for trial in results.trials] == ["completed"] * 2, results.trials[0].detail
    for trial in results.trials:
        assert trial.curves[PAGES[page][1]].steps[-1] == 20
        used = [
            value for name, value in (trial.applied or {}).items() if name.endswith(("lr", "rate"))
        ]
        assert used and used[0] == pytest.approx(trial.configuration["lr"])
