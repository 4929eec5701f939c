"""The error rates that answers state are those of the committed benchmark, on its held half."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

import tunewright as tw
from tunewright.diagnosis._cycle import strongest_cycle
from tunewright.diagnosis._limits import LIMITS
from tunewright.diagnosis.answer import QUESTIONS

ROOT = Path(__file__).parents[2]
LINES = ROOT / "bench" / "results" / "diagnose.jsonl"


def measured() -> dict[str, dict[str, float]]:
    """The line of each question over all sets, of the half that tuned nothing."""
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    return {one["question"]: one for one in lines if one["set"] == "all" and one["held"]}


def test_every_stated_rate_is_the_measured_one() -> None:
    own = measured()
    assert set(LIMITS) == set(QUESTIONS) <= set(own)
    for question, limits in LIMITS.items():
        line, rate = own[question], limits.rate
        assert rate is not None
        assert abs(rate.false_alarms - line["false_alarms"]) < 0.0006, question
        assert abs(rate.power - line["power"]) < 0.0006, question
        assert rate.curves == line["no"] + line["yes"], question


def test_the_page_states_them_too() -> None:
    page = (ROOT / "docs" / "diagnose.md").read_text(encoding="utf-8")
    for question, line in measured().items():
        rows = [row for row in page.splitlines() if row.startswith(f"| {question} |")]
        if question in QUESTIONS:
            (row,) = rows
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            shown = {round(100 * line["false_alarms"], 1), f"0 of {line['no']}"}
            assert cells[3] in {f"{one} %" if isinstance(one, float) else one for one in shown}
            assert abs(float(cells[5].split()[0]) - 100 * line["silent"]) < 0.6, question


def test_noise_without_a_cycle_draws_few_warnings() -> None:
    """The planted curves of the benchmark have short memory; noise of a slow one has a long one."""
    for correlation in (-0.3, 0.0, 0.4, 0.8, 0.95):
        chances = [_noise_alone(seed, correlation) for seed in range(100)]
        warned = sum(
            -math.log10(max(chance, 1e-30)) >= LIMITS["periodicity"].yes for chance in chances
        )
        assert warned <= 10, (correlation, warned)  # 1 to 6 % over 900 curves each


def _noise_alone(seed: int, correlation: float) -> float:
    random = np.random.default_rng(seed)
    noise = lfilter([1.0], [1.0, -correlation], random.normal(size=300))[200 - seed % 100 :]
    cycle = strongest_cycle(5 * np.exp(-np.linspace(0, 10, len(noise))) + 0.1 * noise)
    assert cycle is not None
    return cycle.chance


def test_a_curve_that_moves_by_rounding_alone_has_no_verdict() -> None:
    values = 3.0 + 1e-13 * np.sin(np.arange(100))
    assert strongest_cycle(values) is None
    (answer,) = [
        one for one in tw.diagnose({"val_loss": values}).answers if one.question == "periodicity"
    ]
    assert answer.verdict == "cannot_judge"
