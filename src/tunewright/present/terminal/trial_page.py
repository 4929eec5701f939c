"""One trial on a screen: its configuration, its curves, its attempts, and how to do it again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from tunewright.execution.evaluate import Evaluated
from tunewright.launches.final import FinalCheck
from tunewright.measured import Measured
from tunewright.messages import Message, Text as Words, label, worded, words
from tunewright.present.terminal.screen import cell, print_pair, say, screen, table
from tunewright.progress.tally import Standing, of_total, standing
from tunewright.store.provenance import EVAL_EVERY, Provenance
from tunewright.store.read_round import Attempt
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.stores import History

_WIDE = 10.0  # highest over lowest value from which a curve is drawn by its logarithm
LINES = 60  # of uncommitted changes shown; --json has all that were kept
_TAIL = 20  # lines of a log shown; the rest is in the trial's folder


def print_trial(results: Results, trial: Trial, history: History, console: Console) -> None:
    """Print the page of a trial."""
    console.print(Text(headline(results, trial), style="bold"), soft_wrap=True)
    for name, text in facts(results, trial, standing(results, trial, history.attempts)):
        print_pair(console, name, text)
    if history.snapshots:
        last = history.snapshots[-1]
        print_pair(
            console,
            "snapshot",
            _phrase("snapshot", path=words.printable(last.path), step=last.step),
        )
    console.print()
    console.print(_configuration_table(results, trial))
    if len(trial.curves):
        console.print()
        console.print(_curves_table(trial))
    if len(history.attempts) > 1:
        console.print()
        console.print(_attempts_table(history.attempts))
    if trial.detail:
        console.print()
        tail = words.printable_lines(trial.detail).splitlines()[-_TAIL:]
        console.print(Text("\n".join(f"  {line}" for line in tail)), soft_wrap=True)
    if history.provenance is not None:
        console.print()
        for name, text in origins(history.provenance):
            print_pair(console, name, text)
        if history.provenance.diff:
            console.print()
            diff_lines = words.printable_lines(history.provenance.diff).splitlines()
            cut = [Message("trial.diff_cut", {"lines": len(diff_lines) - LINES}).text]
            lines = diff_lines if len(diff_lines) <= LINES else [*diff_lines[:LINES], *cut]
            console.print(Text("\n".join(f"  {line}" for line in lines)), soft_wrap=True)
    if trial.status == "failed" and trial.origin is None and not results.imported:
        console.print()
        again = f"tunewright run {words.printable(results.round.name)} --retry-failed"
        print_pair(console, "next", _phrase("retry", command=again))


def headline(results: Results, trial: Trial) -> str:
    """What became of the trial."""
    who = {"round": words.printable(results.round.name), "trial": trial.number}
    if trial.value is not None:
        metric = words.printable(results.objective.metric)
        value = _number(trial.measured or trial.value)
        return worded("trial_completed", metric=metric, value=value, step=trial.best_step, **who)
    if not trial.reason:
        return worded("trial_ended", status=label(trial.status), **who)
    reason = words.printable(str(trial.reason))
    return worded("trial_ended_why", status=label(trial.status), reason=reason, **who)


def _running_line(progress: Standing) -> str:
    """How far a running trial is, in words."""
    parts = [
        worded("no_step") if progress.step is None else of_total(progress.step, progress.total)
    ]
    parts.append(worded("running_for", seconds=progress.seconds))
    if progress.rate is not None:
        parts.append(worded("step_rate", rate=progress.rate))
    if progress.left_s:
        parts.append(worded("time_left", seconds=progress.left_s))
    return ", ".join(parts)


def facts(results: Results, trial: Trial, now: Standing | None = None) -> Iterator[tuple[str, str]]:
    """Study, rank, time, attempts, memory, values in use, seed and folder."""
    if where := _place_of(trial.detail):
        yield "where", words.printable(where)
    study = results.studies[trial.study]
    yield "study", words.printable(study.label)
    if trial.origin is not None:
        yield (
            "earlier",
            _phrase("earlier", trial=trial.origin[1], round=words.printable(trial.origin[0])),
        )
    ranked = [t.number for t in results.top()]
    if trial.number in ranked:
        yield "rank", _phrase("rank", rank=ranked.index(trial.number) + 1, of=len(ranked))
    if trial.measured is not None and trial.measured.n is not None:
        yield "measured", worded("on_examples", n=trial.measured.n)
    if now is not None:
        yield "now", _running_line(now)
    if trial.attempts and (now is None or trial.attempts > 1):
        yield "time", _phrase("time", seconds=trial.seconds, attempts=trial.attempts)
    if trial.peak_memory_mb is not None:
        yield "memory", _phrase("memory", memory=words.megabytes(trial.peak_memory_mb))
    if trial.applied:
        yield "applied", words.settings(trial.applied)
    if trial.seed or not results.imported:  # another tool's seed is 0 where it is not recorded
        yield "seed", str(trial.seed)
    repeats = results.repeats(trial)
    if repeats:
        values = [words.number(r.value) if r.value is not None else r.status for r in repeats]
        yield "repeats", ", ".join(values)
    if results.root and trial.folder and not results.imported:
        yield "folder", words.printable(f"{results.root}/{trial.folder}")
    if trial.started:
        yield "program", words.printable(trial.started)
    if trial.command:
        yield "command" if results.imported else "again", words.printable(trial.command)


def _place_of(detail: str) -> str:
    """The line of the training program that a traceback ends in; ours and libraries' are passed by.

    >>> _place_of('File "/home/me/train.py", line 88, in train')
    '/home/me/train.py:88'
    """
    frames = re.findall(r'File "([^"]+)", line (\d+)', detail)
    program_frames = [
        f for f in frames if "site-packages" not in f[0] and "/tunewright/" not in f[0]
    ]
    return ":".join((program_frames or frames)[-1]) if frames else ""


def _configuration_table(results: Results, trial: Trial) -> RenderableType:
    """Every hyperparameter with its role and the range it came from."""
    study = results.studies[trial.study]
    rows = table("hyperparameter", "value", "role", "range")
    ranges = {h.name: h for h in study.space if h.column in trial.unit}
    for name, setting in trial.configuration.items():
        role, searched = "fixed", ""
        if name in study.scientific:
            role = "scientific"
        elif name in ranges:
            role = "scientific" if ranges[name].column in results.round.scientific else "nuisance"
            searched = str(ranges[name].range)
        rows.add_row(cell(name), cell(words.value(setting)), cell(role), cell(searched))
    return rows


def _curves_table(trial: Trial) -> RenderableType:
    """Every metric as a small line with its first, last, lowest and highest value."""
    rows = table(
        "metric", "curve", "points", "first", "last", "lowest", "highest", right=("points",)
    )
    for metric, curve in trial.curves.items():
        values = curve.values.tolist()
        finite = [v for v in values if math.isfinite(v)] or [None]
        summary = (values[0], values[-1], min(finite), max(finite)) if values else (None,) * 4
        rows.add_row(
            cell(metric),
            sparkline_of(values),
            str(len(curve)),
            *(words.number(v) for v in summary),
        )
    return rows


def sparkline_of(values: Sequence[float]) -> str:
    """The curve as one line; positive values over a wide range are drawn by their logarithm."""
    finite = [v for v in values if math.isfinite(v)]
    if not finite or min(finite) <= 0 or max(finite) < _WIDE * min(finite):
        return words.sparkline(values)
    return words.sparkline([math.log(v) if math.isfinite(v) else v for v in values]) + worded(
        "log_scale"
    )


def _attempts_table(attempts: Sequence[Attempt]) -> RenderableType:
    """Every attempt: where it ran, from which step, how it ended."""
    rows = table("attempt", "from step", "took", "ended", "cause", "where", right=("attempt",))
    for attempt in attempts:
        rows.add_row(
            str(attempt.n),
            str(attempt.start_step),
            words.duration(attempt.seconds),
            cell(label(attempt.outcome or "running")),
            cell(str(attempt.cause or "")),
            cell(attempt.place),
        )
    return rows


def origins(provenance: Provenance) -> Iterator[tuple[str, str]]:
    """Which code, packages and machine it came from."""
    yield "command", words.printable(provenance.command)
    if provenance.commit:
        commit = provenance.commit[:12]
        yield "commit", worded("commit_changed", commit=commit) if provenance.diff else commit
    if provenance.untracked:
        yield "untracked", words.printable(", ".join(provenance.untracked))
    if provenance.left_out:
        yield "left out", words.printable(", ".join(provenance.left_out))
    if provenance.settings.get(EVAL_EVERY) is not None:
        yield "eval_every", str(provenance.settings[EVAL_EVERY])
    packages = "  ".join(f"{name} {version}" for name, version in provenance.packages.items())
    yield "packages", f"python {provenance.python}  {packages}".rstrip()
    devices = ", ".join(provenance.devices)
    yield "machine", words.printable(" ".join(filter(None, (provenance.host, devices))))


def _phrase(what: str, **facts: object) -> Words:
    return Message(f"page.trial.{what}", facts).text


# ---- offline evaluations on a screen: a line per trial, and the look at the test set


def print_measured(results: Results, evaluations: tuple[Evaluated, ...]) -> None:
    """One line per trial: the objective in training, the evaluation, and at which step."""
    names = list(dict.fromkeys(name for evaluation in evaluations for name in evaluation.metrics))
    proxy = worded("metric_then", metric=results.objective.metric)
    rows = table("trial", "at step", proxy, *names, "", right=("trial", "at step", proxy, *names))
    for evaluation in evaluations:
        rows.add_row(
            cell(evaluation.trial.number),
            cell("-" if evaluation.step is None else evaluation.step),
            cell(words.number(evaluation.proxy)),
            *(cell(_number(evaluation.metrics.get(name))) for name in names),
            cell(_remark(evaluation)),
        )
    screen().print(rows)
    if names:
        facts = {
            "round": results.round.name,
            "metric": names[0],
            "minimize": results.objective.minimize,
        }
        say(Message("evaluation.recorded", facts).text)


def _number(value: float | Measured | None) -> str:
    """A value, and where it is known its standard deviation."""
    if isinstance(value, Measured):
        return words.with_sd(value.value, value.sd)
    return words.number(value)


def print_final(verdict: FinalCheck) -> None:
    """The value on the test set, and whether it may still be believed."""
    say(words.printable(verdict.headline), style="bold")
    say(words.printable(str(verdict.measured)))
    say(words.printable(str(verdict.advice)), style="yellow" if verdict.warns else "")


def _remark(evaluation: Evaluated) -> str:
    if evaluation.step is None or evaluation.at_best_step:
        return "" if evaluation.reason is None else str(evaluation.reason)
    return str(Message("evaluation.best_kept", {"step": evaluation.trial.best_step}))
