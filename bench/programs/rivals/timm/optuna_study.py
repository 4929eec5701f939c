import csv
import subprocess
import tempfile
from pathlib import Path

import optuna


def objective(trial):
    config = {
        "lr": trial.suggest_float("lr", 0.01, 1, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 2e-06, 0.0002, log=True),
        "momentum": trial.suggest_float("momentum", 0.5, 0.98),
        "smoothing": trial.suggest_float("smoothing", 0, 0.3),
    }
    folder = tempfile.mkdtemp()
    command = (
        f"python train.py --data-dir=data --output={folder} --lr={config['lr']} "
        f"--weight-decay={config['weight_decay']} --momentum={config['momentum']} "
        f"--smoothing={config['smoothing']}"
    ).split()
    subprocess.run(command, capture_output=True, text=True, check=True)
    file = next(Path(folder).glob("*/summary.csv")).open()
    rows = list(csv.DictReader(file, skipinitialspace=True))
    values = [float(row["eval_top1"]) for row in rows if row["eval_top1"]]
    for step, value in enumerate(values):
        trial.report(value, step)
    return max(values)


study = optuna.create_study(direction="maximize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
