"""What a campaign will cost: the trainings that are left of it, at the lengths it trains for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tunewright.budgets.cost import Basis, CostEstimate, Price, Trainings
from tunewright.budgets.spending import Spending, length_of, spending, together
from tunewright.campaigns.campaign import Campaign, read_campaign, read_definition
from tunewright.campaigns.plan import shares_of
from tunewright.campaigns.request import TuneTerms, define
from tunewright.costs.measure import measured
from tunewright.costs.rounds import estimate, first_of, program_timings
from tunewright.design.round import Round
from tunewright.execution.known_lengths import evaluations_of
from tunewright.execution.workload import Workload
from tunewright.progress.choose import Wanted
from tunewright.store.store import Store


def of_tune(
    workload: Workload,
    space: Mapping[str, Any] | Round,
    trials: int | None = None,
    hours: float | None = None,
    *,
    name: str = "tune",
    terms: TuneTerms | None = None,
    measure: bool = False,
    progress: Wanted = "auto",
) -> CostEstimate:
    """What `tw.tune` with these arguments will cost, or the rest of it.

    Every training of the budget counts as a whole one; early stopping makes it cheaper. Judged by
    trials of the same program in the store, else with `measure` by one short timed training.

    Args:
        workload: the training program.
        space: as for `tw.tune`.
        trials: trainings in all.
        hours: limit of the time; None: no limit.
        name: of the campaign.
        terms: as for `tw.tune`.
        measure: whether to train for a short time where nothing is known.
        progress: of that short training, as for `tw.run`.
    """
    definition = define(workload, space, trials, hours, name=name, terms=terms)
    with Store.open(workload.store) as store:
        campaign = read_campaign(store, read_definition(store, name) or definition)
    return of_campaign(campaign, workload, measure, progress)


def of_campaign(
    campaign: Campaign, workload: Workload, measure: bool = False, progress: Wanted = "auto"
) -> CostEstimate:
    """What is left of a campaign will cost; its limit of hours caps the time by the clock."""
    timings = program_timings(workload)
    basis: Basis = "program"
    space = campaign.definition.space
    if not timings and measure and campaign.left:
        timings, basis = (measured(workload, first_of(space), progress),), "measured"
    cost = estimate(_left(campaign, workload), timings, workload, basis)
    limit = campaign.definition.hours
    if limit is None or cost.hours is None or cost.clock_hours is None:
        return cost
    most = limit * cost.workers
    capped = replace(
        cost,
        hours=(min(cost.hours[0], most), min(cost.hours[1], most)),
        clock_hours=(min(cost.clock_hours[0], limit), min(cost.clock_hours[1], limit)),
    )
    return capped.priced(None)


def spent_on(campaign: Campaign, price: Price | None = None) -> Spending:
    """What the rounds of a campaign have cost, and what those that have begun still cost."""
    parts = [spending(results, price) for results in campaign.rounds]
    return together(campaign.name, parts)


def _left(campaign: Campaign, workload: Workload) -> list[Trainings]:
    """The trainings that are left: of the search, and those at full length."""
    name = workload.meaning.name("max_train_steps")
    definition = campaign.definition
    short = length_of(definition.space.fixed, name)
    long = definition.extend_to or (
        definition.extend * short if definition.extend and short else None
    )
    full = min(campaign.left, shares_of(campaign).extend) if long is not None else 0
    parts = [(campaign.left - full, short), (full, long)]
    return [
        Trainings(number, steps=steps, evaluations=evaluations_of(steps, workload.eval_every))
        for number, steps in parts
        if number
    ]
