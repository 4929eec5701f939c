import csv
import subprocess
import tempfile
from pathlib import Path

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = (
        f"python src/train.py hydra.run.dir={folder} model.optimizer.lr={config['lr']} "
        f"model.optimizer.weight_decay={config['weight_decay']}"
    ).split()
    subprocess.run(command, capture_output=True, text=True, check=True)
    file = next(Path(folder).glob("csv/version_0/metrics.csv")).open()
    rows = list(csv.DictReader(file, skipinitialspace=True))
    values = [float(row["val/acc"]) for row in rows if row["val/acc"]]
    for value in values:
        tune.report({"val/acc": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "lr": tune.loguniform(0.0001, 0.01),
        "weight_decay": tune.loguniform(1e-06, 0.01),
    },
    tune_config=tune.TuneConfig(metric="val/acc", mode="max", num_samples=20),
)
print(tuner.fit().get_best_result().config)
