"""Who looks for a batch size in bench/probes.py: our probe, brute force, Lightning and Accelerate.

Each is called in a process of its own and returns plain data. The finders are asked as their pages
say, with one exception: Lightning's finder stops at 8,192 by default (`max_val`), so it is told a
larger limit.
"""

from __future__ import annotations

import gc
import importlib.metadata
import importlib.util
import itertools
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

QUICK_S = (0.2, 1.2)  # of a window, and of all of them
SAFE = 0.92  # of the device, as the probe allows
MOST = 4096  # without a GPU
STARTING = 2**17  # where a user who knows nothing lets Accelerate begin
LIMIT = 2**20  # that Lightning is told
TIMING_S = 0.5  # of each size by brute force
RIVALS = {"lightning": "pytorch_lightning", "accelerate": "accelerate"}


def imported(contender: str) -> dict[str, float]:
    """Import what a contender needs before its clock starts; seconds of torch and its compiler."""
    began = time.monotonic()
    import torch

    there = time.monotonic()
    if contender != "ours":  # whose steps are made elsewhere
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    took = {"torch_s": there - began, "compiler_s": time.monotonic() - there}
    if contender in RIVALS:
        importlib.import_module(RIVALS[contender])
    return took


def facts(model: str, smallest: int) -> dict[str, Any]:
    import torch

    found = {"torch": torch.__version__}
    if torch.cuda.is_available():
        found["device"] = torch.cuda.get_device_name()
    for module in RIVALS.values():
        if importlib.util.find_spec(module):
            found[module] = importlib.metadata.version(module)
    return found


def ours(model: str, smallest: int) -> dict[str, Any]:
    import probe_steps

    from tunewright.probes import BatchSizeTerms, TimingRule
    from tunewright.probes.throughput import batch_size
    from tunewright.progress import Silent

    spent = _spent()
    said: list[tuple[float, str]] = []
    started = time.monotonic()

    class Said(Silent):
        """Keeps the lines of the probe, and when each came."""

        def message(self, text: str) -> None:
            print(f"{time.monotonic() - started:.1f} s  {text}", file=sys.stderr, flush=True)
            said.append((time.monotonic() - started, text))

    answer = batch_size(
        probe_steps.make_step,
        fixed={"model": model},
        terms=BatchSizeTerms(
            smallest=smallest,
            largest=None if probe_steps.CUDA else MOST,
            rule=TimingRule(window_s=QUICK_S[0], seconds=QUICK_S[1]),
        ),
        store=None,
        progress=Said(),
    )
    searched = [seconds for seconds, line in said if "examples/s" not in line]
    return {
        "largest": answer.largest.batch_size,
        "how": answer.largest.how,
        "out_of_memory": answer.largest.out_of_memory,
        "knee": answer.knee,
        "seconds": answer.seconds,
        "largest_s": max(searched, default=0.0),
        "spent": spent,
        "says": answer.says,
        "bottleneck": f"Bottleneck: {answer.bottleneck.kind}. {answer.bottleneck.says}".strip(),
        "rows": [
            (r.batch_size, r.rate.examples_per_s, r.rate.low, r.rate.high, r.busy_share)
            for r in answer.rows
        ],
    }


def _spent() -> dict[str, float]:
    """Seconds that the probe waits for each kind of order from now on, as they come."""
    from tunewright.probes.throughput.rig import ProcessRig

    spent: dict[str, float] = defaultdict(float)
    order, close, start = ProcessRig._order, ProcessRig.close, ProcessRig.__init__

    def timed(kind: Callable[..., str], do: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*given: Any, **named: Any) -> Any:
            before = time.monotonic()
            try:
                return do(*given, **named)
            finally:
                spent[kind(*given)] += time.monotonic() - before

        return measured

    ProcessRig._order = timed(lambda rig, head, *rest: head["kind"], order)
    ProcessRig.close = timed(lambda rig: "close", close)
    ProcessRig.__init__ = timed(lambda rig, *rest: "start", start)
    return spent


def brute(model: str, smallest: int) -> dict[str, Any]:
    import torch
    from probe_steps import CUDA, make_step

    limit = torch.cuda.get_device_properties(0).total_memory * SAFE if CUDA else float("inf")
    started, failures, rates = time.monotonic(), 0, dict[int, float]()

    def tried(size: int, timing_s: float) -> bool:
        """Whether it fits within the limit; timed if so."""
        nonlocal failures
        free()
        try:
            step = make_step(size, model)
            for _ in range(3):
                step()
                if CUDA and torch.cuda.max_memory_reserved() > limit:
                    return False
            wait()
            began, count = time.perf_counter(), 0
            while timing_s and (time.perf_counter() - began < timing_s or count < 3):
                for _ in range(3):
                    step()
                wait()
                count += 3
            if timing_s:
                rates[size] = size * count / (time.perf_counter() - began)
        except torch.cuda.OutOfMemoryError:
            failures += 1
            return False
        return True

    def free() -> None:
        gc.collect()
        if CUDA:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def wait() -> None:
        if CUDA:
            torch.cuda.synchronize()

    size = smallest
    while (CUDA or size <= MOST) and tried(size, TIMING_S):
        size *= 2
    good, bad = size // 2, size if CUDA else size // 2 + 1
    while bad - good > max(8, good // 60):
        middle = (good + bad) // 2 // 8 * 8
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if tried(middle, 0.0) else (good, middle)
    knee = smallest
    for (_, before), (larger, after) in itertools.pairwise(rates.items()):
        if after / before < 1.10:
            break
        knee = larger
    return {
        "largest": good,
        "knee": knee,
        "seconds": time.monotonic() - started,
        "out_of_memory": failures,
        "rates": rates,
    }


def lightning(model: str, smallest: int) -> dict[str, Any]:
    import inspect
    import logging
    import warnings

    import pytorch_lightning as pl
    import torch
    from probe_steps import CUDA, MODELS
    from pytorch_lightning.tuner import Tuner, batch_size_scaling

    warnings.simplefilter("ignore")
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    build, batch_of, loss_of = MODELS[model]
    failures = 0
    is_oom = batch_size_scaling.is_oom_error

    def counted(error: BaseException) -> bool:
        nonlocal failures
        failures += is_oom(error)
        return bool(is_oom(error))

    batch_size_scaling.is_oom_error = counted

    class Batches(torch.utils.data.IterableDataset):
        def __init__(self, size: int) -> None:
            self.size = size

        def __iter__(self):
            while True:
                yield batch_of(self.size, "cuda" if CUDA else "cpu")

    class Module(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net, self.batch_size = build(), smallest

        def training_step(self, batch, index):
            return loss_of(self.net, batch)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.net.parameters(), lr=1e-4)

        def train_dataloader(self):
            return torch.utils.data.DataLoader(Batches(self.batch_size), batch_size=None)

    module = Module()
    trainer = pl.Trainer(
        max_steps=10,
        precision="bf16-mixed" if CUDA else 32,
        accelerator="gpu" if CUDA else "cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    how, given = "binsearch", dict[str, int]()
    limits = inspect.signature(Tuner.scale_batch_size).parameters
    if "max_val" in limits:
        given["max_val"] = LIMIT if CUDA else MOST
        margin = limits["margin"].default if "margin" in limits else 0.0
        how += f" (max_val {limits['max_val'].default:,} raised; its margin of {margin:.0%} is in)"
    started = time.monotonic()
    found = Tuner(trainer).scale_batch_size(module, mode="binsearch", init_val=smallest, **given)
    return {
        "how": how,
        "largest": int(found),
        "seconds": time.monotonic() - started,
        "out_of_memory": failures,
    }


def accelerate(model: str, smallest: int) -> dict[str, Any]:
    import torch
    from accelerate.utils import find_executable_batch_size
    from probe_steps import CUDA, make_step

    tried: list[int] = []

    @find_executable_batch_size(starting_batch_size=STARTING if CUDA else MOST)
    def run(batch_size: int) -> int:
        tried.append(batch_size)
        step = make_step(batch_size, model)
        for _ in range(3):
            step()
        if CUDA:
            torch.cuda.synchronize()
        return batch_size

    started = time.monotonic()
    found = run()
    return {
        "how": f"find_executable_batch_size from {tried[0]:,}",
        "largest": found,
        "seconds": time.monotonic() - started,
        "out_of_memory": len(tried) - 1,
    }


def inputs(model: str, smallest: int) -> dict[str, Any]:
    """The input probe on a pipeline of bench/probe_inputs.py."""
    import probe_inputs

    from tunewright.probes import TimingRule
    from tunewright.probes.throughput import input_bound

    started = time.monotonic()
    answer = input_bound(
        probe_inputs.make_step,
        batch_size=probe_inputs.BATCH,
        fixed={"pipeline": model},
        workers=[0, 1, 4, 8],
        rule=TimingRule(window_s=QUICK_S[0], seconds=QUICK_S[1]),
        store=None,
    )
    return {
        "verdict": answer.verdict,
        "seconds": time.monotonic() - started,
        "step_ms": answer.time_per_step_s * 1e3,
        "waiting_share": answer.waiting_share,
        "slowdown": answer.slowdown,
        "host_waits": answer.host_waits.per_step,
        "places": list(answer.host_waits.places),
        "stages": [(stage.name, stage.seconds_per_batch * 1e3) for stage in answer.stages],
        "says": answer.says,
        "settings": dict(answer.settings),
        "notes": list(answer.notes),
    }


CONTENDERS: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "facts": facts,
    "ours": ours,
    "brute": brute,
    "lightning": lightning,
    "accelerate": accelerate,
    "inputs": inputs,
}
