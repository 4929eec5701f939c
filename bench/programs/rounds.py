"""Each public program trains one trial of the round that `init --scan` proposes, to a curve.

    python bench/programs/rounds.py FOLDER WORK [NAME ...]

FOLDER holds the checkouts, with the data of `tiny_data.py`; each is copied to WORK, its patch is
applied (`rivals/NAME/tunewright.patch`), and `tunewright init` and `tunewright run` are called.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import tunewright as tw

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Program:
    """How a program is started, and how its metrics are read."""

    folder: str  # below FOLDER, where it is started
    command: str
    metric: str
    maximize: bool = False
    # [workload.read] written here, as `line_proposals.propose` reads the output where the program's
    # own sizes are too large for --try on a CPU; empty: proposed by --try, or JSON lines
    read: str = ""
    try_s: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)  # of the round: smaller than usual


PROGRAMS = {
    "nanoGPT": Program(
        "nanoGPT",
        "python train.py --dataset=tiny --device=cpu --compile=False --n_layer=1 --n_head=1"
        " --n_embd=16 --block_size=16 --batch_size=4 --max_iters=40 --lr_decay_iters=40"
        " --gradient_accumulation_steps=1 --warmup_iters=4 --eval_interval=10 --eval_iters=2"
        " --always_save_checkpoint=False",
        "val_loss",
        try_s=120,
    ),
    "modded-nanogpt-2024": Program(
        "modded-nanogpt-2024",
        "train_gpt2.py",
        "val_loss",
        read=r"""line = [
  '\bstep:(?P<step>\d+)/[-+.\w]+\s+val_loss:(?P<val_loss>[-+.\w]+)',
  '\bstep:(?P<step>\d+)/[-+.\w]+\s+train_loss:(?P<train_loss>[-+.\w]+)',
]""",
        environment={"TUNEWRIGHT_STAND_IN": "speedrun"},
        values={
            "num_vocab": 256,
            "Hyperparameters.batch_size": 2,
            "Hyperparameters.device_batch_size": 2,
            "Hyperparameters.sequence_length": 32,
            "Hyperparameters.num_iterations": 4,
            "Hyperparameters.warmdown_iters": 2,
            "Hyperparameters.val_loss_every": 1,
            "Hyperparameters.val_tokens": 64,
        },
    ),
    "autoresearch": Program(
        "autoresearch",
        "train.py",
        "val_bpb",
        read=r"""line = [
  '\bval_bpb:\s+(?P<val_bpb>[-+.\w]+)',
  '\bstep\s+(?P<step>\d+)\s+\([-+.\w]+%\)\s+\|\s+loss:\s+(?P<loss>[-+.\w]+)',
]""",
        environment={"TUNEWRIGHT_STAND_IN": "autoresearch"},
        values={
            "ASPECT_RATIO": 16,
            "HEAD_DIM": 16,
            "DEPTH": 2,
            "TOTAL_BATCH_SIZE": 128,
            "DEVICE_BATCH_SIZE": 4,
        },
    ),
    "flax": Program(
        "flax/examples/mnist",
        "python main.py --config=configs/default.py --config.batch_size=32 --config.num_epochs=3",
        "test_loss",
        read='file = "**/events.out.tfevents.*"\nstep_times = 8',
        environment={"TFDS_DATA_DIR": "{checkout}/flax/tensorflow_datasets"},
    ),
    "DomainBed": Program(
        "DomainBed",
        "python -m domainbed.scripts.train --dataset Debug28 --steps 9 --checkpoint_freq 4"
        """ --skip_model_save --hparams='{"lr": 0.001, "weight_decay": 0.0, "batch_size": 8}'""",
        "env1_out_acc",
        maximize=True,
        environment={"TUNEWRIGHT_STAND_IN": "small machine"},
        try_s=400,
    ),
    "timm": Program(
        "timm",
        "python train.py --data-dir tiny --model resnet10t --num-classes 2 --img-size 32"
        " --input-size 3 32 32 -b 8 --epochs 2 --warmup-epochs 0 --cooldown-epochs 1 -j 0"
        " --device cpu",
        "eval_top1",
        maximize=True,
        read='file = "**/summary.csv"\nstep_times = 4',
    ),
    "yolov5": Program(
        "yolov5",
        "python train.py --data tiny/tiny.yaml --cfg models/yolov5n.yaml --weights '' --imgsz 64"
        " --batch-size 8 --epochs 2 --device cpu --workers 0 --noplots --nosave",
        "train/box_loss",
        environment={"YOLOV5_CONFIG_DIR": "{checkout}/yolov5/fonts"},
        read='file = "**/results.csv"\nstep_times = 2',
    ),
    "transformers": Program(
        "transformers/examples/pytorch/language-modeling",
        "python run_clm.py --model_name_or_path tiny-gpt2 --train_file train.txt"
        " --validation_file valid.txt --do_train --do_eval --block_size 32 --max_steps 6"
        " --eval_strategy steps --eval_steps 2 --logging_steps 2 --report_to none --use_cpu"
        " --per_device_train_batch_size 4",
        "eval_loss",
        try_s=200,
    ),
    "lightning-hydra-template": Program(
        "lht",
        "python src/train.py trainer=cpu trainer.max_epochs=2 +trainer.limit_train_batches=4"
        " +trainer.limit_val_batches=2 logger=csv test=False trainer.min_epochs=1",
        "val/acc",
        maximize=True,
        read='file = "**/metrics.csv"',
    ),
    "keras-addition": Program(
        "keras/examples/nlp",
        "addition_rnn.py",
        "val_loss",
        environment={"KERAS_BACKEND": "torch"},
        read=r"""line = [
  'Iteration (?P<step>\d+)',
  'loss: (?P<loss>[-+.\w]+) - val_accuracy: (?P<acc>[-+.\w]+) - val_loss: (?P<val_loss>[-+.\w]+)',
]""",
        values={"TRAINING_SIZE": 200, "DIGITS": 2, "epochs": 4},
    ),
    "accelerate": Program(
        "accelerate/examples",
        "python complete_nlp_example.py --cpu",
        "accuracy",
        maximize=True,
        read=r"""line = "epoch (?P<step>\\d+): .'accuracy': (?P<accuracy>[-+.\\w]+)"
""",
    ),
    "trl": Program(
        "trl",
        "python trl/scripts/sft.py --model_name_or_path tiny-gpt2 --dataset_name tiny"
        " --max_steps 6 --eval_strategy steps --eval_steps 2 --logging_steps 2 --report_to none"
        " --use_cpu --bf16 false --max_length 32 --per_device_train_batch_size 4",
        "eval_loss",
        try_s=240,
    ),
}


def run(name: str, program: Program, checkouts: Path, work: Path) -> dict[str, object]:
    """Copy, patch, scan, train one trial; what came of it."""
    root = work / name
    shutil.rmtree(root, ignore_errors=True)
    top = program.folder.partition("/")[0]
    shutil.copytree(checkouts / top, root / top, symlinks=True)
    place = root / program.folder
    patch = HERE / "rivals" / name / "tunewright.patch"
    if patch.exists():
        with patch.open() as file:
            subprocess.run(["patch", "-s", "-p1"], cwd=place, stdin=file, check=True)
    own = {k: v.format(checkout=checkouts) for k, v in program.environment.items()}
    path = [str(HERE / "stand_ins"), str(place), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, **own, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(one for one in path if one)
    environment["PATH"] = f"{root}{os.pathsep}{environment['PATH']}"
    smi = root / "nvidia-smi"  # modded-nanogpt writes its output into the log
    smi.write_text("#!/bin/sh\necho none\n")
    smi.chmod(0o755)
    aim = ["--maximize" if program.maximize else "--minimize", program.metric]
    tried = ["--try", str(program.try_s)] if program.try_s else []
    began = time.time()

    def tunewright(*words: str, limit: float) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tunewright", *words],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        return done.stdout + done.stderr

    said = tunewright("init", program.command, "--scan", *aim, *tried, limit=600)
    setup = place / "tunewright.toml"
    if not setup.exists():
        return {"program": name, "points": 0, "said": said[-2000:]}
    if program.read:
        text = re.sub(r"\n\[workload\.read\]\n(.+\n)+", "\n", setup.read_text())
        at = text.index("\n", text.index("store = ")) + 1
        setup.write_text(f"{text[:at]}\n[workload.read]\n{program.read}\n{text[at:]}")
    first = place / "rounds" / "first.toml"
    for key, value in program.values.items():  # smaller than usual, fixed
        line = re.compile(rf'^"?{re.escape(key)}"? = .*\n', flags=re.MULTILINE)
        text = setup.read_text()
        if not line.search(text):  # the scan leaves it out of the command
            command = re.compile(r'^(command = ".*)"$', flags=re.MULTILINE)
            setup.write_text(command.sub(rf'\1 {key}={value}"', text))
            continue
        setup.write_text(line.sub(f'"{key}" = {value}\n', text))
        rest = line.sub("", first.read_text()).rstrip("\n")
        first.write_text(f'{rest}\n"{key}" = {value}\n')
    said += tunewright("run", "first", "--trials", "1", "--workers", "1", limit=900)
    curves: dict[str, int] = {}
    status = "none"
    if (place / "tuning.db").exists():
        results = tw.load(place / "tuning.db", "first")
        for trial in results.trials[:1]:
            status = str(trial.status)
            curves = {metric: len(curve.steps) for metric, curve in trial.curves.items()}
    return {
        "program": name,
        "status": status,
        "points": curves.get(program.metric, 0),
        "curves": curves,
        "wall_s": round(time.time() - began, 1),
        **({} if status == "completed" else {"said": said[-2500:]}),
    }


if __name__ == "__main__":
    checkouts, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    for name in sys.argv[3:] or PROGRAMS:
        print(json.dumps(run(name, PROGRAMS[name], checkouts, work)), flush=True)
