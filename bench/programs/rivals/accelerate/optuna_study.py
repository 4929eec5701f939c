import os
import re
import subprocess
import tempfile

import optuna


def objective(trial):
    config = {
        "lr": trial.suggest_float("lr", 2e-06, 0.0002, log=True),
    }
    folder = tempfile.mkdtemp()
    command = f"python complete_nlp_example.py --output_dir={folder}".split()
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""'f1': ([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return max(values)


study = optuna.create_study(direction="maximize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
