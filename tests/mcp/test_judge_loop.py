"""A real client over stdio: changes of a repository, judged one after another, and a diagnosis."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.test_stdio import Call, ended, with_client

pytest.importorskip("mcp")
pytestmark = [
    pytest.mark.beyond_core,
    pytest.mark.skipif(
        importlib.util.find_spec("tunewright.referee") is None, reason="without the referee"
    ),
]
TRAIN = """
import json, random, sys

seed = int(sys.argv[sys.argv.index("--seed") + 1])
for step in (1, 2, 3):
    noise = random.Random(seed).gauss(0, 0.01)
    print(json.dumps({{"step": step, "val_loss": 1.0 + 1 / step + noise - {gain}}}))
"""


def git(folder: Path, *words: str) -> None:
    own = ("git", "-c", "user.name=a", "-c", "user.email=a@b", *words)
    subprocess.run(own, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN.format(gain=0.0))
    command = f"{sys.executable} train.py --seed {{run.seed}}"
    (tmp_path / "tunewright.toml").write_text(
        f'[workload]\ncommand = {json.dumps(command)}\nminimize = "val_loss"\nstore = "tuning.db"\n'
    )
    (tmp_path / ".gitignore").write_text("*\n!train.py\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "train.py")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_a_judge_loop(project: Path) -> None:
    async def use(call: Call, client: Any) -> None:
        missing = await call("judge", action="try")
        assert missing["error"]["code"] == "referee.no_lineage", missing
        assert missing["next"] == {"tool": "judge", "arguments": {"action": "begin"}}
        begun = await call("judge", action="begin", protect="train.py")
        assert begun["verdict"] == "begun" and begun["numbers"]["protect"] == ["train.py"], begun
        otherwise = await call("judge", action="begin")
        assert otherwise["error"]["code"] == "referee.begun_otherwise", otherwise
        shutil.rmtree(project / "tuning.judge")
        assert (await call("judge", action="begin"))["verdict"] == "begun"
        for gain, expected in ((0.2, "keep"), (-0.2, "discard")):
            (project / "train.py").write_text(TRAIN.format(gain=gain))
            git(project, "commit", "-qam", f"gain {gain}")
            started = await call("judge", action="try")
            assert started["verdict"] == "started"
            decided = await ended(call, started["numbers"]["handle"])
            assert decided["verdict"] == expected, decided
            assert decided["numbers"]["expected_gain"] * gain > 0
        stands = await call("judge", action="status")
        assert stands["ok"] and stands["numbers"]["kept"] == 1, stands
        decided = (await call("judge", action="history"))["numbers"]["newest"]
        assert [one["verdict"] for one in decided] == ["keep", "discard"], decided
        quoted = await ended(call, (await call("judge", action="quote"))["numbers"]["handle"])
        low, high = quoted["numbers"]["interval"]
        assert 0.1 < low < quoted["numbers"]["gain"] < high < 0.3, quoted
        audited = await ended(call, (await call("judge", action="audit"))["numbers"]["handle"])
        assert audited["numbers"]["removed"] == 0 and audited["numbers"]["commit"], audited
        refused = await call("judge", action="try; rm -rf /")
        assert refused["error"]["code"] == "mcp.bad_choice"

    with_client(project, use)


def test_a_diagnosis(project: Path) -> None:
    lines = ["step,val_loss,train_loss"]
    for k in range(1, 61):
        worse = max(0, k - 30) * 0.02
        lines.append(f"{k},{1 / k + worse},{1 / k}")
    (project / "curves.csv").write_text("\n".join(lines) + "\n")

    async def use(call: Call, client: Any) -> None:
        found = await call("diagnose", path="curves.csv")
        assert found["verdict"] == "warn" and "overfitting" in found["numbers"]["warnings"], found
        outside = await call("diagnose", path="/etc/passwd")
        assert outside["error"]["code"] == "mcp.outside_project"

    with_client(project, use)
