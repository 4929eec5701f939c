"""Sentences of the errors raised in `campaigns`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "campaign.not_found": "no campaign {name!r} in {url}; it has: {others}.",
    "campaign.other_space": (
        "the campaign {name!r} of this store searches another space: give this one another "
        'name, name="..." (--name).'
    ),
    "tune.bad_baseline": (
        'TuneTerms(baseline={baseline!r}): give a configuration, such as {{"learning_rate": 0.1}}.'
    ),
    "tune.bad_detect": (
        "TuneTerms(detect={detect!r}): the smallest difference that matters is above 0, such as "
        "0.001."
    ),
    "tune.bad_extend": (
        "TuneTerms(extend={extend!r}): how many times as long, above 1, such as 2."
    ),
    "tune.bad_extend_to": (
        "TuneTerms(extend_to={extend_to!r}): a number of steps, at least 1, such as 20000."
    ),
    "tune.bad_hours": "tune(hours={hours!r}): give a number of hours, such as 8 or 0.5.",
    "tune.no_length": (
        "tune: {name} has no value, so there is no length to extend. Fix one, or name what means "
        "it: {declare.means.max_train_steps}."
    ),
    "tune.as_long_already": (
        "tune: the search trains for {steps} steps already, and {extend_to} are no more."
    ),
    "tune.bad_seed": "TuneTerms(seed={seed!r}): a whole number, at least 0.",
    "tune.bad_space": (
        'tune(space={space!r}): give ranges by name, such as {{"learning_rate": tw.log(1e-4, '
        "1e-1)}}, or a Round."
    ),
    "tune.no_budget": "tune: how much may it spend? Give trials=200, or hours=8, or both.",
    "tune.nothing_searched": (
        "tune(space={space!r}): nothing is searched. Give a range, such as tw.log(1e-4, 1e-1), "
        "or a list of values."
    ),
    "tune.test_set_failed": "the test set could not be looked at: {reason}",
    "tune.trials_not_positive": "tune(trials={trials}): at least 1.",
    "tune.trials_not_whole": "tune(trials={trials!r}): a whole number of trials.",
    "tune.two_lengths": "TuneTerms(extend=, extend_to=): give one: a factor, or a number of steps.",
}
