"""Every refusal through every door that can meet it: Python, a command, a tool of the server."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.referee.programs import git, write

import tunewright as tw
from tunewright.cli.main import main
from tunewright.errors import TunewrightError
from tunewright.mcp.tools import call
from tunewright.refusals import TABLE, exit_code_of

pytestmark = pytest.mark.beyond_core  # rounds, launches and programs

TRAIN = """
import math
import random


def train(run, learning_rate, layers=1, gain=0.0, max_train_steps=10):
    noise = random.Random(repr((run.seeds.init, learning_rate, layers))).gauss(0, 0.01)
    error = 0.5 + noise + 0.08 * math.log10(learning_rate) - gain * layers
    diverged = gain and layers == 1 and learning_rate > 0.005
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            run.log(step, valid_error=float("nan") if diverged else error)
            run.save({"loss": noise})


def test(checkpoint):
    return {"test_error": checkpoint.state["loss"]}
"""
ROUND = """
goal = "Do more layers help?"
trials_per_study = 5
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 10
"""
UNEQUAL = ROUND.replace("= 5", "= 12").replace("[fixed]", "[fixed]\ngain = 0.1")
SEEDS = ROUND.replace("[fixed]", "seed = [1, 2]\n[fixed]")
STEPS = ROUND.partition("[fixed]")[0] + "max_train_steps = { integers = [5, 50] }\n"
INLINE = ("--on", "inline")
Shell = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project: `equal` has run; so has `unequal`, where most trials of one setting diverged."""
    folder = tmp_path_factory.mktemp("refusals")
    (folder / "train.py").write_text(TRAIN)
    (folder / "tunewright.toml").write_text(
        '[workload]\nfunction = "train.py:train"\nminimize = "valid_error"\nstore = "tuning.db"\n'
        'test = "train.py:test"\n[workload.means]\nmax_train_steps = "max_train_steps"\n'
    )
    (folder / "rounds").mkdir()
    texts = {"equal": ROUND, "unequal": UNEQUAL, "seeds": SEEDS, "steps": STEPS, "later": ROUND}
    for name, text in texts.items():
        (folder / "rounds" / f"{name}.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        for name in ("equal", "unequal"):
            assert main(["run", name, "--on", "inline"]) == 0
        yield folder


@pytest.fixture
def shell(project: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Call a command with `--json`: its exit code and its envelope."""

    def made(*words: str) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        code = main([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return made


@contextlib.contextmanager
def apart(project: Path, folder: Path) -> Iterator[Path]:
    """A copy of the project, entered: what one door records must not reach the next."""
    shutil.copytree(project, folder)
    with contextlib.chdir(folder):
        yield folder


def workload(project: Path) -> tw.Workload:
    return tw.project.load(project).workload(executor=tw.executors.Inline())


def tool(project: Path, name: str, **given: Any) -> dict[str, Any]:
    """The answer of a tool; of one that trains, what its handle answers in the end."""
    data = call(name, given, project).to_data()
    while data["verdict"] in ("started", "running"):
        time.sleep(0.2)
        data = call("status", data["next"]["arguments"], project).to_data()
    return data


@pytest.mark.parametrize(("name", "code"), [("seeds", "seed_as_idea"), ("steps", "steps_tuned")])
def test_a_design_that_statistics_forbid(project: Path, shell: Shell, name: str, code: str) -> None:
    round = tw.project.load(project).round(name)
    with pytest.raises(TunewrightError) as refused:
        tw.run(round, workload(project), progress="off")
    assert refused.value.refusal == code
    exit_code, envelope = shell("run", name)
    assert envelope["error"]["refusal"] == code and exit_code == exit_code_of(code)
    assert tool(project, "run", round=name)["error"]["refusal"] == code


@pytest.mark.parametrize(
    ("name", "times", "code"), [("equal", 1, "undecided_noise"), ("unequal", 3, "unequal_arms")]
)
def test_a_launch_that_stays_undecided(
    project: Path, shell: Shell, tmp_path: Path, name: str, times: int, code: str
) -> None:
    results = tw.load(project / "tuning.db", name)
    best = results.best()
    rate, layers = (best.configuration[n] for n in ("learning_rate", "layers"))
    rival = next(
        own
        for own in results.trials
        if own.configuration["learning_rate"] == rate and own.configuration["layers"] != layers
    )
    words = (name, "--baseline", str(rival.number), "--times", str(times), *INLINE)
    with apart(project, tmp_path / "shell"):
        exit_code, envelope = shell("launch", *words)
        assert envelope["data"]["decision"]["verdict"] == "undecided", envelope["data"]
        assert envelope["data"]["refusal"] == code and exit_code == exit_code_of(code)
    with apart(project, tmp_path / "python") as folder:
        terms = tw.launches.LaunchTerms(plan=times)
        own = tw.load(folder / "tuning.db", name)
        report = tw.launch(own, workload(folder), against=rival.number, terms=terms, progress="off")
        assert report.refusal == code
    with apart(project, tmp_path / "tool") as folder:
        answer = tool(folder, "launch", round=name, baseline=str(rival.number), times=times)
        assert answer["verdict"] == "undecided" and answer["numbers"]["refusal"] == code


def test_another_look_at_the_test_set(project: Path, shell: Shell) -> None:
    """No tool of the server looks at the test set, so agents meet it in the shell."""
    results = tw.load(project / "tuning.db", "equal")
    first, second = results.top(2)
    tw.launches.final_test(first, workload(project), lambda checkpoint: {"test_error": 0.2})
    with pytest.raises(TunewrightError) as refused:
        tw.launches.final_test(second, workload(project), lambda checkpoint: {"test_error": 0.2})
    assert refused.value.refusal == "test_peek"
    exit_code, envelope = shell("final", "equal", "--trial", str(second.number))
    assert envelope["error"]["refusal"] == "test_peek" and exit_code == 13


def test_a_spent_budget(project: Path, shell: Shell) -> None:
    (project / "budget.toml").write_text("trials = 0\n")
    try:
        with pytest.raises(TunewrightError) as refused:
            tw.run(tw.project.load(project).round("later"), workload(project), progress="off")
        assert refused.value.refusal == "budget_spent"
        exit_code, envelope = shell("run", "later")
        assert envelope["error"]["refusal"] == "budget_spent" and exit_code == 15
        assert tool(project, "run", round="later")["error"]["refusal"] == "budget_spent"
    finally:
        (project / "budget.toml").unlink()


@pytest.mark.parametrize("whose", ["the lineage's", "the project's"])
def test_a_spent_budget_of_the_judge(project: Path, shell: Shell, whose: str) -> None:
    folder = project if whose == "the project's" else project / "apart"
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("*\n!train_size.py\n")
    write(folder, 2.0)
    (folder / "train.py").rename(folder / "train_size.py")
    if folder == project:
        (project / "train.py").write_text(TRAIN)
    git(folder, "add", "-f", "train_size.py")
    git(folder, "commit", "-qm", "first")
    own = tw.referee.begin(
        f"{sys.executable} train_size.py {{run.seed}}",
        tw.minimize("loss"),
        terms=tw.referee.Terms(budget_trials=4 if folder != project else None),
        folder=folder,
        store=folder / "tuning.db",
        executor=tw.executors.Inline(),
    )
    if folder == project:
        tw.budgets.write(tw.budgets.Budget(trials=4), project)
    (folder / "train_size.py").write_text(
        (folder / "train_size.py").read_text().replace("SIZE = 2.0", "SIZE = 1.99")
    )
    git(folder, "commit", "-qam", "smaller")
    decision = own.attempt()
    assert own.status().cost.runs == 4, "three of the baseline, one of the change"
    assert decision.verdict in ("undecided", "keep", "discard")
    (folder / "train_size.py").write_text(
        (folder / "train_size.py").read_text().replace("SIZE = 1.99", "SIZE = 1.9")
    )
    with pytest.raises(TunewrightError) as refused:
        own.attempt()
    assert refused.value.refusal == "budget_spent"
    store = str(folder / "tuning.db")
    exit_code, envelope = shell("judge", "try", "--store", store, "--on", "inline")
    assert envelope["error"]["refusal"] == "budget_spent" and exit_code == 15
    if folder == project:
        spent = tw.budgets.state(project / "tuning.db")
        assert spent is not None and spent.spent.trials == 4
        answer = tool(project, "judge", action="try")
        assert answer["error"]["refusal"] == "budget_spent"
    assert own.status().cost.runs == 4


def test_no_refusal_is_left_out() -> None:
    met = {"seed_as_idea", "steps_tuned", "unequal_arms", "undecided_noise", "test_peek"}
    assert {one.code for one in TABLE} == met | {"budget_spent"}
