"""English phrases inside numbers and lists; labels and counted nouns are English already."""

from __future__ import annotations

from collections.abc import Mapping

PHRASES: Mapping[str, str] = {
    "and": " and ",
    "stop": ". ",
    "in": "{name} in {range}",
    "and_more": "{shown} and {more} more",
    "about": "about {one}",
    "from_to": "{low} to {high}",
    "over": "over {one}",
    "below": "below {one}",
    "minimize": "minimize {metric}",
    "maximize": "maximize {metric}",
    "verdict_warn": "warn",
    "verdict_note": "note",
    "verdict_ok": "ok",
    "verdict_bad": "bad",
    "verdict_cannot_judge": "?",
    "place": "{round} trial {trial}",
    "best_of": "best {metric}",
    "of": "{name}: ",
    "in_brackets": " ({text})",
    "semicolon": "; ",
    "setting": "{line} under [{where}] in tunewright.toml",
}
COUNTED: Mapping[str, str] = {}
LABELS: Mapping[str, str] = {}
