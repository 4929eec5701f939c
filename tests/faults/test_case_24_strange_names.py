"""Case 24: names that look like paths, or like nothing at all, never leave the folder."""

from __future__ import annotations

import os
import re

import pytest
from tests.faults.quick_rounds import OBJECTIVE, asked, check, workload
from typer.testing import CliRunner

import tunewright as tw
from tunewright.cli.main import app
from tunewright.errors import DesignError, Misuse, TunewrightError
from tunewright.store import journal as conclusions

NAMES = {
    "traversal": "../../x",
    "absolute": "/x/y",
    "backslash": "..\\..\\x",
    "home": "~/x",
    "nul": "a\0b",
    "empty": "",
    "blank": "   ",
    "long": "x" * 5_000,
    "unicode": "größe 漢字 \N{SNOWMAN} a\u0301",
    "surrogate": "half \ud800",
    "newline": "a\nb",
    "escape": "\x1b[31mred",
    "option": "--help",
    "dots": "..",
    "device": "CON",
    "sql": "'; DROP TABLE trial; --",
    "template": "{run.folder} $(touch x) %s",
}


def tree(folder) -> set[str]:
    return {os.path.join(at, name) for at, dirs, files in os.walk(folder) for name in dirs + files}


@pytest.mark.parametrize("kind", NAMES)
def test_case_24_round(tmp_path, kind):
    name, project = NAMES[kind], tmp_path / "one" / "two"
    project.mkdir(parents=True)
    journal, store = tmp_path / "journal", project / "tuning.db"
    outside = tree(tmp_path) - tree(project)
    try:
        round = asked(journal, 2, name)
    except DesignError as refused:
        assert "name" in str(refused) and len(str(refused)) < 2_000
        return
    check(tw.run(round, workload(store)), journal, 2)
    check(tw.load(store, name), journal, 2)
    assert tree(tmp_path) - tree(project) == outside | {str(journal)}, "never outside the root"
    trials = project / "tuning.db.trials"
    made = {path.name for path in trials.iterdir()} - {"store.json", conclusions.FOLDER}
    assert all(re.fullmatch(r"r\d+-[0-9a-f]+", entry) for entry in made), "made of ids"
    told = [path.name for path in (trials / conclusions.FOLDER).glob("*")]
    assert all(re.fullmatch(r"[a-z]+-[0-9.]+\.json", entry) for entry in told), "kind and time"


@pytest.mark.parametrize("kind", NAMES)
def test_case_24_scientific_value(tmp_path, kind):
    """The values of a scientific hyperparameter name the studies."""
    value, project = NAMES[kind], tmp_path / "one" / "two"
    project.mkdir(parents=True)
    outside = tree(tmp_path) - tree(project)

    def named(run, label, learning_rate):
        run.log(1, valid_error=learning_rate)
        run.save({"step": 1})

    try:
        round = tw.Round(
            "labels",
            goal="Where do they go?",
            scientific={"label": [value, "plain"]},
            nuisance={"learning_rate": tw.log(0.1, 1.0)},
            trials_per_study=1,
        )
    except DesignError as refused:
        assert "label" in str(refused)
        return
    work = tw.Workload(
        named, OBJECTIVE, store=project / "tuning.db", executor=tw.executors.Inline()
    )
    results = tw.run(round, work)
    assert results.counts == {"completed": 2}
    assert results.best(label=value).configuration["label"] == value
    assert tree(tmp_path) - tree(project) == outside, "never outside the root"


@pytest.mark.parametrize("kind", NAMES)
def test_case_24_command_line(tmp_path, monkeypatch, kind):
    project = tmp_path / "one" / "two"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    (project / "tunewright.toml").write_text(
        '[workload]\ncommand = "true {learning_rate}"\nminimize = "valid_error"\n'
    )
    outside = tree(tmp_path) - tree(project)
    for verb in ("new", "run", "show", "stop"):
        done = CliRunner().invoke(app, [verb, "--", NAMES[kind]])
        refused = (TunewrightError, Misuse, SystemExit)  # said as a sentence, by the entry point
        assert done.exception is None or isinstance(done.exception, refused), done.exception
        assert "Traceback" not in done.output
    assert tree(tmp_path) - tree(project) == outside, "never outside the project"
    assert tree(project / "rounds") <= {str(p) for p in (project / "rounds").glob("*.toml")}
