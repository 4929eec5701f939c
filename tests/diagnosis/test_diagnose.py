"""A diagnosis speaks where a fault is planted, and is silent or content where none is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import tunewright as tw
from tunewright.diagnosis._limits import LIMITS
from tunewright.diagnosis.answer import QUESTIONS, Answer
from tunewright.errors import DesignError, NotFound
from tunewright.finding import NotJudged
from tunewright.messages import read_in
from tunewright.present.terminal.diagnosis_page import print_diagnosis


def falling(points: int = 200, noise: float = 0.01, seed: int = 0) -> np.ndarray:
    at = np.linspace(0, 1, points)
    return 0.3 + np.exp(-at / 0.1) + noise * np.random.default_rng(seed).normal(size=points)


def of(found: object, question: str) -> Answer:
    (answer,) = [one for one in found.answers if one.question == question]  # type: ignore[attr-defined]
    return answer


def test_a_sound_run_draws_no_warning() -> None:
    found = tw.diagnose({"train_loss": falling(), "val_loss": falling(seed=1) + 0.1})
    assert found.of("warn") == ()
    assert of(found, "saturated").verdict == "note"
    assert of(found, "overfitting").verdict == "ok"


@pytest.mark.parametrize("seed", range(5))
def test_overfitting_is_found_and_not_blamed_on_training(seed: int) -> None:
    rise = 0.4 * np.clip(np.linspace(-1, 1, 200), 0, None)
    valid = falling(seed=seed) + rise
    found = of(tw.diagnose({"train_loss": falling(seed=9), "val_loss": valid}), "overfitting")
    assert found.verdict == "warn"
    assert found.error_rate is not None and found.error_rate.false_alarms <= 0.05
    both = tw.diagnose({"train_loss": falling(seed=9) + rise, "val_loss": valid})
    assert of(both, "overfitting").verdict == "ok"
    assert of(both, "training_bug").verdict == "warn"


def test_a_score_is_turned_around() -> None:
    found = tw.diagnose({"val_acc": 1 - falling()})
    assert of(found, "overfitting").verdict == "ok"
    assert of(found, "saturated").verdict == "note"
    worse = {"quality": 1 - falling() - np.clip(np.linspace(-1, 1, 200), 0, None)}
    named = tw.diagnose(worse, roles={"valid": "quality"}, maximize=["quality"])
    assert of(named, "overfitting").verdict == "warn"


def test_nan_is_divergence_and_hides_the_rest() -> None:
    values = falling()
    values[150:] = np.nan
    found = tw.diagnose({"train_loss": values})
    answer = of(found, "diverged")
    assert answer.verdict == "warn" and answer.evidence.at_step == 151  # type: ignore[attr-defined]
    assert of(found, "still_improving").verdict == "cannot_judge"


def test_spikes_periods_and_noise() -> None:
    spiked = falling()
    spiked[120:124] *= 3
    assert of(tw.diagnose({"loss": spiked}), "spikes").verdict == "warn"
    cycle = falling() + 0.05 * np.sin(np.arange(200) * 2 * np.pi / 10)
    found = of(tw.diagnose({"val_loss": cycle}), "periodicity")
    assert found.verdict == "warn"
    assert found.evidence.value == pytest.approx(10, rel=0.1)  # type: ignore[attr-defined]
    assert of(tw.diagnose({"val_loss": falling(noise=0.3)}), "noise").verdict == "note"


def test_raw_losses_of_every_step_are_smoothed() -> None:
    """20,000 noisy steps: no point is precise, yet the trend is plain."""
    values = falling(20_000, noise=0.5)
    rise = 0.5 * np.clip(np.linspace(-1, 1, 20_000), 0, None)
    assert of(tw.diagnose({"train_loss": values}), "training_bug").verdict == "ok"
    assert of(tw.diagnose({"train_loss": values + rise}), "training_bug").verdict == "warn"


def test_nothing_learned_and_the_gradient() -> None:
    random = np.random.default_rng(3)
    flat = 2.3 + 0.01 * random.normal(size=100)
    norm = 10 ** (np.linspace(0, 4, 100) + 0.1 * random.normal(size=100))
    found = tw.diagnose({"train_loss": flat, "grad_norm": norm})
    assert of(found, "learned").verdict == "warn"
    assert of(found, "gradient_norm").verdict == "warn"


def test_cannot_judge_states_why() -> None:
    found = of(tw.diagnose({"val_loss": [3.0, 2.0, 1.0]}), "overfitting")
    assert found.verdict == "cannot_judge" and isinstance(found.evidence, NotJudged)
    assert found.evidence.why.code == "diagnosis.few_points"
    assert found.evidence.why.facts["points"] == 3
    missing = of(tw.diagnose({"val_loss": falling()}), "gradient_norm")
    assert missing.evidence.why.code == "diagnosis.not_logged"  # type: ignore[attr-defined]
    assert missing.error_rate is None


def test_every_answer_has_words_and_facts() -> None:
    values = falling()
    values[100:104] *= 4
    rates = np.full(200, 0.1)
    curves = {"train_loss": values, "val_loss": falling(), "lr": rates, "grad_norm": rates}
    found = tw.diagnose(curves)
    assert [one.question for one in found.answers] == list(QUESTIONS)
    for one in found.answers:
        assert 1 <= len(str(one.words.headline).split()) <= 12
        assert one.words.evidence
        for action in one.actions:
            assert str(action.text)
    assert json.loads(json.dumps(found.to_data()))["verdict"] == "warn"
    assert "warn" in repr(found)


def test_error_rates_are_those_of_enough_curves() -> None:
    for limits in LIMITS.values():
        assert limits.rate is not None and limits.rate.curves >= 50
        assert limits.no <= limits.yes


@pytest.mark.parametrize(
    ("source", "options", "code"),
    [
        ({"loss": [1.0]}, {"roles": {"validation": "loss"}}, "diagnosis.unknown_role"),
        ({"loss": [1.0]}, {"roles": {"valid": "val"}}, "diagnosis.no_such_metric"),
        ({"loss": ["a"]}, {}, "diagnosis.not_numbers"),
        ({"loss": ([1, 2, 3], [1.0])}, {}, "diagnosis.unequal_lengths"),
        ({}, {}, "diagnosis.no_curves"),
    ],
)
def test_bad_input_is_refused(source: object, options: dict, code: str) -> None:
    with pytest.raises(DesignError) as refused:
        tw.diagnose(source, **options)  # type: ignore[arg-type]
    assert refused.value.code == code
    assert str(refused.value)


def test_a_run_is_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    lines = [f"{run},{k},{1 / (k + 1)}" for run in "ab" for k in range(30)]
    path.write_text("\n".join(["run,step,val_loss", *lines]))
    assert [one.name for one in tw.diagnose(path).runs] == ["a", "b"]
    assert [one.name for one in tw.diagnose(path, run="b").runs] == ["b"]
    with pytest.raises(DesignError, match="no run 'c'"):
        tw.diagnose(path, run="c")
    with pytest.raises(NotFound):
        tw.diagnose(tmp_path / "nothing.csv")


def test_the_page_names_verdicts_in_the_chosen_language() -> None:
    rise = 0.4 * np.clip(np.linspace(-1, 1, 200), 0, None)
    found = tw.diagnose({"train_loss": falling(seed=9), "val_loss": falling() + rise})
    console = Console(width=100)
    with console.capture() as english:
        print_diagnosis(found, console, everything=True)
    with read_in("zh"), console.capture() as chinese:
        print_diagnosis(found, console, everything=True)
    assert "  warn          overfitting: " in english.get()
    assert "  警告          overfitting: " in chinese.get()
    assert "  warn " not in chinese.get()
