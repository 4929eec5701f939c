"""A round of small trials on one GPU: wall-clock seconds of each way, from the call to the results.

    python bench/gpu_round.py MODEL STEPS TRIALS WAY...

MODEL: mlp (784-512-512-10, batch 128, tf32), gpt (d128 L4 T128, batch 32, tf32), resnet (ResNet-14
on 32x32 images, batch 128, tf32), dropout (an MLP with two dropout layers, fp32). The data is
generated on the device. Every way trains the same hyperparameter points (scrambled Halton) and
evaluates ten times.

WAY: optuna1 optuna16 (a loop by hand; N processes on one SQLite study), optuna16x32/500 (32 trials
of 500 steps, scaled: the time until the first trials start, and the rest times the ratio of the
steps), local1 local16 (tw.Local, fit eager), local1c local8c (captured), packed16 packed32 packed
(tw.executors.Packed; the last finds the number), packed16k (compiled), lean (one captured trial
against bare replays), bare16 (the device's own pace: graphs of K trials, nothing else), equal16
(packed against alone, every value of every curve).
Prints one JSON line per way.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from scipy.stats import qmc
from torch import Tensor, nn

import tunewright as tw
from tunewright.pipeline import FitConfig, Validation, fit
from tunewright.pipeline.optimizer import AdamW

BATCH = {"mlp": 128, "gpt": 32, "resnet": 128, "dropout": 128}
SPACE = {"learning_rate": (1e-4, 0.1), "weight_decay": (1e-6, 0.1)}
Parts = tuple[Tensor, ...]
_data: dict[str, tuple[Parts, Parts]] = {}


class Block(nn.Module):
    """One layer of the transformer."""

    def __init__(self, width: int) -> None:
        """Four heads."""
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then the two linear layers."""
        size, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (part.view(size, length, 4, width // 4).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(size, length, width))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class GPT(nn.Module):
    """A character model of 0.8 million weights."""

    def __init__(self, words: int = 65, width: int = 128, layers: int = 4, length: int = 128):
        """Embeddings, layers, head."""
        super().__init__()
        self.embed, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of each next character."""
        places = self.place(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.blocks(self.embed(x) + places)))


class Residual(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        """The shortcut is a convolution where shapes differ."""
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outer),
            nn.ReLU(),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outer),
        )
        same = stride == 1 and inner == outer
        self.short = nn.Identity() if same else nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Add and rectify."""
        return F.relu(self.body(x) + self.short(x))


def network(model: str) -> nn.Module:
    """A new model."""
    if model == "gpt":
        return GPT()
    if model == "resnet":
        widths = [(16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)]
        return nn.Sequential(
            nn.Conv2d(3, 16, 3, 1, 1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            *[Residual(*each) for each in widths],
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(64, 10),
        )
    drop = [nn.Dropout(0.3)] if model == "dropout" else []
    first = [nn.Linear(784, 512), nn.ReLU(), *drop]
    return nn.Sequential(*first, nn.Linear(512, 512), nn.ReLU(), *drop, nn.Linear(512, 10))


def data(model: str) -> tuple[Parts, Parts]:
    """Training and validation examples on the device, made once per process."""
    if model not in _data:
        made = torch.Generator().manual_seed(0)
        if model == "gpt":
            x = torch.randint(65, (8192, 129), generator=made)
            x = torch.where(torch.rand(x.shape, generator=made) < 0.5, x.roll(1, 1), x)
            whole: Parts = (x,)
            cut = 7680
        else:
            count, shape = 20_000, (3, 32, 32) if model == "resnet" else (784,)
            x = torch.randn(count, *shape, generator=made)
            whole = (x, x.flatten(1)[:, :10].argmax(1))
            cut = 15_000
        on_device = tuple(part.cuda() for part in whole)
        train, valid = (p[:cut] for p in on_device), (p[cut:] for p in on_device)
        _data[model] = tuple(train), tuple(valid)
    return _data[model]


def loss(net: nn.Module, batch: Parts) -> Tensor:
    """Mean cross-entropy."""
    if len(batch) == 2:
        return F.cross_entropy(net(batch[0]), batch[1])
    x = batch[0]
    return F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())


def each(net: nn.Module, batch: Parts) -> dict[str, Tensor]:
    """Cross-entropy of each example."""
    if len(batch) == 2:
        return {"valid_loss": F.cross_entropy(net(batch[0]), batch[1], reduction="none")}
    x = batch[0]
    losses = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten(), reduction="none")
    return {"valid_loss": losses.view(len(x), -1).mean(1)}


def points(trials: int) -> list[dict[str, float]]:
    """The same points for every way."""
    unit = qmc.Halton(len(SPACE), scramble=True, seed=0).random(trials)
    ranges = [(name, math.log(low), math.log(high)) for name, (low, high) in SPACE.items()]
    return [
        {
            name: math.exp(low + u * (high - low))
            for u, (name, low, high) in zip(row, ranges, strict=True)
        }
        for row in unit
    ]


def by_hand(model: str, learning_rate: float, weight_decay: float, steps: int, seed: int) -> float:
    """Train one trial as a user writes it; the last validation loss."""
    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = model != "dropout"
    train, valid = data(model)
    net = network(model).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=learning_rate, weight_decay=weight_decay)
    value = math.inf
    for step in range(1, steps + 1):
        ids = torch.randint(len(train[0]), (BATCH[model],), device="cuda")
        found = loss(net, tuple(part[ids] for part in train))
        optimizer.zero_grad(set_to_none=True)
        found.backward()
        optimizer.step()
        if step % (steps // 10) == 0:
            net.eval()
            with torch.no_grad():
                chunks = range(0, len(valid[0]), 1024)
                parts = [tuple(part[at : at + 1024] for part in valid) for at in chunks]
                value = torch.cat([each(net, part)["valid_loss"] for part in parts]).mean().item()
            net.train()
            if not math.isfinite(value):
                break
    return value


def _optuna_worker(url: str, model: str, steps: int, trials: int) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: Any) -> float:
        drawn = {n: trial.suggest_float(n, *bounds, log=True) for n, bounds in SPACE.items()}
        return by_hand(model, **drawn, steps=steps, seed=trial.number)

    data(model)
    optuna.load_study(study_name="s", storage=url).optimize(objective, n_trials=trials)


def with_optuna(
    model: str, steps: int, trials: int, processes: int
) -> tuple[float, float, list[float]]:
    """Seconds until every process has started a trial, seconds in all, and values."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    url = f"sqlite:///{tempfile.mkdtemp()}/o.db"
    study = optuna.create_study(study_name="s", storage=url)
    for point in points(trials):
        study.enqueue_trial(point)
    started, clock = time.perf_counter(), datetime.now()
    if processes == 1:
        _optuna_worker(url, model, steps, trials)
    else:
        context = multiprocessing.get_context("spawn")
        share = (url, model, steps, trials // processes)
        workers = [context.Process(target=_optuna_worker, args=share) for _ in range(processes)]
        _ = [worker.start() for worker in workers], [worker.join() for worker in workers]
    wall = time.perf_counter() - started
    begun = sorted(t.datetime_start for t in study.trials if t.datetime_start is not None)
    until = (begun[min(processes, len(begun)) - 1] - clock).total_seconds()
    return until, wall, [trial.value for trial in study.trials if trial.value is not None]


def training(model: str, captured: bool, compiled: bool = False) -> Callable[..., None]:
    """The training function, the same for all executors."""

    def train(run: Any, learning_rate: float, weight_decay: float, max_train_steps: int) -> None:
        torch.manual_seed(run.seeds.init)
        torch.cuda.manual_seed(run.seeds.init)
        examples, valid = data(model)
        config = FitConfig(
            max_train_steps=max_train_steps,
            batch_size=BATCH[model],
            base_learning_rate=learning_rate,
            optimizer=AdamW(weight_decay=weight_decay),
            precision="fp32" if model == "dropout" else "tf32",
            capture=captured,
            compile=compiled,
        )
        fit(network(model).cuda(), loss, examples, config, valid=Validation(valid, each), run=run)

    return train


def with_ours(
    model: str, steps: int, trials: int, executor: Any, captured: bool, compiled: bool = False
) -> tuple[float, Any]:
    """Seconds and results."""
    store = Path(tempfile.mkdtemp()) / "t.db"
    workload = tw.Workload(
        training(model, captured, compiled),
        tw.minimize("valid_loss"),
        store=str(store),
        eval_every=steps // 10,
        executor=executor,
    )
    bounds = {name: tw.log(*span) for name, span in SPACE.items()}
    design = tw.Round(
        "r",
        goal="speed",
        scientific={},
        nuisance=bounds,
        fixed={"max_train_steps": steps},
        trials_per_study=trials,
    )
    started = time.perf_counter()
    results = tw.run(design, workload, search=tw.search.Listed(points(trials)), progress="off")
    return time.perf_counter() - started, results


class Bare:
    """A captured step with its tables, and nothing else."""

    def __init__(self, model: str, steps: int, at: int) -> None:
        """Capture it after three steps."""
        torch.manual_seed(at)
        train, _ = data(model)
        torch.set_float32_matmul_precision("highest" if model == "dropout" else "high")
        torch.backends.cudnn.allow_tf32 = model != "dropout"
        net = network(model).cuda()
        rate = torch.tensor(3e-4, device="cuda")
        optimizer = AdamW(weight_decay=1e-4).build(list(net.parameters()), 3e-4)
        ids = torch.randint(len(train[0]), (steps + 8, BATCH[model]), device="cuda")
        rates = rate * (1 - torch.arange(steps + 8, device="cuda") / (steps + 8))
        place = torch.zeros(1, dtype=torch.long, device="cuda")
        self.losses = torch.zeros(steps + 8, device="cuda")
        self.stream, self.graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()

        def step() -> None:
            mine = ids.index_select(0, place)[0]
            optimizer.param_groups[0]["lr"].copy_(rates.index_select(0, place)[0])
            found = loss(net, tuple(part.index_select(0, mine) for part in train))
            optimizer.zero_grad(set_to_none=True)
            found.backward()
            optimizer.step()
            self.losses.index_copy_(0, place, found.detach()[None])
            place.add_(1)

        self.step = step  # keeps the tensors that the graph reads
        state, default = torch.Generator(device="cuda"), torch.cuda.default_generators[0]
        kept = default.graphsafe_get_state()
        default.graphsafe_set_state(state.graphsafe_get_state())
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for _ in range(3):
                step()
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph, stream=self.stream):
            step()
        default.graphsafe_set_state(kept)
        self.state = state


def bare(model: str, steps: int, at_once: int) -> float:
    """Seconds of `steps` replays of each of `at_once` trials."""
    trials = [Bare(model, steps, at) for at in range(at_once)]
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(steps):
        for trial in trials:
            with torch.cuda.stream(trial.stream):
                trial.graph.replay()
    torch.cuda.synchronize()
    return time.perf_counter() - started


def curves(results: Any) -> dict[int, dict[str, list[float]]]:
    """Every value of every curve of every trial."""
    names = ("train_loss", "gradient_norm", "learning_rate", "valid_loss")
    return {
        trial.number: {m: list(map(float, results.curves(trial, m).values)) for m in names}
        for trial in results.trials
    }


def measured(model: str, steps: int, trials: int, way: str) -> dict[str, Any]:
    """One line of the report."""
    digits = "".join(c for c in way.split("x")[0] if c.isdigit())
    count = int(digits or 1)
    values: list[float] = []
    _data.clear()  # it would travel with the training function
    if way.startswith("optuna") and "x" in way:
        few, short = map(int, way.split("x")[1].split("/"))
        until, wall, _ = with_optuna(model, short, few, count)
        whole = until + (wall - until) * trials * steps / (few * short)
        return {"wall_s": round(whole, 2), "scaled_from": f"{few} trials of {short} steps",
                "start_s": round(until, 2), "measured_s": round(wall, 2)}  # fmt: skip
    if way.startswith("optuna"):
        _, wall, values = with_optuna(model, steps, trials, count)
    elif way.startswith("bare"):
        wall = bare(model, steps, count) * trials / count
    elif way == "lean":
        return lean(model, steps)
    elif way.startswith("equal"):
        return equal(model, steps, trials, count)
    else:
        packed = way.startswith("packed")
        captured = packed or way.endswith(("c", "k"))
        at_once = int(digits) if digits else None
        executor = tw.executors.Packed(trials=at_once) if packed else tw.Local(workers=count)
        wall, results = with_ours(model, steps, trials, executor, captured, way.endswith("k"))
        values = [trial.value for trial in results.trials if trial.status == "completed"]
    best = {"done": len(values), "best": min(values)} if values else {}
    return {"wall_s": round(wall, 2), "trial_steps_per_s": round(trials * steps / wall)} | best


def lean(model: str, steps: int) -> dict[str, Any]:
    """Captured trials in this process, everything included, against bare replays."""
    replays = min(bare(model, steps, 1) for _ in range(3))
    with_ours(model, steps, 2, tw.executors.Inline(), True)  # libraries load once
    few, many = (with_ours(model, steps, n, tw.executors.Inline(), True)[0] for n in (2, 10))
    return {"trial_s": round((many - few) / 8, 4), "bare_s": round(replays, 4),
            "ratio": round((many - few) / 8 / replays, 3)}  # fmt: skip


def equal(model: str, steps: int, trials: int, at_once: int) -> dict[str, Any]:
    """Whether packed trials log what they log alone."""
    one = curves(with_ours(model, steps, trials, tw.Local(workers=1), True)[1])
    many = curves(with_ours(model, steps, trials, tw.executors.Packed(trials=at_once), True)[1])
    same = sum(repr(one[n]) == repr(many.get(n)) for n in one)
    largest = max(
        (
            abs(a - b)
            for n in one
            for m in one[n]
            for a, b in zip(one[n][m], many[n][m], strict=True)
        ),
        default=math.nan,
    )
    return {"trials_equal": same, "of": len(one), "largest_difference": largest}


if __name__ == "__main__":
    name, length, number, *ways = sys.argv[1:]
    for each_way in ways:
        about = {"model": name, "steps": int(length), "trials": int(number), "way": each_way}
        line = measured(name, int(length), int(number), each_way)
        print(json.dumps({**about, **line}), flush=True)
