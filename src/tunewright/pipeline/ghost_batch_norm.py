"""Batch norm over a virtual batch: how many examples normalise is set apart from the batch size.

Changing the batch size or the number of hosts changes plain batch norm, and so the model that is
trained. `GhostBatchNorm(channels, virtual_batch_size=64)` computes its statistics over 64 examples
(arXiv:1705.08741; playbook, "Batch normalization implementation details") whatever a device holds:

    batch = virtual     plain batch norm
    batch > virtual     mode="split": each group of 64 is normalised by itself;
                        mode="subsample": statistics of 64 drawn examples normalise the whole batch
    batch < virtual     the ranks are taken in groups that hold 64 together

Running statistics are those that training normalised with, updated once per optimizer step.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.messages import Message
from tunewright.pipeline import hosts

# Up to this many groups are normalised one by one, more in one kernel, as channels side by side.
# One H200, bfloat16, 256 channels of 8x8, channels last; ms forward and backward, eager (captured):
#     2 groups of 64    0.70 (0.08) one by one, 1.05 (0.08) side by side
#     32 groups of 64   3.74 (1.29) one by one, 1.30 (0.75) side by side; plain norm 0.34 (0.32)
_FEW_GROUPS = 4

Mode = Literal["split", "subsample"]
Running = Literal["ghost", "total"]


class GhostBatchNorm(nn.Module):
    """Batch norm for (N, C, ...) whose statistics come from `virtual_batch_size` examples.

    Parameters and buffers have the names of torch's BatchNorm: state dicts go both ways.

    `running="ghost"`: the mean over groups of their means and unbiased variances, so evaluation
    normalises as training did. (Biased variances of 16 would be 6 % too small; the variance between
    group means is not added.) `running="total"`: mean and variance of the whole batch of this rank.
    `strict=False` accepts batches that virtual batches do not fit, with the nearest group sizes.
    `momentum` is torch's (0.1 means 10 % new), None the plain average over all updates.

    >>> layer = GhostBatchNorm(3, virtual_batch_size=4)
    >>> batch = torch.randn(8, 3, 5, 5)
    >>> first_four_alone = nn.BatchNorm2d(3)(batch[:4])
    >>> torch.allclose(layer(batch)[:4], first_four_alone)
    True
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    pending_mean: Tensor
    pending_var: Tensor

    def __init__(
        self,
        num_features: int,
        virtual_batch_size: int = 64,
        momentum: float | None = 0.1,
        eps: float = 1e-5,
        *,
        mode: Mode = "split",
        running: Running = "ghost",
        strict: bool = True,
        micro_batches: int = 1,
        affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """A layer for `num_features` channels."""
        super().__init__()
        for name, value, allowed in (
            ("mode", mode, ("split", "subsample")),
            ("running", running, ("ghost", "total")),
        ):
            if value not in allowed:
                raise PipelineError(
                    "batch_norm.bad_choice",
                    name=name,
                    value=value,
                    allowed=allowed[0],
                    allowed_2=allowed[1],
                )
        if virtual_batch_size < 2:
            raise PipelineError(
                "batch_norm.virtual_batch_too_small", virtual_batch_size=virtual_batch_size
            )
        if micro_batches < 1:
            raise PipelineError("batch_norm.bad_micro_batches", micro_batches=micro_batches)
        self.num_features, self.virtual_batch_size = num_features, virtual_batch_size
        self.momentum, self.eps = momentum, eps
        self.mode, self.running, self.strict = mode, running, strict
        self.micro_batches = micro_batches  # forward passes per optimizer step
        self.micro_batches_seen = 0  # of the step under way
        like: dict[str, Any] = {"device": device, "dtype": dtype}
        self.weight = nn.Parameter(torch.ones(num_features, **like)) if affine else None
        self.bias = nn.Parameter(torch.zeros(num_features, **like)) if affine else None
        self.register_buffer("running_mean", torch.zeros(num_features, **like))
        self.register_buffer("running_var", torch.ones(num_features, **like))
        self.register_buffer("num_batches_tracked", torch.tensor(0, device=device))
        # Not part of a checkpoint: they are empty whenever a step is complete.
        self.register_buffer("pending_mean", torch.zeros(num_features, **like), persistent=False)
        self.register_buffer("pending_var", torch.zeros(num_features, **like), persistent=False)

    def forward(self, batch: Tensor) -> Tensor:
        """Normalise by virtual batches in training, by the running statistics in evaluation."""
        if batch.dim() < 2 or batch.shape[1] != self.num_features:
            raise PipelineError(
                "batch_norm.bad_shape", num_features=self.num_features, shape=tuple(batch.shape)
            )
        if not self.training:
            return F.batch_norm(
                batch, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        examples, virtual = batch.shape[0], self.virtual_batch_size
        if examples < virtual:
            out, mean, var = self._over_ranks(batch)
        elif self.mode == "subsample" and examples > virtual:
            out, mean, var = self._subsample(batch)
        else:
            out, mean, var = self._split(batch)
        self._take_in(mean, var)
        return out

    def _split(self, batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        sizes = group_sizes(batch.shape[0], self.virtual_batch_size, self.strict)
        # torch's fused kernel leaves mean and unbiased variance in its running statistics: with
        # momentum 1 they are exactly the group's, at no further pass over the activations.
        means = torch.zeros(len(sizes), self.num_features, **_like(self.running_mean))
        variances = torch.zeros_like(means)
        if len(sizes) > _FEW_GROUPS and len(set(sizes)) == 1:
            weight = None if self.weight is None else self.weight.repeat(len(sizes))
            bias = None if self.bias is None else self.bias.repeat(len(sizes))
            stacked = F.batch_norm(
                side_by_side(batch, len(sizes)),
                means.view(-1),
                variances.view(-1),
                weight,
                bias,
                training=True,
                momentum=1.0,
                eps=self.eps,
            )
            out = one_after_another(stacked, batch, len(sizes))
        else:
            parts = [
                F.batch_norm(part, mean, var, self.weight, self.bias, True, 1.0, self.eps)
                for part, mean, var in zip(torch.split(batch, sizes), means, variances, strict=True)
            ]
            out = parts[0] if len(parts) == 1 else torch.cat(parts)
        if self.running == "total" and len(sizes) > 1:
            return out, *pooled(means, variances, sizes, batch[0, 0].numel())
        return out, means.mean(0), variances.mean(0)

    def _subsample(self, batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        # argsort of uniform draws, not randperm: it can be captured in a CUDA graph.
        drawn = torch.rand(batch.shape[0], device=batch.device).argsort()[: self.virtual_batch_size]
        exact = _exact(batch)
        sample = exact[drawn]
        over = _all_but_channels(batch)
        var, mean = torch.var_mean(sample, over, correction=0)
        out = self._affine(
            (exact - _column(mean, batch)) * _column((var + self.eps).rsqrt(), batch)
        )
        if self.running == "total":
            var, mean = torch.var_mean(exact, over, correction=1)
        else:
            count = sample.numel() // self.num_features
            var = var * (count / (count - 1))
        return out.to(batch.dtype), mean.detach(), var.detach()

    def _over_ranks(self, batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        group = rank_group(batch.shape[0], self.virtual_batch_size, self.strict)
        exact, over = _exact(batch), _all_but_channels(batch)
        count = torch.full((1,), exact.numel() // self.num_features, **_like(exact))
        # Two sums, not sum and sum of squares in one: their difference cancels in float32.
        sums = sum_over_ranks(torch.cat([exact.sum(over), count]), group)
        total = sums[-1]
        mean = sums[:-1] / total
        centred = exact - _column(mean, batch)
        squares = sum_over_ranks(centred.square().sum(over), group)
        out = self._affine(centred * _column((squares / total + self.eps).rsqrt(), batch))
        return out.to(batch.dtype), mean.detach(), (squares / (total - 1)).detach()

    def _affine(self, normalised: Tensor) -> Tensor:
        if self.weight is None or self.bias is None:
            return normalised
        return normalised * _column(self.weight, normalised) + _column(self.bias, normalised)

    @torch.no_grad()
    def _take_in(self, mean: Tensor, var: Tensor) -> None:
        """One update of the running statistics per optimizer step, however it is cut up."""
        mean, var = mean.to(self.running_mean.dtype), var.to(self.running_var.dtype)
        if self.micro_batches > 1:
            self.pending_mean += mean / self.micro_batches
            self.pending_var += var / self.micro_batches
            self.micro_batches_seen += 1
            if self.micro_batches_seen < self.micro_batches:
                return
            mean, var = self.pending_mean, self.pending_var
        self.num_batches_tracked += 1
        if self.momentum is None:
            new = (1 / self.num_batches_tracked.double()).to(self.running_mean.dtype)
            self.running_mean.lerp_(mean, new)
            self.running_var.lerp_(var, new)
        else:
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(var, self.momentum)
        if self.micro_batches > 1:
            self.micro_batches_seen = 0
            self.pending_mean.zero_()
            self.pending_var.zero_()

    def extra_repr(self) -> str:
        """What print(model) shows."""
        return (
            f"{self.num_features}, virtual_batch_size={self.virtual_batch_size}, mode={self.mode}, "
            f"running={self.running}, momentum={self.momentum}, eps={self.eps}"
        )


def convert_batch_norm(
    model: nn.Module,
    virtual_batch_size: int = 64,
    *,
    mode: Mode = "split",
    running: Running = "ghost",
    strict: bool = True,
) -> nn.Module:
    """The model with every batch norm of torch (SyncBatchNorm too) replaced, in place.

    Weights are the same objects, so an optimizer made before stays valid; statistics are kept.

    Args:
        model: changed in place.
        virtual_batch_size: examples that are normalised together.
        mode: how a batch is cut into virtual batches.
        running: what the running statistics describe: one virtual batch, or all examples.
        strict: refuse batches that the virtual batch size does not divide.

    >>> net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
    >>> convert_batch_norm(net, 32)[1]
    GhostBatchNorm(8, virtual_batch_size=32, mode=split, running=ghost, momentum=0.1, eps=1e-05)
    """
    for name, child in model.named_children():
        ghost = convert_batch_norm(
            child, virtual_batch_size, mode=mode, running=running, strict=strict
        )
        if ghost is not child:
            setattr(model, name, ghost)
    if not isinstance(model, nn.modules.batchnorm._BatchNorm):
        return model
    if isinstance(model, nn.modules.lazy.LazyModuleMixin):
        raise PipelineError("batch_norm.lazy")
    if model.running_mean is None or model.running_var is None:
        raise PipelineError("batch_norm.no_running_statistics", model=model)
    like: dict[str, Any] = _like(model.running_mean)
    ghost = GhostBatchNorm(
        model.num_features,
        virtual_batch_size,
        model.momentum,
        model.eps,
        mode=mode,
        running=running,
        strict=strict,
        affine=model.affine,
        **like,
    )
    ghost.load_state_dict(model.state_dict())
    if model.affine:
        ghost.weight, ghost.bias = model.weight, model.bias
    return ghost.train(model.training)


def set_micro_batches(model: nn.Module, micro_batches: int) -> None:
    """Set how many forward passes make one optimizer step, in every GhostBatchNorm of the model."""
    if micro_batches < 1:
        raise PipelineError("batch_norm.bad_micro_batches", micro_batches=micro_batches)
    for layer in model.modules():
        if isinstance(layer, GhostBatchNorm):
            layer.micro_batches = micro_batches


def _exact(batch: Tensor) -> Tensor:
    return batch if batch.dtype == torch.float64 else batch.float()


def _all_but_channels(batch: Tensor) -> list[int]:
    return [0, *range(2, batch.dim())]


def _column(per_channel: Tensor, batch: Tensor) -> Tensor:
    return per_channel.view(1, -1, *[1] * (batch.dim() - 2))


def _like(tensor: Tensor) -> dict[str, Any]:
    return {"device": tensor.device, "dtype": tensor.dtype}


# ---- a batch cut into virtual batches, and laid out so that one kernel normalises all of them


def group_sizes(examples: int, virtual_batch_size: int, strict: bool = True) -> list[int]:
    """How a batch is cut into virtual batches; not strict: the nearest sizes, at least half of it.

    >>> group_sizes(128, 64), group_sizes(100, 64, strict=False), group_sizes(90, 64, strict=False)
    ([64, 64], [50, 50], [90])
    """
    groups, rest = divmod(examples, virtual_batch_size)
    if not rest:
        return [virtual_batch_size] * groups
    groups = max(1, min(round(examples / virtual_batch_size), examples // 2))
    sizes = [examples // groups + (index < examples % groups) for index in range(groups)]
    if strict:
        raise PipelineError(
            "batch_norm.not_divisible",
            examples=examples,
            virtual_batch_size=virtual_batch_size,
            sizes=", ".join(map(str, sizes)),
        )
    return sizes


def side_by_side(batch: Tensor, groups: int) -> Tensor:
    """The groups of a batch as groups * C channels of one virtual batch."""
    if _channels_last(batch):
        rows = batch.movedim(1, -1).reshape(groups, -1, batch.shape[1])
        return rows.transpose(0, 1).flatten(1)
    return batch.reshape(groups, -1, *batch.shape[1:]).transpose(0, 1).flatten(1, 2)


def one_after_another(stacked: Tensor, batch: Tensor, groups: int) -> Tensor:
    """The inverse, in the shape and memory format of the batch."""
    if _channels_last(batch):
        rows = stacked.reshape(-1, groups, batch.shape[1]).transpose(0, 1)
        return rows.reshape(batch.movedim(1, -1).shape).movedim(-1, 1)
    rows = stacked.reshape(-1, groups, *batch.shape[1:]).transpose(0, 1)
    return rows.reshape(batch.shape)


def pooled(means: Tensor, variances: Tensor, sizes: list[int], each: int) -> tuple[Tensor, Tensor]:
    """Mean and unbiased variance of the whole batch from those of its groups."""
    # Plain numbers: copying a tensor of counts to the device cannot be captured in a CUDA graph.
    counts, total = [size * each for size in sizes], sum(sizes) * each
    mean = torch.stack([n * m for n, m in zip(counts, means, strict=True)]).sum(0) / total
    squares = torch.stack(
        [
            (n - 1) * v + n * (m - mean).square()
            for n, m, v in zip(counts, means, variances, strict=True)
        ]
    )
    return mean, squares.sum(0) / (total - 1)


def _channels_last(batch: Tensor) -> bool:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return (
        batch.dim() in formats
        and not batch.is_contiguous()
        and batch.is_contiguous(memory_format=formats[batch.dim()])
    )


# ---- sums over a group of ranks that autograd sees: a virtual batch larger than one device's batch


def rank_group(
    examples: int, virtual_batch_size: int, strict: bool = True
) -> dist.ProcessGroup | None:
    """The ranks that together hold one virtual batch, when one holds `examples`; None: this alone.

    Not strict: the largest group up to that size which the number of processes allows.
    """
    world = hosts.current().world
    wanted = -(-virtual_batch_size // examples)
    if strict and (virtual_batch_size % examples or world % wanted):
        raise PipelineError(
            "batch_norm.no_rank_group",
            examples=examples,
            virtual_batch_size=virtual_batch_size,
            world=world,
        )
    together = max(size for size in range(1, wanted + 1) if world % size == 0)
    return None if together == 1 else _subgroup(dist.group.WORLD, together)


def sum_over_ranks(values: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    """The sum over the group's ranks; its gradient is the sum of every rank's gradient."""
    summed: Tensor = _SumOverRanks.apply(values, group)  # type: ignore[no-untyped-call]
    return summed


class _SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        ctx.group = group
        return _all_reduce(values, group)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _all_reduce(gradients[0], ctx.group), None


def _all_reduce(values: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    out = values.contiguous().clone()
    if group is not None:
        dist.all_reduce(out, group=group)
    return out


@lru_cache(maxsize=16)
def _subgroup(world: Any, size: int) -> dist.ProcessGroup:
    # Making groups is a collective call, so the answer is kept per (process group, size); all
    # ranks come here at the same layer of their first step.
    mine: dist.ProcessGroup
    mine, _ = dist.new_subgroups(size)  # type: ignore[no-untyped-call]
    return mine


# ---- does a model normalise over so few examples, or over so many processes, that it should not?
#
# Batch norm trains another model at every batch size and number of hosts; layer norm does not
# (playbook, "Batch normalization implementation details"). A note, never a refusal: a model that
# is known to work may need its batch norm.


# Below 16 examples the error of batch norm rises steeply (group norm, arXiv:1803.08494, figure 1).
FEW = 16


def norm_notes(model: nn.Module, examples: int, world: int) -> tuple[Message, ...]:
    """What to know about the batch norm of a model that trains on `examples` per forward pass.

    `GhostBatchNorm` and `SyncBatchNorm` are silent over several processes: they fix how many
    examples normalise, or take them from all. Layer, group and instance norm always are.

    >>> [note.code for note in norm_notes(nn.BatchNorm1d(4), examples=8, world=1)]
    ['fit.note.batch_norm_few']
    >>> norm_notes(nn.BatchNorm1d(4), examples=64, world=1), norm_notes(nn.LayerNorm(4), 2, 8)
    ((), ())
    """
    plain = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    apart = [m for m in plain if not isinstance(m, nn.SyncBatchNorm)]
    notes = []
    held = examples if apart else examples * world
    if plain and held < FEW:
        facts = {"layers": len(plain), "examples": held, "fewest": FEW}
        notes.append(Message("fit.note.batch_norm_few", facts))
    if apart and world > 1:
        facts = {"layers": len(apart), "examples": examples, "world": world}
        notes.append(Message("fit.note.batch_norm_apart", facts))
    return tuple(notes)
