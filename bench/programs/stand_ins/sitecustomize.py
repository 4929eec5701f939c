"""A CPU in place of a GPU, for programs that were written for one: put this folder on PYTHONPATH.

It acts when TUNEWRIGHT_STAND_IN is set, in the training process alone. What CUDA would do is left
out or done on the CPU; `kernels` and `prepare` are small modules with the same functions. What it
shows is that values arrive and curves are read, nothing about the program's speed or quality.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any


class _AnyDevice(type):
    """Makes CPU devices of CUDA's names, and knows every real device as its own."""

    real: Any = None

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, cls.real)

    def __call__(cls, *words: Any, **named: Any) -> Any:
        name = str(words[0]) if words else str(named.get("type"))
        return cls.real("cpu") if name.startswith("cuda") else cls.real(*words, **named)


def on_cpu() -> None:
    """Replace what needs a GPU."""
    import torch
    import torch.distributed as dist
    from torch.nn import functional, parallel

    _AnyDevice.real = torch.device
    torch.device = _AnyDevice("device", (), {})  # type: ignore[assignment, misc]
    nothing = {"synchronize", "set_device", "manual_seed", "init", "_lazy_init"}
    for name in nothing:
        setattr(torch.cuda, name, lambda *words, **named: None)
    torch.cuda.is_bf16_supported = lambda *words, **named: True  # type: ignore[assignment]
    facts = types.SimpleNamespace(major=9, minor=0, multi_processor_count=1, total_memory=2**30)
    torch.cuda.get_device_properties = lambda *words: facts  # type: ignore[assignment]
    torch.cuda.current_device = lambda: 0  # type: ignore[assignment]
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_capability = lambda *words: (9, 0)  # type: ignore[assignment]
    torch.cuda.max_memory_allocated = lambda *words: 0  # type: ignore[assignment]
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *words, **named: self  # type: ignore
    empty = torch.empty
    torch.empty = lambda *words, **named: (
        empty(  # type: ignore[assignment]
            *words, **{k: v for k, v in named.items() if k not in ("device", "pin_memory")}
        )
        if str(named.get("device", "")).startswith("cuda")
        else empty(*words, **named)
    )
    cast, bfloat16 = torch.amp.autocast, os.environ["TUNEWRIGHT_STAND_IN"] == "autoresearch"
    torch.amp.autocast = lambda device_type, **named: cast("cpu", enabled=bfloat16, **named)  # type: ignore[assignment, misc]
    torch.Tensor.bfloat16 = lambda self: self.float()  # type: ignore[assignment, method-assign]
    torch.compile = lambda made=None, **named: made if made is not None else (lambda own: own)
    begin = dist.init_process_group
    dist.init_process_group = lambda backend=None, **named: begin("gloo")
    ddp = parallel.DistributedDataParallel
    parallel.DistributedDataParallel = lambda made, **named: ddp(made)  # type: ignore[assignment]
    reduce = dist.all_reduce
    dist.all_reduce = lambda tensor, op=None, **named: reduce(tensor)  # one rank: sum is mean
    alone = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
    for name, value in {**alone, "MASTER_PORT": os.environ.get("TUNEWRIGHT_PORT", "29511")}.items():
        os.environ.setdefault(name, value)

    def attention(q: Any, k: Any, v: Any, causal: bool, window_size: Any) -> Any:
        words = [one.transpose(1, 2) for one in (q, k.to(q.dtype), v.to(q.dtype))]
        return functional.scaled_dot_product_attention(*words, is_causal=causal).transpose(1, 2)

    flash = types.SimpleNamespace(
        flash_attn_interface=types.SimpleNamespace(flash_attn_func=attention)
    )
    kernels = types.ModuleType("kernels")
    kernels.get_kernel = lambda name: flash  # type: ignore[attr-defined]
    sys.modules["kernels"] = kernels


def tiny_prepare() -> types.ModuleType:
    """autoresearch's `prepare` with bytes as tokens: 32 tokens of context, six seconds."""
    import math

    import torch

    made: Any = types.ModuleType("prepare")
    made.MAX_SEQ_LEN, made.TIME_BUDGET = 32, 6
    text = torch.tensor(list(b"the quick brown fox jumps over the lazy dog. " * 50))

    class Tokenizer:
        @classmethod
        def from_directory(cls) -> Tokenizer:
            return cls()

        def get_vocab_size(self) -> int:
            return 256

    def make_dataloader(tokenizer: object, size: int, length: int, split: str) -> Any:
        drawn = torch.Generator().manual_seed(len(split))
        while True:
            first = torch.randint(len(text) - length - 1, (size,), generator=drawn)
            rows = torch.stack([text[at : at + length + 1] for at in first.tolist()])
            yield rows[:, :-1].contiguous(), rows[:, 1:].contiguous(), 1

    @torch.no_grad()
    def evaluate_bpb(model: Any, tokenizer: object, size: int) -> float:
        x, y, _ = next(make_dataloader(tokenizer, size, made.MAX_SEQ_LEN, "val"))
        return float(model(x, y)) / math.log(2)

    made.Tokenizer, made.make_dataloader, made.evaluate_bpb = (
        Tokenizer,
        make_dataloader,
        evaluate_bpb,
    )
    return made  # type: ignore[no-any-return]


def small_machine() -> None:
    """Data loaders without processes, and torchvision where its compiled operators do not load."""
    from torch.utils import data

    begin = data.DataLoader.__init__
    data.DataLoader.__init__ = lambda self, *words, **named: begin(  # type: ignore[method-assign]
        self, *words, **{**named, "num_workers": 0}
    )
    name = "torchvision._meta_registrations"
    sys.modules[name] = types.ModuleType(name)


OURS = {"tunewright", "tunewright.execution.processes.worker"}  # not the program that trains
if os.environ.get("TUNEWRIGHT_STAND_IN") and not OURS & set(sys.orig_argv):
    if os.environ["TUNEWRIGHT_STAND_IN"] == "small machine":
        small_machine()
    else:
        on_cpu()
    if os.environ["TUNEWRIGHT_STAND_IN"] == "autoresearch":
        sys.modules["prepare"] = tiny_prepare()
