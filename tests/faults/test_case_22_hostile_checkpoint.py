"""Case 22: a pickle in the place of a checkpoint is not executed; the error says so."""

from __future__ import annotations

import hashlib
import json
import os
import pickle

import numpy as np
import pytest
from tests.faults.endurance import Endurance, kill

from tunewright import snapshot
from tunewright.errors import SnapshotError


class Bomb:
    """Unpickled, it leaves a file behind."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def spoil(folder, name: str, payload: bytes) -> None:
    """Put a payload in a file of a snapshot, with a manifest that vouches for it."""
    (folder / name).write_bytes(payload)
    manifest = json.loads((folder / "manifest.json").read_text())
    digest = hashlib.sha256(payload).hexdigest()
    manifest["files"][name] = {"sha256": digest, "size": len(payload)}
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", ["tensors.safetensors", "tree.json", "manifest.json"])
def test_case_22(tmp_path, name):
    mark = tmp_path / "executed"
    bomb = pickle.dumps(Bomb(str(mark)))
    saved = snapshot.save(tmp_path / "snapshots", {"weights": np.ones(4)}, step=1)
    if name == "manifest.json":
        (saved.path / name).write_bytes(bomb)
    else:
        spoil(saved.path, name, bomb)
    with pytest.raises(SnapshotError) as refused:
        snapshot.load(saved.path)
    if name == "tensors.safetensors":
        assert "tensor-only safetensors format" in str(refused.value)
    assert not mark.exists(), "nothing was unpickled"


def test_case_22_a_pickle_where_a_snapshot_should_be(tmp_path):
    mark, file = tmp_path / "executed", tmp_path / "model.pt"
    file.write_bytes(pickle.dumps(Bomb(str(mark))))
    with pytest.raises(SnapshotError, match="Only the tensor-only format is read"):
        snapshot.load(file)
    assert not mark.exists()


def test_case_22_in_mid_round(tmp_path):
    """The trial fails with that sentence, or begins anew: it never runs what it found."""
    mark = tmp_path / "executed"
    round = Endurance(str(tmp_path / "tuning.db"), tmp_path, 1, sleep_s=0.15)
    try:
        process = round.start()
        round.wait_for("began", 1)
        round.wait_for_step(0, 3)
        kill(process.pid)
        process.wait()
        for saved in snapshot.list_snapshots(next(tmp_path.glob("trials/r*/t000000/snapshots"))):
            spoil(saved.path, "tensors.safetensors", pickle.dumps(Bomb(str(mark))))
        round.finish()
        (trial,) = round.results().trials
        assert trial.status == "failed"
        assert "tensor-only safetensors format" in trial.reason.facts["text"]
        assert not mark.exists(), "nothing was unpickled"
    finally:
        round.close()
