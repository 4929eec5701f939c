"""Sentences of the errors raised in `present`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "plot.bad_ending": "{what}: cannot write {target!r}. End the path in {first} or {second}.",
    "plot.no_best_step": (
        "the objective is the last value of {metric}, so no step is better than the last. "
        "Judge by the best value to see when it was reached."
    ),
    "plot.no_gradient_norm": (
        "{round}: none of the best trials logged {metric!r}. Log the norm of the gradient, and "
        "declare its name: {declare.means.gradient_norm}."
    ),
    "plot.no_such_hyperparameter": (
        "{round}: no searched hyperparameter {name!r}. It has: {known:list}."
    ),
    "plot.not_a_pair": "{round}: no two searched hyperparameters occur together.",
    "plot.not_results": "progress: give the Results of one round or more.",
    "plot.not_scientific": "{round}: {name!r} is not scientific. It has: {known:list}.",
    "plot.nothing_scientific": (
        "{round} has no scientific hyperparameter, so there is nothing to isolate. "
        "plots.axis() shows its trials."
    ),
    "report.bad_ending": (
        "report: cannot write {target!r}. End the path in .html for a page or .txt for plain text."
    ),
    "report.campaign_empty": "the campaign {campaign} has run nothing yet.",
}
