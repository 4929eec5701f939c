import os
import re
import subprocess

import optuna


def objective(trial):
    config = {
        "bigram_dim": trial.suggest_categorical("bigram_dim", [384, 768, 1536]),
    }
    command = ["torchrun", "--standalone", "--nproc_per_node=8", "train_gpt.py"]
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""val_loss:([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return min(values)


study = optuna.create_study(direction="minimize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
