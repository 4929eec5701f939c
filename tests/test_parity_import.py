"""Two doors, one answer: what other tools recorded, by Python, by `--json` and by its text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.importers.test_real_files import unpacked
from tests.test_parity import STORE, Shell, doors as doors, made as made, same, shell as shell

import tunewright as tw
from tunewright.present import command_facts as facts

pytestmark = pytest.mark.beyond_core


def test_import(doors: Any, shell: Shell, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("lr,val_loss\n0.1,2\n0.2,1\n0.3,1.5\n")
    results = tw.importers.tables(table, objective=tw.minimize("val_loss"))
    kept = tw.stores.keep(STORE, results)
    found = shell("import", "table", str(table), "--minimize", "val_loss")
    same(facts.of_round(kept), found)
    asked = ("import", "table", str(table), "--minimize", "val_loss", "--name", "again")
    assert "3 trials: 3 completed" in shell(*asked, text=True)


@pytest.mark.parametrize(("tool", "version"), [("trackio", "0.43.0"), ("swanlab", "0.10.3")])
def test_import_of_trackers(
    doors: Any, shell: Shell, tmp_path: Path, tool: str, version: str
) -> None:
    if tool == "swanlab":
        pytest.importorskip("yaml")
    unpacked(tmp_path / tool, tool, version)
    importer = getattr(tw.importers, tool)
    kept = tw.stores.keep(STORE, importer(tmp_path / tool, objective=tw.minimize("val_loss")))
    asked = ("import", tool, str(tmp_path / tool), "--minimize", "val_loss")
    same(facts.of_round(kept), shell(*asked))
    assert "3 trials" in shell(*asked, "--name", "again", text=True)
