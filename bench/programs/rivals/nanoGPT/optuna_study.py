import re
import subprocess
import tempfile

import optuna


def objective(trial):
    config = {
        "learning_rate": trial.suggest_float("learning_rate", 6e-05, 0.006, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 0.01, 1.0, log=True),
        "beta2": trial.suggest_float("beta2", 0.75, 0.99),
    }
    folder = tempfile.mkdtemp()
    command = (
        f"python train.py --out_dir={folder} --learning_rate={config['learning_rate']} "
        f"--weight_decay={config['weight_decay']} --beta2={config['beta2']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""val loss ([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return min(values)


study = optuna.create_study(direction="minimize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
