from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.small_project import TRAIN, Tunewright
from typer.testing import CliRunner

from tunewright import __version__
from tunewright.cli._verbs import FAMILIES, load_verb
from tunewright.cli.main import app

VERBS = {verb.name: verb for verbs in FAMILIES.values() for verb in verbs}


def test_help_lists_every_verb_by_family() -> None:
    answer = CliRunner().invoke(app, ["--help"])
    assert answer.exit_code == 0
    for family in FAMILIES:
        assert family in answer.output
    for name in VERBS:
        assert f" {name} " in answer.output


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_explains_itself_as_the_table_does(name: str) -> None:
    answer = CliRunner().invoke(app, [name, "--help"])
    assert answer.exit_code == 0
    assert "Usage: " in answer.output
    written = (load_verb(VERBS[name]).help or "").partition("\n\n")[0]
    assert " ".join(written.split()) == VERBS[name].help


def imported_by(*arguments: str, folder: Path | None = None) -> set[str]:
    """The packages that a command has imported when it is done."""
    script = (
        "import sys, tunewright.__main__ as entry\n"
        "entry.main()\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.beyond_core
def test_version_and_help_import_next_to_nothing() -> None:
    heavy = {"numpy", "sqlalchemy", "scipy", "torch", "matplotlib"}
    assert not imported_by("--version") & {*heavy, "typer", "rich"}
    help_imports = imported_by("--help")
    assert not help_imports & heavy and "typer" in help_imports


@pytest.mark.beyond_core
def test_ls_imports_no_science(ran: Path) -> None:
    found = imported_by("ls", folder=ran)
    assert not found & {"scipy", "torch", "matplotlib"} and "sqlalchemy" in found


@pytest.mark.beyond_core
def test_a_module_runs_as_the_command_does() -> None:
    command = [sys.executable, "-m", "tunewright", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"tunewright {__version__}"


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("check", "--jsn", "--json"), "check"),
        (("chek", "layers", "--json"), "chek"),
        (("probe", "batch-sise", "--json"), "probe batch-sise"),
        (("export", "layers", "--json"), "export"),
    ],
)
def test_a_usage_error_has_an_envelope(
    tunewright: Tunewright, arguments: tuple[str, ...], command: str
) -> None:
    answer = tunewright(*arguments)
    assert answer.code == 2
    assert answer.error["message"] and answer.error["remedy"]["argv"][-1] == "--help"
    assert answer.envelope["command"] == command


@pytest.mark.parametrize(
    "arguments, page",
    [
        (("init", "train.py", "--try"), "tunewright init"),
        (("probe", "batch-size", "--steps"), "tunewright probe batch-size"),
        (("nothing", "--store"), "tunewright"),
    ],
)
def test_an_option_without_its_value_names_the_help_of_its_command(
    tunewright: Tunewright, arguments: tuple[str, ...], page: str
) -> None:
    assert f"  try     {page} --help\n" in tunewright(*arguments).err
    answer = tunewright(*arguments[:-1], "--json", arguments[-1])
    assert answer.error["remedy"]["argv"] == [*page.split(), "--help"]


def test_what_else_is_printed_goes_to_standard_error(tunewright: Tunewright, project: Path) -> None:
    (project / "train.py").write_text(TRAIN.replace("import math", "import math\nprint('noise')"))
    answer = tunewright("run", "layers", "--on", "inline", "--json")
    assert answer.data["why"] == "finished"
    assert "noise" in answer.err


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

    monkeypatch.setattr("tunewright.cli.show.store_address", lambda store: broken())
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
