"""Rows of declared trials are made when they are claimed, and are the same as ever."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import select

import tunewright as tw
from tunewright.checks.checklist import check
from tunewright.design.names import Meaning
from tunewright.errors import NotFound
from tunewright.execution.asked_trial import Asked
from tunewright.present.terminal.round_page import print_round
from tunewright.store import claims
from tunewright.store.claims import positions_on_disk, trial_folder
from tunewright.store.overview import read_overview
from tunewright.store.read_round import Waiting
from tunewright.store.replay import rebuild
from tunewright.store.results import Results
from tunewright.store.schema import round_table, trial
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Trial

OBJECTIVE = tw.minimize("valid_error")


def a_round(trials: int, name: str = "many") -> tw.Round:
    return tw.Round(
        name,
        goal="Are rows made when they are needed?",
        scientific={"layers": [1, 2, 3]},
        nuisance={
            "learning_rate": tw.log(1e-4, 1e-1),
            "optimizer": tw.given({"sgd": {"momentum": tw.linear(0.5, 0.99)}, "adam": {}}),
        },
        trials_per_study=trials,
    )


def begun(store: Store, trials: int, name: str = "many") -> RoundRecord:
    search = tw.search.Halton()
    return store.begin(
        a_round(trials, name),
        OBJECTIVE,
        Meaning(),
        search=search.name,
        suggestions=lambda study, count: search.suggest(study, (), count),
        ahead=True,
    )


def rows(store: Store) -> list[Any]:
    own = (trial.c.number, trial.c.study, trial.c.position, trial.c.seed, trial.c.search)
    more = (trial.c.configuration, trial.c.unit, trial.c.folder)
    with store.reading() as connection:
        directory = connection.execute(select(round_table.c.directory)).scalar_one()
        found = connection.execute(select(*own, *more).order_by(trial.c.number)).all()
    return [(*row[:-1], row.folder.removeprefix(directory)) for row in found]


def all_claimed(store: Store, record: RoundRecord, at_a_time: int = 4) -> list[int | None]:
    worker = store.register(record.id, "session", exclusive=False)
    taken: list[int | None] = []
    while claims := store.claim(record.id, worker, at_a_time, tw.search.Halton().at):
        taken += [claim.number for claim in claims]
    return taken


@pytest.mark.parametrize("ahead", [1, 7, 12])
def test_rows_made_later_equal_those_made_at_once(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    with Store.open(tmp_path / "at_once.db") as store:
        all_claimed(store, begun(store, 20))
        expected = rows(store)
    monkeypatch.setattr(claims, "AHEAD", ahead)
    with Store.open(store_url) as store:
        record = begun(store, 20)
        made = -(-ahead // 3)
        assert record.made == made and len(rows(store)) == 3 * made
        assert record.counts == {"pending": 60}
        assert all_claimed(store, record) == list(range(60))
        assert rows(store) == expected
        assert store.round("many").made is None and store.round("many").counts == {"running": 60}


def test_a_round_reads_the_same_before_and_after_its_rows_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "AHEAD", 6)
    with Store.open(tmp_path / "tuning.db") as store:
        record = begun(store, 5)
        before = store.results("many")
        assert [t.number for t in before.trials] == list(range(15))
        assert before.counts == {"pending": 15}
        assert len({t.identity for t in before.trials}) == 15
        assert [t.number for t in store.trials("many", [1, 14, 15])] == [1, 14]
        overview = read_overview(store, "many")
        assert list(overview.numbers) == list(range(15)) and set(overview.statuses) == {0}
        all_claimed(store, record)
        after = store.results("many")
    for early, late in zip(before.trials, after.trials, strict=True):
        assert (early.number, early.study, early.index, early.seed, early.command) == (
            (late.number, late.study, late.index, late.seed, late.command)
        )
        assert early.folder == late.folder
    assert list(overview.studies) == [t.study for t in after.trials]


def test_numbers_of_added_trials_lie_behind_declared_ones(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "AHEAD", 3)
    configuration = {"layers": 1, "learning_rate": 0.01, "optimizer": "adam"}
    with Store.open(store_url) as store:
        record = begun(store, 4)
        worker = store.register(record.id, "session", exclusive=False)
        assert store.add(record.id, worker, configuration, 0, {}).number == 12
        raised = begun(store, 5)  # numbers of new trials pass over the added one
        assert raised.made is None and raised.counts == {"pending": 15, "running": 1}
        numbers = [t.number for t in store.results("many").trials if t.index == 4]
        assert numbers == [13, 14, 15]
        assert sorted(n for n in all_claimed(store, raised) if n is not None) == [
            *range(12),
            13,
            14,
            15,
        ]


def test_more_trials_declared_later_are_made_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "AHEAD", 3)
    with Store.open(tmp_path / "tuning.db") as store:
        begun(store, 1)
        assert store.round("many").made is None
        raised = begun(store, 6)
        assert (raised.made, raised.counts) == (1, {"pending": 18})
        fewer = begun(store, 2)  # what was declared stays
        assert (fewer.made, fewer.counts) == (1, {"pending": 18})
        assert all_claimed(store, fewer, at_a_time=5) == list(range(18))


def ended(asked: Asked | None) -> int | None:
    assert asked is not None
    asked.log(1, valid_error=0.5)
    asked.finish()
    return asked.number


@pytest.mark.parametrize("search", [tw.search.Halton(), tw.search.Bayesian(scientific=True)])
def test_results_outlive_a_store_that_is_older_than_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, search: Any
) -> None:
    """A restored backup lacks rows; folders tell of them, and nothing is trained again."""
    monkeypatch.setattr(claims, "AHEAD", 3)
    path, saved = tmp_path / "tuning.db", tmp_path / "saved.db"
    with tw.open_round(a_round(4), OBJECTIVE, path, search) as session:
        ended(session.ask())
    with Store.open(path) as store:
        assert store.round("many").made == 1
    shutil.copy(path, saved)
    with tw.open_round(a_round(4), OBJECTIVE, path, search) as session:
        assert [ended(session.ask()) for _ in range(6)] == list(range(1, 7))
        before = session.results()
    for old in tmp_path.glob("tuning.db*"):
        old.unlink() if old.is_file() else None
    shutil.copy(saved, path)
    with tw.open_round(a_round(1, "other"), OBJECTIVE, path, search) as session:
        ended(session.ask())  # takes the keys that the lost rows had
    with tw.open_round(a_round(4), OBJECTIVE, path, search) as session:
        after = session.results()
        assert after.counts == {"completed": 7, "pending": 5}
        for early, late in zip(before.trials[:7], after.trials[:7], strict=True):
            assert early.configuration == late.configuration and early.seed == late.seed
            assert late.status == "completed" and late.attempts == 1
        assert ended(session.ask()) == 7


def test_a_rebuilt_round_makes_only_the_rows_that_have_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "AHEAD", 3)
    path = tmp_path / "tuning.db"
    with tw.open_round(a_round(40), OBJECTIVE, path) as session:
        for _ in range(8):
            ended(session.ask())
    for old in tmp_path.glob("tuning.db*"):
        old.unlink() if old.is_file() else None
    assert rebuild(path).ended == 8
    with tw.open_round(a_round(40), OBJECTIVE, path) as session:
        with Store.open(path) as store:
            record = store.round("many")
        assert record.made == 3 and record.counts == {"completed": 8, "pending": 112}
        assert ended(session.ask()) == 8


def test_folders_of_declared_trials_count(tmp_path: Path) -> None:
    declared = a_round(4)
    assert positions_on_disk(None, declared) == positions_on_disk(tmp_path / "none", declared) == 0
    for name in ("t000000", "t000007", "t000012", "t000004.repeat2", "other"):
        (tmp_path / name).mkdir()
    assert positions_on_disk(tmp_path, declared) == 3  # 7 is position 2; 12 was added by hand
    assert trial_folder("r1", 7) == "r1/t000007"


@pytest.mark.parametrize("trials", [300, 100_000])
def test_reading_a_round_makes_no_trial_that_only_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: int
) -> None:
    made: list[int] = []
    pending_trial = Waiting.pending_trial

    def counted(waiting: Waiting, number: int) -> Trial:
        made.append(number)
        return pending_trial(waiting, number)

    with Store.open(str(tmp_path / "s.db")) as store:
        begun(store, trials)
        total = 3 * trials  # of three studies
        monkeypatch.setattr(Waiting, "pending_trial", counted)
        results = store.results("many")
    assert (results.size, results.unfinished) == (total, total)
    assert results.counts == {"pending": total} == sum_of(results)
    check(results)
    print_round(results, Console(file=io.StringIO(), width=100))
    assert made == []
    last = results.trial(total - 1)
    assert (last.status, last.number) == ("pending", total - 1)
    assert len(made) <= 2 * total.bit_length(), "one trial is found without making the others"
    with pytest.raises(NotFound):
        results.trial(total)


def sum_of(results: Results) -> dict[str, int]:
    """The counts of all studies together."""
    found: dict[str, int] = {}
    for study in results.studies:
        for status, count in results.counts_of(study).items():
            found[status] = found.get(status, 0) + count
    return found
