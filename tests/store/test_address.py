"""Where stores may be, and which file systems cannot hold one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunewright.errors import StoreError
from tunewright.store import address
from tunewright.store.address import check_place, file_system, parse

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:5 / /home rw - nfs4 server:/home rw
24 23 8:2 / /home/local rw - xfs /dev/sdb rw
25 22 0:9 / /mnt/with\\040space rw - cifs //server/x rw
26 22 0:6 / /over rw - ext4 /dev/sdc rw
27 22 0:7 / /over rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/tuning.db", "ext4"),
        ("/home/me/tuning.db", "nfs4"),
        ("/home/local/tuning.db", "xfs"),
        ("/homework/tuning.db", "ext4"),
        ("/mnt/with space/tuning.db", "cifs"),
        ("/over/tuning.db", "tmpfs"),
    ],
)
def test_the_innermost_and_latest_mount_counts(path: str, kind: str) -> None:
    assert file_system(Path(path), MOUNTS) == kind


def test_a_network_file_system_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = file_system(tmp_path)
    assert here
    check_place(tmp_path / "tuning.db")
    # this machine's own file system stands for a network one
    monkeypatch.setattr(address, "NETWORK", frozenset({here}))
    with pytest.raises(StoreError, match=r"write-ahead log needs memory.*postgresql://"):
        check_place(tmp_path / "tuning.db")


def test_names_and_urls_mean_files_and_servers(tmp_path: Path) -> None:
    assert parse("tuning.db").path == Path.cwd() / "tuning.db"
    assert parse(f"sqlite:///{tmp_path}/a b?.db").path == tmp_path / "a b?.db"
    pytest.importorskip("psycopg")
    server = parse("postgres://me:p%40ss@host:5433/db?sslmode=require")
    assert server.url == "postgresql+psycopg://me:p%40ss@host:5433/db?sslmode=require"
    assert server.masked == "postgresql://me:***@host:5433/db?sslmode=require"
    for bad in ("", "postgresql://me@host:port/db", "\x00.db"):
        with pytest.raises(StoreError):
            parse(bad)


@pytest.mark.parametrize("folder", ["d" * 300, "/".join(["d" * 100] * 60)])
def test_a_folder_whose_name_is_too_long_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(StoreError) as refused:
        parse(tmp_path / folder / "tuning.db")
    assert refused.value.code == "store.cannot_be_a_store"
