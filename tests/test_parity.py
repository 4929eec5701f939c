"""Two doors, one answer: every verb by Python, by `--json` and by its text, on one store."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.cli.main import main
from tunewright.messages import words
from tunewright.present import envelope as facts
from tunewright.present.envelope import plain

pytestmark = pytest.mark.beyond_core  # whole rounds, again and again

TRAIN = '''
import math
import random


def train(run, learning_rate, layers=1, max_train_steps=20):
    """Two layers are better by 0.02; seeds move the value by 0.002."""
    luck = random.Random(run.seeds.init + layers).gauss(0, 0.002)
    for step in run.steps(max_train_steps):
        loss = 0.1 * (math.log10(learning_rate) + 1.5) ** 2 + 1 / step
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=0.3 + loss - 0.02 * layers + luck)
            run.save({"loss": loss})


def full(checkpoint):
    return {"full_error": checkpoint.state["loss"] * 1.5}


def test(checkpoint):
    return {"test_error": checkpoint.state["loss"] * 2}
'''
ROUND = """
goal = "Do more layers help?"
trials_per_study = 8
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 20
"""
LATER = 'continues = "layers"\n' + ROUND.replace("[1, 2]", "[2]").replace("= 8", "= 4")
SPACE = ROUND.replace("[scientific]\nlayers = [1, 2]\n", "").replace("= 8", "= 4")
# what every call measures anew, or names by the folder it is in
ANEW = {
    *("seconds", "written", "created", "path", "store", "file", "command", "folder", "report"),
    *("definition", "checkpoint", "root", "hours", "clock_hours"),
}
INLINE = ("--on", "inline")

Shell = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose rounds `layers` and `finer`, which continues it, have run."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "train.py").write_text(TRAIN)
    (folder / "rounds").mkdir()
    for name, text in (("layers", ROUND), ("finer", LATER), ("tune", SPACE)):
        (folder / "rounds" / f"{name}.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        assert main(["init", "train.py:train", "--minimize", "valid_error"]) == 0
        assert main(["run", "layers", *INLINE]) == 0
        assert main(["run", "finer", *INLINE]) == 0
    sys.modules.pop("train", None)
    return folder


@pytest.fixture
def doors(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two copies of the project: one for Python, which is entered, and one for the shell."""
    both = tmp_path / "python", tmp_path / "shell"
    for folder in both:
        shutil.copytree(made, folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(both[0])
    monkeypatch.setenv("COLUMNS", "300")
    sys.modules.pop("train", None)
    return both


@pytest.fixture
def shell(
    doors: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    """Call a command in its copy: the data of its envelope, or its text with `text=True`."""

    def call(*arguments: str, text: bool = False, folder: Path | None = None) -> Any:
        capsys.readouterr()
        sys.modules.pop("train", None)
        with monkeypatch.context() as patch:
            patch.chdir(folder or doors[1])
            code = main([*arguments] if text else [*arguments, "--json"])
        out = capsys.readouterr().out
        sys.modules.pop("train", None)
        if text:
            return out
        envelope = json.loads(out)
        assert envelope["schema_version"] == 1
        assert envelope["ok"], envelope
        assert envelope["command"].split()[0] == arguments[0]
        assert code in (0, 1), "1: check warns"
        return envelope["data"]

    return call


def same(python: Any, shell: Any) -> None:
    """The facts of both doors, apart from what every call measures anew."""
    assert lasting(plain(python)) == lasting(shell)


def lasting(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: lasting(one) for key, one in data.items() if key not in ANEW}
    return [lasting(one) for one in data] if isinstance(data, list) else data


def workload() -> tw.Workload:
    return tw.project.load().workload(executor=tw.executors.Inline())


STORE = "tuning.db"


def test_ls(doors: Any, shell: Shell) -> None:
    rows = tw.stores.rounds(STORE)
    same({"rounds": rows}, shell("ls"))
    text = shell("ls", text=True)
    for row in rows:
        assert row.best is not None
        assert row.name in text and words.number(row.best.value) in text


def test_show(doors: Any, shell: Shell) -> None:
    results = tw.load(STORE, "layers")
    same(facts.of_round(results), shell("show", "layers"))
    assert words.number(results.best().value) in shell("show", "layers", text=True)
    longer = shell("show", "layers", "--curves")
    assert longer["trials"][0]["curves"].keys() == {"train_loss", "valid_error"}


def test_trial(doors: Any, shell: Shell) -> None:
    results = tw.load(STORE, "finer")
    joined = next(t for t in results.trials if t.origin is not None)
    for trial in (results.best(), joined):
        history = tw.stores.history(STORE, trial)
        found = shell("trial", "finer", str(trial.number))
        curves = plain(trial, curves=True)
        asked = {"round": "finer", "trial": curves, "repeats": [], "history": history}
        same({**asked, "standing": None}, found)  # it does not run
        assert words.number(trial.value) in shell("trial", "finer", str(trial.number), text=True)


def test_again(doors: Any, shell: Shell) -> None:
    results = tw.load(STORE, "finer")
    for trial in (results.best(), next(t for t in results.trials if t.origin is not None)):
        found = tw.trials.again(trial, workload())
        assert found.equal
        same(found, shell("again", "finer", str(trial.number), *INLINE))
        assert words.number(trial.value) in shell(
            "again", "finer", str(trial.number), *INLINE, text=True
        )
    assert len(tw.load(STORE, "finer").trials) == len(results.trials)


def test_remove_and_rename(doors: Any, shell: Shell) -> None:
    for python, more in ((tw.stores.remove, ()), (tw.stores.bring_back, ("--undo",))):
        both = plain(python(STORE, "finer")), shell("rm", "finer", *more)
        same(*({k: v for k, v in one.items() if k != "removed"} for one in both))  # when
    renamed = tw.project.rename("layers", "deeper", store=STORE, project=tw.project.load())
    found = shell("rename", "layers", "deeper")
    assert {path.name for path in renamed.files} == {Path(path).name for path in found["files"]}
    done = {k: v for k, v in plain(renamed).items() if k != "files"}
    same(done, {k: v for k, v in found.items() if k != "files"})
    assert tw.load(STORE, "finer").round.continues == "deeper"
    assert "deeper" in shell("ls", text=True)


def test_check_joins_the_rounds_that_are_continued(doors: Any, shell: Shell) -> None:
    findings = tw.check(tw.load(STORE, "finer"))
    same({"round": "finer", "findings": findings}, shell("check", "finer"))
    alone = tw.check(tw.load(STORE, "finer", earlier=False))
    assert plain(alone) != plain(findings), "earlier trials count"
    text = shell("check", "finer", text=True)
    for finding in findings:
        assert finding.check in text


def test_believe(doors: Any, shell: Shell) -> None:
    beliefs = tw.search.believe(tw.load(STORE, "finer"))
    assert beliefs[0].earlier > 0
    same(
        {"round": "finer", "beliefs": facts.each_without(beliefs, "says")},
        shell("believe", "finer"),
    )
    predicted = beliefs[0].predicted
    assert predicted is not None
    assert words.number(predicted.value) in shell("believe", "finer", text=True)


def test_next_and_its_round_file(doors: tuple[Path, Path], shell: Shell) -> None:
    project = tw.project.load()
    proposals = project.next_round(tw.load(STORE, "layers"))
    found = shell("next", "layers")
    same(proposals, found["proposals"])
    assert all(one.kind in shell("next", "layers", text=True) for one in proposals)
    take, chosen = next((n, one) for n, one in enumerate(proposals, 1) if one.round is not None)
    wrote = shell("next", "layers", "--write", "--take", str(take))
    assert chosen.round is not None
    if chosen.round.name != "layers":
        project.write(chosen.round)
    read = [tw.project.load(folder).round(chosen.round.name) for folder in doors]
    assert read[0] == read[1]
    assert wrote["next"][0]["argv"][:3] == ["tunewright", "run", chosen.round.name]


def test_extend(doors: Any, shell: Shell) -> None:
    longer = tw.advice.extend(tw.load(STORE, "finer"), 60)
    found = shell("extend", "finer", "--max-train-steps", "60")["extension"]["round"]
    same(longer, found)
    assert "60" in shell("extend", "finer", "--max-train-steps", "60", text=True)


def test_plot_and_report(doors: Any, shell: Shell) -> None:
    results = tw.load(STORE, "layers")
    (figure,) = shell("plot", "layers", "--only", "axis", "--format", "svg")["figures"]
    same(tw.plots.axis(results).data, figure["data"])
    assert "axis.svg" in shell("plot", "layers", "--only", "axis", "--format", "svg", text=True)
    report = tw.report(results)
    found = shell("report", "layers")
    same(report.findings, found["findings"])
    same(results.best(), found["best"])
    assert words.number(results.best().value) in shell("report", "layers", text=True)


def test_note_stop_and_export(doors: tuple[Path, Path], shell: Shell) -> None:
    notes = tw.stores.note(STORE, "layers", "look again")
    same({"round": "layers", "notes": notes}, shell("note", "layers", "look again"))
    assert "look again" in shell("show", "layers", text=True)
    same(tw.stores.stop(STORE, "layers"), shell("stop", "layers"))
    assert "layers" in shell("stop", "layers", text=True)
    tw.load(STORE, "layers").export("out.csv")
    assert shell("export", "layers", "out.csv")["trials"] == 16
    assert "16 trials" in shell("export", "layers", "again.csv", text=True)
    names = [(folder / "out.csv").read_text().splitlines()[0] for folder in doors]
    assert names[0] == names[1]


def test_backup_and_restore(doors: tuple[Path, Path], shell: Shell) -> None:
    written = tw.stores.backup(STORE)
    assert written.parent.name == Path(shell("backup")["path"]).parent.name
    assert "wrote" in shell("backup", text=True)
    listed = [str(path) for path in tw.stores.backups(doors[1] / STORE)]
    assert shell("restore", "--list")["backups"] == listed != []
    python, command = tw.stores.restore(STORE), shell("restore")
    assert (python.rounds, python.trials) == (command["rounds"], command["trials"])
    assert "2 rounds" in shell("restore", text=True)
    rebuilt, again = tw.stores.rebuild(STORE), shell("restore", "--rebuild")
    assert (rebuilt.trials, again["trials"], again["source"]) == (20, 20, None)


def test_init_new_and_doctor(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    both = tmp_path / "p", tmp_path / "s"
    for folder in both:
        folder.mkdir()
        (folder / "train.py").write_text(TRAIN)
    project = tw.project.init("train.py:train", minimize="valid_error", folder=both[0])
    asked = ("init", "train.py:train", "--minimize", "valid_error")
    found = shell(*asked, folder=both[1])
    assert found["hyperparameters"] == project.hyperparameters
    new = tw.project.new("depth", project=project, space="adam", trials=10)
    told = shell("new", "depth", "--space", "adam", "--trials", "10", folder=both[1])
    same(new, {key: one for key, one in told.items() if key != "next"})
    for name in ("tunewright.toml", "rounds/depth.toml"):
        assert (both[0] / name).read_text() == (both[1] / name).read_text()
    text = shell("new", "width", text=True, folder=both[1])
    new = tw.project.new("width", project=project)
    assert ("a role for" in text) == bool(new.without_role)
    assert "rounds/width.toml" in text and all(name in text for name in new.without_role)
    monkeypatch.chdir(both[0])
    examined = [(one.what, one.verdict, one.found.code) for one in tw.project.doctor()]
    found = shell("doctor", folder=both[1])["examined"]
    assert examined == [(one["what"], one["verdict"], one["found"]["code"]) for one in found]
    assert "workload" in shell("doctor", text=True, folder=both[1])


def test_run_worker_and_repeat(doors: tuple[Path, Path], shell: Shell) -> None:
    for folder in doors:
        (folder / "rounds" / "more.toml").write_text(SPACE)
    asked = tw.project.load().round("more")
    results = tw.run(asked, workload())
    planned = shell("run", "more", "--dry-run")
    assert (planned["left"], planned["ended"]) == (4, 0)
    assert shell("run", "more", "--trials", "2", *INLINE)["counts"] == {"completed": 2}
    joined = tw.worker("more", workload())  # everything has been trained: nothing is left to do
    found = shell("worker", "more", "--workers", "1")
    assert (found["why"], found["counts"]) == ("finished", {"completed": 2})
    same([t.value for t in joined.trials[:2]], [t.value for t in results.trials[:2]])
    found = shell("run", "more", *INLINE)
    same(facts.of_run(results, "finished", 0.0, 2), found)
    assert words.number(results.best().value) in shell("run", "more", *INLINE, text=True)
    repeats = tw.repeat(results.best(), workload(), times=3)
    same(facts.of_repeats(repeats, "finished"), shell("repeat", "more", "--times", "3", *INLINE))
    text = shell("repeat", "more", "--times", "3", *INLINE, text=True)
    assert all(words.number(value) in text for value in repeats.values)


def test_import(doors: Any, shell: Shell, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("lr,val_loss\n0.1,2\n0.2,1\n0.3,1.5\n")
    results = tw.importers.tables(table, objective=tw.minimize("val_loss"))
    kept = tw.stores.keep(STORE, results)
    found = shell("import", "table", str(table), "--minimize", "val_loss")
    same(facts.of_round(kept), found)
    asked = ("import", "table", str(table), "--minimize", "val_loss", "--name", "again")
    assert "3 trials: 3 completed" in shell(*asked, text=True)


def test_tune(doors: tuple[Path, Path], shell: Shell) -> None:
    planned = shell("tune", "tune", "--trials", "12", "--dry-run", *INLINE)
    assert planned["campaign"]["spent"] == 0
    found = shell("tune", "tune", "--trials", "12", *INLINE)
    campaign = tw.campaign(doors[1] / STORE, "tune")
    same(facts.of_campaign(campaign), found["campaign"])
    assert found["campaign"]["best"] == campaign.best
    python = tw.tune(workload(), tw.project.load().round("tune"), trials=12, name="tune")
    assert python.best == campaign.best
    assert campaign.winner is not None
    known = campaign.winner.known_value or campaign.winner.trial.value
    assert words.number(known) in shell("tune", "tune", "--trials", "12", *INLINE, text=True)


def test_launch_history_variance_evaluate_and_final(doors: tuple[Path, Path], shell: Shell) -> None:
    results = tw.load(STORE, "layers")
    same(tw.launches.variance(results).to_data(), shell("variance", "layers"))
    python = tw.launch(results, workload(), terms=tw.launches.LaunchTerms(plan=3))
    same(
        lasting_seconds(python.to_data()),
        lasting_seconds(shell("launch", "layers", "--times", "3", *INLINE)),
    )
    assert python.decision is not None
    assert python.decision.verdict in shell("history", text=True)
    same(tw.history(STORE).to_data(), shell("history"))
    assert "layers" in shell("variance", "layers", text=True)
    for verb, key in (("evaluate", "full"), ("final", "test")):
        found = shell(verb, "layers", "--with", f"train.py:{key}", *INLINE)
        assert found, verb
        assert f"{key}_error" in shell(
            verb, "layers", "--with", f"train.py:{key}", *INLINE, text=True
        )


def test_launch_counts_the_rounds_that_are_continued(
    doors: tuple[Path, Path], shell: Shell
) -> None:
    """The best of `finer` is a trial of `layers`: both doors launch that, and check both rounds."""
    results = tw.load(STORE, "finer")
    best, first = results.best(), results.trial(0)
    assert best.origin is not None and first.origin is None
    terms = tw.launches.LaunchTerms(plan=3)
    asked = ("launch", "finer", "--baseline", "0", "--times", "3", *INLINE)
    planned = tw.launch(results, workload(), against=first, terms=terms, dry_run=True)
    assert (planned.candidate.round, planned.candidate.trial) == best.origin
    same(lasting_seconds(planned.to_data()), lasting_seconds(shell(*asked, "--dry-run")))
    python = tw.launch(results, workload(), against=first, terms=terms)
    same(lasting_seconds(python.to_data()), lasting_seconds(shell(*asked)))
    assert python.decision is not None
    alone = tw.launch(tw.load(STORE, "finer", earlier=False), workload(), against=0, dry_run=True)
    assert alone.candidate == python.candidate, "how the results were read changes nothing"
    # what an earlier round launched is the baseline, no longer the candidate
    again = tw.launch(results, workload(), dry_run=True)
    assert again.baseline is not None and again.candidate != again.baseline
    assert str(again.candidate) in shell("launch", "finer", "--dry-run", text=True)


def lasting_seconds(data: Any) -> Any:
    if isinstance(data, dict):
        return {k: lasting_seconds(v) for k, v in data.items() if "seconds" not in k}
    return [lasting_seconds(one) for one in data] if isinstance(data, list) else data
