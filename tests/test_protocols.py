"""`tunewright.protocols`: our own classes satisfy the protocols that users may implement."""

from __future__ import annotations

import pytest

import tunewright as tw
from tunewright import protocols


@pytest.mark.parametrize(
    ("made", "protocol"),
    [
        (tw.Local(), protocols.Executor),
        (tw.search.Halton(), protocols.Search),
        (tw.search.Bayesian(), protocols.Search),
        (tw.progress.Silent(), protocols.Watcher),
        (tw.log(1e-3, 1.0), protocols.Range),
    ],
)
def test_ours_satisfy_them(made: object, protocol: type) -> None:
    assert isinstance(made, protocol)
    assert not isinstance(object(), protocol)
