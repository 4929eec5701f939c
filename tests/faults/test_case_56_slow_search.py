"""Case 56: a trial that ends while the search thinks is in its folder before the search answers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.faults.quick_rounds import OBJECTIVE

import tunewright as tw
from tunewright.search.search import Suggestion

DEADLINE_S = 60.0


def train(run, learning_rate, folder):
    """Trial 1 ends when the search has begun to think about the third."""
    deadline = time.monotonic() + DEADLINE_S
    while run.number == 1 and not Path(folder, "thinks").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run.log(1, valid_error=learning_rate)


class Thinking:
    """Adaptive; from its second answer on it waits for the result of trial 1 to be on the disk."""

    name = "thinking"
    adaptive = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[int] = []
        self.seen: list[bool] = []

    def suggest(self, study, trials, count):
        self.asked.append(count)
        if len(self.asked) > 1:
            (self.folder / "thinks").touch()
            deadline = time.monotonic() + DEADLINE_S
            while not list(self.folder.glob("tuning.db.trials/r*/t000001/result.1.json")):
                if time.monotonic() > deadline:
                    break
                time.sleep(0.01)
            else:
                self.seen.append(True)
        unit = {h.column: 1 / (len(trials) + 2) for h in study.space}
        return [Suggestion(study.configuration(unit), unit)] * count


@pytest.fixture
def round(tmp_path):
    return tw.Round(
        "slow",
        goal="Is anything lost?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        fixed={"folder": str(tmp_path)},
        trials_per_study=3,
    )


def test_case_56(tmp_path, round, monkeypatch):
    monkeypatch.setattr(f"{__name__}.DEADLINE_S", 20.0)
    search = Thinking(tmp_path)
    work = tw.Workload(train, OBJECTIVE, store=tmp_path / "tuning.db", executor=tw.Local(workers=2))
    results = tw.run(round, work, search=search)
    assert results.counts == {"completed": 3}
    assert search.asked == [2, 1]
    assert search.seen == [True], "the end waited for the suggestion"


class Broken(Thinking):
    def suggest(self, study, trials, count):
        if self.asked:
            raise ArithmeticError("the model cannot be fitted")
        return super().suggest(study, trials, count)


def test_case_56_an_error_of_the_search_is_raised(tmp_path, round):
    (tmp_path / "thinks").touch()
    work = tw.Workload(train, OBJECTIVE, store=tmp_path / "tuning.db", executor=tw.Local(workers=2))
    with pytest.raises(ArithmeticError):
        tw.run(round, work, search=Broken(tmp_path))
