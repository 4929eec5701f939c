"""A receipt that was copied to another place: no store, no program, another environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.receipts.receipt import SEAL, seal
from tunewright.receipts.verify import read

pytestmark = pytest.mark.beyond_core  # it trains, and starts processes
TRAIN = """
import random


def train(run, learning_rate, layers=1, max_train_steps=40):
    noise = random.Random(repr((run.seeds.init, layers)))
    base = 0.3 + 0.1 * (learning_rate - 0.3) ** 2 - 0.05 * layers + noise.gauss(0, 0.003)
    for step in run.steps(max_train_steps):
        run.log(step, train_loss=base + 1 / step)
        if run.eval_due(step):
            run.log(step, valid_error=base + 1 / step + noise.gauss(0, 0.0005))
"""
SCRIPT = """
import json, sys
import tunewright as tw

found = tw.receipts.verify(sys.argv[1])
print(json.dumps(found.to_data()))
"""


@pytest.fixture(scope="module")
def receipt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The receipt of a round that was run and launched; its project is gone."""
    here = tmp_path_factory.mktemp("here")
    (here / "train.py").write_text(TRAIN)
    namespace: dict[str, Any] = {}
    exec(compile(TRAIN, str(here / "train.py"), "exec"), namespace)
    workload = tw.Workload(
        namespace["train"],
        tw.minimize("valid_error"),
        store=here / "tuning.db",
        executor=tw.executors.Inline(),
    )
    round = tw.Round(
        "layers",
        goal="Do more layers help?",
        scientific={"layers": [1, 2]},
        nuisance={"learning_rate": tw.log(1e-2, 1.0)},
        fixed={"max_train_steps": 40},
        trials_per_study=6,
    )
    results = tw.run(round, workload, progress="off")
    terms = tw.launches.LaunchTerms(plan=3)
    against = next(t for t in results.top(12) if t.study != results.best().study)
    tw.launch(results, workload, against=against, terms=terms, progress="off")
    there = tmp_path_factory.mktemp("there") / "copied.json.gz"
    shutil.copy(tw.receipts.write(here / "tuning.db", "layers", here / "r.json.gz"), there)
    shutil.rmtree(here)
    return there


def verified(path: Path, home: Path) -> dict[str, Any]:
    """What another process answers: an empty home, another folder, locale, zone and hash seed."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ["PYTHONPATH"],
        "HOME": str(home),
        "LANG": "C",
        "TZ": "Asia/Kathmandu",
        "PYTHONHASHSEED": "7",
        "OMP_NUM_THREADS": "2",
    }
    words = [sys.executable, "-c", SCRIPT, str(path)]
    done = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(home.iterdir()) == [], "nothing is written where it verifies"
    return dict(json.loads(done.stdout))


def test_every_verdict_is_derived_again(receipt: Path, tmp_path: Path) -> None:
    found = verified(receipt, tmp_path)
    assert found["ok"] and found["disagreements"] == [] and found["malpractice"] == []
    data = read(receipt)
    assert found["findings"] == len(data["findings"]) > 10
    assert found["launches"] == 1 and found["not_derived"] == 0
    assert found["trials"] == 12 + len(data["repeats"]) and len(data["repeats"]) >= 5


@pytest.mark.parametrize(("by", "seen"), [(1e-8, True), (1e-10, False)])
def test_numbers_are_held_to_1e_9(receipt: Path, tmp_path: Path, by: float, seen: bool) -> None:
    for place in ("value", "evidence", "launch"):
        data = read(receipt)
        if place == "value":
            data["trials"][2]["value"] *= 1 + by
        elif place == "evidence":
            _largest(data["findings"], by)
        else:
            decision = data["launches"][0]["decision"]
            decision["probability"] *= 1 + by
        data[SEAL] = seal(data)
        changed = tmp_path / f"{place}.json"
        changed.write_text(json.dumps(data))
        kinds = {one.what for one in tw.receipts.verify(changed).disagreements}
        expected = {"value": "value", "evidence": "finding", "launch": "launch"}[place]
        assert kinds == ({expected} if seen else set()), (place, kinds)


def _largest(findings: list[dict[str, Any]], by: float) -> None:
    """Change the first number of the evidence of one finding."""
    for one in findings:
        for name, value in one["evidence"].items():
            if isinstance(value, float) and value:
                one["evidence"][name] = value * (1 + by)
                return
    raise AssertionError("no finding has a number")
