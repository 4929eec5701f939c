"""The verb `tune`: the whole loop within a budget, each step a round with its reason.

    campaign = tw.tune(workload, {"learning_rate": tw.log(1e-5, 1.0), "dropout": tw.linear(0, 0.6),
                                  "max_train_steps": 5000}, trials=200)
    campaign.best

It can be stopped at any time; the same call resumes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tunewright.campaigns.campaign import (
    REPAIR,
    Campaign,
    Definition,
    keep_definition,
    read_campaign,
    read_definition,
)
from tunewright.campaigns.plan import next_step, verdict_of
from tunewright.campaigns.probe import ask_probe, repair
from tunewright.campaigns.request import TuneTerms, define, same_space
from tunewright.campaigns.step import Step
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.evaluate import Measure, evaluate
from tunewright.execution.interrupts import Interrupt
from tunewright.execution.repeat import run_repeats
from tunewright.execution.run import SECONDS_PER_HOUR, report_end, run_round, watcher_of
from tunewright.execution.workload import Purpose, Workload
from tunewright.launches.lineage import first_baseline, keep_launch
from tunewright.messages import Message
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import CampaignStep, Silent, Summary, Watcher
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.halton import Halton
from tunewright.search.listed import Listed
from tunewright.search.search import Search
from tunewright.store.store import Store

Confirm = Callable[[Step, Campaign], bool]


@dataclass(frozen=True)
class Ending:
    """How a call of `tune` ended."""

    campaign: Campaign
    step: Step  # the one that was not done, or "done"
    why: Message | None = None  # None: it came to its end
    summary: Summary | None = None  # of the step that was interrupted
    interrupt: Interrupt = Interrupt.NONE


def tune(
    workload: Workload,
    space: Mapping[str, Any] | Round,
    trials: int | None = None,
    hours: float | None = None,
    *,
    name: str = "tune",
    terms: TuneTerms | None = None,
    test: Measure | None = None,
    ask: bool = False,
    progress: Wanted = "auto",
    early_stopping: bool = True,
) -> Campaign:
    """Find the best configuration of a space within a budget, by the playbook's whole loop.

    The result is compared with the launched baseline, else with the baseline of the terms, on
    fresh seeds. The same call again resumes where it stopped; a larger budget continues it.

    Args:
        workload: the training program, its objective, its store and its executor.
        space: hyperparameter -> range, list or condition; a plain value is fixed.
        trials: trainings in all, repeats included; never exceeded.
        hours: limit of the time; None: no limit.
        name: of the campaign; its rounds are named after it.
        terms: baseline, smallest difference, seed, longer training; None: the defaults.
        test: a function of a checkpoint, called once for the final choice.
        ask: whether to confirm every step first.
        progress: as for `tw.run`; every step is shown with its reason.
        early_stopping: as for `tw.run`; it stops nothing before 60 trials have finished.
    """
    definition = define(
        workload, space, trials, hours, name=name, terms=terms, tests=test is not None
    )
    watch = watcher_of(progress, workload)
    ending = carry_out(
        definition,
        workload,
        test,
        confirm=_confirm if ask else None,
        watch=watch,
        early_stopping=early_stopping,
    )
    if ending.summary is not None:
        report_end(ending.step.about, ending.summary, ending.interrupt)
    return ending.campaign


def carry_out(
    definition: Definition,
    workload: Workload,
    test: Measure | None = None,
    *,
    confirm: Confirm | None = None,
    tell: Callable[[Step, Campaign], None] | None = None,
    watch: Watcher | None = None,
    early_stopping: bool = True,
) -> Ending:
    """What `tune` does, for those who want to watch it; signals never raise here.

    `tell` receives every step instead of the watcher.
    """
    watcher = watch or Silent()
    definition = begin(definition, workload)
    done = -1
    while True:
        with Store.open(workload.store) as store:
            campaign = read_campaign(store, definition)
        step = next_step(campaign)
        if step.kind == "done":
            return Ending(campaign, step)
        ended = _count_ended(campaign)
        if ended == done:
            return Ending(campaign, step, Message("campaign.stuck"))
        done = ended
        if confirm is not None and not confirm(step, campaign):
            return Ending(campaign, step, Message("campaign.not_confirmed"))
        if tell is None:
            watcher.step(_campaign_step(step, campaign))
        else:
            tell(step, campaign)
        _log(workload, campaign, step)
        summary, interrupt = _perform(step, campaign, workload, test, watcher, early_stopping)
        if summary is not None and summary.why not in ("finished", "no suggestion"):
            with Store.open(workload.store) as store:
                campaign = read_campaign(store, definition)
            why = Message("campaign.interrupted", {"text": summary.says})
            return Ending(campaign, step, why, summary, interrupt)


def begin(definition: Definition, workload: Workload) -> Definition:
    """The definition as recorded: a new campaign, or one that continues with another budget."""
    with Store.open(workload.store) as store:
        known = read_definition(store, definition.name)
        if known is None:
            keep_definition(store, definition)
        else:
            if not same_space(known.space, definition.space):
                raise DesignError("campaign.other_space", name=definition.name)
            # what it began with stays; the budget may change
            now = replace(
                known,
                trials=definition.trials,
                hours=definition.hours,
                slots=definition.slots,
                tests=definition.tests,
                extend=definition.extend,
                extend_to=definition.extend_to,
                deterministic=definition.deterministic,
            )
            if now != known:
                keep_definition(store, now)
        recorded = read_definition(store, definition.name)
    assert recorded is not None
    return recorded


def _perform(
    step: Step,
    campaign: Campaign,
    workload: Workload,
    test: Measure | None,
    seen: Watcher,
    early_stopping: bool,
) -> tuple[Summary | None, Interrupt]:
    workload = replace(workload, purpose=Purpose(campaign.name, step.kind))
    if step.round is not None:
        hours = _hours_left(campaign)
        search = _search(step, campaign)
        _, summary, interrupt = run_round(
            step.round,
            workload,
            search=search,
            max_hours=hours,
            watch=seen,
            early_stopping=early_stopping and not step.listed,  # a list is wanted whole
        )
        return summary, interrupt
    if step.probe:
        if step.probe == REPAIR:
            repair(workload, campaign, seen)
        else:
            ask_probe(workload, campaign.space, step.probe, seen)
        _link_answer(workload, campaign.name, step.probe)
        return None, Interrupt.NONE
    assert step.of is not None
    with Store.open(workload.store) as store:
        trial = store.results(step.of.round).trial(step.of.trial)
    if step.times:
        _, summary, interrupt = run_repeats(trial, workload, step.times, seen)
        return summary, interrupt
    if step.kind == "launch":
        _keep_launch(step, campaign, workload)
    elif step.kind == "test":
        assert test is not None
        (evaluation,) = evaluate(trial, workload, test, test=True, progress=seen)
        if not evaluation.metrics:
            raise DesignError("tune.test_set_failed", reason=evaluation.reason)
    return None, Interrupt.NONE


def _campaign_step(step: Step, campaign: Campaign) -> CampaignStep:
    """The step as a watcher learns of it."""
    return CampaignStep(
        campaign=campaign.name,
        number=len(campaign.log) + 1,
        kind=step.kind,
        about=step.about,
        reason=step.reason,
        trials=step.trials,
        left=campaign.left,
    )


def _search(step: Step, campaign: Campaign) -> Search:
    if step.listed:
        return Listed(step.listed)
    if step.search != "bayesian":
        return Halton()
    round_name = step.round.name if step.round is not None else ""
    earlier = tuple(r for r in campaign.searched if r.round.name != round_name)
    return Bayesian(earlier=earlier)


def _keep_launch(step: Step, campaign: Campaign, workload: Workload) -> None:
    winner, baseline = campaign.winner, campaign.baseline
    assert winner is not None
    why = f"campaign {campaign.name}: {step.reason}"
    with Store.open(workload.store) as store:
        verdict = verdict_of(campaign)
        if baseline is None or verdict is None:
            first_baseline(store, winner.place, why)
        else:
            runs = campaign.chose_by + verdict.runs[0]
            data = verdict.to_data()
            keep_launch(store, data, winner.place, baseline.place, why=why, runs=runs)


def _log(workload: Workload, campaign: Campaign, step: Step) -> None:
    last = campaign.log[-1:]
    if last and (last[0].kind, last[0].reason) == (step.kind, step.reason):
        return  # it was begun before
    with Store.open(workload.store) as store:
        record = store.campaign(campaign.name)
        assert record is not None
        store.add_campaign_step(record.id, step.kind, step.reason, step.about)


def _link_answer(workload: Workload, name: str, probe: str) -> None:
    """Note on the step which answer it led to."""
    with Store.open(workload.store) as store:
        record = store.campaign(name)
        assert record is not None
        for newest in store.probes(campaign=record.id, name=probe)[-1:]:
            store.link_probe(record.id, newest.id)


def _hours_left(campaign: Campaign) -> float | None:
    definition = campaign.definition
    if definition.hours is None:
        return None
    seconds = sum(t.seconds for t in campaign.all_trials()) + campaign.probe_seconds
    used = seconds / definition.slots / SECONDS_PER_HOUR
    return max(definition.hours - used, 1 / SECONDS_PER_HOUR)


def _count_ended(campaign: Campaign) -> int:
    """What has come to an end so far: a step that adds nothing to it would be done for ever."""
    trials = sum(t.ended for t in campaign.all_trials())
    baseline = campaign.incumbent
    others = 0 if baseline is None else sum(t.ended for t in baseline.repeats)
    decided = campaign.launched is not None
    answers = len(campaign.probes) + len(campaign.looks)
    return trials + others + campaign.probe_trials + decided + answers


def _confirm(step: Step, campaign: Campaign) -> bool:
    print(f"{campaign.name}: {step} ({step.trials} trials; {campaign.left} are left)")
    return input("Continue? [Y/n] ").strip().lower() in ("", "y", "yes")
