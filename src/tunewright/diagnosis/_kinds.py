"""What a logged curve is: a loss or a score, of training or of validation, by its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Literal

Kind = Literal["train", "valid", "learning_rate", "gradient_norm", "other"]
_VALID = {"val", "valid", "validation", "eval", "evaluation", "test", "dev", "holdout"}
_TRAIN = {"train", "training", "minibatch", "batch"}
_LOSSES = {"loss", "losses", "nll", "ce", "xent", "perplexity", "ppl", "bpb", "bpc", "cost"}
_ERRORS = {"error", "err", "mse", "mae", "rmse", "wer", "cer", "fid"}
_SCORES = {
    *("accuracy", "acc", "auc", "auroc", "f1", "score", "bleu", "rouge", "reward", "return"),
    *("precision", "recall", "iou", "map", "r2", "top1", "top5", "top", "mcc", "dice", "psnr"),
}
_RATES = {"lr", "learningrate"}
_FLAT = re.compile(r"[^a-z0-9]+")


def _words_of(name: str) -> list[str]:
    """The words of a metric's name.

    >>> _words_of("val/lossEpoch"), _words_of("train_grad_norm")
    (['val', 'loss', 'epoch'], ['train', 'grad', 'norm'])
    """
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()
    return [word for word in _FLAT.split(spaced) if word]


def higher_is_better(name: str) -> bool:
    """Whether a larger value of a metric is better, by its last known word.

    >>> [higher_is_better(n) for n in ("val_acc", "valid/loss", "top_1", "mean_average_precision")]
    [True, False, True, True]
    """
    for word in reversed(_words_of(name)):
        if word in _SCORES:
            return True
        if word in _LOSSES | _ERRORS:
            return False
    return False


def kind_of(name: str) -> Kind:
    """What a curve is taken for.

    >>> [kind_of(n) for n in ("train/loss", "loss", "val_acc", "lr", "grad_norm", "epoch")]
    ['train', 'train', 'valid', 'learning_rate', 'gradient_norm', 'other']
    """
    words = _words_of(name)
    known = set(words)
    if known & _RATES or {"learning", "rate"} <= known:
        return "learning_rate"
    if ("norm" in known and known & {"grad", "gradient", "gradients"}) or "gradnorm" in known:
        return "gradient_norm"
    measured = bool(known & (_LOSSES | _ERRORS | _SCORES))
    if measured and known & _VALID:
        return "valid"
    if known & _LOSSES and not known & _VALID:
        return "train"
    return "train" if measured and known & _TRAIN and known & _LOSSES else "other"


def pick(names: Iterable[str], kind: Kind, longest: Collection[str]) -> str | None:
    """The curve of a kind that the questions read: a loss before a score, then the longest.

    >>> pick(["val_acc", "val_loss"], "valid", ["val_acc", "val_loss"])
    'val_loss'
    """
    order = list(longest)
    candidates = [name for name in names if kind_of(name) == kind]
    if not candidates:
        return None

    def rank(name: str) -> tuple[int, int, int]:
        words = set(_words_of(name))
        loss = 0 if words & _LOSSES or kind in ("learning_rate", "gradient_norm") else 1
        total = 0 if kind != "valid" or words & (_VALID - {"test"}) else 1
        return total, loss, order.index(name) if name in order else len(order)

    return min(candidates, key=rank)
