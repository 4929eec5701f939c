"""Case 20: thousands of trials on eight workers: executed = recorded = asked."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.faults.endurance import note

import tunewright as tw
from tunewright.store.store import Store


def tiny(run, learning_rate, journal):
    run.log(1, valid_error=learning_rate)
    note(journal, f"{run.number} {run.attempt}")


def many(folder, trials: int) -> None:
    journal, store = folder / "journal", folder / "tuning.db"
    round = tw.Round(
        "many",
        goal="Is every one of them there?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        fixed={"journal": str(journal)},
        trials_per_study=trials,
    )
    executor = tw.Local(workers=8, devices=[])
    work = tw.Workload(tiny, tw.minimize("valid_error"), store=store, executor=executor)
    results = tw.run(round, work)
    executed = Counter(journal.read_text().splitlines())
    assert executed == {f"{number} 1": 1 for number in range(trials)}
    assert results.counts == {"completed": trials}
    for trial in results.trials:
        assert trial.value == trial.configuration["learning_rate"]
    with Store.open(store, create=False) as opened:
        assert opened.round("many").counts == {"completed": trials}
    assert tw.run(round, work).counts == {"completed": trials}
    assert Counter(journal.read_text().splitlines()) == executed, "nothing ran again"


def test_case_20(tmp_path):
    many(tmp_path, 200)


@pytest.mark.slow
@pytest.mark.parametrize("trials", [2_000, 20_000])
def test_case_20_thousands(tmp_path, trials):
    many(tmp_path, trials)
