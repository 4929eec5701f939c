"""A short run: what it printed and wrote becomes the lines of tunewright.toml."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tunewright.errors import Misuse
from tunewright.project.programs.files import Template
from tunewright.project.programs.trial_run import TrialRun, WrittenFile, try_program

PROGRAM = """
import sys
with open(sys.argv[1] + "/metrics.csv", "w") as file:
    file.write("step,val_loss\\n1,0.5\\n2,0.25\\n")
print("bye")
"""


@pytest.mark.beyond_core
def test_a_file_of_the_runs_folder_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    made = Template(f"{sys.executable} train.py {{run.folder}}")
    tried = try_program(made, "val_loss", tmp_path, 60)
    assert tried.status == 0 and tried.patterns == () and tried.output == ("bye",)
    assert [one.pattern for one in tried.files] == ["metrics.csv"]
    assert tried.toml == ("[workload.read]", 'file = "metrics.csv"')


REPORTS = """
import sys
import tunewright as tw
run = tw.current_run()
run.applied(lr=run.configuration["lr"])
if len(sys.argv) > 2:
    run.log(1, val_loss=0.5)
"""


@pytest.mark.beyond_core
def test_a_program_that_reports_to_its_trial_prints_its_measurements(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(REPORTS)
    made = Template(f"{sys.executable} train.py {{lr}} log", defaults={"lr": 0.1})
    tried = try_program(made, "val_loss", tmp_path, 60)
    assert tried.json_lines and tried.message.code == "scan.tried_json"
    assert tried.toml == ()
    silent = try_program(
        replace(made, text=f"{sys.executable} train.py {{lr}}"), "val_loss", tmp_path, 60
    )
    assert not silent.json_lines, "what it applied is no measurement"


def test_what_is_preferred() -> None:
    def toml(patterns: tuple[str, ...], has: bool, json_lines: bool = False) -> tuple[str, ...]:
        file = WrittenFile("a.csv", ("x",), 3, has)
        return TrialRun((), 1.0, 0, (), patterns, json_lines, (file,)).toml

    assert toml(("p",), True)[1] == 'file = "a.csv"', "the objective is in the file"
    assert toml(("p",), False)[1] == "line = ["
    assert toml((), False)[1] == 'file = "a.csv"'
    assert toml((), True, json_lines=True) == ()


def test_bad_times_and_missing_values_are_refused(tmp_path: Path) -> None:
    for made, seconds, code in (
        (Template("true"), 0.0, "scan.bad_time"),
        (Template("true {data}", required=("data",)), 1.0, "scan.cannot_try"),
        (Template("no-such-program-here"), 1.0, "scan.not_started"),
    ):
        with pytest.raises(Misuse) as error:
            try_program(made, "loss", tmp_path, seconds)
        assert error.value.code == code


@pytest.mark.beyond_core
@pytest.mark.parametrize(
    ("status", "seconds", "code"),
    [("7", 60.0, "scan.tried_failed"), ("0", 60.0, "scan.tried_nothing"), ("9", 0.2, "stopped")],
)
def test_why_nothing_was_found(tmp_path: Path, status: str, seconds: float, code: str) -> None:
    wait = "import time; time.sleep(60)\n" if code == "stopped" else ""
    (tmp_path / "train.py").write_text(f"{wait}raise SystemExit({status})")
    tried = try_program(Template(f"{sys.executable} train.py"), "loss", tmp_path, seconds)
    assert tried.message.code.endswith(code)


@pytest.mark.beyond_core
def test_a_failed_run_names_the_python_that_ran_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent), prepend=os.pathsep)
    (note,) = try_program(Template("python train.py"), "loss", tmp_path, 60).notes
    assert (note.code, note.facts["found"]) == ("scan.other_python", str(other))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    assert try_program(Template("python no.py"), "loss", tmp_path, 60).notes == ()
