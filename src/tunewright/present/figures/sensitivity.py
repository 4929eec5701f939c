"""Which hyperparameters decide about a good result? Their shares of importance, with intervals.

The method is that of the check of the same name. The check leaves out trials of an adaptive search,
because they crowd where results are good; where nothing else is left, the figure uses them, with a
note.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tunewright.checks.positions import settled
from tunewright.checks.sensitivity import (
    Importance,
    SensitivityEvidence,
    sensitivity as ask_sensitivity,
)
from tunewright.finding import Finding, NotJudged
from tunewright.messages import Message
from tunewright.present.figures.figure import DOUBLE, HEIGHT, SINGLE, Figure, nothing, words_of
from tunewright.present.figures.palette import ACCENT, FAINT, GRID, MUTED
from tunewright.present.figures.ticks import label_of
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

STUDIES = 4  # drawn side by side
MOST = 12  # hyperparameters drawn of a study


@dataclass(frozen=True)
class StudySensitivity:
    """One study: its hyperparameters, the most important first, conditional ones last."""

    study: str
    trials: int  # feasible ones
    importances: tuple[Importance, ...]
    interactions: tuple[tuple[str, str], ...]  # pairs that act together
    conditional: tuple[str, ...] = ()  # those weighed among the trials that have them

    @property
    def ordered(self) -> tuple[str, ...]:
        """The names, the most important first; those that matter before all others."""
        ranked = sorted(self.importances, key=lambda one: (not one.matters, -one.share))
        return tuple(one.name for one in ranked)


@dataclass(frozen=True)
class SensitivityData:
    """Every study that has enough trials, or why none has."""

    studies: tuple[StudySensitivity, ...]
    reason: Message | None = None  # why nothing can be shown
    adaptive: int = 0  # trials of an adaptive search that it rests on


def sensitivity(
    results: Results, findings: Iterable[Finding] | None = None
) -> Figure[SensitivityData]:
    """The importance of each hyperparameter; `findings` saves asking the question again.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        findings: those of `tw.check(results)`; None: the question is asked again.
    """
    data = sensitivity_data(results, findings)
    rows = max((min(MOST, len(s.importances)) for s in data.studies), default=2)
    size = (SINGLE if len(data.studies) <= 2 else DOUBLE, max(HEIGHT, 1.2 + 0.34 * rows))
    goal = str(results.round.goal)
    return Figure(
        "sensitivity", data, caption=_caption(data), size=size, goal=goal, drawing=draw_sensitivity
    )


def sensitivity_data(
    results: Results, findings: Iterable[Finding] | None = None
) -> SensitivityData:
    """What the figure shows: the evidence of the check of the same name."""
    asked = ask_sensitivity(results) if findings is None else findings
    own = [finding for finding in asked if finding.check == "sensitivity"]
    studies = _weighed(own)
    adaptive = sum(study.adaptive for study in settled(results))
    if not studies and adaptive:
        studies = _weighed(ask_sensitivity(_as_laid_out(results)))
        if studies:
            return SensitivityData(studies, adaptive=adaptive)
    unjudged = [f.evidence.why for f in own if isinstance(f.evidence, NotJudged)]
    return SensitivityData(studies, None if studies or not unjudged else unjudged[0])


def _weighed(findings: Iterable[Finding]) -> tuple[StudySensitivity, ...]:
    return tuple(
        StudySensitivity(
            finding.about,
            seen.feasible,
            (*seen.importances, *seen.conditional),
            tuple(pair.names for pair in seen.interactions or ()),
            tuple(one.name for one in seen.conditional),
        )
        for finding in findings
        if isinstance(seen := finding.evidence, SensitivityEvidence)
    )


def _as_laid_out(results: Results) -> Results:
    """The same results with every trial counted, whatever search suggested it."""
    trials = tuple(replace(trial, search="") for trial in results.recorded)
    return replace(results, search="", recorded=trials)


def _caption(data: SensitivityData) -> tuple[Message, ...]:
    if not data.studies:
        return (Message("figure.sensitivity.nothing", {"why": data.reason}),)
    said = [Message("figure.sensitivity")]
    for study in data.studies:
        facts = {
            "study": study.study,
            "trials": study.trials,
            "matter": {one.name: one.share for one in study.importances if one.matters},
            "together": [list(pair) for pair in study.interactions[:2]],
        }
        said.append(Message("figure.sensitivity.study", facts))
    if any(study.conditional for study in data.studies):
        said.append(Message("figure.sensitivity.conditional"))
    if data.adaptive:
        said.append(Message("figure.sensitivity.adaptive", {"adaptive": data.adaptive}))
    if len(data.studies) > STUDIES:
        said.append(Message("figure.sensitivity.left_out", {"studies": STUDIES}))
    return tuple(said)


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
            tint = ACCENT if one.matters else FAINT
            axes.barh(row, one.share, height=0.62, color=tint)
            axes.plot(one.interval, [row, row], color=MUTED, linewidth=1.2)
        axes.set_title(label_of(study.study, 30), loc="left")
        axes.set_xlabel(words_of("label.share"))
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        axes.grid(True, axis="x", color=GRID, linewidth=0.6)
    starred = {name for study in shown for name in study.conditional}
    labels = [label_of(name, 30) + ("*" if name in starred else "") for name in names]
    grid[0].set_yticks(range(len(names)), labels)
    grid[0].set_ylim(max(len(names), 1) - 0.4, -0.6)
    if not shown:
        nothing(grid[0], words_of("sensitivity.empty"))
