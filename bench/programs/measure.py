"""Roles that `init --scan` proposes for public programs, against those a reader gives them.

    python bench/programs/measure.py FOLDER [--wrong]

FOLDER holds a checkout of each program under the name in PROGRAMS; one that is absent is left out.
Nothing of them is part of this repository. The expected roles are in roles.toml.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from tunewright.project.programs.read import read_program
from tunewright.project.programs.roles import propose_roles

HERE = Path(__file__).parent
# the file that trains, below FOLDER; seen: the scanner was written with these at hand
PROGRAMS = {
    "nanoGPT": ("nanoGPT/train.py", "seen"),
    "modded-nanogpt": ("modded-nanogpt/train_gpt.py", "seen"),
    "modded-nanogpt-2024": ("modded-nanogpt-2024/train_gpt2.py", "second"),
    "autoresearch": ("autoresearch/train.py", "seen"),
    "flax": ("flax/examples/mnist/main.py", "seen"),
    "DomainBed": ("DomainBed/domainbed/scripts/train.py", "seen"),
    "timm": ("timm/train.py", "seen"),
    "yolov5": ("yolov5/train.py", "seen"),
    "transformers": (
        "transformers/examples/pytorch/language-modeling/run_clm_no_trainer.py",
        "seen",
    ),
    "lightning-hydra-template": ("lht/src/train.py", "seen"),
    "keras-addition": ("keras/examples/nlp/addition_rnn.py", "second"),
    "accelerate": ("accelerate/examples/complete_nlp_example.py", "second"),
    "trl": ("trl/trl/scripts/sft.py", "second"),
    "vision": ("vision/references/classification/train.py", "second"),
    "pytorch-cifar": ("cifar/main.py", "second"),
    "mingpt": ("minGPT/projects/chargpt/chargpt.py", "second"),
    "mae": ("mae/main_pretrain.py", "second"),
    "dino": ("dino/main_dino.py", "labelled"),
    "ConvNeXt": ("convnext/main.py", "labelled"),
    "llama2.c": ("llama2/train.py", "labelled"),
}
ACCEPTED = {
    "nuisance": {"nuisance"},
    "scientific": {"scientific"},
    "fixed": {"fixed"},
    "study": {"scientific", "fixed"},
    "strength": {"scientific", "nuisance"},
}


@dataclass(frozen=True)
class Measured:
    """How the proposals for one program compare with the expected roles."""

    style: str
    options: int
    right: int
    of: int  # hyperparameters with an expected role
    tuned: tuple[str, ...]  # proposed as nuisance though no hyperparameter
    wrong: tuple[str, ...] = field(default=())


def measured(script: Path, expected: dict[str, list[str]]) -> Measured:
    """Read a program and compare."""
    read = read_program(script)
    roles = {one.name: one.role for one in propose_roles(read.options)}
    wanted = {name: role for role, names in expected.items() for name in names}
    wrong = tuple(
        f"{name}: {roles.get(name, 'not read')} (expected {role})"
        for name, role in wanted.items()
        if roles.get(name) not in ACCEPTED[role]
    )
    tuned = tuple(n for n, role in roles.items() if role == "nuisance" and n not in wanted)
    right = len(wanted) - len(wrong)
    return Measured(read.style, len(read.options), right, len(wanted), tuned, wrong)


def main() -> None:
    """Print a line per program, and the share of each group."""
    folder = Path(sys.argv[1])
    expected = tomllib.loads((HERE / "roles.toml").read_text(encoding="utf-8"))
    groups: dict[str, list[Measured]] = {}
    print("| program | group | read as | options | roles right | tuned without reason |")
    print("|---|---|---|---|---|---|")
    for name, (path, group) in PROGRAMS.items():
        if not (folder / path).is_file():
            continue
        own = measured(folder / path, expected[name])
        groups.setdefault(group, []).append(own)
        row = (name, group, own.style, own.options, f"{own.right} of {own.of}", len(own.tuned))
        print("| " + " | ".join(str(cell) for cell in row) + " |")
        if "--wrong" in sys.argv:
            print(*(f"    {one}" for one in (*own.wrong, *own.tuned)), sep="\n")
    for group, several in groups.items():
        right, total = sum(one.right for one in several), sum(one.of for one in several)
        print(f"{group}: {right} of {total} ({right / total:.0%})")


if __name__ == "__main__":
    main()
