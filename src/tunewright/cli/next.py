"""Commands that say what to do after a round: next and extend. They never train anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tunewright.actions import Action, NextRound
from tunewright.advice.extend import extension
from tunewright.advice.length import Agreement, agreement
from tunewright.advice.proposal import DEFAULT_SEARCH, Proposal, next_name
from tunewright.cli._grouped import flatten_groups
from tunewright.cli._groups import Answering, Judging
from tunewright.cli._options import (
    ROUNDS,
    RoundName,
    find_project,
    need_project,
    open_store,
    read_round,
    store_address,
)
from tunewright.design.round import Round
from tunewright.errors import Misuse, NotFound
from tunewright.messages import worded
from tunewright.present.terminal.proposal_page import print_extension, print_proposals
from tunewright.present.terminal.screen import say, screen
from tunewright.project._project import names_in_store, proposals_under
from tunewright.store.results import Results

WriteOption = Annotated[bool, typer.Option("--write", help="Write the round as rounds/NAME.toml.")]


@flatten_groups
def next_(
    round: RoundName,
    judging: Judging,
    answering: Answering,
    write: WriteOption = False,
    take: Annotated[
        int, typer.Option(min=1, metavar="N", help="Which of the proposals --write writes.")
    ] = 1,
) -> None:
    """Say what to do after a round: ranked proposals with their reasons, and rounds to run."""
    results = judging.apply(read_round(round, answering.store))
    proposals = proposals_under(
        results, next_name(results.round.name, _names_in_use(answering.store))
    )
    path = _write(results, proposals, take) if write else None
    action = _next_action(round, proposals, None if path is None else proposals[take - 1])
    data = {
        "round": results.round.name,
        "proposals": proposals,
        "wrote": path,
        "next": [action],
    }

    def page() -> None:
        print_proposals(results, proposals, screen())
        _print_agreement(results, answering.store)
        if path is not None:
            say(worded("wrote_about", path=path, what=proposals[take - 1].kind))
        dry = " --dry-run" if path is not None else ""
        say(worded("next", command=f"{action.command or action.shell_text}{dry}"))

    answering.show(data, page)


next_.__name__ = "next"  # the verb's name, which Python has a function of


def _print_agreement(results: Results, store: str | None) -> None:
    """How alike short and long training rank, where a shorter round is known."""
    if agreement := _agreement(results, store):
        say(worded("lengths", says=agreement.says))
    say()


@flatten_groups
def extend(
    round: RoundName,
    answering: Answering,
    max_train_steps: Annotated[
        int, typer.Option("--max-train-steps", min=1, metavar="N", help="The new length.")
    ],
    tune: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Tune this one again too, beside the learning rate; may be given again.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Long trainings.", show_default=False)
    ] = None,
    write: WriteOption = False,
) -> None:
    """Train longer: the best configuration's neighbourhood at more steps, its schedule adapted."""
    results = read_round(round, answering.store)
    longer = extension(results, max_train_steps, tune=tune or (), trials_per_study=trials)
    name = next_name(results.round.name, _names_in_use(answering.store))
    longer = replace(longer, round=replace(longer.round, name=name))
    reason = f"from {longer.old_steps} to {longer.new_steps} steps: {longer.rule}"
    path = _new_file(longer.round, reason) if write else None
    argv = ["tunewright", "run", name]
    if path is None:
        argv = ["tunewright", "extend", round, "--max-train-steps", str(max_train_steps), "--write"]

    def page() -> None:
        print_extension(results, longer, screen())
        _print_agreement(results, answering.store)
        if path is not None:
            say(worded("wrote", path=path))
        dry = " --dry-run" if path is not None else ""
        say(worded("next", command=f"{shlex.join(argv)}{dry}"))

    answering.show({"extension": longer, "wrote": path, "next": [{"argv": argv}]}, page)


def _is_new(results: Results, proposal: Proposal) -> bool:
    return proposal.round is not None and proposal.round.name != results.round.name


def _next_action(round: str, proposals: Sequence[Proposal], written: Proposal | None) -> Action:
    """What to do now: run the round that was written, or what the first proposal asks for."""
    chosen = written or proposals[0]
    same_round = chosen.round is not None and chosen.round.name == round
    runnable = [action for action in chosen.actions if action.argv]
    if not runnable and chosen.actions and find_project() is None:
        return chosen.actions[0]  # such as connecting a program to an imported round
    if runnable and (written is not None or chosen.round is None or same_round):
        return runnable[0]
    return NextRound(round, write=True)


def _names_in_use(store: str | None) -> set[str]:
    """The names of rounds in the store and in the project's folder."""
    project = find_project()
    beside = project.round_names if project is not None else []
    return {*names_in_store(store_address(store)), *beside}


def _write(results: Results, proposals: Sequence[Proposal], take: int) -> Path:
    """Write the round of one proposal, or raise the trials of the one that is there."""
    project = need_project()
    if take > len(proposals):
        raise Misuse(
            "next.no_such_proposal",
            number=take,
            count=len(proposals),
            remedy=NextRound(results.round.name),
        )
    chosen = proposals[take - 1]
    if chosen.round is None:
        others = [n for n, proposal in enumerate(proposals, start=1) if proposal.round is not None]
        raise Misuse(
            "next.nothing_to_write",
            kind=chosen.kind,
            cause=chosen.reason,
            remedy=next(
                (action for action in chosen.actions if action.argv), _take(results, others)
            ),
        )
    path = project.round_file(chosen.round.name)
    if not _is_new(results, chosen) and path.exists():
        return _raise_trials(path, chosen.round)
    search = None if chosen.search == DEFAULT_SEARCH else chosen.search
    return _new_file(chosen.round, f"{chosen.kind}: {chosen.reason}", search)


def _take(results: Results, others: Sequence[int]) -> NextRound | None:
    return NextRound(results.round.name, write=True, take=others[0]) if others else None


def _new_file(round: Round, reason: str, search: str | None = None) -> Path:
    """Write a round's file, its reason first; where it stands in the project."""
    return Path(ROUNDS) / need_project().write(round, reason, search).name


def _raise_trials(path: Path, round: Round) -> Path:
    """Change the number of trials in a file, and nothing else: it may hold a user's comments."""
    text = path.read_text(encoding="utf-8")
    line = re.compile(r"^(\s*trials_per_study\s*=\s*)\d+", re.MULTILINE)
    path.write_text(line.sub(rf"\g<1>{round.trials_per_study}", text, count=1), encoding="utf-8")
    return Path(ROUNDS) / path.name


def _agreement(results: Results, store: str | None) -> Agreement | None:
    """How alike this round and the shorter one it continues rank; None without a shorter one."""
    before, name = results.round.continues, results.meaning.name("max_train_steps")
    if not before or not results.top(1):
        return None
    try:
        with open_store(store) as opened:
            earlier = opened.results(before)
    except NotFound:
        return None
    if not earlier.top(1):
        return None
    now, then = (side.top(1)[0].configuration.get(name) for side in (results, earlier))
    if not isinstance(now, int | float) or not isinstance(then, int | float) or then >= now:
        return None
    return agreement(earlier, results)
