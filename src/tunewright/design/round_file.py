"""Round files: `rounds/NAME.toml`, the same words as the Python call.

goal = "Is NAdam better than Nesterov momentum here?"
trials_per_study = 20
[scientific]
optimizer = ["nadam", "nesterov"]
[nuisance.optimizer.given.nadam]
learning_rate = { log = [1e-5, 1e-2] }
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tunewright.design._problems import ROLES
from tunewright.design.names import Meaning
from tunewright.design.presets import Line, Space
from tunewright.design.ranges import Range, Value, log, log_from_one, same_value
from tunewright.design.round import Round
from tunewright.design.round_changes import differences as differences
from tunewright.design.round_data import (
    as_data as as_data,
    declaration_data,
    from_data as from_data,
    names_in,
    sound_part,
)
from tunewright.design.template_lines import (
    asked_about,
    one_value,
    scientific_lines,
    what_is_paid_for,
)
from tunewright.design.toml_file import read_toml, toml_key, toml_lines, toml_value
from tunewright.design.workload_file import option_problems, read_workload as read_workload
from tunewright.errors import DesignError
from tunewright.messages import Message

# where a first search may begin; `tw.presets` has spaces by optimizer and budget
_USUAL = {  # the most important first: what does not pay is fixed from the end
    "learning_rate": log(1e-4, 1e-1),
    "momentum": log_from_one(0.7, 0.995),
    "beta1": log_from_one(0.5, 0.99),
    "weight_decay": log(1e-6, 1e-2),
    "epsilon": log(1e-10, 1e-6),
    "beta2": log_from_one(0.5, 0.999),
}
OPTIONS = ("search", "eval_every")  # of a file, how the round is run; a Round has none of them
# what a training program refuses of a round, whose file names these hyperparameters
Guards = Callable[[Round, frozenset[str]], Iterable[Message]]
_WIDTH = 98  # of comments


@dataclass(frozen=True)
class RoundFile:
    """A round, and how its file wants it run."""

    round: Round
    search: str | None = None  # halton, bayesian or auto; None: as the project has it
    eval_every: int | None = None  # steps between evaluations; None: as the project has it


def read_round(path: str | Path) -> Round:
    """The round of a file, called as the file is; every problem at once, each with the file."""
    return read_round_file(path).round


def read_round_file(path: str | Path, guards: Guards | None = None) -> RoundFile:
    """A round and how it is to run; every problem at once, each with the file.

    `guards` names what the training program refuses of a round. Where the file itself has problems,
    the part of it without them is checked too, so that nobody fixes a file twice.
    """
    path = Path(path)
    data = read_toml(path, Message("file.new_round", {"name": path.stem}))
    options = {key: data.pop(key) for key in OPTIONS if key in data}
    problems = list(option_problems(options))
    own = {"name": path.stem, **data}
    try:
        round = from_data(own)
    except DesignError as error:
        problems = [*error.problems, *problems]
        sound = sound_part(own)
        if guards is not None and sound is not None:
            problems += guards(sound, frozenset(names_in(own)))
    if problems:
        found = DesignError.several(problems)
        raise DesignError.several(found.inside("file.problem", path=str(path)))
    return RoundFile(round, **options)


def write_round(round: Round, path: str | Path, search: str | None = None) -> None:
    """Write a round so that `read_round` gives the same one back."""
    path = Path(path)
    data = as_data(round)
    lines = [f"{key} = {toml_value(v)}" for key, v in data.items() if key not in ROLES]
    if round.name == path.stem:
        lines.pop(0)
    if search is not None:
        lines.append(f"search = {toml_value(search)}")
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
    space: Space | None = None,
) -> str:
    """A round file to fill in, with the hyperparameters the training program takes.

    Those with a default start fixed at it, what means the learning rate starts as nuisance, and
    the others stand as comments for a role to be chosen. A ready `space` gives its own ranges and
    values instead, each below a comment with its source. What the round is called
    after is scientific.
    """
    meaning, defaults = meaning or Meaning(), defaults or {}
    asked = asked_about(name, takes, meaning)
    ready = [line for line in space.lines if line.name != asked] if space else []
    settled = {asked, *(line.name for line in ready)}
    takes = [name for name in takes if name not in settled]
    usual = {n: _USUAL[m] for m in _USUAL for n in takes if meaning.of(n) == m}
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
        *scientific_lines(
            asked,
            [n for n in takes if n not in {*defaults, *usual} and not one_value(n, meaning)],
            meaning,
            defaults,
        ),
        "",
        "[nuisance]  # tuned anew in every study, so that the comparison is fair",
        *what_is_paid_for(trials_per_study),
        *_ready(ready, True, defaults),
    ]
    for hyperparameter, searched in usual.items():
        mark = "" if hyperparameter == rate else "# "
        text = toml_value(declaration_data(searched))
        lines.append(f"{mark}{toml_key(hyperparameter)} = {text}")
    lines += ["", "[fixed]  # one value for all: a caveat on every conclusion"]
    lines += _ready(ready, False, defaults)
    for hyperparameter in takes:
        if hyperparameter in defaults and hyperparameter != rate:
            lines.append(f"{toml_key(hyperparameter)} = {toml_value(defaults[hyperparameter])}")
        elif one_value(hyperparameter, meaning):
            lines.append(f"# {toml_key(hyperparameter)} =  # no default: it needs a value")
    return "\n".join(lines) + "\n"


def _ready(ready: Sequence[Line], searched: bool, defaults: Mapping[str, Value]) -> Iterator[str]:
    """The searched or the fixed lines of a ready space, each below its source."""
    for line in ready:
        if line.searched != searched:
            continue
        remarks = [f"{line.later}: {line.source}" if line.later else line.source]
        own, value = defaults.get(line.name), line.declared
        if own is not None and not isinstance(value, Range) and not same_value(own, value):
            remarks.append(f"The program's own default is {toml_value(own)}.")
        for remark in remarks:
            yield from textwrap.wrap(
                remark, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
            )
        yield f"{toml_key(line.name)} = {toml_value(declaration_data(line.declared))}"
