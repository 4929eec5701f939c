"""Which part of training a hyperparameter belongs to: optimizer, model, augmentation and so on.

By its meaning where it has one, else by the words of its name. Notes on roles and the ladder of
what transfers to longer training go by it.
"""

from __future__ import annotations

import re
from typing import Literal

from tunewright.design.names import Meaning
from tunewright.design.spellings import regularises, usual_meaning

Part = Literal["warm-up", "initialization", "model", "optimizer", "augmentation", "regulariser"]
Area = Part | Literal["data", "schedule", "length", "batch size"]

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
# words of a name that show what it is, where it has no meaning; the first area that has one counts
_WORDS: dict[Area, str] = {
    "warm-up": "warmup warm",
    "regulariser": "dropout regulariser regularizer l1 l2 smoothing",
    "schedule": "schedule scheduler decay cooldown gamma",
    "augmentation": "aug augment augmentation augmentations mixup cutmix cutout crop flip jitter "
    "rotation randaugment trivialaugment autoaugment erasing hue saturation brightness contrast "
    "grayscale blur specaugment",
    "initialization": "init initialization initializer initial",
    "optimizer": "lr learning adam adamw sgd nesterov clip clipping momentum rmsprop eps",
    "model": "layer layers depth width hidden head heads unit units channel channels filter "
    "filters embd embed embedding block blocks kernel dim dims model architecture arch backbone "
    "activation encoder decoder mlp ffn expansion rank experts patch",
    "data": "data dataset corpus mixture subset vocab tokenizer",
}
WORDS = {area: frozenset(words.split()) for area, words in _WORDS.items()}
_TOGETHER: dict[str, Area] = {"weight_decay": "regulariser", "end_factor": "schedule"}


def area_of(name: str, meaning: Meaning) -> Area | None:
    """The part of training a name belongs to; None if nothing shows it.

    >>> [area_of(n, Meaning()) for n in ("initial_lr", "eps", "color_jitter", "n_layer", "foo")]
    ['optimizer', 'optimizer', 'augmentation', 'model', None]
    """
    meant = meaning.of(name)
    if meant is None and name not in meaning.regularisers:
        meant = usual_meaning(name)
        if (
            meant in meaning.means
        ):  # another name has this meaning, or it was declared that none has
            meant = None
    if meant in _MEANINGS:
        return _MEANINGS[meant]
    if name in meaning.regularisers or regularises(name):
        return "regulariser"
    for together, area in _TOGETHER.items():
        if together in name.lower():
            return area
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    for area, own in WORDS.items():
        if area == "initialization" and words & WORDS["optimizer"]:
            continue  # `initial_lr` is where a learning rate begins, not how weights are drawn
        if words & own:
            return area
    return None
