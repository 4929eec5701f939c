"""Proposed roles by the words of names, with the shapes that public programs have."""

from __future__ import annotations

from typing import Any

import pytest

from tunewright.project.programs.declared import Declared, kind_of
from tunewright.project.programs.roles import propose_roles


def role(name: str, default: Any) -> tuple[str, str]:
    option = Declared(name, f"--{name}", kind_of(default), default)
    found = propose_roles([Declared("seed", "--seed", "int", 0), option])[1]
    return found.role, str(found.reason.facts["part"])


@pytest.mark.parametrize(
    ("name", "default", "expected", "part"),
    [
        ("lr", 0.1, "nuisance", "optimizer"),
        ("cos_lr", False, "scientific", "schedule choice"),
        ("min_lr", 1e-5, "nuisance", "optimizer"),
        ("min_epochs", 1, "fixed", "length"),
        ("early_stopping.patience", 10, "fixed", "length"),
        ("batch_size", 8, "fixed", "batch size"),
        ("nosave", False, "none", "logging"),
        ("num_classes", 10, "fixed", "data"),
        ("holdout_fraction", 0.2, "fixed", "data"),
        ("model_name_or_path", "tiny", "scientific", "model"),
        ("dataset_name", "tiny", "fixed", "data"),
        ("run_name", "a", "none", "logging"),
        ("net.output_size", 10, "unknown", "unknown"),
        ("output_file", "x", "none", "path"),
        ("algorithm", "ERM", "scientific", "method"),
        ("bce_loss", False, "scientific", "loss choice"),
        ("warmdown_ratio", 0.5, "nuisance", "schedule"),
        ("gradient_checkpointing", False, "none", "machine"),
        ("checkpointing_steps", "epoch", "none", "logging"),
        ("local_crops_number", 8, "unknown", "unknown"),
        ("data_seed", 1, "fixed", "another seed"),
        ("foo", 1, "unknown", "unknown"),
    ],
)
def test_roles_by_name(name: str, default: Any, expected: str, part: str) -> None:
    assert role(name, default) == (expected, part)


def test_the_folder_is_found_by_its_help_text_where_no_name_shows_it() -> None:
    options = [
        Declared("project", "--project", "str", "runs", help="save to project/name"),
        Declared("name", "--name", "str", "exp", help="save to project/name"),
        Declared("keep", "--keep", "bool", False, help="save to disk"),
    ]
    assert [one.role for one in propose_roles(options)] == ["folder", "none", "unknown"]
    options.append(Declared("out_dir", "--out-dir", "str", "out"))
    assert [one.role for one in propose_roles(options)][-1] == "folder"
