"""Which addresses of Ray clusters are refused, and with which words."""

from __future__ import annotations

import pytest

from tunewright.errors import WorkloadError
from tunewright.execution.executors.ray.ray import Ray

# Ray leaves files and processes to the garbage collector
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_addresses_that_cannot_be_joined_are_refused() -> None:
    with pytest.raises(WorkloadError, match="submit this program as a job"):
        Ray(address="ray://10.0.0.1:10001").slots  # noqa: B018
    with pytest.raises(WorkloadError, match="no Ray cluster can be joined at nonsense"):
        Ray(address="nonsense").slots  # noqa: B018
