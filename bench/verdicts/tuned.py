"""`believe` and its "saturated": how far from the optimum is the study when it is reported?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tunewright.design.ranges import linear
from tunewright.design.round import Round
from tunewright.search.bayesian.belief import believe
from tunewright.testing.worlds import World, results
from verdicts.worlds import Half, seeds

WIDTHS = {"basin of 0.1": 0.1, "basin of 0.2": 0.2, "basin of 0.3": 0.3, "bowl": None}
FAR = 3.0  # times the worthwhile gain: further from the optimum than that is wrong


def tuned_cells(half: Half, studies: int) -> Iterator[dict[str, Any]]:
    """Quasi-random rounds of 24 and 60 trials in three dimensions; with and without `detect`."""
    for name, width in WIDTHS.items():
        for trials in (24, 60):
            for detect in (None, 0.05):
                own = {"reported": 0, "wrong": 0, "at optimum": 0, "rounds": 0}
                for seed in seeds(half, max(4, studies // 8)):
                    random = np.random.default_rng([seed, trials])
                    surface = _basin(random.uniform(0.15, 0.85, 3), width)
                    round = Round(
                        "r",
                        goal="?",
                        nuisance={f"a{n}": linear(0.0, 1.0) for n in range(3)},
                        trials_per_study=trials,
                        seed=seed,
                        detect=detect,
                    )
                    (belief,) = believe(results(round, World(surface, noise_sd=0.02, seed=seed)))
                    assert belief.recommended is not None and belief.worthwhile is not None
                    missing = surface(belief.recommended.unit) - 0.2
                    own["rounds"] += 1
                    own["at optimum"] += missing <= FAR * belief.worthwhile
                    own["reported"] += belief.saturated
                    own["wrong"] += belief.saturated and missing > FAR * belief.worthwhile
                yield {
                    "check": "believe",
                    "world": name,
                    "trials": trials,
                    "detect": detect or "none",
                    **own,
                }


def _basin(at: np.ndarray, width: float | None) -> Callable[[Mapping[str, float]], float]:
    """A depth of 0.8 in a plain, or a bowl."""

    def surface(unit: Mapping[str, float]) -> float:
        squares = float(sum((unit[f"a{n}"] - at[n]) ** 2 for n in range(3)))
        return 0.2 + (squares if width is None else 0.8 * (1 - np.exp(-squares / 2 / width**2)))

    return surface
