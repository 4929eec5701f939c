"""What Tunewright says without its optional packages: a program that tries one feature per extra.

    python missing_extras.py FOLDER

It is for an environment with the core alone. It prints a JSON object: extra -> [kind of error, its
sentence], `[]` where the attempt succeeds.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def train(run: Any, learning_rate: float, max_train_steps: int = 5) -> None:
    """Enough of a training for a round."""
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=learning_rate + 1 / step)


def attempts(folder: Path) -> Mapping[str, Callable[[], object]]:
    """One use of every extra."""
    import tunewright as tw
    from tunewright import _jax_arrays
    from tunewright.cli.demo import demo
    from tunewright.cli.mcp import mcp
    from tunewright.integrations import keras

    store = folder / "tuning.db"
    inline = tw.executors.Inline()
    workload = tw.Workload(train, tw.minimize("valid_error"), store=store, executor=inline)
    nuisance = {"learning_rate": tw.log(1e-3, 1)}
    one = tw.Round("one", goal="Does it run?", nuisance=nuisance, trials_per_study=2)
    results = tw.run(one, workload, progress="off")

    def with_sink() -> None:
        tw.run(one, tw.Workload(train, tw.minimize("valid_error"), store=store, sinks=["mlflow"]))

    def on_ray() -> None:
        ray = tw.executors.Ray()
        again = tw.Round("ray", goal="Does it run?", nuisance=nuisance, trials_per_study=2)
        tw.run(again, tw.Workload(train, tw.minimize("valid_error"), store=store, executor=ray))

    return {
        "torch": lambda: importlib.import_module("tunewright.pipeline"),
        "frames": results.to_polars,
        "plots": lambda: tw.plots.axis(results).save(folder / "axis.png"),
        "jax": lambda: _jax_arrays.unpack("jax", ["float32", [1]], None),
        "ray": on_ray,
        "postgres": lambda: tw.load("postgresql://reader@127.0.0.1:1/none", "one"),
        "ui": lambda: tw.serve(store),
        "mcp": mcp,
        "demo": lambda: demo(folder / "demo"),
        "trackers": with_sink,
        "integrations": keras.callback,
    }


def answers(folder: Path) -> dict[str, list[str]]:
    """What each attempt ends in; `[]` where it succeeds."""
    found: dict[str, list[str]] = {}
    for extra, attempt in attempts(folder).items():
        try:
            attempt()
        except Exception as error:
            found[extra] = [type(error).__name__, str(error)]
        else:
            found[extra] = []
    return found


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):  # the demo prints what it is
        said = answers(Path(sys.argv[1]))
    print(json.dumps(said))
