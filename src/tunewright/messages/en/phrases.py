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
}
COUNTED: Mapping[str, str] = {}
LABELS: Mapping[str, str] = {}
