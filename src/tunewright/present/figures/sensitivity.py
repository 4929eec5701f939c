"""Which hyperparameters decide about a good result? Their shares of importance, with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tunewright.checks.sensitivity import (
    Importance,
    SensitivityEvidence,
    sensitivity as ask_sensitivity,
)
from tunewright.finding import Finding, NotJudged
from tunewright.messages import Message
from tunewright.present.figures.figure import Figure, nothing
from tunewright.present.figures.palette import FAINT, GRID, colour
from tunewright.present.figures.ticks import label_of
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

STUDIES = 4  # drawn side by side
MOST = 12  # hyperparameters drawn of a study


@dataclass(frozen=True)
class StudySensitivity:
    """One study: its hyperparameters, the most important first."""

    study: str
    trials: int  # feasible ones
    importances: tuple[Importance, ...]
    interactions: tuple[tuple[str, str], ...]  # pairs that act together


@dataclass(frozen=True)
class SensitivityData:
    """Every study that has enough trials, or why none has."""

    studies: tuple[StudySensitivity, ...]
    reason: Message | None = None  # why nothing can be shown


def sensitivity(
    results: Results, findings: Iterable[Finding] | None = None
) -> Figure[SensitivityData]:
    """The importance of each hyperparameter; `findings` saves asking the question again."""
    data = sensitivity_data(results, findings)
    rows = max((min(MOST, len(s.importances)) for s in data.studies), default=2)
    across = min(max(len(data.studies), 1), STUDIES)
    size = (2.2 + max(2.4 * across, 3.4), 1.1 + 0.32 * max(rows, 2) if data.studies else 0.8)
    return Figure("sensitivity", data, _says(data), size, drawing=draw_sensitivity)


def sensitivity_data(
    results: Results, findings: Iterable[Finding] | None = None
) -> SensitivityData:
    """What the figure shows: the evidence of the check of the same name."""
    asked = ask_sensitivity(results) if findings is None else findings
    own = [finding for finding in asked if finding.check == "sensitivity"]
    studies = tuple(
        StudySensitivity(
            finding.about,
            seen.feasible,
            seen.importances,
            tuple(pair.names for pair in seen.interactions or ()),
        )
        for finding in own
        if isinstance(seen := finding.evidence, SensitivityEvidence)
    )
    unjudged = [f.evidence.why for f in own if isinstance(f.evidence, NotJudged)]
    return SensitivityData(studies, None if studies or not unjudged else unjudged[0])


def _says(data: SensitivityData) -> str:
    if not data.studies:
        return f"Which hyperparameters matter cannot be judged: {data.reason or 'no trials'}."
    said = []
    for study in data.studies:
        matter = [f"{one.name} ({one.share:.0%})" for one in study.importances if one.matters]
        words = f"{', '.join(matter)} decide" if matter else "none is seen to matter"
        together = "".join(f"; {a} and {b} act together" for a, b in study.interactions[:2])
        said.append(f"{study.study}, {study.trials} trials: {words}{together}.")
    if len(data.studies) > STUDIES:
        said.append(f"The first {STUDIES} are drawn.")
    return (
        "How much each hyperparameter decides about being among the best quarter of the trials, "
        f"as a share of all, with 90 % intervals. {' '.join(said)}"
    )


def draw_sensitivity(canvas: Canvas, data: SensitivityData) -> None:
    """Draw a bar for each hyperparameter: coloured where it is seen to matter, grey where not."""
    shown = data.studies[:STUDIES]
    # every study in the order of the first, so that a row is one hyperparameter
    names = list(dict.fromkeys(one.name for study in shown for one in study.importances))[:MOST]
    grid = canvas.subplots(1, max(1, len(shown)), sharey=True, sharex=True, squeeze=False)[0]
    for axes, study in zip(grid, shown, strict=False):
        for one in study.importances:
            if one.name not in names:
                continue
            row = names.index(one.name)
            shade = colour(0) if one.matters else FAINT
            axes.barh(row, one.share, height=0.62, color=shade)
            axes.plot(one.interval, [row, row], color="#333333", linewidth=1.2)
        axes.set_title(label_of(study.study, 30), loc="left")
        axes.set_xlabel("share of importance")
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        axes.grid(True, axis="x", color=GRID, linewidth=0.6)
    grid[0].set_yticks(range(len(names)), [label_of(name, 30) for name in names])
    grid[0].set_ylim(max(len(names), 1) - 0.4, -0.6)
    if not shown:
        nothing(grid[0], "cannot be judged yet")
