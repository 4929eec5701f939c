"""Surfaces shaped like training a network, parts of whose space diverge or run out of memory.

Each follows what the playbook describes: the best learning rates lie just under those that diverge;
what matters is a combination (learning_rate / (1 - momentum)); too small a rate is flat and bad;
regularisers matter less; some hyperparameters exist under one choice only. Names are made up for
what each resembles. None is fitted to data.
"""

from __future__ import annotations

import math

import tunewright as tw

from .problem import Configuration, Problem


def _numbers(configuration: Configuration, *names: str) -> list[float]:
    return [float(configuration[name]) for name in names]  # type: ignore[arg-type]


def _decades(x: float) -> float:
    return math.log10(x)


def _too_slow(distance: float, reach: float) -> float:
    """0 at the best rate, towards 1 as the rate falls short of it by more than `reach` decades."""
    short = max(0.0, -distance) / reach
    return 1 - math.exp(-(short**1.5))


def momentum_sgd(c: Configuration) -> float | None:
    """Diverges by effective learning rate, sooner with strong weight decay."""
    rate, momentum, decay, smoothing = _numbers(
        c, "learning_rate", "momentum", "weight_decay", "label_smoothing"
    )
    effective = _decades(rate / (1 - momentum))
    if effective + 0.1 * _decades(decay / 1e-4) > 0.55:
        return None
    x = effective - 0.3
    error = 0.06 + 0.6 * _too_slow(x, 1.5) + 0.25 * max(0.0, x) ** 2
    error += 0.012 * (_decades(rate * decay) + 4.5) ** 2
    return error + 0.02 * (_decades(1 - momentum) + 1.0) ** 2 + 0.4 * (smoothing - 0.1) ** 2


def adam_warmup(c: Configuration) -> float | None:
    """Six dimensions; warmup and a slow second moment allow higher rates."""
    rate, beta1, beta2, warmup, decay, dropout = _numbers(
        c, "learning_rate", "beta1", "beta2", "warmup_fraction", "weight_decay", "dropout"
    )
    edge = -3.3 + 1.2 * warmup / (0.05 + warmup) - 0.25 * (_decades(1 - beta2) + 2.5)
    x = _decades(rate) - edge
    if x > 0.3:
        return None
    loss = 2.1 + 1.9 * _too_slow(x + 0.2, 1.2) + 0.3 * max(0.0, x) ** 2
    loss += 0.08 * (_decades(1 - beta1) + 0.9) ** 2 + 0.05 * (_decades(1 - beta2) + 2.0) ** 2
    loss += 1.2 * max(0.0, warmup - 0.12) ** 2 + 0.04 * (_decades(decay) + 1.7) ** 2
    return loss + 0.9 * (dropout - 0.15 - 0.05 * (_decades(decay) + 1.7)) ** 2


def optimizer_given(c: Configuration) -> float | None:
    """Two optimizers with learning rates of their own; one is slightly better, if tuned."""
    (rate, decay) = _numbers(c, "learning_rate", "weight_decay")
    if c["optimizer"] == "adam":
        (beta1,) = _numbers(c, "beta1")
        x = _decades(rate) + 2.8 + 0.2 * _decades(1 - beta1)
        if x > 0.45:
            return None
        error = 0.082 + 0.5 * _too_slow(x, 1.0) + 0.03 * (_decades(1 - beta1) + 1.0) ** 2
    else:
        (momentum,) = _numbers(c, "momentum")
        x = _decades(rate / (1 - momentum)) - 0.2
        if x > 0.25:
            return None
        error = 0.07 + 0.6 * _too_slow(x, 0.8) + 0.01 * (_decades(1 - momentum) + 1.3) ** 2
    return error + 0.2 * max(0.0, x) ** 2 + 0.006 * (_decades(decay) + 3.5) ** 2


def memory_limit(c: Configuration) -> float | None:
    """Whole numbers: larger is better until it no longer fits; deeper wants smaller rates."""
    rate, width, depth, heads = _numbers(c, "learning_rate", "width", "depth", "heads")
    size = 2 * _decades(width) + _decades(depth)
    if size > 7.2:
        return None  # out of memory
    x = _decades(rate) + 2.2 + 0.6 * _decades(depth) + 0.3 * _decades(width / 128)
    if x > 0.5:
        return None
    loss = 1.0 + 0.55 * (7.2 - size) ** 1.2 / 4 + 1.5 * _too_slow(x, 1.3)
    return loss + 0.02 * (_decades(heads) - 0.8) ** 2 + 0.05 * (_decades(depth) - 0.7) ** 2


def two_learning_rates(c: Configuration) -> float | None:
    """An adversarial pair: neither may be much faster than the other."""
    one, other, momentum, penalty = _numbers(
        c, "learning_rate", "critic_learning_rate", "beta1", "gradient_penalty"
    )
    ratio = _decades(other / one) - 0.4
    if abs(ratio) > 1.02 + 0.15 * _decades(penalty) or _decades(one * other) > -4.9:
        return None
    distance = _decades(one * other) + 6.4
    score = 12 + 60 * _too_slow(distance, 2.0) + 9 * max(0.0, distance) ** 2 + 14 * ratio**2
    return score + 5 * (momentum - 0.35) ** 2 + 3 * (_decades(penalty) - 0.7) ** 2


def norm_given(c: Configuration) -> float | None:
    """What is to be set, and how high the rate may be, depends on the kind of normalisation."""
    rate, dropout = _numbers(c, "learning_rate", "dropout")
    edge = {"none": -2.3, "batch": -0.8, "layer": -1.5}[str(c["norm"])]
    error = {"none": 0.11, "batch": 0.075, "layer": 0.08}[str(c["norm"])]
    if c["norm"] == "none":
        (scale,) = _numbers(c, "init_scale")
        edge -= 0.6 * abs(_decades(scale))
        error += 0.08 * _decades(scale) ** 2
    elif c["norm"] == "batch":
        (ghost,) = _numbers(c, "ghost_batch_size")
        error += 0.02 * (_decades(ghost) - 1.8) ** 2
    x = _decades(rate) - edge
    if x > 0.2:
        return None
    error += 0.4 * _too_slow(x + 0.25, 1.1)
    if c["activation"] == "relu":
        error += 0.015
    else:
        error += 0.01 * max(0.0, x + 0.6) ** 2
    return error + 0.25 * (dropout - 0.2) ** 2


def clipped_recurrent(c: Configuration) -> float | None:
    """Clipping moves the edge; near the edge luck decides (see _luck)."""
    if _recurrent_margin(c) > 0.35:
        return None
    _, clip, forget, dropout = _numbers(c, "learning_rate", "clip", "forget_bias", "dropout")
    x = _recurrent_margin(c)
    loss = 4.3 + 2.2 * _too_slow(x + 0.15, 1.4) + 0.2 * max(0.0, x) ** 2
    loss += 0.12 * (_decades(clip) + 0.3) ** 2 + 0.02 * (forget - 1.2) ** 2
    return loss + 0.8 * (dropout - 0.35) ** 2


def _recurrent_margin(c: Configuration) -> float:
    rate, clip, forget = _numbers(c, "learning_rate", "clip", "forget_bias")
    return _decades(rate) + 1.3 + 0.45 * _decades(clip) + 0.08 * forget


def _luck(c: Configuration) -> float:
    """The chance to diverge: from none at 0.35 decades under the edge to a half at it."""
    return min(max(_recurrent_margin(c) / 0.7, 0.0), 0.5)


def _sgd_luck(c: Configuration) -> float:
    """The chance to diverge: from none at 0.4 decades under the edge to 0.6 at it."""
    rate, momentum, decay = _numbers(c, "learning_rate", "momentum", "weight_decay")
    margin = _decades(rate / (1 - momentum)) + 0.1 * _decades(decay / 1e-4) - 0.15
    return min(max(1.5 * margin, 0.0), 0.6)


def curved_ridge(c: Configuration) -> float | None:
    """A narrow curved valley along a curved edge."""
    rate, decay, scale = _numbers(c, "learning_rate", "weight_decay", "init_scale")
    a, b, s = _decades(rate) + 2, (_decades(decay) + 4) / 2, _decades(scale)
    edge = 0.1 - 0.5 * b**2 - 0.2 * s
    x = a - edge
    if x > 0.35:
        return None
    loss = 0.3 + 0.9 * (1 - math.exp(-((x / 0.5) ** 2) / 2 if x > -0.5 else -abs(x)))
    return loss + 0.1 * (b - 0.3) ** 2 + 0.15 * (s + 0.3) ** 2


def transformer_8(c: Configuration) -> float | None:
    """Eight dimensions, of which two decide, three matter and three hardly do."""
    rate, beta1, beta2, decay = _numbers(c, "learning_rate", "beta1", "beta2", "weight_decay")
    warmup, dropout, smoothing, width = _numbers(
        c, "warmup_steps", "dropout", "label_smoothing", "width"
    )
    edge = -2.9 + 0.45 * (_decades(warmup) - 1) - 0.5 * _decades(width / 256)
    x = _decades(rate) - edge
    if x > 0.15 + 0.25 * (1 + _decades(1 - beta1)) + 0.3 * dropout:
        return None
    loss = 3.2 + 1.6 * _too_slow(x + 0.3, 1.3) + 0.5 * max(0.0, x) ** 2
    loss += 0.18 * (3.0 - _decades(width)) + 0.03 * (_decades(warmup) - 2.4) ** 2
    loss += 0.05 * (_decades(decay * rate) + 5.0) ** 2 + 0.5 * (dropout - 0.1) ** 2
    loss += 0.01 * (_decades(1 - beta1) + 1) ** 2 + 0.01 * (_decades(1 - beta2) + 1.8) ** 2
    return loss + 0.3 * (smoothing - 0.08) ** 2


def schedule_given(c: Configuration) -> float | None:
    """A schedule with hyperparameters of its own under each kind, and a choice that is a trap."""
    rate, batch = _numbers(c, "learning_rate", "accumulation")
    x = _decades(rate) + 1.35 - 0.4 * _decades(batch)
    error = 0.2
    if c["schedule"] == "constant":
        error += 0.05
        x += 0.4
    elif c["schedule"] == "cosine":
        (warmup,) = _numbers(c, "warmup_fraction")
        x -= 0.8 * warmup / (0.1 + warmup)
        error += 0.5 * (warmup - 0.06) ** 2
    else:
        factor, every = _numbers(c, "decay_factor", "decay_every")
        error += 0.03 * (_decades(factor) + 0.7) ** 2 + 0.02 * (every - 4) ** 2 / 9 + 0.005
    if x > 0.25:
        return None
    error += 0.5 * _too_slow(x + 0.1, 0.9) + 0.02 * (_decades(batch) - 0.6) ** 2
    return error + (0.04 if c["nesterov"] is False else 0.0) * math.exp(-abs(x))


_SGD = {"learning_rate": tw.log(1e-3, 10.0), "momentum": tw.ranges.log_from_one(0.5, 0.995)}
_ADAM = {"learning_rate": tw.log(1e-5, 1e-1), "beta1": tw.ranges.log_from_one(0.5, 0.99)}

DIVERGING = (
    Problem(
        "momentum_sgd",
        "diverging",
        {**_SGD, "weight_decay": tw.log(1e-6, 1e-2), "label_smoothing": tw.linear(0.0, 0.3)},
        momentum_sgd,
        noise=0.01,
    ),
    Problem(
        "lucky_momentum",
        "diverging",
        {**_SGD, "weight_decay": tw.log(1e-6, 1e-2), "label_smoothing": tw.linear(0.0, 0.3)},
        momentum_sgd,
        noise=0.03,
        chance=_sgd_luck,
    ),
    Problem(
        "adam_warmup",
        "diverging",
        {
            **_ADAM,
            "beta2": tw.ranges.log_from_one(0.9, 0.9999),
            "warmup_fraction": tw.linear(0.0, 0.3),
            "weight_decay": tw.log(1e-4, 1.0),
            "dropout": tw.linear(0.0, 0.5),
        },
        adam_warmup,
        noise=0.01,
    ),
    Problem(
        "optimizer_given",
        "diverging",
        {
            "weight_decay": tw.log(1e-6, 1e-1),
            "optimizer": tw.given({"adam": _ADAM, "nesterov": _SGD}),
        },
        optimizer_given,
        noise=0.01,
    ),
    Problem(
        "noisy_optimizer_given",
        "diverging",
        {
            "weight_decay": tw.log(1e-6, 1e-1),
            "optimizer": tw.given({"adam": _ADAM, "nesterov": _SGD}),
        },
        optimizer_given,
        noise=0.04,
    ),
    Problem(
        "memory_limit",
        "diverging",
        {
            "learning_rate": tw.log(1e-5, 3e-2),
            "width": tw.integers(32, 4096, log=True),
            "depth": tw.integers(1, 40),
            "heads": tw.integers(1, 16, log=True),
        },
        memory_limit,
    ),
    Problem(
        "two_learning_rates",
        "diverging",
        {
            "learning_rate": tw.log(1e-5, 1e-2),
            "critic_learning_rate": tw.log(1e-5, 1e-2),
            "beta1": tw.linear(0.0, 0.9),
            "gradient_penalty": tw.log(0.1, 100.0),
        },
        two_learning_rates,
        noise=0.015,
    ),
    Problem(
        "norm_given",
        "diverging",
        {
            "learning_rate": tw.log(1e-5, 1.0),
            "dropout": tw.linear(0.0, 0.6),
            "activation": ["relu", "gelu"],
            "norm": tw.given(
                {
                    "none": {"init_scale": tw.log(0.1, 10.0)},
                    "batch": {"ghost_batch_size": tw.integers(8, 512, log=True)},
                    "layer": {},
                }
            ),
        },
        norm_given,
        noise=0.01,
    ),
    Problem(
        "clipped_recurrent",
        "diverging",
        {
            "learning_rate": tw.log(1e-4, 10.0),
            "clip": tw.log(0.01, 100.0),
            "forget_bias": tw.linear(0.0, 3.0),
            "dropout": tw.linear(0.0, 0.8),
            "embedding_size": tw.integers(32, 1024, log=True),
        },
        clipped_recurrent,
        noise=0.01,
        chance=_luck,
    ),
    Problem(
        "curved_ridge",
        "diverging",
        {
            "learning_rate": tw.log(1e-4, 0.1),
            "weight_decay": tw.log(1e-6, 1e-2),
            "init_scale": tw.log(0.1, 10.0),
        },
        curved_ridge,
    ),
    Problem(
        "transformer_8",
        "diverging",
        {
            **_ADAM,
            "beta2": tw.ranges.log_from_one(0.9, 0.9999),
            "weight_decay": tw.log(1e-4, 1.0),
            "warmup_steps": tw.integers(10, 4000, log=True),
            "dropout": tw.linear(0.0, 0.5),
            "label_smoothing": tw.linear(0.0, 0.3),
            "width": tw.integers(64, 1024, log=True),
        },
        transformer_8,
        noise=0.01,
    ),
    Problem(
        "schedule_given",
        "diverging",
        {
            "learning_rate": tw.log(1e-3, 1.0),
            "accumulation": tw.integers(1, 32, log=True),
            "nesterov": [True, False],
            "schedule": tw.given(
                {
                    "constant": {},
                    "cosine": {"warmup_fraction": tw.linear(0.0, 0.5)},
                    "step": {
                        "decay_factor": tw.log(0.01, 0.9),
                        "decay_every": tw.integers(1, 10),
                    },
                }
            ),
        },
        schedule_given,
        noise=0.01,
    ),
)
