"""Case 49: a store reached by a symbolic link is flushed like any other."""

from __future__ import annotations

import os

import pytest
from tests.faults.quick_rounds import OBJECTIVE, asked

import tunewright as tw


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_case_49(tmp_path, monkeypatch, linked):
    real = tmp_path / "real"
    real.mkdir()
    if linked == "file":
        store = tmp_path / "link.db"
        store.symlink_to(real / "tuning.db")
    else:
        (tmp_path / "link").symlink_to(real)
        store = tmp_path / "link" / "tuning.db"
    flushed: list[str] = []
    flush = os.fdatasync
    monkeypatch.setattr(
        os,
        "fdatasync",
        lambda file: (flushed.append(os.readlink(f"/proc/self/fd/{file}")), flush(file)),
    )
    with tw.open_round(asked("-", 4), OBJECTIVE, store) as session:
        while (trial := session.ask()) is not None:
            trial.log(1, valid_error=0.5)
            trial.finish()
    assert flushed.count(str(real / "tuning.db-wal")) >= 4
    assert (real / "tuning.db.lock").exists() and not store.with_name("link.db.lock").exists()
    assert tw.load(real / "tuning.db", "quick").counts == {"completed": 4}
