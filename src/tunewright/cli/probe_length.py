"""The commands `probe train-steps`, `longer`, `critical-batch`: how long, how much at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli._errors import Misuse
from tunewright.cli._grouped import flatten_groups
from tunewright.cli._options import RoundName, need_project, open_store
from tunewright.cli.probe_stability import Carrying, Start, TrialOption, carry_out
from tunewright.execution.run import load
from tunewright.execution.workload import Workload
from tunewright.messages import words
from tunewright.present.figures.probe_plots import batch_scaling, steps_to_fit
from tunewright.present.terminal.screen import cell, say, screen, show_json, table
from tunewright.probes.critical_batch import CriticalBatch, critical_batch as ask_critical_batch
from tunewright.probes.longer import SHARE, TIMES, Longer, longer as ask_longer
from tunewright.probes.noise_scale import noise_scale_of_trial
from tunewright.probes.train_steps import TrainSteps, train_steps as ask_train_steps
from tunewright.progress.watcher import Watcher
from tunewright.remedies import use
from tunewright.store.trial import Trial

PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Draw it too: a .png, .svg or .pdf.", show_default=False
    ),
]


@flatten_groups
def train_steps(
    start: Start,
    carrying: Carrying,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="RATE", help="The middle of the sweep; by default as known.", show_default=False
        ),
    ] = None,
    max_train_steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="The first length to try; by default 20 epochs, or as known.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="What shows a perfect fit; by default a logged training error or the loss.",
            show_default=False,
        ),
    ] = None,
    at_most: Annotated[
        float | None,
        typer.Option(metavar="VALUE", help="A perfect fit is at most this.", show_default=False),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(metavar="VALUE", help="A perfect fit is at least this.", show_default=False),
    ] = None,
    factor: Annotated[
        float,
        typer.Option(metavar="TIMES", help="More steps, for gradient noise that is to come."),
    ] = 1.0,
    plot: PlotOption = None,
) -> None:
    """How many steps are enough? A sweep of constant learning rates to the first perfect fit.

    Augmentation, regularisation and schedule are switched off, by the off values that
    tunewright.toml declares. The same command again finds what was run, and resumes where it was
    interrupted.
    """

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> TrainSteps:
        return ask_train_steps(
            workload,
            learning_rate=learning_rate,
            max_train_steps=max_train_steps,
            metric=metric,
            at_most=at_most,
            at_least=at_least,
            factor=factor,
            fixed=start.values,
            trial=known,
            progress=watch,
        )

    terms = {"learning_rate": learning_rate, "max_train_steps": max_train_steps}
    answer = carry_out("train_steps", ask, start, carrying, **terms)
    carrying.answers(answer, lambda: _print_sweep(answer))
    if plot is not None:
        steps_to_fit(answer).save(plot)


@flatten_groups
def longer(
    round: RoundName,
    carrying: Carrying,
    trial: TrialOption = None,
    share: Annotated[
        float, typer.Option(metavar="SHARE", help="How much longer: 0.25 is a quarter.")
    ] = SHARE,
    times: Annotated[
        int, typer.Option(min=2, max=20, metavar="N", help="Seeds of each length.")
    ] = TIMES,
) -> None:
    """Would longer training help? The best trial resumes from its snapshot, the decay moved.

    For rounds whose curves cannot tell, since the learning rate falls to zero. The program must
    save and restore. The same command again finds what was run, and resumes where it was
    interrupted.
    """

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Longer:
        results = load(workload.store, round)
        return ask_longer(results, workload, trial=trial, share=share, times=times, progress=watch)

    start = Start(round, trial)
    terms = {"share": share, "times": times}
    answer = carry_out("longer", ask, start, carrying, **terms)
    carrying.answers(answer, lambda: None)


def _print_sweep(answer: TrainSteps) -> None:
    """A line for each learning rate."""
    if not answer.rates or answer.criterion is None:
        return
    metric = answer.criterion.facts["metric"]
    rows = table(
        "learning rate", "steps to fit", metric, "", right=("learning rate", "steps to fit", metric)
    )
    for rate in answer.rates:
        first = rate.learning_rate == answer.learning_rate and rate.steps is not None
        rows.add_row(
            cell(words.number(rate.learning_rate)),
            cell("" if rate.steps is None else words.number(rate.steps)),
            cell("" if rate.value is None else words.number(rate.value)),
            cell("first" if first else rate.outcome, "green" if first else ""),
        )
    screen().print(rows)


@flatten_groups
def critical_batch(
    round: RoundName,
    carrying: Carrying,
    sizes: Annotated[
        str, typer.Option(metavar="16,32,64", help="The batch sizes, two at least, better six.")
    ] = "",
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Trials at each size, in place of the round file's number.",
            show_default=False,
        ),
    ] = None,
    max_train_steps: Annotated[
        int | None,
        typer.Option(metavar="N", help="Steps of every trial, at every size.", show_default=False),
    ] = None,
    goal: Annotated[
        float | None,
        typer.Option(
            metavar="VALUE",
            help="To reach; by default what a fifth of the trials at the smallest size reach.",
            show_default=False,
        ),
    ] = None,
    noise_scale: Annotated[
        str | None,
        typer.Option(
            metavar="SMALL,BIG",
            help="Only look first: the gradient noise scale of ROUND's best trial, from norms "
            "logged for batches of these two sizes.",
            show_default=False,
        ),
    ] = None,
    small_norm: Annotated[
        str, typer.Option(metavar="METRIC", help="The logged gradient norm of the small batch.")
    ] = "gradient_norm_small",
    plot: PlotOption = None,
) -> None:
    """Up to which batch size does a larger one save steps? A study at each size, tuned anew.

    Ranges and fixed values come from rounds/ROUND.toml. The same command again finds what was run,
    and resumes where it was interrupted.
    """
    if noise_scale is not None:
        pair = _whole_numbers(noise_scale, "--noise-scale")
        _look_first(round, pair, small_norm, carrying.store, carrying.json)
        return
    if not sizes:
        raise Misuse("probe.no_batch_sizes", remedy=use("--sizes", "16,32,64,128,256"))
    space = need_project().round(round)
    batch_sizes = _whole_numbers(sizes, "--sizes")
    each = space.trials_per_study if trials is None else trials

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> CriticalBatch:
        return ask_critical_batch(
            workload,
            batch_sizes=batch_sizes,
            nuisance=space.nuisance,
            fixed=space.fixed,
            max_train_steps=max_train_steps,
            trials=each,
            goal=goal,
            seed=space.seed,
            progress=watch,
        )

    given = {"batch_sizes": batch_sizes, "trials": each, "max_train_steps": max_train_steps}
    answer = carry_out("critical_batch", ask, Start(), carrying, **given)
    carrying.answers(answer, lambda: _print_sizes(answer))
    if plot is not None:
        batch_scaling(answer).save(plot)


def _look_first(
    round: str, sizes: list[int], small_norm: str, store: str | None, json: bool
) -> None:
    """The gradient noise scale of a recorded round's best trial; nothing is trained."""
    if len(sizes) != 2:
        raise Misuse(
            "probe.noise_scale_not_two", count=len(sizes), remedy=use("--noise-scale", "32,256")
        )
    small, big = sizes
    with open_store(store) as opened:
        scale = noise_scale_of_trial(opened.results(round), small, big, small_norm)
    if json:
        show_json(scale.to_data())
    else:
        say(scale.headline, style="bold")
        say(f"{words.printable(round)}: {scale.message}")


def _whole_numbers(text: str, option: str) -> list[int]:
    """Numbers as they are written on the command line.

    >>> _whole_numbers("16, 32", "--sizes")
    [16, 32]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        remedy = use(option, "16,32,64,128,256")
        raise Misuse("option.not_numbers", option=option, text=text, remedy=remedy) from None


def _print_sizes(answer: CriticalBatch) -> None:
    """A line for each batch size."""
    if not answer.sizes:
        return
    heads = ("batch size", "steps", "best of half", "reached", "scaling")
    rows = table(*heads, right=heads[:3])
    for point in answer.sizes:
        low, high = (words.number(whole_steps(x)) for x in (point.low, point.high))
        rows.add_row(
            cell(point.batch_size),
            cell(words.number(whole_steps(point.steps))),
            cell("" if point.steps is None else f"{low} to {high}"),
            cell(f"{point.reached} of {point.trials}"),
            cell(point.scaling or "" if point.valid else "does not count", _tint(point.valid)),
        )
    screen().print(rows)


def whole_steps(steps: float | None) -> int | None:
    """Steps as a whole number."""
    return None if steps is None else int(steps + 0.5)


def _tint(valid: bool) -> str:
    return "" if valid else "yellow"
