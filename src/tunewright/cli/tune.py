"""The command `tune`: the whole loop on autopilot, every step shown with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tunewright.budgets.cost import CostEstimate
from tunewright.campaigns.campaign import Campaign, read_campaign, read_definition
from tunewright.campaigns.plan import next_step, shares_of
from tunewright.campaigns.probe import left_alone
from tunewright.campaigns.request import TuneTerms, define
from tunewright.campaigns.step import Step
from tunewright.campaigns.tune import Ending, carry_out
from tunewright.cli._errors import FINE, INTERRUPTED, UNFINISHED
from tunewright.cli._grouped import flatten_groups
from tunewright.cli._groups import Answering, Expecting, PackedTraining
from tunewright.cli._options import (
    ROUNDS,
    Project,
    SinkOption,
    from_here,
    need_project,
    plain_name,
    round_named,
)
from tunewright.cli.evaluate import find_measure
from tunewright.costs.tune import of_campaign, spent_on
from tunewright.design.round import Round
from tunewright.errors import Misuse
from tunewright.execution.executors.executor import Executor
from tunewright.messages import Message, label, padded, worded, words
from tunewright.present import envelope as facts
from tunewright.present.report import report, summary_lines
from tunewright.present.terminal.round_page import near
from tunewright.present.terminal.screen import say
from tunewright.present.terminal.spent_line import print_spent_of
from tunewright.progress.choose import on_screen
from tunewright.remedies import NewRound, Tune
from tunewright.store.store import Store

_SPACE = "tune"  # the round file that is taken for the space, unless another is named


@flatten_groups
def tune(
    expecting: Expecting,
    training: PackedTraining,
    answering: Answering,
    space: Annotated[
        str | None,
        typer.Argument(
            metavar="[ROUND]",
            callback=round_named,
            help="The round file whose ranges are the space; rounds/tune.toml by default.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Trials in all, repeats included.", show_default=False
        ),
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="H", help="Hours of training in all.", show_default=False),
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Confirm every step.")] = False,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What the campaign is called; as ROUND.", show_default=False
        ),
    ] = None,
    with_: Annotated[
        str | None,
        typer.Option(
            "--test",
            metavar="COMMAND|FUNCTION",
            help="What measures a checkpoint on the test set, once, at the end; as `test` in "
            "tunewright.toml.",
            show_default=False,
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="Where the report goes; NAME.html.", show_default=False
        ),
    ] = None,
    extend: Annotated[
        float | None,
        typer.Option(
            metavar="TIMES",
            help="Train the best so many times as long in the end.",
            show_default=False,
        ),
    ] = None,
    extend_to: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="STEPS",
            help="Train the best for so many steps in the end; the search takes a tenth, unless "
            "the round file fixes the length.",
            show_default=False,
        ),
    ] = None,
    early_stopping: Annotated[
        bool,
        typer.Option(
            "--early-stopping/--no-early-stopping",
            help="Stop trials that cannot win, once 60 have finished.",
        ),
    ] = True,
    sink: SinkOption = None,
) -> None:
    """Tune on autopilot: explore, exploit, repeat, launch, within a budget. The same call resumes.

    Every step is a round of the store with its reason. Ctrl-C stops it at any time, and nothing
    that has ended runs again.
    """
    project = need_project()
    store = from_here(answering.store)
    expecting.check()
    space_round = _space_file(project, space)
    called = name or space_round.name
    terms = TuneTerms(extend=extend, extend_to=extend_to)
    executor = training.executor
    if expecting.dry_run:
        with project.entered():
            workload = project.workload(store, executor)
            definition = define(workload, space_round, trials, hours, name=called, terms=terms)
            with Store.open(workload.store) as opened:
                known = read_definition(opened, called) or definition
                campaign = read_campaign(opened, known)
            estimate = of_campaign(campaign, workload, expecting.measure, on_screen())
        cost = expecting.with_price(estimate)
        answering.show(_plan_facts(campaign, cost), lambda: _show_plan(campaign, cost))
        return
    ending = run_campaign(
        project,
        space_round,
        executor,
        trials=trials,
        hours=hours,
        name=called,
        store=store,
        ask=ask,
        with_=with_,
        terms=terms,
        early_stopping=early_stopping,
        sinks=sink,
    )
    page_written = write_report(ending, project.folder / (page or f"{called}.html"))
    price = expecting.per_hour

    def page_of() -> None:
        conclude(ending, page_written)
        print_spent_of(ending.campaign, price)

    answering.show(ending_facts(ending, page_written), page_of, exit_code(ending))


def run_campaign(
    project: Project,
    space: Round,
    executor: Executor,
    *,
    trials: int | None,
    hours: float | None = None,
    name: str,
    store: str | None = None,
    ask: bool = False,
    with_: str | None = None,
    terms: TuneTerms | None = None,
    early_stopping: bool = True,
    sinks: Sequence[str] | None = None,
) -> Ending:
    """Run a campaign of a project with its steps shown."""
    with project.entered():
        workload = project.workload(store, executor, sinks=sinks)
        tests = with_ is not None or project.settings["test"] is not None
        test = find_measure(project, with_, "test") if tests else None
        return carry_out(
            define(
                workload,
                space,
                trials,
                hours,
                name=name,
                terms=terms,
                tests=tests,
            ),
            workload,
            test,
            confirm=confirmed if ask else None,
            tell=lambda step, campaign: None if ask else _show_step(step, campaign),
            watch=on_screen(),
            early_stopping=early_stopping,
        )


def write_report(ending: Ending, page: Path) -> Path | None:
    """Write the report of a campaign; where it is, or None if the campaign has run nothing."""
    if not ending.campaign.searched:
        return None
    report(ending.campaign, page, reader="shell")
    return page


def ending_facts(ending: Ending, page: Path | None) -> dict[str, Any]:
    """How a call of `tune` ended, as data."""
    return {
        "campaign": facts.of_campaign(ending.campaign),
        "finished": not ending.why,
        "why": None if ending.summary is None else ending.summary.why,
        "step": facts.of_step(ending.step),
        "spending": spent_on(ending.campaign) if ending.campaign.rounds else None,
        "report": page,
    }


def _plan_facts(campaign: Campaign, cost: CostEstimate) -> dict[str, Any]:
    """How the trials would be shared out, and what comes next, as data."""
    return {
        "campaign": facts.of_campaign(campaign),
        "shares": shares_of(campaign),
        "step": facts.of_step(next_step(campaign)),
        "cost": cost,
    }


def _space_file(project: Project, named: str | None) -> Round:
    """The round whose ranges are the space: the one named, rounds/tune.toml, or the only one."""
    if named is not None:
        return project.round(named)
    if project.round_file(_SPACE).is_file():
        return project.round(_SPACE)
    known = sorted(path.stem for path in (project.folder / ROUNDS).glob("*.toml"))
    if len(known) == 1:
        return project.round(plain_name(known[0]))
    raise Misuse(
        "tune.no_space_file",
        rounds=ROUNDS,
        space=_SPACE,
        known=known,
        cause=Message("project.rounds_are", {"known": known}) if known else None,
        remedy=Tune(known[0]) if known else NewRound(_SPACE),
    )


def _show_step(step: Step, campaign: Campaign) -> None:
    """Say what comes, and why, before it is done."""
    number = len(campaign.log) + 1
    if number == 1:
        for line in left_alone(campaign):
            say(worded("note", text=words.printable(line.text)))
    facts = {"step": number, "kind": label(step.kind)}
    say()
    if step.trials:
        cost = worded("step_cost", trials=step.trials, left=campaign.left, **facts)
    else:
        cost = worded("step", **facts)
    say(cost, style="bold cyan")
    say(f"  {words.printable(step.reason.text)}")


def _show_plan(campaign: Campaign, cost: CostEstimate) -> None:
    """How the trials are shared out, and what comes next."""
    shares = shares_of(campaign)
    spent = {"name": campaign.name, "spent": campaign.spent, "total": campaign.total}
    say(worded("plan_used", **spent))
    say(f"  {worded('plan_explore', most=shares.explore, first=shares.first)}")
    kept = {"kept": shares.kept_back, "finalists": shares.finalists, "times": shares.times}
    say(f"  {worded('plan_kept', luck=shares.best_runs, launch=shares.launch, **kept)}")
    exploit = max(0, campaign.total - shares.explore - shares.kept_back)
    say(f"  {worded('plan_exploit', least=exploit)}")
    if shares.extend:
        say(f"  {worded('plan_extend', extend=shares.extend)}")
    say(f"  {padded('cost', 11)}{cost.message.text}")
    for line in left_alone(campaign):
        say(worded("note", text=words.printable(line.text)))
    step = next_step(campaign)
    why = words.printable(step.reason.text)
    say(worded("plan_next", kind=label(step.kind), trials=step.trials, why=why))


def confirmed(step: Step, campaign: Campaign) -> bool:
    """Show a step and ask."""
    _show_step(step, campaign)
    return typer.confirm(f"  {worded('go_on')}", default=True)


_STYLES = {"campaign.verdict.launch": "bold green", "campaign.verdict.first": "bold green"}


def conclude(ending: Ending, page: Path | None) -> None:
    """What came of it, and where the report is."""
    campaign = ending.campaign
    say()
    if ending.why is not None:
        why = words.printable(ending.why.text)
        say(worded("campaign_says", name=campaign.name, says=why), style="yellow")
    else:
        why = words.printable(ending.step.reason.text)
        say(worded("campaign_says", name=campaign.name, says=why), style="bold")
    say(words.printable(campaign.headline), style=_STYLES.get(campaign.verdict.code, ""))
    for sentence in summary_lines(campaign):
        say(f"  {words.printable(sentence)}")
    if page is not None:
        say(worded("report_at", path=near(str(page))))


def exit_code(ending: Ending) -> int:
    """0 unless somebody stopped it, or nothing could be trained."""
    if ending.summary is not None and ending.summary.why in (
        "interrupted",
        "terminated",
        "asked to stop",
    ):
        return INTERRUPTED
    stuck = ending.why is not None and ending.why.code == "campaign.stuck"
    refused = ending.step.reason.code == "campaign.identical_repeats"
    return UNFINISHED if stuck or refused or ending.campaign.winner is None else FINE
