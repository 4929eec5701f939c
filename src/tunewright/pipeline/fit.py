"""The training loop, from top to bottom in the order things happen.

    learning rate, forward, backward, norm, clip, step, log, evaluate, checkpoint

Alone, `fit(model, loss, data, FitConfig(...))` trains. Inside a training function that is tuned it
is one line, `fit(model, loss, data, FitConfig(...), valid=..., run=run)`. Nothing on the way of a
step waits for the device: what it measures is read every `log_every` steps, and a loss that is not
finite ends the training then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from tunewright.errors import Diverged, PipelineError
from tunewright.messages import Message
from tunewright.pipeline import agreement, batches, capture, hosts, training_state
from tunewright.pipeline.alone import Alone, Curve
from tunewright.pipeline.averages import Averages
from tunewright.pipeline.batches import Batch
from tunewright.pipeline.capture import CapturedStep
from tunewright.pipeline.checkpoint import Keep, Selection
from tunewright.pipeline.eval_batch import device_of
from tunewright.pipeline.evaluate import Evaluation
from tunewright.pipeline.fit_config import FitConfig, Loss, autocast, loss_scaler, matrix_products
from tunewright.pipeline.ghost_batch_norm import (
    GhostBatchNorm,
    norm_notes,
    set_micro_batches,
)
from tunewright.pipeline.gradient import Recorder, clip_by_norm_, global_norm, gradients
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.optimizer import set_learning_rate
from tunewright.pipeline.random_state import seed_all
from tunewright.pipeline.stretch import (
    MOST_STEPS,
    Lane,
    SaveTimes,
    Spans,
    Tables,
    lane_of,
    stretch_length,
)
from tunewright.pipeline.throughput import Clock, Throughput, Trace
from tunewright.pipeline.training_state import TrainingState
from tunewright.pipeline.validation import Validation, Validator

if TYPE_CHECKING:  # the pipeline works without the rest
    from tunewright.execution.training_run import Run

_MEASURED = ("train_loss", "gradient_norm")
_ENDLESS = 10**12  # steps: a probe continues until it has seen enough


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What a training did; the model was trained in place."""

    steps: int  # updates in all
    start_step: int  # of which an earlier attempt had done this many
    throughput: Throughput  # of the steps of this call
    captured: bool  # whether steps were replayed from a CUDA graph
    notes: tuple[Message, ...]  # what a reader of the results should know
    curves: Mapping[str, Curve] | None  # (step, value) of everything logged; None under a run
    evaluation: Evaluation | None  # the last one
    selected: Selection | None  # the best checkpoint, with keep=
    averages: Averages | None  # with average_decay: `with averages.applied(model): ...`


def fit(
    model: nn.Module,
    loss: Loss,
    data: Any,
    config: FitConfig,
    *,
    valid: Validation | None = None,
    keep: Keep | None = None,
    run: Run | None = None,
    folder: Path | str | None = None,
    seed: int = 0,
    weights: Tensor | None = None,
    device: torch.device | str | None = None,
    trace: Path | str | None = None,
    say: Callable[[str], None] | None = None,
) -> Fitted:
    """Train `model` in place for all its steps, or those left after a resume.

    The same call again after a kill continues, on the CPU bit for bit.

    Args:
        model: the module to train; its weights are changed in place.
        loss: `loss(model, batch)` gives the mean loss, or one loss per example.
        data: what to train on, as `pipeline.batches` takes it.
        config: how to train: steps, batch size, learning rate, optimizer, schedule ...
        valid: a data set that is evaluated at step intervals.
        keep: which checkpoints to keep, by one of the metrics of `valid`.
        run: the handle of a trial; it saves, resumes, logs and gives the seeds.
        folder: without a run, where to save and resume from.
        seed: without a run, fixes all that is random.
        weights: of the examples, by which their losses are averaged, exactly over all processes.
        device: where to train; None: where the model is.
        trace: a file for a profiler's trace of ten steps.
        say: receives lines of progress, such as `print`.

    >>> x = torch.linspace(-1, 1, 64)[:, None]
    >>> torch.manual_seed(0) and None
    >>> fitted = fit(
    ...     nn.Linear(1, 1),
    ...     lambda model, batch: (model(batch[0]) - batch[1]).square().mean(),
    ...     (x, 3 * x),
    ...     FitConfig(max_train_steps=200, batch_size=16, base_learning_rate=0.1),
    ... )
    >>> fitted.steps, fitted.curves["train_loss"][-1][1] < 1e-3
    (200, True)
    """
    host = hosts.current()
    device = _with_index(device_of(model, device))
    config.check(device, host)
    total_steps = config.schedule.total_steps(config.max_train_steps)
    if keep is not None and valid is None:
        raise PipelineError("fit.keep_needs_valid", metric=keep.metric)
    if keep is not None and run is None and folder is None:
        raise PipelineError("fit.keep_needs_folder", metric=keep.metric)
    handle = Alone(folder, seed=seed, host=host, say=say) if run is None else run
    saved, notes, lane = handle.restored, [*config.notes], lane_of(handle)

    source = batches.source(
        data,
        batch_size=config.batch_size,
        start_step=handle.start_step,
        total_steps=_ENDLESS if getattr(handle, "endless", False) else total_steps,
        order_seed=handle.seeds.order,
        example_seed=handle.seeds.data,
        device=device,
        host=host,
        weights=weights,
        workers=config.workers,
        prefetch=config.prefetch,
    )
    notes += norm_notes(model, config.batch_size // host.world // config.accumulate, host.world)
    _check_ranks(model, source, handle, config, host)
    items = source.items
    if source.size is None:  # nobody knows which examples a loader gives to which rank
        items = agreement.check_items(items, host)
    seed_all(handle.seeds.data)
    state = training_state.start(model, config, device, host)
    if saved is not None:
        notes += training_state.restore(state, saved, config, handle.seeds, host)
    longest = MOST_STEPS if config.capture and source.block is not None else 0
    recorder = Recorder(_MEASURED, config.log_every, device, longest)
    update = _stepper(
        state, loss, source=source, config=config, host=host, recorder=recorder, lane=lane
    )
    if update.reason is not None:
        lane.refuse(update.reason)
    else:
        lane.enter()
    validator = Validator(
        valid=valid, keep=keep, state=state, config=config, run=handle, host=host, lane=lane
    )
    clock, saving = Clock(config.batch_size, device), SaveTimes()
    spans, since = Spans(config.log_every, longest), time.perf_counter()

    state.model.train()
    with ExitStack() as ending:
        ending.callback(source.close)
        tracer = None
        if trace is not None and host.is_main:
            tracer = Trace(trace, total_steps - handle.start_step, device)
            ending.callback(tracer.close)
        ending.enter_context(matrix_products(config.precision))
        at_once = tracer is None and not getattr(handle, "endless", False)
        steps = iter(handle.steps(total_steps))
        for step in steps:
            if at_once and update.stretches(step):
                room = spans.steps - recorder.row
                count, due = stretch_length(handle, step, room, total_steps, valid is not None)
                since, end = time.perf_counter(), step + count - 1
                eval_due = valid is not None and handle.eval_due(end)
                reads = recorder.full_after(count) or eval_due or end == total_steps
                after = validator.ready if eval_due else None
                with clock.stretch(count):
                    update.stretch(step, count, reads=reads, after=after)
                for _ in range(count - 1):
                    step = next(steps)
                saving.ask(due, step == total_steps or getattr(handle, "stop_asked", False))
            else:
                item = clock.next(items)
                set_learning_rate(state.optimizer, config.learning_rate(min(step, total_steps)))
                update(step, item)  # train_step, below: forward, backward, norm, clip, step
                clock.count_step()
                if tracer is not None:
                    tracer.count_step()
                saving.ask(handle.save_due(step), now=True)
                eval_due = valid is not None and handle.eval_due(step)

            # All processes read at these steps; a stop may have been asked of only one of them.
            together = recorder.full or eval_due or step == total_steps
            if not together and (host.world > 1 or not saving.due):
                continue
            _log(handle, recorder, config, host, lane)
            spans.took(time.perf_counter() - since)
            clock.read_events()
            with clock.pause():
                if eval_due:
                    validator.evaluate(step, final=step == total_steps, captured=update.captured)
                if isinstance(handle, Alone):
                    handle.tell(step)
                if _any(saving.due, state.device, host):
                    tree = training_state.state_tree(state, step, config, handle.seeds, host)
                    with lane.release():  # the other trials of a pack train meanwhile
                        handle.save(tree)
                    saving.note_written()

    if config.capture and update.reason is not None:
        notes.append(Message("fit.note.not_captured", {"reason": update.reason}))
    return Fitted(
        steps=total_steps,
        start_step=handle.start_step,
        throughput=clock.read(),
        captured=update.captured,
        notes=tuple(notes),
        curves=handle.curves if isinstance(handle, Alone) else None,
        evaluation=validator.last,
        selected=validator.select_best(),
        averages=state.averages,
    )


def train_step(
    state: TrainingState,
    batch: Batch,
    forward: Loss,
    config: FitConfig,
    *,
    cache: bool = True,
) -> tuple[Tensor, Tensor]:
    """One update, a function of state, batch and hyperparameters; its loss and gradient norm.

    Where the step is to be captured, the hyperparameters that change, learning rate and clip norm,
    are tensors on the device, so that it is captured once and replayed. Nothing is read back.

    >>> model, config = nn.Linear(1, 1), FitConfig(
    ...     max_train_steps=10, batch_size=4, base_learning_rate=0.1)
    >>> state = training_state.start(model, config, torch.device("cpu"), hosts.current())
    >>> batch = Batch((torch.ones(4, 1), torch.ones(4, 1)))
    >>> loss, norm = train_step(
    ...     state, batch, lambda model, b: (model(b[0]) - b[1]).square().mean(), config)
    >>> loss.shape == norm.shape == ()
    True

    Args:
        state: model, optimizer, averages, and the hyperparameters that change.
        batch: what this update trains on.
        forward: the loss function, `forward(model, batch.content)`.
        config: how to train; precision, clipping and accumulation are read here.
        cache: whether autocast may keep converted weights; False while a graph is captured.
    """
    state.optimizer.zero_grad(set_to_none=True)
    total: Tensor | None = None
    parts = batches.split(batch, config.accumulate)
    for number, part in enumerate(parts, start=1):
        with _without_sync(state.model, last=number == len(parts)):
            with autocast(config.precision, state.device, cache=cache):
                loss = _mean(forward(state.model, part.content), part.shares, len(parts))
            scaled = loss if state.scaler is None else state.scaler.scale(loss)
            scaled.backward()  # type: ignore[no-untyped-call]
        total = loss.detach() if total is None else total + loss.detach()

    if state.scaler is not None:
        state.scaler.unscale_(state.optimizer)
    grads = gradients(state.parameters)
    norm = global_norm(grads)
    if state.clip_norm is not None:
        clip_by_norm_(grads, norm, state.clip_norm)

    if state.scaler is None:
        state.optimizer.step()
    else:
        state.scaler.step(state.optimizer)
        state.scaler.update()
    if state.averages is not None:
        state.averages.update(state.model)
    assert total is not None
    return total.float(), norm.float()


def _mean(loss: Tensor, shares: Tensor | None, parts: int) -> Tensor:
    """This part's contribution to the mean loss of the whole batch."""
    if shares is not None:
        if loss.shape != shares.shape:
            raise PipelineError(
                "fit.loss_shape", shape=tuple(loss.shape), weights=tuple(shares.shape)
            )
        return (loss * shares).sum()
    mean = loss if loss.dim() == 0 else loss.mean()
    return mean if parts == 1 else mean / parts


def _without_sync(model: nn.Module, last: bool) -> AbstractContextManager[Any]:
    """Gradients are exchanged between processes once per update, with the last part."""
    if last or not isinstance(model, DistributedDataParallel):
        return nullcontext()
    waiting: AbstractContextManager[Any] = model.no_sync()
    return waiting


def _stepper(
    state: TrainingState,
    loss: Loss,
    source: batches.Source,
    config: FitConfig,
    host: Host,
    recorder: Recorder,
    lane: Lane,
) -> CapturedStep:
    """The update as it is run: compiled and captured as asked and as possible."""
    set_micro_batches(state.model, config.accumulate)
    forward: Loss = torch.compile(loss) if config.compile else loss
    reason: str | None = "it was not asked for"
    if config.capture:
        reason = capture.obstacle(state.device, host, state.scaler, state.optimizer, lane)
    tables = None
    if reason is None and source.block is not None:
        last = config.schedule.total_steps(config.max_train_steps)
        tables = Tables(
            source.block,
            config.learning_rates,
            state.optimizer,
            recorder.place,
            length=max(config.log_every, MOST_STEPS),
            last_step=last,
        )

    def update(item: Any) -> tuple[Tensor, Tensor]:
        return train_step(state, source.fetch(item), forward, config, cache=reason is not None)

    def recover() -> None:
        for layer in state.model.modules():
            if isinstance(layer, GhostBatchNorm):
                layer.micro_batches_seen = 0
        if state.scaler is not None:  # it counts the stages of a step, and one was broken off
            scale = state.scaler.state_dict()
            state.scaler = loss_scaler(config.precision, state.device)
            state.scaler.load_state_dict(scale)  # type: ignore[union-attr]

    return CapturedStep(update, recorder, reason, recover, tables, lane)


def _check_ranks(
    model: nn.Module, source: batches.Source, run: Run | Alone, config: FitConfig, host: Host
) -> None:
    """Before the first step of several processes: weights, seeds and examples as they must be."""
    if host.world == 1:
        return
    agreement.check_parameters(model, host)
    agreement.check_seeds(run.seeds, host)
    if source.size is not None:
        together = hosts.global_ids(1, config.batch_size, source.size, run.seeds.order)
        agreement.check_batch(hosts.shard(together, host), together, host)


def _log(run: Run | Alone, recorder: Recorder, config: FitConfig, host: Host, lane: Lane) -> None:
    """Log what was measured since the last time; a loss that is not finite ends the training."""
    rows = None
    if not recorder.fetched:
        with lane.release():  # the copy may wait behind other trials' work on the device
            rows = (hosts.all_sum(recorder.rows(), host) / host.world).cpu()
    steps, columns = recorder.read_columns(rows)
    last = config.schedule.total_steps(config.max_train_steps)
    for first in range(0, len(steps), config.log_every):  # a stretch may have been longer
        part = slice(first, first + config.log_every)
        rate = config.learning_rate(min(steps[part][-1], last))
        _log_part(run, steps[part], {name: of[part] for name, of in columns.items()}, rate)


def _log_part(run: Any, steps: list[int], columns: dict[str, list[float]], rate: float) -> None:
    """Log some steps, and the learning rate at the last of them."""
    if hasattr(run, "log_steps") and all(math.isfinite(value) for value in columns["train_loss"]):
        run.log_steps(steps, columns)
        run.log(steps[-1], learning_rate=rate)
        return
    for step, *values in zip(steps, *columns.values(), strict=True):
        measured: dict[str, float] = dict(zip(columns, values, strict=True))
        if step == steps[-1]:
            measured["learning_rate"] = rate
        run.log(step, measured)
        value = measured["train_loss"]
        if not math.isfinite(value):
            text = "nan" if math.isnan(value) else f"{value:+}"
            facts = {"metric": "train_loss", "value": text, "step": step}
            raise Diverged(Message("metric.not_finite", facts))


def _any(due: bool, device: torch.device, host: Host) -> bool:
    if host.world == 1:
        return due
    return bool(hosts.all_sum(torch.tensor(int(due), device=device), host) > 0)


def _with_index(device: torch.device) -> torch.device:
    """cuda means the current one: a tensor's device always has its number."""
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device
