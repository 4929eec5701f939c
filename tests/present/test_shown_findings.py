from __future__ import annotations

from dataclasses import replace

from tests.present.sample_findings import EDGE, MORE, REMEDIES, edge, few, unknown

from tunewright.checks.edge_of_divergence import EdgeEvidence
from tunewright.finding import Finding
from tunewright.present.report_parts import Entry, as_markup, entries, lines_of


def test_warnings_come_first_and_settings_that_are_fine_share_an_entry() -> None:
    findings = [
        edge("layers=1"),
        edge("layers=2", "warn", REMEDIES),
        edge("layers=3"),
        few("note"),
        unknown("overfitting", "layers=1"),
        unknown("overfitting", "layers=2"),
    ]
    shown = [(one.verdict, one.check, _about(one), one.others) for one in entries(findings)]
    assert shown == [
        ("warn", "edge_of_divergence", ["layers=2"], 0),
        ("note", "edge_of_divergence", [""], 0),
        ("ok", "edge_of_divergence", [""], 0),  # both say the same
        ("cannot_judge", "overfitting", [""], 0),
    ]


def _about(entry: Entry) -> list[str]:
    return [about for about, _ in entry.words_by_setting]


def test_settings_that_differ_name_the_first_and_count_the_rest() -> None:
    numbers = Finding(
        check="edge_of_divergence",
        scope="study",
        about="b",
        verdict="ok",
        evidence=few("ok").evidence,
    )
    (shown,) = entries([edge("a"), numbers])
    assert (_about(shown), shown.others) == (["a"], 1)


def test_warnings_with_the_same_remedy_share_it() -> None:
    numbers = EdgeEvidence("learning_rate", replace(EDGE, decades_below=0.1))
    other = replace(edge("b", "warn", REMEDIES), evidence=numbers)
    first, second = entries([edge("a", "warn", REMEDIES), other, edge("c", "warn", (MORE,))])
    ((_, together),) = first.words_by_setting  # one headline, the evidence of both
    assert (together.headline, first.actions) == (other.headline, REMEDIES)
    assert [line.split(":")[0] for line in together.evidence] == ["a", "a", "b", "b"]
    assert (_about(second), second.actions) == (["c"], (MORE,))


def test_what_to_type_and_what_it_does_stand_in_columns() -> None:
    first, second = lines_of([MORE, REMEDIES[1]], "shell")
    assert first == f"{MORE.command}    {MORE.shell_text}"
    assert second == REMEDIES[1].shell_text


def test_settings_with_the_same_remedy_share_an_item() -> None:
    warned = [edge("a", "warn", REMEDIES), edge("b", "warn", REMEDIES)]
    page = as_markup([*warned, edge("c", "warn", (MORE,))], "shell")
    assert page.count("<li>") == 2
    assert page.count("tunewright probe warmup r") == 1
    assert "<em>a, b</em>" in page and "<em>c</em>" in page


def test_in_a_notebook_a_finding_shows_itself_with_calls() -> None:
    finding = edge("a<b>", "warn", REMEDIES)
    page = finding._repr_html_()
    assert "a&lt;b&gt;" in page
    assert "tw.probes.warmup(workload" in page
    assert page.index(finding.headline) < page.index(finding.words.evidence[0]) < page.index("tw.")
