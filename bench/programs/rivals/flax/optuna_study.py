import re
import subprocess
import tempfile

import optuna


def objective(trial):
    config = {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 1, log=True),
        "momentum": trial.suggest_float("momentum", 0.5, 0.98),
    }
    folder = tempfile.mkdtemp()
    command = (
        f"python main.py --workdir={folder} --config=configs/default.py "
        f"--config.learning_rate={config['learning_rate']} "
        f"--config.momentum={config['momentum']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""test_loss: ([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return min(values)


study = optuna.create_study(direction="minimize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
