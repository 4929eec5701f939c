"""Running out of memory is told apart from other errors."""

from __future__ import annotations

import pytest
import torch

from tunewright.pipeline.eval_batch import out_of_memory, release


def test_the_cpu_allocator_is_understood():
    with pytest.raises(RuntimeError) as raised:
        torch.empty(2**46, dtype=torch.uint8)
    assert out_of_memory(raised.value)


def test_cuda_is_understood_and_others_are_not():
    assert out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory"))
    assert not out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not out_of_memory(ValueError("can't allocate memory"))
    release(torch.device("cpu"))
