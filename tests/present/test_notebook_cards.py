"""What a notebook shows of every public object: escaped, advice as calls, and short as text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.launches.arms import arm
from tests.present.test_campaign_report import campaign

import tunewright as tw
from tunewright.finding import Findings
from tunewright.launches.lineage import Place
from tunewright.launches.workflow import LaunchReport
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl
from tunewright.testing.worlds import World, results

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m'
LONGEST = 4000  # characters of a repr


class Tags(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile() -> Results:
    """A round, its studies and trials with hostile names, goals, reasons and commands."""
    round = tw.Round(
        '"><script>alert(1)<img src=x onerror=alert(2)>',
        goal=HOSTILE,
        scientific={"<b>arm</b>": ["<i>one</i>", "two"]},
        nuisance={"</style><script>": tw.linear(0, 1)},
        fixed={"<svg>": "</div>"},
        trials_per_study=12,
    )
    made = results(round, World(Bowl({}), objective=tw.minimize("<script>m")))
    why = Message("trial.failed", {"text": HOSTILE})
    first = replace(made.recorded[0], status="failed", reason=why, command=HOSTILE)
    return replace(made, recorded=(first, *made.recorded[1:]), notes=(HOSTILE,))


def decision(**changes: Any) -> Any:
    """A launch decision with these names."""
    made = tw.decide(arm([0.5, 0.51, 0.52, 0.5, 0.51]), arm([0.7, 0.71, 0.7, 0.72, 0.7]))
    return replace(made, **changes)


def shown() -> dict[str, Any]:
    own = hostile()
    launch = decision(candidate=HOSTILE, baseline=HOSTILE)
    place = Place(own.round.name, 1, {})
    return {
        "findings": tw.check(own),
        "finding": tw.check(own)[0],
        "results": own,
        "trial": own.recorded[0],
        "round": own.round,
        "study": own.studies[0],
        "proposals": tw.next_round(own),
        "proposal": tw.next_round(own)[0],
        "variances": tw.launches.variance(own),
        "launch": launch,
        "launch report": LaunchReport(place, None, decision=launch),
        "first baseline": LaunchReport(place, None),
        "campaign": campaign(),
    }


SHOWN = shown()


@pytest.mark.parametrize("name", SHOWN)
def test_every_card_is_escaped_and_every_repr_is_short(name: str) -> None:
    thing = SHOWN[name]
    page = thing._repr_html_()
    tags = Tags(page)
    assert tags.names <= {
        *("div", "b", "i", "p", "span", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"),
        *("code", "style", "strong", "em", "details", "summary"),
    }
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert "<script" not in page and "\x1b" not in page
    assert len(tags.text) > 10
    assert len(repr(thing)) < LONGEST and "\x1b" not in repr(thing)


def test_findings_are_still_a_list() -> None:
    found = tw.check(hostile())
    assert isinstance(found, list) and found == list(found)
    assert [f.verdict for f in found.of("ok")] == ["ok"] * found.tally.facts["ok"]
    assert sum(found.tally.facts.values()) == len(found)
    assert found[0].verdict in ("ok", "note", "warn", "cannot_judge")
    assert not Findings().tally.facts["warn"] and Findings()._repr_html_()


def test_proposals_are_still_a_tuple_and_show_calls() -> None:
    made = tw.next_round(hostile())
    assert isinstance(made, tuple) and made[0].actions
    page = made._repr_html_()
    calls = [action.call for one in made for action in one.actions if action.call]
    assert calls and all(call.split("(")[0] in page for call in calls)
    assert "tunewright run" not in page


def test_a_large_table_is_cut() -> None:
    nuisance = {f"h{n}": tw.linear(0, 1) for n in range(100)}
    round = tw.Round("large", goal="?", nuisance=nuisance, trials_per_study=2)
    assert round._repr_html_().count("<tr>") < 70
    assert len(repr(round)) < 300
