"""Commands that set a project up: init, new, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright import project as projects
from tunewright.cli._errors import FINE, UNFINISHED, answer
from tunewright.cli._options import FILE, ROUNDS, JsonOption, StoreOption, chosen
from tunewright.design import presets
from tunewright.messages import Message, label, worded, words
from tunewright.present.envelope import plain
from tunewright.present.terminal.screen import cell, say, screen, table
from tunewright.project._set_up import FUNCTION as FUNCTION, TRIALS

_STYLES = {"ok": "green", "note": "", "bad": "red"}


def init(
    trains: Annotated[
        str,
        typer.Argument(
            metavar="COMMAND|FUNCTION",
            help='"python train.py --lr={learning_rate} --seed={run.seed}", or train.py:train; '
            "with --scan a script, train.py, or a command that has one.",
        ),
    ],
    minimize: Annotated[
        str | None, typer.Option(metavar="METRIC", help="The metric to make small.")
    ] = None,
    maximize: Annotated[
        str | None, typer.Option(metavar="METRIC", help="The metric to make large.")
    ] = None,
    store: StoreOption = None,
    scan: Annotated[
        bool,
        typer.Option(
            "--scan",
            help="Read the options of the script from its source, without running it: names, "
            "defaults, proposed roles and ranges.",
        ),
    ] = False,
    try_s: Annotated[
        float | None,
        typer.Option(
            "--try",
            metavar="SECONDS",
            help="With --scan: run the program for at most this long, and propose how its "
            "metrics are read from what it prints.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write tunewright.toml for a training command or function."""
    if scan or try_s is not None:
        found = projects.scan(
            trains, minimize=minimize, maximize=maximize, store=store, try_s=try_s
        )
        data = {**plain(found), "next": [{"argv": ["tunewright", "run", "first", "--dry-run"]}]}
        answer(json, data, lambda: _print_scan(found))
        return
    made = projects.init(trains, minimize=minimize, maximize=maximize, store=store)
    names, remarks = made.hyperparameters, made.remarks
    means = made.settings["means"]
    data = {
        "file": made.folder / FILE,
        "objective": made.settings["objective"],
        "store": made.store(),
        "hyperparameters": names,
        "means": means,
        "remarks": remarks,
    }

    def page() -> None:
        say(worded("wrote", path=FILE))
        say(worded("hyperparameters", names=", ".join(names) or worded("none_named")))
        if means:
            guessed = Message("project.means_guessed", {"means": means})
            say(worded("note", text=guessed), style="yellow")
        for remark in remarks:
            say(worded("note", text=remark), style="yellow")
        say(worded("next_question"))

    answer(json, data, page)


def _print_scan(found: projects.Scan) -> None:
    """The options by role, what is left to the user, and what a trial run printed."""
    hyperparameters = sum(one.passed for one in found.options)
    facts = {"style": found.style, "options": len(found.options)}
    say(str(Message("scan.found", {**facts, "hyperparameters": hyperparameters})))
    made = table("option", "default", "role", "why", "range")
    for one in found.options:
        if one.role == "none":
            continue
        why = Message("scan.role", {"part": one.part}).text
        default = "" if one.default is None else words.value(one.default)
        shown = "" if one.range is None else str(one.range)
        made.add_row(*(cell(text) for text in (one.name, default, one.role, why, shown)))
    screen().print(made)
    if found.tried is not None:
        for line in found.tried.output:
            say(f"  | {words.printable(line)}")
        say(str(found.tried.message))
        for own in found.tried.files:
            facts = {"pattern": own.pattern, "metrics": list(own.metrics), "points": own.points}
            say(f"  {words.printable(Message('scan.tried_file', facts).text)}")
    for note in found.notes:
        say(worded("note", text=words.printable(note.text)), style="yellow")
    if found.required:
        needs = Message("scan.needs", {"required": list(found.required)})
        say(worded("note", text=needs), style="yellow")
    for path in found.written:
        shown = path.name if path.name == FILE else str(Path(ROUNDS) / path.name)
        say(worded("wrote", path=words.printable(shown)))
    say(worded("next", command="tunewright run first --dry-run"))


def new(
    name: Annotated[str, typer.Argument(help="What the round is about, such as weight_decay.")],
    space: Annotated[
        str | None,
        typer.Option(
            metavar="OPTIMIZER",
            help="Begin with a ready search space, as wide as the trials allow, with its sources: "
            f"{', '.join(presets.OPTIMIZERS)}.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Trials per study.")] = TRIALS,
    lr_decay: Annotated[
        bool,
        typer.Option(
            "--lr-decay",
            help="A ready space with a warm-up and a decay, rather than a constant learning rate.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write rounds/NAME.toml to fill in, with the hyperparameters the program takes."""
    if space is not None:
        chosen(space, {known: known for known in presets.OPTIMIZERS}, "--space")
    made = projects.new(name, space=space, trials=trials, lr_decay=lr_decay)
    data = {**plain(made), "next": [{"argv": ["tunewright", "run", name, "--dry-run"]}]}
    answer(json, data, lambda: _print_new(made))


def _print_new(made: projects.NewRound) -> None:
    """Where the file is, and what is left to be written into it."""
    path = Path(ROUNDS) / made.path.name
    if made.hyperparameters and not made.without_role:
        say(worded("wrote_round_with_roles", path=path))
    else:
        say(worded("wrote_round", path=path))
        names = ", ".join(words.printable(name) for name in made.without_role)
        say(f"  {names or worded('each_hyperparameter')}")
    if made.space is not None:
        _print_ready(made.space)
    say(worded("next", command=f"tunewright run {words.shell_word(made.name)} --dry-run"))


def _print_ready(ready: presets.Space) -> None:
    """What a ready space searches and fixes, and what the program seems not to take."""
    for verb, found in (("searches", ready.nuisance), ("fixes", ready.fixed)):
        if found:
            names = ", ".join(words.printable(n) for n in found)
            say(worded(verb, optimizer=ready.optimizer, trials=ready.trials, names=names))
    for note in ready.notes:
        say(worded("note", text=words.printable(note.text)), style="yellow")
    if any(note.code == "preset.not_taken" for note in ready.notes):
        say(f"  {worded('other_name', table='[workload.means]', file=FILE)}")


def doctor(
    store: StoreOption = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Compare the store with the trial folders too.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Examine versions, extras, the project, the store, locks, disk space and devices."""
    examined = projects.doctor(store, deep=deep)
    bad = any(one.verdict == "bad" for one in examined)
    data = {"examined": examined}
    answer(json, data, lambda: _print_checkup(examined), UNFINISHED if bad else FINE)


def _subject(what: str) -> str:
    """What was examined in the reader's language; the name of an extra stays."""
    kind, _, name = what.partition(" ")
    return f"{label(kind)} {name}".rstrip()


def _print_checkup(examined: list[projects.Examined]) -> None:
    """Print one line for each thing that was examined."""
    made = table("", "what", "found", "remedy")
    for one in examined:
        shown = words.one_line(one.found.text)
        style = _STYLES[one.verdict]
        helps = one.remedy
        remedy = "" if helps is None else helps.command or helps.shell_text
        made.add_row(
            cell(words.phrase(f"verdict_{one.verdict}"), style),
            cell(_subject(one.what)),
            cell(shown),
            cell(remedy),
        )
    screen().print(made)
