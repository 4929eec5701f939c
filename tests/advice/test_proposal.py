"""Proposals are facts: a reason by code, actions that quote what they are given, a round."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest
from tests.launches.rounds_of_worlds import asked, ran

from tunewright.actions import CheckRound, RunRound, RunTrials
from tunewright.advice.next_round import next_round
from tunewright.advice.proposal import (
    continuation,
    proposal,
    successor,
    under_name,
    without_trials,
)
from tunewright.checks.checklist import check
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.testing import Bowl, Unlucky, Walled, World

OUTSIDE = World(Bowl({"learning_rate": 1.2, "beta1": 0.5}), noise_sd=0.005)


def test_a_renamed_proposal_runs_its_round_under_the_new_name() -> None:
    made = proposal("narrow", "proposal.narrow", (), asked(), (CheckRound("first"),))
    other = under_name(made, "my round; ls")
    assert other.round is not None and other.round.name == "my round; ls"
    assert other.actions == (RunRound("my round; ls"), CheckRound("first"))
    more = continuation("exploit", "proposal.exploit_more", (), asked(), "bayesian")
    assert under_name(more, "b").actions == (RunTrials("b", 24, "bayesian"),)
    with pytest.raises(DesignError):
        under_name(proposal("finish", "proposal.no_trial_has_run"), "b")


def test_a_reason_carries_the_finding_and_can_leave_its_trials_out() -> None:
    results = ran(asked(), OUTSIDE)
    made = next_round(results)[0]
    finding = next(f for f in check(results) if f.check == "boundary")
    assert made.reason.facts["finding"]["evidence"] == finding.evidence.to_data()
    assert made.reason.facts["trials"] == 32
    left = without_trials(made.reason)
    assert left.code == made.reason.code and not {"trials", "trials_before"} & left.facts.keys()
    assert left.text != made.reason.text and finding.headline in left.text


def test_a_proposal_is_plain_data() -> None:
    for made in next_round(ran(asked(), OUTSIDE)):
        data = json.loads(json.dumps(made.to_data()))
        assert data["kind"] == made.kind
        assert data["reason"]["code"] == made.reason.code
        assert [one["argv"] for one in data["actions"]] == [list(a.argv) for a in made.actions]


def test_a_successor_says_what_it_changes() -> None:
    change = Message("change.narrower", {"names": ["learning_rate"]})
    made = successor(asked(), change, trials_per_study=5)
    assert (made.name, made.continues, made.trials_per_study) == ("first_2", "first", 5)
    assert (made.goal, made.change) == (asked().goal, change)


def test_a_goal_keeps_its_brackets_however_often_it_is_followed() -> None:
    """The goal is the reader's own text: nothing of it is cut."""
    first = replace(asked(), goal="Which rate [of both]?")
    second = successor(first, Message("change.narrower", {"names": ["learning_rate"]}))
    third = successor(second, Message("change.exploitation"))
    assert first.goal == second.goal == third.goal
    assert (third.change, third.continues) == (Message("change.exploitation"), second.name)


@pytest.mark.parametrize("name", ["my round; ls", "a'b", "--x", "$(reboot)"])
def test_no_name_of_a_round_gets_out_of_its_argument(name: str) -> None:
    """Of every finding and proposal, the commands name the round in one quoted word."""
    surfaces = [
        Bowl({"learning_rate": 1.2, "beta1": 0.5}),
        Walled(Bowl({"learning_rate": 0.5}), {"learning_rate": 1.0}, above=0.3),
        Unlucky(Bowl({}), share=1.0),
    ]
    seen = 0
    for surface in surfaces:
        round = asked(name=name, scientific={"act": ["a", "b"]}, detect=1e-6)
        results = ran(round, World(surface, noise_sd=0.005))
        findings = check(results)
        actions = [a for f in findings if isinstance(f, Finding) for a in f.actions]
        actions += [a for one in next_round(results, findings) for a in one.actions]
        for action in actions:
            if not action.argv:
                continue
            assert {name, f"{name}_2"} & set(shlex.split(action.command)), action
            seen += 1
    assert seen > 20
