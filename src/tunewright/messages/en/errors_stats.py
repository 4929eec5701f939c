"""Sentences of the errors raised in `stats`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "gain.bad_sd": "sd={sd!r}: the standard deviation of the metric between two runs.",
}
