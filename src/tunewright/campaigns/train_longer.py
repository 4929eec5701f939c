"""Longer training on autopilot: the best of the short rounds, few, at full length.

When training is compute-bound the search trains for about a tenth of the production length; then
the best configurations are trained for all of it, their schedules adapted (`advice.extend`),
and whether the short rounds ranked them as the long one does is checked. With trials to spare the
learning rate is tuned once more around the best of these (`advice.extend`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tunewright.advice.extend import changes_for_length, extension
from tunewright.advice.length import Agreement, agreement_of
from tunewright.campaigns.campaign import Campaign, Contender
from tunewright.campaigns.step import Shares, Step, round_step
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, is_number
from tunewright.design.round import Round
from tunewright.errors import TunewrightError
from tunewright.facts import plain
from tunewright.messages import Message
from tunewright.store.trial import Trial

_FEWEST = 2  # long trainings in a second round that is worth its name


def _final_steps(campaign: Campaign) -> int | None:
    """For how many steps the best are trained in the end; None if no longer than the others."""
    definition = campaign.definition
    if definition.extend_to is not None:
        return definition.extend_to
    now = _short_steps(campaign)
    if definition.extend is None or now is None:
        return None
    return round(definition.extend * now)


def _short_steps(campaign: Campaign) -> int | None:
    """For how many steps the search trains."""
    meaning = _meaning(campaign)
    value = None if meaning is None else campaign.space.fixed.get(meaning.name("max_train_steps"))
    return int(value) if is_number(value) else None


def extend_step(campaign: Campaign, parts: Shares) -> Step | None:
    """The next round at full length; None when there is none to come."""
    steps, long = _final_steps(campaign), campaign.extended
    if steps is None or not parts.extend or not campaign.searched:
        return None
    if not long:
        return _best_longer(campaign, min(parts.long, campaign.left), steps)
    free = min(parts.extend - parts.long, campaign.left)
    if len(long) > 1 or free < _FEWEST or not campaign.ranked():
        return None
    return _around_the_best(campaign, free, steps)


def ranks_alike(campaign: Campaign) -> Agreement | None:
    """Whether the short rounds ranked the best as the long one does; None before it."""
    if not campaign.extended:
        return None
    first = campaign.extended[0]
    sign = first.objective.sign
    pairs = [
        (-sign * (twin.trial.value or 0.0), -sign * (trial.value or 0.0))
        for trial in first.top()
        if (twin := _twin(campaign, trial)) is not None
    ]
    short, long = (np.array(losses, dtype=float) for losses in zip(*pairs, strict=True))
    return agreement_of(short, long)


def longer_default(campaign: Campaign) -> dict[str, Value] | None:
    """The current default at full length, to compare the winner with."""
    default, meaning = campaign.definition.default, _meaning(campaign)
    steps, now = _final_steps(campaign), _short_steps(campaign)
    if default is None or steps is None or now is None or meaning is None:
        return None
    return at_length(default, meaning, now, steps)


def _best_longer(campaign: Campaign, most: int, steps: int) -> Step | None:
    """The best configurations of the search, each once."""
    now, meaning = _short_steps(campaign), _meaning(campaign)
    ranked = campaign.ranked()
    if now is None or meaning is None or not ranked or most < 1:
        return None
    names = ranked[0].trial.configuration.keys()
    alike = [c.trial.configuration for c in ranked if c.trial.configuration.keys() == names]
    listed = [at_length(configuration, meaning, now, steps) for configuration in alike[:most]]
    space = campaign.space
    varied = [n for n, first in listed[0].items() if any(row[n] != first for row in listed)]
    varied = varied or [n for n in listed[0] if n in space.nuisance][:1]
    longer_space = replace(
        space,
        scientific={},
        nuisance={n: list(dict.fromkeys(row[n] for row in listed)) for n in varied},
        fixed={n: v for n, v in listed[0].items() if n not in varied},
    )
    facts = {"count": len(listed), "steps": steps, "before": now}
    reason = Message("campaign.train_longer", facts)
    points = tuple({n: row[n] for n in varied} for row in listed)
    return round_step(campaign, longer_space, "extend", len(listed), reason, "listed", points)


def _around_the_best(campaign: Campaign, trials: int, steps: int) -> Step | None:
    """The learning rate once more, around what was best at full length."""
    twin = _twin(campaign, campaign.ranked()[0].trial)
    if twin is None:
        return None
    start = replace(twin.results, recorded=(twin.trial,))
    try:
        rate_round = extension(start, steps, trials_per_study=trials).round
    except TunewrightError:  # nothing that transfers only perhaps is left to be tuned
        return None
    if not rate_round.nuisance:
        return None
    alike = ranks_alike(campaign)
    agreement = None if alike is None else {"code": "agreement", **plain(alike)}
    facts = {"agreement": agreement, "steps": steps}
    reason = Message("campaign.tune_longer", {**facts, "names": list(rate_round.nuisance)})
    alone = replace(rate_round, continues="")
    return round_step(campaign, alone, "extend", trials, reason)


def _twin(campaign: Campaign, long: Trial) -> Contender | None:
    """The trial of the search that a long one was made of."""
    searched = campaign.definition.space.nuisance
    settings = {n: v for n, v in long.configuration.items() if n in searched}
    for contender in campaign.ranked_short():
        known = contender.trial.configuration
        if all(known.get(name) == value for name, value in settings.items()):
            return contender
    return None


def at_length(
    configuration: Mapping[str, Value], meaning: Meaning, old: int, new: int
) -> dict[str, Value]:
    """A configuration for more steps, its schedule by the playbook's rules."""
    changes = changes_for_length(configuration, meaning, old, new)
    kept = {n: v for n, v in configuration.items() if n not in changes.dropped}
    return {**kept, **changes.values, meaning.name("max_train_steps"): new}


def _meaning(campaign: Campaign) -> Meaning | None:
    return campaign.rounds[0].meaning if campaign.rounds else None


def check_lengths(space: Round, meaning: Meaning, extend_to: int) -> Message | None:
    """Why a space cannot be extended to so many steps; None if it can."""
    name = meaning.name("max_train_steps")
    value = space.fixed.get(name)
    if not is_number(value):
        return Message("tune.no_length", {"name": name})
    if extend_to <= value:
        return Message("tune.as_long_already", {"steps": value, "extend_to": extend_to})
    return None
