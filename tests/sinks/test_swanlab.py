"""SwanLab: real offline runs, read back by SwanLab's own reader of its files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.faults.small_disk import small_disk
from tests.sinks import contract
from tests.sinks.contract import Found, quiet

from tunewright.design.workload_file import Sink

pytest.importorskip("swanlab")
pytestmark = pytest.mark.beyond_core
STATES = {"completed": 1, "infeasible": 2, "failed": 2}


def read(where: Path) -> dict[str, Found]:
    return quiet(lambda: _read(where))


def _read(where: Path) -> dict[str, Found]:
    from swanlab.proto.swanlab.record.v1.record_pb2 import Record
    from swanlab.sdk.internal.core_python.store import DataStoreReader

    found = {}
    for path in where.glob("run-*/*.swanlab"):
        reader = DataStoreReader()
        reader.open(path)
        name, state, curves = "", 0, dict[str, list[tuple[int, float]]]()
        for data in reader:
            record = Record.FromString(data)
            kind = record.WhichOneof("record_type") if record.DESCRIPTOR.oneofs else ""
            if record.HasField("start"):
                name = record.start.name
                assert record.start.group == contract.ROUND
            elif record.HasField("finish"):
                state = record.finish.state
            elif record.HasField("scalar"):
                own = record.scalar
                curves.setdefault(own.key, []).append((own.step, own.value.number))
            assert kind != "media"
        reader.close()
        config = yaml.safe_load((path.parent / "files" / "config.yaml").read_text())
        plain = {key: own["value"] for key, own in config.items()}
        ours = plain.pop("tunewright")
        assert state == STATES[ours["status"]]
        assert name not in found, "one run per trial"
        found[name] = Found(ours["status"], plain, curves, ours)
    return found


def test_offline_runs_hold_what_the_store_holds(tmp_path: Path) -> None:
    contract.check_sink(Sink("swanlab", str(tmp_path / "swanlog")), read, tmp_path)


def test_killed_in_the_middle_and_caught_up(tmp_path: Path) -> None:
    contract.check_killed(Sink("swanlab", str(tmp_path / "swanlog")), read, tmp_path, (0.0, 0.02))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    contract.check_unreachable(Sink("swanlab", str(tmp_path / "swanlog")), read, tmp_path)


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2):
        sink = Sink("swanlab", str(tmp_path / "disk" / "swanlog"))
        contract.check_full(sink, read, tmp_path, tmp_path / "disk")
