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

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.pipeline.rank_group import rank_group, sum_over_ranks
from tunewright.pipeline.virtual_batch import (
    group_sizes,
    one_after_another,
    pooled,
    side_by_side,
)

# Up to this many groups are normalised one by one, more in one kernel, as channels side by side.
# One H200, bfloat16, 256 channels of 8x8, channels last; ms forward and backward, eager (captured):
#     2 groups of 64    0.70 (0.08) one by one, 1.05 (0.08) side by side
#     32 groups of 64   3.74 (1.29) one by one, 1.30 (0.75) side by side; plain norm 0.34 (0.32)
FEW = 4

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
            out, mean, var = self._subsampled(batch)
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
        if len(sizes) > FEW and len(set(sizes)) == 1:
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

    def _subsampled(self, batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
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
