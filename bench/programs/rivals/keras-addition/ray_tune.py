import os
import re
import subprocess

from ray import tune


def trainable(config):
    command = ["python", "addition_rnn.py"]
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""val_loss: ([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"val_loss": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "num_layers": tune.choice([1, 2, 3]),
    },
    tune_config=tune.TuneConfig(metric="val_loss", mode="min", num_samples=20),
)
print(tuner.fit().get_best_result().config)
