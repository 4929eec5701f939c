"""Logs of well-known programs get the right pattern; anything else never fails."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from tunewright.execution.line_patterns import LineReader, problems
from tunewright.execution.line_proposals import propose

NANO = """number of parameters: 10.65M
step 0: train loss 4.1820, val loss 4.1823
iter 0: loss 4.1846, time 33000.12ms, mfu -100.00%
iter 10: loss 3.9, time 330.12ms, mfu 5.00%
step 20: train loss 3.1820, val loss 3.1823
"""
EPOCHS = "\n".join(f"epoch {n}/10 loss=0.{9 - n} acc: 8{n}.2%" for n in range(1, 6))
TRAINER = "".join(
    f"{{'loss': '{3 - n / 10}', 'grad_norm': '1.2', 'learning_rate': '5e-05', 'epoch': '0.{n}'}}\n"
    for n in range(1, 6)
)
TRAINER += "{'eval_loss': '2.9', 'eval_runtime': '1.2', 'epoch': '0.5'}\n"
KERAS = "\n".join(
    f"Epoch {n}/3\n1/10 ━━━━━━━━━━━━━━ 1s 90ms/step - accuracy: 0.1 - loss: 2.3\r"
    f"10/10 ━━━━━━━━━━━━━━ 0s 5ms/step - accuracy: 0.9{n} - loss: 0.3 - val_loss: 0.4{n}"
    for n in (1, 2, 3)
)
LIGHTNING = "\n".join(
    f"Epoch {n}:  50%|█████     | 5/10 [00:00<00:00, 22.1it/s, v_num=0, val_loss=0.9]\r"
    f"Epoch {n}: 100%|██████████| 10/10 [00:00<00:00, 2{n}.5it/s, v_num=0, val_loss=0.4{n}]"
    for n in (0, 1, 2)
)
LOGGED = "\n".join(
    f"2024-05-01 12:00:0{n},123 INFO step {n}0 train loss 0.{n} valid_loss: 0.{n}5"
    for n in range(1, 4)
)
MNIST = (
    "\n".join(
        f"Train Epoch: {n} [{at}/60000 ({at // 600}%)]\tLoss: 0.{at + n}"
        for n in (1, 2)
        for at in (0, 640, 1280)
    )
    + "\nTest set: Average loss: 0.0485, Accuracy: 9841/10000 (98%)"
)


def read(log: str, patterns: tuple[str, ...]) -> list[tuple[int, dict[str, float]]]:
    reader = LineReader(patterns)
    lines = log.replace("\r", "\n").split("\n")
    return [(found.step, found.metrics) for line in lines if (found := reader.read(line))]


@pytest.mark.parametrize(
    ("log", "metric", "expected"),
    [
        (NANO, "val_loss", (20, 3.1823)),
        (NANO, "loss", (10, 3.9)),
        (EPOCHS, "acc", (5, 85.2)),
        (TRAINER, "eval_loss", (5, 2.9)),
        (TRAINER, "loss", (5, 2.5)),
        (KERAS, "val_loss", (3, 0.43)),
        (LIGHTNING, "val_loss", (2, 0.42)),
        (LOGGED, "val_loss", (30, 0.35)),
        (MNIST, "loss", (2, 0.1282)),
        (MNIST, "accuracy", (2, 9841.0)),
    ],
    ids=["nano", "nano_iter", "epochs", "eval", "trainer", "keras", "lightning", "log", "m", "m2"],
)
def test_the_metric_is_read_at_its_step(log: str, metric: str, expected: tuple) -> None:
    patterns = propose(log, metric)
    assert not list(problems(patterns))
    found = [(step, metrics[metric]) for step, metrics in read(log, patterns) if metric in metrics]
    assert found[-1] == expected
    steps = [step for step, _ in read(log, patterns)]
    assert steps == sorted(steps)


def test_only_the_whole_bar_is_read() -> None:
    values = [metrics["val_loss"] for _, metrics in read(LIGHTNING, propose(LIGHTNING, "val_loss"))]
    assert values == [0.40, 0.41, 0.42]


@pytest.mark.parametrize(
    "log",
    [
        "",
        "loading 4 files\nTraceback (most recent call last):\n  File 'x', line 3\nKeyError: 3",
        "lr 0.1\nlr 0.2",
        "epoch 1\nepoch 2",
        "step 10 loss 0.3\nstep 5 loss 0.2",
    ],
)
def test_what_is_no_measurement_gets_no_pattern(log: str) -> None:
    assert propose(log, "val_loss") == ()


words = st.sampled_from(
    ["step", "epoch", "loss", "val", "acc", "nan", "1", "0.25", "3/4", "100%|", ":", "=", "- ", "'"]
)
junk = st.lists(words | st.text(max_size=5), max_size=12).map(" ".join)


@settings(max_examples=300)
@given(st.lists(junk, max_size=12).map("\n".join), st.sampled_from(["loss", "val_loss", "x y"]))
def test_whatever_is_proposed_works_on_that_log(log: str, metric: str) -> None:
    patterns = propose(log, metric)
    if patterns:
        assert not list(problems(patterns))
        found = read(log, patterns)
        assert found
        steps = [step for step, _ in found]
        assert steps == sorted(steps)


numbers = st.floats(min_value=0, max_value=1e6).map(lambda x: f"{x:.4f}")


@given(
    st.lists(numbers, min_size=2, max_size=8),
    st.sampled_from(["step {s}: {m} {v}", "[{s}/99] x", "iter {s} | {m}={v} | 3 it", "{s}"]),
    st.sampled_from(["loss", "val loss", "Validation Loss", "eval/loss"]),
)
def test_a_log_of_one_form_is_read_whole(values: list[str], form: str, name: str) -> None:
    log = "\n".join(form.format(s=at, m=name, v=value) for at, value in enumerate(values))
    patterns = propose(log, "loss")
    if "{v}" not in form:
        assert patterns == ()
        return
    found = read(log, patterns)
    assert [step for step, _ in found] == list(range(len(values)))
    assert [next(iter(metrics.values())) for _, metrics in found] == [float(v) for v in values]


def test_a_number_that_never_advances_is_no_step() -> None:
    """A setting called "steps" is printed once; the lines with the metric have the step."""
    log = "Gradient accumulation steps: 4\n" + "\r".join(
        f"step {n:05d} (0.{n}%) | loss: {3 - n / 10:.4f} | lrm: 1.00" for n in range(4)
    )
    log += "\n---\nval_bpb:          1.9134\nnum_steps:        4\n"
    patterns = propose(log, "val_bpb")
    assert not any("steps" in pattern for pattern in patterns)
    reader = LineReader(patterns)
    read = [one for text in log.replace("\r", "\n").splitlines() if (one := reader.read(text))]
    assert [one.step for one in read] == [0, 1, 2, 3, 3]
    assert read[-1].metrics["val_bpb"] == 1.9134
