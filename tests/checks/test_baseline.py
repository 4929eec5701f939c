from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, results_of

from tunewright.actions import Advise, Declare, ShowRound, ShowTrial
from tunewright.checks.baseline import baseline
from tunewright.design.objective import maximize, minimize
from tunewright.finding import Finding

T = np.arange(1, 41) / 40


def asked(error: np.ndarray, loss: np.ndarray, **changes: object) -> Finding:
    random = np.random.default_rng(0)
    errors = error + 0.001 * noise(random, 6, 40, 0.0)
    losses = loss + 0.01 * noise(random, 6, 40, 0.0)
    return baseline(results_of({"valid_error": errors, "train_loss": losses}, **changes))[0]  # type: ignore[arg-type]


def against(valid: np.ndarray, train: np.ndarray, **changes: object) -> Finding:
    """What is said with a validation loss beside the training loss; chance is log 10."""
    random = np.random.default_rng(0)
    made = {"valid_error": 0.9 - 0.5 * T + 0.001 * noise(random, 6, 40, 0.0)}
    for name, loss in {"valid_loss": valid, "train_loss": train}.items():
        made[name] = loss + 0.01 * noise(random, 6, 40, 0.0)
    return baseline(results_of(made, means={"chance": 2.303}, **changes))[0]  # type: ignore[arg-type]


def test_better_than_chance_on_validation() -> None:
    finding = against(2.3 - 1.5 * T, 2.31 + 0.0 * T)  # heavily regularised: it trains at chance
    assert finding.verdict == "ok"
    assert (finding.evidence.metric, finding.evidence.chance) == ("valid_loss", 2.303)
    assert finding.evidence.best < 1.0


def test_a_model_that_only_memorises_is_no_better_than_chance() -> None:
    finding = against(2.31 + 0.5 * T, 2.3 - 2.2 * T)
    assert finding.verdict == "warn"
    assert finding.evidence.metric == "valid_loss"


def test_without_a_validation_loss_the_objective_is_judged_and_never_the_training_loss() -> None:
    means = {"chance": 2.303}
    stuck = asked(0.9 - 0.0 * T, 2.3 - 2.2 * T, means=means)  # chance is no error rate
    assert (stuck.verdict, stuck.evidence.metric) == ("warn", "valid_error")
    assert (stuck.evidence.chance, stuck.evidence.unused_chance) == (None, 2.303)
    assert stuck.actions[-1] == Declare("valid_loss") and stuck.words.evidence
    good = asked(0.9 - 0.8 * T, 2.31 - 0.0 * T, means=means)
    assert (good.verdict, good.evidence.metric) == ("ok", "valid_error")


def test_a_chance_of_the_objective_itself() -> None:
    worse = asked(0.9 - 0.0 * T, 2.3 - T, means={"chance": 0.9})
    assert (worse.verdict, worse.evidence.metric, worse.evidence.chance) == (
        "warn",
        "valid_error",
        0.9,
    )
    more = asked(0.1 + 0.8 * T, 2.3 - T, means={"chance": 0.1}, objective=maximize("valid_error"))
    assert (more.verdict, more.evidence.best) == ("ok", pytest.approx(0.9, abs=0.01))


def test_the_training_loss_counts_where_nothing_is_validated() -> None:
    made = {"train_loss": 2.31 + 0.01 * noise(np.random.default_rng(0), 6, 40, 0.0)}
    own = results_of(made, means={"chance": 2.303}, objective=minimize("train_loss"))
    finding = baseline(own)[0]
    assert finding.verdict == "warn"
    assert finding.evidence.metric == "train_loss"
    assert finding.actions[0] == Advise("start_simpler")
    assert isinstance(finding.actions[-1], ShowTrial)


def test_without_a_declared_chance_it_looks_at_where_trials_began() -> None:
    learned = asked(0.9 - 0.5 * T, 2.3 - T)
    assert learned.verdict == "ok"
    assert (learned.evidence.chance, learned.actions) == (None, (Declare("chance"),))
    assert learned.evidence.start > learned.evidence.best
    stuck = asked(0.9 - 0.0 * T, 2.3 - 0.0 * T)
    assert stuck.verdict == "warn"
    assert stuck.evidence.start == pytest.approx(stuck.evidence.best, abs=0.01)


def test_an_objective_to_maximize() -> None:
    finding = asked(0.1 + 0.8 * T, 2.3 - T, objective=maximize("valid_error"))
    assert finding.verdict == "ok"
    assert finding.evidence.best == pytest.approx(0.9, abs=0.01)


def test_nothing_to_judge() -> None:
    one = results_of({"valid_error": [np.array([0.5])]})
    assert baseline(one)[0].verdict == "cannot_judge"
    assert baseline(one)[0].evidence.why.code == "baseline.one_point"
    assert baseline(one)[0].actions == (Declare("chance"),)
    none = baseline(replace(one, recorded=()))[0]
    assert none.evidence.why.code == "baseline.none_completed"
    assert none.actions == (ShowRound(one.round.name),)
