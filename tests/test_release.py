"""The wheel is complete, its core works with its declared dependencies alone, and extras are named.

`clean` is an environment that pip fills from the wheel and the package registry; the tests that use
it are skipped where pip reaches none. `linked` has the same packages as links to those that are
installed here, so that what is said without extras is tested everywhere.
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import tunewright

pytestmark = pytest.mark.beyond_core

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPMENT = {"all", "dev", "docs"}
EXTRAS = sorted(set(PROJECT["optional-dependencies"]) - FOR_DEVELOPMENT)
ROUND = """
goal = "Does the decay lower the error?"
trials_per_study = 4
[scientific]
decay = ["constant", "linear"]
[nuisance]
learning_rate = { log = [1e-2, 2.0] }
[fixed]
steps = 40
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the working tree as `python -m build` does."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.glob("*.whl")
    return made


def new_environment(folder: Path) -> Path:
    """An empty environment; its Python."""
    made = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(made, check=True, capture_output=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it declares, by pip."""
    folder = tmp_path_factory.mktemp("clean")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    try:
        reach = [*pip, "download", "-q", "--no-deps", "--dest", str(folder), "tomlkit"]
        reached = subprocess.run(reach, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("pip reaches no package registry within 120 s")
    if reached.returncode:
        pytest.skip(f"pip reaches no package registry: {reached.stderr.strip().splitlines()[-1]}")
    python = new_environment(folder / "venv")
    install = [*pip, "--python", str(python), "install", "-q", "--no-compile", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return python


def needed(name: str) -> Iterator[str]:
    """A package and all that it declares without extras, as far as they are installed here."""
    found = distribution(name)
    yield name
    for line in found.requires or ():
        what, _, condition = line.partition(";")
        match = re.match(r"[\w.-]+", what)
        if match is not None and "extra ==" not in condition:
            try:
                yield from needed(match[0])
            except PackageNotFoundError:
                continue  # for another version of Python or another system


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with links to the core's packages that are installed here."""
    folder = tmp_path_factory.mktemp("linked")
    python = new_environment(folder)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for name in set(needed("tunewright")) - {"tunewright"}:
        files = distribution(name).files or []
        tops = {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            link = site / top
            if not link.exists():
                link.symlink_to(Path(str(distribution(name).locate_file(top))))
    (site / "tunewright.pth").write_text(f"{ROOT / 'src'}\n", encoding="utf-8")
    return python


def answer(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What that Python prints, without the paths and languages of this process."""
    left_out = ("PYTHONPATH", "TUNEWRIGHT_LANG", "LC_ALL", "LANG")
    here = {name: value for name, value in os.environ.items() if name not in left_out}
    path = f"{python.parent}{os.pathsep}{here['PATH']}"
    return subprocess.run(
        [str(python), *arguments],
        cwd=cwd,
        env={**here, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120"},
        capture_output=True,
        text=True,
    )


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    packages = ROOT / "src"
    expected = {
        str(path.relative_to(packages))
        for path in packages.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == expected
    for name in (
        "tunewright/py.typed",
        "tunewright/agents/AGENTS.md",
        "tunewright/agents/SKILL.md",
        "tunewright/present/templates/report.html",
        "tunewright/ui/static/index.html",
        "tunewright/demo/train.py",
    ):
        assert name in names


def test_the_metadata_is_complete(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (place,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        fields = email.message_from_bytes(archive.read(place))
        licences = {
            name: archive.read(name).decode() for name in archive.namelist() if "/licenses/" in name
        }
    assert fields["Name"] == "tunewright" and fields["Version"] == tunewright.__version__
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Author"] == "Tunewright maintainers"
    assert fields["Requires-Python"] == ">=3.11" and fields["Description-Content-Type"]
    assert "Typing :: Typed" in fields.get_all("Classifier", [])
    third = next(text for name, text in licences.items() if name.endswith("THIRD_PARTY.md"))
    vendored = {path.name for path in (ROOT / "src/tunewright/ui/static/vendor").iterdir()}
    assert {Path(name).name for name in licences} >= {n for n in vendored if "LICENSE" in n}
    for name in vendored:
        assert name in third or name.endswith(".d.ts"), f"THIRD_PARTY.md does not name {name}"


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {tunewright.__version__}\n" in citation
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {tunewright.__version__}" in changes


def test_the_core_goes_through_the_loop_in_a_terminal(clean: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "train_script.py", tmp_path)
    program = (
        "python train_script.py --learning-rate={learning_rate} --decay={decay} --steps={steps}"
        " --seed={run.seed}"
    )

    def ran(*arguments: str, code: int = 0) -> str:
        done = answer(clean, "-m", "tunewright", *arguments, cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert ran("--version").strip() == f"tunewright {tunewright.__version__}"
    assert "tunewright[demo]" in ran("demo", code=2)
    ran("init", program, "--minimize", "valid_error")
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / "decay.toml").write_text(ROUND, encoding="utf-8")
    ran("run", "decay", "--workers", "2")
    shown = json.loads(ran("show", "decay", "--json"))
    assert len(shown["data"]["trials"]) == 8
    checked = answer(clean, "-m", "tunewright", "check", "decay", "--json", cwd=tmp_path)
    assert checked.returncode in (0, 1), checked.stderr
    assert json.loads(checked.stdout)["data"]["findings"]
    ran("report", "decay")
    assert "Does the decay lower the error?" in (tmp_path / "decay.html").read_text("utf-8")


@pytest.fixture(scope="module")
def said(linked: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What is said where only the core is installed: extra -> kind of error, sentence."""
    program = Path(__file__).with_name("missing_extras.py")
    folder = tmp_path_factory.mktemp("missing")
    done = answer(linked, "-P", str(program), str(folder), cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_needs_an_extra_names_it(said: dict[str, list[str]], extra: str) -> None:
    kind, sentence = said[extra]
    if extra == "integrations":  # the library itself is what the user's program already has
        assert kind == "WorkloadError" and "pip install keras" in sentence
    else:
        assert kind == "MissingExtra" and f"pip install 'tunewright[{extra}]'" in sentence
    assert "\n" not in sentence


def test_every_extra_is_described(said: dict[str, list[str]]) -> None:
    page = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(described) == sorted(PROJECT["optional-dependencies"])
    assert sorted(said) == EXTRAS
