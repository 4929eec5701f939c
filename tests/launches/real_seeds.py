"""Recorded repeats of one configuration under many seeds, read from beside the repository."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from tunewright.stats.gain import NOTHING, History

DATA = Path(__file__).parents[2].parent / "shared" / "data"
DEEPOBS = {
    "fmnist_2c2d": ("best_test_accuracy", 1.0),
    "mnist_vae": ("best_test_loss", -1.0),
    "quadratic_deep": ("best_test_loss", -1.0),
}


def there() -> bool:
    """Whether the recorded runs can be read here."""
    try:
        import polars  # noqa: F401
    except ImportError:
        return False
    return DATA.exists()


@lru_cache
def groups(name: str, fewest: int) -> dict[str, np.ndarray]:
    """Values by configuration, larger being better, of those with at least so many runs."""
    import polars

    found: dict[str, np.ndarray] = {}
    if name == "nanogpt_speedrun":
        tasks = {"track1_2024": ("final_valid_loss", -1.0)}
    elif name == "deepobs":
        tasks = DEEPOBS
    else:
        assert name == "algoperf"
        tasks = {task: ("best_valid_metric", 1.0) for task in ("ogbg", "ogbg_model_size")}
    for task, (metric, sign) in tasks.items():
        runs = polars.read_parquet(DATA / name / task / "runs.parquet")
        if name == "algoperf":  # a run that reached its target was stopped there
            stopped = runs.filter(polars.col("reached_target"))["config_id"].unique()
            runs = runs.filter(~polars.col("config_id").is_in(stopped.to_list()))
        runs = runs.filter(polars.col("status") == "completed").drop_nulls(metric)
        for (config,), own in runs.partition_by("config_id", as_dict=True).items():
            values = sign * own[metric].to_numpy().astype(float)
            if len(values) >= fewest and values.std() > 0:
                found[f"{task}/{config}"] = values
    return found


def family(label: str) -> str:
    """The task and the submission or optimizer a configuration belongs to.

    >>> family("ogbg/v05_external_amos_t4_97314e"), family("mnist_vae/Adam_lr1.5849e-04")
    ('ogbg/v05_external_amos', 'mnist_vae/Adam')
    """
    return re.split(r"_t\d+_[0-9a-f]{6}$|_lr|#", label)[0]


def history_without(found: dict[str, np.ndarray], label: str, near: bool) -> History:
    """The pooled spread of the other groups: of the same family, or (not `near`) of all."""
    others = [
        values
        for other, values in found.items()
        if other != label and (not near or family(other) == family(label))
    ]
    freedom = sum(len(values) - 1 for values in others)
    if not freedom:
        return NOTHING
    squares = sum(float(np.square(values - values.mean()).sum()) for values in others)
    return History.from_repeats(np.sqrt(squares / freedom), freedom)
