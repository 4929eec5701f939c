"""`tune` on problems as users meet them, beside searches alone, at equal training steps.

    python bench/loop_users.py [--kinds a,b,c] [--seeds 24] [--first 1000] [--trials 50,100,200]

Kinds a (a sound space), b (the optimum outside the given box), c (a small noisy validation set) are
recorded tables (loop_worlds.py), where the quality is the true value of what a way chose: 0 the
best of the table, 1 its median. Kind d (unstable without warm-up, which nobody asked for) is a real
training (loop_deep.py), where it is the mean test error of three fresh trainings. Kind e (length
left open) is the same network for 800 steps: `tune` searches at a length of its own and extends the
best, searches alone train for 800 steps each, within the steps that `tune` took. One raw line per
kind, seed, way and budget goes to --out as soon as it is known; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import loop_deep
import loop_worlds
from loop_ways import RIVALS, Chosen, by_search, by_tune, interval

RAW = Path(__file__).parent / "results" / "loop_users.jsonl"
WAYS = ("tune", *RIVALS)
LONG = 800  # steps of the training that counts in kind e
GP_LONGEST = 100  # Optuna's GP takes seconds for a suggestion after that


def problem_of(kind: str, seed: int) -> Any:
    """One problem: recorded or a real training."""
    if kind == "d":
        return loop_deep.Training(seed)
    if kind == "e":
        return loop_deep.Training(seed, steps=LONG, extend_to=LONG)
    return loop_worlds.problem(kind, seed)  # type: ignore[arg-type]


def lines_of(
    kind: str, seed: int, way: str, budgets: Sequence[int], took: Sequence[int] = ()
) -> Iterator[dict[str, Any]]:
    """What a way chose on one problem, at each budget; `took`: the steps of `tune` at each."""
    problem = problem_of(kind, seed)
    began, cpu = time.monotonic(), time.process_time()
    found: Iterator[Chosen]
    if way == "tune":
        found = (by_tune(problem, trials) for trials in budgets)
    else:
        own: list[float] = [n for n in budgets if way != "gp worst" or n <= GP_LONGEST]
        if took:
            own = [steps / problem.steps for steps in took]
        found = iter(by_search(way)(problem, own) if own else ())
    for at, one in enumerate(found):
        yield {
            "kind": kind,
            "task": problem.task,
            "seed": seed,
            "way": way,
            "trials": budgets[at] if took else one.trials,
            "quality": problem.quality(one.configuration),
            "trained": one.trained,
            "steps": one.steps,
            "cpu": round(time.process_time() - cpu, 1),
            "seconds": round(time.monotonic() - began, 1),
            "cut": dict(problem.cut),
            "inside": problem.inside,
            "chosen": one.configuration,
            **one.more,
        }
        began, cpu = time.monotonic(), time.process_time()


def key(line: Mapping[str, Any]) -> tuple[str, str]:
    """Kind and way of a raw line."""
    return line["kind"], line["way"]


def read(path: Path) -> list[dict[str, Any]]:
    """The raw lines so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Mean quality of each way, and how much worse than `tune` it is, paired by problem."""
    head = (
        "| kind | trials | way | problems | mean | worse than tune by (95 % interval) | "
        "tune ahead |\n|---|---|---|---|---|---|---|"
    )
    rows = [head]
    for kind, trials in sorted({(line["kind"], line["trials"]) for line in lines}):
        own = [line for line in lines if (line["kind"], line["trials"]) == (kind, trials)]
        by = {way: {r["seed"]: r["quality"] for r in own if r["way"] == way} for way in WAYS}
        for way in WAYS:
            both = sorted(by[way].keys() & by["tune"].keys())
            if not both:
                continue
            mean = statistics.fmean(by[way][seed] for seed in both)
            versus, wins = "-", "-"
            if way != "tune" and len(both) > 1:
                gaps = [by[way][seed] - by["tune"][seed] for seed in both]
                low, high = interval(gaps)
                versus = f"{statistics.fmean(gaps):+.4f} ({low:+.4f} to {high:+.4f})"
                wins = f"{sum(gap > 0 for gap in gaps)} of {len(gaps)}"
            rows.append(
                f"| {kind} | {trials} | {way} | {len(both)} | {mean:.4f} | {versus} | {wins} |"
            )
    return "\n".join(rows)


def section(lines: Sequence[dict[str, Any]]) -> str:
    """The part of bench/results/loop.md about these problems."""
    return "\n".join([HEADING, table(lines), "", READING])


HEADING = """\
## Problems as users meet them

`python bench/loop_users.py` (raw lines: loop_users.jsonl): kind a is the whole space of a recorded
table, b the same cut so that the best lies 0.5 to 1.5 decades outside on one or two axes, c a table
of error rates seen through 100 validation examples. The mean is of the true value of what a way
chose: 0 the best of the whole table, 1 its median. Kind d trains on digits a deep network without
normalisation, which is unstable without the warm-up that nobody asked for; there the mean is the
test error of three fresh trainings; kind e is the same network, its length left open. The same
problems, steps and noise model for every way; a positive difference: worse than `tune`, paired by
problem, bootstrap over problems.
"""

READING = """\
2026-11-18 and 19, two cores shared with other work, Python 3.11; 200 trials, Optuna's GP, the rest
of kind d and kind e on the evening of the 19th. Seeds from 1000 on; the strategy was changed on
seeds below 100 (loop_users_building.jsonl), nothing was changed afterwards.

- *Problems* of kinds a to c are seeds on six tables (three in c): the intervals are about other
  searches on these tables, not about other tables.
- *The optimum outside the box*: `tune` is ahead of TPE and of random search at every budget, and of
  Optuna's GP from 100 trials on; it widens, they cannot.
- *A sound space*: `tune` is **behind Optuna's GP at 50 trials** (told the worst value where a trial
  diverges) and level with it at 100; not told apart from TPE at 50, ahead of it at 100 and 200.
  A search alone spends all its trials on the search, `tune` of 50 on average 16 on even points, 26
  on Bayesian search and 7 on repeats; what costs it the difference was not examined.
- *A small validation set*: ahead of the GP at 50, of TPE at 100 and 200. Ahead of random search in
  all three kinds at every budget.
- *Unstable without warm-up*: at 50 trials ahead of TPE with the median pruner and of random search,
  at 100 of TPE without a pruner; the other differences have the same sign and their intervals hold
  zero. Not by a remedy: no campaign of the first eight looked for a warm-up. Its choices were
  repeated; whether that is what counts was not examined.
- *The length left open*: the network of kind d, and only a training of 800 steps counts. `tune` is
  told `extend_to=800` and searches at a length of its own; the others train for 800 steps each (or
  less, with the pruner) within the steps that `tune` took: 17 whole trainings at 50 trials, 29 to
  31 at 100. Level with TPE at 50 and ahead of it at 100; not told apart from TPE with the pruner;
  ahead of random search at 50.
- *The median pruner* needs curves. The tables have none (the curves here are made up), so it is a
  contestant in kinds d and e alone; in d it began 127 to 239 trainings for the steps of 50.
- *A problem that a table makes* (mlp_kc1, seed 1009, kinds a and b): the recorded repeats of one
  configuration are equal to the last digit, `tune` takes the program for one that ignores its seed,
  and ends after half of its trials. It counts here as it is.
- *What was changed*: when exploitation begins, an end moves out towards which the best lean (they
  lie in its outer fifth), and while it runs an end moves at a tenth of the range instead of 0.03,
  unless most trials there diverged. On 8 building problems of kind b at 50 trials the mean went
  from 0.363 to 0.296, by 0.067 (-0.008 to +0.168), not separated; on 7 of kind c by 0.005 (0.000
  to +0.015). After that the first rule was let act beside a widening that the checks ask for;
  this was not measured apart. Kind a was not measured before and after.
- *On mlp_blood_transfusion* `tune` was behind TPE at 100 trials before the change, in three of
  three building problems. Tables of this data have a spread between seeds, and 100 examples one
  of binomial draws, that hides most of what can be won. Naming the finalists by the model's
  prediction instead of by value was tried on building seeds and not adopted: by 0.035 (standard
  error 0.014) better after 9 searches of `tune` (6 of them of this data), by 0.005 (0.010)
  worse on 24 made-up histories of six tables (loop_users_choice.jsonl.gz, drawn repeats).
- *Two processors*: the lines of 2026-11-18 were made on another one. The rivals' lines are the
  same on both to the last digit; those of `tune` differ where rounding moves a suggestion (the
  rounds are the same, what it chose is not), so a line of `tune` is one draw of several.
- *Not measured*: Optuna's GP at 200 trials (seconds for a suggestion) and in kinds d and e; a
  character GPT on a GPU.
"""


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kinds", default="a,b,c")
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first", type=int, default=1000)  # those below 1000 were for building
    parser.add_argument("--trials", default="50,100,200")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--out", type=Path, default=RAW)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    asked = parser.parse_args()
    budgets = [int(n) for n in asked.trials.split(",")]
    known = {(r["kind"], r["seed"], r["way"], r["trials"]) for r in read(asked.out)}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(asked.first, asked.first + asked.seeds) if not asked.table else ():
        for kind in asked.kinds.split(","):
            for way in asked.ways.split(","):
                missing = [n for n in budgets if (kind, seed, way, n) not in known]
                took = []
                if kind == "e" and way != "tune":
                    lines = read(asked.out)
                    by_tune = {
                        (r["seed"], r["trials"]): r for r in lines if key(r) == ("e", "tune")
                    }
                    took = [by_tune[seed, n]["steps"] for n in missing]
                for line in lines_of(kind, seed, way, missing, took) if missing else ():
                    with asked.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line) + "\n")
                    print(
                        f"{kind} {line['task']} {seed} {way} {line['trials']}: "
                        f"{line['quality']:.4f} ({line['cpu']} CPU s, {line['seconds']} s)",
                        flush=True,
                    )
    print(table(read(asked.out)))


if __name__ == "__main__":
    main()
