"""What does `fit` cost over the same loop written by hand, and what does capturing the step bring?

    PYTHONPATH=src python bench/pipeline.py [--models mlp,gpt] [--windows 12] [--compile]

All contenders of a model take turns in windows of steps within one process, so that whatever the
machine does meanwhile does it to all; medians of their windows are compared. Lightning and
Accelerate join where they are installed. On a CPU the models are toys. Prints markdown; exits with
1 when captured training does not equal eager training.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import platform
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from pipeline_checks import correctness
from pipeline_loops import LIGHTNING, bare, fresh, ours, with_accelerate, with_lightning
from pipeline_models import Workload, workloads
from pipeline_turns import Paced, Turns, wait
from torch import nn

import tunewright
from tunewright.pipeline import evaluate
from tunewright.pipeline.eval_batch import find_batch_size

WARMING = 2  # windows not counted


def race(work: Workload, device: torch.device, windows: int, compiled: bool) -> list[str]:
    """The markdown rows of one model."""
    cuda, size, rounds = device.type == "cuda", work.window, windows + WARMING
    steps = size * rounds
    contenders: dict[str, Callable[[Paced], Any]] = {
        "bare loop": lambda pace: bare(work, device, pace),
        "bare loop without norm and clipping": lambda pace: bare(work, device, pace, norm=False),
        "fit": lambda pace: ours(work, device, pace, steps),
    }
    if cuda:
        contenders["fit, captured"] = lambda pace: ours(work, device, pace, steps, capture=True)
    if cuda and compiled:
        contenders["fit, compiled and captured"] = lambda pace: ours(
            work, device, pace, steps, capture=True, compile=True
        )
    if importlib.util.find_spec("accelerate"):
        contenders["Accelerate"] = lambda pace: with_accelerate(work, device, pace)
    if LIGHTNING:
        contenders["Lightning"] = lambda pace: with_lightning(work, device, pace)

    turns = Turns(list(contenders), device)
    notes: dict[str, str] = {}

    def run(name: str) -> None:
        reason = ""
        try:
            done = contenders[name](Paced(turns, name, size, rounds))
            notes[name] = "; ".join(getattr(done, "notes", ()))
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"
        turns.leave(name, reason)

    with SameSettings():
        threads = {name: threading.Thread(target=run, args=(name,)) for name in contenders}
        for name, thread in threads.items():
            thread.start()
            turns.settled(name)
        for thread in threads.values():
            thread.join()

    base = turns.times["bare loop"][WARMING:]
    rows = []
    for name in contenders:
        times = turns.times[name][WARMING:]
        if name in turns.failed or not times:
            rows.append(
                f"| {work.name} | {name} | - | - | - | {turns.failed.get(name, 'no time')} |"
            )
            continue
        ratio = statistics.median(t / b for t, b in zip(times, base, strict=False))
        low, high = (q / size * 1e3 for q in quartiles(times))
        middle = statistics.median(times) / size
        rows.append(
            f"| {work.name} | {name} | {middle * 1e3:.3f} ({low:.3f} to {high:.3f}) | "
            f"{1 / middle:.0f} | {ratio:.3f} | {notes.get(name, '')} |"
        )
    return rows


def quartiles(times: list[float]) -> tuple[float, float]:
    if len(times) < 2:
        return times[0], times[0]
    low, _, high = statistics.quantiles(times, n=4)
    return low, high


class SameSettings:
    """For all contenders: float32 products rounded alike, convolutions chosen by trial."""

    def __enter__(self) -> None:
        cudnn = torch.backends.cudnn
        self.before = torch.get_float32_matmul_precision(), cudnn.allow_tf32, cudnn.benchmark
        torch.set_float32_matmul_precision("high")
        cudnn.allow_tf32 = cudnn.benchmark = True

    def __exit__(self, *_: object) -> None:
        torch.set_float32_matmul_precision(self.before[0])
        torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark = self.before[1:]


def evaluation(work: Workload, device: torch.device) -> list[str]:
    """Evaluating at the training batch against the batch that is found by trial."""
    model = fresh(work, device)

    def metrics(made: nn.Module, batch: Any) -> dict[str, torch.Tensor]:
        return {"error": (made(batch[0]).argmax(1) != batch[1]).float()}

    chosen = find_batch_size(model, work.data, metrics, work.batch_size, device=device)
    times: dict[int, list[float]] = {work.batch_size: [], chosen: []}
    for _ in range(6):
        for size in times:
            wait(device)
            started = time.perf_counter()
            evaluate(model, work.data, metrics, batch_size=size, device=device)
            times[size].append(time.perf_counter() - started)
    slow, fast = (statistics.median(times[size][1:]) for size in (work.batch_size, chosen))
    return [
        f"| {work.name} | {len(work.data[0])} | {work.batch_size}: {slow:.3f} s | "
        f"{chosen}: {fast:.3f} s | {slow / fast:.2f} |"
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="mlp,resnet,wide_resnet,gpt")
    parser.add_argument("--windows", type=int, help="timed windows of each contender")
    parser.add_argument("--compile", action="store_true", help="also torch.compile (minutes)")
    parser.add_argument("--out", type=Path, help="write the markdown there too")
    arguments = parser.parse_args()

    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    cuda = device.type == "cuda"
    windows = arguments.windows or (12 if cuda else 10)
    torch.manual_seed(0)
    made = [
        work
        for name, work in workloads(device, not cuda).items()
        if name in arguments.models.split(",")
    ]
    lines: list[str] = []

    def say(*text: str) -> None:
        lines.extend(text)
        print(*text, sep="\n", flush=True)

    name = torch.cuda.get_device_name(device) if cuda else platform.processor() or "CPU"
    say(
        "# bench/pipeline.py",
        "",
        f"{datetime.date.today()}, {name}, {platform.system()} {platform.machine()}, Python "
        f"{platform.python_version()}, torch {torch.__version__}, tunewright "
        f"{tunewright.__version__}, {torch.get_num_threads()} CPU threads",
        "",
    )
    good = True
    if cuda:
        found, good = correctness(device, made)
        say("## Captured equals eager", "", *found, "")
    say(
        f"## Time per step, median of {windows} alternating windows (quartiles)",
        "",
        "| model | loop | ms per step | steps/s | of the bare loop | notes |",
        "|---|---|---|---|---|---|",
    )
    for work in made:
        say(*race(work, device, windows, arguments.compile))
        if cuda:
            torch.cuda.empty_cache()
    pictures = [work for work in made if "ResNet" in work.name]
    if pictures:
        say(
            "",
            "## Evaluation at the training batch and at the batch found by trial",
            "",
            "| model | examples | training batch | found | times faster |",
            "|---|---|---|---|---|",
            *evaluation(pictures[0], device),
        )
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
