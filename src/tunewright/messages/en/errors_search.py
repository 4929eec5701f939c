"""Sentences of the errors raised in `search`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "bayesian.compares_settings": (
        "Bayesian search is for tuning to the best value, and {round} asks what {names:list} "
        "does: settings must be compared on the same, evenly spread points. Leave out the "
        "search (quasi-random is the default), or give Bayesian(scientific=True) if an uneven "
        "comparison will do."
    ),
    "bayesian.earlier_objective": (
        "Bayesian(earlier=...): {round} is judged by {objective}, this round by {own}. Give "
        "its results as results.with_objective(...) with the objective of this round."
    ),
    "search.too_many_dimensions": (
        "{dimensions} hyperparameters are searched at once, and {most} is the most that "
        "quasi-random points exist for. Fix the rest."
    ),
}
