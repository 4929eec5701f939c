"""Rows of docs/capabilities.md on a program that is really trained, in real processes."""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.stories.small_network import CHANCE, fit, recorded

import tunewright as tw
from tunewright.errors import TunewrightError
from tunewright.messages import Message
from tunewright.store.results import Results

RATE = tw.log(1e-3, 1.0)


def workload(folder: Path, train: Any = recorded, **changes: Any) -> tw.Workload:
    settings: dict[str, Any] = {
        "store": folder / "tuning.db",
        "executor": tw.executors.Inline(),
        "means": {"chance": CHANCE},
        **changes,
    }
    return tw.Workload(train, tw.minimize("valid_error"), **settings)


def asked(name: str = "rates", **changes: Any) -> tw.Round:
    settings: dict[str, Any] = {
        "goal": "Which learning rate?",
        "nuisance": {"learning_rate": RATE},
        "fixed": {"max_train_steps": 120},
        "trials_per_study": 8,
        **changes,
    }
    return tw.Round(name, **settings)


def received(results: Results) -> dict[int, dict[str, Any]]:
    """What the program wrote down in each trial's folder."""
    found = {}
    for trial in results.trials:
        place = Path(results.root, trial.folder) / "received.json"
        found[trial.number] = json.loads(place.read_text())
    return found


def verdict(results: Results, check: str) -> tw.types.Finding:
    return next(f for f in tw.check(results) if f.check == check)


def test_row_11_a_network_beats_chance_on_validation_or_it_does_not(tmp_path: Path) -> None:
    learns = tw.run(asked(), workload(tmp_path))
    found = verdict(learns, "baseline")
    assert (found.verdict, found.evidence.metric) == ("ok", "valid_loss")
    assert found.evidence.chance == pytest.approx(CHANCE)
    fixed = {"max_train_steps": 400, "shuffled": True, "hidden": 64, "optimizer": "adam"}
    memorises = tw.run(asked("memorised", fixed=fixed, trials_per_study=5), workload(tmp_path))
    found = verdict(memorises, "baseline")
    assert (found.verdict, found.evidence.metric) == ("warn", "valid_loss")
    losses = [trial.curves["train_loss"].values[-50:].mean() for trial in memorises.trials]
    assert min(losses) < 0.5 * CHANCE  # though the training set is fit


def test_row_14_roles_are_refused_and_what_is_fixed_limits_the_conclusion(tmp_path: Path) -> None:
    own = workload(tmp_path, train=fit)
    with pytest.raises(TunewrightError):
        tw.run(asked("batches", nuisance={"batch_size": tw.integers(8, 64)}), own)
    with pytest.raises(TunewrightError):
        steps = {"max_train_steps": tw.integers(50, 200)}
        tw.run(asked("steps", nuisance=steps, fixed={}), own)
    made = tw.run(asked(scientific={"optimizer": ["sgd", "adam"]}, trials_per_study=4), own)
    (caveat,) = made.round.caveats
    assert caveat.facts["fixed"]["max_train_steps"] == 120
    assert caveat.facts["fixed"]["hidden"] == 24  # a default of the function
    best = {study: made.of(study)[0] for study in (0, 1)}
    arms = [tw.repeat(trial, own, times=3) for trial in best.values()]
    launch = tw.decide(*arms)
    held = {"name": "hidden", "value": 24, "when": []}
    assert Message("launch.holds_for", held) in launch.caveats


def test_row_15_the_program_receives_what_is_active_and_nothing_else(tmp_path: Path) -> None:
    conditional = tw.given(
        {
            "sgd": {"learning_rate": tw.log(1e-2, 1.0), "momentum": tw.linear(0.0, 0.95)},
            "adam": {
                "learning_rate": tw.log(1e-3, 1e-1),
                "beta1": tw.ranges.log_from_one(0.8, 0.99),
            },
        }
    )
    made = tw.run(asked(nuisance={"optimizer": conditional}), workload(tmp_path))
    assert made.counts == {"completed": 8}
    seen = {"sgd": 0, "adam": 0}
    for number, own in received(made).items():
        got = own["received"]
        seen[got["optimizer"]] += 1
        only = {"sgd": "momentum", "adam": "beta1"}[got["optimizer"]]
        assert set(got) == {"optimizer", "learning_rate", only, "max_train_steps"}, number
        assert got == dict(made.trial(number).configuration)
    assert seen == {"sgd": 4, "adam": 4}


def test_row_23_worker_processes_share_one_stream(tmp_path: Path) -> None:
    """Three worker processes train the very points that one process would."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    alone = tw.run(asked(trials_per_study=12), workload(tmp_path / "a"))
    several = workload(tmp_path / "b", executor=tw.Local(workers=3, devices=[]))
    together = tw.run(asked(trials_per_study=12), several)
    assert [t.configuration for t in together.trials] == [t.configuration for t in alone.trials]
    assert len({own["process"] for own in received(together).values()}) >= 2
    assert len({t.configuration["learning_rate"] for t in together.trials}) == 12
    assert [t.value for t in together.trials] == [t.value for t in alone.trials]  # seeds too


def test_row_32_the_trials_in_the_good_region_are_counted(tmp_path: Path) -> None:
    made = tw.run(asked(trials_per_study=16), workload(tmp_path))
    values = [trial.value for trial in made.trials if trial.value is not None]
    for results in (made, replace(made, round=replace(made.round, detect=0.02))):
        near = verdict(results, "density").evidence.good_region
        assert near.trials == sum(value <= min(values) + near.within for value in values) >= 1
    assert (near.by, near.within) == ("detect", 0.04)


def test_row_53_suggestions_for_parallel_workers_are_distinct(tmp_path: Path) -> None:
    own = workload(tmp_path, executor=tw.Local(workers=4, devices=[]))
    space = {"learning_rate": RATE, "momentum": tw.linear(0.0, 0.95)}
    made = tw.run(asked(nuisance=space, trials_per_study=20), own, search=tw.search.Bayesian())
    assert made.counts == {"completed": 20}
    assert len({own["process"] for own in received(made).values()}) >= 2
    late = [trial.unit for trial in made.trials[8:]]  # suggested while others ran
    for one, other in itertools.combinations(late, 2):
        assert max(abs(one[name] - other[name]) for name in space) > 1e-3


PROGRAM = """
import json, sys
from net import scale
rate = float(sys.argv[1])
error = 1.0
for step in range(1, 21):
    error -= scale * rate * (error - 0.1)
    print(json.dumps({"step": step, "valid_error": error}))
"""


@pytest.mark.parametrize("tracked", [True, False])
def test_row_96_code_that_changed_between_trials_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tracked: bool
) -> None:
    """In a real repository: a module that git knows, or one that it does not."""
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "net.py").write_text("scale = 1.0\n")
    (tmp_path / ".gitignore").write_text("tuning.db*\n__pycache__\n")
    monkeypatch.chdir(tmp_path)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run([*git, "init", "-q"], check=True)
    names = ["train.py", ".gitignore", *(["net.py"] if tracked else [])]
    subprocess.run([*git, "add", *names], check=True)
    subprocess.run([*git, "commit", "-qm", "program"], check=True)
    program = tw.command(f"{shlex.quote(sys.executable)} train.py {{learning_rate}}")
    own = tw.Workload(
        program, tw.minimize("valid_error"), store="tuning.db", executor=tw.executors.Inline()
    )
    half = asked(fixed={}, trials_per_study=2)
    tw.run(half, own)
    # a round file and a page are committed: nothing that the program runs
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "next.toml").write_text("goal = 'x'\n")
    (tmp_path / "README.md").write_text("x\n")
    subprocess.run([*git, "add", "rounds", "README.md"], check=True)
    subprocess.run([*git, "commit", "-qm", "pages"], check=True)
    alike = tw.run(replace(half, trials_per_study=4), own)
    assert verdict(alike, "same_code").verdict == "ok"
    (tmp_path / "net.py").write_text("scale = 0.5\n")
    changed = verdict(tw.run(replace(half, trials_per_study=6), own), "same_code")
    assert changed.verdict == "warn"
    named = {name for one in changed.evidence.differences for name in one.files}
    assert named == {"net.py"}
