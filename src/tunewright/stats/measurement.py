"""How far measurement on finitely many examples moves the difference of two trials.

Trials that are evaluated on the same examples share most of their measurement error: an example
that is hard for one is hard for the other. Between two of the better half of 24 networks on 10,000
examples of Fashion-MNIST, 0.79 of the variance of an error rate was shared (80 % of the pairs: 0.76
to 0.85), and 0.92 of that of a loss (0.90 to 0.96; bench/results/shared_examples.jsonl). The
smaller figure counts, rounded down. Neighbouring evaluations of one trial share 0.88 (0.78 to 0.96
of 144). Where every trial has other examples nothing is shared;
then this is a lower bound of the noise.
"""

from __future__ import annotations

import math

SHARED = 0.75  # of the variance of a measurement, between two trials on the same examples
NEIGHBOURS = 0.88  # the same between neighbouring evaluations of one trial


def own_sd(sd: float) -> float:
    """The part of a measurement's standard deviation that trials do not share.

    >>> own_sd(0.004)
    0.002
    """
    return math.sqrt(1 - SHARED) * sd


def sd_of_difference(sd: float, other_sd: float) -> float:
    """The standard deviation of the difference of two trials, from those of their values.

    >>> round(sd_of_difference(0.004, 0.004), 5)
    0.00283
    """
    return math.hypot(own_sd(sd), own_sd(other_sd))


def examples_for(examples: int, sd: float, wanted: float) -> int:
    """How many examples give this standard deviation instead of `sd`; two significant digits.

    >>> examples_for(1000, 0.004, 0.001)
    16000
    """
    needed = examples * (sd / wanted) ** 2
    size = int(10 ** max(0, math.floor(math.log10(max(needed, 1.0))) - 1))
    return math.ceil(round(needed / size, 6)) * size
