"""Files with measurements that a short run leaves are proposed, the objective's first."""

from __future__ import annotations

import json
from pathlib import Path

from tests.importers.event_writer import event, scalar, write

from tunewright.project.programs.trial_run import measurement_files


def test_csv_json_lines_and_events_are_found_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "logs" / "version_0").mkdir(parents=True)
    (tmp_path / "logs" / "version_0" / "metrics.csv").write_text("step,loss\n1,2.0\n2,1.0\n3,0.5\n")
    lines = [json.dumps({"epoch": n, "val_loss": 1 / n}) for n in (1, 2)]
    (tmp_path / "log_12.jsonl").write_text("\n".join(lines) + "\n")
    write(tmp_path / "tb", event(1, scalar("acc", 0.5)))
    (tmp_path / "names.csv").write_text("a,b\nx,y\n")
    (tmp_path / "output.txt").write_text("step,loss\n1,2\n")
    (tmp_path / "model.pt").write_bytes(b"\0" * 10)
    found = measurement_files(tmp_path, "val_loss", besides="output.txt")
    assert [(one.pattern, one.points, one.has_metric) for one in found] == [
        ("log_*.jsonl", 2, True),
        ("**/metrics.csv", 3, False),
        ("**/events.out.tfevents.*", 1, False),
    ]
    assert found[2].metrics == ("acc",)
    assert measurement_files(tmp_path / "tb" / "absent", "val_loss") == ()
