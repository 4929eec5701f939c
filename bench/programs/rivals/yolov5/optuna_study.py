import csv
import subprocess
import tempfile
from pathlib import Path

import optuna


def objective(trial):
    config = {
        "optimizer": trial.suggest_categorical("optimizer", ["SGD", "AdamW"]),
        "label_smoothing": trial.suggest_float("label_smoothing", 0, 0.3),
    }
    folder = tempfile.mkdtemp()
    command = (
        f"python train.py --data=data.yaml --project={folder} "
        f"--optimizer={config['optimizer']} "
        f"--label-smoothing={config['label_smoothing']}"
    ).split()
    subprocess.run(command, capture_output=True, text=True, check=True)
    file = next(Path(folder).glob("*/results.csv")).open()
    rows = list(csv.DictReader(file, skipinitialspace=True))
    values = [float(row["metrics/mAP_0.5"]) for row in rows if row["metrics/mAP_0.5"]]
    for step, value in enumerate(values):
        trial.report(value, step)
    return max(values)


study = optuna.create_study(direction="maximize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
