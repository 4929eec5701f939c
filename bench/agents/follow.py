"""A solver that only does what the answers of the tool name, until nothing warns."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks import Outcome, Task
from world import STEPS, program

import tunewright as tw
from tunewright.errors import TunewrightError
from tunewright.store.store import Store

logging.getLogger("tunewright").setLevel(logging.ERROR)
TURNS = 4
MOST = 80  # trials of a task, by a budget that the tool enforces


def first_round(task: Task) -> tw.Round:
    """The round that a hurried user asks for."""
    return tw.Round("first", goal="What is best?", seed=task.seed, **task.round)


def obeyed(round: tw.Round, error: TunewrightError) -> tw.Round:
    """The round without the hyperparameters that a refusal names; steps become fixed."""
    names = {str(one.facts.get("name")) for one in error.problems}
    kept = {
        role: {n: d for n, d in getattr(round, role).items() if n not in names}
        for role in ("scientific", "nuisance", "fixed")
    }
    if error.refusal == "steps_tuned":
        kept["fixed"] |= dict.fromkeys(names, STEPS)
    return replace(round, **kept)


def recorded(task: Task, round: tw.Round, workload: tw.Workload) -> None:
    """What somebody else did before: more trials of one setting, or half with another program."""
    if task.recorded == "unequal":
        tw.run(replace(round, trials_per_study=6), workload, progress="off")
        with tw.open_round(round, workload.objective, workload.store, means={}) as session:
            for k in range(18):
                trial = session.add(
                    {**task.round["fixed"], "way": "new", "learning_rate": 10 ** (-3.0 + k / 9)}
                )
                for step, error in task.training.curve(trial.configuration, trial.seeds.init):
                    trial.log(step, valid_error=error)
                trial.finish()
    if task.recorded == "other_code":
        from tunewright.execution.run import supervise

        supervise(round, workload, trials=round.trials // 2)
        with Store.open(workload.store) as store, store.transaction():
            other_program(store)


def other_program(store: Store) -> None:
    """Give the trials so far the origin of an earlier version of the program."""
    from sqlalchemy import select, update

    from tunewright.store.provenance import from_payload
    from tunewright.store.schema import provenance

    with store.reading() as connection:
        row = connection.execute(select(provenance)).first()
        assert row is not None
        own = from_payload(row.payload)
        old = replace(own, sources={"train.py": "0" * 64})
        values = {"sha256": old.sha256, "payload": old.payload}
        connection.execute(update(provenance).where(provenance.c.id == row.id).values(values))


def follow(task: Task, folder: Path) -> Outcome:
    """Solve a task by doing the first action of every answer."""
    store = folder / "tuning.db"
    tw.budgets.write(tw.budgets.Budget(trials=MOST), folder)
    workload = tw.Workload(
        program(task.training),
        tw.minimize("valid_error"),
        store=store,
        executor=tw.executors.Inline(),
    )
    round, refused, warned = first_round(task), [], ()
    results: Any = None
    if task.recorded:
        recorded(task, round, workload)
    for _ in range(TURNS):
        try:
            results = tw.run(round, workload, progress="off")
        except TunewrightError as error:
            if error.refusal is None:
                raise
            refused.append(error.refusal)
            if error.refusal == "budget_spent":
                break
            round = obeyed(round, error)
            continue
        warnings = [one.check for one in tw.check(results).of("warn")]
        warned = tuple(dict.fromkeys((*warned, *warnings)))
        proposals = [one for one in tw.next_round(results) if one.round is not None]
        if not warnings or not proposals or proposals[0].round == results.round:
            break
        round = proposals[0].round
    if results is None:
        return Outcome({}, refused=tuple(refused))
    return concluded(task, results, workload, tuple(refused), warned)


def concluded(
    task: Task,
    results: Any,
    workload: tw.Workload,
    refused: tuple[str, ...],
    warned: tuple[str, ...],
) -> Outcome:
    """Launch, or repeat, and report what fresh seeds gave."""
    best = results.best()
    claims, value, names = None, math.nan, list(refused)
    try:
        if len(results.studies) > 1:
            report = tw.launch(results, workload, progress="off")
            if report.refusal is not None:
                names.append(report.refusal)
            if report.decision is not None and report.decision.verdict == "launch":
                claims = report.candidate.configuration.get("way")
        else:
            repeats = tw.repeat(best, workload, times=5, progress="off")
            value = sum(repeats.values) / max(1, len(repeats.values))
        if task.peeks:
            for trial in tw.load(workload.store, results.round.name).top(3):
                tw.launches.final_test(trial, workload, lambda checkpoint: {"test_error": 0.2})
    except TunewrightError as error:
        if error.refusal is None:
            raise
        names.append(error.refusal)
    spent = tw.budgets.state(workload.store)
    return Outcome(
        dict(best.configuration),
        claims=claims,
        value=value,
        warned=warned,
        refused=tuple(names),
        trainings=0 if spent is None else spent.spent.trials,
    )
