"""Case 47: passwords and keys are neither recorded nor printed; files are their user's alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.quick_rounds import asked, workload
from typer.testing import CliRunner

import tunewright as tw
from tunewright.cli.main import app
from tunewright.errors import StoreError
from tunewright.execution.run import supervise
from tunewright.store import backup, provenance
from tunewright.store.address import mask, mask_words, parse

PASSWORD = "hunter2/x:y"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:{}@127.0.0.1:1/db",
        "POSTGRESQL://me:{}@127.0.0.1:1/db",
        "postgresql://me@127.0.0.1:1/db?password={}",
        "postgresql://me@127.0.0.1:1/db?connect_timeout=1&sslpassword={}",
        "postgresql+asyncpg://me:{}@host/db",
        "postgres+psycopg2://me:{}@host/db",
        "mysql://me:{}@host/db",
        "postgresql:/me:{}@host/db",
        "postgres://me:{}@host@other/db",
    ],
)
def test_case_47_no_message_has_the_password_of_an_address(address):
    given = address.format("hunter2")
    assert "hunter2" not in mask(given)
    try:
        shown = parse(given).masked
    except StoreError as error:
        shown = str(error)
    assert "hunter2" not in shown
    said = CliRunner().invoke(app, ["ls", "--store", given])
    assert said.exit_code != 0 and "hunter2" not in said.output + str(said.exception)


def test_case_47_the_command_line_is_recorded_without_secrets(tmp_path, monkeypatch):
    line = ["python", "run.py", "--store", f"postgresql://me:{PASSWORD}@h/db", "--token", PASSWORD]
    line += [f"--wandb_api_key={PASSWORD}", "--max_tokens=12", "--pad-token", "x"]
    monkeypatch.setattr(sys, "orig_argv", line)
    told = provenance.capture(folder=tmp_path).command
    assert PASSWORD not in told and "hunter2" not in told
    assert "--max_tokens=12" in told and told.endswith("--pad-token x")
    assert mask_words(["--password"]) == ["--password"]


def test_case_47_uncommitted_changes_of_secret_files_are_left_out(tmp_path):
    def git(*words: str) -> None:
        named = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True)

    files = [".env", "deep/.ENV", "deep/server.pem", "my_credentials.json", "id_rsa", "train.py"]
    marker = tmp_path / "textconv-ran"
    git("init")
    (tmp_path / "deep").mkdir()
    (tmp_path / ".gitattributes").write_text("*.py diff=evil\n")
    for name in files:
        (tmp_path / name).write_text("old\n")
    git("add", "-A")
    git("commit", "-m", "first")
    git("config", "diff.evil.textconv", f"touch {marker}; cat")
    for name in files:
        (tmp_path / name).write_text(f"KEY={PASSWORD} postgresql://me:{PASSWORD}@h/db\n")
    (tmp_path / "train.py").write_text("new = 'postgresql://me:hunter2@h/db'\n")
    found = provenance.capture(folder=tmp_path / "deep")
    assert "+new" in found.diff and "hunter2" not in found.diff
    assert set(found.left_out) == set(files) - {"train.py"}
    assert provenance.from_payload(found.payload) == found
    assert not marker.exists()


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_case_47_what_is_written_is_its_users_alone(tmp_path, umask):
    place = tmp_path / "mine"
    before = os.umask(umask)
    try:
        place.mkdir(mode=0o755)
        os.chmod(place, 0o755)
        store = place / "tuning.db"
        supervise(asked(tmp_path / "journal", 2), workload(store))
        backup.make(store)
    finally:
        os.umask(before)
    for path in place.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    saved = backup.newest(store)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert tw.load(store, "quick").counts == {"completed": 2}
    backup.restore(store)
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


def test_case_47_a_folder_that_a_group_shares_stays_shared(tmp_path):
    place = tmp_path / "ours"
    place.mkdir()
    os.chmod(place, 0o2775)
    before = os.umask(0o002)
    try:
        supervise(asked(tmp_path / "journal", 1), workload(place / "tuning.db"))
    finally:
        os.umask(before)
    for path in (place / "tuning.db", place / "tuning.db.lock"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o664
    trials: Path = place / "tuning.db.trials"
    assert trials.stat().st_mode & stat.S_IWGRP
