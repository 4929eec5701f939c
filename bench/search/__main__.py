"""The command: prepare, check, run, costs, table."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: runs are parallel, not their algebra

from .problems import chosen
from .run import RUNS, add, read, wanted


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("prepare", help="arrays out of ../shared/data")
    check = verbs.add_parser(
        "check", help="find optimum and median of problems anew, and keep them"
    )
    check.add_argument("names", nargs="*", help="all without any")
    run = verbs.add_parser("run", help="add the runs that are missing")
    run.add_argument("--contestants", nargs="+", required=True)
    run.add_argument("--seeds", type=int, default=3)
    run.add_argument("--first-seed", type=int, default=0, help="pass over so many")
    run.add_argument("--workers", type=int, nargs="+", default=[1, 8], choices=[1, 8])
    run.add_argument("--most", type=int, default=0, help="trials, fewer than the full budget")
    run.add_argument("--jobs", type=int, default=1)
    run.add_argument("--minutes", type=float, default=float("inf"), help="start none later")
    table = verbs.add_parser("table", help="the runs as markdown")
    table.add_argument("--by-problem", action="store_true")
    for verb in (run, table):
        verb.add_argument("--problems", nargs="+", default=["building"])
        verb.add_argument("--out", type=Path, nargs="+", default=[RUNS])
    costs = verbs.add_parser("costs", help="CPU seconds per ask and tell")
    costs.add_argument("--contestants", nargs="+", required=True)
    costs.add_argument("--told", type=int, nargs="+", default=[10, 100, 1000, 10000])
    args = parser.parse_args()
    if args.verb == "prepare":
        from .prepare import prepare

        print("\n".join(prepare()))
    elif args.verb == "check":
        from .reference import write

        write(args.names)
    elif args.verb == "costs":
        from .costs import costs as measure

        print(measure(args.contestants, args.told))
    elif args.verb == "run":
        tasks = wanted(
            chosen(args.problems),
            args.contestants,
            args.seeds,
            args.workers,
            args.first_seed,
            args.most,
        )
        made, left = add(tasks, args.jobs, args.out[0], args.minutes)
        print(f"{made} runs added to {args.out[0].name}, {left} left")
    else:
        from .table import per_problem, tables

        runs = [one for path in args.out for one in read(path)]
        names = [p.name for p in chosen(args.problems)]
        contestants = list(dict.fromkeys(r.task.contestant for r in runs))
        print(per_problem(runs, names, contestants) if args.by_problem else tables(runs, names))


if __name__ == "__main__":
    main()
