from __future__ import annotations

from pathlib import Path

from tests.cli.small_project import Tunewright


def counts(tunewright: Tunewright) -> dict[str, int]:
    found: dict[str, int] = tunewright("show", "layers", "--json").data["counts"]
    return found


def damage(folder: Path) -> None:
    path = folder / "tuning.db"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for extra in ("-wal", "-shm"):
        (folder / f"tuning.db{extra}").unlink(missing_ok=True)


def test_a_backup_brings_a_damaged_store_back(tunewright: Tunewright, ran: Path) -> None:
    before = counts(tunewright)
    assert "wrote " in tunewright("backup").out
    listed = tunewright("restore", "--list").out.split()
    assert len(listed) >= 1
    damage(ran)
    refused = tunewright("show", "layers")
    assert refused.code == 3
    assert "damaged" in refused.err
    assert "tunewright restore" in refused.err
    answer = tunewright("restore")
    assert answer.code == 0
    assert "1 round, 8 trials" in answer.out
    assert counts(tunewright) == before


def test_a_damaged_store_is_never_backed_up(tunewright: Tunewright, ran: Path) -> None:
    kept = tunewright("restore", "--list").out
    damage(ran)
    assert tunewright("backup").code == 3
    assert tunewright("restore", "--list").out == kept


def test_a_lost_store_is_rebuilt_from_its_trial_folders(tunewright: Tunewright, ran: Path) -> None:
    before = counts(tunewright)
    for path in ran.glob("tuning.db*"):
        if path.is_file():
            path.unlink()
    refused = tunewright("run", "layers")
    assert refused.code == 3
    assert "restore --rebuild" in refused.err
    answer = tunewright("restore", "--rebuild")
    assert answer.code == 0
    assert "from its trial folders: 1 round, 8 trials" in answer.out
    assert counts(tunewright) == before


def test_what_cannot_be_restored_is_said(tunewright: Tunewright, ran: Path) -> None:
    assert "no backup at nothing.db" in tunewright("restore", "nothing.db").err
    answer = tunewright("backup", "--store", "postgresql://nobody@localhost/none")
    assert answer.code == 2
    assert "pg_dump" in answer.err
