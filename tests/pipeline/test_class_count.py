"""Counts of rare classes: right, and careful with what one example means."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings, strategies as st

from tunewright.errors import PipelineError
from tunewright.pipeline.class_count import ClassCount, class_changes, class_counts
from tunewright.pipeline.confidence import wilson


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 5)), min_size=1, max_size=80))
def test_counts_are_those_of_a_loop(examples):
    correct = torch.tensor([float(right) for right, _ in examples])
    labels = torch.tensor([label for _, label in examples])
    found = {c.label: (c.correct, c.total) for c in class_counts(correct, labels)}
    for label in {label for _, label in examples}:
        rights = [right for right, of in examples if of == label]
        assert found[label] == (sum(rights), len(rights))
    assert sum(total for _, total in found.values()) == len(examples)


def test_a_class_is_rare_below_30_examples():
    assert ClassCount(0, 5, 29).rare and not ClassCount(0, 5, 30).rare
    assert str(ClassCount(2, 1, 20)).startswith("class 2: 1 of 20 correct (")
    assert ClassCount(2, 1, 20).interval == wilson(1, 20)


def test_a_change_of_one_example_is_not_called_a_change():
    """0.05 more sounds like a lot: of 20 examples it is one."""
    (line,) = class_changes([ClassCount(0, 3, 20)], [ClassCount(0, 4, 20)])
    assert line == "class 0: 3 -> 4 of 20 correct (fewer than 2 examples: no change to speak of)"
    (line,) = class_changes([ClassCount(0, 3, 20)], [ClassCount(0, 1, 20)])
    assert line == "class 0: 3 -> 1 of 20 correct (-0.10)"


@pytest.mark.parametrize("before", [[], [ClassCount(0, 3, 19)], [ClassCount(1, 3, 20)]])
def test_other_examples_are_not_compared(before):
    (line,) = class_changes(before, [ClassCount(0, 4, 20)])
    assert "not comparable" in line


@pytest.mark.parametrize(
    "correct, labels, says",
    [
        ([1.0, 0.5], [0, 0], "0 or 1"),
        ([1.0, float("nan")], [0, 0], "0 or 1"),
        ([1.0], [0, 0], "one of each per example"),
        ([[1.0]], [[0]], "one of each per example"),
    ],
)
def test_what_cannot_be_counted_is_refused(correct, labels, says):
    with pytest.raises(PipelineError, match=says):
        class_counts(torch.tensor(correct), torch.tensor(labels))
