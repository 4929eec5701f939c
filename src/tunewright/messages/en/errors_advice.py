"""Sentences of the errors raised in `advice`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "advice.bad_steps": "{name}={value!r} is not a whole number of steps from {least}.",
    "advice.bad_rounds": "rounds={rounds!r}: a plan has one to {most} rounds.",
    "advice.schedule_wastes_steps": (
        "{name} = {declared!r} would spend {wasted:.0%} of the {extra} extra steps below a "
        "tenth of the base learning rate: {rule:message}. Let the program take {decay_steps} (the "
        "steps of a linear decay at the end), or use a cosine."
    ),
    "agreement.top_not_positive": "top={top}: at least 1 is needed.",
    "agreement.truncated_too_short": "truncated(steps={steps}): at least one step is needed.",
    "extend.length_unknown": (
        "{round}: no {name!r} in the configurations, so there is no length to extend. Name the "
        "hyperparameter that means it: {declare.means.max_train_steps}."
    ),
    "extend.no_completed_trial": "{round}: no completed trial whose training could continue.",
    "extend.not_longer": (
        "max_train_steps={max_train_steps} is not longer than the {old} steps of {round}. For "
        "a shorter training tune again: what was found at {old} steps is no guide to fewer."
    ),
    "extend.steps_not_whole": (
        "max_train_steps={max_train_steps!r} is not a whole number of steps."
    ),
    "extend.unknown_hyperparameter": (
        "tune={tune}: the best trial has no {unknown!r}. It has {known:list}."
    ),
    "proposal.has_no_round": "the proposal {kind!r} has no round that could be called {name!r}.",
}
