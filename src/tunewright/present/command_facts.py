"""What commands answer as data: the facts of a round, a run, repeats, a campaign.

Python objects in, mappings out; `--json` prints them inside the envelope. Sentences stay out: a
reader of the data makes their own, in their own language.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tunewright.campaigns.campaign import Campaign
from tunewright.campaigns.step import Step as CampaignStep
from tunewright.present.next_step import next_steps
from tunewright.present.plain import plain
from tunewright.store.repeats import Repeats
from tunewright.store.results import Results
from tunewright.store.trial import Trial

Facts = dict[str, Any]


def of_round(results: Results, *, curves: bool = False) -> Facts:
    """A round as recorded: what was asked, every trial, the best, and what to do next."""
    best = best_of(results)
    made: Facts = plain(
        {
            "round": results.round,
            "objective": results.objective,
            "search": results.search,
            "store": results.store,
            "root": results.root,
            "running": results.supervised,
            "counts": results.counts,
            "studies": results.studies,
            "best": None if best is None else of_trial(results, best, curves=curves),
            "trials": [of_trial(results, trial, curves=curves) for trial in results.trials],
            "repeats": [
                of_trial(results, own, curves=curves, repeat=k)
                for trial in results.trials
                for k, own in enumerate(results.repeats(trial), start=1)
            ],
            "notes": results.notes,
            "next": next_steps(results),
        },
        curves=curves,
    )
    return made


def of_trial(
    results: Results, trial: Trial, *, curves: bool = False, repeat: int | None = None
) -> Facts:
    """A trial with its folder as this machine finds it, and which repeat of its parent it is."""
    made: Facts = plain(trial, curves=curves)
    if results.root and trial.folder:
        made["folder"] = str(Path(results.root, trial.folder).absolute())
    return made if trial.number is not None else {**made, "repeat": repeat}


def of_run(results: Results, why: str, seconds: float, ended: int) -> Facts:
    """What a call of `run` came to: why it returned, the counts, the best, what to do next."""
    best = best_of(results)
    made: Facts = plain(
        {
            "round": results.round.name,
            "why": why,
            "seconds": seconds,
            "ended": ended,
            "counts": results.counts,
            "best": None if best is None else of_trial(results, best),
            "next": next_steps(results),
        }
    )
    return made


def of_repeats(repeats: Repeats, why: str) -> Facts:
    """Repeats of a trial: their values, the mean, and how far seeds move them."""
    values = repeats.values
    made: Facts = plain(
        {
            "round": repeats.results.round.name,
            "why": why,
            "of": of_trial(repeats.results, repeats.of),
            "repeats": [
                of_trial(repeats.results, own, repeat=k)
                for k, own in enumerate(repeats.trials, start=1)
            ],
            "values": values,
            "mean": statistics.fmean(values) if values else None,
            "sd": statistics.stdev(values) if len(values) > 1 else None,
            "seedless": repeats.seedless,
            "next": next_steps(repeats.results),
        }
    )
    return made


def of_campaign(campaign: Campaign) -> Facts:
    """A campaign as recorded: its budget, its steps, and the configuration it chose."""
    winner = campaign.winner
    chosen: Mapping[str, Any] | None = None
    if winner is not None:
        chosen = {
            "round": winner.results.round.name,
            "trial": winner.trial.number,
            "value": winner.known_value if winner.repeats.values else winner.trial.value,
            "repeats": winner.repeats.values,
            "fresh": () if campaign.fresh is None else campaign.fresh.values,
        }
    launched = campaign.launched
    made: Facts = plain(
        {
            "name": campaign.name,
            "spent": campaign.spent,
            "total": campaign.total,
            "best": campaign.best,
            "verdict": campaign.verdict,
            "winner": chosen,
            "launched": None if launched is None else launched.verdict,
            "rounds": [results.round.name for results in campaign.rounds],
            "steps": [{"kind": step.kind, "round": step.round} for step in campaign.log],
        }
    )
    return made


def of_step(step: CampaignStep) -> Facts:
    """A step of a campaign: what would be done, with how many trials."""
    made: Facts = plain(
        {"kind": step.kind, "trials": step.trials, "round": step.about, "search": step.search}
    )
    return made


def without(thing: Any, *names: str) -> Facts:
    """The plain data of a thing without some of its fields: those that are sentences."""
    return {name: value for name, value in plain(thing).items() if name not in names}


def each_without(things: Sequence[Any], *names: str) -> list[Facts]:
    """The same of several things."""
    return [without(thing, *names) for thing in things]


def best_of(results: Results) -> Trial | None:
    """The best completed trial of a round; None before any has completed."""
    for trial in results.top(1):
        return trial
    return None
