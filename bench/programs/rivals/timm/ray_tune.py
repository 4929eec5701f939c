import csv
import subprocess
import tempfile
from pathlib import Path

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = (
        f"python train.py --data-dir=data --output={folder} --lr={config['lr']} "
        f"--weight-decay={config['weight_decay']} --momentum={config['momentum']} "
        f"--smoothing={config['smoothing']}"
    ).split()
    subprocess.run(command, capture_output=True, text=True, check=True)
    file = next(Path(folder).glob("*/summary.csv")).open()
    rows = list(csv.DictReader(file, skipinitialspace=True))
    values = [float(row["eval_top1"]) for row in rows if row["eval_top1"]]
    for value in values:
        tune.report({"eval_top1": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "lr": tune.loguniform(0.01, 1),
        "weight_decay": tune.loguniform(2e-06, 0.0002),
        "momentum": tune.uniform(0.5, 0.98),
        "smoothing": tune.uniform(0, 0.3),
    },
    tune_config=tune.TuneConfig(metric="eval_top1", mode="max", num_samples=20),
)
print(tuner.fit().get_best_result().config)
