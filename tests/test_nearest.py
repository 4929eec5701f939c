"""Did you mean this one?"""

from __future__ import annotations

import pytest

from tunewright.nearest import nearest


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("learning_rat", ["momentum", "learning_rate"], "learning_rate"),
        ("lr", {"learning_rate": 1}, None),
        ("anything", [], None),
        (3, ["3"], "3"),
    ],
)
def test_the_known_name_that_is_most_alike(name, known, expected) -> None:
    assert nearest(name, known) == expected
