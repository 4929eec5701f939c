"""Comments of a source file: headings above lines, remarks beside them."""

from __future__ import annotations

from tunewright.project.programs.declared import REACH, remarks_of

TEXT = """\
# model
n_layer = 2
bias = False  # inside layers?

# a whole sentence of prose is not the heading of anything below it
width = 4
# -----------------------------
def main():
    depth = 3
"""


def test_headings_remarks_prose_and_rules() -> None:
    found = remarks_of(TEXT)
    assert (found.heading(2), found.heading(3), found.remark(3)) == (
        *("model", "model"),
        "inside layers?",
    )
    assert found.heading(6) == "model", "prose and rulers are no headings"
    assert found.heading(9) == "", "a heading outside a function is not about its lines"
    assert found.remark(2) == ""


def test_a_heading_reaches_only_so_far_and_torn_text_has_none() -> None:
    far = "# model\n" + "x = 1\n" * (REACH + 5)
    assert remarks_of(far).heading(3) == "model"
    assert remarks_of(far).heading(REACH + 4) == ""
    assert remarks_of("'''never closed").headings == {}
