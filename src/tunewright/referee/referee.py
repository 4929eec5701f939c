"""The referee of one lineage: judge a change, quote the total, audit what was kept."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from tunewright.budgets.file import FILE as BUDGET
from tunewright.budgets.gate import spent_error, through
from tunewright.budgets.state import LEDGER, BudgetState, state as budget_state
from tunewright.design.objective import Objective
from tunewright.errors import DesignError, Misuse, NotFound
from tunewright.execution.command import Command, command as as_command
from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.local import Local
from tunewright.messages import Message
from tunewright.referee import rule as rules
from tunewright.referee._audit import FEWEST, MOST, audit_changes
from tunewright.referee._git import WORKING_TREE, Repository
from tunewright.referee._journal_data import command_from, decision_from, quote_from
from tunewright.referee._lineage import VERSION, Change, Lineage, State
from tunewright.referee._quote import quote_gain
from tunewright.referee._trainings import Trained, train
from tunewright.referee.answers import Audit, Cost, Decision, Quote, Status
from tunewright.referee.rule import Rule

NAME = "main"
FOLDER = ".judge"  # beside the store: tuning.judge/
FRESH = 8  # runs of each end behind a quoted total, at least
_KEPT_BACK = 2 * FRESH  # runs of a large budget that are for the quote alone
_LARGE = 60  # runs
LEAST_AUDITED, MOST_AUDITED = FEWEST, MOST  # runs with and without a change


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a lineage is judged by; fixed when it begins."""

    budget_hours: float | None = None  # of training; None: no limit
    budget_trials: int | None = None  # trainings; None: no limit
    protect: tuple[str, ...] = ()  # paths that no change may touch
    worth: float = 0.1  # sd of one run: a smaller expected gain is not kept
    per_line: float = 0.0  # sd of one run: what each added line must gain beyond that
    confirm: float = 0.0  # sd of one run: a smaller expected gain is not kept after a single run
    first_runs: int = 3  # of the first commit
    most_runs: int = 6  # of one change

    def __post_init__(self) -> None:
        problems = []
        if self.budget_hours is not None and not self.budget_hours > 0:
            problems.append(("budget_hours", self.budget_hours))
        if self.budget_trials is not None and self.budget_trials < self.first_runs + 1:
            problems.append(("budget_trials", self.budget_trials))
        if self.first_runs < 2:
            problems.append(("first_runs", self.first_runs))
        if self.most_runs < 1:
            problems.append(("most_runs", self.most_runs))
        for name in ("worth", "per_line", "confirm"):
            if not getattr(self, name) >= 0:
                problems.append((name, getattr(self, name)))
        if problems:
            raise DesignError.several(
                [Message("referee.bad_term", {"name": n, "value": v}) for n, v in problems]
            )


def begin(
    command: Command | str,
    objective: Objective,
    *,
    terms: Terms | None = None,
    folder: str | os.PathLike[str] = ".",
    store: str | os.PathLike[str] = "tuning.db",
    name: str = NAME,
    executor: Executor | None = None,
) -> Referee:
    """Begin a lineage at the commit that is checked out; nothing is trained yet.

    The same call again returns the lineage that is there, unless it was begun otherwise.

    Args:
        command: the training program; it must take `{run.seed}`, else a run repeats nothing.
        objective: the metric that judges a run.
        terms: budgets, protected paths, what a gain must be worth; None: the defaults.
        folder: a folder of the git repository.
        store: the lineage is kept in a folder beside it, `<store>.judge/<name>/`.
        name: of the lineage.
        executor: who trains; None: `tw.Local(workers=1)`.

    >>> import tunewright as tw
    >>> try:
    ...     tw.referee.begin("python train.py", tw.minimize("loss"))
    ... except tw.errors.TunewrightError as error:
    ...     print(error.code)
    referee.no_seed
    """
    program = command if isinstance(command, Command) else as_command(command)
    terms = terms or Terms()
    if not program.takes_seed:
        raise Misuse("referee.no_seed", template=program.template)
    missing = [n for n in program.hyperparameters if n not in program.default_values]
    if missing:
        raise Misuse("referee.open_fields", names=missing)
    repository = Repository.at(folder, _our_files(store))
    lineage = Lineage(_home(store, name), Rule())
    with lineage.hold():
        wanted = _first_event(program, objective, terms, repository, name)
        if lineage.exists:
            known = dict(lineage.state().terms)
            # terms that an earlier version did not have
            unset = {f.name: _plain(f.default) for f in fields(Terms)}
            known["terms"] = {**unset, **known["terms"]}
            differs = [
                key for key in wanted if key != "first" and wanted[key] != known.get(key, "")
            ]
            if differs:
                raise Misuse("referee.begun_otherwise", name=name, fields=differs)
        else:
            changed = repository.dirty_files()
            if changed:
                raise Misuse("referee.uncommitted", files=changed[:10], count=len(changed))
            missing = repository.missing(terms.protect)
            if missing:
                raise Misuse("referee.protects_nothing", paths=missing)
            lineage.write(wanted)
    return Referee(store=store, name=name, executor=executor)


def _first_event(
    command: Command, objective: Objective, terms: Terms, repository: Repository, name: str
) -> dict[str, Any]:
    return {
        "event": "begun",
        "version": VERSION,
        "name": name,
        "repository": str(repository.folder),
        "within": repository.within,
        "command": {
            "template": command.template,
            "booleans": command.booleans,
            "defaults": dict(command.defaults),
            "read": list(command.read),
            "file": None if command.file is None else asdict(command.file),
        },
        "objective": {
            "metric": objective.metric,
            "minimize": objective.minimize,
            "at": objective.at,
            "subject_to": {n: list(limit) for n, limit in objective.subject_to.items()},
        },
        "terms": {f.name: _plain(getattr(terms, f.name)) for f in fields(terms)},
        "first": repository.commit("HEAD"),
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _our_files(store: str | os.PathLike[str]) -> tuple[str, ...]:
    """Names of files that belong to no change: the store's and the budget's."""
    name = Path(store).name
    return (name, *(f"{name}-{end}" for end in ("wal", "shm", "journal")), BUDGET, LEDGER)


def _home(store: str | os.PathLike[str], name: str) -> Path:
    if "://" in str(store):
        raise Misuse("referee.needs_files", store=str(store))
    if not name or not all(c.isalnum() or c in "-_" for c in name):
        raise Misuse("referee.bad_name", name=name)
    path = Path(store)
    return path.with_name(path.stem + FOLDER) / name


class Referee:
    """A lineage of kept changes, and who judges the next one.

    >>> import os, subprocess, sys, tempfile, tunewright as tw
    >>> program = "import json, random, sys; random.seed(int(sys.argv[1])); " \\
    ...     "print(json.dumps(dict(step=1, loss=SIZE + random.gauss(0, 0.1))))"
    >>> def commit(folder, size):
    ...     with open(f"{folder}/train.py", "w") as file:
    ...         _ = file.write(program.replace("SIZE", str(size)))
    ...     git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
    ...     _ = subprocess.run([*git, "add", "-A"], check=True)
    ...     _ = subprocess.run([*git, "commit", "-qm", f"size {size}"], check=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = subprocess.run(["git", "init", "-q", folder], check=True)
    ...     commit(folder, 2.0)
    ...     own = tw.referee.begin(
    ...         f"{sys.executable} train.py {{run.seed}}", tw.minimize("loss"), folder=folder,
    ...         store=f"{folder}/../{os.path.basename(folder)}.db",
    ...         executor=tw.executors.Inline())
    ...     commit(folder, 1.0)
    ...     own.attempt().verdict
    'keep'
    """

    def __init__(
        self,
        *,
        store: str | os.PathLike[str] = "tuning.db",
        name: str = NAME,
        executor: Executor | None = None,
    ) -> None:
        """Open a lineage that has begun; NotFound where there is none.

        Args:
            store: the store beside which it is kept.
            name: of the lineage.
            executor: who trains; None: `tw.Local(workers=1)`.
        """
        home = _home(store, name)
        if not Lineage(home, Rule()).exists:
            raise NotFound("referee.no_lineage", folder=str(home))
        terms = Lineage(home, Rule()).state().terms["terms"]
        self.terms = Terms(**{**terms, "protect": tuple(terms["protect"])})
        self.rule = Rule(
            first_runs=self.terms.first_runs,
            most_runs=self.terms.most_runs,
            worth=self.terms.worth,
            confirmed=self.terms.confirm,
        )
        self.lineage = Lineage(home, self.rule)
        state = self.lineage.state()
        self.name = name
        self._store = store
        folder, within = Path(state.terms["repository"]), str(state.terms.get("within", ""))
        self.repository = Repository(folder, within, _our_files(store))
        self.command = command_from(state.terms["command"])
        limits = {n: tuple(ends) for n, ends in state.terms["objective"]["subject_to"].items()}
        self.objective = Objective(**{**state.terms["objective"], "subject_to": limits})
        self._executor = executor

    # ---- verbs

    def attempt(self, change: str | None = None) -> Decision:
        """Judge a change: run it as often as it deserves, then keep, discard, or leave it open.

        A change that was left open (the budget, an interrupt) resumes with the runs it has.

        Args:
            change: a commit; "working tree"; None: the commit that is checked out, or the working
                tree where files differ from it.
        """
        with self.lineage.hold(), self._training() as executor:
            state = self.lineage.state()
            opened = self._open_change(state, change)
            return self._judge_change(opened, executor)

    def status(self) -> Status:
        """Where the lineage stands; nothing is trained."""
        state = self.lineage.state()
        verdicts = [judged.decision["verdict"] for judged in state.changes if judged.decision]
        belief = state.belief
        newest = state.quotes[-1] if state.quotes else None
        return Status(
            name=self.name,
            folder=str(self.repository.folder),
            command=self.command.template,
            metric=self.objective.metric,
            minimize=self.objective.minimize,
            first=str(state.terms["first"]),
            current=state.current,
            tried=len(state.changes),
            kept=verdicts.count("keep"),
            discarded=verdicts.count("discard"),
            undecided=len(state.changes) - verdicts.count("keep") - verdicts.count("discard"),
            running_gain=0.0 if belief is None else float(belief.total[0]),
            sd=None if belief is None else float(belief.sd[0]),
            baseline=None if belief is None else state.sign * float(belief.mean[0]),
            baseline_sd=None if belief is None else float(np.sqrt(belief.variance[0])),
            protect=self.terms.protect,
            quote=None if newest is None else quote_from(newest),
            cost=self._cost(state),
        )

    def history(self) -> tuple[Decision, ...]:
        """Every decision, oldest first."""
        changes = self.lineage.state().changes
        return tuple(
            decision_from(judged.decision) for judged in changes if judged.decision is not None
        )

    def quote(self, runs: int = FRESH) -> Quote:
        """The gain from the first to the current commit, of fresh interleaved runs alone.

        Args:
            runs: of each of the two, at least 8.
        """
        if runs < FRESH:
            raise DesignError("referee.few_quote_runs", runs=runs, least=FRESH)
        with self.lineage.hold(), self._training() as executor:
            state = self.lineage.state()
            if state.current == state.terms["first"]:
                raise Misuse("referee.nothing_kept")
            self._refuse_spent(state, 2 * runs, all_of_it=True)
            total = quote_gain(
                str(state.terms["first"]),
                state.current,
                runs,
                state.sign,
                lambda commit: self._run(commit, "quote", None, executor).value,
            )
            self.lineage.write({"event": "quoted", "quote": total.to_data()})
            return total

    def audit(self, margin: float = 0.25, runs: int = MOST_AUDITED) -> Audit:
        """Remove kept changes one by one, newest first, where the loss is surely below a margin.

        The lineage continues from the commit without them; your branch is not touched.

        Args:
            margin: in sd of one run.
            runs: of the commit with the change and of the one without it, at most. Ten rarely
                show that a change does nothing; a hundred show it half of the time.
        """
        if not margin > 0:
            raise DesignError("referee.bad_term", name="margin", value=margin)
        if runs < FEWEST:
            raise DesignError("referee.bad_term", name="runs", value=runs)
        with self.lineage.hold(), self._training() as executor:
            state = self.lineage.state()
            if state.belief is None:
                raise Misuse("referee.nothing_kept")
            self._refuse_spent(state, 1, all_of_it=True)
            kept = [
                judged
                for judged in state.changes
                if judged.decision and judged.decision["verdict"] == "keep"
            ]

            def loss(commit: str) -> float | None:
                self._refuse_spent(self.lineage.state(), 1, all_of_it=True)
                value = self._run(commit, "audit", None, executor).value
                return None if value is None else state.sign * value

            def without(commit: str, judged: Change) -> str | None:
                ref = f"{self.name}/without-{judged.number}"
                place = self.lineage.folder / "checkouts" / "audit"
                return self.repository.without(commit, judged.parent, judged.commit, place, ref)

            result = audit_changes(
                kept, state.current, margin * float(state.belief.sd[0]), loss, without, runs
            )
            self.lineage.write({"event": "audited", "audit": result.record})
            return result.answer(self._cost(self.lineage.state()))

    # ---- steps

    def _open_change(self, state: State, change: str | None) -> Change:
        """The change to judge: one that is open, or a new line of the journal."""
        number = len(state.changes) + 1
        commit = self._commit(change, number)
        pending = state.open
        if pending is not None and pending.commit == commit:
            return pending
        if pending is not None:
            self._decide(pending, "undecided", "referee.why.left", state)
            state = self.lineage.state()
        if self.repository.same(state.current, commit):
            raise Misuse("referee.no_change", commit=commit[:12])
        touched = self.repository.lines_touched(state.current, commit, self.terms.protect)
        if touched:
            lines = [
                f"{protected.path}:{protected.line}: {protected.text}" for protected in touched[:20]
            ]
            raise Misuse("referee.protected", commit=commit[:12], lines=lines, count=len(touched))
        self._refuse_spent(state, 1)
        patches = self.lineage.folder / "changes"
        patches.mkdir(parents=True, exist_ok=True)
        patch = self.repository.diff(state.current, commit)
        (patches / f"{number:04d}.patch").write_text(patch, encoding="utf-8")
        self.repository.keep(commit, f"{self.name}/{number}")
        event = {
            "event": "opened",
            "number": number,
            "commit": commit,
            "parent": state.current,
            "summary": self.repository.summary(commit),
            "lines": self.repository.size(state.current, commit),
        }
        self.lineage.write(event)
        return self.lineage.state().changes[-1]

    def _commit(self, change: str | None, number: int) -> str:
        if change is None:
            change = WORKING_TREE if self.repository.dirty_files() else "HEAD"
        if change == WORKING_TREE:
            message = f"change {number} of {self.name}"
            return self.repository.snapshot(message, f"{self.name}/{number}")
        return self.repository.commit(change)

    def _judge_change(self, subject: Change, executor: Executor) -> Decision:
        state = self.lineage.state()
        while state.belief is None:
            if self._spent(state, 1):
                return self._decide(subject, "undecided", "referee.why.budget_spent", state)
            self._baseline(state, subject, executor)
            state = self.lineage.state()
        while True:
            now = state.open
            assert now is not None and state.belief is not None
            if self._spent(state, 1):
                return self._decide(now, "undecided", "referee.why.budget_spent", state)
            if not now.values:
                since = np.array([state.since_baseline])
                left = np.array([self._runs_left(state)])
                due, _ = rules.run_baseline(state.belief, state.prior, since, left, self.rule)
                if due[0] and now.baseline_runs < self.rule.most_runs:
                    self._baseline(state, subject, executor)
                    state = self.lineage.state()
                    continue
            else:
                effect = self._posterior(state, now)
                complexity = np.array([self.terms.per_line * max(now.lines, 0)])
                runs = np.array([len(now.values)])
                assert state.belief is not None
                advice = rules.advise(
                    state.belief, state.prior, effect, runs, complexity, self.rule
                )
                if advice.keep[0]:
                    return self._decide(now, "keep", "referee.why.gain", state)
                if advice.discard[0]:
                    return self._decide(now, "discard", "referee.why.no_gain", state)
            trained = self._run(subject.commit, "change", subject.number, executor)
            state = self.lineage.state()
            if trained.value is None:
                assert state.open is not None
                code = "infeasible" if trained.status == "infeasible" else "failed"
                return self._decide(
                    state.open, "discard", f"referee.why.{code}", state, trained.reason
                )

    def _baseline(self, state: State, subject: Change, executor: Executor) -> None:
        trained = self._run(state.current, "baseline", subject.number, executor)
        if trained.value is None:
            reason = None if trained.reason is None else trained.reason.to_data()
            detail = trained.detail.strip().splitlines()[-3:]
            raise Misuse(
                "referee.baseline_failed",
                commit=state.current[:12],
                reason=reason,
                detail="\n".join(detail),
            )

    def _posterior(self, state: State, judged: Change) -> Any:
        assert state.belief is not None
        return rules.judge(state.belief, state.prior, np.array([judged.values]), self.rule)

    def _decide(
        self, judged: Change, verdict: Any, code: str, state: State, reason: Message | None = None
    ) -> Decision:
        belief = state.belief
        gain, low, high, better, sd = 0.0, 0.0, 0.0, 0.0, 0.0
        if belief is not None:
            sd = float(belief.sd[0])
            if judged.values:
                effect = self._posterior(state, judged)
                gain, spread = sd * float(effect.effect[0]), sd * float(effect.effect_sd[0])
                low, high = gain - 1.645 * spread, gain + 1.645 * spread
                better = float(effect.better[0])
        facts = {} if reason is None else {"reason": reason.to_data()}
        decision = Decision(
            number=judged.number,
            commit=judged.commit,
            parent=judged.parent,
            summary=judged.summary,
            verdict=verdict,
            why=Message(code, facts),
            expected_gain=gain,
            interval=(low, high),
            chance_better=better,
            sd=sd,
            values=tuple(state.sign * value for value in judged.values),
            runs=sum(run.change == judged.number and run.purpose == "change" for run in state.runs),
            baseline_runs=sum(
                run.change == judged.number and run.purpose == "baseline" for run in state.runs
            ),
            seconds=judged.seconds,
            cost=self._cost(state),
        )
        # a change that the budget left open stays open: with more budget it resumes
        if code != "referee.why.budget_spent":
            self.lineage.write({"event": "decided", "decision": decision.to_data()})
            self._tidy(judged, kept=verdict == "keep")
        return decision

    def _tidy(self, judged: Change, kept: bool) -> None:
        """Checkouts that no later run needs."""
        self.repository.remove_checkout(self._checkout_of(judged.parent if kept else judged.commit))

    def _checkout_of(self, commit: str) -> Path:
        return self.lineage.folder / "checkouts" / commit[:12]

    def _run(self, commit: str, purpose: str, change: int | None, executor: Executor) -> Trained:
        """Train a commit once, and write it down."""
        number = len(self.lineage.state().runs) + 1
        seed = int(np.random.default_rng([_seed_of(self.name), number]).integers(2**31 - 1))
        checkout = self.repository.checkout(commit, self._checkout_of(commit))
        with through(self._store, "judge"):
            trained = train(
                self.command,
                self.objective,
                checkout / self.repository.within,
                executor=executor,
                seed=seed,
                number=number,
                folder=self.lineage.folder / "runs" / f"{number:05d}",
            )
        self.lineage.write(
            {
                "event": "run",
                "number": number,
                "commit": commit,
                "purpose": purpose,
                "change": change,
                "seed": seed,
                "status": trained.status,
                "value": trained.value,
                "seconds": trained.seconds,
            }
        )
        return trained

    def _training(self) -> _Open:
        return _Open(self._executor)

    # ---- budgets

    def _cost(self, state: State) -> Cost:
        trials, hours = self.terms.budget_trials, self.terms.budget_hours
        return Cost(
            runs=len(state.runs),
            hours=state.hours,
            runs_left=None if trials is None else max(trials - len(state.runs), 0),
            hours_left=None if hours is None else max(hours - state.hours, 0.0),
        )

    def _runs_left(self, state: State) -> float:
        """Runs that decisions may still use, as far as the budgets say."""
        left = 1e9
        usual = state.hours / len(state.runs) if state.runs else 0.0
        if self.terms.budget_trials is not None:
            back = _KEPT_BACK if self.terms.budget_trials >= _LARGE else 0
            left = self.terms.budget_trials - len(state.runs) - back
        if self.terms.budget_hours is not None and usual > 0:
            back = _KEPT_BACK if self.terms.budget_hours / usual >= _LARGE else 0
            left = min(left, (self.terms.budget_hours - state.hours) / usual - back)
        return left

    def _spent(self, state: State, runs: int) -> bool:
        return self._runs_left(state) < runs or self._project_spent() is not None

    def _project_spent(self) -> BudgetState | None:
        """The budget of the project, where nothing of it is left."""
        known = budget_state(self._store)
        return known if known is not None and known.over else None

    def _refuse_spent(self, state: State, runs: int, all_of_it: bool = False) -> None:
        project = self._project_spent()
        if project is not None:
            raise spent_error(project)
        cost = self._cost(state)
        if all_of_it:
            short = cost.runs_left is not None and cost.runs_left < runs
            short = short or (cost.hours_left is not None and cost.hours_left <= 0)
        else:
            short = self._spent(state, runs)
        if short:
            raise Misuse("referee.budget_spent", needed=runs, **asdict(cost))


class _Open:
    """An executor for a block: the one that was given, or one process on this machine."""

    def __init__(self, given: Executor | None) -> None:
        self._executor = given or Local(workers=1)

    def __enter__(self) -> Executor:
        return self._executor

    def __exit__(self, *_: object) -> None:
        self._executor.close()


def _seed_of(name: str) -> int:
    return int.from_bytes(name.encode()[:8].ljust(8, b"\0"), "big")
