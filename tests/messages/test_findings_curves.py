"""Every curve check in every verdict: plain data, short headlines, nothing left unfilled."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.checks.curve_worlds import noise, results_of, rise, shape

from tunewright.actions import Action
from tunewright.checks.edge_of_divergence import edge_of_divergence
from tunewright.checks.instability import instability
from tunewright.checks.overfitting import overfitting
from tunewright.checks.periodicity import periodicity
from tunewright.checks.saturated import saturated
from tunewright.checks.step_variance import step_variance
from tunewright.checks.still_improving import still_improving
from tunewright.checks.training_bug import training_bug
from tunewright.checks.validation_size import validation_size
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.finding import Finding, NotJudged
from tunewright.messages import Message, en
from tunewright.messages.en.findings_curves import ACTIONS, FINDINGS, SENTENCES, who
from tunewright.store.results import Results
from tunewright.testing import Bowl, Walled, World, results

MOST_WORDS = 12  # of a headline
QUESTIONS: tuple[Callable[[Results], list[Finding]], ...] = (
    edge_of_divergence,
    instability,
    overfitting,
    periodicity,
    saturated,
    step_variance,
    still_improving,
    training_bug,
    validation_size,
)
EVERY = {"ok", "note", "warn", "cannot_judge"}
VERDICTS = {question.__name__: EVERY for question in QUESTIONS}
VERDICTS["edge_of_divergence"] = EVERY - {"note"}
VERDICTS["validation_size"] = EVERY - {"cannot_judge"}  # silent where nothing is known


def curves() -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Curves, and what else the results are made of: something for each question to find."""
    rng = np.random.default_rng(0)
    jitter = 0.005 * noise(rng, 12, 100, 0.3)
    levels, t = 0.02 * np.arange(12)[:, None], np.arange(100) / 100
    wave = 0.02 * np.sin(np.arange(100) * 2 * np.pi / 5)
    steady, falling = np.ones((12, 100)), np.tile(np.linspace(1.0, 0.01, 100), (12, 1))
    growing = np.tile(np.linspace(0.1, 1.0, 100), (12, 1))
    losses = (shape("slow", 100) + 0.1) * np.exp(4 * jitter)
    spiking, one_spikes = losses.copy(), losses.copy()
    spiking[:, 60:63] *= 3
    one_spikes[3, 60:63] *= 3
    bumpy = losses + 0.3 * np.exp(-(((t - 0.6) / 0.15) ** 2))
    quiet = shape("slow", 100) + jitter + levels
    worse, linear = rise(100, 0.2, 0.4) + jitter + levels, shape("linear", 100) + jitter + levels
    one_worse, one_wave = quiet.copy(), quiet.copy()
    one_worse[2] = worse[2]
    one_wave[2] += wave
    one_improves = shape("fast", 100) + jitter + levels
    one_improves[2] = linear[2]
    at_once = 0.2 + np.abs(t - 0.05) + levels
    at_once[:, 0] = 2.0
    yield {"valid_error": quiet, "train_loss": shape("linear", 100) + jitter}, {}
    yield {"valid_error": worse, "train_loss": worse}, {}
    yield {"valid_error": worse, "train_loss": losses}, {}
    yield {"valid_error": worse, "train_loss": losses}, {"scientific": {"dropout": [0.0, 0.5]}}
    yield {"valid_error": worse}, {}
    yield {"valid_error": one_worse, "train_loss": one_spikes}, {}
    yield {"valid_error": linear + wave, "train_loss": spiking, "learning_rate": steady}, {}
    yield {"valid_error": linear, "train_loss": bumpy, "learning_rate": falling}, {}
    yield {"valid_error": one_wave, "train_loss": worse, "learning_rate": growing}, {}
    yield {"valid_error": shape("fast", 100) + 0.1 * jitter, "learning_rate": steady}, {}
    yield {"valid_error": shape("fast", 100) + 0.1 * jitter + levels}, {"detect": 0.01}
    yield {"valid_error": rise(100, 0.3, 0.2) + levels}, {}
    yield {"valid_error": at_once}, {}
    yield {"valid_error": one_improves, "learning_rate": steady}, {}
    yield {"valid_error": quiet[:, :30], "train_loss": losses[:, :30]}, {}
    yield {"valid_error": linear[:, ::4], "train_loss": losses[:, ::4]}, {}
    yield {"valid_error": quiet[:, :12]}, {}
    yield {"valid_error": quiet[:3] + 6 * jitter[:3], "train_loss": losses[:3]}, {}
    yield {"valid_error": quiet[:, :24] + 10 * jitter[:, :24]}, {"objective": LAST}
    yield {"valid_error": np.ones((6, 50))}, {}
    yield {"valid_error": quiet * np.nan}, {}
    yield {"valid_error": quiet}, {"steps": np.cumsum(np.arange(100) ** 3 + 1)}
    yield {"train/loss": losses, "valid_error": quiet}, {"means": {"steps_per_epoch": 50}}
    yield {"valid_error": linear + wave}, {"means": {"steps_per_epoch": 50}}
    below = quiet.copy()
    below[7:] = rise(100, 0.5, 0.4) + levels[7:]
    yield {"valid_error": below, "train_loss": losses}, {}
    yield {"valid_error": linear, "train_loss": 2.3 - 0.5 * t + jitter, "learning_rate": steady}, {}
    jumping = shape("fast", 100) + 60 * jitter
    yield {"valid_error": shape("fast", 100) + 0.1 * jitter + levels, "train_loss": jumping}, {}


LAST = minimize("valid_error", at="last")


def spaces() -> Iterator[Results]:
    """Learning rates at and below a wall above which trials diverge."""
    for optimum, wall in ((0.75, 0.7), (0.1, 0.7), (0.5, 2.0)):
        round = Round(
            "r", goal="?", nuisance={"learning_rate": log(1e-4, 1e-1)}, trials_per_study=24
        )
        bowl = Bowl({"learning_rate": optimum})
        yield results(round, Walled(bowl, {"learning_rate": 1.0}, above=wall))
    other = Round("r", goal="?", nuisance={"lr": log(1e-4, 1e-1)}, trials_per_study=12)
    yield results(other, Bowl({"lr": 0.5}))
    for detect, sd in ((None, 0.5), (0.01, 0.5), (0.01, 1e-6)):
        measured = World(Bowl({"lr": 0.5}), measured_sd=sd, curve_sd=0.01)
        yield results(replace(other, detect=detect), measured)


@cache
def found() -> tuple[Finding, ...]:
    """What every question says about every world."""
    rates = [{"learning_rate": 0.1 * (k + 1)} for k in range(12)]
    worlds = [results_of(values, configurations=rates, **more) for values, more in curves()]
    return tuple(
        one for world in (*worlds, *spaces()) for question in QUESTIONS for one in question(world)
    )


@pytest.mark.parametrize("check", list(VERDICTS))
def test_every_verdict_has_a_headline_of_at_most_twelve_words(check: str) -> None:
    own = [one for one in found() if one.check == check]
    assert {one.verdict for one in own} == VERDICTS[check]
    for one in own:
        assert 1 <= len(one.headline.split()) <= MOST_WORDS, one.headline
        for line in (one.headline, *one.words.evidence):
            assert line and not set("{}") & set(line), line
        assert one.verdict != "warn" or one.actions
        assert one.verdict == "ok" or one.words.evidence
        assert one.section


def test_the_facts_are_plain_data() -> None:
    for one in found():
        data = one.to_data()
        assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_an_empty_round_is_answered_by_every_question_about_curves() -> None:
    nothing = results_of({"valid_error": [np.full(60, np.nan)] * 4})
    for question in QUESTIONS[1:]:
        answers = question(nothing)
        assert [one.evidence for one in answers] == [
            NotJudged(Message("judge.no_completed_trial"))
        ] * (question is not validation_size)


def test_every_action_reads_in_python_and_at_a_shell() -> None:
    actions: list[Action] = []
    actions += [a for one in found() for a in one.actions if a not in actions]
    assert len(actions) > 20
    for action in actions:
        for reader in ("python", "shell"):
            assert action.text_for(reader)
            assert isinstance(action.code_for(reader), str)
        assert "Workload(" not in action.shell_text


def test_every_sentence_of_the_catalogue_is_used() -> None:
    why = {one.evidence.why.code for one in found() if hasattr(one.evidence, "why")}
    # too few feasible trials next to diverged ones needs a world that the space checks have
    assert set(SENTENCES) - why <= {"judge.feasible_beside_diverged"}
    assert set(FINDINGS) == set(VERDICTS) <= set(en.CANNOT_JUDGE) & set(en.SECTIONS)
    advised = {getattr(a, "code", a.kind) for one in found() for a in one.actions}
    assert set(ACTIONS) - advised <= {"log_metric"}  # an objective that no trial logged


@pytest.mark.parametrize(
    ("because", "of_top", "flagged"),
    [("best", 1, [0]), ("best", 2, [0, 2]), ("one", 1, [3]), ("several", 2, [2, 4])],
)
def test_who_carries_a_verdict_is_named_by_number(because, of_top, flagged) -> None:
    facts = {
        "because": because,
        "flagged_of_top": of_top,
        "top": [{"trial": k} for k in range(5)],
        "flagged": [{"trial": k} for k in flagged],
        "flagged_trials": len(flagged),
        "judged": 16,
    }
    said = who(facts)
    named = because in ("best", "one")
    assert (str(flagged[0]) in said) == named or of_top == flagged[0]
    assert said != who({**facts, "because": "many"}) != who({**facts, "because": "median"})
