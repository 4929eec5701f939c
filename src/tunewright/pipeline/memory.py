"""Was that out of memory? One answer for CUDA, the CPU allocator and Python."""

from __future__ import annotations

import gc

import torch


def out_of_memory(error: BaseException) -> bool:
    """Whether the error means that memory did not suffice.

    >>> out_of_memory(MemoryError()), out_of_memory(RuntimeError("shapes do not match"))
    (True, False)
    """
    if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)):
        return True
    # torch's CPU allocator raises a plain RuntimeError.
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def release(device: torch.device) -> None:
    """Give back what the failed attempt left behind."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
