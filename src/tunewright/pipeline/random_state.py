"""Every random state of a process as one row of bytes, so that a checkpoint can keep all ranks'.

Python's, numpy's global one, torch's CPU one and that of the training device. Rows have one length,
so ranks can be gathered by a plain collective.
"""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.hosts import Host

_WORDS = 624  # of a Mersenne Twister, which Python and numpy both use
_PYTHON = struct.Struct(f"<{_WORDS + 1}I?d")
_NUMPY = struct.Struct(f"<{_WORDS}IIId")


def seed_all(seed: int) -> None:
    """Start Python's, numpy's and torch's generators, every device's included, from one seed."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    seed_torch(seed)


def seed_torch(seed: int) -> None:
    """As `torch.manual_seed`, without its cost: 1.5 ms for each kind of device not in use.

    torch formats the whole call stack for each of them, to seed it should it come into use.
    """
    kinds: Any = torch
    if not kinds.cuda.is_initialized() or kinds.xpu.is_initialized():
        torch.manual_seed(seed)
        return
    for generator in (torch.default_generator, *torch.cuda.default_generators):
        generator.manual_seed(seed)


def random_row(device: torch.device) -> Tensor:
    """All random states of this process, as bytes on the CPU."""
    version, words, gauss = random.getstate()
    if version != 3:
        raise PipelineError("random_state.python_version", version=version)
    legacy: Any = np.random.get_state(legacy=True)
    kind, keys, position, has_gauss, cached = legacy
    if kind != "MT19937":
        raise PipelineError("random_state.numpy_generator", kind=kind)
    host_side = _PYTHON.pack(*words, gauss is not None, gauss or 0.0)
    host_side += _NUMPY.pack(*keys.tolist(), position, has_gauss, cached)
    parts = [torch.frombuffer(bytearray(host_side), dtype=torch.uint8), torch.get_rng_state()]
    if device.type == "cuda":
        parts.append(torch.cuda.get_rng_state(device))
    return torch.cat(parts)


def set_random_row(row: Tensor, device: torch.device) -> None:
    """Put all random states of this process back; a row from another kind of device is refused."""
    sizes = [_PYTHON.size, _NUMPY.size, torch.get_rng_state().numel()]
    if device.type == "cuda":
        sizes.append(torch.cuda.get_rng_state(device).numel())
    if row.numel() != sum(sizes):
        raise PipelineError(
            "random_state.other_device", bytes=row.numel(), device=device.type, sizes=sum(sizes)
        )
    python, legacy, *of_torch = torch.split(row.cpu(), sizes)
    *words, has, gauss = _PYTHON.unpack(python.numpy().tobytes())
    random.setstate((3, tuple(words), gauss if has else None))
    *keys, position, has_gauss, cached = _NUMPY.unpack(legacy.numpy().tobytes())
    np.random.set_state(("MT19937", np.array(keys, dtype=np.uint32), position, has_gauss, cached))
    torch.set_rng_state(of_torch[0].clone())
    if device.type == "cuda":
        torch.cuda.set_rng_state(of_torch[1].clone(), device)


def random_rows(device: torch.device, host: Host) -> Tensor:
    """The rows of all ranks, one below the other; every rank calls it."""
    row = random_row(device)
    return hosts.gather(row.to(device), host).cpu()


def set_random_rows(rows: Tensor, device: torch.device, host: Host, seed: int, step: int) -> bool:
    """Restore this rank's row; with another number of ranks than before, seed anew, return False.

    What is drawn then differs from an uninterrupted training, but still not between two resumes.
    """
    if len(rows) == host.world:
        set_random_row(rows[host.rank], device)
        return True
    seed_all(int(np.random.SeedSequence([seed, step]).generate_state(1)[0]))
    return False
