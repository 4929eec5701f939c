"""fit on two processes against one: the same training, one writer, and a resume."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from tunewright import snapshot

WORKER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    import torch
    from torch import nn
    from tunewright.pipeline import FitConfig, Keep, Nesterov, Validation, fit, hosts

    host = hosts.start("gloo")
    folder = Path(sys.argv[1])
    x = torch.randn(96, 6, generator=torch.Generator().manual_seed(1))
    y, weights = (x[:, 0] > 0).long(), torch.linspace(0, 1, 96)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    stop = int(sys.argv[2])
    calls = 0

    def losses(model, batch):
        global calls
        calls += 1
        if stop and calls > 2 * stop:
            raise SystemExit(0)  # as if all processes were killed
        return nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="none")

    fitted = fit(
        model, losses, (x, y),
        FitConfig(max_train_steps=30, batch_size=16, base_learning_rate=0.1, log_every=4,
                  optimizer=Nesterov(), accumulate=2, clip_norm=1.0, average_decay=0.9),
        valid=Validation((x, y), lambda m, b: {"error": (m(b[0]).argmax(1) != b[1]).float()}),
        keep=Keep("error", best=2), folder=folder, weights=weights,
    )
    result = {
        "start": torch.tensor(fitted.start_step),
        "loss": torch.tensor([v for _, v in fitted.curves["train_loss"]]),
        "norm": torch.tensor([v for _, v in fitted.curves["gradient_norm"]]),
        "error": torch.tensor([v for _, v in fitted.curves["error"]]),
        **{f"model.{k}": v for k, v in model.state_dict().items()},
    }
    torch.save(result, folder / f"result-{host.world}-{host.rank}.pt")
    """
)


def run_ranks(code: str, world: int, *arguments: object) -> list[list[str]]:
    """Run a program on several gloo processes; the lines each rank printed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    jobs = []
    for rank in range(world):
        group = {"RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank)}
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
        environment = {**os.environ, **address, **(group if world > 1 else {})}
        jobs.append(
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    printed = []
    for job in jobs:
        output, problems = job.communicate(timeout=300)
        assert job.returncode == 0, output + problems
        printed.append(output.splitlines())
    return printed


def launch(folder: Path, world: int, stop: int = 0) -> list[dict[str, torch.Tensor]]:
    folder.mkdir(exist_ok=True)
    run_ranks(WORKER, world, folder, stop)
    if stop:
        return []
    return [
        torch.load(folder / f"result-{world}-{rank}.pt", weights_only=True) for rank in range(world)
    ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="module")
def alone(folders: Path) -> dict[str, torch.Tensor]:
    return launch(folders / "one", 1)[0]


@pytest.fixture(scope="module")
def two(folders: Path) -> list[dict[str, torch.Tensor]]:
    return launch(folders / "two", 2)


def test_two_processes_train_as_one(alone: dict, two: list, folders: Path) -> None:
    for name in alone:
        assert torch.equal(two[0][name], two[1][name]), name  # the ranks agree bit for bit
        torch.testing.assert_close(two[0][name], alone[name], rtol=1e-4, atol=1e-5, msg=name)
    for kind in ("snapshots", "checkpoints"):
        one_writer = [s.step for s in snapshot.list_snapshots(folders / "two" / kind)]
        assert one_writer == [s.step for s in snapshot.list_snapshots(folders / "one" / kind)]


@pytest.mark.slow
def test_two_processes_resume_together(two: list, folders: Path) -> None:
    launch(folders / "cut", 2, stop=17)
    resumed = launch(folders / "cut", 2)
    assert int(resumed[0]["start"]) in range(12, 18)
    for rank in range(2):
        for name in two[rank]:
            if name != "start":
                assert torch.equal(two[rank][name], resumed[rank][name]), name


LOADER = textwrap.dedent(
    """
    import sys
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
    from tunewright.errors import PipelineError
    from tunewright.pipeline import FitConfig, fit, hosts

    host = hosts.start("gloo")
    x = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
    data = TensorDataset(x, x[:, :1])
    kinds = {
        "plain": lambda: DataLoader(data, batch_size=8),
        "sampler": lambda: DataLoader(
            data, batch_size=8, sampler=DistributedSampler(data, host.world, host.rank)),
        "function": lambda: lambda step: (x[step : step + 8], x[step : step + 8, :1]),
        "constant": lambda: lambda step: (x[:8], x[:8, :1]),
    }
    for kind, made in kinds.items():
        torch.manual_seed(0)
        try:
            fit(
                nn.Linear(4, 1),
                lambda model, batch: (model(batch[0]) - batch[1]).square().mean(),
                made(),
                FitConfig(max_train_steps=4, batch_size=16, base_learning_rate=0.1),
            )
            print(host.rank, kind, "trained", flush=True)
        except PipelineError:
            print(host.rank, kind, "refused", flush=True)
    """
)


def test_a_loader_that_gives_all_ranks_the_same_batches_is_refused(tmp_path: Path) -> None:
    printed = run_ranks(LOADER, 2, tmp_path)
    for rank, lines in enumerate(printed):
        assert lines == [
            f"{rank} plain refused",
            f"{rank} sampler trained",
            f"{rank} function refused",
            f"{rank} constant trained",  # a benchmark's batch, the same at every step
        ]
