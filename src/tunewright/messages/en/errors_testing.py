"""Sentences of the errors raised in `testing`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "testing.bad_evaluations": "shape(evaluations={evaluations}): at least 1 is needed.",
    "testing.unknown_noise": "noise({kind!r}): not one of {noises:list}.",
    "testing.unknown_shape": "shape({name!r}): not one of {shapes:list}.",
    "testing.unknown_trial_noise": "trial_noise({kind!r}): not one of normal, skew, t3, outlier.",
}
