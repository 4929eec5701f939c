"""Receipts: one file that shows how a conclusion was reached, and its verification elsewhere.

    tw.receipts.write("tuning.db", "depth", "depth.receipt.json")
    tw.receipts.verify("depth.receipt.json").headline

A receipt has every trial with its curves, so that every verdict can be derived again without the
store. `verify` does that, and names malpractice: unequal tuning, dropped failures, a tuned seed ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.receipts.malpractice import Malpractice as Malpractice
    from tunewright.receipts.receipt import receipt as receipt, write as write
    from tunewright.receipts.verify import (
        Disagreement as Disagreement,
        Verified as Verified,
        verify as verify,
    )

__all__ = ["Disagreement", "Malpractice", "Verified", "receipt", "verify", "write"]

offer(
    __name__,
    {
        "receipts.malpractice": ("Malpractice",),
        "receipts.receipt": ("receipt", "write"),
        "receipts.verify": ("Disagreement", "Verified", "verify"),
    },
)
