"""Short experiments that settle one setting each, before the rounds begin.

    probes.batch_size(make_step)       which sizes fit, how fast is each, which one to use
    probes.input_bound(make_step)      does training wait for its data, and for which stage

Every one returns an answer with `.says`, `.settings` and `.missing`, and keeps it in the store.
"""

from __future__ import annotations

from tunewright.probes.batch_size import batch_size as batch_size
from tunewright.probes.cost import Cost as Cost
from tunewright.probes.input_bound import InputBound as InputBound, input_bound as input_bound
from tunewright.probes.size_answer import BatchSizes as BatchSizes
from tunewright.probes.tap import watched as watched
from tunewright.probes.timing import TimingRule as TimingRule

__all__ = [
    "BatchSizes",
    "Cost",
    "InputBound",
    "TimingRule",
    "batch_size",
    "input_bound",
    "watched",
]
