import re
import subprocess
import tempfile

from ray import tune


def trainable(config):
    folder = tempfile.mkdtemp()
    command = (
        "python run_clm.py --model_name_or_path=gpt2 --train_file=train.txt --do_train "
        f"--do_eval --output_dir={folder} --learning_rate={config['learning_rate']} "
        f"--weight_decay={config['weight_decay']} "
        f"--warmup_steps={config['warmup_steps']}"
    ).split()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [float(v) for v in re.findall(r"""'eval_loss': '?([\d.]+)""", done.stdout)]
    for value in values:
        tune.report({"eval_loss": value})


tuner = tune.Tuner(
    trainable,
    param_space={
        "learning_rate": tune.loguniform(5e-06, 0.0005),
        "weight_decay": tune.loguniform(1e-06, 0.01),
        "warmup_steps": tune.randint(0, 1001),
    },
    tune_config=tune.TuneConfig(metric="eval_loss", mode="min", num_samples=20),
)
print(tuner.fit().get_best_result().config)
