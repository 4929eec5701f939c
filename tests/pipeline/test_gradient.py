"""Norm and clipping against torch's own; the recorder gives back what was put, in order."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings, strategies as st  # noqa: E402

from tunewright.errors import PipelineError  # noqa: E402
from tunewright.pipeline import gradient  # noqa: E402

shapes = st.lists(st.lists(st.integers(1, 4), max_size=3), min_size=1, max_size=5)


def model_with_gradients(made: list[list[int]], scale: float) -> list[torch.nn.Parameter]:
    parameters = [torch.nn.Parameter(torch.zeros(shape)) for shape in made]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter) * scale
    return parameters


@settings(deadline=None, max_examples=50)
@given(shapes, st.floats(1e-3, 1e3), st.floats(1e-3, 10))
def test_norm_and_clipping_equal_torchs(made: list, scale: float, limit: float) -> None:
    ours = model_with_gradients(made, scale)
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    for a, b in zip(ours, theirs, strict=True):
        b.grad = a.grad.clone()
    grads = gradient.gradients(ours)
    norm = gradient.global_norm(grads)
    gradient.clip_by_norm_(grads, norm, torch.tensor(limit))
    expected = torch.nn.utils.clip_grad_norm_(theirs, limit)
    assert torch.equal(norm, expected)
    for a, b in zip(ours, theirs, strict=True):
        assert torch.equal(a.grad, b.grad)
    after = gradient.global_norm(gradient.gradients(ours))
    assert float(after) <= max(limit, 0) * (1 + 1e-5)


def test_small_gradients_are_not_touched() -> None:
    parameters = model_with_gradients([[3], [2, 2]], 1e-3)
    before = [p.grad.clone() for p in parameters]
    grads = gradient.gradients(parameters)
    gradient.clip_by_norm_(grads, gradient.global_norm(grads), 10.0)
    assert all(torch.equal(p.grad, b) for p, b in zip(parameters, before, strict=True))


def test_half_precision_does_not_overflow() -> None:
    large = [torch.full((100,), 60_000.0, dtype=torch.float16)]
    assert float(gradient.global_norm(large)) == pytest.approx(600_000, rel=1e-3)


def test_without_gradients() -> None:
    assert gradient.gradients([torch.nn.Parameter(torch.ones(1))]) == []
    assert gradient.global_norm([]) == 0
    gradient.clip_by_norm_([], torch.zeros(()), 1.0)


def test_a_nan_stays_visible() -> None:
    grads = [torch.tensor([math.nan, 1.0])]
    assert math.isnan(gradient.global_norm(grads))


@pytest.mark.parametrize("on_the_device", [False, True])
def test_the_recorder_gives_back_every_step_once(on_the_device: bool) -> None:
    recorder = gradient.Recorder(("a", "b"), length=3, device="cpu")
    seen = []
    for step in range(1, 8):
        values = (torch.tensor(float(step)), torch.tensor(step * 10.0))
        if on_the_device:
            recorder.write(values)
            recorder.count(step)
        else:
            recorder.put(step, values)
        if recorder.full or step == 7:
            seen += recorder.read()
    assert [(r.step, r.values) for r in seen] == [
        (k, {"a": float(k), "b": k * 10.0}) for k in range(1, 8)
    ]
    assert recorder.read() == []


def test_the_recorder_refuses_to_forget() -> None:
    recorder = gradient.Recorder(("a",), length=1, device="cpu")
    recorder.put(1, (torch.tensor(1.0),))
    with pytest.raises(PipelineError, match="read\\(\\) before step 2"):
        recorder.put(2, (torch.tensor(1.0),))


def test_rows_averaged_elsewhere_may_stand_in() -> None:
    recorder = gradient.Recorder(("a",), length=2, device="cpu")
    recorder.put(5, (torch.tensor(1.0),))
    assert recorder.read(recorder.rows() * 2)[0].values == {"a": 2.0}


def test_clipped_share() -> None:
    assert gradient.clipped_share([], 1.0) == 0.0
    assert gradient.clipped_share([1.0, 1.0001], 1.0) == 0.5
