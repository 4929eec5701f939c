"""Set a project up: write `tunewright.toml` and round files to fill in; rename a round."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tunewright import stores
from tunewright.actions import Advise, RunTrials
from tunewright.design import presets
from tunewright.design.objective import Objective
from tunewright.design.round import ROLES
from tunewright.design.round_file import template
from tunewright.design.workload_file import read_toml, toml_key, toml_value
from tunewright.errors import Misuse
from tunewright.execution.command import command
from tunewright.execution.workload import Workload
from tunewright.messages import words
from tunewright.project._project import (
    DEFAULT_STORE,
    FILE,
    Project,
    find_function,
    load,
    names_in_order,
    names_in_store,
    plain_name,
)
from tunewright.project._scan import option_choices
from tunewright.remedies import InitProject
from tunewright.store.user_requests import Renamed

TRIALS = 20  # per study, by default
FUNCTION = re.compile(r"[\w./\\-]+:[A-Za-z_]\w*")  # train.py:train, package.module:train
TEXT = """\
# What is trained, how it is judged, and where the database is.
[workload]
{kind} = {what}
{verb} = {metric}
store = {store}

# Before tuning: is {question} close to what matters in deployment, and are the data clean?

{means}
# The values that switch a feature off:
# [workload.off]
# dropout = 0.0
"""
_DECLARED = """\
# How your program spells the playbook's names, where it does not use them itself:
# [workload.means]
# learning_rate = "lr"
# max_train_steps = "epochs"
"""
_GUESSED = """\
# How your program spells the playbook's names, by their spelling: correct what is wrong. Guards and
# checks go by it. NAME = {{ none = true }} declares that nothing has a meaning.
[workload.means]
{lines}
"""


@dataclass(frozen=True)
class NewRound:
    """A round file that was written to be filled in."""

    name: str  # of the round
    path: Path  # of its file
    hyperparameters: tuple[str, ...]  # of the program
    without_role: tuple[str, ...]  # of them, those that still need one
    space: presets.Space | None  # the ready space it begins with


def init(
    trains: str,
    *,
    minimize: str | None = None,
    maximize: str | None = None,
    store: str | None = None,
    folder: Path | str = ".",
) -> Project:
    """Write `tunewright.toml` for a training command or function into a folder.

    `trains` is a command, `"python train.py --lr={learning_rate} --seed={run.seed}"`, or names a
    function, `"train.py:train"`. The metric is given by one of `minimize` and `maximize`. What its
    names mean by their spelling is written under [workload.means], to be corrected.

    Args:
        trains: a command, or `file.py:function`.
        minimize: the metric, where smaller is better.
        maximize: the metric, where larger is better.
        store: the store to name in the file; None: the default.
        folder: where to write the file.
    """
    if (minimize is None) == (maximize is None):
        raise Misuse("option.no_metric", remedy=InitProject(trains))
    target = Path(folder) / FILE
    if target.exists():
        raise Misuse("project.file_exists", path=target, remedy=Advise("edit_or_delete"))
    objective = Objective(minimize or maximize or "", minimize is not None)
    is_function = FUNCTION.fullmatch(trains) is not None
    train = find_function(trains, Path(folder).resolve()) if is_function else command(trains)
    guessed = Workload(train, objective).meaning.guessed  # refuses what cannot be trained
    means = _DECLARED
    if guessed:
        meanings = [
            f"{toml_key(meaning)} = {toml_value(name)}" for meaning, name in guessed.items()
        ]
        means = _GUESSED.format(lines="\n".join(meanings))
    text = TEXT.format(
        kind="function" if is_function else "command",
        what=toml_value(trains),
        verb="minimize" if objective.minimize else "maximize",
        metric=toml_value(objective.metric),
        store=toml_value(store or DEFAULT_STORE),
        question=words.printable(objective.metric),
        means=means,
    )
    target.write_text(text, encoding="utf-8")
    return load(folder)


def new(
    name: str,
    *,
    space: str | None = None,
    trials: int = TRIALS,
    lr_decay: bool = False,
    project: Project | None = None,
) -> NewRound:
    """Write rounds/NAME.toml to fill in, with the hyperparameters the program takes.

    `space` names an optimizer whose ready search space it begins with, with a constant learning
    rate unless `lr_decay`; `project` is that of the working folder unless another is given.

    Args:
        name: of the round and its file.
        space: the optimizer whose ready search space to begin with; None: none.
        trials: per study.
        lr_decay: whether the learning rate decays in that space.
        project: None: that of the working folder.
    """
    project = project or load()
    path = project.round_file(plain_name(name))
    if path.exists():
        raise Misuse("file.exists", path=path, remedy=RunTrials(name))
    with project.entered():
        workload = project.workload()
    names = names_in_order(workload)
    ready = None if space is None else _ready_space(space, trials, workload, lr_decay=lr_decay)
    path.parent.mkdir(exist_ok=True)
    defaults, program = workload.accepts.defaults, project.settings["command"]
    choices = option_choices(program, project.folder) if isinstance(program, str) else {}
    text = template(name, names, defaults, workload.meaning, trials, ready, choices)
    path.write_text(text, encoding="utf-8")
    file = tomllib.loads(text)
    with_role = {key for role in ROLES for key in file.get(role, {})}
    without = tuple(hyperparameter for hyperparameter in names if hyperparameter not in with_role)
    return NewRound(name, path, tuple(names), without, ready)


def _ready_space(
    optimizer: str, trials: int, workload: Workload, *, lr_decay: bool = False
) -> presets.Space:
    """The ready space of an optimizer, as far as the program takes its hyperparameters."""
    accepts, meaning = workload.accepts, workload.meaning
    schedule = meaning.name("schedule")
    # a switch that is on by default is off when it is false
    switch = {schedule: False} if accepts.defaults.get(schedule) is True else {}
    return presets.space(
        optimizer,
        trials,
        takes=None if accepts.takes_anything else accepts.names,
        means=meaning.means,
        off={**switch, **meaning.off},
        lr_decay=lr_decay,
    )


@dataclass(frozen=True, kw_only=True)
class RenamedRound:
    """What has another name now."""

    old: str  # the name it had
    new: str  # the name it has
    recorded: bool  # the store had it
    also: tuple[str, ...]  # its replicates, by their new names
    continued_by: tuple[str, ...]  # recorded rounds that continue it
    files: tuple[Path, ...]  # the round's file, and files of rounds that continue it


def rename(old: str, new: str, *, store: str, project: Project | None = None) -> RenamedRound:
    """Give a round another name: the recorded one, its file, and `continues` in other files.

    Everything is checked before anything changes.

    Args:
        old: the name of a round.
        new: a name that is free.
        store: the store of the round.
        project: whose files change too; None: none.
    """
    if plain_name(new) == old:
        raise Misuse("rename.same_name", name=old)
    source = None if project is None else project.round_file(old)
    target = None if project is None else project.round_file(new)
    has_file = source is not None and source.is_file()
    recorded = old in names_in_store(store)
    if has_file and target is not None and target.exists():
        raise Misuse("file.exists", path=target, remedy=Advise("name_or_delete"))
    only_file = has_file and not recorded
    done = Renamed(old, new) if only_file else stores.rename(store, old, new)
    files = () if project is None else tuple(_rename_files(project, old, new))
    return RenamedRound(
        old=old,
        new=new,
        recorded=recorded,
        also=done.also,
        continued_by=done.continued_by,
        files=files,
    )


def _rename_files(project: Project, old: str, new: str) -> list[Path]:
    changed = []
    for path in sorted(project.round_file(old).parent.glob("*.toml")):
        if read_toml(path).get("continues") == old:
            _set(path, "continues", new)
            changed.append(path)
    source = project.round_file(old)
    if source.is_file():
        if read_toml(source).get("name") == old:
            _set(source, "name", new)
        target = project.round_file(new)
        source.rename(target)
        changed = [target if path == source else path for path in changed]
        changed = changed if target in changed else [target, *changed]
    return changed


def _set(path: Path, key: str, value: str) -> None:
    """Change one key above the tables of a file; tomlkit keeps comments and order."""
    import tomlkit

    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    document[key] = value
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
