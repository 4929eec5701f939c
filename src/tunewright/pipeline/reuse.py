"""How often has one evaluation set decided something? `probes.reuse` counts it from a store.

Every choice fits the evaluation set a little (playbook, "Choosing a sample for periodic
evaluation": large enough for several evaluations in sequence). That is rarely a concern in
practice, so the answer is a note, never a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass

from tunewright.errors import PipelineError
from tunewright.messages import Message

SHARE = 0.1  # selections per example, beyond which the choice should be confirmed


@dataclass(frozen=True)
class Reuse:
    """How often something was selected by looking at one sample.

    After more selections than a tenth of the examples, confirm on examples that were never looked
    at.

    >>> used = Reuse(size=50)
    >>> used.again(5).note is None, used.again(6).note is None
    (True, False)
    """

    size: int  # examples in the sample
    selections: int = 0  # choices made on it: checkpoints, configurations, features

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise PipelineError("evaluation.bad_reuse_size", size=self.size)

    def again(self, times: int = 1) -> Reuse:
        """The count after `times` more selections."""
        return Reuse(self.size, self.selections + times)

    @property
    def note(self) -> Message | None:
        """A warning about it, if it needs one."""
        if self.selections <= self.size * SHARE:
            return None
        facts = {"selections": self.selections, "size": self.size}
        return Message("evaluation.reused", facts)
