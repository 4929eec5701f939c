"""Short experiments that choose one setting each, before the rounds begin.

    probes.train_steps(workload)       how many steps are enough to fit the training data
    probes.critical_batch(workload)    up to which batch size a larger one saves steps
    probes.stability(workload)         is training unstable just above the best learning rate
    probes.warmup(workload)            how short a warm-up allows a far higher one
    probes.clip(workload or results)   at which norm to clip gradients
    probes.longer(results, workload)   would longer training help, where curves cannot show it
    probes.batch_size(make_step)       which sizes fit, how fast is each, which one to use
    probes.input_bound(make_step)      does training wait for its data, and for which stage

Every one returns an answer with `.headline`, `.message`, `.settings` and `.missing`, and stores it.

Names are looked up when first used: the processes of a probe need next to none of them.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tunewright.probes.clip import Clip as Clip, clip as clip
    from tunewright.probes.critical_batch import (
        CriticalBatch as CriticalBatch,
        critical_batch as critical_batch,
    )
    from tunewright.probes.longer import Longer as Longer, longer as longer
    from tunewright.probes.noise_scale import (
        NoiseScale as NoiseScale,
        noise_scale as noise_scale,
        squared_norms as squared_norms,
    )
    from tunewright.probes.stability import Stability as Stability, stability as stability
    from tunewright.probes.throughput.batch_size import batch_size as batch_size
    from tunewright.probes.throughput.cost import Cost as Cost
    from tunewright.probes.throughput.input_bound import (
        InputBound as InputBound,
        input_bound as input_bound,
    )
    from tunewright.probes.throughput.size_answer import BatchSizes as BatchSizes
    from tunewright.probes.throughput.tap import watched as watched
    from tunewright.probes.throughput.timing import TimingRule as TimingRule
    from tunewright.probes.train_steps import TrainSteps as TrainSteps, train_steps as train_steps
    from tunewright.probes.warmup import Warmup as Warmup, warmup as warmup

_HOMES = {
    "BatchSizes": "throughput.size_answer",
    "Clip": "clip",
    "Cost": "throughput.cost",
    "CriticalBatch": "critical_batch",
    "InputBound": "throughput.input_bound",
    "Longer": "longer",
    "NoiseScale": "noise_scale",
    "Stability": "stability",
    "TimingRule": "throughput.timing",
    "TrainSteps": "train_steps",
    "Warmup": "warmup",
    "batch_size": "throughput.batch_size",
    "clip": "clip",
    "critical_batch": "critical_batch",
    "input_bound": "throughput.input_bound",
    "longer": "longer",
    "noise_scale": "noise_scale",
    "squared_norms": "noise_scale",
    "stability": "stability",
    "train_steps": "train_steps",
    "warmup": "warmup",
    "watched": "throughput.tap",
}

__all__ = [
    "BatchSizes",
    "Clip",
    "Cost",
    "CriticalBatch",
    "InputBound",
    "Longer",
    "NoiseScale",
    "Stability",
    "TimingRule",
    "TrainSteps",
    "Warmup",
    "batch_size",
    "clip",
    "critical_batch",
    "input_bound",
    "longer",
    "noise_scale",
    "squared_norms",
    "stability",
    "train_steps",
    "warmup",
    "watched",
]


class _Probes(ModuleType):
    """A package in which `probes.clip` is the function, though a module of that name exists."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        setattr(self, name, found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        # Python's import puts every module that it has loaded into its package
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Probes
