"""The files in a trial folder: written whole, checked, never trusted."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings, strategies as st
from tests.store.record_parts import KILLED, a_round, begun, curve

from tunewright.errors import Damaged, StoreError
from tunewright.messages import Message
from tunewright.store import spool
from tunewright.store.outcome import End, Ended, Outcome
from tunewright.store.spool import read_result, results_in, write_result
from tunewright.store.store import Store

lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)


@settings(max_examples=50, deadline=None)
@given(
    st.builds(
        Outcome,
        status=st.sampled_from(get_args(End)),
        reason=st.none() | st.builds(lambda said: Message("trial.failed", {"text": said}), lines),
        detail=texts,
        seconds=st.floats(0, 1e9),
        peak_memory_mb=st.none() | st.floats(0, 1e9),
        start_step=st.none() | st.integers(0, 2**40),
        first=st.none() | st.integers(0, 1000),
        batches=st.lists(st.floats().map(curve), max_size=3).map(tuple),
    ).flatmap(
        lambda outcome: st.builds(Ended, st.integers(0, 2**40), st.integers(1, 5), st.just(outcome))
    )
)
def test_a_result_comes_back_as_it_was_left(tmp_path_factory, result: Ended) -> None:
    folder = tmp_path_factory.mktemp("trial")
    path = write_result(folder, result)
    assert path.name == f"result.{result.attempt}.json"
    assert read_result(path) == result
    assert results_in(folder) == [result]
    assert [p.name for p in folder.iterdir()] == [path.name], "nothing unfinished is left"


def test_every_torn_or_altered_file_is_noticed(tmp_path: Path) -> None:
    path = write_result(tmp_path, Ended(1, 1, Outcome("completed", batches=(curve(0.1, 0.2),))))
    whole = path.read_bytes()
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(Damaged):
            read_result(path)
    path.write_bytes(whole.replace(b'"completed"', b'"failed"'))
    with pytest.raises(Damaged, match="checksum"):
        read_result(path)
    assert results_in(tmp_path) == []


@pytest.mark.parametrize(
    "hostile",
    [
        b"[" * 100_000,
        b'{"sha256":' * 50_000,
        pickle.dumps({"sha256": "x"}),
        b"",
        b"\xff\xfe\x00",
        b"null",
        b'{"content": {}, "sha256": "0"}',
        b'{"content": 3}',
    ],
    ids=["deep lists", "deep objects", "pickle", "empty", "no text", "null", "wrong", "no object"],
)
def test_hostile_files_are_refused_and_nothing_is_executed(tmp_path: Path, hostile: bytes) -> None:
    path = tmp_path / "result.1.json"
    path.write_bytes(hostile)
    with pytest.raises(Damaged):
        read_result(path)
    assert results_in(tmp_path) == []


def test_a_file_that_is_too_large_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "result.1.json"
    with path.open("wb") as file:
        file.truncate(300 * 2**20)
    with pytest.raises(Damaged, match="more than"):
        read_result(path)


def test_files_with_the_right_sum_but_other_content_are_refused(tmp_path: Path) -> None:
    path = spool.write_checked(tmp_path / "result.1.json", {"trial": 1})
    with pytest.raises(Damaged, match="not a result"):
        read_result(path)
    with pytest.raises(Damaged, match="not a trial"):
        spool.read_trial(path)
    with pytest.raises(Damaged, match="not a round"):
        spool.read_round(path)


def test_a_trial_and_a_round_come_back(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tuning.db") as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        store.add_repeats(record.id, 0, 1)
        (repeat,) = store.claim_repeats(record.id, worker, 0, 1)
        root = store.trial_root()
        trial = spool.read_trial(spool.write_trial(root / claim.folder, claim))
        assert (trial.number, trial.folder, trial.attempt) == (0, claim.folder, 1)
        assert trial.configuration == claim.configuration and trial.seed == claim.seed
        again = spool.read_trial(spool.write_trial(root / repeat.folder, repeat))
        assert (again.number, again.folder, again.index) == (None, repeat.folder, None)
        found = spool.read_round(root / record.directory / "round.json")
        assert found.round == a_round() and found.search == "halton"


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="could not be written"):
        write_result(tmp_path / "file", Ended(1, 1, Outcome("completed")))


def test_what_is_left_is_plain_json(tmp_path: Path) -> None:
    path = write_result(tmp_path, Ended(1, 2, Outcome("failed", KILLED)))
    assert json.loads(json.loads(path.read_text())["content"]["reason"]) == {
        "code": "program.exited",
        "facts": {"status": -9, "signal": "SIGKILL"},
    }


def test_a_result_that_version_0_1_left_reads_as_a_code(tmp_path: Path) -> None:
    data = json.loads(write_result(tmp_path, Ended(1, 2, Outcome("failed"))).read_text())["content"]
    path = spool.write_checked(tmp_path / "result.2.json", {**data, "reason": "exit status 3"})
    assert read_result(path).outcome.reason == Message(
        "program.exited", {"status": 3, "signal": ""}
    )
