"""Figures with captions: data first (tested, and free of matplotlib), drawing second.

`plots.axis(results)` and the others return a `Figure` with `.data`, `.says` and `.save(path)`.
"""

from __future__ import annotations

from tunewright.present.figures.axis import axis as axis
from tunewright.present.figures.batch_scaling import batch_scaling as batch_scaling
from tunewright.present.figures.best_of_k import best_of_k as best_of_k
from tunewright.present.figures.best_step import best_step as best_step
from tunewright.present.figures.curves import curves as curves
from tunewright.present.figures.figure import Figure as Figure
from tunewright.present.figures.gradient_norm import gradient_norm as gradient_norm
from tunewright.present.figures.isolation import isolation as isolation
from tunewright.present.figures.pair import pair as pair
from tunewright.present.figures.progress import progress as progress
from tunewright.present.figures.sensitivity import sensitivity as sensitivity
from tunewright.present.figures.steps_to_fit import steps_to_fit as steps_to_fit
from tunewright.present.figures.throughput import throughput as throughput

__all__ = [
    "Figure",
    "axis",
    "batch_scaling",
    "best_of_k",
    "best_step",
    "curves",
    "gradient_norm",
    "isolation",
    "pair",
    "progress",
    "sensitivity",
    "steps_to_fit",
    "throughput",
]
