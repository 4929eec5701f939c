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

from typing import TYPE_CHECKING

from tunewright._namespace import offer

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
    from tunewright.probes.throughput.input_bound import (
        InputBound as InputBound,
        input_bound as input_bound,
    )
    from tunewright.probes.throughput.size_answer import BatchSizes as BatchSizes, Cost as Cost
    from tunewright.probes.throughput.size_sweep import BatchSizeTerms as BatchSizeTerms
    from tunewright.probes.throughput.tap import watched as watched
    from tunewright.probes.throughput.timing import TimingRule as TimingRule
    from tunewright.probes.train_steps import TrainSteps as TrainSteps, train_steps as train_steps
    from tunewright.probes.warmup import Warmup as Warmup, warmup as warmup

_HOMES = {
    "probes.clip": ("Clip", "clip"),
    "probes.critical_batch": ("CriticalBatch", "critical_batch"),
    "probes.longer": ("Longer", "longer"),
    "probes.noise_scale": ("NoiseScale", "noise_scale", "squared_norms"),
    "probes.stability": ("Stability", "stability"),
    "probes.throughput.batch_size": ("batch_size",),
    "probes.throughput.input_bound": ("InputBound", "input_bound"),
    "probes.throughput.size_answer": ("BatchSizes", "Cost"),
    "probes.throughput.size_sweep": ("BatchSizeTerms",),
    "probes.throughput.tap": ("watched",),
    "probes.throughput.timing": ("TimingRule",),
    "probes.train_steps": ("TrainSteps", "train_steps"),
    "probes.warmup": ("Warmup", "warmup"),
}

offer(__name__, _HOMES)
