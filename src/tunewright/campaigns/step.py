"""One step of a campaign, its rounds, and how the trials are shared out among steps.

Most go into finding (playbook: exploration first, and most of the budget), some are kept back for
knowing: without repeats on fresh seeds the best of many trials is partly the luckiest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tunewright.advice.proposal import Proposal, without_trials
from tunewright.campaigns.campaign import Campaign
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.study import trials_for
from tunewright.launches.lineage import Place
from tunewright.messages import Message
from tunewright.store.joined import joined
from tunewright.store.results import Results

Kind = Literal[
    "finish",  # run what is left of a round, or of repeats
    "probe",  # choose the batch size or the length of training, or look for a remedy
    "baseline",  # train the current default
    "explore",  # quasi-random search
    "widen",  # ... in wider ranges, since the best lie at an end
    "narrow",  # ... without what diverges
    "regularise",  # ... with the regulariser that overfitting asks for
    "fix",  # ... without what does not matter
    "repair",  # ... with the warm-up or clipping that makes training stable
    "exploit",  # Bayesian search
    "extend",  # the best, trained longer
    "repeat",  # a configuration again under fresh seeds
    "launch",  # decide, and record it
    "test",  # look at the test set
    "done",
]
_FIRST = 0.35  # of what is not kept back: the first quasi-random round
_EXPLORE = 0.55  # ... all exploration together
FEWEST = 6  # trials of a round that is worth its name
_VARIANCE_REPEATS = 3  # repeats: a spread of two is no evidence
_VARIANCE_FROM = 30  # trials from which the spread is worth knowing before exploitation
_EXTEND, _LONG = 0.2, 5  # of all trials for full length; the best that are trained so first
_MOST_LONG = 9

# from so many trials on: how many finalists are repeated how often, and runs kept for the launch
# (the launch takes separate runs: those that chose the winner flatter it)
_LADDER = ((120, 4, 3, 16), (60, 3, 2, 10), (30, 2, 2, 6), (16, 2, 1, 6))


@dataclass(frozen=True)
class Step:
    """What a campaign does next, and why."""

    kind: Kind
    reason: Message  # a code with its facts
    trials: int = 0  # that it will use
    round: Round | None = None  # to be run
    search: str = "halton"  # by which search
    listed: tuple[Mapping[str, Value], ...] = ()  # the configurations of a listed one
    probe: str = ""  # which one to ask
    of: Place | None = None  # the trial to repeat, launch or test
    times: int = 0  # repeats of it in all

    @property
    def about(self) -> str:
        """The round it is about; empty for none."""
        if self.round is not None:
            return self.round.name
        return "" if self.of is None else self.of.round

    def __str__(self) -> str:
        """The kind and the reason on one line."""
        return f"{self.kind}: {self.reason}"


def reason_of(proposal: Proposal) -> Message:
    """A proposal's reason without its number of trials, which the budget may have cut."""
    return without_trials(proposal.reason)


@dataclass(frozen=True)
class Shares:
    """What the trials of a campaign are for."""

    first: int  # of the first quasi-random round
    explore: int  # of all exploration rounds together, at most
    finalists: int  # configurations that are repeated
    times: int  # repeats of each
    best_runs: int  # repeats of the best of exploration, to know what chance does
    launch: int  # runs kept back for the comparison with the baseline
    extend: int = 0  # trainings at full length, where the best are to be trained longer
    default: int = 0  # ... and one of the current default, to compare them with

    @property
    def long(self) -> int:
        """Of those, the best of the search; the rest tune the learning rate once more."""
        return min(self.extend, _LONG)

    @property
    def kept_back(self) -> int:
        """Trials that no search may use."""
        return (
            self.finalists * self.times + self.best_runs + self.launch + self.extend + self.default
        )


def shares(
    trials: int,
    dimensions: int,
    has_baseline: bool,
    extends: bool = False,
    *,
    default: bool = False,
    deterministic: bool = False,
) -> Shares:
    """How to share out this many trials over a space of this many hyperparameters.

    `default`: the baseline is the current default, which is trained as long as the best are. A
    deterministic program is not repeated: it would give the same value.

    >>> shares(50, dimensions=4, has_baseline=False)
    Shares(first=15, explore=24, finalists=2, times=2, best_runs=3, launch=0, extend=0, default=0)
    >>> shares(200, dimensions=4, has_baseline=True).kept_back
    31
    """
    finalists, times, launch = next((rung[1:] for rung in _LADDER if trials >= rung[0]), (0, 0, 0))
    if deterministic:
        finalists, times, launch = 0, 0, 0
    best_runs = _VARIANCE_REPEATS if trials >= _VARIANCE_FROM and not deterministic else 0
    extend = max(1, min(_MOST_LONG, round(_EXTEND * trials))) if extends else 0
    parts = Shares(
        first=0,
        explore=0,
        finalists=finalists,
        times=times,
        best_runs=best_runs,
        launch=launch if has_baseline else 0,
        extend=extend,
        default=int(extends and default),
    )
    search = max(0, trials - parts.kept_back)
    first = max(min(FEWEST, search), min(trials_for(dimensions), round(_FIRST * search)))
    explore = max(first, round(_EXPLORE * search))
    return replace(parts, first=first, explore=explore)


def together(campaign: Campaign) -> Results:
    """The newest round of the search with every earlier trial that fits it."""
    long = {results.round.name for results in campaign.extended}
    newest, *earlier = [r for r in reversed(campaign.searched) if r.round.name not in long]
    return joined(newest, *earlier)


def round_step(
    campaign: Campaign,
    round: Round,
    kind: Kind,
    trials: int,
    reason: Message,
    search: str = "halton",
    listed: tuple[Mapping[str, Value], ...] = (),
) -> Step:
    """A step that runs a round under the campaign's next number, on the data split of them all."""
    campaign_round = replace(
        round,
        goal=campaign.space.goal,
        change=reason,
        name=f"{campaign.name}_{len(campaign.rounds) + 1}_{kind}",
        seed=campaign.space.seed,
        detect=campaign.space.detect,
        trials_per_study=trials,
    )
    return Step(kind, reason, trials, campaign_round, search, listed)
