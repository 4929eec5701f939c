"""Read a training program and write the project for it: `tunewright init train.py --scan`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tunewright.actions import Advise
from tunewright.design.objective import Objective
from tunewright.design.ranges import Range
from tunewright.errors import Misuse
from tunewright.execution.command import command
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.project._project import DEFAULT_STORE, FILE, ROUNDS
from tunewright.project.programs.files import Template, round_text, template, workload_text
from tunewright.project.programs.json_values import default_words, json_notes, json_values
from tunewright.project.programs.read import read_program
from tunewright.project.programs.roles import Proposed, propose_range, propose_roles
from tunewright.project.programs.trial_run import TrialRun, try_program
from tunewright.remedies import ScanProgram

_FIRST = "first"  # the round that is written
_TRIALS = 20
_REPORTS = ("json.dumps", "tunewright")  # a source with these may print its measurements for us
_TRY_S = 60


@dataclass(frozen=True, kw_only=True)
class ScannedOption:
    """An option of the program: what it is by its source, its role, and why.

    >>> own = {"name": "lr", "option": "--lr", "kind": "float", "default": 0.01, "choices": ()}
    >>> why = {"role": "nuisance", "part": "learning_rate", "meaning": "learning_rate"}
    >>> ScannedOption(**own, **why, never=False, range=None, passed=True).default
    0.01
    """

    name: str  # of the hyperparameter
    option: str  # as the command line has it
    kind: str  # the type of its values: int, float, bool, text, choice
    default: Any  # None: it has none
    choices: tuple[Any, ...]  # the only values allowed; empty: any
    role: str  # nuisance, scientific, fixed, seed, folder, none, unknown
    part: str  # why: the part of training it belongs to
    meaning: str | None  # the playbook's name, such as learning_rate; None: another hyperparameter
    never: bool  # must not be tuned
    range: Range | None  # to search it in, of a nuisance hyperparameter
    passed: bool  # whether the command has it


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What the source of a program declares, and the files that follow from it."""

    program: Path  # the script that was read
    style: str  # argparse, click, typer, dataclass, hydra, constants ...
    options: tuple[ScannedOption, ...]  # in the order of the source
    command: str  # the template, with a field for each option that is passed
    required: tuple[str, ...]  # values that only the user knows
    notes: tuple[Message, ...]  # what the source does not show
    tried: TrialRun | None  # the short run; None: nothing ran
    workload_text: str  # of tunewright.toml
    round_text: str  # of rounds/first.toml
    written: tuple[Path, ...] = ()  # the files that were written

    def roles(self) -> dict[str, str]:
        """The proposed role of each option."""
        return {option.name: option.role for option in self.options}


def scan(
    program: str,
    *,
    minimize: str | None = None,
    maximize: str | None = None,
    store: str | None = None,
    folder: Path | str = ".",
    try_s: float | None = None,
    write: bool = True,
) -> Scan:
    """Read a program's options from its source, and write `tunewright.toml` and a first round.

    `program` is a script, `train.py`, or a command that has one, `"torchrun train.py --data=x"`:
    its words stay, options that they do not have are added. Nothing is imported, and nothing runs
    unless `try_s` allows a run of that many seconds, whose output shows how metrics are read.
    Existing files are never overwritten; with `write=False` nothing is written.

    Args:
        program: a script, or a command that has one.
        minimize: the metric that is the objective, if less is better.
        maximize: the metric that is the objective, if more is better.
        store: the database of the project; None: `tuning.db` in it.
        folder: where the project is written; the script is looked up from there.
        try_s: let the program run for at most this many seconds; None: nothing runs.
        write: whether to write the files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = ["import argparse", "own = argparse.ArgumentParser()"]
    ...     lines += ["own.add_argument('--lr', type=float, default=0.01)", "own.parse_args()"]
    ...     _ = Path(folder, "train.py").write_text("\\n".join(lines))
    ...     found = scan("train.py", minimize="valid_error", folder=folder)
    >>> found.roles(), [path.name for path in found.written]
    ({'lr': 'nuisance'}, ['tunewright.toml', 'first.toml'])
    """
    if (minimize is None) == (maximize is None):
        raise Misuse("option.no_metric", remedy=ScanProgram(program))
    place = Path(folder).resolve()
    target, first = place / FILE, place / ROUNDS / f"{_FIRST}.toml"
    if write and target.exists():
        raise Misuse("project.file_exists", path=target, remedy=Advise("edit_or_delete"))
    objective = Objective(minimize or maximize or "", minimize is not None)
    given, script = _script(program, place)
    read = read_program(script)
    given += default_words(read.options, given)
    inside = json_values(given, [option.name for option in read.options])
    roles = propose_roles((*read.options, *inside))
    read = replace(read, notes=(*read.notes, *json_notes(read.options, given)))
    command_template = template(read, roles, given)
    tried = None
    if try_s is not None:
        tried = try_program(command_template, objective.metric, place, try_s)
    lines, metrics = ((), ()) if tried is None else (tried.toml, tried.metrics)
    store = store or DEFAULT_STORE
    text = workload_text(read, roles, command_template, objective, store, lines, metrics)
    # refuses what could not be trained, before anything is written
    Workload(
        command(
            command_template.text,
            booleans=command_template.booleans,
            defaults=command_template.defaults,
        ),
        objective,
    )
    written: list[Path] = []
    rounds = round_text(roles, command_template, _TRIALS)
    if write:
        target.write_text(text, encoding="utf-8")
        written.append(target)
        if not first.exists():
            first.parent.mkdir(exist_ok=True)
            first.write_text(rounds, encoding="utf-8")
            written.append(first)
    options = tuple(_as_scanned_option(option, command_template) for option in roles)
    reads = bool(lines) or (tried is not None and tried.json_lines)
    advice = () if reads or read.adapter is None else (read.adapter,)
    about_run = () if tried is None else tried.notes
    if tried is None and read.adapter is None:
        about_run = _not_tried(script, objective.metric)
    of_options = (note for option in read.options for note in option.notes)
    notes = (*read.notes, *about_run, *advice, *of_options)
    return Scan(
        program=script,
        style=read.style,
        options=options,
        command=command_template.text,
        required=command_template.required,
        notes=notes,
        tried=tried,
        workload_text=text,
        round_text=rounds,
        written=tuple(written),
    )


def _not_tried(script: Path, metric: str) -> tuple[Message, ...]:
    """That nothing shows how the metric is read, where the source prints no JSON."""
    try:
        source = script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    if any(word in source for word in _REPORTS):
        return ()
    return (Message("scan.not_tried", {"metric": metric, "seconds": _TRY_S}),)


def option_choices(program: str, folder: Path) -> dict[str, tuple[Any, ...]]:
    """The only values that options of a program allow, by option, as its source declares them.

    Empty for a program whose source is not there, or that is not written in Python.
    """
    try:
        _, script = _script(program, folder)
    except Misuse:
        return {}
    options = read_program(script).options
    return {option.name: option.choices for option in options if option.choices}


def _as_scanned_option(proposed: Proposed, command_template: Template) -> ScannedOption:
    option = proposed.option
    searched = propose_range(proposed) if proposed.role == "nuisance" else None
    return ScannedOption(
        name=option.name,
        option=option.option,
        kind=option.kind,
        default=option.value,
        choices=option.choices,
        role=proposed.role,
        part=str(proposed.reason.facts["part"]),
        meaning=proposed.meaning,
        never=proposed.never,
        range=searched,
        passed=proposed.name in command_template.passed,
    )


def _script(program: str, folder: Path) -> tuple[list[str], Path]:
    """The words of the command, and the file that it runs."""
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise Misuse("scan.not_a_command", program=program, error=str(error)) from None
    if len(words) == 1 and words[0].endswith(".py"):
        words = ["python", words[0]]
    for at, word in enumerate(words):
        if word.endswith(".py"):
            path = folder / word
        elif word == "-m" and at + 1 < len(words):
            inside = words[at + 1].replace(".", "/")
            path = folder / f"{inside}.py"
            path = path if path.is_file() else folder / inside / "__main__.py"
        else:
            continue
        if not path.is_file():
            raise Misuse("scan.no_program", program=program, path=path)
        return words, path
    raise Misuse("scan.not_a_program", program=program)
