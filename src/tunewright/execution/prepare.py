"""A round made ready to run: refused before compute, or completed and with advice."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tunewright.design.guards import advise, notes_on_continued, refusals
from tunewright.design.names import Meaning, guess_note
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import DesignError, NotFound
from tunewright.execution.cadence import EVALUATIONS, period
from tunewright.execution.command import CONFIG_FILE, FACTS, Command, Fact, is_reserved
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.search.search import Search, vet
from tunewright.store.store import Store


def ready(round: Round, workload: Workload, search: Search) -> Round:
    """The round with the workload's unmentioned defaults; refuses what cannot be run."""
    if not isinstance(round, Round):
        raise DesignError("run.not_a_round", round=round)
    problems = problems_of(round, workload)
    if problems:
        raise DesignError.several(problems)
    vet(search, round, workload.objective)
    return with_defaults(round, workload.accepts.defaults)


def problems_of(
    round: Round, workload: Workload, elsewhere: frozenset[str] = frozenset()
) -> list[Message]:
    """Every reason why a workload cannot run a round; `elsewhere` names what is given besides."""
    workload = workload.given(round.names)
    accepts = workload.accepts
    problems = refusals(
        round,
        workload.objective,
        workload.meaning,
        accepts.names,
        accepts.names_needed(round.names).difference(elsewhere),
        accepts.takes_anything,
    )
    return [*_name_clashes(round, workload), *problems]


def _name_clashes(round: Round, workload: Workload) -> Iterator[Message]:
    """Hyperparameters by a name under which the program receives something else."""
    if isinstance(workload.train, Command):
        taken = [name for name in round.names if is_reserved(name)]
        why = "a command's field of that name is filled with a fact of the run, not with its value"
    else:
        taken = [name for name in round.names if name == workload.accepts.handle]
        why = f"{workload.name}() receives the handle of the run under that name"
    if taken:
        facts = {"taken": ", ".join(map(repr, taken)), "why": why, "round": round.name}
        yield Message("hyperparameter.reserved", {**facts, "names": taken})


def with_defaults(round: Round, defaults: Mapping[str, Value]) -> Round:
    """The round with these values among the fixed hyperparameters, where it does not have them.

    What a training function uses is a caveat on every conclusion, mentioned or not.
    """
    named = set(round.names)
    unsaid = {name: value for name, value in defaults.items() if name not in named}
    return replace(round, fixed={**round.fixed, **unsaid}) if unsaid else round


def advice(round: Round, workload: Workload, store: Store | None = None) -> tuple[Message, ...]:
    """How names are read and what is unwise about the round, but not refused.

    The store has what the round continues.
    """
    known = workload.given(round.names)
    notes = notes_on(round, known.objective, known.meaning)
    return (*notes, *notes_on_earlier(store, round, known.meaning, known.name))


def notes_on(round: Round, objective: Objective, meaning: Meaning) -> tuple[Message, ...]:
    """How names are read where nobody declared it, and what is unwise about the round."""
    return (*guess_note(meaning), *advise(round, objective, meaning))


def notes_on_earlier(
    store: Store | None, round: Round, meaning: Meaning, workload: str = ""
) -> tuple[Message, ...]:
    """What the round that it continues makes of it: settings that were tuned for another one."""
    if store is None or not round.continues:
        return ()
    try:
        earlier = store.round(round.continues).round
    except NotFound:
        return ()
    probes = store.probes(workload, name="train_steps") if workload else []
    probed = {value for probe in probes for value in probe.settings.values()}
    return notes_on_continued(round, earlier, meaning, probed)


def command_line(
    workload: Workload, configuration: Mapping[str, Value], seed: int, folder: Path
) -> str:
    """The command line or the call of a trial, as its program is started.

    Devices and ports differ from attempt to attempt: their fields stay. `tunewright again` fills in
    all of them.
    """
    if isinstance(workload.train, Command):
        facts: dict[str, Fact] = {name: f"{{run.{name}}}" for name in FACTS}
        facts |= {"seed": seed, "start_step": 0, "folder": str(folder)}
        every = _eval_every(workload, configuration)
        facts |= {} if every is None else {"eval_every": every}
        words = workload.train.fill(configuration, facts, str(folder / CONFIG_FILE))
        return shlex.join(words)
    given = "".join(f", {name}={value!r}" for name, value in configuration.items())
    return f"{workload.name}(run{given})  # seed {seed}"


def _eval_every(workload: Workload, configuration: Mapping[str, Value]) -> int | None:
    """Every how many steps a trial is evaluated; None where its length is not known."""
    steps = configuration.get(workload.meaning.name("max_train_steps"))
    if workload.eval_every is not None or type(steps) is not int:
        return workload.eval_every
    return period(steps, EVALUATIONS)
