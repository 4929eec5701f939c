import os
import re
import subprocess
import tempfile

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = f"python complete_nlp_example.py --output_dir={folder}".split()
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""'f1': ([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"f1": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "lr": tune.loguniform(2e-06, 0.0002),
    },
    tune_config=tune.TuneConfig(metric="f1", mode="max", num_samples=20),
)
print(tuner.fit().get_best_result().config)
