"""Evaluation during training: what is evaluated, and what is kept because of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from tunewright.pipeline import examples, hosts, training_state
from tunewright.pipeline.alone import Alone
from tunewright.pipeline.capture import CapturedEvaluation
from tunewright.pipeline.checkpoint import Keep, Selection, keep_best, select
from tunewright.pipeline.eval_batch import Metrics
from tunewright.pipeline.evaluate import Evaluation, evaluate
from tunewright.pipeline.fit_config import FitConfig, autocast
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.predictions import save_predictions
from tunewright.pipeline.stretch import Lane, OwnProcess
from tunewright.pipeline.training_state import TrainingState

if TYPE_CHECKING:  # the pipeline works without the rest
    from tunewright.execution.training_run import Run


@dataclass(frozen=True)
class Validation:
    """A data set to evaluate on during training, as `pipeline.evaluate` takes it."""

    data: Any  # the examples, as `pipeline.evaluate` takes them
    metrics: Metrics  # (model, batch) -> {name: one value per example}
    _: KW_ONLY
    weights: Tensor | None = None  # one per example, for weighted means
    labels: Tensor | None = None  # with `correct`: counts per class, for rare classes
    correct: str | None = None  # the metric that is 1 where the model is right
    predict: Callable[[nn.Module, Any], Tensor] | None = None  # kept for 64 fixed examples, or
    predict_ids: tuple[int, ...] | None = None  # ... for these
    sharded: bool = False  # whether each process holds its own part of the data set
    batch_size: int | None = None  # per process; None: found by trial, once
    workers: int = 0  # processes that load a map-style data set ahead


@dataclass
class Validator:
    """Evaluates on request, logs, and keeps the best checkpoints."""

    valid: Validation | None
    keep: Keep | None
    state: TrainingState
    config: FitConfig
    run: Run | Alone
    host: Host
    lane: Lane = field(default_factory=OwnProcess)
    last: Evaluation | None = None
    replayed: CapturedEvaluation | None = None

    @property
    def folder(self) -> Path | None:
        """Where checkpoints go; None where nothing is written."""
        return None if self.run.folder is None else Path(self.run.folder) / "checkpoints"

    def evaluate(self, step: int, final: bool, captured: bool = False) -> None:
        """Evaluate the averaged weights where there are such, else the weights; on every rank.

        `captured`: training steps are replayed, so replay evaluations from the second on as well.
        """
        if self.ready is not None:
            self.last = self.ready()
        else:
            self._evaluate()
        assert self.last is not None
        if captured and self.replayed is None and not final and self._capturable():
            self.replayed = self._capture(self.last)
        counts = {f"correct_of_class_{c.label}": c.correct for c in self.last.rare_classes}
        self.run.log(step, {**self.last.measured, **counts})
        if self.folder is None:
            return
        if self.last.predictions is not None and self.host.is_main:
            save_predictions(self.folder.parent / "predictions", step, self.last.predictions)
        if self.keep is not None:
            self._checkpoint(self.folder, self.keep, step, self.last, final)

    @property
    def ready(self) -> CapturedEvaluation | None:
        """The evaluation as a graph, once there is one."""
        return None if self.replayed is None or self.replayed.reason else self.replayed

    def _capturable(self) -> bool:
        """Whether nothing but the weights changes from one evaluation to the next."""
        valid, device = self.valid, self.state.device
        assert valid is not None
        parts = examples.tensors_of(valid.data)
        plain = valid.predict is None and valid.labels is None and not valid.sharded
        alone = self.host.world == 1 and self.state.averages is None and device.type == "cuda"
        return plain and alone and parts is not None and all(p.device == device for p in parts)

    def _capture(self, first: Evaluation) -> CapturedEvaluation:
        valid = self.valid
        assert valid is not None
        return CapturedEvaluation(
            hosts.unwrap(self.state.model),
            valid.data,
            valid.metrics,
            valid.weights,
            first,
            precision=self.config.precision,
            device=self.state.device,
            lane=self.lane,
        )

    def _evaluate(self) -> None:
        valid, state = self.valid, self.state
        assert valid is not None
        averaged = nullcontext() if state.averages is None else state.averages.applied(state.model)
        with averaged, autocast(self.config.precision, state.device):
            self.last = evaluate(
                state.model,
                valid.data,
                valid.metrics,
                batch_size=self.last.batch_size if self.last else valid.batch_size,
                train_batch_size=None if self.last else self._train_share,
                weights=valid.weights,
                labels=valid.labels,
                correct=valid.correct,
                predict=valid.predict,
                predict_ids=valid.predict_ids,
                sharded=valid.sharded,
                workers=valid.workers,
                device=state.device,
                host=self.host,
            )

    @property
    def _train_share(self) -> int:
        """Examples per process and forward pass in training."""
        return max(1, self.config.batch_size // self.host.world // self.config.accumulate)

    def _checkpoint(
        self, folder: Path, keep: Keep, step: int, evaluation: Evaluation, final: bool
    ) -> None:
        def build() -> object:
            return training_state.state_tree(
                self.state, step, self.config, self.run.seeds, self.host
            )

        # Several processes build it together, always; one alone only when it is to be written.
        built = build() if self.host.world > 1 else None
        hosts.on_main(
            lambda: keep_best(
                folder,
                lambda: build() if built is None else built,
                step=step,
                metrics=evaluation.metrics,
                keep=replace(keep, latest=0) if keep.best else keep,  # run.save is for resuming
                final=final,
                attempt=getattr(self.run, "attempt", 1),
            ),
            self.host,
        )

    def select_best(self) -> Selection | None:
        """The best checkpoint in retrospect; on rank 0."""
        if self.keep is None or self.folder is None or not self.host.is_main:
            return None
        return select(self.folder, self.keep.metric, self.keep.minimize)
