from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, results_of, shape

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


def at_chance(trials: int, evaluations: int, correlation: float, seed: int) -> Finding:
    """Labels that are shuffled: nothing but noise around chance, of 5 % of it."""
    random = np.random.default_rng(seed)
    loss = 2.303 * (1 + 0.05 * noise(random, trials, evaluations, correlation))
    objective = minimize("valid_loss")
    own = results_of({"valid_loss": loss}, means={"chance": 2.303}, objective=objective)
    return baseline(own)[0]


@pytest.mark.parametrize("evaluations", [4, 8, 19, 20, 50, 200])
@pytest.mark.parametrize("trials", [5, 60])
def test_the_best_of_much_noise_is_not_better_than_chance(trials: int, evaluations: int) -> None:
    for correlation in (0.0, 0.5):
        found = [at_chance(trials, evaluations, correlation, seed) for seed in range(10)]
        passed = sum(finding.verdict == "ok" for finding in found)
        assert passed <= 1, "a hundredth of such rounds by the rule"
        lowest = [finding.evidence.best for finding in found]
        assert trials == 5 or max(lowest) < 0.98 * 2.303, "every one has an evaluation below it"
        worst = found[0].evidence
        assert worst.noise > 0 and worst.sustained >= worst.best and found[0].words.evidence


@pytest.mark.parametrize("evaluations", [4, 8, 19, 20, 50, 200])
@pytest.mark.parametrize("kind", ["fast", "slow", "power_half", "linear"])
def test_a_model_that_learns_is_better_than_chance(kind: str, evaluations: int) -> None:
    """Most trials hardly learn, the best gain 40 % of chance; evaluations have noise of 1 %."""
    for seed in range(5):
        random = np.random.default_rng(seed)
        share = np.linspace(0, 0.5, 40)[:, None] * (1 - shape(kind, evaluations))
        loss = 2.303 * (1 - share + 0.01 * noise(random, 40, evaluations, 0.3))
        made = {"valid_loss": loss}
        objective = minimize("valid_loss")
        own = results_of(made, means={"chance": 2.303}, objective=objective)
        assert baseline(own)[0].verdict == "ok"
        by_start = baseline(results_of(made, objective=objective))[0].verdict
        # the first evaluation of the two others comes when most is learned
        assert by_start == "ok" or kind in ("fast", "slow")


def test_a_model_that_learns_and_then_overfits_is_better_than_chance() -> None:
    loss = 2.3 - 1.5 * np.minimum(T, 0.3) / 0.3 + 4 * np.maximum(T - 0.35, 0)
    assert against(loss, 2.3 - 2.2 * T).verdict == "ok"


def test_noise_around_where_the_trials_began_is_no_learning() -> None:
    random = np.random.default_rng(0)
    for evaluations in (8, 60):
        error = 0.9 + 0.05 * noise(random, 60, evaluations, 0.0)
        finding = baseline(results_of({"valid_error": error}))[0]
        assert finding.verdict == "note" and finding.evidence.best < 0.8


def test_few_evaluations_show_no_noise() -> None:
    own = results_of(
        {"valid_loss": [np.array([2.3, 1.2])] * 6},
        means={"chance": 2.303},
        objective=minimize("valid_loss"),
    )
    finding = baseline(own)[0]
    assert (finding.verdict, finding.evidence.noise) == ("ok", None)


def test_better_than_chance_is_a_share_of_chance() -> None:
    """A loss of 99 where a guess has 100 is no better; 97 is: the margin is 2 % of chance."""
    for lowest, verdict in ((99.0, "warn"), (97.0, "ok")):
        loss = 100.0 - (100.0 - lowest) * np.minimum(2 * T, 1.0)
        found = asked(0.9 - 0.5 * T, loss, means={"chance": 100.0, "valid_loss": "train_loss"})
        assert (found.verdict, found.evidence.chance) == (verdict, 100.0)
