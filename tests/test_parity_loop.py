"""The whole loop by one door alone, and no command without `--json` and a parity test."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.test_parity import ROUND, TRAIN
from typer.main import get_command

import tunewright as tw
from tunewright.cli.main import app, main

pytestmark = pytest.mark.beyond_core

INLINE = ["--on", "inline"]
TRAINS = ("run", "repeat", "launch")
WITHOUT_A_CASE = {"mcp": "a server: tests/mcp/test_stdio.py"}  # commands, and why


def commands() -> dict[str, Any]:
    """Every command of the app, those of families too."""
    found: dict[str, Any] = {}
    for name, lazy in get_command(app).commands.items():  # type: ignore[attr-defined]
        if hasattr(lazy.real, "commands"):
            found |= {f"{name} {inner}": own for inner, own in lazy.real.commands.items()}
        else:
            found[name] = lazy.real
    return found


def test_every_command_has_json_and_a_parity_case() -> None:
    here = Path(__file__).parent
    written = "".join(page.read_text(encoding="utf-8") for page in here.glob("test_parity*.py"))
    known = commands()
    assert len(known) > 30
    for name, command in known.items():
        options = [option for parameter in command.params for option in parameter.opts]
        if name in WITHOUT_A_CASE:
            continue
        assert "--json" in options, f"{name} has no --json"
        words = name.removeprefix("probe ").split()
        assert ", ".join(f'"{word}"' for word in words) in written, f"{name} has no case"
    assert set(WITHOUT_A_CASE) <= set(known)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "train.py").write_text(TRAIN)
    sys.modules.pop("train", None)
    return tmp_path


def fill_in(path: Path) -> None:
    """What somebody writes into the file that `new` has made."""
    assert path.is_file()
    path.write_text(ROUND)


def test_the_loop_by_python_alone(folder: Path) -> None:
    project = tw.project.init("train.py:train", minimize="valid_error")
    fill_in(tw.project.new("layers").path)
    workload = project.workload(executor=tw.executors.Inline())
    results = tw.run(project.round("layers"), workload)
    assert {finding.verdict for finding in tw.check(results)} & {"ok", "note", "warn"}
    proposed = next(one for one in project.next_round(results) if one.round is not None)
    assert proposed.round is not None
    again = tw.run(proposed.round, workload)
    assert again.counts["completed"] > 0
    repeats = tw.repeat(results.best(), workload, times=3)
    assert len(repeats.values) == 3
    report = tw.launch(results, workload, terms=tw.launches.LaunchTerms(plan=3))
    assert report.decision is not None
    history = tw.history(workload.store)
    assert [one.verdict for one in history.launches] == [report.decision.verdict]
    assert {row.name for row in tw.stores.rounds(workload.store)} >= {"layers", proposed.round.name}


def test_the_loop_by_json_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*argv: str) -> Any:
        program, verb, *rest = argv
        assert program == "tunewright"
        capsys.readouterr()
        sys.modules.pop("train", None)
        code = main([verb, *rest, *(INLINE if verb in TRAINS else []), "--json"])
        envelope = json.loads(capsys.readouterr().out)
        assert envelope["command"] == verb and envelope["ok"] and code in (0, 1), envelope
        return envelope["data"]

    def step(data: Any, verb: str) -> list[str]:
        """The words of the next command of this verb, as the answer before names them."""
        found = [one["argv"] for one in data["next"] if one["argv"][1] == verb]
        assert found, (verb, data["next"])
        return list(found[0])

    call("tunewright", "init", "train.py:train", "--minimize", "valid_error")
    new = call("tunewright", "new", "layers")
    fill_in(Path(new["path"]))
    planned = step(new, "run")
    assert planned[-1] == "--dry-run"
    assert call(*planned)["left"] == 16
    ran = call(*planned[:-1])
    assert ran["why"] == "finished"
    findings = call(*step(ran, "check"))["findings"]
    assert findings
    proposals = call(*step(ran, "next"))["proposals"]
    take = next(n for n, one in enumerate(proposals, 1) if one["round"] is not None)
    wrote = call(*step(ran, "next"), "--write", "--take", str(take))
    later = call(*step(wrote, "run"))
    assert later["why"] == "finished"
    repeated = call(*step(call("tunewright", "show", "layers"), "repeat"))
    assert len(repeated["values"]) == 5
    launched = call(*step(repeated, "launch"), "--times", "3")
    history = call("tunewright", "history")
    assert [one["verdict"] for one in history["launches"]] == [launched["decision"]["verdict"]]


def test_progress(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a watcher receives of a round is what the command prints at its end."""
    assert main(["init", "train.py:train", "--minimize", "valid_error"]) == 0
    (folder / "rounds").mkdir(exist_ok=True)
    (folder / "rounds" / "layers.toml").write_text(ROUND)
    seen: list[Any] = []

    class Watching(tw.progress.Silent):
        def ended(self, concluded: tw.progress.Concluded) -> None:
            seen.append(concluded)

        def closed(self, summary: tw.progress.Summary) -> None:
            seen.append(summary)

    project = tw.project.load()
    apart = replace(project.workload(), store=folder / "python.db", executor=tw.executors.Inline())
    results = tw.run(project.round("layers"), apart, progress=Watching())
    *ended, summary = seen
    capsys.readouterr()
    assert main(["run", "layers", *INLINE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]
    told = (summary.why, summary.ended, dict(summary.counts))
    assert told == (found["why"], found["ended"], found["counts"])
    assert {one.value for one in ended} == {trial.value for trial in results.trials}
    assert min(one.value for one in ended) == found["best"]["value"]
