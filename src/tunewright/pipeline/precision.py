"""In which numbers is trained: fp32, tf32, bf16, or fp16 with a scaled loss.

fp32    float32 throughout
tf32    float32, whose matrix products round their inputs to 10 bits (Ampere and later)
bf16    autocast to bfloat16; weights and optimizer state stay float32
fp16    autocast to float16, the loss scaled so that small gradients survive
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal, get_args

import torch

from tunewright.errors import PipelineError

Precision = Literal["fp32", "tf32", "bf16", "fp16"]
_HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def check_precision(precision: str, device: torch.device) -> None:
    """Refuse a precision that the device has not."""
    if precision not in get_args(Precision):
        raise PipelineError(
            "precision.unknown", precision=precision, known=", ".join(get_args(Precision))
        )
    if precision == "bf16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise PipelineError("precision.no_bf16", device=torch.cuda.get_device_name(device))


def autocast(
    precision: Precision, device: torch.device, *, cache: bool = True
) -> AbstractContextManager[object]:
    """The forward pass runs inside it. `cache=False` for a captured step: weights cast inside the
    graph must be cast at every replay."""
    if precision not in _HALVES:
        return nullcontext()
    return torch.autocast(device.type, dtype=_HALVES[precision], cache_enabled=cache)


def loss_scaler(precision: Precision, device: torch.device) -> torch.amp.GradScaler | None:
    """The scaler that fp16 needs."""
    return torch.amp.GradScaler(device.type) if precision == "fp16" else None


@contextmanager
def matrix_products(precision: Precision) -> Iterator[None]:
    """Set how float32 matrix products and convolutions round on CUDA, and put it back after."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    try:
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]
