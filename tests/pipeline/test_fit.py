"""fit against plain PyTorch, and in all that it promises of one training."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
import torch
from tests.pipeline.fitting import Handle, X, Y, config, loss, losses, metrics, mlp, same
from torch import nn

from tunewright import snapshot
from tunewright.design.schedule import Constant, Cosine, Linear, Warmup
from tunewright.errors import DesignError, Diverged, PipelineError
from tunewright.pipeline import (
    SGD,
    Adam,
    AdamW,
    Keep,
    NAdamW,
    Nesterov,
    Validation,
    fit,
    hosts,
    select,
)
from tunewright.pipeline.predictions import load_predictions


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
    kept = {s.step for s in snapshot.list_snapshots(tmp_path / "checkpoints")}
    assert fitted.selected.step in kept and 60 in kept and len(kept) <= 3


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
    assert not one.notes and [n.code for n in four.notes] == ["fit.note.accumulation"]


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
    (note,) = fitted.notes
    assert note.code == "fit.note.not_captured" and "CUDA device" in note.facts["reason"]


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


def test_checkpoints_need_a_folder() -> None:
    valid = Validation((X, Y), metrics)
    with pytest.raises(PipelineError, match="folder="):
        fit(mlp(), loss, (X, Y), config(), valid=valid, keep=Keep("valid_error"))
