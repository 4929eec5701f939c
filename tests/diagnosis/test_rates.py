"""The error rates that answers state are those of the committed benchmark, on its held half."""

from __future__ import annotations

import json
from pathlib import Path

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
