"""Round files: `rounds/NAME.toml`, the same words as the Python call.

goal = "Is NAdam better than Nesterov momentum here?"
trials_per_study = 20
[scientific]
optimizer = ["nadam", "nesterov"]
[nuisance.optimizer.given.nadam]
learning_rate = { log = [1e-5, 1e-2] }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tunewright.design.meaning import Meaning
from tunewright.design.refusals import ROLES
from tunewright.design.round import Round
from tunewright.design.round_changes import differences as differences
from tunewright.design.round_data import (
    as_data as as_data,
    declaration_data,
    from_data as from_data,
)
from tunewright.design.space import Value, log, log_from_one
from tunewright.design.toml_file import read_toml, toml_key, toml_lines, toml_value
from tunewright.design.workload_file import read_workload as read_workload
from tunewright.errors import DesignError

# where a first search may begin; `tunewright.defaults` has spaces by optimizer and budget
_USUAL = {
    "learning_rate": log(1e-4, 1e-1),
    "momentum": log_from_one(0.7, 0.995),
    "beta1": log_from_one(0.5, 0.99),
    "beta2": log_from_one(0.5, 0.999),
    "epsilon": log(1e-10, 1e-6),
    "weight_decay": log(1e-6, 1e-2),
}
_ONE_VALUE = ("max_train_steps", "batch_size")  # not to be searched for a validation metric


def read_round(path: str | Path) -> Round:
    """The round of a file, called as the file is; every problem at once, each with the file."""
    path = Path(path)
    data = read_toml(path, remedy=f"Write one to fill in: tunewright new {path.stem}")
    try:
        return from_data({"name": path.stem, **data})
    except DesignError as error:
        raise DesignError(
            "\n".join(f"{path}: {line}" for line in str(error).splitlines())
        ) from None


def write_round(round: Round, path: str | Path) -> None:
    """Write a round so that `read_round` gives the same one back."""
    path = Path(path)
    data = as_data(round)
    lines = [f"{key} = {toml_value(v)}" for key, v in data.items() if key not in ROLES]
    if round.name == path.stem:
        lines.pop(0)
    for role in ROLES:
        if data[role]:
            lines += ["", *toml_lines(role, data[role])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def template(
    name: str,
    takes: Sequence[str] = (),
    defaults: Mapping[str, Value] | None = None,
    meaning: Meaning | None = None,
    trials_per_study: int = 20,
) -> str:
    """A round file to fill in, with the hyperparameters the training program takes.

    Those with a default start fixed at it, what means the learning rate starts as nuisance, and
    the others stand as comments for a role to be chosen.
    """
    meaning, defaults = meaning or Meaning(), defaults or {}
    usual = {n: _USUAL[m] for n in takes if (m := meaning.of(n)) in _USUAL}
    rate = meaning.name("learning_rate")
    lines = [
        f"# {name}: a round asks one question. Give every hyperparameter a role, then:",
        f"#   tunewright run {name} --dry-run",
        'goal = ""  # the question, such as "Does weight decay lower the validation error?"',
        f"trials_per_study = {trials_per_study}",
        "# seed = 0",
        "# detect = 0.002  # the smallest difference worth finding, in units of the objective",
        "",
        "[scientific]  # whose effect is measured: a list makes one study per value",
        *(
            f"# {toml_key(n)} = [ , ]  # no default: list values here, or give it another role"
            for n in takes
            if n not in defaults and n not in usual and meaning.of(n) not in _ONE_VALUE
        ),
        "",
        "[nuisance]  # tuned anew in every study, so that the comparison is fair",
    ]
    for hyperparameter, searched in usual.items():
        mark = "" if hyperparameter == rate else "# "
        text = toml_value(declaration_data(searched))
        lines.append(f"{mark}{toml_key(hyperparameter)} = {text}")
    lines += ["", "[fixed]  # one value for all: a caveat on every conclusion"]
    for hyperparameter in takes:
        if hyperparameter in defaults and hyperparameter != rate:
            lines.append(f"{toml_key(hyperparameter)} = {toml_value(defaults[hyperparameter])}")
        elif meaning.of(hyperparameter) in _ONE_VALUE:
            lines.append(f"# {toml_key(hyperparameter)} =  # no default: it needs a value")
    return "\n".join(lines) + "\n"
