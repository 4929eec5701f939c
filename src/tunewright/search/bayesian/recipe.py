"""What can be exchanged in the Bayesian search; the defaults are those ahead in the ablation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Recipe:
    """How the model is made and asked; docs/methods_search.md has what each part is worth."""

    kernel: Literal["matern", "gaussian"] = "matern"
    halves: bool = True  # the worse half of the values keeps its order alone
    bend: float = 0.5  # how much steeper the good end is made than the bad one, by a logarithm
    diverged: Literal["worst", "model", "dropped"] = "worst"  # value given, own model, or nothing
    level: float = 1.0  # "worst": which quantile of the feasible values a diverged trial gets
    softness: float = 0.0  # variance of the value of a diverged trial, beside the noise
    acquisition: Literal["improvement", "bound"] = "improvement"
    waiting: Literal["believed", "ignored"] = "believed"  # trials without an outcome yet
    length: float = -1.6  # logarithm of the length scale expected in one dimension
    first: int = 0  # quasi-random trials before the model is asked; 0: by the number of dimensions
    mean: Literal["average", "fitted"] = "fitted"  # what is expected far from all data
    # weight of the user's beliefs after 10 outcomes, times 10; it falls with their square; 0: none
    belief: float = 3.0
    # noise's share in the variance of plain values from which a study without divergence is noisy:
    # the model then sees plain values around their average; 0: never
    noisy: float = 0.005
    noisy_after: int = 20  # outcomes before that is asked
    surely: float = 0.01  # share from which single suggestions are by the bound
