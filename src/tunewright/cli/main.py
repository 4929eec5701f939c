"""The command `tunewright`: one verb is parsed and run, and every error ends here."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import tunewright
from tunewright.cli._errors import FINE, INTERRUPTED, explain, tell
from tunewright.cli._verbs import Verbs, translate
from tunewright.errors import Misuse
from tunewright.messages import language, language_named, read_by, read_in, worded
from tunewright.present import envelope
from tunewright.present.terminal.screen import sidelines

JSON = "--json"
LANGUAGE = "--lang"
_GROUPS = ("probe", "budget", "agents", "judge")  # verbs that have subcommands

app = typer.Typer(
    name="tunewright",
    cls=Verbs,
    help="The Deep Learning Tuning Playbook, executable.",
    epilog="Exit codes: 0 fine, 1 check warns or again differs, 2 wrong use, 3 the round could not "
    "be finished or every trial failed, 130 interrupted.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    lang: Annotated[
        str | None,
        typer.Option(
            LANGUAGE, metavar="en|zh", help="Language of everything but --json.", show_default=False
        ),
    ] = None,  # read by `main`, before anything is printed
) -> None:
    """The Deep Learning Tuning Playbook, executable."""
    if version:
        print(f"tunewright {tunewright.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; whatever goes wrong is reported, never raised."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a sign gets a `?`
            stream.reconfigure(errors="replace")
    given, wanted = _without_language(sys.argv[1:] if arguments is None else arguments)
    json = _wants_json(given)
    spoken = "en" if json else language_named(wanted or "") or language()
    answering = envelope.answering(command_name(given)) if json else contextlib.nullcontext()
    try:
        with answering, read_by("shell"), read_in(spoken):
            try:
                if wanted is not None and language_named(wanted) is None:
                    raise Misuse("cli.unknown_language", asked=wanted)
                code = _run(given)
            except (KeyboardInterrupt, typer.Abort) as stopped:
                sidelines().print(worded("interrupted"))
                if json:
                    envelope.show_error(command_name(given), stopped, INTERRUPTED)
                return INTERRUPTED
            except (BrokenPipeError, SystemExit):
                raise
            except Exception as error:
                if not json:
                    return tell(error, sidelines())
                code = explain(error).exit_code
                envelope.show_error(command_name(given), error, code)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # whoever reads our pipe, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    return code


def _without_language(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The arguments without `--lang`, wherever it stands before `--`, and the language it names.

    >>> _without_language(["check", "r", "--lang", "zh"]), _without_language(["--lang=en", "ls"])
    ((['check', 'r'], 'zh'), (['ls'], 'en'))
    """
    left: list[str] = []
    wanted = None
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            return [*left, word, *rest], wanted
        if word == LANGUAGE:
            wanted = next(rest, "")
        elif word.startswith(f"{LANGUAGE}="):
            wanted = word.partition("=")[2]
        else:
            left.append(word)
    return left, wanted


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether an envelope is asked for; what follows `--` is no option, and help is for readers.

    >>> _wants_json(["note", "depth", "--", "--json"]), _wants_json(["ls", "--json"])
    (False, True)
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return JSON in options and not {"-h", "--help"} & set(options)


def command_name(arguments: Sequence[str]) -> str:
    """The command that the arguments name; empty for none.

    >>> [command_name(line.split()) for line in ("probe batch-size --json", "--json ls", "--json")]
    ['probe batch-size', 'ls', '']
    """
    words = [word for word in arguments if not word.startswith("-")]
    return " ".join(words[: 2 if words and words[0] in _GROUPS else 1])


def _run(arguments: list[str]) -> int:
    command = translate(typer.main.get_command(app))
    try:
        code = command.main(args=arguments, prog_name="tunewright", standalone_mode=False)
    except Exception as error:
        # an option without its value is refused before typer knows the command
        if hasattr(error, "format_message") and getattr(error, "ctx", command) is None:
            verb = (
                command_name(arguments)
                if command_name(arguments).split(" ")[0] in command.commands
                else ""
            )
            error.ctx = typer.Context(command, info_name=f"tunewright {verb}".strip())  # type: ignore[attr-defined]
        raise
    return code if isinstance(code, int) else FINE
