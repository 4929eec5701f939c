"""A Hydra program swept as a round: ranges, one trial at a time, resumed, failures recorded."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from tests.integrations.troubled import needs

import tunewright as tw

pytestmark = needs("hydra")
PROGRAM = """
import os, signal, sys
from pathlib import Path
import hydra
import tunewright as tw

@hydra.main(version_base=None, config_path=".", config_name="config")
def train(cfg):
    with open("journal", "a") as file:
        file.write(f"{cfg.optim.lr} {cfg.width} {cfg.kind}\\n")
    if len(Path("journal").read_text().splitlines()) == 3 and not Path("killed").exists():
        Path("killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if cfg.width == 3:
        raise ValueError("three is refused")
    run = tw.current_run()
    for step in run.steps(4):
        run.log(step, objective=cfg.optim.lr + 1 / step)
    return cfg.optim.lr

train()
"""


def swept(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "train.py", "-m", "hydra/sweeper=tunewright", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        preexec_fn=hear_ctrl_c,
    )


def hear_ctrl_c() -> None:
    """A shell that starts the tests in the background has them ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_sweep_is_a_round(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    config = "optim:\n  lr: 0.1\nwidth: 1\nkind: a\n"
    (tmp_path / "config.yaml").write_text(config)
    given = ("optim.lr=log(1e-4,1)", "width=range(1,4)", "kind=a", "hydra.sweeper.trials=6")
    assert swept(tmp_path, *given).returncode < 0, "killed in its third trial"
    again = swept(tmp_path, *given)
    assert again.returncode == 0, again.stdout[-2000:] + again.stderr[-3000:]
    results = tw.load(tmp_path / "tuning.db", "hydra")
    assert len(results.trials) == 6
    assert len((tmp_path / "journal").read_text().splitlines()) == 7, "one of them twice"
    for trial in results.trials:
        lr, width = (trial.configuration[name] for name in ("optim.lr", "width"))
        assert trial.applied == {"optim.lr": lr, "width": width}
        assert trial.status == ("failed" if width == 3 else "completed"), trial
        if width != 3:
            assert trial.curves["objective"].steps.tolist()[:4] == [1, 2, 3, 4]
            assert trial.value == lr, "what the task returned"
    rates = sorted(float(t.configuration["optim.lr"]) for t in results.trials)
    assert rates[0] < 0.02 < rates[-1], "spread over the decades"


def test_nothing_to_sweep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "config.yaml").write_text("optim:\n  lr: 0.1\nwidth: 1\nkind: a\n")
    refused = swept(tmp_path, "kind=b")
    assert refused.returncode != 0 and not (tmp_path / "journal").exists()


def test_the_program_of_the_page(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "hydra.md").read_text(encoding="utf-8")
    for name, content in re.findall(r"```(?:yaml|python)\n# (\S+)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(content)
    (line,) = re.findall(r"```sh\npython train.py -m hydra/sweeper=tunewright (.*)\n```", text)
    done = swept(tmp_path, *shlex.split(line))
    assert done.returncode == 0, done.stderr
    results = tw.load(tmp_path / "tuning.db", "hydra")
    assert [trial.status for trial in results.trials] == ["completed"] * 6
    assert {trial.configuration["width"] for trial in results.trials} <= {16, 32}


RESUMED = """
import os, signal, time
from pathlib import Path
import hydra
import tunewright as tw

@hydra.main(version_base=None, config_path=".", config_name="config")
def train(cfg):
    run = tw.current_run()
    total = run.restored or 0
    for step in run.steps(8):
        total += step
        with open("journal", "a") as file:
            file.write(f"{step}\\n")
        run.log(step, objective=cfg.optim.lr / total)
        run.save(total)
        done = len(Path("journal").read_text().split())
        if done == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if done == 6:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
    return {"objective": cfg.optim.lr / total}

train()
"""


def test_a_trial_that_saves_resumes_after_a_kill_and_after_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RESUMED)
    (tmp_path / "config.yaml").write_text("optim:\n  lr: 0.1\n")
    given = ("optim.lr=log(1e-4,1)", "hydra.sweeper.trials=1")
    assert swept(tmp_path, *given).returncode == -9
    assert swept(tmp_path, *given).returncode != 0, "stopped by Ctrl-C"
    (trial,) = tw.load(tmp_path / "tuning.db", "hydra").trials
    assert trial.status == "pending"
    done = swept(tmp_path, *given)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    (trial,) = tw.load(tmp_path / "tuning.db", "hydra").trials
    assert (trial.status, trial.attempts) == ("completed", 3)
    assert (tmp_path / "journal").read_text().split() == list("12345678"), "each step once"
    curve = trial.curves["objective"]
    assert curve.steps.tolist() == list(range(1, 9))
    assert curve.values[-1] == trial.configuration["optim.lr"] / 36
