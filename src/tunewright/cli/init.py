"""Commands that set a project up: init, new, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright import project as projects
from tunewright.cli._errors import FINE, UNFINISHED, answer
from tunewright.cli._options import FILE, ROUNDS, JsonOption, StoreOption, choose
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
        scan_result = projects.scan(
            trains, minimize=minimize, maximize=maximize, store=store, try_s=try_s
        )
        data = {
            **plain(scan_result),
            "next": [{"argv": ["tunewright", "run", "first", "--dry-run"]}],
        }
        answer(json, data, lambda: _print_scan(scan_result))
        return
    project = projects.init(trains, minimize=minimize, maximize=maximize, store=store)
    names, remarks = project.hyperparameters, project.remarks
    means = project.settings["means"]
    data = {
        "file": project.folder / FILE,
        "objective": project.settings["objective"],
        "store": project.store(),
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


def _print_scan(scan_result: projects.Scan) -> None:
    """The options by role, what is left to the user, and what a trial run printed."""
    hyperparameters = sum(option.passed for option in scan_result.options)
    facts = {"style": scan_result.style, "options": len(scan_result.options)}
    say(str(Message("scan.found", {**facts, "hyperparameters": hyperparameters})))
    rows = table("option", "default", "role", "why", "range")
    for option in scan_result.options:
        if option.role == "none":
            continue
        why = Message("scan.role", {"part": option.part}).text
        default = "" if option.default is None else words.value(option.default)
        searched = "" if option.range is None else str(option.range)
        rows.add_row(*(cell(text) for text in (option.name, default, option.role, why, searched)))
    screen().print(rows)
    if scan_result.tried is not None:
        for line in scan_result.tried.output:
            say(f"  | {words.printable(line)}")
        say(str(scan_result.tried.message))
        for file in scan_result.tried.files:
            facts = {"pattern": file.pattern, "metrics": list(file.metrics), "points": file.points}
            say(f"  {words.printable(Message('scan.tried_file', facts).text)}")
    for note in scan_result.notes:
        say(worded("note", text=words.printable(note.text)), style="yellow")
    if scan_result.required:
        needs = Message("scan.needs", {"required": list(scan_result.required)})
        say(worded("note", text=needs), style="yellow")
    for path in scan_result.written:
        text = path.name if path.name == FILE else str(Path(ROUNDS) / path.name)
        say(worded("wrote", path=words.printable(text)))
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
        choose(space, {known: known for known in presets.OPTIMIZERS}, "--space")
    new_round = projects.new(name, space=space, trials=trials, lr_decay=lr_decay)
    data = {**plain(new_round), "next": [{"argv": ["tunewright", "run", name, "--dry-run"]}]}
    answer(json, data, lambda: _print_new(new_round))


def _print_new(new_round: projects.NewRound) -> None:
    """Where the file is, and what is left to be written into it."""
    path = Path(ROUNDS) / new_round.path.name
    if new_round.hyperparameters and not new_round.without_role:
        say(worded("wrote_round_with_roles", path=path))
    else:
        say(worded("wrote_round", path=path))
        names = ", ".join(words.printable(name) for name in new_round.without_role)
        say(f"  {names or worded('each_hyperparameter')}")
    if new_round.space is not None:
        _print_ready(new_round.space)
    say(worded("next", command=f"tunewright run {words.shell_word(new_round.name)} --dry-run"))


def _print_ready(ready: presets.Space) -> None:
    """What a ready space searches and fixes, and what the program seems not to take."""
    for verb, hyperparameters in (("searches", ready.nuisance), ("fixes", ready.fixed)):
        if hyperparameters:
            names = ", ".join(words.printable(n) for n in hyperparameters)
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
    bad = any(examination.verdict == "bad" for examination in examined)
    data = {"examined": examined}
    answer(json, data, lambda: _print_checkup(examined), UNFINISHED if bad else FINE)


def _subject(what: str) -> str:
    """What was examined in the reader's language; the name of an extra stays."""
    kind, _, name = what.partition(" ")
    return f"{label(kind)} {name}".rstrip()


def _print_checkup(examined: list[projects.Examined]) -> None:
    """Print one line for each thing that was examined."""
    rows = table("", "what", "found", "remedy")
    for examination in examined:
        finding = words.one_line(examination.found.text)
        style = _STYLES[examination.verdict]
        helps = examination.remedy
        remedy = "" if helps is None else helps.command or helps.shell_text
        rows.add_row(
            cell(words.phrase(f"verdict_{examination.verdict}"), style),
            cell(_subject(examination.what)),
            cell(finding),
            cell(remedy),
        )
    screen().print(rows)
