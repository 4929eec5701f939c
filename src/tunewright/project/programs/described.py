"""The part of training that an option's help text, or the heading above it, is about.

Names come first (`roles`): this is for the options whose names show nothing, such as `bias` below
a heading `# model`, or `blr` with the help text "base learning rate".
"""

from __future__ import annotations

import re
from typing import Literal

from tunewright.project.programs.declared import Declared

Part = Literal[
    "regulariser",
    "optimizer",
    "schedule",
    "augmentation",
    "loss",
    "model",
    "length",
    "batch size",
    "data",
    "logging",
    "machine",
    "validation",
]
# phrases of a help text, the most specific part first
_HELP: tuple[tuple[Part, str], ...] = (
    (
        "batch size",
        r"accumulat\w* (gradient|step|iter)|gradient accumulation|(mini|micro)?-?batch size",
    ),
    (
        "regulariser",
        r"drop-?out|dropconnect|drop ?path|stochastic depth|weight decay|smoothing|l2 regu",
    ),
    ("schedule", r"scheduler?|warm-?up|anneal\w*|cool-?down|lr decay|milestones?"),
    (
        "optimizer",
        r"learning[- ]rates?|\blr\b|optimi[sz]er|momentum|adamw?\b|\bsgd\b|clip\w* grad\w*",
    ),
    ("augmentation", r"augment\w*|mix-?up|cut-?mix|flip\w*|crop\w*|jitter|erase|erasing|resiz\w*"),
    ("loss", r"loss(es)?|criterion|cross[- ]entropy|distill\w*"),
    (
        "model",
        r"pre-?trained|layers?|attention|embeddings?|hidden|backbone|architecture|encoder|decoder|"
        r"activation|normali[sz]ation|transformer|lora\b|model|network|weights",
    ),
    ("length", r"number of (training )?(epochs|iterations|steps)|epochs? (to|of)|early ?stopping"),
    (
        "data",
        r"data ?sets?|data|splits?|classes|images?|tokeni[sz]\w*|vocabulary|samples?|tokens?|"
        r"inputs?|examples|held-?out|environments?",
    ),
)
# words of a heading or of a group's title
_HEADINGS: tuple[tuple[Part, str], ...] = (
    ("validation", r"eval\w*|validation|metrics?"),
    ("logging", r"log\w*|wandb|tensorboard|checkpoint\w*|i/o|output|misc\w*|saving|tracking"),
    ("machine", r"ddp|distributed|system|device|hardware|precision|gpus?|compil\w*|amp\b"),
    ("augmentation", r"augment\w*|mix-?up|transforms?|erase|erasing|crops?"),
    ("loss", r"loss(es)?|distill\w*|objective|temperature"),
    ("schedule", r"schedule\w*|learning rate decay|warm-?up"),
    ("optimizer", r"optimi[sz]\w*|adamw?|sgd"),
    ("regulariser", r"regulari[sz]\w*|dropout"),
    ("model", r"model\w*|network|architecture|encoder|decoder|embedding|layers?|ema"),
    ("data", r"data\w*|input\w*|tokeni[sz]\w*"),
)


def _compiled(table: tuple[tuple[Part, str], ...]) -> tuple[tuple[Part, re.Pattern[str]], ...]:
    return tuple((part, re.compile(rf"\b({text})", re.IGNORECASE)) for part, text in table)


_IN_HELP = _compiled(_HELP)
_IN_HEADINGS = _compiled(_HEADINGS)
MODEL_OR_DATA = ("model", "data")


def part_described(one: Declared) -> Part | None:
    """The part that the help text is about, else the heading; None where neither shows one.

    >>> part_described(Declared("bias", "--bias", "bool", False, section="model"))
    'model'
    >>> part_described(Declared("blr", "--blr", "float", 1e-3, help="base learning rate"))
    'optimizer'
    """
    under = _first(_IN_HEADINGS, one.section)
    about = _first(_IN_HELP, one.help)
    # a word such as "model" or "image" in a sentence is weaker than a heading
    if about is None or (about in MODEL_OR_DATA and under is not None):
        return under or about
    return about


def _first(table: tuple[tuple[Part, re.Pattern[str]], ...], text: str) -> Part | None:
    return next((part for part, pattern in table if text and pattern.search(text)), None)
