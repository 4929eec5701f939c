"""How often an evaluation set decided something, and when that is noted."""

from __future__ import annotations

import pytest

from tunewright.errors import PipelineError
from tunewright.pipeline.reuse import Reuse


def test_reuse_is_noted_after_a_tenth_of_the_examples() -> None:
    used = Reuse(size=1000)
    for _ in range(100):
        used = used.again()
    assert used.selections == 100 and used.note is None
    note = used.again().note
    assert note is not None and note.facts == {"selections": 101, "size": 1000}


@pytest.mark.parametrize("size", [0, -1, 1.5])
def test_a_sample_has_examples(size) -> None:
    with pytest.raises(PipelineError) as raised:
        Reuse(size)
    assert raised.value.code == "evaluation.bad_reuse_size"
