"""Figures with captions: data first (tested, and free of matplotlib), drawing second.

`plots.axis(results)` and the others return a `Figure` with `.data`, `.says` and `.save(path)`.
"""

from __future__ import annotations

from tunewright.present.figures.axis import axis as axis
from tunewright.present.figures.curves import curves as curves, gradient_norm as gradient_norm
from tunewright.present.figures.figure import Figure as Figure
from tunewright.present.figures.isolation import isolation as isolation
from tunewright.present.figures.probe_plots import (
    batch_scaling as batch_scaling,
    steps_to_fit as steps_to_fit,
    throughput as throughput,
)
from tunewright.present.figures.progress import (
    best_of_k as best_of_k,
    best_step as best_step,
    progress as progress,
)
from tunewright.present.figures.sensitivity import pair as pair, sensitivity as sensitivity

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
