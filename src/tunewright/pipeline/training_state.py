"""All that a training must keep to resume where it stopped, and nothing that the step implies.

The learning rate and the examples of update k are functions of k; what remains is the model, the
optimizer, the loss scale, averaged weights and the random states of every process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tunewright.errors import PipelineError
from tunewright.messages import Message
from tunewright.pipeline import hosts, optimizer as optimizers
from tunewright.pipeline.agreement import check_parameters
from tunewright.pipeline.averages import Averages, sync_batch_norm
from tunewright.pipeline.fit_config import FitConfig, loss_scaler
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.random_state import random_rows, set_random_rows


@dataclass
class TrainingState:
    """What an update changes."""

    model: nn.Module  # as it is trained, wrapped for several processes where there are several
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler | None
    averages: Averages | None
    clip_norm: torch.Tensor | None  # a hyperparameter on the device, like the learning rate
    parameters: list[nn.Parameter]  # what the optimizer trains
    device: torch.device


def start(model: nn.Module, config: FitConfig, device: torch.device, host: Host) -> TrainingState:
    """The state before the first update; the model is moved to the device."""
    model.to(device)
    choice = config.optimizer
    if hasattr(choice, "build"):
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = choice.build(trained, config.learning_rate(1))
        if not config.capture:
            optimizers.keep_rate_on_host(optimizer)
    else:
        optimizer = choice(model)
    averages = None
    if config.average_decay is not None:
        averages = Averages(model, config.average_decay)
    clip = None if config.clip_norm is None else torch.tensor(config.clip_norm, device=device)
    scaler = loss_scaler(config.precision, device)
    return TrainingState(
        model=hosts.parallel(model, host),
        optimizer=optimizer,
        scaler=scaler,
        averages=averages,
        clip_norm=clip,
        parameters=[p for group in optimizer.param_groups for p in group["params"]],
        device=device,
    )


def state_tree(
    state: TrainingState, step: int, config: FitConfig, seeds: Any, host: Host
) -> dict[str, Any]:
    """The state as a tree that a snapshot keeps; every process calls it, rank 0 writes it.

    Batch norm is synced first, and the processes compare their weights bit for bit.
    """
    check_parameters(state.model, host)
    sync_batch_norm(state.model, host)
    if state.averages is not None:
        state.averages.sync(state.model, host)
    return {
        "kind": "tunewright.pipeline.fit",
        "step": step,
        "model": hosts.bare(state.model).state_dict(),
        "optimizer": state.optimizer.state_dict(),
        "scaler": None if state.scaler is None else state.scaler.state_dict(),
        "averages": None if state.averages is None else state.averages.state_dict(),
        "random": random_rows(state.device, host),
        "data": _position(config, seeds),
        "schedule": config.schedule.as_json(),
        "config": _settings(config),
    }


def restore(
    state: TrainingState, saved: Mapping[str, Any], config: FitConfig, seeds: Any, host: Host
) -> tuple[Message, ...]:
    """Resume from what `kept` gave; notes report what is not as it was."""
    if not isinstance(saved, Mapping) or saved.get("kind") != "tunewright.pipeline.fit":
        raise PipelineError("resume.not_of_fit")
    if saved["data"] != _position(config, seeds):
        raise PipelineError(
            "resume.data_position",
            step=saved["step"],
            data=saved["data"],
            position=_position(config, seeds),
        )
    changed = [
        f"{name} was {saved['config'][name]!r} and is {value!r}"
        for name, value in _settings(config).items()
        if name in saved.get("config", {}) and saved["config"][name] != value
    ]
    if changed:
        raise PipelineError("resume.other_training", step=saved["step"], changed="; ".join(changed))
    for name, mine in (("scaler", state.scaler), ("averages", state.averages)):
        if (saved[name] is None) != (mine is None):
            raise PipelineError(
                "resume.other_precision",
                with_="without" if saved[name] is None else "with",
                name=name,
            )
    hosts.bare(state.model).load_state_dict(saved["model"])
    optimizers.restore(state.optimizer, saved["optimizer"])
    if state.scaler is not None:
        state.scaler.load_state_dict(dict(saved["scaler"]))
    if state.averages is not None:
        state.averages.load_state_dict(saved["averages"])
    notes = []
    if not set_random_rows(saved["random"], state.device, host, seeds.data, saved["step"]):
        facts = {"world": host.world, "before": len(saved["random"])}
        notes.append(Message("fit.note.other_world", facts))
    if saved["schedule"] != config.schedule.as_json():
        notes.append(Message("fit.note.other_schedule"))
    return tuple(notes)


def _settings(config: FitConfig) -> dict[str, Any]:
    """What must not change between two attempts at one training."""
    return {
        "base_learning_rate": config.base_learning_rate,
        "max_train_steps": config.max_train_steps,
        "precision": config.precision,
    }


def _position(config: FitConfig, seeds: Any) -> dict[str, Any]:
    return {"batch_size": config.batch_size, "order_seed": int(seeds.order)}
