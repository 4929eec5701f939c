from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.cli.small_project import ROUND, Tunewright
from tests.recorded import results

from tunewright.cli._errors import Misuse
from tunewright.cli._options import nearest_first, with_objective_options
from tunewright.design.objective import minimize

# the metrics disagree: a high rate is quick and ends badly, a low one is slow and accurate
TRAIN = """
import math, random


def train(run, learning_rate, layers=1, max_train_steps=20):
    noise = random.Random(run.seeds.init).gauss(0, 1e-6)
    for step in run.steps(max_train_steps):
        rate = math.log10(learning_rate) + 3 + noise  # 0 to 3
        dip = -1 if step == 10 else 0
        run.log(step, valid_error=3 - rate + dip * rate, accuracy=rate / 3, latency_ms=10 * rate)
"""


@pytest.fixture
def ran(project: Path, tunewright: Tunewright) -> Path:
    """The small project, run with metrics that rank its trials differently."""
    (project / "train.py").write_text(TRAIN)
    (project / "rounds" / "layers.toml").write_text(ROUND.replace("layers = [1, 2]", "layers=[1]"))
    answer = tunewright("run", "layers", "--on", "inline")
    assert answer.code == 0, answer.err
    return project


def shown(tunewright: Tunewright, *options: str) -> dict[str, object]:
    answer = tunewright("show", "layers", "--json", *options)
    assert answer.code == 0, answer.err
    found = answer.data
    completed = [t for t in found["trials"] if t["value"] is not None]
    sign = 1 if found["objective"]["minimize"] else -1
    best = min(completed, key=lambda t: sign * t["value"])
    return {**found, "best": best["number"], "value": best["value"], "step": best["best_step"]}


def test_show_ranks_by_another_metric_direction_and_step(tunewright: Tunewright, ran: Path) -> None:
    recorded = shown(tunewright)
    highest = max(recorded["trials"], key=lambda t: t["configuration"]["learning_rate"])["number"]
    lowest = min(recorded["trials"], key=lambda t: t["configuration"]["learning_rate"])["number"]
    assert (recorded["best"], recorded["step"]) == (highest, 10)
    accurate = shown(tunewright, "--maximize", "accuracy")
    assert (accurate["best"], accurate["objective"]["metric"]) == (highest, "accuracy")
    assert shown(tunewright, "--minimize", "latency_ms")["best"] == lowest
    last = shown(tunewright, "--at", "last")
    assert (last["step"], last["objective"]["metric"]) == (20, "valid_error")
    assert last["value"] > recorded["value"]
    page = tunewright("show", "layers", "--minimize", "latency_ms", "--at", "last")
    assert "best latency_ms" in page.out
    assert (
        "note        judged by minimize latency_ms (last) in place of minimize valid_error (best)"
        in page.out
    )
    # reading changed nothing, and the same objective said again is no change
    assert shown(tunewright) == recorded
    assert shown(tunewright, "--minimize", "valid_error", "--at", "best") == recorded


def test_export_carries_the_new_values(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("export", "layers", "out.csv", "--maximize", "accuracy")
    assert answer.code == 0
    assert "note: judged by maximize accuracy (best)" in answer.err
    with (ran / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows and all(row["value"] == row["accuracy"] for row in rows)


def test_check_judges_the_metric_asked_for(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("check", "layers", "--maximize", "accuracy", "--json")
    assert answer.code in (0, 1)
    assert answer.data["findings"] != tunewright("check", "layers", "--json").data["findings"]
    assert "judged by maximize accuracy (best)" in answer.err  # beside the JSON, never in it


def test_plot_and_report_show_the_metric_asked_for(tunewright: Tunewright, ran: Path) -> None:
    command = ("plot", "layers", "--only", "axis", "--format", "svg", "--json")
    (recorded,) = tunewright(*command).data["figures"]
    (anew,) = tunewright(*command, "--minimize", "latency_ms").data["figures"]
    assert recorded["data"]["metric"] == "valid_error"
    assert anew["data"]["metric"] == "latency_ms"
    answer = tunewright("report", "layers", "--minimize", "latency_ms")
    assert answer.code == 0, answer.err
    assert "Best latency_ms" in answer.out
    page = (ran / "layers.html").read_text()
    assert "judged by minimize latency_ms (best) in place of minimize valid_error (best)" in page


def test_what_trains_or_decides_goes_by_the_metric_asked_for(
    tunewright: Tunewright, ran: Path
) -> None:
    slowest = shown(tunewright, "--minimize", "latency_ms")
    page = tunewright("trial", "layers", str(slowest["best"]), "--minimize", "latency_ms")
    assert "latency_ms" in page.out
    again = tunewright(
        "repeat", "layers", "--times", "1", "--minimize", "latency_ms", "--on", "inline"
    )
    assert again.out.startswith(f"trial {slowest['best']} was ")
    assert "latency_ms; its repeats: " in again.out
    proposed = tunewright("next", "layers", "--minimize", "latency_ms", "--json")
    assert "judged by minimize latency_ms" in proposed.err
    first = tunewright("launch", "layers", "--first", "--minimize", "latency_ms")
    assert f"layers trial {slowest['best']} is the first baseline" in first.out
    options = ("--times", "3", "--on", "inline", "--json")
    by_error = tunewright("launch", "layers", *options).data
    assert by_error["decision"]["verdict"] == "launch", "by the error the other one is better"
    by_time = tunewright("launch", "layers", "--minimize", "latency_ms", *options).data
    assert by_time["decision"]["verdict"] == "launch"
    assert by_time["now"]["trial"] == slowest["best"], "and by the time that one again"


@pytest.mark.parametrize("verb", ["show", "check", "plot", "report", "export"])
def test_a_metric_never_logged_is_answered_with_the_nearest(
    tunewright: Tunewright, ran: Path, verb: str
) -> None:
    more = ("out.csv",) if verb == "export" else ()
    answer = tunewright(verb, "layers", *more, "--maximize", "acuracy")
    assert answer.code == 2
    assert "--maximize acuracy: no trial of layers has logged it" in answer.err
    assert "logged were accuracy, latency_ms, valid_error" in answer.err
    assert "try     --maximize accuracy" in answer.err
    assert not [path for path in ran.iterdir() if path.suffix in (".csv", ".html", ".plots")]


def test_one_objective_at_a_time(tunewright: Tunewright, ran: Path) -> None:
    both = tunewright("show", "layers", "--minimize", "latency_ms", "--maximize", "accuracy")
    assert both.code == 2 and "one objective at a time" in both.err
    when = tunewright("show", "layers", "--at", "lst")
    assert when.code == 2 and "try     --at last" in when.err


def test_a_round_that_logged_nothing_is_to_be_run(tunewright: Tunewright, project: Path) -> None:
    (project / "train.py").write_text(
        "def train(run, learning_rate, layers=1, max_train_steps=1):\n    pass\n"
    )
    tunewright("run", "layers", "--on", "inline")
    answer = tunewright("show", "layers", "--minimize", "loss")
    assert answer.code == 2
    assert "no trial of layers has logged anything yet" in answer.err


def test_constraints_stay_with_the_round() -> None:
    bounded = results().with_objective(
        minimize("valid_error", subject_to={"valid_error": ("<=", 0.5)})
    )
    last = with_objective_options(bounded, None, None, "last", aloud=False)
    assert last.objective == minimize("valid_error", "last", {"valid_error": ("<=", 0.5)})
    assert with_objective_options(bounded, "valid_error", None, None) is bounded
    with pytest.raises(Misuse, match="--minimize loss: no trial of weight_decay has logged it"):
        with_objective_options(bounded, "loss", None, None)
    assert nearest_first("loss", ("accuracy", "Loss/valid")) == ["Loss/valid", "accuracy"]
