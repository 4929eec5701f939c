"""The command of a program that was read, and the folder that a trial gives it."""

from __future__ import annotations

from tunewright.project.programs.declared import Declared
from tunewright.project.programs.files import template
from tunewright.project.programs.read import Read
from tunewright.project.programs.roles import propose_roles

LR = Declared("lr", "lr", "float", 0.1)


def made(style: str, *given: str, options: tuple[Declared, ...] = (LR,)) -> str:
    read = Read(style, options)  # type: ignore[arg-type]
    return template(read, propose_roles(options), given).text


def test_a_hydra_program_writes_into_the_trials_folder() -> None:
    assert made("hydra", "python", "train.py") == (
        "python train.py lr={lr} hydra.run.dir={run.folder}"
    )
    given = ("python", "train.py", "hydra.run.dir=out")
    assert made("hydra", *given) == "python train.py hydra.run.dir=out lr={lr}"
    folder = Declared("out_dir", "out_dir", "str", "out")
    assert "hydra.run" not in made("hydra", "python", "train.py", options=(LR, folder))


def test_constants_are_replaced_when_the_program_starts() -> None:
    text = made("constants", "python", "train.py")
    assert text == "python -m tunewright.execution.with_values train.py lr={lr}"
