import os
import re
import subprocess

from ray import tune


def trainable(config):
    command = ["python", "train.py"]
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""val_bpb:\s+([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"val_bpb": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "EMBEDDING_LR": tune.loguniform(0.06, 6),
        "MATRIX_LR": tune.loguniform(0.004, 0.4),
        "WEIGHT_DECAY": tune.loguniform(0.02, 2),
    },
    tune_config=tune.TuneConfig(metric="val_bpb", mode="min", num_samples=20),
)
print(tuner.fit().get_best_result().config)
