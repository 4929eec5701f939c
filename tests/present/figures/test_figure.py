"""Every figure is drawn in every form: of many trials, one, none completed, and odd names."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.present.figures.known_rounds import HOSTILE, depth, one_study

import tunewright as tw
from tunewright.errors import DesignError, MissingExtra
from tunewright.present import figures as plots
from tunewright.present.figures.figure import Figure, inline
from tunewright.store.results import Results
from tunewright.testing.worlds import results

pytestmark = pytest.mark.beyond_core  # draws many figures: seconds each

KINDS: dict[str, Callable[[Results], Figure[Any]]] = {
    "axis": plots.axis,
    "curves": plots.curves,
    "best_step": plots.best_step,
    "best_of_k": plots.best_of_k,
}
ISOLATED = {**KINDS, "isolation": plots.isolation}


def drawn(figure: Figure[Any], tmp_path: Path) -> str:
    """Draw it in both forms; gives the markup, which must be well formed."""
    assert figure.png().startswith(b"\x89PNG")
    written = figure.save(tmp_path / "figure.svg")
    ElementTree.parse(written)
    markup = inline(written.read_text(encoding="utf-8"), figure.says)
    ElementTree.fromstring(markup.replace("xlink:href", "href"))
    return markup


@pytest.mark.parametrize("kind", ISOLATED)
def test_a_usual_round(kind: str, tmp_path: Path) -> None:
    figure = ISOLATED[kind](depth(repeats=3))
    markup = drawn(figure, tmp_path)
    assert 'role="img"' in markup
    assert "http" not in markup
    assert "<script" not in markup
    assert figure._repr_html_().count("<svg") == 1
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", ISOLATED)
def test_a_round_where_nothing_completed(kind: str, tmp_path: Path) -> None:
    assert "<svg" in drawn(ISOLATED[kind](depth(wall=-1.0)), tmp_path)


@pytest.mark.parametrize("kind", ISOLATED)
def test_a_round_that_has_not_begun(kind: str, tmp_path: Path) -> None:
    made = depth()
    figure = ISOLATED[kind](Results.from_parts(made.round, made.objective, []))
    assert drawn(figure, tmp_path)
    assert figure.says


@pytest.mark.parametrize("kind", KINDS)
def test_one_trial(kind: str, tmp_path: Path) -> None:
    assert "<svg" in drawn(KINDS[kind](one_study([{"valid_error": [0.5, 0.4]}])), tmp_path)


@pytest.mark.parametrize("kind", ISOLATED)
def test_names_are_shown_as_text(kind: str, tmp_path: Path) -> None:
    name = "a <b> & $x_{$"
    round = tw.Round(
        "odd",
        goal="?",
        scientific={name: ["<i>", "$\\frac$", "日本"]},
        nuisance={"\\alpha $^": tw.linear(0, 1)},
        trials_per_study=6,
    )
    made = results(round, lambda unit: 0.3)
    metric = HOSTILE
    for trial in made.recorded:
        assert "valid_error" in trial.curves
    markup = drawn(ISOLATED[kind](made), tmp_path)
    assert "<b>" not in markup and "<i>" not in markup
    told = replace(made, objective=tw.minimize(metric))
    assert "<script" not in drawn(ISOLATED[kind](told), tmp_path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"'out.gif'. End the path in .png, .svg or .pdf"):
        plots.axis(depth()).save(tmp_path / "out.gif")


def test_drawing_twice_gives_the_same_file(tmp_path: Path) -> None:
    first = plots.axis(depth()).save(tmp_path / "a.svg").read_bytes()
    assert plots.axis(depth()).save(tmp_path / "b.svg").read_bytes() == first


def test_data_and_words_need_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    figure = plots.axis(depth())
    assert figure.data.panels and figure.says
    with pytest.raises(MissingExtra, match=r"plots.axis\(\) needs matplotlib: pip install"):
        figure.png()


def test_the_users_own_figures_are_left_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    plots.axis(depth()).png()
    assert dict(matplotlib.rcParams) == before
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )
