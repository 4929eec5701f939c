"""The batch-size probe against a sweep by brute force, Lightning's finder and Accelerate's.

    PYTHONPATH=src python bench/probes.py [--models resnet,gpt] [--smallest 32]

Everybody probes the same steps (bench/probe_steps.py). The brute-force sweep doubles until memory
runs out, timing every size, and bisects to the largest that holds at most the memory our probe
allows; the finders look for the largest that runs at all, as they do by default. Each contender
runs in a process of its own. Their seconds count the search alone, without imports; ours count the
whole call with all of its processes. Prints markdown.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import importlib.util
import itertools
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import tunewright
from tunewright.probes import TimingRule, batch_size

QUICK = TimingRule(window_s=0.2, seconds=1.2)
SAFE = 0.92  # of the device, as the probe allows
MOST = 4096  # without a GPU
STARTING = 2**17  # where a user who knows nothing lets Accelerate begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="resnet,gpt")
    parser.add_argument("--smallest", type=int, default=32)
    parser.add_argument("--contender", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        found = CONTENDERS[arguments.contender](arguments.models, arguments.smallest)
        print("ANSWER " + json.dumps(found))
        return
    header()
    for model in arguments.models.split(","):
        compare(model, arguments.smallest)


def header() -> None:
    facts = in_process("facts", "resnet", 1) or {}
    print("# bench/probes.py\n")
    print(
        f"{datetime.date.today()}, {facts.get('device', platform.machine())}, "
        f"Python {platform.python_version()}, torch {facts.get('torch')}, "
        f"tunewright {tunewright.__version__}"
        + "".join(f", {name} {facts[name]}" for name in RIVALS.values() if name in facts)
        + f"\n\n`{' '.join(['python', *sys.argv])}`\n",
        flush=True,
    )


def compare(model: str, smallest: int) -> None:
    from probe_steps import NAMES

    ours = in_process("ours", model, smallest)
    brute = in_process("brute", model, smallest)
    print(f"## {NAMES[model]}\n")
    if ours is None or brute is None:
        print("could not be compared\n", flush=True)
        return
    print("| | largest | of the brute force | knee | seconds | out of memory |")
    print("|---|---|---|---|---|---|")
    print(row("brute force: doubling, timing, bisection", brute, brute))
    print(row("tunewright: largest, knee, verdict", ours, brute))
    to_largest = {**ours, "seconds": ours["largest_s"], "knee": None}
    print(row("tunewright: to the largest alone", to_largest, brute))
    for name, module in RIVALS.items():
        found = in_process(name, model, smallest) if importlib.util.find_spec(module) else None
        if found is not None:
            print(row(f"{module}: {found['how']}", found, brute), flush=True)
    print(f"\n{ours['says']} {ours['bottleneck']}\n")
    print("| batch size | brute force, examples/s | probe, examples/s (95 %) | ratio | busy |")
    print("|---|---|---|---|---|")
    for size, rate, low, high, busy in ours["rows"]:
        swept = brute["rates"].get(str(size))
        print(
            f"| {size} | {swept or 0:,.0f} | {rate:,.0f} ({low:,.0f} to {high:,.0f}) | "
            f"{rate / swept if swept else float('nan'):.3f} | "
            f"{'-' if busy is None else f'{busy:.0%}'} |"
        )
    rest = {size: rate for size, rate in brute["rates"].items() if int(size) > ours["rows"][-1][0]}
    beyond = ", ".join(f"{size}: {rate:,.0f}" for size, rate in rest.items())
    print(f"\nBeyond, by brute force: {beyond or 'nothing'} examples/s.\n", flush=True)


def row(name: str, found: dict[str, Any], brute: dict[str, Any]) -> str:
    share = found["largest"] / brute["largest"]
    return (
        f"| {name} | {found['largest']:,} | {share:.1%} | {found.get('knee') or '-'} | "
        f"{found['seconds']:.1f} | {found['out_of_memory']} |"
    )


def in_process(contender: str, model: str, smallest: int) -> dict[str, Any] | None:
    """A contender in a process of its own."""
    command = [sys.executable, __file__, "--contender", contender, "--models", model]
    done = subprocess.run(
        [*command, "--smallest", str(smallest)], stdout=subprocess.PIPE, text=True, check=False
    )
    for line in done.stdout.splitlines():
        if line.startswith("ANSWER "):
            found: dict[str, Any] = json.loads(line.removeprefix("ANSWER "))
            return found
    print(f"{contender} failed on {model}", file=sys.stderr, flush=True)
    return None


# ---- contenders


def facts(model: str, smallest: int) -> dict[str, Any]:
    import torch

    found = {"torch": torch.__version__}
    if torch.cuda.is_available():
        found["device"] = torch.cuda.get_device_name()
    for module in RIVALS.values():
        if importlib.util.find_spec(module):
            found[module] = importlib.import_module(module).__version__
    return found


def ours(model: str, smallest: int) -> dict[str, Any]:
    import probe_steps

    said: list[tuple[float, str]] = []
    started = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - started:.1f} s  {line}", file=sys.stderr, flush=True)
        said.append((time.monotonic() - started, line))

    answer = batch_size(
        probe_steps.make_step,
        fixed={"model": model},
        smallest=smallest,
        largest=None if probe_steps.CUDA else MOST,
        rule=QUICK,
        store=None,
        say=say,
    )
    searched = [seconds for seconds, line in said if "examples/s" not in line]
    return {
        "largest": answer.largest.batch_size,
        "how": answer.largest.how,
        "held_mb": answer.largest.reserved_mb,
        "limit_mb": answer.largest.limit_mb,
        "out_of_memory": answer.largest.out_of_memory,
        "knee": answer.knee,
        "seconds": answer.seconds,
        "largest_s": max(searched, default=0.0),
        "says": answer.says,
        "bottleneck": f"Bottleneck: {answer.bottleneck.kind}. {answer.bottleneck.says}",
        "rows": [
            (r.batch_size, r.rate.examples_per_s, r.rate.low, r.rate.high, r.busy_share)
            for r in answer.rows
        ],
    }


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
            wait()
            if CUDA and torch.cuda.max_memory_reserved() > limit:
                return False
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
    while (CUDA or size <= MOST) and tried(size, 1.0):
        size *= 2
    good, bad = size // 2, size if CUDA else size // 2 + 1
    while bad - good > max(8, good // 250):
        middle = (good + bad) // 2 // 8 * 8
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if tried(middle, 0.0) else (good, middle)
    swept = list(rates.items())
    knee = smallest
    for (_, before), (larger, after) in itertools.pairwise(swept):
        if after / before < 1.10:
            break
        knee = larger
    seconds = time.monotonic() - started
    return {
        "largest": good,
        "knee": knee,
        "seconds": seconds,
        "out_of_memory": failures,
        "rates": rates,
    }


def lightning(model: str, smallest: int) -> dict[str, Any]:
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
    started = time.monotonic()
    found = Tuner(trainer).scale_batch_size(module, mode="binsearch", init_val=smallest)
    return {
        "how": "mode binsearch",
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


RIVALS = {"lightning": "pytorch_lightning", "accelerate": "accelerate"}
CONTENDERS: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "facts": facts,
    "ours": ours,
    "brute": brute,
    "lightning": lightning,
    "accelerate": accelerate,
}

if __name__ == "__main__":
    main()
