"""The contestants by name; what a name needs is imported when it is asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import tunewright as tw
from tunewright.search.search import Search

from .contestant import Opening, Random, of, ours

NAMES = (
    *("bayesian", "random", "halton", "optuna_tpe", "optuna_tpe_worst"),
    *("optuna_gp", "optuna_gp_worst", "ax", "ax_worst", "hebo_worst"),
)
# what they try does not depend on results, so that one run stands for any number of workers
STATIC = ("halton", "random")
# alike where nothing diverges, so that one of the two need not be run there
ALIKE = {"optuna_gp_worst": "optuna_gp", "ax_worst": "ax"}


def opening(name: str) -> Opening:
    """How a run of this contestant begins; `file.py:NAME` is a search defined in a file."""
    if ".py:" in name:
        return of(_from_file(name))
    if name.partition(":")[0] == "bayesian":
        return ours(name)
    worst = name.endswith("_worst")
    match name.removesuffix("_worst"):
        case "random":
            return of(Random())
        case "halton":
            return of(tw.search.Halton())
        case "optuna_tpe":
            from .optuna_contestants import tpe

            return tpe(worst)
        case "optuna_gp":
            from .optuna_contestants import gp

            return gp(worst)
        case "ax":
            from .ax_contestant import ax

            return ax(worst)
        case "hebo":
            from .hebo_contestant import hebo

            return hebo
    raise SystemExit(
        f"no contestant {name!r}. There are {', '.join(NAMES)}, bayesian:field=value,... and "
        "file.py:NAME."
    )


def _from_file(name: str) -> Search:
    path, _, attribute = name.partition(":")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    search: Search = getattr(module, attribute)
    return search
