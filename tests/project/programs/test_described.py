"""Options whose names show nothing are judged by their help text and heading."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunewright.project.programs.declared import Declared
from tunewright.project.programs.read import read_program
from tunewright.project.programs.roles import part_described, propose_roles


@pytest.mark.parametrize(
    ("kind", "help", "section", "part"),
    [
        ("float", "base learning rate: absolute = base * batch / 256", "", "optimizer"),
        ("float", "Dropout rate (default: 0.)", "Augmentation parameters", "regulariser"),
        ("bool", "do we use it inside layers?", "model", "model"),
        ("int", "Number of images a class", "* Random Erase params", "augmentation"),
        ("str", "", "DDP settings", "machine"),
        ("int", "", "", None),
        ("int", "the quick brown fox", "more of them", None),
    ],
)
def test_help_then_heading(kind: str, help: str, section: str, part: str | None) -> None:
    one = Declared("foo", "--foo", kind, help=help, section=section)  # type: ignore[arg-type]
    assert part_described(one) == part


PROGRAM = """
import argparse
parser = argparse.ArgumentParser()
group = parser.add_argument_group("Augmentation and regularization parameters")
group.add_argument("--hf", type=float, default=0.5)
group = parser.add_argument_group("Miscellaneous parameters")
group.add_argument("--tt", type=int, default=0)
# Model parameters
parser.add_argument("--gate", type=str, default="a")
parser.add_argument("--foo", type=int, default=1, help="accumulate gradient over so many batches")
"""


def test_titles_of_groups_and_headings_reach_the_roles(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    found = {one.name: one for one in propose_roles(read_program(tmp_path / "train.py").options)}
    roles = {name: (one.role, one.reason.facts["part"]) for name, one in found.items()}
    assert roles == {
        "hf": ("scientific", "augmentation"),
        "tt": ("none", "logging"),
        "gate": ("scientific", "model"),
        "foo": ("fixed", "batch size"),
    }
