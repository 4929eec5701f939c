"""How soon does each constant learning rate fit the training data? The sweep of probes.train_steps.

Learning rates that did not fit stand on a rail above, infeasible ones as an X above that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tunewright.messages import Message
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.palette import ACCENT, BEST, EDGE, FAINT, GRID, INFEASIBLE
from tunewright.present.figures.scale import set_scale
from tunewright.present.figures.ticks import label_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


class Rate(Protocol):
    """One learning rate of the sweep."""

    @property
    def learning_rate(self) -> float:
        """The learning rate."""
        ...

    @property
    def outcome(self) -> str:
        """`fits`, `does not fit` or `infeasible`."""
        ...

    @property
    def steps(self) -> float | None:
        """When it first fits."""
        ...


class Sweep(Protocol):
    """What the probe answers, as far as it is drawn."""

    @property
    def rates(self) -> Sequence[Rate]:
        """The whole sweep, by learning rate."""
        ...

    @property
    def learning_rate(self) -> float | None:
        """The one that fits first."""
        ...

    @property
    def max_train_steps(self) -> int | None:
        """What is proposed."""
        ...

    @property
    def criterion(self) -> object:
        """What counts as a fit; `str` gives it in words."""
        ...


@dataclass(frozen=True)
class StepsToFitData:
    """Each learning rate with its steps, those that do not fit, and those that diverge."""

    criterion: str
    fits: tuple[tuple[float, float], ...]  # learning rate, steps
    too_slow: tuple[float, ...]  # learning rates
    infeasible: tuple[float, ...]
    fastest: float | None
    proposed: int | None  # max_train_steps


def steps_to_fit(answer: Sweep) -> Figure[StepsToFitData]:
    """Steps to a perfect fit by learning rate, as `probes.train_steps` found them.

    Args:
        answer: of `tw.probes.train_steps`.
    """
    data = steps_to_fit_data(answer)
    return Figure("steps_to_fit", data, caption=_caption(data), drawing=draw_steps_to_fit)


def steps_to_fit_data(answer: Sweep) -> StepsToFitData:
    """What the figure shows."""
    return StepsToFitData(
        str(answer.criterion),
        tuple((r.learning_rate, r.steps) for r in answer.rates if r.steps is not None),
        tuple(r.learning_rate for r in answer.rates if r.outcome == "does not fit"),
        tuple(r.learning_rate for r in answer.rates if r.outcome == "infeasible"),
        answer.learning_rate,
        answer.max_train_steps,
    )


def _caption(data: StepsToFitData) -> tuple[Message, ...]:
    facts = {
        "criterion": data.criterion,
        "tried": len(data.fits) + len(data.too_slow) + len(data.infeasible),
        "fit": len(data.fits),
        "infeasible": len(data.infeasible),
        "fastest": data.fastest,
        "steps": min((steps for _, steps in data.fits), default=None),
    }
    return (Message("figure.steps_to_fit", facts),)


def draw_steps_to_fit(canvas: Canvas, data: StepsToFitData) -> None:
    """Draw the learning rates along a logarithmic axis, with two rails above."""
    axes = canvas.subplots()
    rates = [r for r, _ in data.fits] + [*data.too_slow, *data.infeasible]
    if not rates:
        nothing(axes, words_of("steps_to_fit.empty"))
        return
    if data.fits:
        x, y = zip(*data.fits, strict=True)
        axes.plot(x, y, color=FAINT, linewidth=1.0, zorder=1)
        axes.scatter(x, y, color=EDGE, s=34, zorder=3, label=words_of("label.fits"))
        best = [point for point in data.fits if point[0] == data.fastest]
        for rate, steps in best:
            axes.scatter(rate, steps, s=120, facecolor="none", edgecolor=BEST, linewidth=1.3)
    rail = axes.get_xaxis_transform()
    kinds = (
        (data.too_slow, "^", EDGE, 0.88, "too_slow"),
        (data.infeasible, "x", INFEASIBLE, 0.96, "infeasible"),
    )
    for own, marker, tint, height, code in kinds:
        if own:
            where, label = [height] * len(own), words_of(f"label.{code}")
            axes.scatter(own, where, marker=marker, color=tint, s=34, transform=rail, label=label)
    if data.proposed is not None:
        axes.axhline(data.proposed, color=ACCENT, linewidth=1.0, linestyle="--", zorder=2)
        axes.annotate(
            f"max_train_steps = {data.proposed}",
            (0.01, data.proposed),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            color=ACCENT,
            fontsize=8,
        )
    set_scale(axes, "x", rates)
    heights = [steps for _, steps in data.fits]
    if not heights:
        axes.set_yticks([])
    elif set_scale(axes, "y", heights):
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** 0.2)  # room for the rails
    else:
        axes.set_ylim(0, 1.3 * max(*heights, data.proposed or 0))
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_xlabel(words_of("label.constant_rate"))
    axes.set_ylabel(words_of("label.steps_to_fit"))
    axes.set_title(label_of(data.criterion, 60), loc="left")
    above(canvas)
