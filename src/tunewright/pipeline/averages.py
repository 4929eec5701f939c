"""Averages that evaluation reads: batch-norm statistics over ranks, and weights over steps.

The moving averages of batch norm are linear in the batches' statistics, so ranks may gather them
apart and combine them when they are read: before every evaluation and every checkpoint, or else
only the first device's are kept (playbook, "Batch normalization implementation details").
Polyak averaging makes a second model of the weights; its batch norm needs separate statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.ghost_batch_norm import GhostBatchNorm
from tunewright.pipeline.hosts import Host


@torch.no_grad()
def sync_batch_norm(
    model: nn.Module, host: Host | None = None, *, spread: bool | None = None
) -> None:
    """Give every rank the same batch-norm statistics; call it on all ranks before they are read.

    Means are averaged over ranks, and so are variances. Twice is as good as once. One process has
    nothing to share:

    >>> model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    >>> sync_batch_norm(model)
    >>> model[1].running_mean.tolist()
    [0.0, 0.0, 0.0]

    Args:
        model: whose statistics are shared.
        host: the ranks that share; None: those of torch.distributed.
        spread: whether to add the variance of the means between ranks, which makes them the
            variance of all examples together; None: for plain batch norm and `running="total"`, not
            for ghost statistics, which describe one virtual batch.
    """
    host = host or hosts.current()
    layers = batch_norm_layers(model)
    if host.world == 1 or not layers:
        return
    own_means = torch.cat([layer.running_mean for layer in layers]).double()
    own_vars = torch.cat([layer.running_var for layer in layers]).double()
    means, variances = hosts.all_sum(torch.stack([own_means, own_vars]), host) / host.world
    between = hosts.all_sum((own_means - means).square(), host) / host.world
    sizes = [layer.num_features for layer in layers]
    for layer, mean, var, extra in zip(
        layers,
        torch.split(means, sizes),
        torch.split(variances, sizes),
        torch.split(between, sizes),
        strict=True,
    ):
        ghost = isinstance(layer, GhostBatchNorm) and layer.running == "ghost"
        layer.running_mean.copy_(mean)
        layer.running_var.copy_(var + extra if (not ghost if spread is None else spread) else var)


@torch.no_grad()
def recompute_batch_norm(
    model: nn.Module,
    batches: Iterable[Any],
    forward: Callable[[nn.Module, Any], object] | None = None,
    *,
    most: int = 200,
    host: Host | None = None,
) -> int:
    """Measure the batch-norm statistics anew, as plain averages over up to `most` batches.

    For weights that no training step has seen, such as an average of weights. Give at least 200
    training batches. Returns how many were used.

    Args:
        model: whose statistics are measured.
        batches: training batches on the model's device.
        forward: `forward(model, batch)` runs the model; None: it is called with the batch, or with
            its first part where the batch is a tuple.
        most: batches to use at most.
        host: the ranks that measure together; None: those of torch.distributed.
    """
    layers = batch_norm_layers(model)
    if not layers:
        return 0
    inner, run = hosts.unwrap(model), forward or _call
    kept = [(layer, layer.momentum, getattr(layer, "micro_batches", 1)) for layer in layers]
    used = 0
    try:
        for layer in layers:
            layer.momentum = None  # the plain average of all batches
            layer.running_mean.zero_()
            layer.running_var.fill_(1)
            layer.num_batches_tracked.zero_()
            if isinstance(layer, GhostBatchNorm):
                layer.micro_batches = 1
        with keep_modes(model), fork_rng(inner):
            model.train()
            for batch in islice(batches, most):
                run(inner, batch)
                used += 1
    finally:
        for layer, momentum, micro_batches in kept:
            layer.momentum = momentum
            if isinstance(layer, GhostBatchNorm):
                layer.micro_batches = micro_batches
    if not used:
        raise PipelineError("averages.no_batches")
    sync_batch_norm(model, host)
    return used


class Averages:
    """The exponential moving average of a model's weights and batch-norm statistics (Polyak).

        averages = Averages(model, decay=0.999)
        ...  # after each optimizer step
        averages.update(model)
        with averages.applied(model):
            evaluation = evaluate(model, ...)

    The batch-norm statistics are averaged like the weights. Where that is too rough, measure them:
    `recompute_batch_norm(model, batches)` inside the block. Averages are kept in float32 at least:
    0.999 cannot move a bfloat16 weight. `warmup` starts with a low decay, min(decay, (1 + t)/(10 +
    t)) at update t, so that the initial weights are soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float = 0.999, warmup: bool = True) -> None:
        """Start from the weights as they are."""
        if not 0 <= decay < 1:
            raise PipelineError("averages.bad_decay", decay=decay)
        self.decay, self.warmup = decay, warmup
        self._values = {name: _copy(live) for name, live in _live(model).items()}
        where = next(iter(self._values.values())).device if self._values else None
        # On the device and never read on the host: the update can be captured in a CUDA graph.
        self._updates = torch.zeros((), dtype=torch.float64, device=where)

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take in the weights after one optimizer step."""
        live = self._matching(model)
        moving = [name for name in live if live[name].is_floating_point()]
        averages = [self._values[name] for name in moving]
        difference = torch._foreach_sub([live[name] for name in moving], averages)
        torch._foreach_mul_(difference, self._new_share())
        torch._foreach_add_(averages, difference)
        self._updates += 1
        for name in live.keys() - set(moving):
            self._values[name].copy_(live[name])  # counters, such as num_batches_tracked

    def _new_share(self) -> Tensor:
        decay = torch.full_like(self._updates, self.decay)
        if self.warmup:
            decay = torch.minimum(decay, (1 + self._updates) / (10 + self._updates))
        return 1 - decay

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[nn.Module]:
        """The averages stand in the model inside the block; after it the weights, bit for bit."""
        live = self._matching(model)
        weights = {name: tensor.detach().clone() for name, tensor in live.items()}
        try:
            _copy_into(self._values, live)
            yield model
        finally:
            _copy_into(weights, live)

    def sync(self, model: nn.Module, host: Host | None = None) -> None:
        """Combine the averaged batch-norm statistics of all ranks; before a checkpoint."""
        with self.applied(model):
            sync_batch_norm(model, host)
            for name, live in hosts.bare(model).named_buffers():
                if name in self._values:
                    self._values[name].copy_(live)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "decay": self.decay,
            "warmup": self.warmup,
            "updates": self._updates,
            "values": dict(self._values),
        }

    @torch.no_grad()
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint of the same model."""
        values: Mapping[str, Tensor] = state["values"]
        _same_names(values, self._values, "the checkpoint", "this model")
        self.decay, self.warmup = state["decay"], state["warmup"]
        self._updates.copy_(state["updates"])
        for name, tensor in self._values.items():
            tensor.copy_(values[name])

    def _matching(self, model: nn.Module) -> dict[str, Tensor]:
        live = _live(model)
        _same_names(live, self._values, "this model", "the averaged model")
        return live


def batch_norm_layers(model: nn.Module) -> list[Any]:
    """Every layer that keeps batch-norm statistics: GhostBatchNorm and torch's own."""
    kinds = (GhostBatchNorm, nn.modules.batchnorm._BatchNorm)
    return [
        layer
        for layer in model.modules()
        if isinstance(layer, kinds) and layer.running_mean is not None
    ]


@contextmanager
def keep_modes(model: nn.Module) -> Iterator[None]:
    """Leave each module in its mode: a frozen batch norm must not come back in training mode."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


@contextmanager
def fork_rng(model: nn.Module) -> Iterator[None]:
    """Leave the random state of the CPU and of the model's device as it was found."""
    devices = {parameter.device for parameter in model.parameters() if parameter.is_cuda}
    with torch.random.fork_rng(devices=[device.index for device in devices]):
        yield


def _live(model: nn.Module) -> dict[str, Tensor]:
    inner = hosts.bare(model)
    transient = {
        f"{prefix}.{name}" if prefix else name
        for prefix, module in inner.named_modules()
        for name in module._non_persistent_buffers_set
    }
    live: dict[str, Tensor] = {name: value.detach() for name, value in inner.named_parameters()}
    live |= {name: value for name, value in inner.named_buffers() if name not in transient}
    return live


def _copy(live: Tensor) -> Tensor:
    exact = torch.promote_types(live.dtype, torch.float32) if live.is_floating_point() else None
    return live.detach().to(dtype=exact, copy=True)


@torch.no_grad()
def _copy_into(values: Mapping[str, Tensor], live: Mapping[str, Tensor]) -> None:
    for name, tensor in live.items():
        tensor.copy_(values[name])


def _same_names(
    tensors: Mapping[str, Tensor], wanted: Mapping[str, Tensor], here: str, there: str
) -> None:
    problems = [f"{name} is missing in {here}" for name in wanted.keys() - tensors.keys()]
    problems += [f"{name} is missing in {there}" for name in tensors.keys() - wanted.keys()]
    for name in wanted.keys() & tensors.keys():
        shape, other = tuple(tensors[name].shape), tuple(wanted[name].shape)
        if shape != other:
            problems.append(f"{name} is {shape} in {here} and {other} in {there}")
    if problems:
        raise PipelineError("averages.other_model", differences="; ".join(sorted(problems)[:5]))


def _call(model: nn.Module, batch: Any) -> object:
    return model(batch[0] if isinstance(batch, (tuple, list)) else batch)
