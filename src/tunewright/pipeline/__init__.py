"""The training pipeline in PyTorch: the playbook's part on pipelines, usable without the rest.

    from tunewright.pipeline import FitConfig, Validation, fit

    config = FitConfig(max_train_steps=5_000, batch_size=128, base_learning_rate=1e-3)
    fit(model, loss, data, config)

Read `fit.py` first: it is the loop. The other files are one idea each.
"""

from __future__ import annotations

from tunewright.errors import need as _need

_need("torch", extra="torch", purpose="tunewright.pipeline")  # before a file that imports it

from tunewright.pipeline import averages, checkpoint, gradient, hosts, optimizer, throughput
from tunewright.pipeline.averages import Averages, recompute_batch_norm, sync_batch_norm
from tunewright.pipeline.batches import Batch
from tunewright.pipeline.checkpoint import Keep, Selection, select
from tunewright.pipeline.evaluate import Evaluation, evaluate
from tunewright.pipeline.fit import Fitted, fit, train_step
from tunewright.pipeline.fit_config import FitConfig
from tunewright.pipeline.ghost_batch_norm import GhostBatchNorm, convert_batch_norm
from tunewright.pipeline.optimizer import (
    SGD,
    Adam,
    AdamW,
    Momentum,
    NAdam,
    NAdamW,
    Nesterov,
    RMSProp,
    named,
)
from tunewright.pipeline.own_loop import captured_step
from tunewright.pipeline.throughput import Throughput
from tunewright.pipeline.validation import Validation

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Averages",
    "Batch",
    "Evaluation",
    "FitConfig",
    "Fitted",
    "GhostBatchNorm",
    "Keep",
    "Momentum",
    "NAdam",
    "NAdamW",
    "Nesterov",
    "RMSProp",
    "Selection",
    "Throughput",
    "Validation",
    "averages",
    "captured_step",
    "checkpoint",
    "convert_batch_norm",
    "evaluate",
    "fit",
    "gradient",
    "hosts",
    "named",
    "optimizer",
    "recompute_batch_norm",
    "select",
    "sync_batch_norm",
    "throughput",
    "train_step",
]
