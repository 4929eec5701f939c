"""Commands on recorded trials: evaluate (offline), final (the test set, once), again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.actions import Advise, RunTrials
from tunewright.cli import _options as where
from tunewright.cli._errors import FINE, UNFINISHED, WARNED, answer
from tunewright.cli._options import (
    ROUNDS,
    JsonOption,
    Project,
    RoundName,
    StoreOption,
    WorkersOption,
    anchor,
    from_here,
    need_project,
)
from tunewright.cli.init import FUNCTION
from tunewright.design.round_file import write_round
from tunewright.errors import Misuse
from tunewright.execution.again import Again, again as train_again
from tunewright.execution.command import command
from tunewright.execution.evaluate import Evaluated, Measure, evaluate as evaluate_trials
from tunewright.execution.run import load
from tunewright.launches.final import final_test, fold
from tunewright.messages import Message, worded, words
from tunewright.present.terminal.screen import say, show_json, sidelines
from tunewright.present.terminal.trial_page import print_final, print_measured
from tunewright.project._project import find_function
from tunewright.store.results import Results
from tunewright.store.trial import Trial

WithOption = Annotated[
    str | None,
    typer.Option(
        "--with",
        metavar="COMMAND|FUNCTION",
        help="What measures a checkpoint, in place of the one tunewright.toml names: "
        'full.py:full, or "python full.py --from={checkpoint} --step={step}".',
        show_default=False,
    ),
]
TrialOption = Annotated[
    int | None,
    typer.Option(
        "--trial", metavar="N", help="This trial; the best one by default.", show_default=False
    ),
]
_MEASURES = {"test": "test", "evaluate": "full"}  # a function's name, by the key of the project


def evaluate(
    round: RoundName,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="The K best trials.")] = 5,
    number: TrialOption = None,
    with_: WithOption = None,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the selected checkpoints of the best trials properly, and record it as metrics.

    What training measures on its way is a proxy. Each trial is measured at the checkpoint of its
    best step, or the best one it kept.
    """
    project = need_project()
    store = None if store is None else anchor(store, Path.cwd())
    results = load(project.store(store), round, earlier=False)
    trials = results.top(top) if number is None else (results.trial(number),)
    if not trials:
        results.best()  # raises why there is none
    with project.entered():
        measured = evaluate_trials(
            trials,
            project.workload(store, where.executor(on, workers)),
            find_measure(project, with_, "evaluate"),
            on_measured=_progress,
        )
    if json:
        show_json([evaluated.to_data() for evaluated in measured])
    else:
        print_measured(results, measured)
    raise typer.Exit(FINE if any(evaluated.metrics for evaluated in measured) else UNFINISHED)


def final(
    round: RoundName,
    number: TrialOption = None,
    with_: WithOption = None,
    folded: Annotated[
        str | None,
        typer.Option(
            "--fold",
            metavar="NAME",
            help="Write the round that trains it on validation data too, by NAME = true.",
            show_default=False,
        ),
    ] = None,
    no_later_launch: Annotated[
        bool, typer.Option("--no-later-launch", help="Nothing will be compared after this.")
    ] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Look although another trial was looked at before.")
    ] = False,
    on: where.OnOption = "inline",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Look at the test set, for the one trial that was chosen; every look is counted.

    With --fold, write the last round instead: the same configuration on training and validation
    data together, for when no later launch is planned.
    """
    project = need_project()
    store = None if store is None else anchor(store, Path.cwd())
    results = load(project.store(store), round, earlier=False)
    trial = results.best() if number is None else results.trial(number)
    if folded is not None:
        last_round = fold(results, trial, {folded: True}, no_later_launch=no_later_launch)
        path = project.round_file(last_round.name)
        if path.exists():
            raise Misuse("file.exists", path=path, remedy=RunTrials(last_round.name))
        path.parent.mkdir(exist_ok=True)
        write_round(last_round, path)
        say(worded("wrote_about", path=Path(ROUNDS) / path.name, what=last_round.asks))
        say(worded("next", command=f"tunewright run {words.shell_word(last_round.name)}"))
        return
    with project.entered():
        verdict = final_test(
            trial,
            project.workload(store, where.executor(on, None)),
            find_measure(project, with_, "test"),
            anyway=anyway,
            on_measured=_progress,
        )
    if json:
        show_json(verdict.to_data())
    else:
        print_final(verdict)


def _progress(evaluated: Evaluated) -> None:
    outcome = (
        words.configuration({name: float(value) for name, value in evaluated.metrics.items()})
        if evaluated.reason is None
        else str(evaluated.reason)
    )
    line = worded("trial_said", trial=evaluated.trial.number, said=words.printable(outcome))
    sidelines().print(line, markup=False)


def find_measure(project: Project, given: str | None, key: str) -> Measure:
    """What measures: the option, else the entry of tunewright.toml."""
    named = given or (project.settings["test"] if key == "test" else project.settings["evaluate"])
    if named is None:
        raise Misuse(
            "evaluate.no_measure",
            key=key,
            cause=Message("evaluate.measure_is"),
            remedy=Advise("name_measure", {"key": key, "example": f"train.py:{_MEASURES[key]}"}),
        )
    if FUNCTION.fullmatch(named):
        return find_function(named, project.folder)
    spelled = project.settings["booleans"]  # one for all; those by name are of the training command
    return command(named, booleans=spelled) if isinstance(spelled, str) else command(named)


def again(
    round: RoundName,
    number: Annotated[int, typer.Argument(metavar="N", help="The trial's number in its round.")],
    repeat: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="Its repeat K instead, from 1.", show_default=False),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Train although the program's files have changed.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where it trains: a new folder; by default one below again/.",
            show_default=False,
        ),
    ] = None,
    on: where.OnOption = "local",
    ray_address: where.AddressOption = None,
    resources: where.ResourcesOption = None,
    slurm: where.SlurmOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Train a trial anew under its own seed and settings, and compare it with the recorded one.

    It is not stored in the round: with the same seed it is no independent repeat. `repeat` trains
    under new seeds. Exits with 1 if the values differ, with 3 if it ends in another way.
    """
    project = need_project()
    store = from_here(store)
    results = load(project.store(store), round)
    trial = _trial_or_repeat(results, number, repeat)
    executor = where.executor(on, 1 if on == "local" else None, ray_address, resources, slurm)
    place = None if folder is None else folder.absolute()
    with project.entered():
        workload = project.workload(store, executor, results.round.name)
        repetition = train_again(trial, workload, anyway=anyway, folder=place)
    _remark(repetition)
    differs = WARNED if repetition.status == repetition.trial.status else UNFINISHED
    code = FINE if repetition.equal else differs
    answer(json, repetition, lambda: _print_again(repetition), code)


def _trial_or_repeat(results: Results, number: int, repeat: int | None) -> Trial:
    """The trial of this number, or one of its repeats."""
    trial = results.trial(number)
    if repeat is None:
        return trial
    repeats = results.repeats(trial)
    if repeat > len(repeats):
        raise Misuse(
            "again.no_such_repeat",
            round=results.round.name,
            trial=number,
            there=len(repeats),
            repeat=repeat,
        )
    return repeats[repeat - 1]


def _remark(repetition: Again) -> None:
    """What may explain a difference, beside the answer."""
    if repetition.changed:
        sidelines().print(Message("again.changed", {"files": list(repetition.changed)}).text)
    elif not repetition.code_known:
        sidelines().print(Message("again.code_unknown").text)
    if repetition.trial.attempts > 1:
        sidelines().print(Message("again.resumed", {"attempts": repetition.trial.attempts}).text)


def _print_again(repetition: Again) -> None:
    """What came of it, and where its files are."""
    say(repetition.headline, style="bold")
    say(worded("again_took", seconds=repetition.seconds, folder=repetition.folder))
    if repetition.status == "failed" and repetition.detail:
        say(words.printable_lines(repetition.detail))
