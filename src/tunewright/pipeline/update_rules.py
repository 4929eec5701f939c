"""The playbook's update rules where torch's own are different ones.

(FAQ, "What are the update rules for all the popular optimization algorithms?")
Every hyperparameter of a parameter group may be a number or a tensor without dimensions on the
parameters' device. The learning rate is a tensor on CUDA, so that a step captured in a CUDA graph
follows the schedule, and no step ever waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

Number = float | Tensor
_Tensors = list[Tensor] | tuple[Tensor, ...]


class AdamRule(Optimizer):
    """Adam and NAdam as the playbook writes them: epsilon is added to the plain sqrt(v).

        m <- beta1 m + (1 - beta1) g        v <- beta2 v + (1 - beta2) g^2
        b  = sqrt(1 - beta2^t) / (1 - beta1^t)
        Adam   theta <- theta - learning_rate b m / (sqrt(v) + epsilon)
        NAdam  theta <- theta - learning_rate b (beta1 m + (1 - beta1) g) / (sqrt(v) + epsilon)

    `decoupled`: weight decay shrinks the weights by learning_rate * weight_decay (AdamW, NAdamW)
    instead of being added to the gradient.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Number,
        *,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        weight_decay: Number = 0.0,
        nesterov: bool = False,
        decoupled: bool = False,
    ) -> None:
        """Start with m = v = 0."""
        defaults = {
            "lr": lr,
            "beta1": beta1,
            "beta2": beta2,
            "epsilon": epsilon,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "decoupled": decoupled,
            "capturable": True,  # torch then restores the step counter to the parameters' device
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        for group in self.param_groups:
            params, grads = _with_gradients(group)
            if not params:
                continue
            first = self.state[group["params"][0]]  # the group's counter lives with its first
            if "step" not in first:
                first["step"] = torch.zeros((), device=params[0].device)
            means = _slots(self, params, "m", 0.0)
            squares = _slots(self, params, "v", 0.0)
            rate, beta1, beta2 = group["lr"], group["beta1"], group["beta2"]
            first["step"] += 1
            grads = _weight_decay(params, grads, group)
            _mix(means, grads, beta1)
            _mix_squares(squares, grads, beta2)
            ahead: _Tensors = means
            if group["nesterov"]:
                ahead = torch._foreach_mul(means, beta1)
                torch._foreach_add_(ahead, torch._foreach_mul(grads, 1 - beta1))
            roots = torch._foreach_sqrt(squares)
            torch._foreach_add_(roots, group["epsilon"])
            updates = torch._foreach_div(ahead, roots)
            # In float64: 1 - 0.999 loses 4 digits in float32.
            taken = first["step"].double()
            correction = (1 - beta2**taken).sqrt() / (1 - beta1**taken)
            torch._foreach_mul_(updates, (rate * correction).to(params[0].dtype))
            torch._foreach_sub_(params, updates)


class RMSPropRule(Optimizer):
    """RMSProp as the playbook writes it: v starts at 1, epsilon is inside the root, and the
    learning rate is inside the momentum, so that a schedule acts on new gradients only.

        v <- rho v + (1 - rho) g^2          m <- momentum m + learning_rate g / sqrt(v + epsilon)
        theta <- theta - m
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Number,
        *,
        rho: Number = 0.9,
        momentum: Number = 0.0,
        epsilon: Number = 1e-8,
        weight_decay: Number = 0.0,
    ) -> None:
        """Start with v = 1 and m = 0."""
        defaults = {
            "lr": lr,
            "rho": rho,
            "momentum": momentum,
            "epsilon": epsilon,
            "weight_decay": weight_decay,
            "decoupled": False,
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        for group in self.param_groups:
            params, grads = _with_gradients(group)
            if not params:
                continue
            squares = _slots(self, params, "v", 1.0)
            moves = _slots(self, params, "m", 0.0)
            grads = _weight_decay(params, grads, group)
            _mix_squares(squares, grads, group["rho"])
            roots = torch._foreach_add(squares, group["epsilon"])
            torch._foreach_sqrt_(roots)
            scaled = torch._foreach_div(grads, roots)
            torch._foreach_mul_(scaled, group["lr"])
            torch._foreach_mul_(moves, group["momentum"])
            torch._foreach_add_(moves, scaled)
            torch._foreach_sub_(params, moves)


def _with_gradients(group: dict[str, Any]) -> tuple[_Tensors, _Tensors]:
    params = [p for p in group["params"] if p.grad is not None]
    return params, [p.grad for p in params]


def _slots(optimizer: Optimizer, params: _Tensors, name: str, start: float) -> _Tensors:
    for p in params:
        if name not in optimizer.state[p]:
            optimizer.state[p][name] = torch.full_like(
                p, start, memory_format=torch.preserve_format
            )
    return [optimizer.state[p][name] for p in params]


def _weight_decay(params: _Tensors, grads: _Tensors, group: dict[str, Any]) -> _Tensors:
    decay = group["weight_decay"]
    if isinstance(decay, float | int) and decay == 0:
        return grads
    if group["decoupled"]:
        torch._foreach_mul_(params, 1 - group["lr"] * decay)
        return grads
    return torch._foreach_add(grads, torch._foreach_mul(params, decay))


def _mix(averages: _Tensors, new: _Tensors, keep: Number) -> None:
    """averages <- keep averages + (1 - keep) new."""
    if isinstance(keep, Tensor):
        torch._foreach_mul_(averages, keep)
        torch._foreach_add_(averages, torch._foreach_mul(new, 1 - keep))
    else:
        torch._foreach_lerp_(averages, new, 1 - keep)


def _mix_squares(averages: _Tensors, new: _Tensors, keep: Number) -> None:
    """averages <- keep averages + (1 - keep) new^2."""
    torch._foreach_mul_(averages, keep)
    if isinstance(keep, Tensor):
        torch._foreach_add_(averages, torch._foreach_mul(torch._foreach_mul(new, new), 1 - keep))
    else:
        torch._foreach_addcmul_(averages, new, new, 1 - keep)
