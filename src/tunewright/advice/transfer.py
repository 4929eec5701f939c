"""What transfers from short training to long? The playbook's ladder, one label per hyperparameter.

Very likely: warm-up length and initialization. Likely: the model. It might: optimizer and its
hyperparameters, data augmentation, regularisation. Unlikely: the learning-rate schedule. These are
the playbook's own guesses ("Round 1"), made by meaning; a name nothing is known of is taken for
part of the model, and marked as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tunewright.design.areas import Area, area_of
from tunewright.design.names import Meaning

Likelihood = Literal["very likely", "likely", "might", "unlikely"]
RUNGS: tuple[Likelihood, ...] = ("very likely", "likely", "might", "unlikely")

LIKELIHOOD: dict[Area, Likelihood] = {
    "warm-up": "very likely",
    "initialization": "very likely",
    "model": "likely",
    "optimizer": "might",
    "augmentation": "might",
    "regulariser": "might",
    "data": "might",
    "batch size": "might",
    "schedule": "unlikely",
    "length": "unlikely",
}


@dataclass(frozen=True)
class Transfer:
    """What a hyperparameter is, how likely its best value transfers, and whether that is known."""

    name: str
    area: Area
    likelihood: Likelihood
    known: bool = True  # False: its meaning is unknown, so it is taken for part of the model


def transfer(name: str, meaning: Meaning) -> Transfer:
    """The rung of one hyperparameter.

    >>> transfer("warmup_steps", Meaning()).likelihood, transfer("dropout", Meaning()).likelihood
    ('very likely', 'might')
    >>> transfer("hidden_layers", Meaning())
    Transfer(name='hidden_layers', area='model', likelihood='likely', known=True)
    """
    area = area_of(name, meaning)
    if area is None:
        return Transfer(name, "model", LIKELIHOOD["model"], known=False)
    return Transfer(name, area, LIKELIHOOD[area])
