"""Both doors to what lies outside: a Slurm cluster, and the files of trackers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.execution.executors.slurm.fake_slurm import install
from tests.importers.test_real_files import unpacked
from tests.test_parity import SPACE, STORE, Shell, doors, made, same, shell

import tunewright as tw
from tunewright.present import envelope as facts
from tunewright.present.envelope import plain

__all__ = ["doors", "made", "shell"]  # the fixtures
pytestmark = pytest.mark.beyond_core


def test_run_on_slurm(
    doors: tuple[Path, Path], shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both doors train on a cluster: the same values, and those of this process."""
    for folder in doors:
        (folder / "rounds" / "more.toml").write_text(SPACE)
    commands = install(tmp_path / "slurm")
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    found = shell("run", "more", "--on", "slurm", "--slurm", "cpus=1", "--workers", "4")
    assert (found["why"], found["counts"]) == ("finished", {"completed": 4})
    project = tw.project.load()
    own = project.workload(executor=tw.executors.Slurm(cpus=1, workers=4))
    results = tw.run(project.round("more"), own)
    python = plain(facts.of_run(results, "finished", 0.0, 4))
    best = {"number", "configuration", "value", "best_step", "status", "seed"}
    for told in (python, found):  # apart from the memory of a process
        told["best"] = {name: own for name, own in told["best"].items() if name in best}
    same(python, found)


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
