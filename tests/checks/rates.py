"""Whether a simulated rate agrees with a published one, as far as chance allows."""

from __future__ import annotations

import math


def agrees(flagged: int, curves: int, published: float, slack: float = 0.02) -> bool:
    """Within 3.3 standard errors of both simulations (the published one had 400 curves).

    The slack covers that the published worlds are known in words, not to the last constant.
    """
    p = min(max(published, 0.005), 0.995)
    error = math.sqrt(p * (1 - p) * (1 / curves + 1 / 400))
    return abs(flagged / curves - published) <= 3.3 * error + slack


def at_most(flagged: int, curves: int, rate: float) -> bool:
    """Not surely above a rate: within 3.3 standard errors of it."""
    return flagged <= curves * rate + 3.3 * math.sqrt(curves * rate * (1 - rate)) + 1
