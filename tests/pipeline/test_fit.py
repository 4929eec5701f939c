"""fit against plain PyTorch, against itself after a kill, and in all that it promises."""

from __future__ import annotations

import dataclasses
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))

import fit_worker

from tunewright import snapshot
from tunewright.design.schedule import Constant, Cosine, Linear, Warmup
from tunewright.errors import DesignError, Diverged, PipelineError
from tunewright.pipeline import (
    SGD,
    Adam,
    AdamW,
    FitConfig,
    Keep,
    NAdamW,
    Nesterov,
    Validation,
    fit,
    hosts,
    select,
)
from tunewright.pipeline.predictions import load_predictions

X = torch.randn(100, 6, generator=torch.Generator().manual_seed(1))
Y = (X[:, 0] * X[:, 1] > 0).long()


def mlp(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))


def loss(model: nn.Module, batch) -> torch.Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def losses(model: nn.Module, batch) -> torch.Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="none")


def metrics(model: nn.Module, batch) -> dict[str, torch.Tensor]:
    return {"valid_error": (model(batch[0]).argmax(1) != batch[1]).float()}


def config(**changes) -> FitConfig:
    settings = {"max_train_steps": 50, "batch_size": 16, "base_learning_rate": 0.1}
    return FitConfig(**{**settings, **changes})


def same(one: nn.Module, other: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


class Handle:
    """A trial's handle as fit sees it, with everything written down."""

    def __init__(self, folder: Path, restored=None, start_step: int = 0, stop_at: int = 0) -> None:
        self.folder, self.restored, self.start_step = folder, restored, start_step
        self.seeds, self.stop_at = hosts.seeds(0), stop_at
        self.logged: list[tuple[int, dict]] = []
        self.saved: list[tuple[int, object]] = []

    def steps(self, total: int):
        self.total = total
        for step in range(self.start_step + 1, total + 1):
            self.step = step
            yield step

    def log(self, step: int, metrics: dict) -> None:
        self.logged.append((step, dict(metrics)))

    def eval_due(self, step: int) -> bool:
        return step % 10 == 0 or step == self.total

    def save_due(self, step: int) -> bool:
        return step == self.stop_at

    def save(self, state: object) -> None:
        kept = snapshot.save(self.folder / "s", state, step=self.step)  # now: training goes on
        self.saved.append((self.step, snapshot.load(kept)))


@pytest.mark.parametrize(
    "choice, build",
    [
        (SGD(), lambda p: torch.optim.SGD(p, 0.1)),
        (Nesterov(0.9, 1e-3), lambda p: torch.optim.SGD(p, 0.1, 0.9, 0, 1e-3, nesterov=True)),
        (Adam(), lambda p: torch.optim.Adam(p, 0.1)),
        (AdamW(weight_decay=0.1), lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.1)),
        (lambda m: torch.optim.Adagrad(m.parameters(), 0.1), lambda p: torch.optim.Adagrad(p, 0.1)),
    ],
    ids=["sgd", "nesterov", "adam", "adamw", "a function of the model"],
)
@pytest.mark.parametrize("clip", [None, 0.1])
def test_identical_to_plain_pytorch_for_50_steps(choice, build, clip: float | None) -> None:
    ours = mlp()
    fitted = fit(ours, loss, (X, Y), config(optimizer=choice, schedule=Cosine(), clip_norm=clip))

    theirs, expected = mlp(), []
    optimizer = build(theirs.parameters())
    for step in range(1, 51):
        for group in optimizer.param_groups:
            group["lr"] = 0.1 * 0.5 * (1 + math.cos(math.pi * (step - 1) / 50))
        ids = hosts.batch_ids(step, 16, 100, hosts.seeds(0).order)
        value = nn.functional.cross_entropy(theirs(X[ids]), Y[ids])
        optimizer.zero_grad()
        value.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(theirs.parameters(), clip)
        optimizer.step()
        expected.append((step, value.item()))
    assert fitted.curves["train_loss"] == expected
    assert same(ours, theirs)


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_killed_and_resumed_equals_uninterrupted_bit_for_bit(tmp_path: Path, precision) -> None:
    whole, expected = fit_worker.train(None, precision=precision)

    # Without a process: stopped at a step that is neither logged nor evaluated, and again.
    folder = tmp_path / "stopped"
    for stop in (7, 23):
        with pytest.raises(KeyboardInterrupt):
            _train_until(stop, folder, precision)
    resumed, fitted = fit_worker.train(folder, precision=precision)
    assert fitted.start_step > 0
    assert same(whole, resumed)
    assert fitted.curves == expected.curves
    for name, value in expected.averages.state_dict()["values"].items():
        assert torch.equal(value, fitted.averages.state_dict()["values"][name])


def _train_until(stop: int, folder: Path, precision: str) -> None:
    """Break off inside the batch after update `stop`, as a kill would."""
    seen = 0
    original = fit_worker.loss

    def breaking(model, batch):
        nonlocal seen
        seen += 1
        if seen > 2 * stop:  # two parts per update
            raise KeyboardInterrupt
        return original(model, batch)

    fit_worker.loss = breaking
    try:
        fit_worker.train(folder, precision=precision)
    finally:
        fit_worker.loss = original


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_killed_process_resumes_bit_for_bit(tmp_path: Path, kills: int) -> None:
    whole, expected = fit_worker.train(None)
    folder, moments = tmp_path / "killed", random.Random(0)
    for _ in range(kills):
        before = snapshot.latest(folder / "snapshots")
        job = subprocess.Popen(
            [sys.executable, fit_worker.__file__, str(folder), "0.01"],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        deadline = time.monotonic() + 120
        while job.poll() is None and time.monotonic() < deadline:
            newest = snapshot.latest(folder / "snapshots")
            if newest and (before is None or newest.step > before.step):
                break
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 0.05))
        job.send_signal(signal.SIGKILL)
        job.wait()
    killed_at = snapshot.latest(folder / "snapshots")
    assert killed_at is not None and killed_at.step >= 4
    resumed, fitted = fit_worker.train(folder)
    assert fitted.start_step == killed_at.step
    assert same(whole, resumed) and fitted.curves == expected.curves


def test_the_same_call_again_does_nothing_more(tmp_path: Path) -> None:
    one, first = fit_worker.train(tmp_path)
    two, again = fit_worker.train(tmp_path)
    assert again.start_step == again.steps == first.steps
    assert same(one, two) and again.curves == first.curves
    assert again.selected == first.selected


def test_a_run_is_logged_evaluated_and_saved(tmp_path: Path) -> None:
    run = Handle(tmp_path, stop_at=27)
    fitted = fit(
        mlp(),
        loss,
        (X, Y),
        config(log_every=100, schedule=Warmup(10, Linear(), "prepend")),
        valid=Validation((X, Y), metrics, predict=lambda model, batch: model(batch[0])),
        keep=Keep("valid_error", best=2),
        run=run,
    )
    assert fitted.steps == run.total == 60 and fitted.curves is None
    steps = [step for step, _ in run.logged]
    assert steps == sorted(steps)  # a trial's steps may not go back
    assert [s for s, m in run.logged if "train_loss" in m] == list(range(1, 61))
    assert [s for s, m in run.logged if "valid_error" in m] == [10, 20, 30, 40, 50, 60]
    rates = {s: m["learning_rate"] for s, m in run.logged if "learning_rate" in m}
    assert rates[10] == 0.1 and rates[27] == pytest.approx(0.1 * (1 - 16 / 50))
    [(step, state)] = run.saved
    assert step == 27 and state["step"] == 27
    assert sorted(load_predictions(tmp_path / "predictions")) == [10, 20, 30, 40, 50, 60]
    kept = {s.step for s in snapshot.listed(tmp_path / "checkpoints")}
    assert fitted.selected.step in kept and 60 in kept and len(kept) <= 3


def test_a_run_resumes_from_what_it_saved(tmp_path: Path) -> None:
    whole = mlp()
    fit(whole, loss, (X, Y), config(), run=Handle(tmp_path))
    first = Handle(tmp_path, stop_at=20)
    fit(mlp(), loss, (X, Y), config(), run=first)
    second = Handle(tmp_path, restored=first.saved[0][1], start_step=20)
    resumed = mlp(seed=99)
    fitted = fit(resumed, loss, (X, Y), config(), run=second)
    assert fitted.start_step == 20 and next(s for s, _ in second.logged) == 21
    assert same(whole, resumed)


def test_a_loss_that_is_not_finite_ends_the_training(tmp_path: Path) -> None:
    def breaks(model, batch):
        value = loss(model, batch)
        return value * math.nan if calls.append(1) or len(calls) == 13 else value

    calls: list[int] = []
    run = Handle(tmp_path)
    with pytest.raises(Diverged, match="train_loss is nan at step 13"):
        fit(mlp(), breaks, (X, Y), config(log_every=20), run=run)
    assert not issubclass(Diverged, Exception)  # `except Exception` does not swallow it
    assert [s for s, _ in run.logged] == list(range(1, 14))
    assert len(calls) == 20  # noticed at log time, not by waiting at every step


def test_per_example_losses_and_weights() -> None:
    scalar, vector = mlp(), mlp()
    fit(scalar, loss, (X, Y), config())
    fit(vector, losses, (X, Y), config())
    for a, b in zip(scalar.parameters(), vector.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
    # Examples of weight 0 do not matter at all.
    spoilt, weights = X.clone(), torch.ones(100)
    spoilt[::3], weights[::3] = 1e6, 0.0
    clean, masked = mlp(), mlp()
    fit(clean, losses, (X, Y), config(), weights=weights)
    fit(masked, losses, (spoilt, Y), config(), weights=weights)
    assert same(clean, masked)
    with pytest.raises(PipelineError, match="one value per weight"):
        fit(mlp(), loss, (X, Y), config(), weights=weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_accumulation_gives_the_same_updates_and_is_flagged(weighted: bool) -> None:
    weights = torch.rand(100) if weighted else None
    whole, parts = mlp(), mlp()
    one = fit(whole, losses, (X, Y), config(optimizer=SGD()), weights=weights)
    four = fit(parts, losses, (X, Y), config(optimizer=SGD(), accumulate=4), weights=weights)
    for a, b in zip(whole.parameters(), parts.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
    for (_, a), (_, b) in zip(one.curves["train_loss"], four.curves["train_loss"], strict=True):
        assert a == pytest.approx(b, rel=1e-4)
    assert not one.notes and "without any gain in throughput" in four.notes[0]


@pytest.mark.parametrize("precision", ["tf32", "bf16", "fp16"])
def test_precisions_train_and_leave_the_settings_as_they_were(precision: str) -> None:
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    fitted = fit(mlp(), loss, (X, Y), config(precision=precision, max_train_steps=200))
    curve = [value for _, value in fitted.curves["train_loss"]]
    assert sum(curve[-20:]) < 0.7 * sum(curve[:20])
    assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32) == before


def test_the_unclipped_norm_is_recorded_at_every_step() -> None:
    loose = fit(mlp(), loss, (X, Y), config(optimizer=SGD(), base_learning_rate=1e-9))
    tight = fit(
        mlp(), loss, (X, Y), config(optimizer=SGD(), base_learning_rate=1e-9, clip_norm=1e-3)
    )
    norms = [value for _, value in loose.curves["gradient_norm"]]
    assert len(norms) == 50 and min(norms) > 0.01
    assert [v for _, v in tight.curves["gradient_norm"]] == pytest.approx(norms, rel=1e-5)


def test_averages_are_what_is_evaluated() -> None:
    model = mlp()
    fitted = fit(
        model,
        loss,
        (X, Y),
        config(average_decay=0.99, max_train_steps=20),
        valid=Validation((X, Y), lambda m, b: {"loss": losses(m, b)}),
    )
    with torch.no_grad():
        raw = float(losses(model, (X, Y)).mean())
        with fitted.averages.applied(model):
            averaged = float(losses(model, (X, Y)).mean())
    assert fitted.evaluation.metrics["loss"] == pytest.approx(averaged, rel=1e-5)
    assert raw != pytest.approx(averaged, rel=1e-3)


def test_evaluating_more_often_changes_nothing() -> None:
    noisy = [nn.Sequential(mlp()[0], nn.Dropout(0.5), nn.Linear(32, 2)) for _ in range(2)]
    noisy[1].load_state_dict(noisy[0].state_dict())
    fit(noisy[0], loss, (X, Y), config())
    fit(noisy[1], loss, (X, Y), config(), valid=Validation((X, Y), metrics))
    assert same(*noisy)


def test_rare_classes_are_logged_as_counts() -> None:
    labels = torch.zeros(100, dtype=torch.long)
    labels[:5] = 1
    fitted = fit(
        mlp(),
        loss,
        (X, labels),
        config(),
        valid=Validation(
            (X, labels),
            lambda m, b: {"right": (m(b[0]).argmax(1) == b[1]).float()},
            labels=labels,
            correct="right",
        ),
    )
    counts = [value for _, value in fitted.curves["correct_of_class_1"]]
    assert all(value in range(6) for value in counts)
    assert "correct_of_class_0" not in fitted.curves


def test_retrospective_selection_loads_the_best_weights(tmp_path: Path) -> None:
    model = mlp()
    fitted = fit(
        model,
        loss,
        (X, Y),
        config(max_train_steps=60, schedule=Constant()),
        valid=Validation((X, Y), metrics),
        keep=Keep("valid_error", best=1),
        folder=tmp_path,
    )
    chosen = select(tmp_path / "checkpoints", "valid_error")
    assert chosen == fitted.selected and chosen.snapshot is not None
    best = mlp(seed=5)
    best.load_state_dict(snapshot.load(chosen.snapshot)["model"])
    wrong = float((best(X).argmax(1) != Y).float().mean())
    assert wrong == pytest.approx(chosen.value)
    assert chosen.value == min(v for _, v in fitted.curves["valid_error"])


def test_capture_on_a_cpu_falls_back_with_the_reason() -> None:
    plain, asked = mlp(), mlp()
    fit(plain, loss, (X, Y), config())
    fitted = fit(asked, loss, (X, Y), config(capture=True))
    assert not fitted.captured and same(plain, asked)
    assert fitted.notes == ("not captured: CUDA graphs need a CUDA device, and this one is cpu.",)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, while it compiles
def test_compiled_is_close_to_eager() -> None:
    plain, compiled = mlp(), mlp()
    one = fit(plain, loss, (X, Y), config())
    two = fit(compiled, loss, (X, Y), config(compile=True))
    for (_, a), (_, b) in zip(one.curves["train_loss"], two.curves["train_loss"], strict=True):
        assert a == pytest.approx(b, rel=1e-3)


def test_frozen_parameters_stay() -> None:
    model = mlp()
    model[0].weight.requires_grad_(False)
    before = model[0].weight.clone()
    fit(model, loss, (X, Y), config(optimizer=NAdamW(weight_decay=0.1)))
    assert torch.equal(model[0].weight, before)


def test_the_throughput_is_told() -> None:
    fitted = fit(mlp(), loss, (X, Y), config(max_train_steps=60))
    assert fitted.throughput.steps == 50 and fitted.throughput.batch_size == 16
    assert fitted.throughput.verdict == "cannot_judge"  # too few steps


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"max_train_steps": 0, "batch_size": 1.5}, "max_train_steps=0 must be a whole number"),
        ({"max_train_steps": 0, "batch_size": 1.5}, "batch_size=1.5"),
        ({"base_learning_rate": math.nan}, "base_learning_rate=nan must be above 0"),
        ({"clip_norm": 0.0}, "or None to not clip"),
        ({"average_decay": 1.0}, "average_decay=1.0"),
        ({"optimizer": "adam"}, 'optimizer.named("adamw")'),
        ({"schedule": "cosine"}, 'schedule.from_json("cosine")'),
    ],
)
def test_settings_are_refused_all_at_once(changes: dict, words: str) -> None:
    with pytest.raises(PipelineError) as refused:
        config(**changes)
    assert words in str(refused.value)


def test_refused_before_any_compute(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="use a multiple of 3"):
        fit(mlp(), loss, (X, Y), config(accumulate=3))
    with pytest.raises(PipelineError, match="there are fp32, tf32, bf16, fp16"):
        fit(mlp(), loss, (X, Y), config(precision="half"))
    with pytest.raises(DesignError, match='mode="prepend"'):
        fit(mlp(), loss, (X, Y), config(schedule=Warmup(50)))
    with pytest.raises(PipelineError, match="needs valid="):
        fit(mlp(), loss, (X, Y), config(), keep=Keep("valid_error"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        config().batch_size = 3


def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    fit(mlp(), loss, (X, Y), config(), folder=tmp_path)
    with pytest.raises(PipelineError, match="same batch size and seed"):
        fit(mlp(), loss, (X, Y), config(batch_size=20), folder=tmp_path)
    with pytest.raises(PipelineError, match="same batch size and seed"):
        fit(mlp(), loss, (X, Y), config(), folder=tmp_path, seed=1)
    with pytest.raises(PipelineError, match="written without averages"):
        fit(mlp(), loss, (X, Y), config(average_decay=0.9), folder=tmp_path)
    other = Handle(tmp_path, restored={"mine": 1}, start_step=3)
    with pytest.raises(PipelineError, match="not one of fit's"):
        fit(mlp(), loss, (X, Y), config(), run=other)
