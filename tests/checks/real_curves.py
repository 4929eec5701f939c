"""Real tuning data as Results: one trial per recorded run, read from beside the repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tunewright.design.names import Meaning
from tunewright.design.objective import maximize, minimize
from tunewright.design.ranges import linear
from tunewright.design.round import Round
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial

DATA = Path(__file__).parents[2].parent / "shared" / "data"
IMDB = "FixedTextRNNClassification_imdb_"
SETS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("taskset", IMDB + "patch128_LSTM128_avg_bs64"): {"objective": minimize("valid/loss")},
    ("taskset", IMDB + "patch32_GRU64_avg_bs128"): {"objective": minimize("valid/loss")},
    ("taskset", IMDB + "patch32_VRNN64_tanh_avg_bs128"): {"objective": minimize("valid/loss")},
    ("deepobs", "fmnist_2c2d"): {"objective": maximize("test/accuracy"), "by": "optimizer"},
    ("deepobs", "mnist_vae"): {"objective": minimize("test/loss"), "by": "optimizer"},
    ("deepobs", "quadratic_deep"): {"objective": minimize("test/loss"), "by": "optimizer"},
    ("baker2018", "deep_resnets_tinyimagenet"): {"objective": maximize("valid/accuracy")},
    ("algoperf", "ogbg"): {"objective": maximize("valid/mean_average_precision")},
    ("algoperf", "ogbg_model_size"): {"objective": maximize("valid/mean_average_precision")},
    ("opda", "alexnet_imagenet"): {"objective": maximize("valid/top_1"), "rate": "lr"},
}


def read(name: str, task: str) -> Results:
    """A recorded set as one round; skips the test when the data is not there."""
    folder = DATA / name / task
    if not folder.exists():
        pytest.skip("the recorded tuning data is not beside the repository")
    polars = pytest.importorskip("polars")
    facts = SETS[name, task]
    runs = polars.read_parquet(folder / "runs.parquet").join(
        polars.read_parquet(folder / "configs.parquet").drop("task"), on="config_id", how="left"
    )
    curves = polars.read_parquet(folder / "curves.parquet").sort("step")
    points: dict[tuple[str, int], dict[str, tuple[np.ndarray, np.ndarray]]] = {}
    for (config, seed, metric), own in curves.partition_by(
        ["config_id", "seed", "metric"], as_dict=True, include_key=False
    ).items():
        points.setdefault((config, seed), {})[metric] = (
            own["step"].to_numpy(),
            own["value"].to_numpy().astype(float),
        )
    by = facts.get("by")
    settings = sorted(runs[by].unique().to_list()) if by else [None]
    trials, repeats, first = [], [], {}
    for run in runs.iter_rows(named=True):
        own = points.get((run["config_id"], run["seed"]), {})
        again = name == "deepobs" and run["config_id"] in first
        number = len(trials)
        first.setdefault(run["config_id"], number)
        trial = Trial(
            number=None if again else number,
            study=settings.index(run[by]) if by else 0,
            index=None,
            configuration={k: v for k, v in run.items() if isinstance(v, int | float | str)},
            unit={},
            status="completed" if run["status"] != "diverged" and own else "infeasible",
            curves=Curves([Batch(1, 0, pack(own))] if own else []),
            parent=first[run["config_id"]] if again else None,
        )
        (repeats if again else trials).append(trial)
    round = Round(
        task[:60],
        goal="Recorded elsewhere: what do its curves say?",
        scientific={by: settings} if by else {},
        nuisance={"rate": linear(0.0, 1.0)},
        trials_per_study=len(trials),
    )
    meaning = Meaning(
        {
            "train_loss": "train/loss",
            "valid_loss": "valid/loss",
            "learning_rate": facts.get("rate", "learning_rate"),
        }
    )
    return Results.from_parts(round, facts["objective"], trials, repeats, meaning)
