"""How good is the model now? The same answer for every batch size and number of hosts.

Every example counts once: ids are shared out over the ranks, partial batches are filled up with
examples of weight 0, values come back to their place in the data set and are summed there, in
float64. Evaluations happen at step intervals, never by the clock (playbook, "Setting up periodic
evaluations").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.measured import Measured
from tunewright.pipeline import examples, hosts
from tunewright.pipeline.averages import sync_batch_norm
from tunewright.pipeline.class_count import ClassCount, class_counts
from tunewright.pipeline.confidence import sd_of_mean
from tunewright.pipeline.eval_batch import (
    Metrics,
    device_of,
    evaluating,
    find_batch_size,
    out_of_memory,
    release,
)
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.predictions import Predictions, predict_fixed

WEIGHT = ""  # the row that holds the weights themselves


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """What one evaluation found."""

    metrics: Mapping[str, float]  # the weighted mean of each metric over the data set
    weight: float  # sum of weights: the number of examples where no weights are given
    batch_size: int  # examples per rank and forward pass
    sd: Mapping[str, float] = field(default_factory=dict)  # of each mean, over examples of its kind
    examples: int = 0  # with a weight
    class_counts: tuple[ClassCount, ...] = ()  # per class, where labels are given
    predictions: Predictions | None = None  # of the fixed examples; on rank 0
    values: Mapping[str, Tensor] | None = None  # per example, in the data's order

    @property
    def measured(self) -> dict[str, float | Measured]:
        """Each mean with its uncertainty, as `run.log` takes it; alone where that is not known."""
        return {
            name: value
            if self.sd.get(name) is None
            else Measured(value, sd=self.sd[name], n=self.examples)
            for name, value in self.metrics.items()
        }

    @property
    def rare_classes(self) -> tuple[ClassCount, ...]:
        """The classes with fewer than 30 examples: read their counts, not their shares."""
        return tuple(count for count in self.class_counts if count.rare)


def eval_interval(
    max_train_steps: int,
    evaluations: int = 100,
    *,
    time_per_step_s: float = 0.0,
    time_per_eval_s: float = 0.0,
    share: float = 0.15,
) -> int:
    """The steps between two evaluations: 100 in a training run, fewer where they cost too much.

    With both times measured once at the start, evaluation takes at most `share` of the whole.

    >>> eval_interval(5_000), eval_interval(5_000, time_per_step_s=0.01, time_per_eval_s=3.0)
    (50, 1700)
    """
    every = math.ceil(max_train_steps / evaluations)
    if time_per_step_s > 0:
        every = max(every, math.ceil(time_per_eval_s * (1 - share) / (share * time_per_step_s)))
    return max(1, min(every, max_train_steps))


def eval_due(
    step: int, max_train_steps: int, every: int | None = None, *, dense_until: int = 0
) -> bool:
    """Whether to evaluate after update `step`: a pure function of the step, so a resume agrees.

    Always at the last step; at every step up to `dense_until`.

    >>> [step for step in range(1, 11) if eval_due(step, 10, every=4)]
    [4, 8, 10]
    """
    every = every or eval_interval(max_train_steps)
    return step == max_train_steps or step % every == 0 or 1 <= step <= dense_until


def evaluate(
    model: nn.Module,
    data: Any,
    metrics: Metrics,
    *,
    batch_size: int | None = None,
    train_batch_size: int | None = None,
    weights: Tensor | None = None,
    labels: Tensor | None = None,
    correct: str | None = None,
    predict: Callable[[nn.Module, Any], Tensor] | None = None,
    predict_ids: Sequence[int] | Tensor | None = None,
    sharded: bool = False,
    keep_values: bool = False,
    workers: int = 0,
    device: torch.device | str | None = None,
    host: Host | None = None,
    seed: int = 0,
) -> Evaluation:
    """The weighted mean of each metric over all of `data`; every rank calls it and gets the same.

    Every rank passes the whole data set, of which it evaluates its share. With `sharded` each
    passes its own part, as large as it is, with the `weights` and `labels` of that part: the mean
    is still over all examples, and `values` come part after part. Predictions are of rank 0's part.

    Batch norm is synced over the ranks first. Inside, the model is in evaluation mode and random
    numbers follow `seed`; afterwards modes and random state are as before, so that evaluating more
    or less often does not change the training. Out of memory halves the batch.

    Args:
        model: the module to evaluate.
        data: the examples, as `pipeline.examples` takes them.
        metrics: `metrics(model, batch)` gives one value per example, such as `{"error": (b,)}`.
        batch_size: per rank; None: `find_batch_size` finds one, so find it once and pass it.
        train_batch_size: where the search for a batch size begins.
        weights: one per example, or (examples, positions) for metrics of that shape, as of tokens.
        labels: the class of each example, for counts per class.
        correct: the name of the metric that is 1 where the model is right.
        predict: `predict(model, batch)` gives predictions, which are kept for some examples.
        predict_ids: these examples; None: 64 fixed ones.
        sharded: whether each rank passes its own part of the data set.
        keep_values: whether to keep the value of every example.
        workers: processes that load a map-style data set ahead.
        device: where to evaluate; None: where the model is.
        host: the ranks that evaluate together; None: those of torch.distributed.
        seed: of random numbers inside the evaluation.

    >>> halves = torch.tensor([[1.0], [2.0], [3.0]])
    >>> evaluate(nn.Identity(), halves, lambda model, x: {"loss": model(x).squeeze(1)},
    ...          batch_size=2, device="cpu").metrics
    {'loss': 2.0}
    """
    host = host or hosts.current()
    device = device_of(model, device)
    part = _part(data, sharded, device, host)
    expected = torch.ones(part.size) if weights is None else weights.detach().cpu()
    _check_request(part.size, expected, labels, correct)
    chosen = _choose_ids(predict_ids, predict, part.size)
    if batch_size is None:
        batch_size = find_batch_size(
            model,
            data,
            metrics,
            train_batch_size or 64,
            device=device,
            host=host,
            share=part.most if sharded else None,
        )
    elif batch_size < 1:
        raise PipelineError("evaluation.bad_batch_size", batch_size=batch_size)
    elif train_batch_size and batch_size < min(train_batch_size, part.most):
        raise PipelineError(
            "evaluation.batch_below_training",
            batch_size=batch_size,
            train_batch_size=train_batch_size,
        )
    sync_batch_norm(model, host)
    kept = None
    with evaluating(model, seed) as inner:
        rows, batch_size = _rows(
            inner,
            data,
            metrics=metrics,
            weights=expected,
            part=part,
            batch_size=batch_size,
            workers=workers,
            device=device,
            host=host,
        )
        if predict is not None and host.is_main:
            kept = predict_fixed(inner, data, predict, device, ids=chosen)
    summed = rows.pop(WEIGHT)
    if sharded:
        expected = _join(_per_example(expected), part, device, host)
        labels = None if labels is None else _join(labels, part, device, host)
    _count_each_once(summed, expected, host)
    total = float(summed.sum())
    if not total > 0:
        raise PipelineError("evaluation.no_weight", total=total)
    values = {name: row / summed for name, row in rows.items()}  # nan where the weight is 0
    counts: tuple[ClassCount, ...] = ()
    if labels is not None and correct is not None:
        _check_metric(correct, rows)
        counted = summed.cpu() > 0
        counts = class_counts(values[correct].cpu()[counted], labels.cpu()[counted])
    examples_seen = int((summed > 0).sum())
    sums = {
        name: (float(row.sum()), sum_of_squares(row, summed, total)) for name, row in rows.items()
    }
    return Evaluation(
        metrics={name: value / total for name, (value, _) in sums.items()},
        weight=total,
        batch_size=batch_size,
        sd=sds_of(sums, total, examples_seen),
        examples=examples_seen,
        class_counts=counts,
        predictions=kept,
        values={name: value.cpu() for name, value in values.items()} if keep_values else None,
    )


def sum_of_squares(row: Tensor, weights: Tensor, total: Tensor | float) -> Tensor:
    """The sum of squared distances from the mean, each example weighted: on the device."""
    return (row - row.sum() / total * weights).square().sum()


def sds_of(
    sums: Mapping[str, tuple[float, Tensor | float]], total: float, examples: int
) -> dict[str, float]:
    """The standard deviation of each mean, from (sum, sum of squares); fewer than two have none."""
    if examples < 2:
        return {}
    known = {n: sd_of_mean(s / total, float(sq), total, examples) for n, (s, sq) in sums.items()}
    return {name: sd for name, sd in known.items() if math.isfinite(sd)}


def _rows(
    model: nn.Module,
    data: Any,
    metrics: Metrics,
    weights: Tensor,
    part: _Part,
    batch_size: int,
    workers: int,
    device: torch.device,
    host: Host,
) -> tuple[dict[str, Tensor], int]:
    """Per example, over all ranks: weight x value of each metric, and its weight."""
    rows: dict[str, Tensor] = {}
    mine = part.ids
    batch_size = min(batch_size, part.most)
    # Equal numbers of full batches on all ranks: padding repeats the last example, with weight 0.
    ids = torch.full((math.ceil(part.most / batch_size) * batch_size,), part.size - 1)
    ids[: len(mine)] = mine
    counted = torch.arange(len(ids)) < len(mine)
    while len(ids):
        batches = list(torch.split(ids, batch_size))
        done = 0
        try:
            for places, batch in zip(batches, examples.load(data, batches, workers), strict=True):
                mask = weights[places].double()
                mask[~counted[done : done + len(places)]] = 0.0
                values = metrics(model, examples.move(batch, device))
                add_rows(rows, values, mask.to(device), part.first + places.to(device), part.total)
                done += len(places)
        except Exception as error:
            if not out_of_memory(error) or batch_size == 1:
                raise
            batch_size = max(1, batch_size // 2)
            release(device)
        ids, counted = ids[done:], counted[done:]
    names = sorted(rows)
    together = hosts.all_sum(torch.stack([rows[name] for name in names]), host)
    return dict(zip(names, together, strict=True)), batch_size


def add_rows(
    rows: dict[str, Tensor], measured: Mapping[str, Tensor], mask: Tensor, places: Tensor, size: int
) -> None:
    """Add a batch's weighted values at their examples' places, all of them or none."""
    known = rows.keys() - {WEIGHT}
    if rows and known != measured.keys():
        raise PipelineError(
            "evaluation.metrics_changed", found=sorted(measured), known=sorted(known)
        )
    weighted = {}
    for name, values in [*measured.items(), (WEIGHT, torch.ones_like(mask))]:
        if not isinstance(values, Tensor) or values.shape != mask.shape:
            shape = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise PipelineError(
                "evaluation.metric_shape", name=name, shape=shape, weights=tuple(mask.shape)
            )
        kept = torch.where(mask == 0, 0.0, values.detach().double() * mask)  # 0 x nan is nan
        weighted[name] = kept.flatten(1).sum(1) if mask.dim() > 1 else kept
    if not rows:
        rows |= {
            name: torch.zeros(size, dtype=torch.double, device=mask.device) for name in weighted
        }
    for name, values in weighted.items():
        rows[name].index_add_(0, places, values)


def _check_request(size: int, weights: Tensor, labels: Tensor | None, correct: str | None) -> None:
    examples.check_weights(weights, size)
    if (labels is None) != (correct is None):
        raise PipelineError("evaluation.counts_need_labels")
    if labels is not None and tuple(labels.shape) != (size,):
        raise PipelineError("evaluation.label_shape", shape=tuple(labels.shape), size=size)


@dataclass(frozen=True)
class _Part:
    """Which of the examples that a rank holds it evaluates, and where they lie among all."""

    size: int  # examples that this rank holds
    total: int  # in the whole data set
    first: int  # place of this rank's first example in it
    ids: Tensor  # of those it holds, the ones it evaluates
    most: int  # that any rank evaluates


def _part(data: Any, sharded: bool, device: torch.device, host: Host) -> _Part:
    """This rank's part: a share of data that all ranks hold, or all of what it holds alone."""
    sizes = hosts.gather(torch.tensor(examples.count(data), device=device), host).tolist()
    size = int(sizes[host.rank])
    if sharded:
        if not min(sizes):
            raise PipelineError("evaluation.empty_shard", sizes=sizes)
        return _Part(size, sum(sizes), sum(sizes[: host.rank]), torch.arange(size), max(sizes))
    if len(set(sizes)) > 1 or not size:
        raise PipelineError("evaluation.ranks_differ", sizes=sizes)
    ids = hosts.shard(torch.arange(size), host)
    return _Part(size, size, 0, ids, math.ceil(size / host.world))


def _join(values: Tensor, part: _Part, device: torch.device, host: Host) -> Tensor:
    """One value per example of every rank's part, in the order of the ranks."""
    whole = torch.zeros(part.total, dtype=values.dtype, device=device)
    whole[part.first : part.first + part.size] = values.to(device)
    return hosts.all_sum(whole, host).cpu()


def _per_example(weights: Tensor) -> Tensor:
    return weights.double().flatten(1).sum(1) if weights.dim() > 1 else weights.double()


def _choose_ids(ids: Sequence[int] | Tensor | None, predict: object, size: int) -> Tensor | None:
    if ids is None:
        return None
    if predict is None:
        raise PipelineError("evaluation.predict_ids_alone")
    chosen = torch.as_tensor(ids)
    whole = chosen.dim() == 1 and len(chosen) > 0 and not chosen.is_floating_point()
    if (
        not whole
        or not 0 <= int(chosen.min()) <= int(chosen.max()) < size
        or len(set(chosen.tolist())) < len(chosen)
    ):
        raise PipelineError("evaluation.bad_predict_ids", ids=chosen.tolist(), last=size - 1)
    return chosen.long().cpu()


def _count_each_once(summed: Tensor, weights: Tensor, host: Host) -> None:
    expected = _per_example(weights)
    once = torch.isclose(summed.cpu(), expected, rtol=1e-12, atol=0.0)  # rows sum in any order
    wrong = (~once).nonzero().flatten().tolist()
    if wrong:
        raise PipelineError(
            "evaluation.examples_not_counted_once",
            sum=float(summed.sum()),
            expected=float(expected.sum()),
            wrong_count=len(wrong),
            examples=len(expected),
            wrong=wrong[0],
            world=host.world,
        )


def _check_metric(name: str, rows: Mapping[str, Tensor]) -> None:
    if name not in rows:
        raise PipelineError("evaluation.correct_not_a_metric", name=name, known=sorted(rows))
