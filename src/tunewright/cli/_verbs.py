"""The verbs of the command line, each loaded when it is used: name, home, one line of help.

Help texts stand here, so that `tunewright --help` imports none of the commands. A test compares
them with the docstrings of the commands.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tunewright.messages import label


@dataclass(frozen=True)
class Verb:
    """A command, and where its function is."""

    name: str
    home: str  # module and name below tunewright.cli
    help: str  # the first line of its docstring


FAMILIES: dict[str, tuple[Verb, ...]] = {
    "Begin": (
        Verb(
            "demo",
            "demo.demo",
            "Tune a small network on handwritten digits by the whole loop: about three minutes.",
        ),
        Verb("init", "init.init", "Write tunewright.toml for a training command or function."),
        Verb(
            "new",
            "init.new",
            "Write rounds/NAME.toml to fill in, with the hyperparameters the program takes.",
        ),
        Verb(
            "doctor",
            "init.doctor",
            "Examine versions, extras, the project, the store, locks, disk space and devices.",
        ),
    ),
    "Spend compute": (
        Verb("run", "run.run", "Run a round, or continue it: only what is missing runs."),
        Verb(
            "worker",
            "run.worker",
            "Join a round that others run, from this machine too, until none of its trials is "
            "left.",
        ),
        Verb(
            "sync",
            "import_.sync",
            "Write a round to trackers, or catch up what they lack; nothing is written twice.",
        ),
        Verb(
            "stop",
            "run.stop",
            "Ask whoever runs a round to stop it, or one of its trials: they save and can be "
            "resumed.",
        ),
        Verb(
            "repeat",
            "run.repeat",
            "Train a trial's configuration again under new seeds: how much of its value is noise?",
        ),
        Verb(
            "again",
            "evaluate.again",
            "Train a trial anew under its own seed and settings, and compare it with the recorded "
            "one.",
        ),
        Verb(
            "evaluate",
            "evaluate.evaluate",
            "Measure the selected checkpoints of the best trials properly, and record it as "
            "metrics.",
        ),
        Verb(
            "final",
            "evaluate.final",
            "Look at the test set, for the one trial that was chosen; every look is counted.",
        ),
        Verb(
            "tune",
            "tune.tune",
            "Tune on autopilot: explore, exploit, repeat, launch, within a budget. The same call "
            "resumes.",
        ),
        Verb(
            "probe",
            "probe.probe",
            "Short experiments that settle one setting: batch size, steps, warm-up, clipping, "
            "input.",
        ),
    ),
    "Read what happened": (
        Verb(
            "ls",
            "show.ls",
            "List the rounds, one line each; `-v` shows how to find the best trial again.",
        ),
        Verb(
            "show",
            "show.show",
            "Show one round: goal, roles, the best per study, why trials did not complete, what "
            "next.",
        ),
        Verb(
            "trial",
            "show.trial",
            "Show one trial: configuration, curves, attempts, log, where it comes from.",
        ),
        Verb(
            "ui",
            "ui.ui",
            "Serve the dashboard of a store on this machine, or write it as a site of files.",
        ),
        Verb(
            "believe",
            "show.believe",
            "Show what a model of the trials believes: the best to expect, what diverges, what is "
            "left.",
        ),
        Verb("note", "show.note", "Write a note about a round; `show` and `ls` print it."),
        Verb(
            "export",
            "show.export",
            "Write a round's trials or curves to a file for other programs.",
        ),
    ),
    "Can it be trusted?": (
        Verb(
            "check",
            "show.check",
            "Ask whether a round can be trusted: the playbook's checklist. Exits with 1 on a "
            "warning.",
        ),
        Verb(
            "diagnose",
            "diagnose.diagnose",
            "Ask the curves of any run what is wrong, with error rates. Exits with 1 on a warning.",
        ),
        Verb(
            "plot",
            "show.plot",
            "Draw a round: every trial, the best so far, settings, curves, budgets, importance.",
        ),
        Verb(
            "report",
            "show.report",
            "Report on a round: verdict first, then plots and trials, in one HTML file and on "
            "screen.",
        ),
    ),
    "Decide": (
        Verb(
            "next",
            "next.next_",
            "Say what to do after a round: ranked proposals with their reasons, and rounds to run.",
        ),
        Verb(
            "extend",
            "next.extend",
            "Train longer: the best configuration's neighbourhood at more steps, its schedule "
            "adapted.",
        ),
        Verb(
            "variance",
            "launch.variance",
            "Show trial, study and data variance of a round together; runs nothing unless asked "
            "to.",
        ),
        Verb(
            "launch",
            "launch.launch",
            "Decide whether a round's best becomes the baseline: train both again on fresh seeds.",
        ),
        Verb(
            "judge",
            "judge.judge",
            "Keep or discard one change of a program after another, by runs of both.",
        ),
        Verb(
            "history",
            "launch.history",
            "Show every launch decision, oldest first, and the baseline that came of them.",
        ),
    ),
    "Work with agents": (
        Verb(
            "budget",
            "budget.budget",
            "Show or set how much training this project may spend: trials, hours or money.",
        ),
        Verb(
            "agents",
            "agents.agents",
            "Write instructions for coding agents (AGENTS.md and a skill) into this project.",
        ),
        Verb(
            "mcp",
            "mcp.mcp",
            "Serve this project to a coding agent by the Model Context Protocol, over stdio.",
        ),
    ),
    "Show it to others": (
        Verb(
            "receipt",
            "receipt.receipt",
            "Write everything that a round's conclusions rest on to one file.",
        ),
        Verb(
            "verify",
            "receipt.verify",
            "Derive every verdict of a receipt again, and name malpractice. Exits with 1 on any.",
        ),
    ),
    "Look after the store": (
        Verb(
            "import",
            "import_.import_",
            "Take over a round that another tool recorded; check, plot and report then work on it.",
        ),
        Verb(
            "rm",
            "backup.rm",
            "Remove a round from the store; --undo brings it back.",
        ),
        Verb(
            "rename",
            "backup.rename",
            "Give a round another name, in the store and in rounds/.",
        ),
        Verb(
            "backup",
            "backup.backup",
            "Write a backup of the store, checked, while it is in use; the newest three are kept.",
        ),
        Verb(
            "restore",
            "backup.restore",
            "Put a backup in the store's place; what was there is kept beside it.",
        ),
    ),
}


class _Lazy(TyperCommand):
    """A command that knows its name and help, and imports the rest when it is invoked."""

    def __init__(self, verb: Verb, family: str) -> None:
        """Nothing is imported yet."""
        super().__init__(verb.name, help=label(verb.help), rich_help_panel=label(family))
        self.verb = verb

    @cached_property
    def real(self) -> Any:
        """The command itself, with its parameters."""
        return load_verb(self.verb)

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """The context of the command itself, which typer then invokes."""
        return self.real.make_context(*arguments, **extra)


class Verbs(TyperGroup):
    """The group of every verb."""

    def __init__(self, **attributes: Any) -> None:
        """Every verb by its name, none of them imported."""
        super().__init__(**attributes)
        for family, verbs in FAMILIES.items():
            for verb in verbs:
                self.add_command(_Lazy(verb, family))


def load_verb(verb: Verb) -> Any:
    """Import a verb's function and make a command of it."""
    module, _, name = verb.home.rpartition(".")
    function = getattr(importlib.import_module(f"tunewright.cli.{module}"), name)
    if isinstance(function, typer.Typer):  # a family of commands: probe
        return translate(typer.main.get_command(function))
    alone = typer.Typer(add_completion=False)
    alone.command(verb.name, help=flowing(function.__doc__ or ""))(function)
    return translate(typer.main.get_command(alone))


def translate(command: Any) -> Any:
    """The command with its help texts in the reader's language, subcommands included."""
    for name in ("help", "short_help", "epilog"):
        if text := getattr(command, name, None):
            setattr(command, name, label(text))
    for parameter in command.params:
        if text := getattr(parameter, "help", None):
            parameter.help = label(text)
        if hasattr(parameter, "rich_help_panel"):
            parameter.rich_help_panel = label(parameter.rich_help_panel or _panel(parameter))
    help_option = command.get_help_option  # `--help` itself, which typer makes late and keeps

    def own_help(context: Any) -> Any:
        option = help_option(context)
        if option is not None:
            option.help, option.rich_help_panel = label(option.help), label("Options")
        return option

    command.get_help_option = own_help
    format_help = command.format_help

    def format_in_language(context: Any, formatter: Any) -> None:
        _prepare_typer()
        format_help(context, formatter)

    command.format_help = format_in_language
    for inner in getattr(command, "commands", {}).values():
        if not isinstance(getattr(inner, "rich_help_panel", None), str):
            inner.rich_help_panel = label("Commands")
        translate(inner)
    return command


def _prepare_typer() -> None:
    """Let typer's pages of help name defaults in the reader's language and cut no long word.

    A Chinese sentence has no spaces, so it counts as one word: typer would end it with an ellipsis.
    """
    from typer import rich_utils  # slow to import, and only help needs it

    rich_utils.DEFAULT_STRING = label("[default: {}]")
    rich_utils.REQUIRED_LONG_STRING = label("[required]")
    highlight: Any = rich_utils.highlighter
    if getattr(highlight, "folds", False):
        return

    def highlight_and_fold(text: Any) -> Any:
        highlighted = highlight(text)
        highlighted.overflow = "fold"
        return highlighted

    highlight_and_fold.folds = True  # type: ignore[attr-defined]
    rich_utils.highlighter = highlight_and_fold  # type: ignore[assignment]


def _panel(parameter: Any) -> str:
    """The heading under which typer lists a parameter."""
    return "Arguments" if parameter.param_type_name == "argument" else "Options"


def flowing(text: str) -> str:
    """A docstring whose paragraphs are one line each, for the terminal to wrap.

    >>> flowing("Do it.\\n\\n    Slowly, then\\n    quickly.")
    'Do it.\\n\\nSlowly, then quickly.'
    """
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
