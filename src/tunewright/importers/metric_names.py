"""Which columns of a wide table are metrics? By the last word of their names."""

from __future__ import annotations

import re

METRIC_WORDS = {
    *("loss", "error", "err", "accuracy", "acc", "auc", "auroc", "f1", "score", "perplexity"),
    *("ppl", "bleu", "rouge", "wer", "mse", "mae", "rmse", "nll", "reward", "return", "precision"),
    *("recall", "iou", "map", "throughput", "latency", "runtime"),
}
# what loggers put behind a metric's name
ENDINGS = {"epoch", "step", "best", "last", "final", "mean", "min", "max", "top1", "top5"}


def looks_like_metric(name: str) -> bool:
    """Whether a name reads as something measured rather than something set.

    >>> [looks_like_metric(n) for n in ("val/loss_epoch", "validError", "loss_type", "lr")]
    [True, True, False, False]
    """
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()
    words = [word for word in re.split(r"[^a-z0-9]+", spaced) if word]
    while len(words) > 1 and words[-1] in ENDINGS:
        words.pop()
    return bool(words) and words[-1] in METRIC_WORDS
