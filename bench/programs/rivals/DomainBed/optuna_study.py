import json
import subprocess
import tempfile
from pathlib import Path

import optuna


def objective(trial):
    config = {
        "algorithm": trial.suggest_categorical("algorithm", ["ERM", "IRM"]),
        "lr": trial.suggest_float("lr", 1e-05, 0.001, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 1e-06, 0.01, log=True),
    }
    folder = tempfile.mkdtemp()
    hparams = {k: config[k] for k in ("lr", "weight_decay")}
    command = f"python -m domainbed.scripts.train --data_dir=data --output_dir={folder}".split()
    command += [f"--algorithm={config['algorithm']}", f"--hparams={json.dumps(hparams)}"]
    subprocess.run(command, capture_output=True, text=True, check=True)
    lines = Path(folder, "results.jsonl").read_text().splitlines()
    values = [json.loads(line)["env1_out_acc"] for line in lines]
    for step, value in enumerate(values):
        trial.report(value, step)
    return max(values)


study = optuna.create_study(direction="maximize", storage="sqlite:///optuna.db")
study.optimize(objective, n_trials=20, catch=(subprocess.CalledProcessError,))
