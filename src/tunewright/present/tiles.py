"""The three tiles of a report: the best value, the trials, the time they took."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from tunewright.campaigns.campaign import Campaign
from tunewright.messages import Message, Text, words
from tunewright.present.origin import origin_of
from tunewright.store.results import Results


@dataclass(frozen=True)
class Tile:
    """One number that matters: its name, the number, and a line about it."""

    label: Text
    value: str
    detail: Text


def tiles(results: Results) -> tuple[Tile, Tile, Tile]:
    """Best, trials and time of a round."""
    return _best(results), _trials(results), _time(origin_of(results).seconds)


def campaign_tiles(campaign: Campaign, together: Results) -> tuple[Tile, Tile, Tile]:
    """Best, trials and time of a campaign; the best is its choice."""
    winner = campaign.winner
    best = _best(together)
    if winner is not None:
        fresh = campaign.fresh.values if campaign.fresh is not None else ()
        values = [float(value) for value in fresh or winner.repeats.values]
        value = statistics.fmean(values) if values else winner.trial.value
        facts = {"place": str(winner.place), "repeats": len(values)}
        metric = winner.results.objective.metric
        best = Tile(_label("best", metric=metric), words.number(value), _detail("chosen", **facts))
    own = list(campaign.all_trials())
    spent = {"total": campaign.total, "rounds": len(campaign.rounds)}
    counted = Tile(_label("trials"), str(campaign.spent), _detail("spent", **spent))
    return best, counted, _time(sum(trial.seconds for trial in own))


def _best(results: Results) -> Tile:
    label = _label("best", metric=results.objective.metric)
    for best in results.top(1):
        facts = {"trial": best.shown_number, "step": best.best_step}
        return Tile(label, words.number(best.value), _detail("best", **facts))
    return Tile(label, "–", _detail("none"))


def _trials(results: Results) -> Tile:
    facts = {"counts": results.counts, "studies": len(results.studies)}
    return Tile(_label("trials"), str(len(results.trials)), _detail("trials", **facts))


def _time(seconds: float) -> Tile:
    if not seconds:
        return Tile(_label("time"), "–", _detail("no_time"))
    return Tile(_label("time"), words.duration(seconds), _detail("time", hours=seconds / 3600))


def _label(name: str, **facts: object) -> Text:
    return Message(f"tile.{name}", facts).text


def _detail(name: str, **facts: object) -> Text:
    return Message(f"tile.{name}.detail", facts).text
