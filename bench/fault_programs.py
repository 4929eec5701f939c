"""The programs that bench/faults.py kills: the same trials under Tunewright, Optuna and Ray Tune.

    python bench/fault_programs.py SYSTEM FOLDER TRIALS        train, until all trials have ended
    python bench/fault_programs.py SYSTEM-ask FOLDER TRIALS    ask and tell without training

Each trial writes its configuration, its process and the time to a journal when it begins and when
it ends: what really happened, whatever the system believes.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

STEPS, STEP_S, WORKERS = 5, 0.3, 2
NAME = "faults"


def note(folder: Path, x: float, what: str) -> None:
    descriptor = os.open(folder / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{x!r} {what} {os.getpid()} {time.time()}\n".encode())
    os.close(descriptor)


# ---- Tunewright


def a_round(trials: int, folder: str) -> Any:
    import tunewright as tw

    return tw.Round(
        NAME,
        goal="What does it survive?",
        nuisance={"x": tw.log(1e-3, 1.0)},
        fixed={"folder": folder},
        trials_per_study=trials,
    )


def train(run: Any, x: float, folder: str) -> None:
    note(Path(folder), x, "began")
    for step in run.steps(STEPS):
        time.sleep(STEP_S)
        run.log(step, error=x)
    note(Path(folder), x, "ended")


def tunewright(folder: Path, trials: int) -> None:
    import tunewright as tw

    executor = tw.Local(workers=WORKERS, devices=[])
    workload = tw.Workload(
        train, tw.minimize("error"), store=folder / "tuning.db", executor=executor
    )
    tw.run(a_round(trials, str(folder)), workload)


def tunewright_record(folder: Path) -> list[tuple[float, str]]:
    import tunewright as tw

    found = tw.load(folder / "tuning.db", NAME).trials
    return [(float(t.configuration["x"]), t.status) for t in found]


def tunewright_ask(folder: Path, trials: int) -> int:
    import tunewright as tw

    done = 0
    with tw.open_round(
        a_round(trials, ""), tw.minimize("error"), store=folder / "tuning.db"
    ) as session:
        wait_for_go()
        while (trial := session.ask()) is not None:
            trial.log(1, error=trial.configuration["x"])
            trial.finish()
            done += 1
    return done


# ---- Optuna, on SQLite with heartbeat and retries


def a_study(folder: Path, heartbeat: bool = True) -> Any:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    more: dict[str, Any] = {}
    if heartbeat:
        again = optuna.storages.RetryHeartbeatStaleTrialCallback(max_retry=3)
        more = {"heartbeat_interval": 1, "grace_period": 3, "heartbeat_stale_trial_callback": again}
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder}/optuna.db", **more)
    sampler = optuna.samplers.RandomSampler()
    return optuna.create_study(
        storage=storage, study_name=NAME, sampler=sampler, load_if_exists=True
    )


def optuna_trains(folder: Path, trials: int) -> None:
    import optuna

    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", 1e-3, 1.0, log=True)
        note(folder, x, "began")
        for step in range(STEPS):
            time.sleep(STEP_S)
            trial.report(x, step)
        note(folder, x, "ended")
        return float(x)

    study = a_study(folder)
    state = (optuna.trial.TrialState.COMPLETE,)
    if len(study.get_trials(states=state)) < trials:
        enough = optuna.study.MaxTrialsCallback(trials, states=state)
        study.optimize(objective, callbacks=[enough])


def optuna_record(folder: Path) -> list[tuple[float, str]]:
    names = {"COMPLETE": "completed", "FAIL": "failed", "RUNNING": "running", "WAITING": "pending"}
    return [(t.params.get("x", 0.0), names[t.state.name]) for t in a_study(folder).trials]


def optuna_ask(folder: Path, trials: int) -> tuple[int, int]:
    """As many processes do it: look whether there are enough, ask, tell."""
    import optuna
    from sqlalchemy.exc import OperationalError

    study, done, errors = a_study(folder), 0, 0
    state = (optuna.trial.TrialState.COMPLETE,)
    wait_for_go()
    while len(study.get_trials(deepcopy=False, states=state)) < trials:
        try:
            trial = study.ask()
            study.tell(trial, trial.suggest_float("x", 1e-3, 1.0, log=True))
            done += 1
        except (OperationalError, optuna.exceptions.StorageInternalError):
            errors += 1
    return done, errors


# ---- Ray Tune


def ray_trains(folder: Path, trials: int) -> None:
    import ray
    from ray import tune

    def objective(configuration: dict[str, float]) -> None:
        note(folder, configuration["x"], "began")
        for _ in range(STEPS):
            time.sleep(STEP_S)
            tune.report({"error": configuration["x"]})
        note(folder, configuration["x"], "ended")

    ray.init(
        num_cpus=WORKERS,
        include_dashboard=False,
        log_to_driver=False,
        _temp_dir=str(folder / "ray"),
        object_store_memory=100 * 2**20,
    )
    path = str(folder / "results" / NAME)
    trainable = tune.with_resources(objective, {"cpu": 1})
    if tune.Tuner.can_restore(path):
        tuner = tune.Tuner.restore(path, trainable, resume_unfinished=True, restart_errored=True)
    else:
        tuner = tune.Tuner(
            trainable,
            param_space={"x": tune.grid_search([0.001 * 2**i for i in range(trials)])},
            run_config=tune.RunConfig(
                name=NAME,
                storage_path=str(folder / "results"),
                failure_config=tune.FailureConfig(max_failures=3),
                verbose=0,
            ),
        )
    record = [
        (result.config["x"], "failed" if result.error else "completed") for result in tuner.fit()
    ]
    (folder / "record.json").write_text(json.dumps(record))
    ray.shutdown()


def ray_record(folder: Path) -> list[tuple[float, str]]:
    return [(x, status) for x, status in json.loads((folder / "record.json").read_text())]


# ---- called by bench/faults.py


def wait_for_go() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def main() -> None:
    system, folder, trials = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    match system:
        case "tunewright":
            tunewright(folder, trials)
        case "optuna":
            optuna_trains(folder, trials)
        case "ray":
            ray_trains(folder, trials)
        case "tunewright-ask":
            print(json.dumps([tunewright_ask(folder, trials), 0, time.time()]))
        case "optuna-ask":
            print(json.dumps([*optuna_ask(folder, trials), time.time()]))


if __name__ == "__main__":
    main()
