"""What can be done after a round that another tool recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.advice.generated_rounds import generated
from tests.launches.rounds_of_worlds import asked, ran

from tunewright.actions import Advise
from tunewright.advice.next_round import next_round
from tunewright.testing import Bowl, World


def test_no_proposal_needs_a_program_that_is_not_here() -> None:
    for seed in range(30):
        made = replace(generated(seed), imported=True)
        own = next_round(replace(made, imported=False))
        found = next_round(made)
        assert [one.kind for one in found] == [one.kind for one in own]
        for one in found:
            assert one.actions and not any(action.trains for action in one.actions), seed
            assert one.round is None or one.round.name != made.round.name


def test_it_says_how_to_continue() -> None:
    outside = World(Bowl({"learning_rate": 1.2, "beta1": 0.5}), noise_sd=0.005)
    wide = next_round(replace(ran(asked(), outside), imported=True))[0]
    names = ["learning_rate", "beta1", "max_train_steps"]
    assert (wide.kind, wide.actions) == ("widen", (Advise("connect_program", {"names": names}),))
    few = World(Bowl({"learning_rate": 0.5, "beta1": 0.5}))
    more = next_round(replace(ran(asked(trials_per_study=5), few), imported=True))[0]
    assert (more.kind, more.round, more.actions) == (
        "more_trials",
        None,
        (Advise("train_elsewhere"),),
    )


@pytest.mark.parametrize("imported", [True, False])
def test_tables_say_which_trials_another_tool_recorded(imported: bool) -> None:
    polars = pytest.importorskip("polars")
    made = replace(ran(asked(trials_per_study=4), World(Bowl({"beta1": 0.5}))), imported=imported)
    frame = made.to_polars()
    assert frame["imported"].dtype == polars.Boolean
    assert frame["imported"].to_list() == [imported] * 4
