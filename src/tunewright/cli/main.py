"""The command `tunewright`: its verbs by family, and the one place where errors end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import tunewright
from tunewright.cli import (
    backup as keeping,
    believe as believing,
    check as checking,
    demo,
    evaluate as evaluating,
    import_ as importing,
    init as project,
    launch as launching,
    next as proposing,
    report as looking,
    run as running,
    show as reading,
    tune as tuning,
    variance as varying,
)
from tunewright.cli._errors import FINE, INTERRUPTED, tell
from tunewright.cli.probe import probe
from tunewright.present.terminal.screen import sidelines

VERBS: dict[str, tuple[Any, ...]] = {
    "Begin": (demo.demo, project.init, project.new, project.doctor),
    "Spend compute": (
        running.run,
        running.worker,
        running.stop,
        running.repeat,
        evaluating.evaluate,
        evaluating.final,
        tuning.tune,
    ),
    "Read what happened": (
        reading.ls,
        reading.show,
        reading.trial,
        believing.believe,
        reading.note,
        reading.export,
    ),
    "Can it be trusted?": (checking.check, looking.plot, looking.report),
    "Decide": (
        proposing.next_,
        proposing.extend,
        varying.variance,
        launching.launch,
        launching.history,
    ),
    "Keep the record": (importing.import_, keeping.backup, keeping.restore),
}

app = typer.Typer(
    name="tunewright",
    help="The Deep Learning Tuning Playbook, executable.",
    epilog="Exit codes: 0 fine, 1 check warns, 2 wrong use, 3 the round could not be finished or "
    "every trial failed, 130 interrupted.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for family, verbs in VERBS.items():
    for verb in verbs:
        app.command(rich_help_panel=family)(verb)
app.add_typer(probe, rich_help_panel="Spend compute")


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """The Deep Learning Tuning Playbook, executable."""
    if version:
        print(f"tunewright {tunewright.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; whatever goes wrong is told, never raised."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a sign gets a `?`
            stream.reconfigure(errors="replace")
    command = typer.main.get_command(app)
    try:
        code = command.main(
            args=None if arguments is None else list(arguments),
            prog_name="tunewright",
            standalone_mode=False,
        )
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        sidelines().print("interrupted")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # whoever reads our pipe, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except Exception as error:
        return tell(error, sidelines())
    return code if isinstance(code, int) else FINE
