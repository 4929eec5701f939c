"""Precisions: what they cast, what they refuse, and that they put everything back."""

from __future__ import annotations

import pytest
import torch

from tunewright.errors import PipelineError
from tunewright.pipeline.fit_config import autocast, check_precision, loss_scaler, matrix_products

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "precision, dtype",
    [
        ("fp32", torch.float32),
        ("tf32", torch.float32),
        ("bf16", torch.bfloat16),
        ("fp16", torch.float16),
    ],
)
def test_products_are_in_the_precision(precision, dtype: torch.dtype) -> None:
    layer = torch.nn.Linear(3, 2)
    with autocast(precision, CPU):
        assert layer(torch.ones(1, 3)).dtype == dtype
    assert layer(torch.ones(1, 3)).dtype == torch.float32
    assert layer.weight.dtype == torch.float32


def test_only_fp16_scales_its_loss() -> None:
    assert [loss_scaler(p, CPU) is not None for p in ("fp32", "tf32", "bf16", "fp16")] == [
        False,
        False,
        False,
        True,
    ]


def test_matrix_products_are_put_back_even_after_an_error() -> None:
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    with pytest.raises(KeyError), matrix_products("tf32"):
        assert torch.get_float32_matmul_precision() == "high"
        assert torch.backends.cudnn.allow_tf32
        raise KeyError
    with matrix_products("fp32"):
        assert torch.get_float32_matmul_precision() == "highest"
        assert not torch.backends.cudnn.allow_tf32
    assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32) == before


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(PipelineError, match="there are fp32, tf32, bf16, fp16"):
        check_precision("float8", CPU)
    check_precision("bf16", CPU)
