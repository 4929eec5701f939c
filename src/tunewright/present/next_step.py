"""What to do next with a round: the command, and why."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from tunewright.messages import words
from tunewright.store.results import Results

REPEATS = 5  # of the best configuration, to know its trial variance


@dataclass(frozen=True)
class Step:
    """One command worth running, and what it is good for."""

    command: str
    why: str

    def to_data(self) -> dict[str, Any]:
        """Plain data: the words of the command."""
        return {"argv": shlex.split(self.command)}


def next_steps(results: Results, reported: bool = False) -> tuple[Step, ...]:
    """The commands that help most from here, the first one first; `reported`: beside a report."""
    name, counts = words.shell_word(results.round.name), results.counts
    steps = []
    left = counts.get("pending", 0) + counts.get("running", 0)
    failed = [trial.number for trial in results.trials if trial.status == "failed"]
    if failed:
        why = f"why it failed, with the end of its log ({words.count(len(failed), 'trial')} failed)"
        steps.append(Step(f"tunewright trial {name} {failed[0]}", why))
    if left:
        why = f"{words.count(left, 'trial')} left; nothing that has ended runs again"
        steps.append(Step(f"tunewright run {name}", why))
    top = results.top(1)
    if top and not left and not reported:
        steps.append(Step(f"tunewright check {name}", "what can and cannot be trusted"))
        steps.append(Step(f"tunewright report {name}", "the same with every figure, on one page"))
        steps.append(Step(f"tunewright next {name}", "which round to run then, and why"))
    if not top:
        infeasible = [t.number for t in results.trials if t.status == "infeasible"]
        if infeasible:
            why = "no trial completed: see how one went wrong"
            steps.append(Step(f"tunewright trial {name} {infeasible[0]}", why))
    elif not left and len(results.repeats(top[0])) < REPEATS:
        why = "train the best again with new seeds: how much of it is luck?"
        steps.append(Step(f"tunewright repeat {name} --times {REPEATS}", why))
    elif not left:
        why = "whether it becomes the baseline: both trained again until that is decided"
        steps.append(Step(f"tunewright launch {name}", why))
    if top:
        steps.append(Step(f"tunewright export {name} trials.csv", "every trial as a table"))
    return tuple(steps)
