"""The figures of the documents are those the script draws, small, and shown on their page."""

from __future__ import annotations

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_every_figure_of_the_documents_is_made_by_the_script() -> None:
    spec = importlib.util.spec_from_file_location("make_figures", DOCS / "make_figures.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made = {f"{name}.png": figure for name, figure in script.figures()}
    committed = {path.name: path for path in (DOCS / "figures").glob("*.png")}
    assert set(made) == set(committed)
    page = (DOCS / "figures.md").read_text(encoding="utf-8")
    for name, path in committed.items():
        assert path.stat().st_size < 260_000, name
        assert f"(figures/{name})" in page
        assert made[name].says
