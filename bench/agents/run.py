"""Thirty tasks with traps: a script that follows the tool's answers, beside bare loops.

python bench/agents/run.py            raw lines as JSON, the table last
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bare import bare
from follow import follow
from tasks import TASKS, Outcome, Task


def line(task: Task, solver: str, found: Outcome) -> dict[str, object]:
    """The raw line of one solver on one task."""
    return {
        "task": task.name,
        "trap": task.trap,
        "solver": solver,
        "avoided": bool(task.avoided(task.training, found)),
        "trainings": found.trainings,
        "chosen": {k: v for k, v in found.chosen.items()},
        "claims": found.claims,
        "value": found.value if found.value == found.value else None,
        "warned": list(found.warned),
        "refused": list(found.refused),
    }


def main() -> None:
    """Print the raw lines and the table."""
    began = time.process_time()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    table: dict[str, dict[str, list[dict[str, object]]]] = defaultdict(lambda: defaultdict(list))
    for task in TASKS:
        if wanted and wanted != task.trap:
            continue
        with tempfile.TemporaryDirectory() as folder:
            ours = follow(task, Path(folder))
        found = {"tool": ours}
        for sampler in ("tpe", "random"):
            found[sampler] = bare(task, ours.trainings or 12, sampler)
        for solver, outcome in found.items():
            made = line(task, solver, outcome)
            table[task.trap][solver].append(made)
            print(json.dumps(made, default=str), flush=True)
    print("| trap | tool: avoided | trainings | TPE: avoided | random: avoided |")
    print("|---|---|---|---|---|")
    totals = defaultdict(int)
    for trap, by in table.items():
        cells = []
        for solver in ("tool", "tpe", "random"):
            avoided = sum(bool(one["avoided"]) for one in by[solver])
            totals[solver] += avoided
            cells.append(f"{avoided} of {len(by[solver])}")
        spent = [int(str(one["trainings"])) for one in by["tool"]]
        totals["trainings"] += sum(spent)
        totals["of"] += len(spent)
        print(f"| {trap} | {cells[0]} | {min(spent)} to {max(spent)} | {cells[1]} | {cells[2]} |")
    rest = " | ".join(f"{totals[name]} of {totals['of']}" for name in ("tpe", "random"))
    print(f"| all | {totals['tool']} of {totals['of']} | {totals['trainings']} in all | {rest} |")
    print(f"CPU s: {time.process_time() - began:.0f}")


if __name__ == "__main__":
    main()
