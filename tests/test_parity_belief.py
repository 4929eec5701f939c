"""Two doors, one answer: a round file with a belief about the best value gives the same trials."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_parity import (
    INLINE,
    SPACE,
    Shell,
    doors as doors,
    made as made,
    same,
    shell as shell,
    workload,
)

import tunewright as tw
from tunewright.present import envelope as facts

pytestmark = pytest.mark.beyond_core


def test_a_round_file_with_a_belief(doors: tuple[Path, Path], shell: Shell) -> None:
    belief = ", around = 0.03, factor = 3 }"
    for folder in doors:
        text = SPACE.replace(" }", belief).replace("= 4", "= 8")
        (folder / "rounds" / "sure.toml").write_text(text)
    asked = tw.project.load().round("sure")
    results = tw.run(asked, workload(), search=tw.search.Bayesian())
    found = shell("run", "sure", "--search", "bayesian", *INLINE)
    same(facts.of_run(results, "finished", 0.0, 8), found)
    shown = shell("show", "sure")
    same(facts.of_round(results), shown)
    assert shown["round"]["nuisance"]["learning_rate"]["around"] == 0.03
    assert [t["configuration"] for t in shown["trials"]] == [
        dict(t.configuration) for t in results.trials
    ]
    for text in (shell("show", "sure", text=True), shell("run", "sure", "--dry-run", text=True)):
        assert str(asked.nuisance["learning_rate"].belief) in text
