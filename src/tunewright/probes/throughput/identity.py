"""What is being measured? Model, optimizer, precision, device and shape, read off the live objects.

A probe is good for as long as these stay the same (playbook: "the batch sizes and the throughput
must be measured again when the model or optimizer changes"). They are found in the process that
trains, so nobody has to declare them and nothing can be declared wrongly.
"""

from __future__ import annotations

import gc
import hashlib
import platform
import sys
from collections.abc import Mapping
from typing import Any

from tunewright.messages import Message


class Looking:
    """Sees the shape of what the first model is given, and under which autocast."""

    def __init__(self) -> None:
        """Wait for the first forward pass; without torch there is none."""
        self.example = ""
        self.autocast = ""
        self._hook: Any = None
        torch: Any = sys.modules.get("torch")
        if torch is not None:
            modules = torch.nn.modules.module
            self._hook = modules.register_module_forward_pre_hook(self._seen)

    def stop(self) -> None:
        """Look no more: hooks cost time."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _seen(self, module: Any, inputs: tuple[Any, ...]) -> None:
        torch: Any = sys.modules["torch"]
        if self.example:
            return
        shapes = [
            f"{tuple(x.shape[1:])} {x.dtype}".replace("torch.", "")
            for x in inputs
            if isinstance(x, torch.Tensor)
        ]
        self.example = ", ".join(shapes)
        for kind in ("cuda", "cpu"):
            if torch.is_autocast_enabled(kind):
                self.autocast = f"autocast {torch.get_autocast_dtype(kind)}".replace("torch.", "")


def identity(looking: Looking, processes: int) -> dict[str, str]:
    """What this process trains, as text by property."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        found = {"model": "unknown", "optimizer": "unknown", "precision": "unknown"}
        return {**found, "device": cpu(), "processes": str(processes), "example": "unknown"}
    models, optimizers = _alive(torch)
    return {
        "model": "; ".join(sorted(_model(model) for model in models)) or "none found",
        "optimizer": "; ".join(sorted(_optimizer(each) for each in optimizers)) or "none found",
        "precision": _precision(torch, models, looking.autocast),
        "device": _device(torch),
        "processes": str(processes),
        "example": looking.example or "unknown",
        "packages": f"torch {torch.__version__}",
    }


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Message]:
    """What has changed, by property.

    >>> differences({"optimizer": "SGD", "device": "cpu"}, {"optimizer": "Adam", "device": "cpu"})
    [Message(code='probe.changed', facts={'what': 'optimizer', 'before': 'SGD', 'now': 'Adam'})]
    """
    return [
        Message(
            "probe.changed",
            {"what": name, "before": before.get(name, "unknown"), "now": now.get(name)},
        )
        for name in now
        if before.get(name) != now[name]
    ]


def _alive(torch: Any) -> tuple[list[Any], list[Any]]:
    """The outermost modules and the optimizers of this process."""
    modules, optimizers = [], []
    for thing in gc.get_objects():
        kind = type(thing)  # isinstance would run the __class__ of proxies
        if issubclass(kind, torch.nn.Module):
            modules.append(thing)
        elif issubclass(kind, torch.optim.Optimizer):
            optimizers.append(thing)
    inner = {id(child) for module in modules for child in _children(module)}
    outer = [m for m in modules if id(m) not in inner and _has_parameters(m)]
    return outer, optimizers


def _children(module: Any) -> list[Any]:
    return [child for child in module.__dict__.get("_modules", {}).values() if child is not None]


def _has_parameters(module: Any) -> bool:
    return next(iter(module.parameters()), None) is not None


def _model(model: Any) -> str:
    digest = hashlib.sha256()
    for name, child in model.named_modules():
        digest.update(f"{name} {type(child).__qualname__} {child.extra_repr()}".encode())
    count = 0
    for name, parameter in model.named_parameters():
        digest.update(f"{name} {tuple(parameter.shape)} {parameter.requires_grad}".encode())
        count += parameter.numel()
    return f"{type(model).__qualname__} of {count:,} parameters ({digest.hexdigest()[:12]})"


def _optimizer(optimizer: Any) -> str:
    """Its class and what changes its work; values such as the learning rate do not."""
    defaults = getattr(optimizer, "defaults", {})
    switches = [name for name, value in sorted(defaults.items()) if value is True]
    if defaults.get("momentum"):
        switches.append("momentum")
    return type(optimizer).__qualname__ + (f" ({', '.join(switches)})" if switches else "")


def _precision(torch: Any, models: list[Any], autocast: str) -> str:
    types = sorted(
        {str(p.dtype).removeprefix("torch.") for model in models for p in model.parameters()}
    )
    parts = [*types, *([autocast] if autocast else [])]
    matmul = torch.get_float32_matmul_precision()
    return ", ".join([*parts, *([f"float32 products {matmul}"] if matmul != "highest" else [])])


def _device(torch: Any) -> str:
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return str(torch.cuda.get_device_name())
    return f"{cpu()}, {torch.get_num_threads()} threads"


def cpu() -> str:
    """This machine, as a device."""
    return f"CPU {platform.machine()} of {platform.node()}"
