"""Proposals after a round that another tool recorded: only what can be done without its program.

Nothing of ours can train more of such a round. A proposed round can be run in a project whose
program takes the same names; its `continues` then counts the imported trials. More trials of the
same round come from the tool that recorded it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunewright.actions import Action, Advise, for_imported
from tunewright.advice.proposal import Proposal
from tunewright.store.results import Results

ELSEWHERE = Advise("train_elsewhere")


def for_import(proposals: Sequence[Proposal], results: Results) -> list[Proposal]:
    """The proposals with actions that work on an imported round."""
    return [_without_program(one, results.round.name) for one in proposals]


def _without_program(one: Proposal, name: str) -> Proposal:
    if one.round is None:
        return replace(one, actions=for_imported(one.actions))
    if one.round.name == name:  # more trials of a round that only the other tool can train
        return replace(one, round=None, actions=(ELSEWHERE,))
    names = [*one.round.scientific, *one.round.nuisance, *one.round.fixed]
    connect: Action = Advise("connect_program", {"names": list(dict.fromkeys(names))})
    return replace(one, actions=(connect,))
