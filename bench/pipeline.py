"""What does `fit` cost over the same loop written by hand, and what does capturing the step bring?

    PYTHONPATH=src python bench/pipeline.py [--models mlp,gpt] [--windows 12] [--compile]

All contenders of a model take turns in windows of steps within one process, so that whatever the
machine does meanwhile does it to all; medians of their windows are compared. Lightning and
Accelerate join where they are installed. On a CPU the models are toys. Prints markdown; exits with
1 when captured training does not equal eager training.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib
import importlib.util
import math
import platform
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from pipeline_models import Workload, workloads
from torch import nn

import tunewright
from tunewright.design.schedule import Cosine
from tunewright.pipeline import AdamW, FitConfig, evaluate, fit, hosts
from tunewright.pipeline.eval_batch import find_batch_size

RATE = 1e-4
WARMING = 2  # windows not counted
LIGHTNING = next(
    (name for name in ("lightning", "pytorch_lightning") if importlib.util.find_spec(name)), ""
)


class Turns:
    """The baton: one contender runs at a time, window by window."""

    def __init__(self, names: list[str], device: torch.device) -> None:
        self.names, self.device = names, device
        self.times: dict[str, list[float]] = {name: [] for name in names}
        self.failed: dict[str, str] = {}
        self._order, self._now, self._change = list(names), 0, threading.Condition()
        self._ready: set[str] = set()

    def settled(self, name: str) -> None:
        """Wait until this contender has built everything, or has failed to."""
        with self._change:
            self._change.wait_for(lambda: name in self._ready or name not in self._order)

    def window(self, name: str, steps: Callable[[], Iterator[int]]) -> Iterator[int]:
        with self._change:
            self._ready.add(name)
            self._change.notify_all()
            # Nobody begins before all are built: a capture bears no set-up beside it.
            self._change.wait_for(
                lambda: self._ready >= set(self._order) and self._order[self._now] == name
            )
        wait(self.device)
        started = time.perf_counter()
        yield from steps()
        wait(self.device)
        self.times[name].append(time.perf_counter() - started)
        self.pass_on()

    def pass_on(self) -> None:
        with self._change:
            self._now = (self._now + 1) % len(self._order)
            self._change.notify_all()

    def leave(self, name: str, reason: str = "") -> None:
        with self._change:
            if reason:
                self.failed[name] = reason
            mine = self._order.index(name)
            self._order.pop(mine)
            if self._order:
                self._now = (self._now - (mine < self._now)) % len(self._order)
            self._change.notify_all()


class Paced:
    """A trial's handle that gives its steps in windows; `fit` and the bare loop both use it."""

    def __init__(self, turns: Turns, name: str, window: int, windows: int) -> None:
        self.turns, self.name, self.size, self.windows = turns, name, window, windows
        self.folder, self.restored, self.start_step = None, None, 0
        self.seeds = hosts.seeds(0)

    @property
    def total(self) -> int:
        return self.size * self.windows

    def steps(self, total: int) -> Iterator[int]:
        for number in range(self.windows):
            first = number * self.size + 1
            yield from self.turns.window(self.name, lambda f=first: range(f, f + self.size))

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.last = metrics

    def eval_due(self, step: int) -> bool:
        return False

    def save_due(self, step: int) -> bool:
        return False


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def fresh(work: Workload, device: torch.device) -> nn.Module:
    torch.manual_seed(0)
    return work.model().to(device)


def bare(work: Workload, device: torch.device, pace: Paced, norm: bool = True) -> None:
    """The loop one would write by hand: nothing but training, and a loss printed now and then."""
    model, total = fresh(work, device), pace.total
    cuda = device.type == "cuda"
    optimizer = torch.optim.AdamW(model.parameters(), RATE, fused=True if cuda else None)
    half = torch.autocast(device.type, torch.bfloat16) if work.precision == "bf16" else None
    size, position = len(work.data[0]), 0
    order = torch.randperm(size).to(device)
    for step in pace.steps(total):
        rate = RATE * 0.5 * (1 + math.cos(math.pi * (step - 1) / total))
        for group in optimizer.param_groups:
            group["lr"] = rate
        if position + work.batch_size > size:
            order, position = torch.randperm(size).to(device), 0
        ids = order[position : position + work.batch_size]
        position += work.batch_size
        batch = tuple(part[ids] for part in work.data)
        optimizer.zero_grad(set_to_none=True)
        with half or nullcontext():
            loss = work.loss(model, batch)
        loss.backward()
        if norm:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            loss.item()


def ours(work: Workload, device: torch.device, pace: Any, steps: int, **changes: Any) -> Any:
    config = FitConfig(
        max_train_steps=steps,
        batch_size=work.batch_size,
        base_learning_rate=RATE,
        optimizer=AdamW(),
        schedule=Cosine(),
        clip_norm=1.0,
        precision=work.precision,
        **changes,
    )
    return fit(fresh(work, device), work.loss, work.data, config, run=pace)


def with_accelerate(work: Workload, device: torch.device, pace: Paced) -> None:
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)  # one model's precision at a time
    accelerator = Accelerator(mixed_precision="bf16" if work.precision == "bf16" else "no")
    model = fresh(work, device)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, fused=device.type == "cuda" or None)
    model, optimizer = accelerator.prepare(model, optimizer)
    size = len(work.data[0])
    for _ in pace.steps(pace.total):
        ids = torch.randint(size, (work.batch_size,), device=device)
        optimizer.zero_grad(set_to_none=True)
        with accelerator.autocast():
            loss = work.loss(model, tuple(part[ids] for part in work.data))
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def with_lightning(work: Workload, device: torch.device, pace: Paced) -> None:
    lightning = importlib.import_module(LIGHTNING)

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.inner = fresh(work, device)

        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            return work.loss(self.inner, batch)

        def configure_optimizers(self) -> Any:
            # Lightning refuses to clip under mixed precision when the optimizer is fused.
            fused = device.type == "cuda" and work.precision != "bf16"
            return torch.optim.AdamW(self.inner.parameters(), RATE, fused=fused or None)

    class Feed(torch.utils.data.IterableDataset):
        def __iter__(self) -> Iterator[Any]:
            size = len(work.data[0])
            for _ in pace.steps(pace.total):
                ids = torch.randint(size, (work.batch_size,), device=device)
                yield tuple(part[ids] for part in work.data)

    trainer = lightning.Trainer(
        max_steps=pace.total,
        accelerator="gpu" if device.type == "cuda" else "cpu",
        devices=1,
        precision="bf16-mixed" if work.precision == "bf16" else "32-true",
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(Feed(), batch_size=None))


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


def correctness(device: torch.device, made: list[Workload]) -> tuple[list[str], bool]:
    """Captured against eager, a captured step that never waits, and steps that cannot be."""
    lines, good = [], True
    checks: list[tuple[str, Callable[[], str]]] = [
        *((work.name, lambda w=work: _captured_equals_eager(w, device)) for work in made),
        ("no step waits for the device", lambda: _no_waiting(made[0], device)),
        ("a step that reads its loss", lambda: _falls_back(made[0], device, _reading)),
        ("a step that cannot be captured", lambda: _falls_back(made[0], device, _waiting)),
        ("after these", lambda: _captured_equals_eager(made[0], device)),
    ]
    for name, check in checks:
        try:
            lines.append(f"- {name}: {check()}: ok")
        except Exception as error:
            good = False
            lines.append(f"- {name}: WRONG: {type(error).__name__}: {error}")
            traceback.print_exc()
    return lines, good


def _captured_equals_eager(work: Workload, device: torch.device) -> str:
    eager = ours(work, device, None, 60)
    captured = ours(work, device, None, 60, capture=True)
    assert captured.captured, captured.notes
    pairs = zip(eager.curves["train_loss"], captured.curves["train_loss"], strict=True)
    worst = max(abs(a - b) / abs(a) for (_, a), (_, b) in pairs)
    limit = 1e-3 if work.precision == "tf32" else 2e-2
    assert worst < limit, f"losses differ by {worst:.1e}, more than {limit:g}"
    return f"losses of 60 captured steps differ from eager ones by at most {worst:.1e}"


class Strict:
    """A trial's handle under which waiting for the device is an error, from step 20 to the last."""

    def __init__(self) -> None:
        self.folder, self.restored, self.start_step = None, None, 0
        self.seeds = hosts.seeds(0)

    def steps(self, total: int) -> Iterator[int]:
        try:
            for step in range(1, total + 1):
                strict = 20 <= step < total  # at the last one the numbers are read
                torch.cuda.set_sync_debug_mode("error" if strict else "default")
                yield step
        finally:
            torch.cuda.set_sync_debug_mode("default")

    def log(self, step: int, metrics: dict[str, float]) -> None:
        pass

    def eval_due(self, step: int) -> bool:
        return False

    def save_due(self, step: int) -> bool:
        return False


def _no_waiting(work: Workload, device: torch.device) -> str:
    ours(work, device, Strict(), 90)
    captured = ours(work, device, Strict(), 90, capture=True)
    assert captured.captured, captured.notes
    return "70 eager and 70 captured steps ran with waiting forbidden"


def _falls_back(work: Workload, device: torch.device, change: Any) -> str:
    fallen = ours(_with_loss(work, change(work)), device, None, 60, capture=True)
    assert not fallen.captured and len(fallen.curves["train_loss"]) == 60
    return fallen.notes[0]


def _reading(work: Workload) -> Any:
    def reads(model: nn.Module, batch: Any) -> torch.Tensor:
        loss = work.loss(model, batch)
        return loss if loss.item() > 0 else -loss

    return reads


def _waiting(work: Workload) -> Any:
    def waits(model: nn.Module, batch: Any) -> torch.Tensor:
        torch.cuda.synchronize()
        return work.loss(model, batch)

    return waits


def _with_loss(work: Workload, loss: Any) -> Workload:
    return dataclasses.replace(work, loss=loss)


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
