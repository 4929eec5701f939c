"""A file that grows is read as it is written, whole rows only, each point once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tunewright.execution.growing_file import FileReader, GrowingFile, problems
from tunewright.execution.line_patterns import Reading


def points(found: list[Reading]) -> list[tuple[int, dict[str, float]]]:
    return [(one.step, one.metrics) for one in found]


def test_rows_of_a_csv_come_when_they_are_whole(tmp_path: Path) -> None:
    path, reader = tmp_path / "metrics.csv", FileReader(GrowingFile("*.csv"), tmp_path)
    assert reader.read() == [], "there is no file yet"
    path.write_text("epoch,step,val_loss,note\n0,10,0.5,ok\n1,20,0.")
    assert points(reader.read()) == [(10, {"epoch": 0.0, "val_loss": 0.5})]
    with path.open("a") as file:
        file.write("25,\n2,30,,\n")
    assert points(reader.read()) == [(20, {"epoch": 1.0, "val_loss": 0.25}), (30, {"epoch": 2.0})]
    assert reader.read() == []


def test_a_file_that_is_written_anew_gives_each_point_once(tmp_path: Path) -> None:
    path, reader = tmp_path / "metrics.csv", FileReader(GrowingFile("metrics.csv"), tmp_path)
    path.write_text("step,loss\n1,0.9\n2,0.8\n")
    assert len(reader.read()) == 2
    path.write_text("step,loss,val_loss\n1,0.9,\n2,0.8,1.5\n3,0.7,1.4\n")  # another column
    assert points(reader.read()) == [(2, {"val_loss": 1.5}), (3, {"loss": 0.7, "val_loss": 1.4})]
    path.write_text("step,loss\n")  # truncated
    assert reader.read() == []
    path.write_text("step,loss\n2,0.1\n4,0.6\n")
    assert points(reader.read()) == [(4, {"loss": 0.6})], "steps never go back"


def test_json_lines_with_epochs_as_steps(tmp_path: Path) -> None:
    reader = FileReader(GrowingFile("log.jsonl", "epoch", 100), tmp_path)
    (tmp_path / "log.jsonl").write_text('{"epoch": 1, "acc": 0.5}\nnot json\n[1]\n{"epoch": 2, "a')
    assert points(reader.read()) == [(100, {"acc": 0.5})]


def test_a_history_is_rewritten_and_may_be_torn(tmp_path: Path) -> None:
    path = tmp_path / "out" / "trainer_state.json"
    path.parent.mkdir()
    reader = FileReader(GrowingFile("**/trainer_state.json"), tmp_path)
    rows = [{"step": 5, "loss": 2.0, "epoch": 0.5}, {"step": 10, "eval_loss": 1.5}]
    path.write_text(json.dumps({"log_history": rows[:1]}))
    assert points(reader.read()) == [(5, {"loss": 2.0, "epoch": 0.5})]
    path.write_text(json.dumps({"log_history": rows})[:-9])
    assert reader.read() == []
    path.write_text(json.dumps({"log_history": rows}))
    assert points(reader.read()) == [(10, {"eval_loss": 1.5})]


def test_tabs(tmp_path: Path) -> None:
    (tmp_path / "results.tsv").write_text("step\tval_bpb\n7\t0.99\n")
    assert points(FileReader(GrowingFile("results.tsv"), tmp_path).read()) == [
        (7, {"val_bpb": 0.99})
    ]


@pytest.mark.parametrize(
    ("file", "lines", "code"),
    [
        (GrowingFile("/etc/x.csv"), False, "read.bad_file"),
        (GrowingFile("../x.csv"), False, "read.bad_file"),
        (GrowingFile("x.parquet"), False, "read.unknown_kind"),
        (GrowingFile("x.csv", step_times=0), False, "read.bad_step_times"),
        (GrowingFile("x.csv"), True, "read.file_and_line"),
    ],
)
def test_a_bad_declaration_is_refused(file: GrowingFile, lines: bool, code: str) -> None:
    assert [one.code for one in problems(file, lines)] == [code]
    assert not list(problems(GrowingFile("a/*.csv"), False))


def test_event_files_are_followed_while_they_grow(tmp_path: Path) -> None:
    """A torn record waits for its end; train and validation folders are one trial."""
    from tests.importers.event_writer import event, record, scalar

    reader = FileReader(GrowingFile("**/events.out.tfevents.*"), tmp_path)
    assert reader.read() == []
    own = {name: tmp_path / name / "events.out.tfevents.1.host" for name in ("train", "validation")}
    for path in own.values():
        path.parent.mkdir()
    first = record(event(1, scalar("loss", 0.5)))
    second = record(event(2, scalar("loss", 0.4)))
    own["train"].write_bytes(first + second[:-7])
    own["validation"].write_bytes(record(event(1, scalar("loss", 0.75))))
    assert points(reader.read()) == [(1, {"train/loss": 0.5, "validation/loss": 0.75})]
    assert reader.read() == []
    own["train"].write_bytes(first + second)
    assert points(reader.read()) == [(2, {"train/loss": pytest.approx(0.4)})]
    assert not list(problems(GrowingFile("runs/*tfevents*"), False))
