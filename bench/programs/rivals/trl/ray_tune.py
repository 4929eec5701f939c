import re
import subprocess
import tempfile

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = (
        "python sft.py --model_name_or_path=tiny --dataset_name=data "
        f"--eval_strategy=steps --output_dir={folder} "
        f"--learning_rate={config['learning_rate']} "
        f"--weight_decay={config['weight_decay']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""'eval_loss': '?([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"eval_loss": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "learning_rate": tune.loguniform(2e-06, 0.0002),
        "weight_decay": tune.loguniform(1e-06, 0.01),
    },
    tune_config=tune.TuneConfig(metric="eval_loss", mode="min", num_samples=20),
)
print(tuner.fit().get_best_result().config)
