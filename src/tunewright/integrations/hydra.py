"""A Hydra sweeper: `python train.py -m lr=log(1e-4,1)` becomes a round, one trial at a time.

    python train.py -m hydra/sweeper=tunewright lr=log(1e-4,1) width=16,32

Each sweep of the command line is a range. A trial is asked for, launched by the launcher of the
configuration, and its result is recorded before the next one is asked for. The task returns the
objective, or logs it with `tw.current_run()`. The same command again continues the round.
Hydra finds the sweeper by itself, in `hydra_plugins`; no line of the program changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import choice, integers, linear, log as log_range
from tunewright.design.round import Round
from tunewright.errors import DesignError, Ended, Infeasible
from tunewright.execution.asked_trial import Asked
from tunewright.execution.command import overrides
from tunewright.execution.current_run import bound
from tunewright.execution.executors.executor import Applied, Assignment
from tunewright.execution.handle import Control, Handle
from tunewright.execution.reported_values import plain_values
from tunewright.execution.session import Session, open_round
from tunewright.execution.training_run import Run
from tunewright.integrations._library import library, numbers_in

_MODULE, NAME = "hydra_plugins.tunewright_sweeper", "TunewrightSweeper"  # where Hydra finds it
_LOG = "log"  # the tag of an interval, and the function that the grammar gets


@dataclass
class Options:
    """What the group `hydra.sweeper` holds; every option can be set on the command line."""

    _target_: str = f"{_MODULE}.{NAME}"
    round: str = "hydra"
    goal: str = "Which values are best?"
    trials: int = 16
    metric: str = "objective"
    minimize: bool = True
    store: str = "tuning.db"


def sweeper() -> type:
    """The class that Hydra looks for; also adds `hydra/sweeper=tunewright` and `log(low,high)`."""
    store = library("hydra.core.config_store", "hydra-core").ConfigStore.instance()
    store.store(group="hydra/sweeper", name="tunewright", node=Options, provider="tunewright")
    _teach_log(library("hydra.core.override_parser.overrides_parser", "hydra-core"))
    base = library("hydra.plugins.sweeper", "hydra-core").Sweeper
    return type(NAME, (_Sweeps, base), {"__module__": _MODULE})


def _teach_log(parser: Any) -> None:
    """Add `log(low,high)` to the functions of Hydra's grammar, which has no door for more."""
    known = parser.create_functions
    if getattr(known, "teaches_log", False):
        return
    interval = library("hydra.core.override_parser.types", "hydra-core").IntervalSweep

    def logarithmic(low: float, high: float) -> Any:
        return interval(start=float(low), end=float(high), tags={_LOG})

    # Hydra compares arguments with the annotations themselves, which are text in this module
    logarithmic.__annotations__ = {"low": float | int, "high": float | int}

    @wraps(known)
    def create_functions() -> Any:
        functions = known()
        functions.register(name=_LOG, func=logarithmic)
        return functions

    create_functions.teaches_log = True  # type: ignore[attr-defined]
    parser.create_functions = create_functions


class _Sweeps:
    """The methods of a Hydra sweeper."""

    def __init__(self, **options: Any) -> None:
        """The options of `hydra.sweeper`."""
        self.options = Options(**options)
        self._context: Any = None
        self._launcher: Any = None

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        """Hydra calls it first."""
        plugins = library("hydra.core.plugins", "hydra-core").Plugins.instance()
        self._context = hydra_context
        self._launcher = plugins.instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Train the round; returns the best configuration, or None without a completed trial."""
        parser = library("hydra.core.override_parser.overrides_parser", "hydra-core")
        parsed = parser.OverridesParser.create(self._context.config_loader)
        given = parsed.parse_overrides(arguments)
        ranges = {o.get_key_element(): _range_of(o) for o in given if o.is_sweep_override()}
        if not ranges:
            raise DesignError("hydra.no_sweep", arguments=arguments)
        plain = [override.input_line for override in given if not override.is_sweep_override()]
        options = self.options
        round = Round(
            name=options.round,
            goal=options.goal,
            nuisance=ranges,
            trials_per_study=options.trials,
        )
        objective = Objective(options.metric, options.minimize)
        store = options.store if "://" in options.store else Path(options.store).absolute()
        with open_round(round, objective, store) as session:
            while (trial := session.ask()) is not None:
                self._train(session, trial, plain, objective)
            results = session.results()
            return dict(results.best().configuration) if results.top(1) else None

    def _train(
        self, session: Session, trial: Asked, plain: list[str], objective: Objective
    ) -> None:
        job = [*plain, *overrides(trial.configuration)]
        run = _handle(trial, objective)
        number = trial.number or 0
        try:
            with bound(run):
                (done,) = self._launcher.launch([job], initial_job_idx=number)
                used = _values_from_hydra(done.cfg, trial.configuration)
                trial.account.take(Applied(*_names(trial), plain_values(used)))
                self._record(run, done.return_value, objective)
                run.flush()
        except Ended:
            trial.finish()  # it diverged: infeasible, by what was logged
        except Infeasible as error:
            trial.infeasible(str(error))
        except Exception as error:  # a job that failed raises where its value is read
            trial.fail(f"{type(error).__name__}: {error}")
        else:
            trial.finish()

    def _record(self, run: Run, value: Any, objective: Objective) -> None:
        """Log what the task returned: the objective, or several metrics by name."""
        metrics = value if isinstance(value, Mapping) else {objective.metric: value}
        if numeric := numbers_in(metrics):
            run.log(max(run.step, 1), numeric)


def _range_of(override: Any) -> Any:
    """The range that a sweep of the command line means."""
    types = library("hydra.core.override_parser.types", "hydra-core")
    sweep = override.value()
    if isinstance(sweep, types.IntervalSweep):
        make = log_range if _LOG in sweep.tags else linear
        return make(float(sweep.start), float(sweep.end))
    if isinstance(sweep, types.RangeSweep):
        whole = all(isinstance(n, int) for n in (sweep.start, sweep.stop, sweep.step))
        if whole and sweep.step == 1 and sweep.stop - sweep.start > 1:
            return integers(sweep.start, sweep.stop - 1)
    text = library("hydra.core.override_parser.types", "hydra-core").QuotedString
    values = list(override.sweep_iterator())
    return choice(*[value.text if isinstance(value, text) else value for value in values])


def _names(trial: Asked) -> tuple[int, int]:
    return trial.account.claim.trial, trial.account.claim.attempt


def _handle(trial: Asked, objective: Objective) -> Run:
    """The handle that the task finds with `tw.current_run()`."""
    claim = trial.account.claim

    assignment = Assignment(
        *(claim.trial, claim.attempt, claim.number, ""),
        configuration=trial.configuration,
        seed=claim.seed,
        split_seed=claim.split_seed,
        folder=trial.folder,
    )
    run = Handle(assignment, objective, Meaning(), trial.take)
    Control(run).announce()  # with the step that it resumes from: earlier points stay
    return run


def _values_from_hydra(config: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """What Hydra composed for these hyperparameters."""
    omegaconf = library("omegaconf", "hydra-core").OmegaConf
    if config is None:
        return {}
    values = {name: omegaconf.select(config, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
