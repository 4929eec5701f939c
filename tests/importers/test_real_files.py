"""Files that the real libraries wrote, two versions of each: values, steps and statuses come back.

`fixtures/make.py` wrote them, in environments with one library each.
"""

from __future__ import annotations

import importlib.util
import math
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.importers.fixtures.make import METRIC, RUNS

import tunewright as tw
from tunewright.errors import NotFound, Unreadable

FIXTURES = Path(__file__).parent / "fixtures"
LOSS = tw.minimize(METRIC)
VERSIONS = {
    "mlflow": ("3.18.0", "3.17.2"),
    "optuna": ("5.0.0", "4.9.0"),
    "swanlab": ("0.10.3", "0.10.2"),
    "tensorboard": ("2.21.0", "2.20.0"),
    "trackio": ("0.43.0", "0.42.0"),
    "wandb": ("0.31.0", "0.30.0"),
}
EACH = [(tool, version) for tool, versions in VERSIONS.items() for version in versions]


def unpacked(folder: Path, tool: str, version: str) -> Path:
    with tarfile.open(FIXTURES / f"{tool}-{version}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def imported(folder: Path, tool: str) -> tw.types.Results:
    if tool == "optuna":
        return tw.importers.optuna(f"sqlite:///{folder / 'optuna.db'}", "fixture")
    place = folder / "mlruns" if tool == "mlflow" else folder
    return getattr(tw.importers, tool)(place, objective=LOSS)


@pytest.mark.parametrize(("tool", "version"), EACH)
def test_settings_values_steps_and_statuses(tmp_path: Path, tool: str, version: str) -> None:
    if tool == "optuna" and importlib.util.find_spec("optuna") is None:
        pytest.skip("needs optuna")
    if tool == "swanlab" and importlib.util.find_spec("yaml") is None:
        pytest.skip("needs PyYAML")
    results = imported(unpacked(tmp_path, tool, version), tool)
    by_rate = {trial.configuration["lr"]: trial for trial in results.trials}
    assert len(by_rate) == len(RUNS)
    for name, (settings, points, well) in RUNS.items():
        trial = by_rate[settings["lr"]]
        assert dict(trial.configuration) == settings, name
        curve = trial.curves[METRIC]
        assert curve.steps.tolist() == [step for step, _ in points]
        assert curve.values.tolist() == pytest.approx([v for _, v in points], nan_ok=True)
        finite = all(math.isfinite(value) for _, value in points)
        expected = "completed" if well else "failed" if finite else "infeasible"
        if tool == "trackio" and finite:
            expected = "completed"  # it keeps no status
        assert trial.status == expected, name
    assert results.best().configuration == RUNS["good"][0]
    notes = {getattr(note, "code", "") for note in results.notes}
    assert ("imported.no_status" in notes) == (tool == "trackio")


def test_a_folder_of_several_projects_needs_a_name(tmp_path: Path) -> None:
    unpacked(tmp_path, "trackio", "0.43.0")
    (tmp_path / "other.db").write_bytes((tmp_path / "fixture.db").read_bytes())
    with pytest.raises(NotFound) as error:
        tw.importers.trackio(tmp_path, objective=LOSS)
    assert error.value.code == "importers.trackio_which_project"
    assert len(tw.importers.trackio(tmp_path, "other", objective=LOSS).trials) == len(RUNS)


@pytest.mark.parametrize(
    ("tool", "file", "content", "error", "code"),
    [
        ("trackio", "", b"", NotFound, "importers.trackio_no_project"),
        ("trackio", "a.db", b"no database", Unreadable, "importers.trackio_not_a_project"),
        ("trackio", "a.db", b"SQLite format 3\0" * 9, Unreadable, "importers.trackio_unreadable"),
        ("swanlab", "", b"", NotFound, "importers.swanlab_no_run"),
    ],
)
def test_what_is_no_project_is_refused(
    tmp_path: Path, tool: str, file: str, content: bytes, error: Any, code: str
) -> None:
    if file:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(error) as raised:
        getattr(tw.importers, tool)(tmp_path, objective=LOSS)
    assert raised.value.code == code


def test_a_torn_swanlab_run_is_left_out_as_unfinished(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    unpacked(tmp_path, "swanlab", "0.10.3")
    first = sorted(tmp_path.rglob("*.swanlab"))[0]
    first.write_bytes(first.read_bytes()[:-40])
    results = tw.importers.swanlab(tmp_path, objective=LOSS)
    assert len(results.trials) == len(RUNS) - 1
    assert "imported.unfinished" in {getattr(note, "code", "") for note in results.notes}
