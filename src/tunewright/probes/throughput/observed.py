"""What the process of a probe observes: what is measured, free memory, synchronisations."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import platform
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright.execution.processes.memory import MEGABYTE
from tunewright.messages import Message

# ---- what is being measured? Model, optimizer, precision, device and shape, read off the live
# objects.
#
# A probe is good for as long as these stay the same (playbook: "the batch sizes and the throughput
# must be measured again when the model or optimizer changes"). They are found in the process that
# trains, so nobody has to declare them and nothing can be declared wrongly.


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
            self._hook = modules.register_module_forward_pre_hook(self._look)

    def stop(self) -> None:
        """Look no more: hooks cost time."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _look(self, module: Any, inputs: tuple[Any, ...]) -> None:
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
        unknown = {"model": "unknown", "optimizer": "unknown", "precision": "unknown"}
        return {**unknown, "device": cpu(), "processes": str(processes), "example": "unknown"}
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
    for candidate in gc.get_objects():
        kind = type(candidate)  # isinstance would run the __class__ of proxies
        if issubclass(kind, torch.nn.Module):
            modules.append(candidate)
        elif issubclass(kind, torch.optim.Optimizer):
            optimizers.append(candidate)
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


# ---- how much memory has this machine left for what is probed on its CPU?


def available_mb(held_mb: float) -> float:
    """What this machine, or our control group, has left for us, with what we hold already."""
    import psutil

    limits: list[float] = [psutil.virtual_memory().available / MEGABYTE + held_mb]
    with contextlib.suppress(OSError, ValueError):
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        limits.append((int(limit) - used) / MEGABYTE + held_mb)
    return min(limits)


# ---- which lines of a step make the host wait for the device?
#
# `.item()`, `.cpu()`, `if loss > 0` and their like stop the host until the device has caught up;
# the device then stands still until the host has launched anew. torch's profiler counts the
# waits; a dispatch mode, which sees every operation of torch in the Python frame that asked for
# it, finds whose they are. What torch does inside itself (some optimizers read their step count)
# is nobody's line.


_READ = "aten::_local_scalar_dense"  # .item(), float(), bool(), if, print: one number to the host
_COPIES = ("aten::_to_copy", "aten::copy_")  # .cpu(), .to("cpu"), .numpy()
SHAPES = ("aten::nonzero", "aten::masked_select", "aten::_unique2")  # a size only the device knows
_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
_PASSED_THROUGH = ("_compile.py", "_tensor.py", "_dynamo", "_jit_internal.py")  # not who asked


@dataclass(frozen=True)
class Waits:
    """How often the host waits in each step, and where."""

    per_step: float
    places: tuple[tuple[str, float], ...] = ()  # `train.py:88` and how often per step, worst first
    device_s: float | None = None  # seconds of work on the device per step; CUDA only


class Counting:
    """Counts the waits between its making and `stop`."""

    def __init__(self) -> None:
        """Begin to count."""
        torch: Any = importlib.import_module("torch")
        self._reads = Counter[str]()
        self._mode = _mode(self._reads)
        self._profiler: Any = None
        if torch.cuda.is_available() and torch.cuda.is_initialized():  # else nothing is waited for
            profiler = torch.profiler
            self._profiler = profiler.profile(activities=[profiler.ProfilerActivity.CUDA])
            self._profiler.__enter__()
        self._mode.__enter__()

    def stop(self, steps: int) -> Waits:
        """Stop, and return the waits per step."""
        self._mode.__exit__(None, None, None)
        if self._profiler is None:
            return _waits_of(self._reads, 0, steps)
        self._profiler.__exit__(None, None, None)
        events = list(self._profiler.events() or ())
        waited = sum(event.name in _WAITS for event in events)
        busy_us = sum(event.device_time_total for event in events if _is_kernel(event))
        return _waits_of(self._reads, waited, steps, busy_us / 1e6 / steps if busy_us else None)


def _waits_of(reads: Counter[str], waited: int, steps: int, device_s: float | None = None) -> Waits:
    """Waits per step; one that CUDA and torch both saw counts once.

    >>> _waits_of(Counter({"train.py:88": 10}), waited=11, steps=10)
    Waits(per_step=1.0, places=(('train.py:88', 1.0),), device_s=None)
    """
    total = max(reads.total(), waited - 1)  # the last of CUDA's is the probe's own
    places = tuple((place, count / steps) for place, count in reads.most_common(5))
    return Waits(total / steps, places, device_s)


def _is_kernel(event: Any) -> bool:
    """Work of the device itself; marks such as that of an optimizer's step span several of it."""
    return "CUDA" in str(event.device_type) and not getattr(event, "is_user_annotation", False)


def _mode(reads: Counter[str]) -> Any:
    dispatch: Any = importlib.import_module("torch.utils._python_dispatch")

    class Reading(dispatch.TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            if _waits(func._schema.name, args, kwargs or {}, result):
                place = _place(sys._getframe(1))
                if place is not None:
                    reads[place] += 1
            return result

    return Reading()


def _waits(name: str, args: Any, kwargs: Any, result: Any) -> bool:
    if name == _READ:
        return True
    if name in SHAPES:
        return bool(args[0].is_cuda)
    if name in _COPIES:
        source = args[1] if name == _COPIES[1] else args[0]
        on_host = getattr(result, "device", None) is not None and result.device.type == "cpu"
        return bool(
            getattr(source, "is_cuda", False) and on_host and not kwargs.get("non_blocking")
        )
    return False


def _place(frame: Any) -> str | None:
    """The line that asked, or None if it is torch's own."""
    torch_folder = str(Path(sys.modules["torch"].__file__ or "torch").parent)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(torch_folder):
            return f"{Path(file).name}:{frame.f_lineno}"
        if not any(part in file for part in _PASSED_THROUGH):
            return None
        frame = frame.f_back
    return None
