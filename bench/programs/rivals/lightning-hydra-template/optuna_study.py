import csv
import subprocess
import tempfile
from pathlib import Path

import optuna


def objective(trial):
    config = {
        "lr": trial.suggest_float("lr", 0.0001, 0.01, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 1e-06, 0.01, log=True),
    }
    folder = tempfile.mkdtemp()
    command = (
        f"python src/train.py hydra.run.dir={folder} model.optimizer.lr={config['lr']} "
        f"model.optimizer.weight_decay={config['weight_decay']}"
    ).split()
    subprocess.run(command, capture_output=True, text=True, check=True)
    file = next(Path(folder).glob("csv/version_0/metrics.csv")).open()
    rows = list(csv.DictReader(file, skipinitialspace=True))
    values = [float(row["val/acc"]) for row in rows if row["val/acc"]]
    for step, value in enumerate(values):
        trial.report(value, step)
    return max(values)


study = optuna.create_study(direction="maximize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
