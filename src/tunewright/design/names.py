"""What names mean: guards, checks and probes go by meanings, never by spellings.

`Workload(means={"learning_rate": "optimizer.lr", ...}, off={"dropout": 0.0, ...})` declares once
how a training program calls the playbook's ideas. The playbook's own names are the defaults, and
`design.spellings` guesses the rest; None declares that nothing has a meaning.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tunewright.design.ranges import Value, as_plain, check_plain, is_number
from tunewright.errors import DesignError
from tunewright.messages import Message

# meanings of hyperparameters and metrics, whose default spelling is the meaning itself
NAMES = (
    "learning_rate",
    "momentum",
    "beta1",
    "beta2",
    "epsilon",
    "weight_decay",
    "warmup_steps",
    "max_train_steps",
    "batch_size",
    "optimizer",
    "schedule",
    "clip_norm",
    "train_loss",
    "valid_loss",
    "gradient_norm",
)
METRICS = ("train_loss", "valid_loss", "gradient_norm")  # of the names, those that are logged
LISTS = ("regularisers",)  # names of the hyperparameters that regularise
NUMBERS = ("steps_per_epoch", "chance")  # plain facts about the workload
DEFAULT_REGULARISERS = ("weight_decay", "dropout", "label_smoothing")
# words of a metric's name that show what it measures, where no meaning was declared
_OF_VALIDATION = {"valid", "validation", "val", "eval", "evaluation", "test", "dev", "holdout"}
_OF_TRAINING = {"train", "training", "throughput", "time", "seconds", "latency", "memory", "speed"}


@dataclass(frozen=True)
class Meaning:
    """How one workload spells the playbook's names, and the values that switch features off."""

    means: Mapping[str, Any] = field(default_factory=dict)
    off: Mapping[str, Value] = field(default_factory=dict)
    deterministic: bool = False  # the same configuration gives the same value under every seed
    # of `means`, what nobody declared: guessed from how names are spelled
    guessed: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for part in ("means", "off"):
            if not isinstance(getattr(self, part), Mapping):
                raise DesignError("meaning.not_mapping", part=part, declared=getattr(self, part))
        object.__setattr__(self, "means", {n: as_plain(v) for n, v in self.means.items()})
        object.__setattr__(self, "off", {n: as_plain(v) for n, v in self.off.items()})
        problems = [p for entry in self.means.items() if (p := _problem(*entry))]
        if not isinstance(self.deterministic, bool):
            problems.append(f"deterministic: {self.deterministic!r} is neither true nor false.")
        problems += _shared(self.means)
        for name, value in self.off.items():
            try:
                check_plain(value, f"off {name}")
            except DesignError as error:
                problems += error.problems
        if problems:
            raise DesignError.several(problems)

    def name(self, meaning: str) -> str:
        """How this workload spells a meaning: `learning_rate` may be `optimizer.lr`.

        Where None is declared no hyperparameter has the meaning, and this is no hyperparameter's
        name.
        """
        spelled = self.means.get(meaning, meaning)
        return f"({meaning})" if spelled is None else str(spelled)

    @property
    def off_by_name(self) -> dict[str, Value]:
        """The values that switch features off, by the workload's own names.

        >>> Meaning({"schedule": "lr_scheduler_type"}, {"schedule": "constant"}).off_by_name
        {'lr_scheduler_type': 'constant'}
        """
        return {self.name(key): value for key, value in self.off.items()}

    def absent(self, meaning: str) -> bool:
        """Whether it is declared that nothing has this meaning."""
        return meaning in self.means and self.means[meaning] is None

    def of(self, name: str) -> str | None:
        """What a name means here, or None if nothing is known of it."""
        for meaning in NAMES:
            if self.name(meaning) == name:
                return meaning
        return None

    def judges_validation(self, metric: str) -> bool:
        """Whether a metric is about generalisation; one that nothing is known of is taken to be.

        >>> [Meaning().judges_validation(m) for m in ("error", "valid_time", "throughput")]
        [True, True, False]
        """
        if self.of(metric) in ("train_loss", "gradient_norm"):
            return False
        words = set(re.split(r"[^a-z0-9]+", metric.lower()))
        return bool(words & _OF_VALIDATION) or not words & _OF_TRAINING

    @property
    def declared(self) -> dict[str, tuple[str, ...]]:
        """The hyperparameters that the user named for each meaning, without what was guessed."""
        found: dict[str, tuple[str, ...]] = {}
        for meaning, spelled in self.means.items():
            if meaning in self.guessed or meaning in (*METRICS, *NUMBERS) or spelled is None:
                continue
            found[meaning] = (spelled,) if isinstance(spelled, str) else tuple(spelled)
        return found

    @property
    def regularisers(self) -> tuple[str, ...]:
        """The names of the hyperparameters that regularise."""
        if "regularisers" in self.means:
            return tuple(self.means["regularisers"])
        decay, *others = DEFAULT_REGULARISERS
        return (self.name(decay), *others)

    def number(self, meaning: str) -> float | None:
        """A plain fact such as `steps_per_epoch` or `chance`, or None when it was not declared."""
        found = self.means.get(meaning)
        return None if found is None else float(found)


def _shared(means: Mapping[str, Any]) -> Iterator[Message]:
    """One spelling for two meanings would make every check guess which one is meant."""
    first: dict[str, str] = {}
    for meaning, spelled in means.items():
        if meaning not in NAMES or not isinstance(spelled, str):
            continue
        other = first.setdefault(spelled, meaning)
        if other != meaning and {other, meaning} != {"momentum", "beta1"}:  # one idea, two names
            yield Message(
                "meaning.shared", {"meaning": meaning, "spelled": spelled, "other": other}
            )


def _problem(meaning: str, spelled: Any) -> Message | None:
    known = (*NAMES, *LISTS, *NUMBERS)
    if meaning not in known:
        near = difflib.get_close_matches(str(meaning), known, n=1)
        facts = {"meaning": meaning, "near": near[0] if near else None, "known": known}
        return Message("meaning.unknown", facts)
    if meaning in NUMBERS:
        if not is_number(spelled):
            return Message("meaning.not_number", {"meaning": meaning, "spelled": spelled})
    elif meaning in LISTS:
        if not isinstance(spelled, list | tuple) or not all(isinstance(s, str) for s in spelled):
            return Message("meaning.not_names", {"meaning": meaning, "spelled": spelled})
    elif spelled is not None and (not isinstance(spelled, str) or not spelled):
        return Message("meaning.not_name", {"meaning": meaning, "spelled": spelled})
    return None
