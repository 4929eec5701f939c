"""CPU seconds that one ask and one tell take when so many trials have been told.

The trials are those of adam_warmup (6 hyperparameters, 30 % diverge) at Halton points, added as
trials of somebody else's; the median of a few asks, each followed by its tell.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

import tunewright as tw

from .entries import opening
from .problems import problems

PROBLEM, ASKS = "adam_warmup", 3
SLOW_S = 60.0  # one ask beyond this ends a contestant's row


def costs(contestants: Sequence[str], told: Sequence[int]) -> str:
    """A row per contestant as markdown."""
    lines = [
        f"| CPU s per ask and tell, told | {' | '.join(f'{n:,}' for n in told)} |",
        "|---" * (len(told) + 1) + "|",
    ]
    for contestant in contestants:
        cells: list[str] = []
        for count in told:
            if cells and (cells[-1] == "-" or float(cells[-1]) > SLOW_S / 10):
                cells.append("-")  # ten times as many would take hours
                continue
            cells.append(f"{cost(contestant, count):.3g}")
        lines.append(f"| {contestant} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def cost(contestant: str, told: int) -> float:
    """Seconds of CPU time."""
    problem = problems()[PROBLEM]
    session = opening(contestant)(problem, 0, told + ASKS)
    configurations = [
        s.configuration for s in tw.search.Halton().suggest(problem.study(1, told), [], told)
    ]
    for number, configuration in enumerate(configurations):
        session.add(configuration, problem.observe(configuration, 0, number))
    seconds = []
    for i in range(ASKS):
        start = time.process_time()
        (asked,) = session.ask(1)
        value = problem.observe(asked, 0, told + i)
        session.tell(told + i, value)
        seconds.append(time.process_time() - start)
    return float(np.median(seconds))
