"""Which search finds good configurations soonest? Problems, contestants, a runner and tables.

    python -m bench.search prepare                      # once: arrays out of ../shared/data
    python -m bench.search run --problems building --contestants bayesian halton --seeds 3 --jobs 2
    python -m bench.search costs
    python -m bench.search table --problems building
    python -m bench.search check                        # are the problems what they claim?

Runs are lines of JSON in out/search/runs.jsonl; what is there already is not run again, so a run
can be stopped and added to. `table` reads them. README.md in this folder says how to enter a
variant of our search, and what is kept apart from what.
"""
