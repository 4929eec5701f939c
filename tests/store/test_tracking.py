"""The tracking table: one line per round."""

from __future__ import annotations

from pathlib import Path

from tests.store.record_parts import a_round, begin, begun, complete

from tunewright.messages import Message
from tunewright.store.overview import tracking_table
from tunewright.store.store import Store


def test_a_line_holds_what_is_needed_to_find_and_repeat_a_round(
    store_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "trials"
    with Store.open(store_url) as store:
        change = Message("change.wider", {"names": ["learning_rate"]})
        begin(
            store,
            a_round("empty", change=change),
            command="tunewright run empty",
            folder=str(folder),
        )
        record = begin(store, folder=str(folder))
        worker = store.register(record.id, "session", exclusive=False)
        a, b = store.claim(record.id, worker, 2)
        complete(store, a, 0.5, 0.4)
        store.began(b, 0, "here", command="python train.py --lr 0.1")
        for step in (1, 2, 3):
            store.add_snapshot(b, step, f"snapshots/{step}", "sum")
        complete(store, b, 0.5, 0.3, 0.35)
        for step in (2, 3):
            (folder / b.folder / f"snapshots/{step}").mkdir(parents=True)
        store.note("depth", "first")
        store.note("depth", "newest")
        empty, line = tracking_table(store)
    assert (empty.name, empty.best, empty.checkpoint) == ("empty", None, "")
    assert empty.change == change and change.text in empty.asks
    assert empty.command == "tunewright run empty" and empty.trials == 6
    assert (line.name, line.goal, line.note) == ("depth", a_round().goal, "newest")
    assert line.change is None and line.asks == line.goal
    assert line.best is not None and (line.best.number, line.best.value) == (1, 0.3)
    assert line.counts == {"completed": 2, "pending": 4}
    assert line.checkpoint == str(folder / b.folder / "snapshots/2")
    assert line.command == "tunewright again depth 1"
    assert Path(line.definition).is_file()


def test_a_checkpoint_that_is_no_longer_there_is_not_named(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tuning.db") as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        store.add_snapshot(claim, 1, "snapshots/1", "sum")
        complete(store, claim, 0.5)
        (line,) = tracking_table(store)
    assert line.checkpoint == ""
