from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.small_project import Tunewright
from typer.testing import CliRunner

from tunewright import __version__
from tunewright.cli.main import VERBS, app


def test_help_lists_every_verb_by_family() -> None:
    answer = CliRunner().invoke(app, ["--help"])
    assert answer.exit_code == 0
    for family, verbs in VERBS.items():
        assert family in answer.output
        for verb in verbs:
            assert verb.__name__ in answer.output


@pytest.mark.parametrize("verb", [v.__name__ for verbs in VERBS.values() for v in verbs])
def test_every_verb_explains_itself(verb: str) -> None:
    answer = CliRunner().invoke(app, [verb, "--help"])
    assert answer.exit_code == 0
    assert "Usage: " in answer.output


def test_version_and_nothing(tunewright: Tunewright) -> None:
    assert tunewright("--version").out.strip() == f"tunewright {__version__}"
    nothing = tunewright()
    assert nothing.code == 0
    assert "Usage: tunewright" in nothing.out
    family = tunewright("probe")
    assert family.code == 0
    assert "Usage: tunewright probe" in family.out and not family.err


def test_brackets_of_a_help_are_shown(tunewright: Tunewright) -> None:
    assert "[[configuration]] tables" in " ".join(tunewright("run", "--help").out.split())


def test_an_unforeseen_error_is_told_and_kept(
    tunewright: Tunewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("the moon is full")

    monkeypatch.setattr("tunewright.cli.show.open_store", lambda store: broken())
    answer = tunewright("ls")
    assert answer.code == 3
    assert answer.err.startswith("error: RuntimeError: the moon is full")
    assert "Traceback" not in answer.err


@pytest.mark.beyond_core
def test_the_installed_command_answers() -> None:
    command = [sys.executable, "-c", "import sys; from tunewright.cli.main import main; main()"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tunewright ")


@pytest.mark.beyond_core
def test_a_closed_pipe_is_no_error(tunewright: Tunewright) -> None:
    script = "import sys; from tunewright.cli.main import main; sys.exit(main(['--help']))"
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{script}" | true; echo ${{PIPESTATUS[0]}}'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "0"
    assert done.stderr == ""
