"""Optimizers as frozen data, built for a model's parameters when training starts.

Torch's own are used where their rule is the playbook's formula. Where it is another one, `form`
selects the rule:

    SGD, Momentum, Nesterov     torch's rule is the playbook's
    Adam, AdamW                 torch adds epsilon to sqrt(v) after its bias correction, the
                                playbook before it: they differ where epsilon is not tiny
    RMSProp                     torch starts v at 0, puts epsilon outside the root and the learning
                                rate outside the momentum: another rule under a schedule
    NAdam, NAdamW               torch has a schedule for the momentum that the playbook has not

Adam and AdamW are torch's by default (fused on CUDA), the others the playbook's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol

import torch
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.nearest import nearest
from tunewright.pipeline.update_rules import AdamRule, RMSPropRule

Form = Literal["torch", "playbook"]
Parameters = Iterable[nn.Parameter] | Iterable[dict[str, Any]]


class OptimizerChoice(Protocol):
    """An optimizer's name and hyperparameters, without its learning rate."""

    def build(self, parameters: Parameters, learning_rate: float) -> torch.optim.Optimizer:
        """The optimizer for these parameters (or groups of them, as torch takes them)."""


Optimizer = OptimizerChoice | Callable[[nn.Module], torch.optim.Optimizer]


class _Checked:
    """Hyperparameters that are checked when they are given."""

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True)
class SGD(_Checked):
    """theta <- theta - learning_rate g.

    >>> weight = nn.Parameter(torch.ones(1))
    >>> type(SGD(weight_decay=1e-4).build([weight], learning_rate=0.1)).__name__
    'SGD'
    """

    weight_decay: float = 0.0  # added to the gradient

    def build(self, parameters: Parameters, learning_rate: float) -> torch.optim.Optimizer:
        """Torch's SGD."""
        return _sgd(parameters, learning_rate, weight_decay=self.weight_decay)


@dataclass(frozen=True)
class Momentum(_Checked):
    """v <- momentum v + g, theta <- theta - learning_rate v.

    >>> weight = nn.Parameter(torch.ones(1))
    >>> type(Momentum(0.95).build([weight], learning_rate=0.1)).__name__
    'SGD'
    """

    momentum: float = 0.9
    weight_decay: float = 0.0  # added to the gradient

    def build(self, parameters: Parameters, learning_rate: float) -> torch.optim.Optimizer:
        """Torch's SGD with momentum."""
        return _sgd(
            parameters, learning_rate, momentum=self.momentum, weight_decay=self.weight_decay
        )


@dataclass(frozen=True)
class Nesterov(Momentum):
    """v <- momentum v + g, theta <- theta - learning_rate (momentum v + g)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.momentum == 0:
            raise PipelineError("optimizer.nesterov_without_momentum")

    def build(self, parameters: Parameters, learning_rate: float) -> torch.optim.Optimizer:
        """Torch's SGD with Nesterov momentum."""
        return _sgd(
            parameters,
            learning_rate,
            momentum=self.momentum,
            nesterov=True,
            weight_decay=self.weight_decay,
        )


@dataclass(frozen=True)
class RMSProp(_Checked):
    """The rule of `update_rules.RMSPropRule`, or torch's.

    >>> weight = nn.Parameter(torch.ones(1))
    >>> type(RMSProp(rho=0.95).build([weight], learning_rate=0.1)).__name__
    'RMSPropRule'
    """

    rho: float = 0.9  # decay of the mean of the squared gradient
    momentum: float = 0.0  # of the update
    epsilon: float = 1e-8  # added below the root, or outside of it in torch's form
    weight_decay: float = 0.0  # added to the gradient
    form: Form = "playbook"  # which rule, torch's or the playbook's

    def build(self, parameters: Parameters, learning_rate: float) -> torch.optim.Optimizer:
        """The playbook's rule, or torch's RMSprop."""
        groups, on_cuda = _groups(parameters)
        rate = _rate(learning_rate, on_cuda)
        if self.form == "torch":
            return torch.optim.RMSprop(
                groups,
                rate,
                alpha=self.rho,
                eps=self.epsilon,
                momentum=self.momentum,
                weight_decay=self.weight_decay,
                capturable=on_cuda is not None,
            )
        return RMSPropRule(
            groups,
            rate,
            rho=self.rho,
            momentum=self.momentum,
            epsilon=self.epsilon,
            weight_decay=self.weight_decay,
        )


@dataclass(frozen=True)
class Adam(_Checked):
    """The rule of `update_rules.AdamRule`, or torch's; weight decay is added to the gradient.

    >>> weight = nn.Parameter(torch.ones(1))
    >>> type(Adam(beta2=0.99).build([weight], learning_rate=0.1)).__name__
    'Adam'
    """

    beta1: float = 0.9  # decay of the mean of the gradient
    beta2: float = 0.999  # decay of the mean of its square
    epsilon: float = 1e-8  # added to the root of that mean
    weight_decay: float = 0.0  # added to the gradient
    form: Form = "torch"  # which rule, torch's or the playbook's
    _nesterov: ClassVar[bool] = False
    _decoupled: ClassVar[bool] = False  # weight decay shrinks the weights

    def build(self, parameters: Parameters, learning_rate: float) -> torch.optim.Optimizer:
        """Torch's optimizer of this name, or the playbook's rule."""
        groups, on_cuda = _groups(parameters)
        rate = _rate(learning_rate, on_cuda)
        if self.form == "torch":
            return self._torch(groups, rate, on_cuda is not None)
        return AdamRule(
            groups,
            rate,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            weight_decay=self.weight_decay,
            nesterov=self._nesterov,
            decoupled=self._decoupled,
        )

    def _torch(
        self, groups: list[Any], rate: float | Tensor, on_cuda: bool
    ) -> torch.optim.Optimizer:
        # torch asks for `capturable` inside a CUDA graph, fused or not
        options: dict[str, Any] = {"fused": True if on_cuda else None}
        kind: Any = torch.optim.AdamW if self._decoupled else torch.optim.Adam
        if self._nesterov:
            kind, options = torch.optim.NAdam, {"decoupled_weight_decay": self._decoupled}
        optimizer: torch.optim.Optimizer = kind(
            groups,
            rate,
            betas=(self.beta1, self.beta2),
            eps=self.epsilon,
            weight_decay=self.weight_decay,
            capturable=on_cuda,
            **options,
        )
        return optimizer


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam whose weight decay shrinks the weights by learning_rate * weight_decay.

    >>> weight = nn.Parameter(torch.ones(1))
    >>> type(AdamW(weight_decay=0.1).build([weight], learning_rate=0.1)).__name__
    'AdamW'
    """

    weight_decay: float = 0.01
    _decoupled: ClassVar[bool] = True


@dataclass(frozen=True)
class NAdam(Adam):
    """Adam with Nesterov momentum; weight decay is added to the gradient.

    >>> weight = nn.Parameter(torch.ones(1))
    >>> type(NAdam(beta1=0.95).build([weight], learning_rate=0.1)).__name__
    'AdamRule'
    """

    form: Form = "playbook"  # which rule, torch's or the playbook's
    _nesterov: ClassVar[bool] = True


@dataclass(frozen=True)
class NAdamW(NAdam):
    """NAdam whose weight decay shrinks the weights by learning_rate * weight_decay.

    >>> weight = nn.Parameter(torch.ones(1))
    >>> type(NAdamW(form="torch").build([weight], learning_rate=0.1)).__name__
    'NAdam'
    """

    weight_decay: float = 0.01
    _decoupled: ClassVar[bool] = True


_NAMED: dict[str, type] = {
    kind.__name__.lower(): kind
    for kind in (SGD, Momentum, Nesterov, RMSProp, Adam, AdamW, NAdam, NAdamW)
}


def named(name: str, **hyperparameters: Any) -> OptimizerChoice:
    """An optimizer by its name, for a training function that is tuned.

    Args:
        name: sgd, momentum, nesterov, rmsprop, adam, adamw, nadam or nadamw.
        hyperparameters: of that optimizer; the learning rate is not one of them.

    >>> named("nesterov", momentum=0.95)
    Nesterov(momentum=0.95, weight_decay=0.0)
    """
    kind = _NAMED.get(name.lower())
    if kind is None:
        near = nearest(name.lower(), _NAMED)
        hint = f"Did you mean {near!r}?" if near else f"There are {', '.join(_NAMED)}."
        raise PipelineError("optimizer.unknown", name=name, hint=hint)
    known = [f.name for f in fields(kind)]
    for given in hyperparameters:
        if given not in known:
            near = nearest(given, known)
            hint = f"Did you mean {near!r}?" if near else f"It has {', '.join(known)}."
            raise PipelineError(
                "optimizer.unknown_hyperparameter", kind=kind.__name__, name=given, hint=hint
            )
    choice: OptimizerChoice = kind(**hyperparameters)
    return choice


def set_learning_rate(optimizer: torch.optim.Optimizer, value: float) -> None:
    """Use this rate from the next update on, without waiting for the device.

    A parameter group may carry `lr_scale`, a separate factor.
    """
    for group in optimizer.param_groups:
        rate = value * group.get("lr_scale", 1.0)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def keep_rate_on_host(optimizer: torch.optim.Optimizer) -> None:
    """Make the learning rate a plain number again, where no captured step has to read it.

    Filling a tensor with it costs one launch per step, which small models notice.
    """
    for group in optimizer.param_groups:
        group["lr"] = float(group["lr"])


def restore(optimizer: torch.optim.Optimizer, state: Mapping[str, Any]) -> None:
    """Load a state dict, keeping hyperparameters where they are: numbers here, tensors there.

    Torch would put the loaded ones, which are on the CPU, in their place.
    """
    before = [dict(group) for group in optimizer.param_groups]
    optimizer.load_state_dict(dict(state))
    for group, old in zip(optimizer.param_groups, before, strict=True):
        for name, value in group.items():
            if isinstance(old.get(name), Tensor):
                group[name] = old[name].copy_(torch.as_tensor(value))
            elif isinstance(value, Tensor):
                group[name] = value.item()


def _sgd(parameters: Parameters, learning_rate: float, **settings: Any) -> torch.optim.Optimizer:
    groups, on_cuda = _groups(parameters)
    # Only the fused kernel reads a learning rate on the device without waiting for it.
    fused = True if on_cuda is not None else None
    return torch.optim.SGD(groups, _rate(learning_rate, on_cuda), fused=fused, **settings)


def _groups(parameters: Parameters) -> tuple[list[Any], torch.device | None]:
    """The parameters or groups as a list, and their CUDA device if they are on one."""
    groups: list[Any] = list(parameters)
    if not groups:
        raise PipelineError("optimizer.no_parameters")
    first = groups[0]["params"] if isinstance(groups[0], dict) else groups
    device = next(iter(first)).device
    return groups, device if device.type == "cuda" else None


def _rate(learning_rate: float, on_cuda: torch.device | None) -> float | Tensor:
    return learning_rate if on_cuda is None else torch.tensor(learning_rate, device=on_cuda)


def _check(choice: Any) -> None:
    kind = type(choice).__name__
    for f in fields(choice):
        value = getattr(choice, f.name)
        if f.name == "form":
            if value not in ("torch", "playbook"):
                raise PipelineError("optimizer.unknown_form", kind=kind, value=value)
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise PipelineError("optimizer.not_a_number", kind=kind, name=f.name, value=value)
        below = math.inf if f.name in ("epsilon", "weight_decay") else 1.0
        if not 0 <= value < below:
            limit = "not negative" if below == math.inf else "in 0 <= value < 1"
            raise PipelineError(
                "optimizer.out_of_limits", kind=kind, name=f.name, value=value, limit=limit
            )
