"""Exports: CSV, Parquet and JSON, harmless to whoever opens them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.store.record_parts import OBJECTIVE, a_round, a_trial, some_results

from tunewright.errors import DesignError, StoreError
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.tables import FORMULA, quote_formula

SAID = Message("trial.failed", {"text": "+1 bad"})


def test_csv_json_and_parquet_hold_the_same(tmp_path: Path) -> None:
    results = some_results()
    with results.export(tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["value"] for row in rows] == ["0.5", "0.4", "0.3", "", "0.2", "0.6"]
    data = json.loads(results.export(tmp_path / "out.json").read_text())
    assert data[3]["value"] is None and data[3]["valid_error"] is None, "NaN is null"
    assert data[4]["learning_rate"] == 0.1
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(results.export(tmp_path / "out.parquet"))
    assert frame["value"].to_list() == [0.5, 0.4, 0.3, None, 0.2, 0.6]
    points = json.loads(results.export(tmp_path / "curves.json", "curves").read_text())
    assert len(points) == 24
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "curves.json",
        "out.csv",
        "out.json",
        "out.parquet",
    ]


@given(st.text(max_size=20))
def test_no_cell_can_be_taken_for_a_formula(text: str) -> None:
    cell = quote_formula(text)
    assert cell in (text, "'" + text)
    if cell.startswith(FORMULA):
        float(cell)  # a plain number, which stays one


def test_names_and_values_that_look_like_formulas_are_quoted(tmp_path: Path) -> None:
    evil = "=HYPERLINK(0)"
    round = a_round(nuisance={evil: ["@cmd", "-1"]}, scientific={})
    trials = [
        a_trial(0, 0.1, study=0, configuration={evil: "@cmd"}, status="failed", reason=SAID),
        a_trial(1, -0.5, study=0, configuration={evil: "-1"}),
    ]
    path = Results.from_parts(round, OBJECTIVE, trials).export(tmp_path / "x.csv")
    text = path.read_text()
    assert "'=HYPERLINK(0)" in text and ",=HYP" not in text
    assert "'@cmd" in text and ",@cmd" not in text
    assert ",-0.5," in text and ",-1," in text


def test_other_endings_and_folders_that_are_not_there_are_refused(tmp_path: Path) -> None:
    results = some_results()
    with pytest.raises(DesignError, match=r"\.csv, \.parquet or \.json"):
        results.export(tmp_path / "out.xlsx")
    with pytest.raises(StoreError, match="could not be written"):
        results.export(tmp_path / "no" / "out.csv")
