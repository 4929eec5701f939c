"""A program that runs a round on a Ray cluster; tests kill it and start it again."""

from __future__ import annotations

import sys

from tests.execution import cluster_programs as programs

import tunewright as tw


def main(address: str, store: str, events: str) -> None:
    round = tw.Round(
        "restart", goal="?", scientific={}, nuisance={"x": tw.linear(0, 1)},
        fixed={"events": events, "steps": 20, "sleep_s": 0.05}, trials_per_study=6,
    )  # fmt: skip
    objective = tw.minimize("valid_error")
    tw.run(
        round,
        tw.Workload(
            programs.steady, objective, store=store, executor=tw.executors.Ray(address=address)
        ),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
