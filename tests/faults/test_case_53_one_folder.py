"""Case 53: one trial folder that cannot be written fails its trial; the round goes on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.faults.quick_rounds import MOSTLY_SQLITE, asked, workload

import tunewright as tw
from tunewright.execution.run import supervise
from tunewright.store import database


@MOSTLY_SQLITE
@pytest.mark.parametrize("obstacle", ["file", "trial.json is a folder"])
def test_case_53(store_url, tmp_path, obstacle):
    root = tmp_path / "trials"
    round, work = asked(tmp_path / "journal", 6), workload(store_url, root)
    supervise(round, work, trials=2)
    (folder,) = root.glob("r1-*")
    if obstacle == "file":
        (folder / "t000003").write_text("of somebody else")
    else:
        (folder / "t000003" / "trial.json" / "x").mkdir(parents=True)
    results = tw.run(round, work)
    assert results.counts == {"completed": 5, "failed": 1}
    blocked = results.trial(3)
    assert blocked.reason.code == "trial.no_folder" and blocked.attempts == 1


def test_case_53_no_inodes_are_a_shortage(tmp_path, monkeypatch):
    assert database.short_of_space(tmp_path, 0) is None
    none = SimpleNamespace(
        f_files=100_000, f_favail=3, f_bavail=10**9, f_blocks=10**9, f_bfree=10**9
    )
    none.f_frsize = 4096
    monkeypatch.setattr(database.os, "statvfs", lambda folder: none)
    assert database.short_of_space(tmp_path, 0) is not None
