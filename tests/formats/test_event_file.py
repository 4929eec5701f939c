"""Event files of TensorBoard: whole records, from any record on."""

from __future__ import annotations

from pathlib import Path

from tests.importers.event_writer import event, hyperparameters, scalar, tensor, write

from tunewright.formats.event_file import LARGEST_EVENT, read_events


def test_scalars_of_both_forms_and_hyperparameters(tmp_path: Path) -> None:
    path = write(
        tmp_path, event(1, scalar("a", 0.5), tensor("b", 0.25)), event(2, hyperparameters(lr=0.1))
    )
    found = read_events(path)
    assert found.scalars == [("a", 1, 0.5), ("b", 1, 0.25)]
    assert found.hyperparameters == {"lr": 0.1}
    assert found.end == path.stat().st_size and not found.torn


def test_reading_continues_where_the_last_look_ended(tmp_path: Path) -> None:
    events = [event(step, scalar("a", 0.5)) for step in (1, 2, 3)]
    data = write(tmp_path, *events).read_bytes()
    path = tmp_path / "events.out.tfevents.2"
    path.write_bytes(data[:-9])
    first = read_events(path)
    assert first.torn and [step for _, step, _ in first.scalars] == [1, 2]
    path.write_bytes(data)
    second = read_events(path, first.end)
    assert not second.torn and [step for _, step, _ in second.scalars] == [3]
    assert second.end == len(data) <= LARGEST_EVENT
