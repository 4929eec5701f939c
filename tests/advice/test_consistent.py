"""No answer proposes a thing and its opposite, and nothing that the tool then refuses."""

from __future__ import annotations

import itertools
from pathlib import Path

import click
import pytest
import typer
from tests.advice.generated_rounds import generated, train
from tests.launches.rounds_of_worlds import asked

import tunewright as tw
from tunewright.advice.next_round import EXCLUDED, consistent, contradict, next_round
from tunewright.advice.proposal import Kind, Proposal, proposal, successor
from tunewright.cli.main import app
from tunewright.messages import Message
from tunewright.present.terminal.plan_page import plan
from tunewright.store.results import Results

ROUNDS = 240
PART = 20  # of the generated rounds in one test


def of(kind: Kind, code: str = "proposal.repeat") -> Proposal:
    return proposal(kind, code, gain=0.0, matters=None)


@pytest.mark.parametrize(
    ("one", "other"),
    [(kind, other) for kind, excluded in EXCLUDED.items() for other in sorted(excluded)],
)
def test_excluded_pairs_keep_the_first_whatever_their_order(one: Kind, other: Kind) -> None:
    assert contradict(of(one), of(other), asked()) and contradict(of(other), of(one), asked())
    assert [p.kind for p in consistent([of(other), of(one)], asked())] == [other]


def test_more_of_a_suspected_program_is_left_out() -> None:
    suspect = of("repair", "proposal.suspect")
    kept = consistent([suspect, of("widen"), of("more_trials"), of("longer")], asked())
    assert [p.kind for p in kept] == ["repair", "widen"]
    probes = of("repair", "proposal.repair")  # a remedy against instability
    assert len(consistent([probes, of("more_trials")], asked())) == 2


def test_an_end_is_not_moved_out_and_in() -> None:
    round = asked()

    def moved(kind: Kind, low: float, high: float) -> Proposal:
        rates = {**round.nuisance, "learning_rate": tw.log(low, high)}
        made = successor(round, Message("change.wider", {"names": []}), nuisance=rates)
        return proposal(kind, "proposal.no_trial_has_run", round=made)

    out = moved("widen", 1e-4, 1.0)
    assert contradict(out, moved("narrow", 1e-4, 1e-2), round)
    assert not contradict(out, moved("narrow", 1e-3, 1e-1), round)  # the other end


def parsed(argv: tuple[str, ...]) -> None:
    """Parse a command line as the tool would, without running it."""
    command: click.Command = typer.main.get_command(app)
    words = list(argv[1:])
    context = click.Context(command, info_name="tunewright")
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, argv
        command, words = getattr(found, "real", found), words[1:]
    command.make_context("tunewright", words, parent=context)


def opened(made: Results, one: Proposal, folder: Path) -> None:
    """Open the proposed round in a store that has the first one, with the workload's refusals."""
    assert one.round is not None
    store = folder / "tuning.db"
    search = tw.search.Bayesian() if one.search == "bayesian" else tw.search.Halton()
    workload = tw.Workload(train, tw.minimize("valid_error"), store=str(store))
    prepared = plan(one.round, workload, search, workers=1)
    assert prepared.left > 0
    with tw.open_round(one.round, made.objective, store, search):
        pass


@pytest.mark.parametrize(
    "first",
    [0, *(pytest.param(n, marks=pytest.mark.beyond_core) for n in range(PART, ROUNDS, PART))],
)
def test_generated_rounds_get_consistent_proposals_that_the_tool_accepts(
    first: int, tmp_path: Path
) -> None:
    for seed in range(first, first + PART):
        made = generated(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        with tw.open_round(made.round, made.objective, folder / "tuning.db", tw.search.Halton()):
            pass
        proposals = next_round(made)
        assert proposals, seed
        for one, other in itertools.combinations(proposals, 2):
            assert not contradict(one, other, made.round), (seed, one.kind, other.kind)
        for number, one in enumerate(proposals):
            assert one.reason.text and "{" not in one.reason.text
            for action in one.actions:
                if action.argv:
                    parsed(action.argv)
            if one.round is None:
                continue
            if one.round.name != made.round.name:
                named = tw.Round(**{**_fields(one.round), "name": f"next_{number}"})
                opened(
                    made,
                    Proposal(kind=one.kind, reason=one.reason, round=named, search=one.search),
                    folder,
                )
            else:
                assert one.round.trials_per_study > made.round.trials_per_study, seed
                if one.search == "halton":  # the store began it with this search
                    opened(made, one, folder)


def _fields(round: tw.Round) -> dict[str, object]:
    return {name: getattr(round, name) for name in round.__dataclass_fields__}
