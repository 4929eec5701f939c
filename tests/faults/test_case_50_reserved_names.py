"""Case 50: a hyperparameter that a program would receive as something else is refused."""

from __future__ import annotations

import pytest
from tests.faults.quick_rounds import OBJECTIVE

import tunewright as tw
from tunewright.errors import DesignError

RESERVED = ["config", "overrides", "run.folder", "run.port", "run.devices", "run.start_step"]


def train(run, **settings):
    raise AssertionError("nothing may be trained")


def attempted(tmp_path, work, name: str) -> DesignError:
    round = tw.Round(
        "names",
        goal="Is it what was recorded?",
        scientific={name: ["v1", "v2"]},
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=2,
    )
    with pytest.raises(DesignError) as refused:
        tw.run(round, tw.Workload(work, OBJECTIVE, store=tmp_path / "tuning.db"))
    assert not list(tmp_path.glob("*.trials")), "refused before compute"
    return refused.value


@pytest.mark.parametrize("name", RESERVED)
def test_case_50_fields_of_a_command(tmp_path, name):
    command = tw.command("python -c pass {learning_rate} {config} {run.seed}")
    error = attempted(tmp_path, command, name)
    assert error.code == "hyperparameter.reserved" and error.facts["names"] == [name]


def test_case_50_the_handle_of_a_function(tmp_path):
    error = attempted(tmp_path, train, "run")
    assert error.code == "hyperparameter.reserved" and error.facts["names"] == ["run"]
