import re
import subprocess
import tempfile

import optuna


def objective(trial):
    config = {
        "learning_rate": trial.suggest_float("learning_rate", 2e-06, 0.0002, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 1e-06, 0.01, log=True),
    }
    folder = tempfile.mkdtemp()
    command = (
        "python sft.py --model_name_or_path=tiny --dataset_name=data "
        f"--eval_strategy=steps --output_dir={folder} "
        f"--learning_rate={config['learning_rate']} "
        f"--weight_decay={config['weight_decay']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""'eval_loss': '?([\d.]+)""", done.stdout)]
    for step, value in enumerate(values):
        trial.report(value, step)
    return min(values)


study = optuna.create_study(direction="minimize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
