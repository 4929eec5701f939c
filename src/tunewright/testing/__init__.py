"""For your tests: contracts for a Search, an Executor or a Range, and worlds with known answers.

    check_search(MySearch())           raises AssertionError with a sentence if a promise is broken
    check_executor(MyExecutor())
    check_range(MyRange(1, 8))
    results(round, World(Bowl({"learning_rate": 0.7}), noise_sd=0.01))     Results, untrained
    shape("fast", 40) + 0.01 * noise(random, 40, correlation=0.5)    a curve

Nothing of the package itself imports this.
"""

from tunewright.testing.curves import NOISES, SHAPES, noise, rise, shape, wave
from tunewright.testing.executor_contract import check_executor
from tunewright.testing.range_contract import check_range
from tunewright.testing.search_contract import check_search, example_studies
from tunewright.testing.surfaces import Basin, Bowl, Surface, Unlucky, Walled, trial_noise
from tunewright.testing.worlds import World, results

__all__ = [
    "NOISES",
    "SHAPES",
    "Basin",
    "Bowl",
    "Surface",
    "Unlucky",
    "Walled",
    "World",
    "check_executor",
    "check_range",
    "check_search",
    "example_studies",
    "noise",
    "results",
    "rise",
    "shape",
    "trial_noise",
    "wave",
]
