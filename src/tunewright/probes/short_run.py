"""Was a short run stable? It diverged, rose above its start, spiked or rose; early or mid-training.

The spikes and rises are those of the check `instability`. What a check at every hundredth step
cannot see is added: a loss that leaves its start upwards within the first steps and recovers later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tunewright.checks.instability import Episode, diverged, episodes
from tunewright.checks.spacing import tables
from tunewright.design.ranges import Value, as_number
from tunewright.design.round import Round
from tunewright.errors import NotFound, WorkloadError
from tunewright.execution.cadence import EVALUATIONS, period
from tunewright.execution.sources import sources
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import run_probe
from tunewright.probes.starting_point import ByMeaning
from tunewright.progress.watcher import Watcher
from tunewright.stats.noise import ROBUST, Floats
from tunewright.stats.spikes import FEWEST, LONGEST
from tunewright.store.curves import Curve, Steps
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

What = Literal["", "diverged", "rose above its start", "spiked", "rose"]
_ABOVE_START = 0.2  # of the loss at the start; METHODS (e.5), with the guard against noise below
_WIDTH = 5  # points of the running median
_SURE = 4.0  # standard errors that the running median must be above the start
_MEDIAN_OF_5 = 0.536  # the standard deviation of a median of five, for one of each
_EARLY = 0.05  # of a whole training


@dataclass(frozen=True)
class ShortRun:
    """One short run, judged by its training loss."""

    trial: int | None
    learning_rate: float
    stable: bool | None  # None: it cannot be judged
    what: What = ""  # the first thing that went wrong
    at_step: int | None = None  # when
    early: bool | None = None  # before warm-up ended or within 5 % of a whole training
    recovered: bool | None = None  # whether it ended below where it was before
    start_loss: float | None = None
    final_loss: float | None = None  # the median of the last tenth

    @property
    def message(self) -> Message:
        """What happened.

        >>> ShortRun(0, 0.1, False, "spiked", 12, early=True, recovered=True).message.text
        'spiked at step 12 (early in training), then recovered'
        """
        if self.stable is None:
            return Message("probe.run.unknown")
        if self.stable:
            return Message("probe.run.stable")
        facts = {
            "what": self.what,
            "at_step": self.at_step,
            "early": self.early,
            "recovered": self.recovered,
        }
        return Message("probe.run.unstable", facts)


def early_until(max_train_steps: int, warmup_steps: int) -> float:
    """The step up to which instability is an early one, counted on the whole training."""
    return max(float(warmup_steps), _EARLY * max_train_steps)


def short_runs(results: Results, early: float, rises: bool = True) -> tuple[ShortRun, ...]:
    """Judge the runs of one of a probe's rounds; instability up to step `early` is an early one.

    Without `rises` only what blows up counts: under a warm-up the loss may well rise a little.
    """
    check_finished(results)
    loss = results.meaning.name("train_loss")
    curves = {t.number: curve for t in results.rows if (curve := _usable(t, loss)) is not None}
    least = _rise_that_matters([curve.values for curve in curves.values()])
    episodes_of = _episodes(results, loss) if rises or curves else {}
    judged = []
    for trial in results.rows:
        curve = curves.get(trial.number)
        run = _plain(results, trial, curve)
        if curve is None and not diverged(results, trial):
            judged.append(run)
            continue
        wrongs = _wrongs(results, trial, curve, least)
        wrongs += [
            ("spiked" if e.kind == "spike" else "rose", e.from_step, _before(curve, e.from_step))
            for e in episodes_of.get(trial.number, ())
            if rises or e.kind == "spike"
        ]
        if wrongs:
            run = _unstable(run, wrongs, early)
        elif trial.number in episodes_of:
            run = replace(run, stable=True)
        judged.append(run)
    return tuple(judged)


def check_finished(results: Results) -> Results:
    """The round, every trial of which has ended; otherwise what kept it from that is raised."""
    failed = [t for t in results.rows if t.status == "failed"]
    if failed:
        raise WorkloadError(
            "probe.run_failed",
            trial=failed[0].number,
            round=results.round.name,
            reason=failed[0].reason,
        )
    if results.unfinished:
        raise KeyboardInterrupt(f"{results.round.name} has not ended; call again to resume")
    return results


def why_not_judged(results: Results, runs: Sequence[ShortRun]) -> tuple[Message, ...]:
    """Why runs cannot be judged, and what to do about it; empty when all can."""
    dumb = [run for run in runs if run.stable is None]
    if not dumb:
        return ()
    loss = results.meaning.name("train_loss")
    odd = [results.trial(run.trial) for run in dumb if run.trial is not None]
    infeasible = [t for t in odd if t.status == "infeasible"]
    if infeasible:
        return (Message("probe.infeasible_run", {"reason": str(infeasible[0].reason)}),)
    curves = [curve for t in odd if (curve := t.curves.only(loss)) is not None]
    if not curves:
        logged = list(dict.fromkeys(name for t in odd for name in t.curves))
        return (Message("probe.loss_never_logged", {"metric": loss, "logged": logged}),)
    most = max(len(curve) for curve in curves)
    facts = {"metric": loss, "points": most, "needed": FEWEST}
    return (Message("probe.too_few_points", facts),)


def unstable_stretches(results: Results) -> dict[int | None, list[tuple[int, int]]]:
    """The first and last step of whatever each run's training loss did wrong."""
    loss = results.meaning.name("train_loss")
    curves = {t.number: curve for t in results.rows if (curve := _usable(t, loss)) is not None}
    least = _rise_that_matters([curve.values for curve in curves.values()])
    episodes_of = _episodes(results, loss)
    stretches: dict[int | None, list[tuple[int, int]]] = {}
    for trial in results.rows:
        curve = curves.get(trial.number)
        bad = [(each.from_step, each.to_step) for each in episodes_of.get(trial.number, ())]
        wrongs = _wrongs(results, trial, curve, least)
        if curve is not None and any(what == "rose above its start" for what, _, _ in wrongs):
            above = _above_start(curve, least)
            bad.append((int(curve.steps[above[0]]), int(curve.steps[above[-1]])))
        if curve is not None and any(what == "diverged" for what, _, _ in wrongs):
            bad.append((int(curve.steps[-min(len(curve), 2 * _WIDTH)]), int(curve.steps[-1])))
        stretches[trial.number] = bad
    return stretches


def _rise_that_matters(losses: Sequence[Floats]) -> float:
    """How far above its first value a running median of five is more than chance.

    Single losses are noisy: as noisy as the calmest of these runs, since in the others the noise
    may be the instability itself.

    >>> _rise_that_matters([np.array([2.0, 1.9, 1.8, 1.7, 1.6, 1.5])])
    0.0
    """
    moves = [np.diff(values[:FEWEST]) for values in losses if len(values) > _WIDTH]
    noises = [ROBUST * float(np.median(np.abs(m - np.median(m)))) / np.sqrt(2) for m in moves]
    return float(round(_SURE * np.hypot(1.0, _MEDIAN_OF_5) * min(noises, default=0.0), 12))


def _unstable(run: ShortRun, wrongs: Sequence[tuple[What, int, float]], early: float) -> ShortRun:
    """The run with what went wrong first, or that it diverged, which is worse than the rest."""
    what, step, level = min(wrongs, key=lambda wrong: wrong[1])
    divergences = [wrong for wrong in wrongs if wrong[0] == "diverged"]
    back = not divergences and run.final_loss is not None and run.final_loss < level
    return replace(
        run,
        stable=False,
        what="diverged" if divergences else what,
        at_step=divergences[0][1] if divergences else step,
        early=step <= early,
        recovered=back,
    )


def _wrongs(
    results: Results, trial: Trial, curve: Curve | None, least: float
) -> list[tuple[What, int, float]]:
    """Divergence and the start left upwards: what, at which step, and the loss before it."""
    wrongs: list[tuple[What, int, float]] = []
    start = np.nan if curve is None else float(curve.values[0])
    if diverged(results, trial):
        wrongs.append(("diverged", trial.curves.last_step or 0, start))
    if curve is not None and len(curve) >= _WIDTH:
        above = _above_start(curve, least)
        if len(above):
            wrongs.append(("rose above its start", int(curve.steps[above[0]]), start))
    return wrongs


def _above_start(curve: Curve, least: float) -> Steps:
    """The positions at which a running median of five is above the first loss."""
    start = float(curve.values[0])
    middle = np.median(sliding_window_view(curve.values, _WIDTH), axis=1)
    return np.flatnonzero(middle > start + max(_ABOVE_START * abs(start), least)) + _WIDTH // 2


def _episodes(results: Results, loss: str) -> Mapping[int | None, Sequence[Episode]]:
    """The spikes and rises of every run with enough points to judge it."""
    episodes_of: dict[int | None, Sequence[Episode]] = {}
    completed = [t for t in results.rows if t.status == "completed"]
    for table in tables(completed, loss, longest=LONGEST):
        if table.values.shape[1] >= FEWEST:
            each = episodes(results, table, lasting=True)
            episodes_of |= {t.number: e for t, e in zip(table.trials, each, strict=True)}
    return episodes_of


def _plain(results: Results, trial: Trial, curve: Curve | None) -> ShortRun:
    """What is known of a run before it is judged."""
    rate = as_number(trial.configuration.get(results.meaning.name("learning_rate")))
    run = ShortRun(trial.number, np.nan if rate is None else rate, None)
    if curve is None:
        return run
    tail = max(1, len(curve) // 10)
    final = float(np.median(curve.values[-tail:]))
    return replace(run, start_loss=float(curve.values[0]), final_loss=final)


def _usable(trial: Trial, loss: str) -> Curve | None:
    """The finite beginning of a run's training loss."""
    curve = trial.curves.only(loss)
    if curve is None:
        return None
    finite = np.isfinite(curve.values)
    end = len(curve) if finite.all() else int(np.argmin(finite))
    return Curve(curve.steps[:end], curve.values[:end]) if end else None


def _before(curve: Curve | None, step: int) -> float:
    """The loss just before a step."""
    if curve is None:
        return np.nan
    at = int(np.searchsorted(curve.steps, step))
    return float(np.median(curve.values[max(0, at - _WIDTH) : max(1, at)]))


# ---- can short runs be judged at all? What is known of it before anything is trained.
#
# A spike or a rise is judged on 60 points of the training loss. Fewer steps than that never
# suffice; and an earlier trial of the same program shows how often it logs its loss.


def foreseen(start: ByMeaning, steps: int) -> tuple[Message, ...]:
    """Why runs of so many steps cannot be judged; empty when they may be."""
    if steps < FEWEST:
        return (Message("probe.too_few_steps", {"steps": steps, "needed": FEWEST}),)
    every = _logging_interval(start)
    if every is None or steps // every >= FEWEST:
        return ()
    facts = {
        "metric": start.name("train_loss"),
        "every": every,
        "points": steps // every,
        "steps": steps,
        "needed": FEWEST,
        "needed_steps": every * FEWEST,
    }
    return (Message("probe.logged_too_rarely", facts),)


def _logging_interval(start: ByMeaning) -> int | None:
    """Every how many steps today's program logs its training loss; None: not known.

    A loss that was logged where `run.eval_due` asked for it is no evidence: a probe asks for every
    step. Neither does a trial of a program that has changed since.
    """
    known = start.known
    curve = None if known is None else known.curves.only(start.name("train_loss"))
    if known is None or curve is None or len(curve) < 2 or not _same_program(start):
        return None
    every = max(1, round(float(np.median(np.diff(curve.steps)))))
    last = known.curves.last_step or 0
    evaluated_every = start.workload.eval_every or period(last, EVALUATIONS)
    return None if every == evaluated_every else every


def _same_program(start: ByMeaning) -> bool:
    now = sources(start.workload.train)
    try:
        store = Store.open(start.workload.store, create=False)
    except NotFound:
        return False
    with store:
        assert start.known is not None
        origin = store.provenance(start.known.identity)
    return bool(now) and origin is not None and origin.sources == now


# ---- short runs on equal draws: whatever differs between them is due to the one thing that was
# varied.
#
# Every value is a separate study, and studies share their seeds: initialisation, the order of the
# data and their split are alike for all values. Under different seeds they would differ by noise
# too, and the lowest unstable learning rate would be that of the worst initialisation.


def run_equal(
    probe: str,
    goal: Message,
    workload: Workload,
    varied: Mapping[str, Sequence[Value]],
    fixed: Mapping[str, Value],
    seeds: int = 1,
    watch: Watcher | None = None,
    seed: int = 0,
) -> Results:
    """Train every combination of the varied values under so many seeds, alike for all of them.

    Two calls with the same `seed` of the round share their seeds too.
    """
    round = Round(
        probe,
        goal=goal,
        scientific={name: list(values) for name, values in varied.items()},
        nuisance={},
        fixed={name: value for name, value in fixed.items() if name not in varied},
        trials_per_study=seeds,
        seed=seed,
    )
    return run_probe(probe, round, workload, watch=watch)
