"""Lines that are measurements: what is read, what is refused, and that no line takes long."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from tunewright.execution.line_patterns import LONGEST, MOST_PATTERNS, LineReader, problems, slow

NANO = r"step (?P<step>\d+): train loss (?P<train_loss>\S+), val loss (?P<val_loss>\S+)"


def test_named_groups_are_metrics_and_step_is_the_step() -> None:
    reading = LineReader([NANO]).read("step 250: train loss 2.4, val loss 2.5\n")
    assert reading is not None
    assert (reading.step, reading.metrics) == (250, {"train_loss": 2.4, "val_loss": 2.5})


def test_a_line_without_a_step_belongs_to_the_last_one() -> None:
    reader = LineReader([r"^Epoch (?P<step>\d+)/", r"val_loss: (?P<val_loss>\S+)"])
    assert reader.read("Epoch 3/10") is None
    reading = reader.read("10/10 - loss: 0.4 - val_loss: 0.5")
    assert reading is not None and reading.step == 3


def test_lines_of_the_first_pattern_count_where_nothing_has_a_step() -> None:
    reader = LineReader([r"'loss': (?P<loss>[\d.]+)", r"'eval_loss': (?P<eval_loss>[\d.]+)"])
    steps = [
        reading.step
        for line in ["{'loss': 3.0}", "{'loss': 2.0}", "{'eval_loss': 2.5}", "{'loss': 1.0}"]
        if (reading := reader.read(line)) is not None
    ]
    assert steps == [1, 2, 2, 3]


def test_colours_are_no_part_of_a_line() -> None:
    reading = LineReader([NANO]).read("\x1b[32mstep 1: train loss 2.4, val loss 2.5\x1b[0m")
    assert reading is not None and reading.metrics["val_loss"] == 2.5


def test_what_is_no_number_is_no_measurement_and_nan_is() -> None:
    reader = LineReader([NANO])
    assert reader.read("step 1: train loss soon, val loss later") is None
    reading = reader.read("step 2: train loss nan, val loss inf")
    assert reading is not None and math.isnan(reading.metrics["train_loss"])


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("", "read.not_text"),
        (7, "read.not_text"),
        ("(", "read.not_regex"),
        (r"loss (\S+)", "read.no_group"),
        (r"(\S+\s*)+(?P<loss>x)", "read.slow"),
        (r"(?:a|aa)*(?P<loss>x)", "read.slow"),
        (r"(a*){2,}(?P<loss>x)", "read.slow"),
        (r".*a.*b.*c(?P<loss>x)", "read.slow"),
        (r"step (?P<step>\d+)", "read.step_alone"),
    ],
)
def test_a_pattern_that_cannot_work_is_refused(pattern: object, code: str) -> None:
    assert code in [problem.code for problem in problems([pattern])]


def test_every_problem_comes_at_once() -> None:
    codes = [problem.code for problem in problems(["(", r"a (\d)"])]
    assert codes == ["read.not_regex", "read.no_group"]
    many = [r"(?P<loss>\d)"] * (MOST_PATTERNS + 1)
    assert [problem.code for problem in problems(many)] == ["read.too_many"]


@pytest.mark.parametrize(
    "pattern",
    [
        NANO,
        r"loss[:=](?P<loss>[^,*]+)",
        r"\(x\)+(?P<a>\d)",
        r"(?P<a>\d+)?(?P<b>[)*]+)",
        r"a{x(?P<b>.)",
    ],
)
def test_ordinary_patterns_are_accepted(pattern: str) -> None:
    assert not list(problems([pattern]))


@given(st.text(alphabet="ab01 .:,=", max_size=3 * LONGEST))
def test_no_line_takes_long(line: str) -> None:
    reader = LineReader([NANO, r"a.*b.*(?P<loss>\d)", r"(?P<acc>[\d.]+)%"])
    reading = reader.read(line)
    assert reading is None or all(isinstance(v, float) for v in reading.metrics.values())


def test_a_long_line_is_not_read() -> None:
    line = "step 1: train loss 2.4, val loss 2.5"
    assert LineReader([NANO]).read(line + " " * 2 * LONGEST) is not None, "blanks are no text"
    assert LineReader([NANO]).read(line + "x" * LONGEST) is None


@given(st.text(alphabet=r"(a)*+{2,}.\[]^|?", max_size=20))
def test_looking_at_a_pattern_never_fails(pattern: str) -> None:
    assert slow(pattern) in ("", "group", "any")
    assert all(problem.text for problem in problems([pattern]))
