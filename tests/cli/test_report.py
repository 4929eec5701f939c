from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.small_project import Tunewright

from tunewright import load


def test_report_prints_the_verdict_and_writes_the_page(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("report", "layers")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("layers\nasked       Do more layers help?")
    assert "holds for max_train_steps = 20" in answer.out
    assert answer.out.rstrip().endswith("wrote layers.html")
    page = (ran / "layers.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("<svg") >= 4
    assert tunewright("report", "layers", "--out", "sub/page.txt").code == 0
    assert "Do more layers help?" in (ran / "sub" / "page.txt").read_text()


def test_report_as_json_writes_nothing_unasked(tunewright: Tunewright, ran: Path) -> None:
    data = tunewright("report", "layers", "--json").data
    assert data["best"]["value"] == min(t.value for t in load(ran / "tuning.db", "layers").top(1))
    assert {f["verdict"] for f in data["findings"]} <= {"ok", "note", "warn", "cannot_judge"}
    assert data["path"] is None
    assert not (ran / "layers.html").exists()


def test_plot_writes_every_figure_or_says_why_not(tunewright: Tunewright, ran: Path) -> None:
    answer = tunewright("plot", "layers")
    assert answer.code == 0, answer.err
    written = {path.name for path in (ran / "layers.plots").iterdir()}
    kinds = ("axis", "isolation", "curves", "best_step", "best_of_k", "progress")
    assert written == {f"{kind}.png" for kind in kinds}
    for kind in ("gradient_norm", "sensitivity", "pair"):  # a reason in place of an empty figure
        assert f"\n{kind}: " in answer.out


def test_plot_one_kind_with_its_data(tunewright: Tunewright, ran: Path) -> None:
    command = ("plot", "layers", "--only", "axis", "--out", "here", "--format", "svg", "--json")
    (figure,) = tunewright(*command).data["figures"]
    assert figure["path"] == "here/axis.svg"
    assert [panel["column"] for panel in figure["data"]["panels"]] == ["layers", "learning_rate"]
    assert [path.name for path in (ran / "here").iterdir()] == ["axis.svg"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plot", "layers", "--only", "axes"), "--only axis"),
        (("plot", "layers", "--format", "pgn"), "--format png"),
        (("plot", "layer"), "'layers'"),
        (("report", "layers", "--out", "page.docx"), ".html"),
    ],
)
def test_what_is_misspelt_is_answered(
    tunewright: Tunewright, ran: Path, arguments: tuple[str, ...], says: str
) -> None:
    answer = tunewright(*arguments)
    assert answer.code == 2
    assert says in answer.err


def test_a_round_name_is_no_path(tunewright: Tunewright, project: Path) -> None:
    from tunewright.cli.show import file_name

    assert file_name("../../etc/passwd") == "etc_passwd"
    assert file_name("..") == "round"
    assert tunewright("report", "../layers").code != 0
    assert not (project.parent / "layers.html").exists()
