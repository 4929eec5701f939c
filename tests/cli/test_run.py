from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import ROUND, Tunewright
from tests.recorded import results

from tunewright.cli._options import find_project
from tunewright.cli.run import exit_code
from tunewright.execution.executors.inline import Inline
from tunewright.execution.run import load, supervise
from tunewright.progress.watcher import Summary, Why
from tunewright.store.store import Store

BROKEN = """
def train(run, learning_rate, layers=1, max_train_steps=1):
    raise ValueError('broken')
"""


def test_a_round_runs_and_continues(tunewright: Tunewright, project: Path) -> None:
    first = tunewright("run", "layers", "--on", "inline")
    assert first.code == 0
    assert "layers: finished" in first.out
    assert "8 trials:" in first.out
    assert "next: tunewright check layers" in first.out
    again = tunewright("run", "layers", "--on", "inline")
    assert again.code == 0
    assert "begins" not in again.err  # nothing is trained twice
    assert "8 trials, 8 ended before" in again.err


def test_progress_goes_to_standard_error_one_line_per_event(
    tunewright: Tunewright, project: Path
) -> None:
    answer = tunewright("run", "layers", "--on", "inline")
    assert answer.err.count(" begins  layers ") == 8
    assert "\x1b" not in answer.err + answer.out
    assert " best " in answer.err


@pytest.mark.beyond_core
def test_worker_processes_run_it_too(tunewright: Tunewright, project: Path) -> None:
    answer = tunewright("run", "layers", "--workers", "2")
    assert answer.code == 0
    with Store.open(project / "tuning.db", create=False) as store:
        assert len([t for t in store.results("layers").trials if t.ended]) == 8


def test_raising_the_trials_adds_only_the_missing_ones(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("run", "layers", "--on", "inline", "--trials", "6")
    assert answer.code == 0
    assert answer.err.count(" begins ") == 4
    assert "12 trials" in answer.out


def test_fewer_trials_than_recorded_run_only_the_first_of_each_study(
    tunewright: Tunewright, project: Path
) -> None:
    own = find_project(project)
    assert own is not None
    with own.entered():
        supervise(own.round("layers"), own.workload(executor=Inline()), trials=1)
    answer = tunewright("run", "layers", "--on", "inline", "--trials", "2")
    assert answer.err.count(" begins ") == 3
    assert "4 pending" in answer.out
    again = tunewright("run", "layers", "--on", "inline", "--trials", "2")
    assert "ended already" in again.out
    assert again.code == 0


def test_a_dry_run_touches_nothing(tunewright: Tunewright, project: Path) -> None:
    before = sorted(project.rglob("*"))
    answer = tunewright("run", "layers", "--dry-run", "--workers", "3")
    assert answer.code == 0
    for expected in (
        "minimize valid_error (best)",
        "scientific  layers [1, 2]",
        "trials      2 studies of 4: 8 trials (halton)",
        "cost        8 trainings; hours not known before one has ended: --dry-run --measure",
        "caveat      holds for max_train_steps = 20",
        "advice      ",
        "dry run: nothing was recorded",
    ):
        assert expected in answer.out
    assert answer.out.count("learning_rate 0") == 6  # the first three of each study
    assert [p for p in sorted(project.rglob("*")) if "__pycache__" not in str(p)] == before


def test_a_dry_run_knows_the_cost_once_trials_have_ended(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("run", "layers", "--dry-run", "--trials", "20", "--workers", "2")
    assert "40 trials, 8 of them ended already" in answer.out
    assert "with 2 workers" in answer.out
    assert "cost        32 trainings, " in answer.out
    assert "judged by 8 trainings of this round" in answer.out


def test_a_changed_round_is_refused_with_the_difference(tunewright: Tunewright, ran: Path) -> None:
    path = ran / "rounds" / "layers.toml"
    path.write_text(path.read_text().replace("[1e-3, 1.0]", "[1e-4, 1.0]"))
    answer = tunewright("run", "layers", "--on", "inline")
    assert answer.code == 2
    assert "was log(0.001, 1), is log(0.0001, 1)" in answer.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "layer"), "did you mean 'layers'"),
        (("run", "layers", "--on", "lokal"), "--on local"),
        (("run", "layers", "--search", "haltn"), "--search halton"),
        (("run", "layers", "--workers", "0"), "--workers"),
        (("run", "layers", "--wokers", "2"), "--workers"),
        (("run", "layers", "--max-hours", "0"), "max_hours"),
        (("rnu", "layers"), "run"),
        (("run",), "ROUND"),
        (("repeat", "layers"), "tuning.db"),
        (("worker", "layers"), "tuning.db"),
        (("stop", "layers"), "tuning.db"),
    ],
)
def test_wrong_use_is_answered_with_the_right_one(
    tunewright: Tunewright, project: Path, arguments: tuple[str, ...], says: str
) -> None:
    answer = tunewright(*arguments)
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert says in answer.err
    assert "Traceback" not in answer.err


def test_names_the_program_does_not_take_are_refused(tunewright: Tunewright, project: Path) -> None:
    path = project / "rounds" / "layers.toml"
    path.write_text(path.read_text().replace("learning_rate", "learning_rat"))
    answer = tunewright("run", "layers")
    assert answer.code == 2
    assert "learning_rate" in answer.err


def test_a_program_that_always_fails_ends_with_3(tunewright: Tunewright, project: Path) -> None:
    (project / "train.py").write_text(BROKEN)
    answer = tunewright("run", "layers", "--on", "inline")
    assert answer.code == 3
    assert "ValueError: broken" in answer.err
    assert "--retry-failed" in answer.out
    assert "next: tunewright trial layers 0" in answer.out
    shown = tunewright("trial", "layers", "0")
    assert shown.code == 0
    assert "raise ValueError('broken')" in shown.out
    assert f"where       {project / 'train.py'}:3" in shown.out


@pytest.mark.beyond_core
def test_repeats_are_counted_in_all(tunewright: Tunewright, ran: Path) -> None:
    first = tunewright("repeat", "layers", "--times", "2")
    assert first.code == 0
    assert "its repeats: " in first.out
    assert "standard deviation" in first.out
    assert first.err.count(" begins") == 2
    again = tunewright("repeat", "layers", "--times", "3")
    assert again.err.count(" begins") == 1


@pytest.mark.beyond_core
def test_a_chosen_trial_is_repeated(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("repeat", "layers", "--times", "1", "--trial", "1")
    assert answer.code == 0
    assert answer.out.startswith("trial 1 was ")
    assert tunewright("repeat", "layers", "--trial", "99").code == 2


def test_stop_asks_and_says_so(tunewright: Tunewright, ran: Path) -> None:
    assert tunewright("stop", "layers").code == 0
    assert tunewright("stop", "layers", "99").code == 2


@pytest.mark.beyond_core
def test_a_worker_joins_what_is_left(tunewright: Tunewright, project: Path) -> None:
    own = find_project(project)
    assert own is not None
    with own.entered():
        supervise(own.round("layers"), own.workload(executor=Inline()), trials=3)
    answer = tunewright("worker", "layers", "--workers", "1")
    assert answer.code == 0
    assert answer.err.count(" begins ") == 5
    counts = tunewright("show", "layers", "--json").data["counts"]
    assert sum(counts.values()) == counts["completed"] + counts["infeasible"] == 8


@pytest.mark.parametrize(
    ("why", "code"),
    [
        ("finished", 0),
        ("out of time", 0),
        ("limit", 0),
        ("interrupted", 130),
        ("terminated", 130),
        ("asked to stop", 130),
        ("all failed", 3),
        ("no suggestion", 3),
    ],
)
def test_exit_codes(why: Why, code: int) -> None:
    assert exit_code(results(), Summary(why)) == code


WRONG = """
goal = "Which?"
trials_per_study = 4
[scientific]
layers = 2
[nuisance]
learning_rate = { log = [1.0, 1e-3] }
max_train_steps = { integers = [10, 20] }
dropout = { linear = [0.0, 0.5] }
"""


def test_every_problem_of_a_round_file_comes_at_once(tunewright: Tunewright, project: Path) -> None:
    """Syntax, roles, ranges, and what the program does not take, in one error."""
    (project / "rounds" / "wrong.toml").write_text("search = 'grid'\n" + WRONG)
    error = tunewright("run", "wrong", "--dry-run", "--json").error
    found = [_inner(one) for one in error["problems"]]
    assert set(found) == {
        *("file.bad_search", "range.low_above_high", "round.scientific_value"),
        *("guard.searched_steps", "guard.unknown_name"),
    }


def _inner(problem):
    while "problem" in problem.get("facts", problem):
        problem = problem.get("facts", problem)["problem"]
    return problem["code"]


@pytest.mark.parametrize("given", ["rounds/layers.toml", "layers.toml", "./rounds/layers.toml"])
def test_a_round_may_be_named_by_its_file(tunewright: Tunewright, project: Path, given) -> None:
    planned = tunewright("run", given, "--dry-run", "--json")
    assert planned.data["round"]["name"] == "layers"


def test_the_file_may_name_search_and_evaluations(tunewright: Tunewright, project: Path) -> None:
    tune = ROUND.replace("[scientific]\nlayers = [1, 2]\n", "")
    (project / "rounds" / "tune.toml").write_text("search = 'bayesian'\neval_every = 7\n" + tune)
    assert tunewright("run", "tune", "--on", "inline").code == 0
    found = load(project / "tuning.db", "tune")
    assert found.search == "bayesian"
    assert list(found.trial(0).curves["valid_error"].steps) == [7, 14, 20]
    assert tunewright("run", "tune", "--trials", "5", "--on", "inline").code == 0


def test_the_project_may_name_search_and_evaluations(tunewright: Tunewright, project: Path) -> None:
    path = project / "tunewright.toml"
    text = path.read_text().replace("[workload]", "[workload]\nsearch = 'auto'\neval_every = 5", 1)
    path.write_text(text)
    assert tunewright("run", "layers", "--on", "inline").code == 0
    found = load(project / "tuning.db", "layers")
    assert found.search == "halton"  # what suits a comparison
    assert set(found.trial(0).curves["valid_error"].steps) == {5, 10, 15, 20}
