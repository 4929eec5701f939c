from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

from tunewright.execution.run import load
from tunewright.search.bayesian.bayesian import Bayesian

TUNE = """
goal = "How low can the error be?"
trials_per_study = 14
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 20
layers = 1
"""


@pytest.fixture
def tune(project: Path) -> Path:
    """The small project with a round that only tunes."""
    (project / "rounds" / "tune.toml").write_text(TUNE)
    return project


@pytest.mark.beyond_core
def test_a_bayesian_round_runs_goes_on_and_says_what_it_believes(
    tunewright: Tunewright, tune: Path
) -> None:
    assert tunewright("run", "tune", "--search", "bayesian", "--workers", "1").code == 0
    found = load(tune / "tuning.db", "tune")
    assert found.search == "bayesian"
    best = found.best().configuration["learning_rate"]
    assert isinstance(best, float) and 0.08 < best < 0.125  # the optimum is at 0.1
    again = tunewright("run", "tune", "--trials", "15", "--workers", "1")  # no search named
    assert again.code == 0
    assert len(load(tune / "tuning.db", "tune").trials) == 15
    said = tunewright("believe", "tune")
    assert said.code == 0
    assert "best to expect 0.0" in said.out and "90 % interval" in said.out
    assert "feasible where the others are as recommended" in said.out
    (belief,) = tunewright("believe", "tune", "--json").data["beliefs"]
    assert belief["outcomes"] == 15 and len(belief["axes"][0]["feasible"]) == 9


def test_a_round_that_compares_is_refused_and_nothing_begins(
    tunewright: Tunewright, tune: Path
) -> None:
    answer = tunewright("run", "layers", "--search", "bayesian")
    assert answer.code == 2
    assert "layers asks what layers does" in answer.err
    assert not (tune / "tuning.db").exists()


def test_auto_says_what_it_takes_and_why(tunewright: Tunewright, tune: Path) -> None:
    tuned = tunewright("run", "tune", "--search", "auto", "--workers", "1", "--dry-run")
    assert "Bayesian: 14 trials, 1 at a time" in tuned.err and "(bayesian)" in tuned.out
    compared = tunewright("run", "layers", "--search", "auto", "--dry-run")
    assert "quasi-random: what layers does is compared" in compared.err
    assert "(halton)" in compared.out


@pytest.mark.beyond_core
def test_a_worker_and_what_is_believed_know_the_earlier_rounds(
    tunewright: Tunewright, tune: Path
) -> None:
    later = 'continues = "tune"\n' + TUNE.replace("= 14", "= 3").replace("1.0]", "0.5]")
    (tune / "rounds" / "finer.toml").write_text(later)
    assert tunewright("run", "tune", "--on", "inline").code == 0
    begun = ("run", "finer", "--search", "bayesian", "--max-hours", "1e-9", "--on", "inline")
    assert tunewright(*begun).code == 0
    assert tunewright("worker", "finer", "--workers", "1").code == 0
    before, found = (load(tune / "tuning.db", name, earlier=False) for name in ("tune", "finer"))
    study, trials = found.studies[0], found.trials
    for knows, same in ((Bayesian(earlier=[before]), True), (Bayesian(), False)):
        (next_one,) = knows.suggest(study, trials[:-1], 1)
        assert (next_one.configuration == trials[-1].configuration) == same
    (belief,) = tunewright("believe", "finer", "--json").data["beliefs"]
    assert (belief["outcomes"], belief["earlier"]) == (17, 14)
    assert "17 trials, 14 of them of earlier rounds" in tunewright("believe", "finer").out


def test_a_round_of_another_search_is_believed_of_too(tunewright: Tunewright, ran: Path) -> None:
    said = tunewright("believe", "layers")
    assert said.code == 0 and "layers=1" in said.out and "layers=2" in said.out
