"""Standard functions, feasible everywhere, in units of their own; optima are moved off the centre.

Unmoved, Ackley, Griewank and Rastrigin have theirs in the middle of the box, which a search that
starts there finds for free.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import tunewright as tw

from .problem import Configuration, Problem


def branin(x: Sequence[float]) -> float:
    a, b = x
    curve = b - 5.1 * a**2 / (4 * math.pi**2) + 5 * a / math.pi - 6
    return curve**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10


def six_hump_camel(x: Sequence[float]) -> float:
    a, b = x
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def rosenbrock(x: Sequence[float]) -> float:
    return sum(100 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x))


def ackley(x: Sequence[float]) -> float:
    radius = math.sqrt(sum(v * v for v in x) / len(x))
    waves = sum(math.cos(2 * math.pi * v) for v in x) / len(x)
    return -20 * math.exp(-0.2 * radius) - math.exp(waves) + 20 + math.e


def levy(x: Sequence[float]) -> float:
    w = [1 + (v - 1) / 4 for v in x]
    middle = sum((v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1])
    end = (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    return math.sin(math.pi * w[0]) ** 2 + middle + end


def styblinski_tang(x: Sequence[float]) -> float:
    return sum(v**4 - 16 * v**2 + 5 * v for v in x) / 2


def rastrigin(x: Sequence[float]) -> float:
    return sum(v * v - 10 * math.cos(2 * math.pi * v) + 10 for v in x)


def griewank(x: Sequence[float]) -> float:
    waves = math.prod(math.cos(v / math.sqrt(i)) for i, v in enumerate(x, 1))
    return sum(v * v for v in x) / 4000 - waves + 1


def michalewicz(x: Sequence[float]) -> float:
    """Valleys as steep as 2 * 3 makes them: the usual 2 * 10 leaves next to all of it flat."""
    return -sum(math.sin(v) * math.sin(i * v * v / math.pi) ** 6 for i, v in enumerate(x, 1))


_WEIGHTS = (1.0, 1.2, 3.0, 3.2)
_HARTMANN_3 = (
    ((3, 10, 30), (0.3689, 0.1170, 0.2673)),
    ((0.1, 10, 35), (0.4699, 0.4387, 0.7470)),
    ((3, 10, 30), (0.1091, 0.8732, 0.5547)),
    ((0.1, 10, 35), (0.0381, 0.5743, 0.8828)),
)
_HARTMANN_6 = (
    ((10, 3, 17, 3.5, 1.7, 8), (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886)),
    ((0.05, 10, 17, 0.1, 8, 14), (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991)),
    ((3, 3.5, 1.7, 10, 17, 8), (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650)),
    ((17, 8, 0.05, 10, 0.1, 14), (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381)),
)


def hartmann(x: Sequence[float]) -> float:
    total = 0.0
    wells = _HARTMANN_3 if len(x) == 3 else _HARTMANN_6
    for weight, (steep, place) in zip(_WEIGHTS, wells, strict=True):
        squares = sum(a * (v - p) ** 2 for a, v, p in zip(steep, x, place, strict=True))
        total -= weight * math.exp(-squares)
    return total


def _standard(
    name: str,
    function: Callable[[Sequence[float]], float],
    *bounds: tuple[float, float],
    noise: float = 0.0,
    best: float | None = None,
) -> Problem:
    """On x0, x1, ...; `best` is the coordinate of an optimum on the diagonal."""

    def truth(configuration: Configuration) -> float:
        return function([float(configuration[f"x{i}"]) for i in range(len(bounds))])  # type: ignore[arg-type]

    ranges = {f"x{i}": tw.linear(low, high) for i, (low, high) in enumerate(bounds)}
    place = None if best is None else dict.fromkeys(ranges, best)
    return Problem(name, "feasible", ranges, truth, noise=noise, best=place)


STANDARD = (
    _standard("branin", branin, (-5, 10), (0, 15)),
    _standard("rosenbrock_4", rosenbrock, *[(-2.048, 2.048)] * 4, best=1.0),
    _standard("hartmann_6", hartmann, *[(0, 1)] * 6),
    _standard("hartmann_6_noisy", hartmann, *[(0, 1)] * 6, noise=0.05),
    _standard("rosenbrock_4_noisy", rosenbrock, *[(-2.048, 2.048)] * 4, noise=0.02, best=1.0),
    _standard("rastrigin_3", rastrigin, (-1.5, 3.0), (-3.5, 1.0), (-2.6, 1.9), best=0.0),
    _standard(
        "griewank_5", griewank, *[(-40, 25), (-20, 45), (-35, 30), (-28, 37), (-45, 20)], best=0.0
    ),
    _standard("michalewicz_5", michalewicz, *[(0, math.pi)] * 5),
    _standard("six_hump_camel", six_hump_camel, (-3, 3), (-2, 2)),
    _standard("hartmann_3_noisy", hartmann, *[(0, 1)] * 3, noise=0.02),
    _standard("ackley_5", ackley, (-10, 22), (-20, 12), (-12, 20), (-24, 8), (-6, 26), best=0.0),
    _standard("levy_4", levy, *[(-10, 6)] * 4, best=1.0),
    _standard("styblinski_tang_5", styblinski_tang, *[(-5, 5)] * 5, best=-2.903534),
)
