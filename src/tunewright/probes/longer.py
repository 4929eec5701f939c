"""Would longer training help? The best trial resumes from its snapshot with the decay moved.

A trial's curves cannot show it: under a learning rate that falls to zero they end flat, however
short training is. So its newest snapshot from before the end is trained on twice, as long as before
and by a share longer, each under a few seeds, and the two groups are compared.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from tunewright import snapshot
from tunewright.advice.extend import changes_for_length
from tunewright.checks.trial_sd import trial_sd
from tunewright.design.ranges import Value, is_number
from tunewright.design.round import Round
from tunewright.errors import DesignError, SnapshotError
from tunewright.execution.branch import branch
from tunewright.execution.command import Command
from tunewright.execution.handle import FOLDER as SNAPSHOTS
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import Conclusion, for_probe, keep, round_in_store, run_probe
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Watcher
from tunewright.snapshot import Snapshot
from tunewright.stats.spread import pooled_sd
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

_PROBE = "longer"
GOAL = Message("goal.longer")
_UNKNOWN = Message("probe.longer.unknown")
SHARE = 0.25  # of the length that the longer branches add
TIMES = 3  # seeds of each length
_LATEST = 0.9  # of training: after it the learning rate is as good as gone
_CONFIDENCE = 0.95  # on each side of the interval
_MATTERS = 0.005  # of the value, where nothing is declared that matters
_PRECISE = 2.0  # times what matters: a wider interval is no evidence, wherever it lies
_ROUNDING = 1e-12  # of the value: a spread that is not one between seeds
_OWN_REPEATS = 2  # degrees of freedom that the repeats of the round add at least
# what a program that resumes reads of its handle, or whom it leaves that to
_RESUMES = ("restored", "start_step", "resumed_at", "pipeline")
Verdict = Literal["helps", "does not help", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Longer(Conclusion):
    """What the longer branches gained over those that end as before; positive is better."""

    probe: ClassVar[str] = _PROBE
    verdict: Verdict  # whether training longer pays
    round: str = ""  # of the trial that was branched
    trial: int | None = None  # its number
    from_step: int = 0  # of the snapshot
    steps: int = 0  # max_train_steps of the trial
    longer_steps: int = 0  # of the branches
    as_long: tuple[float, ...] = ()  # values at the trial's own length
    longer: tuple[float, ...] = ()  # values at the greater length
    gain: float | None = None  # of the mean
    low: float | None = None  # of a 90 % interval
    high: float | None = None  # of the same interval
    sd: float | None = None  # between seeds
    matters: float | None = None  # the smallest gain worth having


def longer(
    results: Results,
    workload: Workload,
    *,
    trial: int | None = None,
    share: float = SHARE,
    times: int = TIMES,
    progress: Wanted = "auto",
) -> Longer:
    """Resume the best trial (or `trial`) from its snapshot, and train it longer by a `share`.

    Some branches end at the trial's own length and as many at the greater one, with the schedule
    moved as `extend` would. The program must save and restore (`run.save`, `run.restored`) and take
    what means max_train_steps; otherwise this refuses before anything is trained.

    Args:
        results: the round of the trial.
        workload: its training program.
        trial: the number of the trial; None: the best one.
        share: how much longer: 0.5 is half as long again.
        times: branches of each length, on different seeds.
        progress: as for `tw.run`.
    """
    _refuse(share, times)
    chosen = results.best() if trial is None else results.trial(trial)
    steps = _length(results, chosen)
    _refuse_restart(workload)
    source = branching_point(results, chosen)
    more = steps + max(1, round(share * steps))
    each = _steps_each(chosen, steps)
    moved = changes_for_length(
        chosen.configuration, results.meaning, old=steps * each, new=more * each
    )
    name = results.meaning.name("max_train_steps")
    changed = {n: v for n, v in chosen.configuration.items() if n not in moved.dropped}
    plan = _Plan(results, workload, source, chosen, times, watcher_of(progress, workload))
    ends = source.step >= steps * each  # nothing is left to train at the trial's own length
    same = [] if ends else plan.train(chosen.configuration)
    grown = plan.train({**changed, **moved.values, name: more})
    answer = _answer(results, chosen, source, (steps, more), (same, grown))
    keep(workload, answer)
    return answer


def _refuse(share: float, times: int) -> None:
    problems = []
    if not is_number(share) or not 0 < share <= 4:
        problems.append(Message("longer.bad_share", {"share": share}))
    if type(times) is not int or not 2 <= times <= 20:
        problems.append(Message("longer.bad_times", {"times": times}))
    if problems:
        raise DesignError.several(problems)


def _length(results: Results, trial: Trial) -> int:
    name = results.meaning.name("max_train_steps")
    value = trial.configuration.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise DesignError("extend.length_unknown", round=results.round.name, name=name)
    return int(value)


def _refuse_restart(workload: Workload) -> None:
    """Refuse a function whose source file shows that it starts at step 0 whatever was saved."""
    if isinstance(workload.train, Command):
        return  # another program, which may read its folder: the first steps will show it
    try:
        text = Path(inspect.getsourcefile(inspect.unwrap(workload.train)) or "").read_text()
    except (TypeError, OSError, ValueError):
        return
    if not any(word in text for word in _RESUMES):
        raise DesignError("longer.does_not_restore", workload=workload.name)


def branching_point(results: Results, trial: Trial) -> Snapshot:
    """The newest whole snapshot before the last tenth of training, else the oldest there is."""
    folder = Path(results.root, trial.folder, SNAPSHOTS) if results.root and trial.folder else None
    snapshots = [] if folder is None else snapshot.list_snapshots(folder)
    last = trial.curves.last_step or 0
    early = [each for each in snapshots if each.step <= _LATEST * last]
    late = [each for each in snapshots if each not in early]
    for candidate in (*early, *reversed(late)):
        with contextlib.suppress(SnapshotError):
            snapshot.verify(candidate)
            return candidate
    raise DesignError("longer.no_snapshot", trial=trial.number, round=results.round.name)


def _steps_each(trial: Trial, steps: int) -> int:
    """The steps of one unit of length, which a program may count in epochs; 1 for steps."""
    last = trial.curves.last_step or steps
    return max(1, round(last / steps)) if last >= 2 * steps else 1


@dataclass(frozen=True)
class _Plan:
    """The branches of one snapshot."""

    results: Results
    workload: Workload
    source: Snapshot
    trial: Trial
    times: int
    watch: Watcher | None

    def train(self, configuration: Mapping[str, Value]) -> list[_Branch]:
        """Train the branches of one length to their end, or read them if they have been."""
        unnamed = Round(
            _PROBE,
            goal=GOAL,
            fixed=dict(configuration),
            trials_per_study=self.times,
            seed=self.results.round.seed,  # the data split goes by it, and both lengths share it
            continues=self.results.round.name,
        )
        facts = {"trial": self.trial.number, "round": self.results.round.name}
        origin = Message("stopped.branched", {**facts, "step": self.source.step})
        round = round_in_store(_PROBE, unnamed, self.workload)
        branch(round, for_probe(self.workload), self.source, origin)
        results = run_probe(_PROBE, unnamed, self.workload, watch=self.watch)
        trials = results.with_objective(self.results.objective).trials
        with Store.open(self.workload.store, create=False) as store:
            starts = [store.attempts(trial.identity)[-1].start_step for trial in trials]
        return [
            _Branch(trial.value, start == self.source.step)
            for trial, start in zip(trials, starts, strict=True)
        ]


@dataclass(frozen=True)
class _Branch:
    value: float | None  # None: it did not complete
    resumed: bool  # it began where the snapshot was


def _answer(
    results: Results,
    trial: Trial,
    source: Snapshot,
    lengths: tuple[int, int],
    groups: tuple[Sequence[_Branch], Sequence[_Branch]],
) -> Longer:
    steps, more = lengths
    known: dict[str, Any] = {
        "round": results.round.name,
        "trial": trial.number,
        "from_step": source.step,
        "steps": steps,
        "longer_steps": more,
    }
    if not all(b.resumed for group in groups for b in group):
        return _unknown(known, Message("probe.longer.not_restored", {"step": source.step}))
    same, grown = ([b.value for b in group if b.value is not None] for group in groups)
    caveats: tuple[Message, ...] = ()
    if not groups[0] and trial.value is not None:
        same, caveats = [trial.value], (Message("probe.longer.from_the_end"),)
    known |= {"as_long": tuple(same), "longer": tuple(grown), "caveats": caveats}
    if not same or len(grown) < 2:
        few = {"as_long": len(same), "longer": len(grown)}
        return _unknown(known, Message("probe.longer.too_few", few))
    return _compare(results, trial, known)


def _compare(results: Results, trial: Trial, known: Mapping[str, Any]) -> Longer:
    """Compare the groups by the spread between seeds: of branches, and of the round's repeats."""
    from scipy import stats

    same, grown = np.array(known["as_long"]), np.array(known["longer"])
    sd, free = pooled_sd((known["as_long"], known["longer"]))
    repeats = trial_sd(results, results.studies[trial.study])
    if repeats is not None:
        sd, free = max(sd, repeats), free + _OWN_REPEATS
    gain = float(same.mean() - grown.mean()) * (1.0 if results.objective.minimize else -1.0)
    if sd <= _ROUNDING * abs(float(same.mean())):
        return _unknown(known, Message("probe.longer.no_noise"))
    error = sd * math.sqrt(1 / len(same) + 1 / len(grown))
    reach = float(stats.t.ppf(_CONFIDENCE, free)) * error
    low, high = gain - reach, gain + reach
    matters = results.round.detect or _MATTERS * abs(float(same.mean()))
    facts = {"gain": gain, "low": low, "high": high, "matters": matters, "sd": sd}
    names = ("trial", "round", "from_step", "steps", "longer_steps")
    about = {**facts, "metric": results.objective.metric, **{name: known[name] for name in names}}
    common = {**known, **facts}
    if low > 0 and gain >= matters:
        length = {results.meaning.name("max_train_steps"): known["longer_steps"]}
        helps = Message("probe.longer.helps", about)
        return Longer(verdict="helps", message=helps, settings=length, **common)
    if high < matters and reach <= _PRECISE * matters:
        does_not = Message("probe.longer.does_not", about)
        return Longer(verdict="does not help", message=does_not, **common)
    lacks = Message("probe.longer.more_seeds", {"times": 2 * len(grown)})
    return _unknown(common, lacks, Message("probe.longer.open", about))


def _unknown(
    known: Mapping[str, Any],
    lacks: Message,
    message: Message = _UNKNOWN,
) -> Longer:
    """No answer, and what it lacks."""
    return Longer(verdict="unknown", message=message, missing=(lacks,), **known)
