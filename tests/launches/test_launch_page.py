"""The page about launching: its example runs, and its thresholds are the product's."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from tunewright.launches.launch import FIVE_LOOKS, TWO_LOOKS, fixed

PAGE = Path(__file__).parents[2] / "docs" / "launch.md"


def test_the_example_runs(tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    printed = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(printed):
        exec(compile(example, "docs/launch.md", "exec"), {"__name__": "launch_page"})
    assert "holds for" not in printed.getvalue()  # nothing is fixed there
    assert re.search(r"^(Launch|Undecided|Keep)", printed.getvalue())
    assert "launch.probability" in printed.getvalue()
    assert "study" in printed.getvalue()


def test_the_thresholds_are_the_ones_used():
    page = PAGE.read_text(encoding="utf-8")
    for plan in (fixed(5), fixed(1), FIVE_LOOKS, TWO_LOOKS):
        shown = [
            f"{100 * plan.threshold(claim, not_worse=False):g} %"
            for claim in ("feature", "hyperparameters")
        ]
        assert f"| {shown[0]} | {shown[1]} |" in page
    for candidates in (2, 3, 5):
        sure = fixed(5).threshold("feature", not_worse=False, candidates=candidates)
        assert f"{100 * sure:g}" in page
