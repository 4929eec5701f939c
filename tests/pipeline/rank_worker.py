"""What every rank does in the tests with several processes; started by ranks.py, never by pytest.

`python rank_worker.py FOLDER` under torchrun's variables writes FOLDER/rank-<n>.pt. The same
functions run in the tests with one process, and the answers are compared.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.agreement import check_batch, check_parameters, check_seeds, check_start
from tunewright.pipeline.averages import Averages, batch_norm_layers, sync_batch_norm
from tunewright.pipeline.evaluate import evaluate, find_batch_size
from tunewright.pipeline.ghost_batch_norm import GhostBatchNorm
from tunewright.pipeline.hosts import Host

EXAMPLES, CHANNELS, VIRTUAL, MICRO = 103, 5, 8, 4


def inputs(count: int = EXAMPLES) -> Tensor:
    return torch.randn(count, CHANNELS, generator=torch.Generator().manual_seed(1)).double()


def labels(count: int = EXAMPLES) -> Tensor:
    return torch.arange(count) ** 2 % 4


def network(seed: int, batch_norm: nn.Module | None = None) -> nn.Module:
    torch.manual_seed(seed)
    norm = [] if batch_norm is None else [batch_norm]
    return nn.Sequential(nn.Linear(CHANNELS, 6), *norm, nn.Tanh(), nn.Linear(6, 4)).double()


def metrics(model: nn.Module, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
    logits = model(batch[0])
    return {
        "loss": F.cross_entropy(logits, batch[1], reduction="none"),
        "accuracy": (logits.argmax(1) == batch[1]).float(),
    }


def trained(host: Host, norm: nn.Module | None = None, batch_size: int = 24, like_world: int = 1):
    """Parallel SGD on a shared permutation: losses, the ids seen here, and the model.

    `like_world`: one process with the examples in the order in which so many ranks hold them.
    """
    seeds = hosts.seeds(11, host)
    model = hosts.parallel(network(seeds.init, norm), host)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = inputs(), labels()
    losses, seen = [], []
    for step in range(1, 13):
        ids = hosts.batch_ids(step, batch_size, EXAMPLES, seeds.order, host)
        ids = torch.cat([hosts.shard(ids, Host(rank, like_world)) for rank in range(like_world)])
        loss = F.cross_entropy(model(x[ids]), y[ids])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(hosts.all_sum(loss.detach(), host) / host.world)
        seen.append(ids)
    return torch.stack(losses), torch.stack(seen), model


def evaluated(model: nn.Module, host: Host) -> dict[str, object]:
    found = evaluate(
        model,
        (inputs(), labels()),
        metrics,
        batch_size=8,
        labels=labels(),
        correct="accuracy",
        predict=lambda net, batch: net(batch[0]),
        keep_values=True,
        host=host,
    )
    return {
        "metrics": dict(found.metrics),
        "weight": found.weight,
        "values": dict(found.values or {}),
        "counts": [(count.label, count.correct, count.total) for count in found.class_counts],
        "predictions": None if found.predictions is None else found.predictions.values,
    }


def normalised(layer: nn.Module, batch: Tensor, target: Tensor) -> dict[str, Tensor]:
    """Output, input gradient, parameter gradients and running statistics of one training pass."""
    batch = batch.clone().requires_grad_()
    out = layer(batch)
    (out * target).sum().backward()
    return {
        "out": out.detach(),
        "gradient": batch.grad,
        "weight_gradient": layer.weight.grad,
        "bias_gradient": layer.bias.grad,
        "running_mean": layer.running_mean,
        "running_var": layer.running_var,
    }


def ghost(virtual_batch_size: int = VIRTUAL, **options) -> GhostBatchNorm:
    layer = GhostBatchNorm(CHANNELS, virtual_batch_size, dtype=torch.float64, **options)
    with torch.no_grad():
        layer.weight.copy_(torch.linspace(0.5, 2, CHANNELS))
        layer.bias.copy_(torch.linspace(-1, 1, CHANNELS))
    return layer


def images(count: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    shape = (count, CHANNELS, 3, 2)
    batch = torch.randn(shape, generator=generator, dtype=torch.float64) * 2 + 1
    return batch, torch.randn(shape, generator=generator, dtype=torch.float64)


def refused(work) -> str:
    try:
        work()
    except PipelineError as error:
        return str(error)
    return ""


def synced(layer: nn.Module, host: Host, spread: bool | None) -> dict[str, Tensor]:
    layer.running_mean.copy_(torch.arange(CHANNELS) + float(host.rank))
    layer.running_var.copy_(torch.ones(CHANNELS) * (1 + host.rank))
    sync_batch_norm(layer, host, spread=spread)
    once = layer.running_var.clone()
    sync_batch_norm(layer, host, spread=spread)
    return {"mean": layer.running_mean, "var": layer.running_var, "once": once}


def averaged(host: Host) -> dict[str, object]:
    _, _, model = trained(host, GhostBatchNorm(6, MICRO), batch_size=MICRO * host.world)
    averages = Averages(model, decay=0.5)
    averages.update(model)
    apart = averages.state_dict()["values"]["1.running_mean"].clone()
    averages.sync(model, host)
    together = averages.state_dict()["values"]["1.running_mean"].clone()
    return {"apart": apart, "together": together}


def running_statistics(model: nn.Module) -> Tensor:
    return torch.cat(
        [batch_norm_layers(model)[0].running_mean, batch_norm_layers(model)[0].running_var]
    )


def crowded(host: Host):
    """Metrics that run out of memory above 32 examples on the last rank, above 64 on the others."""

    def costly(model: nn.Module, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        if len(batch[0]) > (32 if host.rank == host.world - 1 else 64):
            torch.empty(2**46, dtype=torch.uint8)
        return metrics(model, batch)

    return costly


def all_answers(host: Host, folder: Path) -> dict[str, object]:
    answers: dict[str, object] = {"host": (host.rank, host.world, host.local_rank)}
    losses, seen, model = trained(host)
    answers["losses"], answers["seen"] = losses, seen
    answers["parameters"] = dict(hosts.bare(model).named_parameters())
    answers["evaluation"] = evaluated(model, host)

    # Batch norm: per shard, then per group of ranks, then its averages.
    batch, target = images(VIRTUAL * host.world)
    mine = slice(host.rank * VIRTUAL, (host.rank + 1) * VIRTUAL)
    answers["shard"] = normalised(ghost(), batch[mine], target[mine])
    batch, target = images(MICRO * host.world)
    mine = slice(host.rank * MICRO, (host.rank + 1) * MICRO)
    answers["group"] = normalised(ghost(), batch[mine], target[mine])
    answers["group_refused"] = refused(lambda: ghost(MICRO * 3)(batch[mine]))
    answers["group_loose"] = ghost(MICRO * 3, strict=False)(batch[mine])
    answers["sync_plain"] = synced(nn.BatchNorm1d(CHANNELS), host, None)
    answers["sync_ghost"] = synced(GhostBatchNorm(CHANNELS, MICRO), host, None)
    answers["sync_spread"] = synced(GhostBatchNorm(CHANNELS, MICRO), host, True)
    answers["averages"] = averaged(host)
    answers["norm_losses"], _, norm_model = trained(host, GhostBatchNorm(6, 24 // host.world))
    answers["statistics_apart"] = running_statistics(norm_model)
    answers["norm_evaluation"] = evaluated(norm_model, host)
    answers["statistics_synced"] = running_statistics(norm_model)

    # Agreement.
    seeds, everyone = hosts.seeds(11, host), hosts.global_ids(1, 24, EXAMPLES, 5)
    share = hosts.shard(everyone, host)
    answers["agreed"] = refused(lambda: check_start(model, seeds, share, everyone, host))
    answers["same_batch"] = refused(lambda: check_batch(everyone[: len(share)], everyone, host))
    shifted = hosts.batch_ids(1, 24, EXAMPLES, 5 + host.rank, host)
    answers["other_order"] = refused(lambda: check_batch(shifted, everyone, host))
    answers["uneven"] = refused(lambda: check_batch(share[host.rank :], everyone, host))
    answers["same_data_seed"] = refused(lambda: check_seeds(hosts.seeds(11, Host()), host))
    answers["other_init"] = refused(lambda: check_seeds(hosts.seeds(11 + host.rank, host), host))
    drifted = network(3)
    if host.rank == 1:
        with torch.no_grad():
            drifted[0].bias[2] += 1e-15  # one bit or so
    answers["drifted"] = refused(lambda: check_parameters(drifted, host))
    answers["other_model"] = refused(
        lambda: check_parameters(network(3, nn.BatchNorm1d(6) if host.rank else None), host)
    )

    # Evaluation that ranks could disagree about.
    answers["found"] = find_batch_size(
        model, (inputs(500), labels(500)), crowded(host), 16, host=host
    )
    other = EXAMPLES - host.rank
    answers["other_size"] = refused(
        lambda: evaluate(model, (inputs(other), labels(other)), metrics, batch_size=8, host=host)
    )
    answers["other_weights"] = refused(
        lambda: evaluate(
            hosts.bare(model),
            (inputs(), labels()),
            metrics,
            batch_size=8,
            weights=torch.ones(EXAMPLES) + host.rank,
            host=host,
        )
    )

    # Who writes.
    answers["wrote"] = hosts.on_main(lambda: _append(folder / "log", host), host)
    try:
        hosts.on_main(lambda: 1 / 0, host)
    except (ZeroDivisionError, PipelineError) as error:
        answers["raised"] = type(error).__name__
    return answers


def _append(path: Path, host: Host) -> int:
    with path.open("a") as file:
        file.write(f"rank {host.rank}\n")
    return host.rank


if __name__ == "__main__":
    torch.set_num_threads(1)
    this, out = hosts.start(), Path(sys.argv[1])
    found = all_answers(this, out)
    unfinished = out / f"rank-{this.rank}.tmp"
    torch.save(found, unfinished)
    unfinished.rename(unfinished.with_suffix(".pt"))
    # gloo aborts now and then when one rank leaves while another still sends (gloo issue 155), so
    # nobody leaves before all have spoken.
    while len(list(out.glob("rank-*.pt"))) < this.world:
        time.sleep(0.05)
    torch.distributed.destroy_process_group()
