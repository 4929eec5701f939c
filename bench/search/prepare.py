"""Arrays out of ../shared/data, so that a machine without polars and scikit-learn can run them.

Complete tables become one array, a value per grid point and seed. Sets of random configurations
become a forest of randomised trees (scikit-learn) for the value and one for whether it diverges,
fitted in the unit cube of the declared ranges: piecewise constant like none of the contestants'
own models. Surrogates are copied as they are.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .real import ALEXNET, PREPARED, RESNET, SHORT, TASKSET, YAHPO

SHARED = Path(__file__).parents[3] / "shared" / "data"
TREES, LEAF = 100, 3


def prepare(data: Path = SHARED, to: Path = PREPARED) -> list[str]:
    """Write every array; the names of the files written."""
    to.mkdir(parents=True, exist_ok=True)
    _table(data / "fcnet" / "naval_propulsion", "val_loss", to / "fcnet_naval.npz")
    for task in ("blood_transfusion", "kc1"):
        _table(data / "hpobench_mlp" / task, "val_acc", to / f"mlp_{task}.npz")
    for name, task in TASKSET.items():
        _forest(data / "taskset" / task, "final_valid_loss", to / f"{name}.npz")
    for name, (task, step) in SHORT.items():
        _forest(data / "taskset" / task, "valid/loss", to / f"{name}.npz", step)
    _forest(data / "baker2018" / "deep_resnets_tinyimagenet", "final_value", to / f"{RESNET}.npz")
    _forest(data / "opda" / "alexnet_imagenet", "best_valid_top_1", to / f"{ALEXNET}.npz")
    for file in ("model.onnx", "surrogate.json"):
        shutil.copyfile(data / "yahpo_rbv2_rpart" / file, to / file)
    ranges = {n: _space(data / "yahpo_rbv2_rpart" / f"openml_{t}") for n, t in YAHPO.items()}
    (to / "yahpo.json").write_text(json.dumps(ranges))
    return sorted(file.name for file in to.iterdir() if file.suffix in {".npz", ".onnx", ".json"})


def _space(folder: Path) -> list[dict[str, Any]]:
    parameters: list[dict[str, Any]] = json.loads((folder / "space.json").read_text())["parameters"]
    return parameters


def _table(folder: Path, metric: str, out: Path) -> None:
    """values[grid position of every hyperparameter ..., seed] in the order of space.json."""
    import polars as pl

    parameters = _space(folder)
    configs, runs = (pl.read_parquet(folder / f"{w}.parquet") for w in ("configs", "runs"))
    wide = runs.sort("seed").group_by("config_id", maintain_order=True).agg(pl.col(metric))
    joined = configs.join(wide, on="config_id", how="left", maintain_order="left")
    at = tuple(
        np.array([p["choices"].index(v) for v in joined[p["name"]].to_list()]) for p in parameters
    )
    seeds = np.array(joined[metric].to_list(), np.float64)
    values = np.full([len(p["choices"]) for p in parameters] + [seeds.shape[1]], np.nan)
    values[at] = 1 - seeds if metric.endswith("acc") else seeds
    if not np.isfinite(values).all():
        raise ValueError(f"{folder.name}: the table is not complete")
    np.savez_compressed(out, values=values.astype(np.float32))


def _forest(folder: Path, metric: str, out: Path, step: int | None = None) -> None:
    """Trees for the value and for the chance to diverge, and how well they do out of fold."""
    import polars as pl
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.model_selection import cross_val_predict

    from .real import PLACES

    places = PLACES[out.stem]
    configs = pl.read_parquet(folder / "configs.parquet")
    runs = pl.read_parquet(folder / "runs.parquet")
    joined = configs.join(runs, on="config_id", how="inner", maintain_order="left")
    if step is not None:
        curves = pl.read_parquet(folder / "curves.parquet")
        there = curves.filter((pl.col("metric") == metric) & (pl.col("step") == step))
        values = there.select("config_id", pl.col("value").cast(pl.Float64).alias(metric))
        joined = joined.join(values, on="config_id", how="left", maintain_order="left")
    unit = np.array([[f(row) for f in places.values()] for row in joined.iter_rows(named=True)])
    value = joined[metric].to_numpy().astype(float)
    feasible = (joined["status"] == "completed").to_numpy() & np.isfinite(value)
    value = np.log(value) if metric.endswith("loss") else 1 - value
    fitted = {"n_estimators": TREES, "random_state": 0, "max_features": 1.0}
    regressor = ExtraTreesRegressor(min_samples_leaf=LEAF, **fitted)
    classifier = ExtraTreesClassifier(min_samples_leaf=LEAF, **fitted)
    apart = cross_val_predict(regressor, unit[feasible], value[feasible], cv=5)
    left = np.var(value[feasible] - apart) / np.var(value[feasible])
    guess = cross_val_predict(classifier, unit, feasible, cv=5)
    print(
        f"{out.stem}: explains {1 - left:.2f} of the variance out of fold; "
        f"feasible or not: {np.mean(guess == feasible):.2f} right, "
        f"{np.mean(feasible):.2f} are feasible"
    )
    regressor.fit(unit[feasible], value[feasible])
    classifier.fit(unit, feasible)
    arrays = {f"value_{k}": v for k, v in _arrays(regressor, 0).items()}
    arrays |= {f"feasible_{k}": v for k, v in _arrays(classifier, 1).items()}
    np.savez_compressed(out, **arrays)


def _arrays(forest: Any, output: int) -> dict[str, npt.NDArray[Any]]:
    """Every tree as rows of equal length: feature, threshold, children, and the leaves' values."""
    trees = [one.tree_ for one in forest.estimators_]
    nodes = max(tree.node_count for tree in trees)
    feature = np.full((len(trees), nodes), -1, np.int16)
    threshold, leaf = np.zeros((2, len(trees), nodes), np.float32)
    left, right = np.zeros((2, len(trees), nodes), np.int32)
    for row, tree in enumerate(trees):
        cut = slice(0, tree.node_count)
        inner = tree.children_left >= 0
        feature[row, cut] = np.where(inner, tree.feature, -1)
        threshold[row, cut] = tree.threshold
        own = np.arange(tree.node_count)
        left[row, cut] = np.where(inner, tree.children_left, own)
        right[row, cut] = np.where(inner, tree.children_right, own)
        values = tree.value[:, 0, :]
        leaf[row, cut] = values[:, output] / (values.sum(1) if values.shape[1] > 1 else 1)
    return {"feature": feature, "threshold": threshold, "left": left, "right": right, "leaf": leaf}
