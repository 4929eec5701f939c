"""Files of a trial come from inside its folder, which must be this store's; nothing else does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.ui.small_world import NAME, fill

from tunewright.errors import NotFound
from tunewright.store.store import Store
from tunewright.ui import files
from tunewright.ui.files import Place

SECRET = "the secret of this machine"
TRAVERSALS = (
    *("../secret.txt", "../../secret.txt", "../../../secret.txt", "/etc/passwd", "//etc/passwd"),
    *("./../secret.txt", "a/../../secret.txt", "a/../../../secret.txt", "..", ".", "", "/", "a/"),
    *("..\\secret.txt", "..\\..\\secret.txt", "....//secret.txt", "..;/secret.txt"),
    *("%2e%2e/secret.txt", "..%2fsecret.txt", "%252e%252e%252fsecret.txt", "..%c0%afsecret.txt"),
    *("log.txt\0.png", "\0", "file:///etc/passwd", "~/secret.txt", "C:\\secret.txt", "a//b.txt"),
    *("link", "linked/secret.txt", "pipe", "a" * 5000, "/".join("a" * 50)),
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = tmp_path / "trials"
    folder = root / "r1" / "t0"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "b.txt").write_text("inside")
    (folder / "log.txt").write_text("x" * 100 + "end")
    for outside in (tmp_path, root, root / "r1"):
        (outside / "secret.txt").write_text(SECRET)
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    return Place(root, "r1/t0")


def read(place: Place, path: str) -> bytes:
    descriptor, size = files.open_file(place, path)
    return b"".join(files.chunks(descriptor, size))


def test_what_is_inside(place: Place) -> None:
    assert read(place, "a/b.txt") == b"inside"
    assert [one["path"] for one in files.list_files(place)] == ["log.txt", "a/b.txt"]
    assert files.tail(place, "log.txt", 3) == "end"
    assert files.tail(place, "link", 3) is None


@pytest.mark.parametrize("path", TRAVERSALS, ids=lambda path: ascii(path)[:30])
def test_nothing_outside(place: Place, path: str) -> None:
    with pytest.raises(NotFound) as error:
        read(place, path)
    assert error.value.code == "ui.no_such_file"


def test_a_folder_on_the_way_that_is_a_link(place: Place) -> None:
    (place.root / "r2").symlink_to(place.root / "r1")
    with pytest.raises(NotFound):
        read(Place(place.root, "r2/t0"), "log.txt")


def test_a_file_that_grows_is_sent_as_long_as_it_was(place: Place) -> None:
    descriptor, size = files.open_file(place, "log.txt")
    with (place.path / "log.txt").open("a") as file:
        file.write("more")
    assert len(b"".join(files.chunks(descriptor, size))) == 103


def test_the_folder_must_be_this_stores(store_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    results = fill(store_url, folder)
    with Store.open(store_url, create=False, read_only=True) as store:
        record, trial = store.round(NAME), results.trials[0]
        place = files.place_of(store, record, trial)
        assert place is not None and place.path.is_dir()
        mark = folder / "store.json"
        mark.write_text(json.dumps({"store": "another"}))
        assert files.place_of(store, record, trial) is None
        mark.unlink()
        assert files.place_of(store, record, trial) is None


@pytest.mark.parametrize("folder", ["../../etc", "/etc", "", "r1/../../x", "none/t0"])
def test_a_trial_that_says_it_is_elsewhere(tmp_path: Path, folder: str) -> None:
    from dataclasses import replace

    store_url = str(tmp_path / "tuning.db")
    results = fill(store_url)
    with Store.open(store_url, create=False, read_only=True) as store:
        moved = replace(results.trials[0], folder=folder)
        assert files.place_of(store, store.round(NAME), moved) is None
