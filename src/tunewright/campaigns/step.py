"""One step of a campaign: what is done, why, and with how many trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tunewright.advice.proposal import Proposal, without_trials
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.launches.lineage import Place
from tunewright.messages import Message

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
