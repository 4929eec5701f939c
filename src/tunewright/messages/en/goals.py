"""English: the questions of rounds that the program makes itself, such as probes and imports."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "goal.clip": "Is learning rate {rate:.3g} stable with gradients clipped at {norm:.3g}?",
    "goal.critical_batch": (
        "How many steps to the goal at batch size {batch_size}, everything tuned anew?"
    ),
    "goal.final": (
        "Train trial {trial} of {round} on training and validation data together, for good: its "
        "validation metrics measure training data now."
    ),
    "goal.imported": "imported from {origin}",
    "goal.longer": "Does training that is a little longer end better?",
    "goal.prepended": "Is the whole training better with the warm-up prepended?",
    "goal.replicate": (
        "How much of the result of {round} is noise? The same search with other points."
    ),
    "goal.split": "How much of trial {trial} of {round} is the data split?",
    "goal.stability": "From which learning rate above {rate:.3g} on is training unstable?",
    "goal.train_steps": (
        "How soon does the fastest constant learning rate fit the training data perfectly?"
    ),
    "goal.tune": "Which configuration is best?",
    "goal.warmup": "Do {warmup_steps} warm-up steps make learning rate {rate:.3g} stable?",
}
