"""The cost of a dry run: the same facts by Python, by `--json`, by its text, and over MCP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import (
    project as project,
    ran as ran,
    ran_once as ran_once,
    tunewright as tunewright,
)
from tests.cli.small_project import Tunewright

import tunewright as tw
from tunewright.mcp.tools import call
from tunewright.present.envelope import plain

pytestmark = pytest.mark.beyond_core
PRICE = tw.budgets.Price(2.0, "EUR")
SHELL = ("--dry-run", "--on", "inline", "--price", "2 EUR")


def workload() -> tw.Workload:
    return tw.project.load().workload(executor=tw.executors.Inline())


def test_run(tunewright: Tunewright, ran: Path) -> None:
    path = ran / "rounds" / "layers.toml"
    path.write_text(path.read_text().replace("= 4", "= 7"))
    python = tw.costs.of_run(tw.project.load().round("layers"), workload()).priced(PRICE)
    assert plain(python) == tunewright("run", "layers", *SHELL, "--json").data["cost"]
    assert python.message.text in tunewright("run", "layers", *SHELL).out


def test_the_same_over_mcp(tunewright: Tunewright, ran: Path) -> None:
    path = ran / "rounds" / "layers.toml"
    path.write_text(path.read_text().replace("= 4", "= 7"))
    found = call("dry_run", {"round": "layers", "detail": True}, ran).to_data()
    shell = tunewright("run", "layers", "--dry-run", "--json").data["cost"]
    assert json.loads(json.dumps(found["detail"]["cost"])) == shell
    assert found["numbers"]["basis"] == shell["basis"] == "round"
    assert found["numbers"]["high_hours"] == pytest.approx(shell["clock_hours"][1], rel=0.01)


def test_repeat(tunewright: Tunewright, ran: Path) -> None:
    best = tw.load("tuning.db", "layers").best()
    python = tw.costs.of_repeat(best, workload(), 4).priced(PRICE)
    asked = ("repeat", "layers", "--times", "4", *SHELL)
    assert plain(python) == tunewright(*asked, "--json").data["cost"]
    assert python.message.text in tunewright(*asked).out


def test_tune(tunewright: Tunewright, ran: Path) -> None:
    space = tw.project.load().round("layers")
    python = tw.costs.of_tune(workload(), space, trials=30, name="layers").priced(PRICE)
    asked = ("tune", "layers", "--trials", "30", *SHELL)
    assert plain(python) == tunewright(*asked, "--json").data["cost"]
    assert python.message.text in tunewright(*asked).out


def test_launch(tunewright: Tunewright, ran: Path) -> None:
    results = tw.load("tuning.db", "layers")
    report = tw.launch(results, workload(), dry_run=True).priced(PRICE)
    assert plain(report) == tunewright("launch", "layers", *SHELL, "--json").data
    assert report.plan is not None and report.plan.cost is not None
    assert report.plan.cost.message.text in tunewright("launch", "layers", *SHELL).out


@pytest.mark.parametrize("probe", ["stability", "train_steps"])
def test_probes(probe: str, tunewright: Tunewright, ran: Path) -> None:
    best = tw.load("tuning.db", "layers").best()
    python = tw.costs.of_probe(probe, workload(), trial=best).priced(PRICE)
    asked = ("probe", probe.replace("_", "-"), "layers", *SHELL)
    assert plain(python) == tunewright(*asked, "--json").data["cost"]
    assert python.message.text in tunewright(*asked).out


def test_show_and_run_state_what_was_spent(tunewright: Tunewright, ran: Path) -> None:
    python = tw.budgets.spending(tw.load("tuning.db", "layers"))
    assert plain(python) == tunewright("show", "layers", "--json").data["spending"]
    assert python.message.text in tunewright("show", "layers").out
