"""What transfers from short training to long? The playbook's ladder, one label per hyperparameter.

Very likely: warm-up length and initialization. Likely: the model. It might: optimizer and its
hyperparameters, data augmentation, regularisation. Unlikely: the learning-rate schedule. These are
the playbook's own guesses ("Round 1"), made by meaning; a name nothing is known of is taken for
part of the model, and says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tunewright.design.names import Meaning

Likelihood = Literal["very likely", "likely", "might", "unlikely"]
RUNGS: tuple[Likelihood, ...] = ("very likely", "likely", "might", "unlikely")
Part = Literal["warm-up", "initialization", "model", "optimizer", "augmentation", "regulariser"]
Area = Part | Literal["schedule", "length", "batch size"]

LIKELIHOOD: dict[Area, Likelihood] = {
    "warm-up": "very likely",
    "initialization": "very likely",
    "model": "likely",
    "optimizer": "might",
    "augmentation": "might",
    "regulariser": "might",
    "batch size": "might",
    "schedule": "unlikely",
    "length": "unlikely",
}
_MEANINGS: dict[str, Area] = {
    "warmup_steps": "warm-up",
    "learning_rate": "optimizer",
    "momentum": "optimizer",
    "beta1": "optimizer",
    "beta2": "optimizer",
    "epsilon": "optimizer",
    "optimizer": "optimizer",
    "clip_norm": "optimizer",
    "weight_decay": "regulariser",
    "schedule": "schedule",
    "max_train_steps": "length",
    "batch_size": "batch size",
}
# words of a name that say what it is, where no meaning was declared
_WORDS: dict[Area, frozenset[str]] = {
    "warm-up": frozenset({"warmup", "warm"}),
    "initialization": frozenset({"init", "initialization", "initializer", "initial"}),
    "regulariser": frozenset(
        {"weight_decay", "dropout", "regulariser", "regularizer", "l1", "l2", "smoothing"}
    ),
    "schedule": frozenset({"schedule", "scheduler", "decay", "cooldown", "end_factor"}),
    "augmentation": frozenset(
        {"augment", "augmentation", "mixup", "cutmix", "cutout", "crop", "flip", "randaugment"}
    ),
    "optimizer": frozenset({"lr", "learning", "adam", "sgd", "nesterov", "clip", "momentum"}),
}


@dataclass(frozen=True)
class Transfer:
    """What a hyperparameter is, how likely its best value transfers, and whether that is known."""

    name: str
    area: Area
    likelihood: Likelihood
    known: bool = True  # False: nothing says what it means, so it is taken for part of the model


def transfer(name: str, meaning: Meaning) -> Transfer:
    """The rung of one hyperparameter.

    >>> transfer("warmup_steps", Meaning()).likelihood, transfer("dropout", Meaning()).likelihood
    ('very likely', 'might')
    >>> transfer("hidden_layers", Meaning())
    Transfer(name='hidden_layers', area='model', likelihood='likely', known=False)
    """
    meant = meaning.of(name)
    if meant in _MEANINGS:
        return _labelled(name, _MEANINGS[meant])
    if name in meaning.regularisers:
        return _labelled(name, "regulariser")
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    for area, own in _WORDS.items():
        if area == "initialization" and words & _WORDS["optimizer"]:
            continue  # `initial_lr` is where a learning rate begins, not how weights are drawn
        if words & own or any(own_word in name.lower() for own_word in own if "_" in own_word):
            return _labelled(name, area)
    return Transfer(name, "model", LIKELIHOOD["model"], known=False)


def _labelled(name: str, area: Area) -> Transfer:
    return Transfer(name, area, LIKELIHOOD[area])
