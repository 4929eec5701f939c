"""Which adapter of ours fits a program, by the libraries that it imports."""

from __future__ import annotations

from collections.abc import Iterable

from tunewright.messages import Message

# the module of `integrations`: the library as it calls itself, what to import, what to add
_ADAPTERS = {
    "lightning": ("Lightning", "callback", "callbacks=[callback()]"),
    "transformers": ("Trainer", "callback", "callbacks=[callback()]"),
    "accelerate": ("Accelerate", "tracker", "log_with=tracker()"),
    "keras": ("Keras", "callback", "callbacks=[callback()]"),
}


def adapter_note(imported: Iterable[str]) -> Message | None:
    """How the library that trains would report to a trial; None: no adapter fits, or one is used.

    >>> adapter_note(["torch", "transformers.Trainer"]).facts["module"]
    'transformers'
    """
    names = set(imported)
    roots = {name.partition(".")[0] for name in names}
    if "tunewright" in roots:
        return None
    if {"lightning", "pytorch_lightning"} & roots:
        module = "lightning"
    elif {"transformers", "trl"} & roots and any(name.endswith("Trainer") for name in names):
        module = "transformers"
    else:
        module = next((name for name in ("accelerate", "keras") if name in roots), "")
    if not module:
        return None
    library, word, added = _ADAPTERS[module]
    facts = {"library": library, "module": module, "word": word, "added": added}
    return Message("scan.adapter", facts)
