"""docs/command_protocol.md, executed: its files are run, and what it promises is looked for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

import tunewright as tw
from tunewright.execution.command import FACTS
from tunewright.execution.processes.program import OURS
from tunewright.execution.supervisor import GRACE_S

pytestmark = pytest.mark.beyond_core

PAGE = (Path(__file__).parents[2] / "docs" / "command_protocol.md").read_text(encoding="utf-8")
FILES = {
    name: text
    for name, text in re.findall(r"```(?:toml|python)\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
}


@pytest.fixture
def protocol(tmp_path: Path, tunewright: Tunewright) -> Path:
    """The files of the page, in a folder."""
    assert set(FILES) == {"tunewright.toml", "train.py", "rounds/rates.toml", "scan.py"}
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_its_program_is_read_from_the_source(
    protocol: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(protocol)
    exec(compile(FILES["scan.py"], "scan.py", "exec"), {})
    assert capsys.readouterr().out.strip() in FILES["scan.py"]


def test_the_page_names_every_field_and_line() -> None:
    for fact in FACTS:
        assert f"`{{run.{fact}}}`" in PAGE and f"`TUNEWRIGHT_{fact.upper()}`" in PAGE
    for key in OURS:
        assert f'`{{"{key}": ' in PAGE
    assert f"{GRACE_S:.0f} seconds" in PAGE


def test_the_program_of_the_page(tunewright: Tunewright, protocol: Path) -> None:
    assert tunewright("run", "rates", "--workers", "2").code == 0
    results = tw.load(protocol / "tuning.db", "rates")
    assert results.round.fixed == {"max_train_steps": 40}  # a default, since the round names none
    assert {t.status for t in results.trials} == {"completed", "infeasible"}
    for trial in results.trials:
        with_flag = "--nesterov " in f"{trial.started} "
        assert with_flag == trial.configuration["nesterov"] and "{run" not in trial.started
        if trial.status == "infeasible":
            assert trial.reason is not None and "absurd" in str(trial.reason)
            assert trial.configuration["lr"] > 10
            continue
        assert list(trial.curves["valid_error"].steps) == [10, 20, 30, 40]
        folder = Path(results.root, trial.folder)
        assert json.loads((folder / "checkpoint.json").read_text()) == {"step": 40}
    best = results.best()
    done = tunewright("again", "rates", str(best.number), "--json")
    assert done.code == 0 and done.data["equal"]


def test_a_resumed_attempt_finds_its_files(tunewright: Tunewright, protocol: Path) -> None:
    """A death after 20 of 40 steps: the next attempt goes on from the program's own checkpoint."""
    script = protocol / "train.py"
    dies = "    if step == 20 and not first:\n        os.kill(os.getpid(), signal.SIGKILL)\n"
    script.write_text(script.read_text().replace("    if stop:\n", f"{dies}    if stop:\n"))
    (protocol / "rounds" / "one.toml").write_text(
        'goal = "?"\ntrials_per_study = 1\n[nuisance]\nlr = { log = [0.1, 1.0] }\n'
    )
    assert tunewright("run", "one", "--workers", "1").code == 0
    results = tw.load(protocol / "tuning.db", "one")
    (trial,) = results.trials
    assert (trial.status, trial.attempts) == ("completed", 2)
    attempts = tw.stores.history(protocol / "tuning.db", trial).attempts
    assert [one.start_step for one in attempts] == [0, 20]
    assert list(trial.curves["valid_error"].steps) == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("ending", "status", "code"),
    [
        ("sys.exit(3)", "failed", "program.exited"),
        ("sys.exit()", "failed", None),
        ("sys.exit(137)", "failed", "trial.died_repeatedly"),
        ('print(json.dumps({"step": 1, "valid_error": float("nan")}))', "infeasible", None),
    ],
)
def test_how_it_ends(
    tunewright: Tunewright, protocol: Path, ending: str, status: str, code: str | None
) -> None:
    (protocol / "train.py").write_text(f"import json, sys\n{ending}\n")
    (protocol / "rounds" / "one.toml").write_text(
        'goal = "?"\ntrials_per_study = 1\n[nuisance]\nlr = { log = [0.1, 1.0] }\n'
    )
    tunewright("run", "one", "--workers", "1")
    (trial,) = tw.load(protocol / "tuning.db", "one").trials
    assert trial.status == status
    assert trial.reason is not None and (code is None or trial.reason.code == code)
