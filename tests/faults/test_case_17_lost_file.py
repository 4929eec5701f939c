"""Case 17: an empty or missing database beside trial folders starts nothing silently."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest
from tests.faults.endurance import Endurance
from tests.faults.quick_rounds import REPETITIONS, asked, check, lines, workload
from typer.testing import CliRunner

import tunewright as tw
from tunewright.cli.main import app
from tunewright.errors import StoreError
from tunewright.execution.run import supervise
from tunewright.store import backup
from tunewright.store.replay import rebuild


def lose(tmp_path, how: str) -> None:
    for path in tmp_path.glob("tuning.db*"):
        if path.is_file():
            path.unlink()
    shutil.rmtree(tmp_path / "tuning.db.backups")
    if how == "empty":
        (tmp_path / "tuning.db").touch()


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize("how", ["missing", "empty"])
def test_case_17(tmp_path, how, repetition):
    store, journal = tmp_path / "tuning.db", tmp_path / "journal"
    round, work = asked(journal, 8), workload(store)
    before = supervise(round, work, trials=6)
    lose(tmp_path, how)
    for use in (lambda: tw.run(round, work), lambda: tw.open_round(round, tw.minimize("x"), store)):
        with pytest.raises(StoreError, match=rf"is {how}, but .*6 trial folders.*--rebuild"):
            use()
    assert len(lines(journal)) == 12, "nothing was trained"
    done = CliRunner().invoke(app, ["restore", "--rebuild", "--store", str(store)])
    assert done.exit_code == 0, done.output
    rebuilt = tw.load(store, round.name)
    for trial in before.trials[:6]:
        again = rebuilt.trial(trial.number)
        assert (again.status, again.value, again.seed) == (trial.status, trial.value, trial.seed)
        assert again.configuration == trial.configuration
    check(tw.run(round, work), journal, 8)


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_17_trial_folders_elsewhere(store_url, new_store, tmp_path, repetition):
    journal, folder = tmp_path / "journal", tmp_path / "elsewhere"
    round = asked(journal, 8)
    supervise(round, workload(store_url, folder), trials=6)
    other = new_store()
    with pytest.raises(StoreError, match=r"trials of another store.*--rebuild"):
        tw.run(round, workload(other, folder))
    assert len(lines(journal)) == 12, "nothing was trained"
    fresh = new_store()
    made = rebuild(fresh, folder)
    assert (made.rounds, made.trials, made.ended, made.unreadable) == (1, 6, 6, ())
    assert tw.load(fresh, round.name).best().curves, "found where they are"
    check(tw.run(round, workload(fresh, folder)), journal, 8)


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize("how", ["deleted", "restored"])
def test_case_17_under_a_running_round(tmp_path, how, repetition):
    """Its supervisor does not train on into a file that nobody will find again."""
    store = tmp_path / "tuning.db"
    round = Endurance(str(store), tmp_path, 6, sleep_s=0.1)
    try:
        process = round.start()
        round.wait_for("ended", 1)
        if how == "deleted":
            store.unlink()
        else:
            backup.restore(store)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 1
        assert "while it was in use: nothing more is written to it" in said, said
        # a program may come to its last line and be ended before it could say so
        told = {int(r.parent.name[1:]) for r in tmp_path.glob("trials/r*/t*/result.*.json")}
        if how == "deleted":
            rebuild(store, tmp_path / "trials")
        round.finish()
        round.check()
        ended = Counter(line[0] for line in round.lines() if line[2] == "ended")
        assert told and {ended[number] for number in told} == {1}, "it was in the trial folders"
    finally:
        round.close()


@pytest.fixture
def new_store(request, tmp_path):
    """Makes an empty place for a store of the same kind as `store_url`."""
    kind = request.node.callspec.params["store_url"]
    made = []

    def make() -> str:
        made.append(None)
        if kind == "sqlite":
            return str(tmp_path / f"other{len(made)}.db")
        return request.getfixturevalue("new_postgres_url")()

    return make
