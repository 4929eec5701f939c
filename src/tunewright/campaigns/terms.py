"""The terms of a campaign beside its budget: what it is compared with, how long the best train."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tunewright.design.ranges import Value, is_number
from tunewright.errors import DesignError


@dataclass(frozen=True, kw_only=True)
class TuneTerms:
    """What `tw.tune` is asked beside space and budget; wrong fields are refused at once.

    >>> TuneTerms(extend=10).extend
    10
    >>> TuneTerms(extend=2, extend_to=50_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tunewright.errors.DesignError: TuneTerms(extend=, extend_to=): give one...
    """

    # the configuration to compare with, before one was launched; None: what the signature of the
    # training function has for everything searched
    baseline: Mapping[str, Value] | None = None
    detect: float | None = None  # the smallest difference that matters, in the metric's units
    seed: int = 0  # of the searches; the data split goes by it too
    extend: float | None = None  # train the best so many times as long in the end
    extend_to: int | None = None  # or for so many steps; the search then takes a tenth of them

    def __post_init__(self) -> None:
        if self.extend is not None and self.extend_to is not None:
            raise DesignError("tune.two_lengths")
        if self.extend is not None and not (is_number(self.extend) and 1 < self.extend < math.inf):
            raise DesignError("tune.bad_extend", extend=self.extend)
        if self.extend_to is not None and not _is_count(self.extend_to):
            raise DesignError("tune.bad_extend_to", extend_to=self.extend_to)
        if self.detect is not None and not (is_number(self.detect) and 0 < self.detect < math.inf):
            raise DesignError("tune.bad_detect", detect=self.detect)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise DesignError("tune.bad_seed", seed=self.seed)
        if self.baseline is not None and not isinstance(self.baseline, Mapping):
            raise DesignError("tune.bad_baseline", baseline=self.baseline)


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 1
