import re
import subprocess
import tempfile

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = (
        f"python train.py --out_dir={folder} --learning_rate={config['learning_rate']} "
        f"--weight_decay={config['weight_decay']} --beta2={config['beta2']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""val loss ([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"val_loss": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "learning_rate": tune.loguniform(6e-05, 0.006),
        "weight_decay": tune.loguniform(0.01, 1.0),
        "beta2": tune.uniform(0.75, 0.99),
    },
    tune_config=tune.TuneConfig(metric="val_loss", mode="min", num_samples=20),
)
print(tuner.fit().get_best_result().config)
