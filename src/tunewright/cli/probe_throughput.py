"""The commands `probe batch-size` and `probe input`: how fast a step is, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from tunewright.cli._errors import Misuse
from tunewright.cli._options import (
    DEFAULT_STORE,
    JsonOption,
    Project,
    StoreOption,
    find_project,
    need_project,
)
from tunewright.design.ranges import Value
from tunewright.design.workload_file import read_value
from tunewright.execution.workload import Workload
from tunewright.messages import Message, label, padded, worded, words
from tunewright.present.figures.probe_plots import throughput
from tunewright.present.terminal.proposal_page import print_answer
from tunewright.present.terminal.screen import cell, say, screen, show_json, table
from tunewright.probes.throughput.batch_size import batch_size as probe_batch_size
from tunewright.probes.throughput.input_bound import InputBound, input_bound as probe_input_bound
from tunewright.probes.throughput.size_answer import BatchSizes, Cost
from tunewright.probes.throughput.size_sweep import BatchSizeTerms, gain
from tunewright.probes.throughput.timing import TimingRule
from tunewright.progress.choose import on_screen
from tunewright.project._project import find_function
from tunewright.remedies import use

_QUICK = TimingRule(window_s=0.1, seconds=0.6)

FactoryArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE.py:MAKE_STEP]",
        help="make_step(batch_size) returns a function that does one training step; by default the "
        "project's own training is probed.",
        show_default=False,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Another hyperparameter's value.", show_default=False
    ),
]
ProcessesOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Processes that train together (DDP).")
]


def batch_size(
    factory: FactoryArgument = None,
    set_: SetOption = None,
    smallest: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Begin here.", show_default=False)
    ] = None,
    largest: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Go no further.", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Measure all sizes that fit, not only up to the knee.")
    ] = False,
    longest: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Sizes must fit with this value too, such as sequence_length=4096.",
            show_default=False,
        ),
    ] = None,
    processes: ProcessesOption = 1,
    memory_gb: Annotated[
        float | None,
        typer.Option(metavar="GB", help="The most memory to take.", show_default=False),
    ] = None,
    price: Annotated[
        float, typer.Option(metavar="P", help="Of one device for one hour, in any currency.")
    ] = 1.0,
    upfront: Annotated[float, typer.Option(metavar="P", help="Paid once, before training.")] = 0.0,
    budget: Annotated[
        float | None, typer.Option(metavar="P", help="The most to spend.", show_default=False)
    ] = None,
    steps: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE=STEPS",
            help="Steps to the goal at a batch size, where known: 128=50000.",
            show_default=False,
        ),
    ] = None,
    critical: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            help="The critical batch size: beyond it steps are no longer saved.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Time each size for about a second, not five.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure anew.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw it: a .png, .svg or .pdf.", show_default=False),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Find the batch sizes that fit, how fast each is, and the one to use."""
    what, kept_in = _what(factory, store)
    answer = probe_batch_size(
        what,
        fixed=_settings(set_),
        terms=BatchSizeTerms(
            smallest=smallest,
            largest=largest,
            everything=everything,
            longest=_settings(longest, "--longest"),
            processes=processes,
            memory_gb=memory_gb,
            rule=_QUICK if quick else TimingRule(),
        ),
        cost=Cost(price, upfront, _steps(steps), critical, budget),
        store=kept_in,
        again=again,
        progress=on_screen(),
    )
    if plot is not None:
        throughput(answer).save(plot)
    if json:
        show_json(answer.to_data())
        return
    _print_sizes(answer)
    print_answer(answer)
    if plot is not None:
        say()
        say(worded("figure_at", path=words.printable(str(plot))))


def input(
    factory: FactoryArgument = None,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="The batch size to watch it at.", show_default=False),
    ] = None,
    set_: SetOption = None,
    steps: Annotated[int, typer.Option(min=50, metavar="N", help="Steps to watch.")] = 200,
    processes: ProcessesOption = 1,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Write a profiler's trace of ten steps, which Perfetto opens.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Find out whether training waits for its data, and which stage is slow."""
    what, kept_in = _what(factory, store)
    answer = probe_input_bound(
        what,
        batch_size=batch_size,
        fixed=_settings(set_),
        steps=steps,
        processes=processes,
        trace=trace,
        store=kept_in,
        progress=on_screen(),
    )
    if json:
        show_json(answer.to_data())
        return
    _print_input(answer)
    print_answer(answer)


# ---- what is probed


def _what(factory: str | None, store: str | None) -> tuple[Workload | Callable[..., Any], str]:
    """The function named, or the project's workload; and where to keep the answer."""
    project: Project | None = find_project() if factory is not None else need_project()
    if factory is None:
        assert project is not None
        return project.workload(store), project.store(store)
    folder = Path.cwd()
    kept_in = store or (project.store() if project is not None else DEFAULT_STORE)
    return find_function(factory, folder), kept_in


def _settings(texts: list[str] | None, option: str = "--set") -> dict[str, Value]:
    """`--set width=64 --set optimizer=adam` as values.

    >>> _settings(["width=64", "rate=1e-3", "optimizer=adam", "augment=false"])
    {'width': 64, 'rate': 0.001, 'optimizer': 'adam', 'augment': False}
    """
    by_name: dict[str, Value] = {}
    for text in texts or ():
        name, divider, written = text.partition("=")
        if not divider or not name.strip():
            raise Misuse(
                "option.not_name_and_value",
                option=option,
                text=text,
                remedy=use(option, "width=64"),
            )
        by_name[name.strip()] = read_value(written.strip())
    return by_name


def _steps(texts: list[str] | None) -> dict[int, float]:
    """`--steps 128=50000` as numbers."""
    by_size = {}
    for text in texts or ():
        size, _, count = text.partition("=")
        try:
            by_size[int(size)] = float(count)
        except ValueError:
            raise Misuse(
                "option.bad_steps", text=text, remedy=use("--steps", "128=50000")
            ) from None
    return by_size


# ---- what is shown


def _print_sizes(answer: BatchSizes) -> None:
    numbers = ("batch size", "examples/s", "ms per step", "gain", "memory MB", "waiting", "cached")
    rows = table(
        *("batch size", "examples/s", "95 % interval", "ms per step", "gain", "memory MB"),
        *("waiting", "cached", "hours", "price", ""),
        right=(*numbers, "hours", "price"),
    )
    prices = {each.batch_size: each for each in answer.costs}
    before = None
    for row in answer.rows:
        rate, cached, priced = row.rate, row.cached_rate, prices.get(row.batch_size)
        rows.add_row(
            cell(f"{row.batch_size:,}"),
            cell(words.rate(rate.examples_per_s)),
            cell(worded("between", low=words.rate(rate.low), high=words.rate(rate.high))),
            cell(f"{row.timing.time_per_step_s * 1e3:.4g}"),
            cell("" if before is None else f"{gain(before, rate)[0]:.2f}"),
            cell("-" if row.reserved_mb is None else f"{row.reserved_mb:,.0f}"),
            cell("-" if row.waiting_share is None else f"{row.waiting_share:.0%}"),
            cell("-" if cached is None else words.rate(cached.examples_per_s)),
            cell("" if priced is None else words.number(priced.hours)),
            cell("" if priced is None else words.number(priced.price)),
            cell(_mark(answer, row.batch_size)),
        )
        before = rate
    screen().print(rows)
    if answer.from_record:
        say(Message("probe.batch_size.from_record").text)
    if answer.bottleneck.message is not None:
        say(words.printable(worded("bottleneck", what=answer.bottleneck.message)))
    if answer.efficiency is not None:
        shares = {"processes": answer.processes, "efficiency": answer.efficiency}
        say(Message("probe.batch_size.efficiency", shares).text)
    largest = answer.largest
    facts = {
        "batch_size": largest.batch_size,
        "how": largest.how,
        "longest": largest.longest,
        "reserved_mb": largest.reserved_mb,
        "limit_mb": largest.limit_mb,
    }
    say(words.printable(Message("probe.batch_size.largest", facts).text))
    say(worded("hours_and_prices", assumption=answer.assumption))
    for note in answer.notes:
        say(words.printable(note.text))


def _mark(answer: BatchSizes, size: int) -> str:
    marks = [
        label(name)
        for name, marked in (
            ("knee", answer.knee),
            ("least time", answer.least_time),
            ("least price", answer.least_price),
        )
        if size == marked
    ]
    return ", ".join(marks)


def _print_input(answer: InputBound) -> None:
    facts = [("time per step", f"{answer.time_per_step_s * 1e3:.4g} ms")]
    if answer.waiting_share is not None and answer.slowdown is not None:
        facts.append(
            ("waiting for batches", worded("of_the_time", share=f"{answer.waiting_share:.1%}"))
        )
        facts.append(("on a cached batch", worded("times_as_fast", times=f"{answer.slowdown:.3g}")))
    facts.append(
        ("waits of the host", worded("per_step", count=f"{answer.host_waits.per_step:.3g}"))
    )
    facts += [("", f"{count:.3g} at {place}") for place, count in answer.host_waits.places]
    say(worded("steps_of_size", steps=answer.steps, size=answer.batch_size))
    for name, text in facts:
        say(f"  {padded(name, 20)}{words.printable(text)}")
    if answer.ladder:
        rungs = table("workers", "batches/s", right=("workers", "batches/s"))
        for rung in answer.ladder:
            rungs.add_row(cell(rung.workers), cell(f"{rung.batches_per_s:.4g}"))
        say()
        screen().print(rungs)
    if answer.stages:
        stages = table("stage", "ms per batch", right=("ms per batch",))
        for stage in answer.stages:
            stages.add_row(cell(stage.name), cell(f"{stage.seconds_per_batch * 1e3:.4g}"))
        say()
        screen().print(stages)
    if answer.depths:
        depths = table("prefetch_factor", "waiting", right=("prefetch_factor", "waiting"))
        for depth in answer.depths:
            depths.add_row(cell(depth.prefetch_factor), cell(f"{depth.waiting_share:.1%}"))
        say()
        screen().print(depths)
    for note in (*answer.notes, *answer.advice):
        say(words.printable(note.text))
    if answer.trace:
        say(worded("trace_at", path=words.printable(answer.trace)))
