"""Commands that set a project up: init, new, doctor."""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli._checkup import examine, print_checkup
from tunewright.cli._errors import UNFINISHED, Misuse
from tunewright.cli._options import JsonOption, StoreOption, chosen
from tunewright.cli._project import (
    DEFAULT_STORE,
    FILE,
    ROUNDS,
    find_project,
    need_project,
    plain_name,
)
from tunewright.cli._training_function import find_function
from tunewright.design import presets as defaults
from tunewright.design.objective import Objective
from tunewright.design.round_file import template
from tunewright.design.toml_file import toml_value
from tunewright.execution.command import Command, command
from tunewright.execution.workload import Workload
from tunewright.messages import words
from tunewright.present.terminal.screen import say, screen, show_json

TRIALS = 20  # per study, until somebody says otherwise
FUNCTION = re.compile(r"[\w./\\-]+:[A-Za-z_]\w*")  # train.py:train, package.module:train
TEXT = """\
# What is trained, how it is judged, and where the record is kept.
[workload]
{kind} = {what}
{verb} = {metric}
store = {store}

# How your program spells the playbook's names, where it does not use them itself:
# [workload.means]
# learning_rate = "lr"
# max_train_steps = "epochs"

# The values that switch a feature off:
# [workload.off]
# dropout = 0.0
"""


def init(
    trains: Annotated[
        str,
        typer.Argument(
            metavar="COMMAND|FUNCTION",
            help='"python train.py --lr={learning_rate} --seed={run.seed}", or train.py:train.',
        ),
    ],
    minimize: Annotated[
        str | None, typer.Option(metavar="METRIC", help="The metric to make small.")
    ] = None,
    maximize: Annotated[
        str | None, typer.Option(metavar="METRIC", help="The metric to make large.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write tunewright.toml for a training command or function."""
    if (minimize is None) == (maximize is None):
        raise Misuse(
            "which metric? Say one of --minimize and --maximize",
            remedy="tunewright init ... --minimize valid_error",
        )
    target = Path(FILE)
    if target.exists():
        raise Misuse(f"{target} is there already", remedy="edit it, or delete it first")
    objective = Objective(minimize or maximize or "", minimize is not None)
    is_function = FUNCTION.fullmatch(trains) is not None
    train = find_function(trains, Path.cwd()) if is_function else command(trains)
    workload = Workload(train, objective)
    text = TEXT.format(
        kind="function" if is_function else "command",
        what=toml_value(trains),
        verb="minimize" if objective.minimize else "maximize",
        metric=toml_value(objective.metric),
        store=toml_value(store or DEFAULT_STORE),
    )
    target.write_text(text, encoding="utf-8")
    say(f"wrote {target}")
    say(f"hyperparameters: {', '.join(taken(workload)) or 'none named'}")
    if isinstance(train, Command):
        for remark in command_remarks(train):
            say(f"note: {remark}", style="yellow")
    say("next: tunewright new NAME, to ask a first question of it")


def taken(workload: Workload) -> list[str]:
    """The hyperparameters in the order the program names them."""
    if isinstance(workload.train, Command):
        return list(workload.train.hyperparameters)
    names = inspect.signature(workload.train).parameters
    return [name for name in names if name in workload.accepts.names]


def command_remarks(train: Command) -> list[str]:
    """What may be missing in a command, said before anything runs."""
    found = []
    program = train.words[0].filled({}) if not train.words[0].fields else ""
    if program and shutil.which(program) is None:
        found.append(f"{program} is not on the PATH")
    plain = [word.filled({}) for word in train.words[1:] if not word.fields]
    script = next((word for word in plain if word.endswith(".py")), "")
    if script and not Path(script).exists():
        found.append(f"there is no {script} here")
    if not train.takes_seed:
        found.append("without {run.seed} in the command, repeats would repeat nothing")
    return found


def new(
    name: Annotated[str, typer.Argument(help="What the round is about, such as weight_decay.")],
    space: Annotated[
        str | None,
        typer.Option(
            metavar="OPTIMIZER",
            help="Begin with a ready search space, as wide as the trials allow, with its sources: "
            f"{', '.join(defaults.OPTIMIZERS)}.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Trials per study.")] = TRIALS,
) -> None:
    """Write rounds/NAME.toml to fill in, with the hyperparameters the program takes."""
    if space is not None:
        chosen(space, {known: known for known in defaults.OPTIMIZERS}, "--space")
    project = need_project()
    path = project.round_file(plain_name(name))
    if path.exists():
        raise Misuse(f"{path} is there already", remedy=f"edit it, then: tunewright run {name}")
    with project.entered():
        workload = project.workload()
    path.parent.mkdir(exist_ok=True)
    names = taken(workload)
    ready = None if space is None else ready_space(space, trials, workload)
    accepts = workload.accepts
    path.write_text(
        template(name, names, accepts.defaults, workload.meaning, trials, ready), encoding="utf-8"
    )
    say(f"wrote {Path(ROUNDS) / path.name}: write down its goal, and a role for")
    open_ones = [n for n in names if ready is None or n not in {line.name for line in ready.lines}]
    rest = "each hyperparameter" if not names else "no other: all of them have one"
    say(f"  {', '.join(words.printable(n) for n in open_ones) or rest}")
    if ready is not None:
        print_ready(ready)
    say(f"next: tunewright run {name} --dry-run")


def ready_space(optimizer: str, trials: int, workload: Workload) -> defaults.Space:
    """The ready space of an optimizer, as far as the program takes its hyperparameters."""
    accepts = workload.accepts
    takes = None if accepts.takes_anything else accepts.names
    return defaults.space(optimizer, trials, takes=takes, means=workload.means)


def print_ready(ready: defaults.Space) -> None:
    """What a ready space searches and fixes, and what the program seems not to take."""
    trials = words.count(ready.trials, "trial")
    for verb, found in (("searches", ready.nuisance), ("fixes", ready.fixed)):
        if found:
            names = ", ".join(words.printable(n) for n in found)
            say(f"{ready.optimizer} with {trials} per study {verb} {names}")
    for note in ready.notes:
        say(f"note: {words.printable(note)}", style="yellow")
    if ready.notes:
        say(f"  if it has another name there, say so under [workload.means] in {FILE}")


def doctor(store: StoreOption = None, json: JsonOption = False) -> None:
    """Examine versions, extras, the project, the store, locks, disk space and devices."""
    try:
        project = find_project()
        problem = ""
    except Exception as error:  # a broken file is a finding here, not the end
        project, problem = None, str(error)
    findings = examine(project, store, problem)
    if json:
        show_json(findings)
    else:
        print_checkup(findings, screen())
    if any(finding.verdict == "bad" for finding in findings):
        sys.stdout.flush()
        raise typer.Exit(UNFINISHED)
