"""The command `demo`: the whole loop on a built-in workload, in a project to look at and change."""

from __future__ import annotations

import importlib.util
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tunewright.campaigns.tune import Ending
from tunewright.cli._errors import answer
from tunewright.cli._options import FILE, ROUNDS, JsonOption, find_project
from tunewright.cli.tune import conclude, ending_facts, exit_code, run_campaign, write_report
from tunewright.errors import MissingExtra, Misuse
from tunewright.execution.executors.local import Local
from tunewright.messages import worded
from tunewright.present.terminal.screen import cell, say, screen, table
from tunewright.remedies import use

CAMPAIGN, ROUND, REPORT = "tune", "depth", "report.html"
_TRIALS = 100
_WORKLOAD_TEXT = """\
# What is trained, how it is judged, and where the store is.
[workload]
function = "train.py:train"
minimize = "valid_error"
test = "train.py:test"  # looked at once, at the very end
store = "tuning.db"

# The values that switch a feature off, so that probes can ask what the plain training does.
[workload.off]
weight_decay = 0.0
schedule = "constant"
"""
_CAMPAIGN_TEXT = """\
# The space of `tunewright tune`: wide, as if nothing were known. How long to train is left open.
goal = "Which configuration reads handwritten digits best?"
trials_per_study = 16

[nuisance]
learning_rate = { log = [1e-4, 10.0] }
momentum = { log_from_one = [0.5, 0.995] }
weight_decay = { log = [1e-6, 0.1] }
hidden_layers = [1, 2, 3]

[fixed]
width = 64
batch_size = 64
schedule = "linear"
"""
_ROUND_TEXT = """\
goal = "Does a second hidden layer lower the validation error?"
trials_per_study = 12

[scientific]  # whose effect is measured: one study for each value
hidden_layers = [1, 2]

[nuisance]  # tuned anew in every study, so that the comparison is fair
learning_rate = { log = [1e-3, 1.0] }
momentum = { log_from_one = [0.5, 0.99] }

[fixed]  # a caveat on every conclusion
weight_decay = 0.0
width = 64
batch_size = 64
max_train_steps = 500
schedule = "linear"
"""


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the demo's project is kept.")] = Path(
        "tunewright-demo"
    ),
    workers: Annotated[int, typer.Option(min=1, help="Trials at a time.")] = 2,
    trials: Annotated[
        int, typer.Option(min=1, metavar="N", help="Trials in all, repeats and probes included.")
    ] = _TRIALS,
    json: JsonOption = False,
) -> None:
    """Tune a small network on handwritten digits by the whole loop: about three minutes.

    How long to train, exploration, exploitation, repeats, the launch decision, the test set, and a
    report. Ctrl-C stops it; the same command resumes it.
    """
    for package, name in (("torch", "torch"), ("sklearn", "scikit-learn")):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra("demo.package_missing", package=name)
    write_project(folder)
    project = find_project(folder)
    assert project is not None  # it has just been written
    round = project.round(CAMPAIGN)
    space = f"{ROUNDS}/{CAMPAIGN}.toml"
    say(worded("demo.project", folder=folder, file=FILE, space=space, goal=round.goal))
    say(worded("demo.trials", trials=trials))
    ending = run_campaign(
        project,
        round,
        Local(workers=workers),
        trials=trials,
        name=CAMPAIGN,
    )
    page = write_report(ending, project.folder / REPORT)

    def show_ending() -> None:
        conclude(ending, page)
        say()
        _print_next(folder, ending)

    data = {"folder": project.folder, **ending_facts(ending, page)}
    answer(json, data, show_ending, exit_code(ending))


def _print_next(folder: Path, ending: Ending) -> None:
    """What to do in the demo's project, and then with a program of one's own."""
    rows = table("what next", "")
    rows.add_row(cell(f"cd {folder}"), worded("demo.open", file=REPORT))
    winner = ending.campaign.winner
    if winner is not None:
        command = f"tunewright trial {winner.place.round} {winner.place.trial}"
        rows.add_row(cell(command), worded("demo.chosen"))
    rows.add_row("tunewright ui", worded("demo.ui"))
    rows.add_row("tunewright ls", worded("demo.ls"))
    rows.add_row("tunewright history", worded("demo.history"))
    rows.add_row(f"tunewright run {ROUND}", worded("demo.own_question"))
    rows.add_row(cell("tunewright init train.py:train ..."), worded("demo.own_program"))
    screen().print(rows)


def write_project(folder: Path) -> None:
    """Write the demo's files where they are missing; what somebody changed stays as it is."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / FILE).exists():
        raise Misuse(
            "demo.folder_taken", folder=folder, remedy=use("tunewright", "demo", "ANOTHER_FOLDER")
        )
    texts = {
        Path(FILE): _WORKLOAD_TEXT,
        Path("train.py"): files("tunewright.demo").joinpath("train.py").read_text("utf-8"),
        Path(ROUNDS) / f"{CAMPAIGN}.toml": _CAMPAIGN_TEXT,
        Path(ROUNDS) / f"{ROUND}.toml": _ROUND_TEXT,
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(text, encoding="utf-8")
