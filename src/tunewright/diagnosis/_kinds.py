"""What a logged curve is: a loss or a score, of training or of validation, by its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Literal

Kind = Literal["train", "valid", "learning_rate", "gradient_norm", "other"]
VALID = {"val", "valid", "validation", "eval", "evaluation", "test", "dev", "holdout"}
TRAIN = {"train", "training", "minibatch", "batch"}
LOSSES = {"loss", "losses", "nll", "ce", "xent", "perplexity", "ppl", "bpb", "bpc", "cost"}
ERRORS = {"error", "err", "mse", "mae", "rmse", "wer", "cer", "fid"}
SCORES = {
    *("accuracy", "acc", "auc", "auroc", "f1", "score", "bleu", "rouge", "reward", "return"),
    *("precision", "recall", "iou", "map", "r2", "top1", "top5", "top", "mcc", "dice", "psnr"),
}
RATES = {"lr", "learningrate"}
FLAT = re.compile(r"[^a-z0-9]+")


def words_of(name: str) -> list[str]:
    """The words of a metric's name.

    >>> words_of("val/lossEpoch"), words_of("train_grad_norm")
    (['val', 'loss', 'epoch'], ['train', 'grad', 'norm'])
    """
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()
    return [word for word in FLAT.split(spaced) if word]


def higher_is_better(name: str) -> bool:
    """Whether a larger value of a metric is better, by its last known word.

    >>> [higher_is_better(n) for n in ("val_acc", "valid/loss", "top_1", "mean_average_precision")]
    [True, False, True, True]
    """
    for word in reversed(words_of(name)):
        if word in SCORES:
            return True
        if word in LOSSES | ERRORS:
            return False
    return False


def kind_of(name: str) -> Kind:
    """What a curve is taken for.

    >>> [kind_of(n) for n in ("train/loss", "loss", "val_acc", "lr", "grad_norm", "epoch")]
    ['train', 'train', 'valid', 'learning_rate', 'gradient_norm', 'other']
    """
    words = words_of(name)
    known = set(words)
    if known & RATES or {"learning", "rate"} <= known:
        return "learning_rate"
    if ("norm" in known and known & {"grad", "gradient", "gradients"}) or "gradnorm" in known:
        return "gradient_norm"
    measured = bool(known & (LOSSES | ERRORS | SCORES))
    if measured and known & VALID:
        return "valid"
    if known & LOSSES and not known & VALID:
        return "train"
    return "train" if measured and known & TRAIN and known & LOSSES else "other"


def pick(names: Iterable[str], kind: Kind, longest: Collection[str]) -> str | None:
    """The curve of a kind that the questions read: a loss before a score, then the longest.

    >>> pick(["val_acc", "val_loss"], "valid", ["val_acc", "val_loss"])
    'val_loss'
    """
    order = list(longest)
    own = [name for name in names if kind_of(name) == kind]
    if not own:
        return None

    def rank(name: str) -> tuple[int, int, int]:
        words = set(words_of(name))
        loss = 0 if words & LOSSES or kind in ("learning_rate", "gradient_norm") else 1
        total = 0 if kind != "valid" or words & (VALID - {"test"}) else 1
        return total, loss, order.index(name) if name in order else len(order)

    return min(own, key=rank)
