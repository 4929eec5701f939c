import os
import re
import subprocess

import optuna


def objective(trial):
    config = {
        "EMBEDDING_LR": trial.suggest_float("EMBEDDING_LR", 0.06, 6, log=True),
        "MATRIX_LR": trial.suggest_float("MATRIX_LR", 0.004, 0.4, log=True),
        "WEIGHT_DECAY": trial.suggest_float("WEIGHT_DECAY", 0.02, 2, log=True),
    }
    command = ["python", "train.py"]
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""val_bpb:\s+([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return min(values)


study = optuna.create_study(direction="minimize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
