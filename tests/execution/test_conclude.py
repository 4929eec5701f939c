"""What the end of an attempt makes of its trial, outcome by outcome."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.execution.conclude import DEATHS, Seen, conclude, metrics_to_watch, never_logged
from tunewright.messages import Message
from tunewright.store.curves import pack
from tunewright.store.judge import not_finite
from tunewright.store.outcome import Outcome

OBJECTIVE = minimize("valid_error")
KILLED = Message("program.exited", {"status": -9, "signal": "SIGKILL"})
WATCHED = metrics_to_watch(OBJECTIVE, Meaning())


def seen(**curves: list[float]) -> Seen:
    points = {name: (range(len(values)), values) for name, values in curves.items()}
    return Seen().adding(pack(points), WATCHED)


def test_a_logged_objective_completes():
    verdict = conclude(Outcome("completed"), seen(valid_error=[0.3, 0.2]), OBJECTIVE, 0)
    assert (verdict.status, verdict.reason) == ("completed", None)


def test_an_objective_never_logged_fails_and_names_the_nearest():
    verdict = conclude(Outcome("completed"), seen(valid_eror=[0.3]), OBJECTIVE, 0)
    assert verdict.status == "failed"
    assert verdict.reason == Message(
        "objective.never_logged",
        {
            "metric": "valid_error",
            "logged": ["valid_eror"],
            "more": False,
            "near": "valid_eror",
        },
    )


def test_nothing_logged_at_all_says_how_to_log():
    verdict = conclude(Outcome("completed"), Seen(), OBJECTIVE, 0)
    assert verdict.status == "failed"
    assert verdict.reason is not None and verdict.reason.code == "objective.never_logged"
    assert verdict.reason.facts["logged"] == []


def test_unlike_names_are_not_offered():
    assert never_logged("valid_error", ["qqq"]).facts["near"] is None


def test_of_many_names_eight_are_shown():
    reason = never_logged("valid_error", [f"q{i}" for i in range(20)])
    assert len(reason.facts["logged"]) == 8 and reason.facts["more"]


@pytest.mark.parametrize(
    "value, text", [(math.nan, "nan"), (math.inf, "+inf"), (-math.inf, "-inf")]
)
@pytest.mark.parametrize("metric", ["valid_error", "train_loss", "valid_loss"])
@pytest.mark.parametrize("outcome", ["completed", "failed", "died", "infeasible"])
def test_a_non_finite_objective_or_loss_is_infeasible_however_it_ended(
    outcome, metric, value, text
):
    curves = {"valid_error": [0.3, 0.2, 0.1], metric: [0.3, value, 0.1]}
    verdict = conclude(Outcome(outcome), seen(**curves), OBJECTIVE, 0)
    assert verdict.status == "infeasible"
    facts = {"metric": metric, "value": text, "step": 1}
    assert verdict.reason == Message("metric.not_finite", facts)


def test_other_metrics_may_be_non_finite():
    verdict = conclude(
        Outcome("completed"), seen(valid_error=[0.3], ratio=[math.inf]), OBJECTIVE, 0
    )
    assert verdict.status == "completed"


def test_losses_go_by_their_meaning_not_their_spelling():
    watched = metrics_to_watch(OBJECTIVE, Meaning({"train_loss": "train/loss"}))
    batch = pack({"train/loss": ([5], [math.nan])})
    assert Seen().adding(batch, watched).diverged == not_finite("train/loss", math.nan, 5)
    assert "train_loss" not in watched


def test_the_reason_an_executor_gives_is_kept():
    for outcome in ("infeasible", "failed"):
        verdict = conclude(Outcome(outcome, KILLED, "tail"), Seen(), OBJECTIVE, 0)
        assert (verdict.status, verdict.reason, verdict.detail) == (outcome, KILLED, "tail")


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ("infeasible", "trial.infeasible"),
        ("failed", "trial.failed"),
        ("stopped", "stopped.asked"),
        ("died", "trial.died"),
    ],
)
def test_an_end_without_a_cause_has_a_code_all_the_same(outcome, code):
    verdict = conclude(Outcome(outcome), Seen(), OBJECTIVE, 0)
    assert verdict.reason is not None and verdict.reason.code == code


def test_the_third_death_fails_with_cause_and_tail():
    ends = [
        conclude(Outcome("died", KILLED, "the tail"), Seen(), OBJECTIVE, n - 1)
        for n in range(1, DEATHS + 1)
    ]
    assert [v.status for v in ends] == ["died", "died", "failed"]
    assert [v.becomes for v in ends] == ["pending", "pending", "failed"]
    facts = {"deaths": 3, "cause": KILLED.to_data()}
    assert ends[-1].reason == Message("trial.died_repeatedly", facts)
    assert str(ends[-1].reason) == "died 3 times, at last: killed by SIGKILL"
    assert ends[-1].detail == "the tail"


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_stop_is_never_a_death(deaths):
    verdict = conclude(Outcome("stopped"), Seen(), OBJECTIVE, deaths)
    assert (verdict.status, verdict.becomes) == ("stopped", "pending")


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.lists(st.floats(), max_size=4), max_size=3),
        max_size=6,
    )
)
def test_seen_does_not_depend_on_how_points_were_batched(batches):
    """One batch at a time or point by point: the same metrics, and divergence is never missed."""
    together, apart = Seen(), Seen()
    for batch in batches:
        points = {n: (list(range(len(v))), v) for n, v in batch.items()}
        together = together.adding(pack(points), ["a", "b"])
        for name, values in batch.items():
            for step, value in enumerate(values):
                apart = apart.adding(pack({name: ([step], [value])}), ["a", "b"])
    finite = all(math.isfinite(x) for b in batches for n in "ab" for x in b.get(n, []))
    assert set(together.metrics) == set(apart.metrics)
    assert bool(together.diverged) == bool(apart.diverged) == (not finite)
