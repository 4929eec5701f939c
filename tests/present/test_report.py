"""A report of an imported adaptive study, and the page about reports as a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.pages import replayed

import tunewright as tw
from tunewright.present.report import Report, report
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial

SPACE = {"lr": tw.log(1e-5, 1e-1), "momentum": tw.linear(0, 1)}


def adaptive() -> Results:
    """A TPE study as an importer gives it: later trials crowd, bad ones are pruned, last value."""
    random = np.random.default_rng(1)
    round = tw.Round("tpe", goal="imported", nuisance=SPACE, trials_per_study=40)
    trials = []
    for number in range(40):
        spread = max(0.1, 0.4 - number / 60)
        unit = {n: float(np.clip(0.6 + spread * random.normal(), 0, 1)) for n in SPACE}
        value = 0.1 + 3 * (unit["lr"] - 0.6) ** 2 + 0.01 * random.normal()
        pruned = value > 0.3 and number > 10
        steps = np.arange(1, 4 if pruned else 11)
        curve = {"value": (steps, value + np.exp(-steps / 3.0))}
        trials.append(
            Trial(
                number=number,
                study=0,
                index=number,
                configuration=round.studies[0].configuration(unit),
                unit=unit,
                status="pruned" if pruned else "completed",
                curves=Curves([Batch(1, 0, pack(curve))]),
            )
        )
    made = Results.from_parts(round, tw.minimize("value", at="last"), trials)
    return replace(made, search="tpe", imported=True)


def drawn(made: Report) -> set[str]:
    return {figure.name for chapter in made.chapters for figure in chapter.figures}


def test_an_imported_adaptive_study_has_best_so_far_importance_and_pruned_trials() -> None:
    results = adaptive()
    assert results.counts["pruned"] > 0
    made = report(results)
    assert {"progress", "sensitivity", "axis", "pair", "curves"} <= drawn(made)
    missing = {chapter.kind for chapter in made.chapters if chapter.missing}
    assert {"best_step", "best_of_k", "isolation"} <= missing
    captions = {
        message.code
        for chapter in made.chapters
        for figure in chapter.figures
        for message in figure.caption
    }
    assert {"figure.axis.pruned", "figure.curves.pruned", "figure.progress.pruned"} <= captions
    assert "figure.sensitivity.adaptive" in captions
    assert made.answer.headline.code == "headline.best"
    assert made.html.count("<h1>") == 1


@pytest.mark.beyond_core
def test_the_page_about_reports_runs(tmp_path: Path) -> None:
    replayed("report.md", tmp_path, promises=2)
    assert (tmp_path / "depth.html").stat().st_size > 20_000
