"""Importers: the trials of other tools as `Results`, one function per source.

    tw.importers.optuna("sqlite:///optuna.db", "rates")
    tw.importers.tables("runs.csv", objective=tw.minimize("val_loss"))

Each function lives in a private module of its name and is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.importers._frames import frames as frames
    from tunewright.importers._mlflow import mlflow as mlflow
    from tunewright.importers._optuna import optuna as optuna
    from tunewright.importers._ray_tune import ray_tune as ray_tune
    from tunewright.importers._swanlab import swanlab as swanlab
    from tunewright.importers._tables import tables as tables
    from tunewright.importers._tensorboard import tensorboard as tensorboard
    from tunewright.importers._trackio import trackio as trackio
    from tunewright.importers._wandb import wandb as wandb

__all__ = [
    *("frames", "mlflow", "optuna", "ray_tune", "swanlab", "tables", "tensorboard", "trackio"),
    "wandb",
]

offer(__name__, {f"importers._{name}": (name,) for name in __all__})
