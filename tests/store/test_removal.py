"""Rounds removed and brought back, and renamed, on both kinds of store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.problems import codes
from tests.store.record_parts import a_round, begin, begun, complete

from tunewright import stores
from tunewright.actions import RemoveRound, StopRound
from tunewright.errors import Busy, Misuse, NotFound
from tunewright.messages import Message
from tunewright.store import journal
from tunewright.store.launches import Place, Receipt
from tunewright.store.replay import rebuild
from tunewright.store.store import Store
from tunewright.store.user_requests import is_replicate


def two_ended(url: str) -> None:
    """The round `depth` with two ended trials, its worker gone."""
    with Store.open(url) as store:
        record, worker = begun(store)
        for claim in store.claim(record.id, worker, 2):
            complete(store, claim, 0.5, 0.4)
        store.retire(worker)


def test_what_is_removed_is_in_no_list_and_comes_back_whole(store_url: str) -> None:
    two_ended(store_url)
    with Store.open(store_url) as store:
        before = store.results("depth")
    gone = stores.remove(store_url, "depth")
    assert (gone.name, gone.trials) == ("depth", 6)
    with Store.open(store_url) as store:
        assert store.rounds() == []
        with pytest.raises(NotFound) as missing:
            store.round("depth")
        assert missing.value.facts["known"] == []
    assert stores.removed(store_url) == [gone]
    assert stores.bring_back(store_url, "depth").key == gone.key
    with Store.open(store_url) as store:
        assert store.results("depth").trials == before.trials
    assert stores.removed(store_url) == []


def test_its_name_is_free(store_url: str) -> None:
    two_ended(store_url)
    stores.remove(store_url, "depth")
    with Store.open(store_url) as store:
        begin(store, a_round(scientific={"layers": [3, 4]}))
    with pytest.raises(Misuse) as taken:
        stores.bring_back(store_url, "depth")
    assert codes(taken.value) == ["rename.name_taken"]
    stores.rename(store_url, "depth", "other")
    stores.bring_back(store_url, "depth")
    with Store.open(store_url) as store:
        assert [record.name for record in store.rounds()] == ["depth", "other"]


def test_the_newest_of_several_comes_back_first(store_url: str) -> None:
    for layers in ([1, 2], [3, 4]):
        with Store.open(store_url) as store:
            begin(store, a_round(scientific={"layers": layers}))
        stores.remove(store_url, "depth")
    assert len(stores.removed(store_url)) == 2
    stores.bring_back(store_url, "depth")
    with Store.open(store_url) as store:
        assert store.round("depth").round.scientific["layers"].values == (3, 4)


def test_nothing_is_removed_or_renamed_while_somebody_runs_it(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        own = store.register(record.id, "supervisor", exclusive=True)
        for change in (
            lambda: stores.remove(store_url, "depth"),
            lambda: stores.rename(store_url, "depth", "x"),
        ):
            with pytest.raises(Busy) as busy:
                change()
            assert codes(busy.value) == ["round.busy"]
        store.retire(own)
        joined = store.register(record.id, "worker", exclusive=False)
        store.claim(record.id, joined, 1)
        with pytest.raises(Busy) as running:
            stores.remove(store_url, "depth")
        assert codes(running.value) == ["remove.running"]
        assert running.value.remedy == StopRound("depth")
        assert [one.name for one in store.rounds()] == ["depth"]


def test_what_others_rest_on_is_not_removed(store_url: str) -> None:
    two_ended(store_url)
    with Store.open(store_url) as store:
        begin(store, a_round("later", continues="depth"))
        begin(store, a_round("depth.study2", seed=1))
        receipt = Receipt("me", "better", "goal", "")
        store.add_launch(
            {"verdict": "launch", "method": "bayes"}, Place("depth", 0, {}), None, receipt
        )
        store.add_campaign("tune", {"name": "tune"})
        begin(store, a_round("tune_1"), campaign="tune", purpose="explore")
    with pytest.raises(Misuse) as refused:
        stores.remove(store_url, "depth")
    assert set(codes(refused.value)) == {
        *("remove.continued", "remove.has_replicates", "remove.launched"),
    }
    assert refused.value.remedy == RemoveRound("later")
    for change in (
        lambda: stores.remove(store_url, "tune_1"),
        lambda: stores.rename(store_url, "tune_1", "x"),
    ):
        with pytest.raises(Misuse) as belongs:
            change()
        assert belongs.value.facts["campaign"] == "tune"
    with Store.open(store_url) as store:
        assert len(store.rounds()) == 4


def test_a_new_name_reaches_everything_that_names_it(store_url: str) -> None:
    two_ended(store_url)
    with Store.open(store_url) as store:
        begin(store, a_round("later", continues="depth"))
        begin(store, a_round("depth.study2", seed=1))
        store.note("depth", "remember")
    done = stores.rename(store_url, "depth", "width")
    assert (done.also, done.continued_by) == (("width.study2",), ("later",))
    with Store.open(store_url) as store:
        assert store.round("later").round.continues == "width"
        record = store.round("width")
        assert record.round == replace(a_round(), name="width")
        assert [note.text for note in store.notes("width")] == ["remember"]
        assert store.results("width").trial(0).command == "tunewright again width 0"
        again = begin(store, replace(a_round(), name="width"))  # it continues as it was
        assert again.continued and again.id == record.id


@pytest.mark.parametrize(
    ("new", "code"),
    [("", "round.bad_name"), ("a\tb", "round.bad_name"), ("later", "rename.name_taken")],
)
def test_a_name_that_cannot_be_is_refused(store_url: str, new: str, code: str) -> None:
    two_ended(store_url)
    with Store.open(store_url) as store:
        begin(store, a_round("later"))
    with pytest.raises(Misuse) as refused:
        stores.rename(store_url, "depth", new)
    assert refused.value.code == code
    with pytest.raises(Misuse) as same:
        stores.rename(store_url, "depth", "depth")
    assert same.value.code == "rename.same_name"
    with Store.open(store_url) as store:
        assert store.round("depth").round == a_round()


def test_what_was_never_removed_is_not_found(store_url: str) -> None:
    two_ended(store_url)
    with pytest.raises(NotFound) as missing:
        stores.bring_back(store_url, "depth")
    assert missing.value.code == "removed.not_found"


def test_folders_stay_and_a_rebuilt_store_leaves_them_out(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    two_ended(str(path))
    with Store.open(path) as store:
        begin(store, a_round("kept"))
        store.add_probe("stability", "train", {"message": Message("x").to_data()})
    gone = stores.remove(path, "depth")
    assert Path(gone.folder).is_dir() and stores.backups(path)
    rebuild(path)
    with Store.open(path) as store:
        assert [record.name for record in store.rounds()] == ["kept"]


def test_a_rebuilt_store_has_the_new_name(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    two_ended(str(path))
    with Store.open(path) as store:
        store.note("depth", "remember")
    stores.rename(path, "depth", "width")
    found, torn = journal.read(tmp_path / "tuning.db.trials")
    assert torn == [] and [one.row["round"] for one in found] == [{"name": "width"}]
    rebuild(path)
    with Store.open(path) as store:
        assert [record.name for record in store.rounds()] == ["width"]
        assert [note.text for note in store.notes("width")] == ["remember"]


def test_brought_back_it_is_in_a_rebuilt_store(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    two_ended(str(path))
    stores.remove(path, "depth")
    stores.bring_back(path, "depth")
    rebuild(path)
    with Store.open(path) as store:
        assert [record.name for record in store.rounds()] == ["depth"]


def test_which_rounds_are_replicates() -> None:
    assert is_replicate("depth.trial3.split1", "depth")
    assert not is_replicate("depth.studies", "depth")
    assert not is_replicate("width.study2", "depth")
