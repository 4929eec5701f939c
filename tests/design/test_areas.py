from __future__ import annotations

import pytest

from tunewright.design.names import Meaning, area_of


@pytest.mark.parametrize(
    ("area", "names"),
    [
        ("optimizer", "learning_rate initial_lr lr eps adam_beta2 grad_clip"),
        ("model", "hidden_layers n_embd width num_heads encoder.depth activation"),
        ("augmentation", "color_jitter mixup random_crop"),
        ("regulariser", "weight_decay wd dropout attn_dropout label_smoothing"),
        ("initialization", "init_scale weight_init"),
        ("schedule", "schedule lr_decay end_factor gamma"),
        ("warm-up", "warmup_steps warmup_ratio"),
        ("length", "epochs max_iters"),
        ("batch size", "bs"),
        ("data", "dataset"),
        (None, "temperature foo"),
    ],
)
def test_areas(area: str | None, names: str) -> None:
    assert {n: area_of(n, Meaning()) for n in names.split()} == dict.fromkeys(names.split(), area)


def test_what_is_declared_counts_first() -> None:
    assert area_of("epochs", Meaning({"max_train_steps": None})) is None
    assert area_of("epochs", Meaning({"max_train_steps": "max_steps"})) is None
    assert area_of("width", Meaning({"learning_rate": "width"})) == "optimizer"
    assert area_of("mixup", Meaning({"regularisers": ["mixup"]})) == "regulariser"
