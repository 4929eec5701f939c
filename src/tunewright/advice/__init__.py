"""What next: one proposal per file, and longer training.

tw.advice.extend(results, max_train_steps=100_000).round
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.advice.extend import Extension as Extension, extend as extend

__all__ = ["Extension", "extend"]

offer(__name__, {"advice.extend": ("Extension", "extend")})
