"""How long do the checklist, the figures and the report take, beside Optuna's figures?

    python bench/analysis.py [--trials 10000] [--points 100] [--quick]

Four questions, in CPU seconds of this process: every check on a large round; the report of 200
trials; and, on the same trials, our figures beside those of optuna.visualization.matplotlib
(plot_slice, plot_contour, plot_param_importances), each drawn to a PNG. Prints markdown and writes
it to bench/results/analysis.md; exits with 1 when a bound is broken.
"""

from __future__ import annotations

import argparse
import datetime
import io
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib
import numpy as np
import optuna

import tunewright as tw
from tunewright.checks.checklist import QUESTIONS, check
from tunewright.present import figures as plots
from tunewright.present.report import report
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl, Walled
from tunewright.testing.worlds import World, results

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # Optuna draws by it
import sklearn.ensemble  # noqa: F401  what Optuna imports when it first needs it

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
OUT = Path(__file__).parent / "results" / "analysis.md"
CHECKS_S, REPORT_S = 10.0, 5.0  # the bounds, in CPU seconds
NUISANCE = {
    "learning_rate": tw.log(1e-5, 1.0),
    "weight_decay": tw.log(1e-6, 1e-2),
    "beta1": tw.ranges.log_from_one(0.8, 0.999),
    "width": tw.integers(64, 1024, log=True),
}


def a_round(trials: int, points: int, studies: int = 4) -> Results:
    """A round whose answer is known, with a wall beyond which trials diverge."""
    round = tw.Round(
        "bench",
        goal="How long does it take to look at?",
        scientific={"layers": list(range(1, studies + 1))},
        nuisance=NUISANCE,
        fixed={"max_train_steps": 1000},
        trials_per_study=trials // studies,
        detect=0.005,
    )
    bowl = Bowl({"learning_rate": 0.6, "weight_decay": 0.3})
    world = World(
        Walled(bowl, {"learning_rate": 1.0}, above=0.85),
        effect=lambda study: 0.01 * study.number,
        noise_sd=0.01,
        evaluations=points,
        curve_sd=0.005,
        correlation=0.5,
    )
    return results(round, world)


def as_optuna(made: Results) -> optuna.Study:
    """The same trials as an Optuna study in memory; infeasible ones as failed."""
    log, uniform = {"log": True}, {"log": False}
    distributions: dict[str, Any] = {
        "learning_rate": optuna.distributions.FloatDistribution(1e-5, 1.0, **log),
        "weight_decay": optuna.distributions.FloatDistribution(1e-6, 1e-2, **log),
        "beta1": optuna.distributions.FloatDistribution(0.8, 0.999, **uniform),
        "width": optuna.distributions.IntDistribution(64, 1024, **log),
        "layers": optuna.distributions.IntDistribution(1, len(made.studies)),
    }
    state = optuna.trial.TrialState
    study = optuna.create_study(direction="minimize")
    study.add_trials(
        [
            optuna.trial.create_trial(
                params={name: t.configuration[name] for name in distributions},
                distributions=distributions,
                value=t.value,
                state=state.COMPLETE if t.value is not None else state.FAIL,
            )
            for t in made.trials
        ]
    )
    return study


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def drawn(figure: Callable[[optuna.Study], Any], study: optuna.Study) -> None:
    axes = figure(study)
    first = np.asarray(axes, dtype=object).flat[0]
    first.figure.savefig(io.BytesIO(), format="png", dpi=110)
    plt.close("all")


def table(heads: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows])


def checks(made: Results) -> tuple[str, float]:
    """The whole checklist on results nobody has looked at yet, then every check by itself."""
    whole = cpu_seconds(lambda: check(made))
    slowest = sorted(
        ((cpu_seconds(lambda q=question: q(made)), question.__name__) for question in QUESTIONS),
        reverse=True,
    )
    rows: list[tuple[object, ...]] = [("all of them, with judging the trials", f"{whole:.2f}")]
    rows += [(name, f"{seconds:.2f}") for seconds, name in slowest[:6]]
    return table(("check", "CPU s"), rows), whole


def figures(made: Results) -> str:
    """Our figures and Optuna's, on the same trials, after one of ours has warmed matplotlib up."""
    study = as_optuna(made)
    kinds = ("axis", "isolation", "curves", "best_step", "best_of_k", "sensitivity")
    plots.axis(made).png()
    rows: list[tuple[object, ...]] = []
    for kind in kinds:
        ours = cpu_seconds(lambda k=kind: getattr(plots, k)(made).png())
        rows.append((f"tunewright {kind}", len(made.trials), f"{ours:.2f}"))
    theirs = optuna.visualization.matplotlib
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for figure in (theirs.plot_slice, theirs.plot_contour, theirs.plot_param_importances):
            spent = cpu_seconds(lambda f=figure: drawn(f, study))
            rows.append((f"optuna {figure.__name__}", len(made.trials), f"{spent:.2f}"))
    return table(("figure to PNG", "trials", "CPU s"), rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="a tenth, and write no table")
    asked = parser.parse_args()
    trials = asked.trials // 10 if asked.quick else asked.trials
    large, usual = a_round(trials, asked.points), a_round(200, 200)
    by_check, whole = checks(large)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        plots.axis(usual).png()  # importing matplotlib is paid once
        page = cpu_seconds(lambda: report(usual, path))
        size = path.stat().st_size
        large_page = cpu_seconds(lambda: report(large, path))
        large_size = path.stat().st_size
    pages = [(200, f"{page:.2f}", size // 1000), (trials, f"{large_page:.2f}", large_size // 1000)]
    today = datetime.date.today().isoformat()
    versions = f"optuna {optuna.__version__}, matplotlib {matplotlib.__version__}"
    written = f"""# Checks, figures and report

{today}, Python {platform.python_version()}, {versions}, one core of a shared machine.
`python bench/analysis.py --trials {trials} --points {asked.points}`

Every check on {trials} trials x {asked.points} points (bound: {CHECKS_S:g} s), and the slowest:

{by_check}

Report with all figures as one HTML file (bound for 200 trials: {REPORT_S:g} s):

{table(("trials", "CPU s", "kB"), pages)}

Figures beside Optuna's on the same trials. plot_slice asks what our axis figure asks,
plot_param_importances what sensitivity asks (by another method, without intervals); plot_contour
has no counterpart of ours, and isolation, best_step and best_of_k none of Optuna's.

{figures(usual)}

{figures(large)}
"""
    print(written)
    if not asked.quick:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(written, encoding="utf-8")
    return int(whole > CHECKS_S or page > REPORT_S)


if __name__ == "__main__":
    sys.exit(main())
