"""A snapshot comes back as it was, or is refused before anything is written."""

from __future__ import annotations

import json
import logging
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections import OrderedDict, namedtuple
from pathlib import Path

import numpy as np
import pytest

from tunewright import snapshot
from tunewright.errors import SnapshotError

KILLED_WRITER = """
import sys
from pathlib import Path
import numpy as np
from tunewright import snapshot
folder = Path(sys.argv[1])
first = (found.step + 1) if (found := snapshot.latest(folder)) else 1
for step in range(first, 10**6):
    state = {"step": step, "weights": np.full(200_000, step, dtype=np.int64)}
    snapshot.save(folder, state, step=step)
    print(step, flush=True)
"""


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_layout_and_manifest(tmp_path: Path) -> None:
    state = {"model": {"weight": np.arange(6.0).reshape(2, 3)}, "epoch": 3}
    made = snapshot.save(tmp_path, state, step=400, attempt=2, extra={"valid_error": float("nan")})
    assert made.path == tmp_path / "step-000000000400.2.0"
    assert files(made.path) == {"tensors.safetensors", "tree.json", "manifest.json"}
    assert (made.step, made.attempt) == (400, 2)
    assert made.size == sum(p.stat().st_size for p in made.path.iterdir())
    assert np.isnan(made.extra["valid_error"])
    from safetensors.numpy import load_file

    assert load_file(made.path / "tensors.safetensors").keys() == {"model.weight"}
    back = snapshot.load(made)
    assert back["epoch"] == 3
    np.testing.assert_array_equal(back["model"]["weight"], state["model"]["weight"])


def test_latest_is_the_highest_step_and_the_newest_of_equal_steps(tmp_path: Path) -> None:
    for step, attempt, value in [(5, 1, "a"), (9, 1, "b"), (9, 1, "c"), (7, 2, "d"), (9, 2, "e")]:
        snapshot.save(tmp_path, value, step=step, attempt=attempt, keep=None)
        newest = snapshot.latest(tmp_path)
        assert newest is not None
        assert snapshot.load(newest) == {"d": "c"}.get(value, value)
    assert [s.path.name.split("-")[1].lstrip("0") for s in snapshot.list_snapshots(tmp_path)] == [
        "9.2.0",
        "9.1.1",
        "9.1.0",
        "7.2.0",
        "5.1.0",
    ]


def test_nothing_there(tmp_path: Path) -> None:
    assert snapshot.latest(tmp_path) is None
    assert snapshot.latest(tmp_path / "no such folder") is None
    assert snapshot.list_snapshots(tmp_path / "no such folder") == []


def test_keeps_the_newest_and_never_drops_the_one_just_written(tmp_path: Path) -> None:
    for step in (1, 2, 3, 4):
        snapshot.save(tmp_path, step, step=step, keep=2)
    assert [s.step for s in snapshot.list_snapshots(tmp_path)] == [4, 3]
    made = snapshot.save(tmp_path, "restarted", step=1, attempt=2, keep=2)
    assert snapshot.load(made) == "restarted"
    assert [s.step for s in snapshot.list_snapshots(tmp_path)] == [4, 3, 1]


def test_a_torn_snapshot_is_skipped_with_its_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = snapshot.save(tmp_path, {"w": np.ones(1000)}, step=1, keep=None)
    cut = snapshot.save(tmp_path, {"w": np.ones(1000)}, step=2, keep=None).path
    with (cut / "tensors.safetensors").open("r+b") as file:
        file.truncate(500)
    flipped = snapshot.save(tmp_path, {"w": np.ones(1000)}, step=3, keep=None).path
    data = bytearray((flipped / "tensors.safetensors").read_bytes())
    data[-1] ^= 1
    (flipped / "tensors.safetensors").write_bytes(data)
    bare = snapshot.save(tmp_path, {"w": np.ones(1000)}, step=4, keep=None).path
    (bare / "manifest.json").write_text('{"format": ')
    with caplog.at_level(logging.WARNING):
        newest = snapshot.latest(tmp_path)
    assert newest is not None and newest.path == good.path
    assert len(newest.skipped) == 3 and len(caplog.records) == 3
    reasons = dict(zip(("bare", "flipped", "cut"), newest.skipped, strict=True))
    assert "no JSON" in reasons["bare"]
    assert "checksum differs" in reasons["flipped"]
    assert "not 8" in reasons["cut"]
    with pytest.raises(SnapshotError, match=r"latest\(folder\)"):
        snapshot.load(flipped)


def test_refuses_what_it_cannot_store_before_writing(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    state = {"model": {"fn": len, "w": np.ones(2)}, "seen": [1, {2, 3}], "m": np.array([None])}
    with pytest.raises(SnapshotError) as refused:
        snapshot.save(folder, state, step=1)
    text = str(refused.value)
    assert 'state["model"]["fn"]: builtin_function_or_method' in text
    assert 'state["seen"][1]: set' in text
    assert 'state["m"]: numpy.ndarray of dtype object' in text
    assert not folder.exists()


def test_refuses_a_tree_inside_itself_and_depth(tmp_path: Path) -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(SnapshotError, match="nested deeper than 100"):
        snapshot.save(tmp_path, endless, step=1)
    deep: object = 1
    for _ in range(100):
        deep = [deep]
    assert snapshot.load(snapshot.save(tmp_path, deep, step=1)) == deep


def test_refuses_too_much_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "LONGEST", 1000)
    with pytest.raises(SnapshotError, match="array or a tensor"):
        snapshot.save(tmp_path, list(range(1000)), step=1)
    assert not files(tmp_path)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"step": -1}, "step=-1"),
        ({"step": 1.0}, "step=1.0"),
        ({"step": 1, "attempt": 0}, "attempt=0"),
        ({"step": 1, "keep": 0}, "keep=0"),
        ({"step": 1, "extra": {"w": np.ones(1)}}, r'extra\["w"\]: an array'),
    ],
)
def test_refuses_wrong_arguments(tmp_path: Path, arguments: dict, message: str) -> None:
    with pytest.raises(SnapshotError, match=message):
        snapshot.save(tmp_path, {}, **arguments)
    assert not files(tmp_path)


class _Bomb:
    def __reduce__(self) -> tuple:
        return (os.mkdir, (os.environ["BOMB"],))


def test_a_pickle_is_not_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # case 22: as a foreign file, and inside a snapshot whose checksums were redone.
    monkeypatch.setenv("BOMB", str(tmp_path / "exploded"))
    payload = pickle.dumps(_Bomb())
    (tmp_path / "model.pt").write_bytes(payload)
    with pytest.raises(SnapshotError, match="tensor-only format"):
        snapshot.load(tmp_path / "model.pt")
    made = snapshot.save(tmp_path / "s", {"w": np.ones(3)}, step=1).path
    (made / "tensors.safetensors").write_bytes(payload)
    manifest = json.loads((made / "manifest.json").read_text())
    manifest["files"]["tensors.safetensors"] = snapshot._fingerprint(made / "tensors.safetensors")
    (made / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SnapshotError, match="tensor-only safetensors format"):
        snapshot.load(made)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "root",
    [
        "[" * 10**5 + "]" * 10**5,  # case 23
        '{"code": "import os"}',
        '{"numpy": {"name": "w", "dtype": "O", "shape": [3]}}',
        '{"numpy": {"name": "x", "dtype": "<f8", "shape": [3]}}',
        '{"pairs": [[[], 1]]}',
        "NaN",
        '{"tuple": [' * 200 + "]}" * 200,
    ],
    ids=["deep", "tag", "object", "missing", "unhashable", "nan", "deep-tags"],
)
def test_hostile_trees_are_refused(tmp_path: Path, root: str) -> None:
    made = snapshot.save(tmp_path, {"w": np.ones(3)}, step=1).path
    tree = f'{{"version": 1, "arrays": "numpy", "root": {root}}}'
    (made / "tree.json").write_text(tree)
    manifest = json.loads((made / "manifest.json").read_text())
    manifest["files"]["tree.json"] = snapshot._fingerprint(made / "tree.json")
    (made / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SnapshotError):
        snapshot.load(made)


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    made = snapshot.save(tmp_path, 1, step=1).path
    manifest = json.loads((made / "manifest.json").read_text())
    (made / "manifest.json").write_text(json.dumps({**manifest, "version": 99}))
    with pytest.raises(SnapshotError, match="version 99"):
        snapshot.load(made)


@pytest.mark.beyond_core
def test_a_full_disk_is_reported_and_leaves_the_previous_one(tmp_path: Path) -> None:
    snapshot.save(tmp_path, "first", step=1)
    limited = (
        "import resource, signal, sys, numpy as np\n"
        "from tunewright import snapshot\nfrom tunewright.errors import SnapshotError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: snapshot.save(sys.argv[1], np.ones(10**6), step=2)\n"
        "except SnapshotError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "could not be written" in done.stdout
    newest = snapshot.latest(tmp_path)
    assert newest is not None and snapshot.load(newest) == "first"
    assert [path.name for path in tmp_path.iterdir()] == [newest.path.name]


def check_kills(folder: Path, kills: int, seed: int) -> None:
    moments, acknowledged = random.Random(seed), 0
    for _ in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLED_WRITER, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        acknowledged = int(writer.stdout.readline())
        time.sleep(moments.uniform(0.0, 0.03))
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        newest = snapshot.latest(folder)
        assert newest is not None and newest.step >= acknowledged
        state = snapshot.load(newest)
        assert state["step"] == newest.step
        assert (state["weights"] == newest.step).all()
    snapshot.save(folder, "tidy", step=10**9)
    assert len(list(folder.iterdir())) == 2  # what the killed writers left is gone


@pytest.mark.beyond_core
def test_killed_while_writing_the_previous_one_still_loads(tmp_path: Path) -> None:
    check_kills(tmp_path, kills=4, seed=0)  # case 21


@pytest.mark.slow
def test_killed_while_writing_a_hundred_times(tmp_path: Path) -> None:
    check_kills(tmp_path, kills=100, seed=1)


def test_aliases_and_names(tmp_path: Path) -> None:
    shared = np.arange(3)
    Point = namedtuple("Point", "x y")
    state = {
        "a": shared,
        "b": {"again": shared, "c.d": np.ones(1)},
        "b.c": {"d": np.zeros(1)},
        "b.c.d": np.full(1, 2.0),
        "__metadata__": np.full(1, 3.0),
        "point": Point(1, 2),
        "ordered": OrderedDict([(3, "x"), (1, "y")]),
        "bad\ud800name": np.ones(2),
        "": np.ones(1),
    }
    back = snapshot.load(snapshot.save(tmp_path, state, step=1))
    assert back["b"]["again"] is back["a"]
    assert back["b"]["c.d"] == 1.0 and back["b.c"]["d"] == 0.0 and back["b.c.d"] == 2.0
    assert back["__metadata__"] == 3.0
    assert back["point"] == (1, 2) and type(back["point"]) is tuple
    assert list(back["ordered"].items()) == [(3, "x"), (1, "y")]
    assert type(back["ordered"]) is OrderedDict
    assert "bad\ud800name" in back
    back["a"][0] = 7  # arrays come back writable
