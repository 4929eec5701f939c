"""Sinks: every trial as a run of W&B, MLflow, TensorBoard, Trackio or SwanLab.

    tw.Workload(train, tw.minimize("valid_error"), sinks=["mlflow", "tensorboard:runs"])
    tunewright.sinks.sync("tuning.db", "depth", "mlflow")   # afterwards, or to catch up

The store is the queue: a process per sink follows it, so that no training program and no
supervisor ever waits for a tracker ([sinks](docs/sinks.md)).
"""

from tunewright.design.workload_file import Sink
from tunewright.sinks._sync import Synced, sync

__all__ = ["Sink", "Synced", "sync"]
