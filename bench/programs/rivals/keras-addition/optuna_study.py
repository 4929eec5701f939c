import os
import re
import subprocess

import optuna


def objective(trial):
    config = {
        "num_layers": trial.suggest_categorical("num_layers", [1, 2, 3]),
    }
    command = ["python", "addition_rnn.py"]
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""val_loss: ([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return min(values)


study = optuna.create_study(direction="minimize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
