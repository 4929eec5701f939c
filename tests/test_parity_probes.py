"""Two doors, one answer: every probe and the demo, by Python, by `--json` and by its text."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_probe_length import LONG_ROUND as DECAY
from tests.test_parity import INLINE, STORE, Shell, lasting, shell as shell, workload

import tunewright as tw
from tunewright.cli.main import main
from tunewright.present import envelope as facts
from tunewright.present.envelope import plain

pytestmark = pytest.mark.beyond_core

WORLDS = Path(__file__).parent / "probes"
CONSTANT = '\n[workload.off]\nschedule = "constant"\n'
BATCH = """
goal = "Which batch size?"
trials_per_study = 6
[nuisance]
learning_rate = { log = [1e-4, 1.0] }
[fixed]
max_train_steps = 1200
"""
STEPS = """
import time


def make_step(batch_size):
    return lambda: time.sleep(0.001 + 1e-4 * batch_size)
"""


@pytest.fixture
def doors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two empty folders: one for Python, which is entered, and one for the shell."""
    both = tmp_path / "python", tmp_path / "shell"
    for folder in both:
        folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(both[0])
    monkeypatch.setenv("COLUMNS", "300")
    sys.modules.pop("train", None)
    return both


def project(
    doors: tuple[Path, Path], world: str, function: str, metric: str, off: str = CONSTANT
) -> None:
    """The same project in both folders."""
    (doors[0] / "train.py").write_text((WORLDS / world).read_text(encoding="utf-8"))
    assert main(["init", f"train.py:{function}", "--minimize", metric]) == 0
    with (doors[0] / "tunewright.toml").open("a") as file:
        file.write(off)
    (doors[0] / "rounds").mkdir()
    (doors[0] / "rounds" / "batch.toml").write_text(BATCH)
    shutil.copytree(doors[0], doors[1], dirs_exist_ok=True)


def agree(python: Any, shell: Shell, *asked: str) -> None:
    """The facts by `--json` are Python's, and the text has its headline and its settings."""
    # rounds of probes are named by a digest of the program, which has its folder in it
    facts, found = (
        {name: one for name, one in lasting(data).items() if name != "round"}
        for data in (plain(python.to_data()), shell("probe", *asked))
    )
    assert facts == found
    text = shell("probe", *asked, text=True)
    for name in python.settings:
        assert name in text


def test_stability_and_clip(doors: tuple[Path, Path], shell: Shell) -> None:
    project(doors, "sharpness_world.py", "train", "valid_loss")
    own = workload()
    fixed = ("--fixed", "learning_rate=0.01")
    answer = tw.probes.stability(own, fixed={"learning_rate": 0.01}, steps=80)
    assert answer.unstable_base_learning_rate == pytest.approx(0.03)
    agree(answer, shell, "stability", *fixed, "--steps", "80", *INLINE)
    agree(
        tw.probes.clip(own, fixed={"learning_rate": 0.01}, steps=80),
        shell,
        *("clip", *fixed, "--steps", "80", *INLINE),
    )


def test_warmup(doors: tuple[Path, Path], shell: Shell) -> None:
    project(doors, "sharpness_world.py", "train", "valid_loss")
    answer = tw.probes.warmup(workload(), fixed={"learning_rate": 0.01}, repeats=0)
    asked = ("warmup", "--fixed", "learning_rate=0.01", "--repeats", "0", *INLINE)
    agree(answer, shell, *asked)
    assert "warmup_steps" in answer.settings


def test_train_steps(doors: tuple[Path, Path], shell: Shell) -> None:
    project(doors, "fitting_worlds.py", "fits", "valid_error")
    answer = tw.probes.train_steps(workload(), learning_rate=0.1)
    assert answer.fit_steps == 345
    agree(answer, shell, "train-steps", "--learning-rate", "0.1", *INLINE)


def test_longer(doors: tuple[Path, Path], shell: Shell) -> None:
    project(doors, "branch_worlds.py", "decaying", "valid_error", off="")
    for folder in doors:
        (folder / "rounds" / "decay.toml").write_text(DECAY)
    own = workload()
    answer = tw.probes.longer(tw.run(tw.project.load().round("decay"), own), own)
    assert answer.verdict == "helps"
    shell("run", "decay", *INLINE)
    agree(answer, shell, "longer", "decay", *INLINE)


def test_critical_batch(doors: tuple[Path, Path], shell: Shell) -> None:
    project(doors, "scaling_worlds.py", "train", "valid_error", off="")
    asked = tw.project.load().round("batch")
    answer = tw.probes.critical_batch(
        workload(),
        batch_sizes=[8, 128],
        nuisance=asked.nuisance,
        fixed=asked.fixed,
        trials=asked.trials_per_study,
    )
    agree(answer, shell, "critical-batch", "batch", "--sizes", "8,128", *INLINE)


def test_batch_size(doors: tuple[Path, Path], shell: Shell) -> None:
    """Steps are timed once, by the shell; both doors then read the same measurements."""
    (doors[0] / "steps.py").write_text(STEPS)
    asked = ("batch-size", "steps.py:make_step", "--quick", "--smallest", "8", "--largest", "16")
    folder = doors[0]
    assert shell("probe", *asked, folder=folder)["from_record"] is False
    found = shell("probe", *asked, folder=folder)
    sys.path.insert(0, str(folder))
    sys.modules.pop("steps", None)
    import steps

    quick = tw.probes.TimingRule(window_s=0.1, seconds=0.6)  # as --quick
    terms = tw.probes.BatchSizeTerms(smallest=8, largest=16, rule=quick)
    answer = tw.probes.batch_size(steps.make_step, terms=terms, store=STORE)
    sys.modules.pop("steps", None)
    assert answer.from_record
    assert lasting(plain(answer.to_data())) == lasting(found)
    assert str(answer.knee) in shell("probe", *asked, folder=folder, text=True)


def test_input(doors: tuple[Path, Path], shell: Shell) -> None:
    """Measured anew by each door: the layout, the question and the settings are the same."""
    (doors[0] / "steps.py").write_text(STEPS)
    asked = ("probe", "input", "steps.py:make_step", "--batch-size", "8", "--steps", "50")
    found = shell(*asked, folder=doors[0])
    sys.path.insert(0, str(doors[0]))
    sys.modules.pop("steps", None)
    import steps

    answer = tw.probes.input_bound(steps.make_step, batch_size=8, steps=50, store=STORE)
    sys.modules.pop("steps", None)
    python = plain(answer.to_data())
    assert python.keys() == found.keys()
    for name in ("probe", "batch_size", "settings", "verdict", "missing"):
        assert python.get(name) == found.get(name), name


def test_demo(doors: tuple[Path, Path], shell: Shell) -> None:
    """The demo is `tune` on a project that it writes: what it did is a campaign of its store."""
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    from tunewright.cli.demo import CAMPAIGN, write_project

    write_project(doors[1] / "digits")
    page = doors[1] / "digits" / "rounds" / f"{CAMPAIGN}.toml"
    page.write_text(page.read_text().replace("width = 64", "width = 8\nmax_train_steps = 20"))
    asked = ("demo", "digits", "--trials", "9", "--workers", "1")
    found = shell(*asked)
    campaign = tw.campaign(doors[1] / "digits" / STORE, CAMPAIGN)
    assert lasting(facts.of_campaign(campaign)) == lasting(found["campaign"])
    assert found["campaign"]["verdict"]["code"] == campaign.verdict.code
    assert campaign.headline in shell(*asked, text=True)
