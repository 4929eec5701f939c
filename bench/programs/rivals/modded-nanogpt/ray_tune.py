import os
import re
import subprocess

from ray import tune


def trainable(config):
    command = ["torchrun", "--standalone", "--nproc_per_node=8", "train_gpt.py"]
    given = {**os.environ, **{name: str(value) for name, value in config.items()}}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    values = [float(v) for v in re.findall(r"""val_loss:([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"val_loss": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "bigram_dim": tune.choice([384, 768, 1536]),
    },
    tune_config=tune.TuneConfig(metric="val_loss", mode="min", num_samples=20),
)
print(tuner.fit().get_best_result().config)
