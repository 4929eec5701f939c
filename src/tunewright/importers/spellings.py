"""What names usually mean: `lr` is a learning rate wherever it stands.

The checks go by meanings, which no other tool records. Only spellings that are used for nothing
else are known here; a name with two candidates is left to the user's `means=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SPELLINGS = {
    "learning_rate": ("lr", "learningrate", "baselr", "baselearningrate", "initlr", "maxlr"),
    "batch_size": ("bs", "batchsize", "trainbatchsize", "perdevicetrainbatchsize"),
    "weight_decay": ("wd", "weightdecay"),
    "momentum": ("momentum", "sgdmomentum"),
    "beta1": ("beta1", "adambeta1"),
    "beta2": ("beta2", "adambeta2"),
    "epsilon": ("epsilon", "eps", "adameps", "adamepsilon"),
    "warmup_steps": ("warmupsteps", "numwarmupsteps"),
    "max_train_steps": ("maxsteps", "maxtrainsteps", "numtrainsteps", "totalsteps", "trainsteps"),
    "optimizer": ("optimizer", "optimiser", "optim", "opt", "optimizername"),
    "schedule": ("schedule", "lrschedule", "scheduler", "lrscheduler", "lrschedulertype"),
    "clip_norm": ("clipnorm", "gradclip", "maxgradnorm", "gradientclipval", "gradclipnorm"),
    "train_loss": ("trainloss", "trainingloss", "losstrain"),
    "valid_loss": ("validloss", "valloss", "validationloss", "evalloss", "lossval", "lossvalid"),
    "gradient_norm": ("gradientnorm", "gradnorm", "gnorm", "traingradnorm"),
}


def usual_meanings(names: Iterable[str]) -> dict[str, str]:
    """The meanings that these names have by their spelling, each meaning once.

    >>> usual_meanings(["optimizer.lr", "bs", "train/loss", "depth"])
    {'learning_rate': 'optimizer.lr', 'batch_size': 'bs', 'train_loss': 'train/loss'}
    """
    candidates: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
        forms = {"".join(words), words[-1] if words else ""}
        for meaning, spelled in SPELLINGS.items():
            if name == meaning or forms & set(spelled):
                candidates.setdefault(meaning, []).append(name)
    found: dict[str, str] = {}
    for meaning, own in candidates.items():
        if meaning in own:  # the playbook's own name needs no guess
            continue
        if len(own) == 1 and own[0] not in found.values():
            found[meaning] = own[0]
    return found
