import csv
import subprocess
import tempfile
from pathlib import Path

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = (
        f"python train.py --data=data.yaml --project={folder} "
        f"--optimizer={config['optimizer']} "
        f"--label-smoothing={config['label_smoothing']}"
    ).split()
    subprocess.run(command, capture_output=True, text=True, check=True)
    file = next(Path(folder).glob("*/results.csv")).open()
    rows = list(csv.DictReader(file, skipinitialspace=True))
    values = [float(row["metrics/mAP_0.5"]) for row in rows if row["metrics/mAP_0.5"]]
    for value in values:
        tune.report({"metrics/mAP_0.5": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "optimizer": tune.choice(["SGD", "AdamW"]),
        "label_smoothing": tune.uniform(0, 0.3),
    },
    tune_config=tune.TuneConfig(metric="metrics/mAP_0.5", mode="max", num_samples=20),
)
print(tuner.fit().get_best_result().config)
