"""Case 16: a database file cut in half or overwritten is noticed, and can be restored."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from tests.faults.quick_rounds import OBJECTIVE, REPETITIONS, asked, check, lines, workload
from typer.testing import CliRunner

import tunewright as tw
from tunewright.cli.main import app
from tunewright.errors import Damaged
from tunewright.execution.run import supervise
from tunewright.store import backup


def cut_in_half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def overwrite_all(path: Path) -> None:
    path.write_bytes(random.Random(16).randbytes(path.stat().st_size))


def overwrite_pages(path: Path) -> None:
    """Each fourth page after the first, as a failing disk might."""
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096, 4):
        data[page * 4096 : (page + 1) * 4096] = random.Random(page).randbytes(4096)
    path.write_bytes(data)


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize("spoil", [cut_in_half, overwrite_all, overwrite_pages])
def test_case_16(tmp_path, spoil, repetition):
    store, journal = tmp_path / "tuning.db", tmp_path / "journal"
    round, work = asked(journal, 12), workload(store)
    supervise(round, work, trials=8)
    newest = backup.newest(store)
    supervise(round, work, trials=2)  # two results younger than the backup that is restored
    for younger in backup.backups(store):
        if younger > newest:
            younger.unlink()
    spoil(store)
    spoiled = store.read_bytes()
    for use in (lambda: tw.load(store, round.name), lambda: tw.run(round, work)):
        with pytest.raises(Damaged, match=r"Nothing was opened.*restore") as refused:
            use()
        assert str(newest) in str(refused.value), "it names the newest backup"
    assert store.read_bytes() == spoiled and len(lines(journal)) == 20, "nothing was touched"
    done = CliRunner().invoke(app, ["restore", "--store", str(store)])
    assert done.exit_code == 0, done.output
    restored = tw.load(store, round.name)
    assert restored.counts["completed"] == 8, "all that is older than the backup"
    check(tw.run(round, work), journal, 12)
    assert any(p.read_bytes() == spoiled for p in tmp_path.glob("tuning.db.replaced-*"))


def test_case_16_ask_and_tell_backs_up_too(tmp_path):
    store, journal = tmp_path / "tuning.db", tmp_path / "journal"
    with tw.open_round(asked(journal, 2), OBJECTIVE, store) as session:
        (first,) = backup.backups(store)
        os.utime(first, (time.time() - 3600,) * 2)  # an hour passes
        trial = session.ask()
        trial.log(1, valid_error=0.5)
        trial.finish()
        newest = backup.newest(store)
    assert newest != first
    backup.restore(store, newest)
    assert tw.load(store, "quick").counts == {"completed": 1, "pending": 1}
