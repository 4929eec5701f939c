"""What Python calls `Workload(means=...)`, as a line of tunewright.toml, which a shell has.

Messages are written once, for Python; commands say them in the words of the project's file.
"""

from __future__ import annotations

import re

CALL = re.compile(r"Workload\((?:\.\.\., )?((?:means|off)=\{[^{}]*\})\)")
ENTRY = re.compile(r'\b(means|off)=\{"(\w+)": ([^{}]*)\}')


def as_toml(text: str) -> str:
    """The text with its declarations as lines of the project's file.

    >>> as_toml('say so: means={"train_loss": "train/loss"}.')
    'say so: train_loss = "train/loss" under [workload.means] in tunewright.toml.'
    >>> as_toml('Workload(..., means={"chance": ...}): the loss of a guess')
    'chance = ... under [workload.means] in tunewright.toml: the loss of a guess'
    """
    return ENTRY.sub(r"\2 = \3 under [workload.\1] in tunewright.toml", CALL.sub(r"\1", text))
