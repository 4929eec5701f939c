"""The command `demo`: a first round on a built-in workload, in a project to look at and change."""

from __future__ import annotations

import importlib.util
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli.problems import Misuse
from tunewright.cli.project import TEXT
from tunewright.cli.project_folder import DEFAULT_STORE, FILE, ROUNDS, find_project
from tunewright.cli.running import run_round
from tunewright.cli.screen import say, screen
from tunewright.cli.tracking_page import print_tracking
from tunewright.design.toml_file import toml_value
from tunewright.errors import MissingExtra
from tunewright.execution.local import Local
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
    code = run_round(project, asked, Local(workers=workers))
    with Store.open(project.store(), create=False) as opened:
        best = opened.results(ROUND).top(1)
        say()
        print_tracking(tracking_table(opened), screen())
    say()
    say(f"look closer: cd {folder}")
    say(f"             tunewright show {ROUND}          the round, study by study")
    if best:
        say(f"             tunewright trial {ROUND} {best[0].number:<6}   the best trial's curves")
    say("your own:    tunewright init train.py:train --minimize valid_error")
    raise typer.Exit(code)


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
