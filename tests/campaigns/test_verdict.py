"""The answer of a campaign: its decision, as a headline that never announces a loser."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tunewright.campaigns.campaign import Campaign, Definition, verdict
from tunewright.campaigns.request import as_space
from tunewright.design.ranges import log
from tunewright.launches.launch import Verdict
from tunewright.launches.lineage import Launched, Place
from tunewright.messages import en
from tunewright.testing import Bowl, World, results

SPACE = as_space({"learning_rate": log(1e-4, 1.0)}, "tune")
NOW = datetime(2026, 5, 1, tzinfo=UTC)
OLD = Place("old", 7, {})


def campaign(decided: Verdict | None, against: Place | None = OLD) -> Campaign:
    asked = replace(SPACE, name="tune_1_explore", trials_per_study=8)
    found = results(asked, World(Bowl({"learning_rate": 0.5}), noise_sd=0.001))
    made = Campaign(
        definition=Definition("tune", SPACE, 20, None), rounds=(found,), kinds=("explore",)
    )
    if decided is None:
        return made
    place = Place.of(found, found.best())
    return replace(made, launched=Launched(1, NOW, place, against, decided, {}, "me", "", "", ""))


@pytest.mark.parametrize("decided", ["launch", "keep", "undecided"])
def test_a_decision_is_the_answer(decided: Verdict) -> None:
    own = campaign(decided)
    found = verdict(own)
    assert found.code == f"campaign.verdict.{decided}"
    assert found.facts == {"candidate": "tune_1_explore trial " + number(own), "baseline": str(OLD)}
    assert own.verdict == found and own.headline == found.text and own.headline in str(own)


def number(own: Campaign) -> str:
    assert own.winner is not None
    return str(own.winner.trial.number)


def test_without_a_comparison_nothing_is_launched_or_kept() -> None:
    assert verdict(campaign(None)).code == "campaign.verdict.open"
    assert verdict(campaign("launch", against=None)).code == "campaign.verdict.first"
    empty = Campaign(definition=Definition("tune", SPACE, 20, None))
    assert verdict(empty).code == "campaign.verdict.nothing"
    # a decision about another trial than the present best answers nothing
    own = campaign("keep", against=None)
    assert own.launched is not None
    stale = replace(own.launched, candidate=Place("tune_1_explore", 99, {}))
    assert verdict(replace(own, launched=stale)).code == "campaign.verdict.open"


def test_every_headline_has_at_most_twelve_words_and_no_number() -> None:
    headlines = [t for code, t in en.SENTENCES.items() if code.startswith("campaign.verdict.")]
    assert len(headlines) == 6
    for headline in headlines:
        assert isinstance(headline, str) and len(headline.split()) <= 12
        assert "{" not in headline
