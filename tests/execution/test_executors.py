"""Both executors keep the promises of the protocol, by the contract tests anybody can run."""

from __future__ import annotations

import pytest

from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.testing import check_executor

pytestmark = pytest.mark.beyond_core  # most of them start processes


def test_inline_keeps_the_contract() -> None:
    check_executor(Inline())


def test_local_keeps_the_contract() -> None:
    check_executor(Local(workers=2, devices=[]))


def test_local_keeps_the_contract_with_a_process_per_trial() -> None:
    check_executor(Local(workers=2, devices=[], isolate="always"))
