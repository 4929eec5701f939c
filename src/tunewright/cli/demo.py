"""The command `demo`: a first round on a built-in workload, in a project to look at and change."""

from __future__ import annotations

import importlib.util
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli import words
from tunewright.cli.next_step import next_steps
from tunewright.cli.problems import Misuse
from tunewright.cli.project import TEXT
from tunewright.cli.project_folder import DEFAULT_STORE, FILE, ROUNDS, find_project
from tunewright.cli.round_page import without_fixed
from tunewright.cli.running import run_round
from tunewright.cli.screen import cell, say, screen, table
from tunewright.cli.tracking_page import print_tracking
from tunewright.design.toml_file import toml_value
from tunewright.errors import MissingExtra
from tunewright.execution.local import Local
from tunewright.record.results import Results
from tunewright.record.store import Store
from tunewright.record.tracking import tracking_table

ROUND = "depth"
ROUND_TEXT = """\
goal = "Does a second hidden layer lower the validation error?"
trials_per_study = 12

[scientific]  # whose effect is measured: one study for each value
hidden_layers = [1, 2]

[nuisance]  # tuned anew in every study, so that the comparison is fair
learning_rate = { log = [1e-3, 1.0] }
momentum = { log_from_one = [0.5, 0.99] }

[fixed]  # a caveat on every conclusion
width = 64
batch_size = 64
max_train_steps = 500
"""


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the demo's project is kept.")] = Path(
        "tunewright-demo"
    ),
    workers: Annotated[int, typer.Option(min=1, help="Trials at a time.")] = 2,
) -> None:
    """Tune a small network on handwritten digits: one round of two studies, under a minute."""
    for package, name in (("torch", "torch"), ("sklearn", "scikit-learn")):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(f"the demo needs {name}: pip install 'tunewright[demo]'")
    write_project(folder)
    project = find_project(folder)
    assert project is not None  # it has just been written
    asked = project.round(ROUND)
    say(f"The demo's project is {folder}/: train.py (what is trained), {FILE} (how it is judged),")
    say(f"{ROUNDS}/{ROUND}.toml (what is asked). It asks: {asked.goal}")
    say(
        f"{len(asked.studies)} studies of {asked.trials_per_study} trials, learning rate and "
        "momentum tuned in each; too large a learning rate diverges."
    )
    code = run_round(project, asked, Local(workers=workers), advise=False)
    with Store.open(project.store(), create=False) as opened:
        results, rows = opened.results(ROUND), tracking_table(opened)
    say()
    for best in results.top(1):
        settings = words.configuration(best.configuration, without_fixed(results.round))
        reached = f"valid_error {words.number(best.value)}, trial {best.number}"
        say(f"best configuration: {settings}  ({reached})", style="bold")
        say()
    print_tracking(rows, screen())
    say()
    print_next(folder, results)
    raise typer.Exit(code)


def print_next(folder: Path, results: Results) -> None:
    """What to do in the demo's project, and then with a program of one's own."""
    made = table("what next", "")
    made.add_row(cell(f"cd {folder}"), "")
    made.add_row(cell(f"tunewright show {ROUND}"), "the round, study by study")
    for best in results.top(1):
        command = f"tunewright trial {ROUND} {best.number}"
        made.add_row(cell(command), "the best trial: its curves, its seed, its checkpoint")
    for step in next_steps(results)[:2]:
        made.add_row(cell(step.command), cell(step.why))
    made.add_row(cell("tunewright init train.py:train ..."), "in the folder of your own program")
    screen().print(made)


def write_project(folder: Path) -> None:
    """Write the demo's files where they are missing; what somebody changed stays as it is."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / FILE).exists():
        raise Misuse(
            f"{folder} is there already, and is not the demo's",
            remedy="tunewright demo ANOTHER_FOLDER",
        )
    settings = TEXT.format(
        kind="function",
        what=toml_value("train.py:train"),
        verb="minimize",
        metric=toml_value("valid_error"),
        store=toml_value(DEFAULT_STORE),
    )
    texts = {
        Path(FILE): settings,
        Path("train.py"): files("tunewright.demo").joinpath("train.py").read_text("utf-8"),
        Path(ROUNDS) / f"{ROUND}.toml": ROUND_TEXT,
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(text, encoding="utf-8")
