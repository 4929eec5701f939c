"""What names usually mean: `lr` is a learning rate wherever it stands.

One table for everything that reads names: `init`, `new`, `run`, `open_round`, `extend`, `transfer`
and the importers. A guess is a starting point: it is shown, and what the user declares under
`means=` counts first. A name with two candidates is left to the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tunewright.design.names import DEFAULT_REGULARISERS, METRICS, NAMES, Meaning
from tunewright.messages import Message

# spellings without their separators: a whole name, or what follows the last dot or slash
SPELLINGS: dict[str, tuple[str, ...]] = {
    "learning_rate": (
        "lr",
        "learningrate",
        "baselr",
        "baselearningrate",
        "initlr",
        "initiallr",
        "initiallearningrate",
        "maxlr",
        "maxlearningrate",
        "peaklr",
        "peaklearningrate",
    ),
    "batch_size": (
        "bs",
        "batch",
        "batchsize",
        "minibatchsize",
        "trainbatchsize",
        "globalbatchsize",
        "perdevicetrainbatchsize",
        "perdevicebatchsize",
        "batchsizepergpu",
    ),
    "weight_decay": ("wd", "weightdecay", "l2", "l2reg", "l2penalty", "l2regularization"),
    "momentum": ("momentum", "sgdmomentum", "nesterovmomentum"),
    "beta1": ("beta1", "adambeta1", "b1", "adamb1"),
    "beta2": ("beta2", "adambeta2", "b2", "adamb2"),
    "epsilon": ("epsilon", "eps", "adameps", "adamepsilon"),
    "warmup_steps": (
        "warmupsteps",
        "numwarmupsteps",
        "nwarmupsteps",
        "lrwarmupsteps",
        "warmupiters",
        "warmupiterations",
        "warmupupdates",
    ),
    "max_train_steps": (
        "steps",
        "maxsteps",
        "nsteps",
        "numsteps",
        "totalsteps",
        "trainsteps",
        "maxtrainsteps",
        "numtrainsteps",
        "ntrainsteps",
        "totaltrainsteps",
        "trainingsteps",
        "maxtrainingsteps",
        "numtrainingsteps",
        "totaltrainingsteps",
        "iters",
        "iterations",
        "maxiter",
        "maxiters",
        "maxiterations",
        "niter",
        "niters",
        "niterations",
        "numiters",
        "numiterations",
        "totaliters",
        "totaliterations",
        "trainiters",
        "trainiterations",
        "maxupdate",
        "maxupdates",
        "numupdates",
        "epoch",
        "epochs",
    ),
    "optimizer": (
        "optimizer",
        "optimiser",
        "optim",
        "opt",
        "optimizername",
        "optimizertype",
        "optname",
    ),
    "schedule": (
        "schedule",
        "lrschedule",
        "learningrateschedule",
        "scheduler",
        "lrscheduler",
        "lrschedulertype",
        "lrschedulename",
        "lrschedulername",
        "schedulertype",
        "sched",
        "lrsched",
    ),
    "clip_norm": (
        "clipnorm",
        "gradclip",
        "clipgrad",
        "clipgradnorm",
        "maxgradnorm",
        "gradientclip",
        "gradientclipval",
        "gradientclipping",
        "gradclipnorm",
        "gradclipping",
        "gradnormclip",
    ),
    "train_loss": ("trainloss", "trainingloss", "losstrain"),
    "valid_loss": ("validloss", "valloss", "validationloss", "evalloss", "lossval", "lossvalid"),
    "gradient_norm": ("gradientnorm", "gradnorm", "gnorm", "traingradnorm"),
}
# endings that keep their meaning behind other words: `generator_lr`, `num_train_epochs`
_ENDINGS = {
    "lr": "learning_rate",
    "learningrate": "learning_rate",
    "wd": "weight_decay",
    "weightdecay": "weight_decay",
    "bs": "batch_size",
    "batchsize": "batch_size",
    "epochs": "max_train_steps",
}
# words before an ending, or before the last dot, that make it something else: `min_lr`, `bn.eps`
_OTHERWISE = (
    "min minimum end final last warmup decay cooldown eval evaluation valid val validation test "
    "save log print ema bn batchnorm norm layernorm groupnorm teacher target every per early "
    "patience scheduler schedule sched accumulation micro exclude no use frozen freeze pretrain"
)
_EPOCH = frozenset({"epoch", "epochs"})
_REGULARISES = (
    "dropout droprate dropoutrate dropoutprob dropoutp dropprob droppath droppathrate "
    "stochasticdepth stochasticdepthrate labelsmoothing labelsmoothingfactor smoothing l1 l1reg "
    "l1penalty"
)


def usual_meaning(name: str) -> str | None:
    """What a name means by its spelling alone, or None.

    >>> [usual_meaning(n) for n in ("optimizer.lr", "num_train_epochs", "min_lr", "depth")]
    ['learning_rate', 'max_train_steps', None, None]
    """
    if name in SPELLINGS:
        return name
    words = _words(name)
    if meant := _FORMS.get("".join(words)):
        return meant
    before, component = _separated(name)
    own = _words(component)
    if before and not _OTHER_WORDS & set(before) and (meant := _FORMS.get("".join(own))):
        return meant
    for length in (1, 2):
        meant = _ENDINGS.get("".join(words[-length:])) if len(words) > length else None
        if meant and not _OTHER_WORDS & set(words[:-length]):
            return meant
    return None


def regularises(name: str) -> bool:
    """Whether a name is that of a regulariser by its spelling.

    >>> [regularises(n) for n in ("attn_dropout", "model.drop_rate", "wd", "dropout_layers")]
    [True, True, True, False]
    """
    words, component = _words(name), _words(_separated(name)[1])
    forms = {"".join(words), "".join(component), *words[-1:]}
    ending = bool(words) and words[-1] == "dropout"
    return ending or bool(forms & _REGULARISER_FORMS) or usual_meaning(name) == "weight_decay"


def candidates(names: Iterable[str]) -> dict[str, list[str]]:
    """The names that may have each meaning by their spelling."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if meant := usual_meaning(name):
            found.setdefault(meant, []).append(name)
    return found


def usual_meanings(names: Iterable[str]) -> dict[str, str]:
    """The meanings that these names have by their spelling, each meaning once.

    >>> usual_meanings(["optimizer.lr", "bs", "train/loss", "depth"])
    {'learning_rate': 'optimizer.lr', 'batch_size': 'bs', 'train_loss': 'train/loss'}
    """
    found: dict[str, str] = {}
    for meaning, own in candidates(names).items():
        if meaning in own:  # the playbook's own name needs no guess
            continue
        if meaning == "max_train_steps" and len(own) > 1:
            # programs that take both stop at the number of steps
            own = [name for name in own if not _EPOCH & set(_words(name)[-1:])]
        if len(own) == 1:
            found[meaning] = own[0]
    return found


def understood(meaning: Meaning, names: Iterable[str], metrics: Iterable[str] = ()) -> Meaning:
    """The meaning, with guesses from names of hyperparameters and metrics where none was declared.

    >>> understood(Meaning({"batch_size": "bs"}), ["lr", "bs", "epochs"]).guessed
    {'learning_rate': 'lr', 'max_train_steps': 'epochs'}
    >>> understood(Meaning({"max_train_steps": None}), ["epochs"]).guessed
    {}
    """
    names = list(dict.fromkeys(names))
    declared = set(_spelled(meaning.means))
    guessed: dict[str, Any] = {}
    for own, of_metrics in ((names, False), (list(metrics), True)):
        for meant, name in usual_meanings(n for n in own if n not in declared).items():
            wanted = (meant in METRICS) == of_metrics and meant not in meaning.means
            if wanted and meant not in own:
                guessed[meant] = name
    regularisers = [name for name in names if regularises(name) and name not in declared]
    known = {*DEFAULT_REGULARISERS, *guessed.values()}
    if "regularisers" not in meaning.means and not known.issuperset(regularisers):
        decay = meaning.means.get("weight_decay")
        guessed["regularisers"] = [*([decay] if decay in names else []), *regularisers]
    if not guessed:
        return meaning
    return replace(
        meaning,
        means={**meaning.means, **guessed},
        guessed={**meaning.guessed, **guessed},
    )


def guess_note(meaning: Meaning) -> tuple[Message, ...]:
    """What was guessed, to be shown once; nothing where all is declared."""
    if not meaning.guessed:
        return ()
    return (Message("meaning.guessed", {"means": dict(meaning.guessed)}),)


def lengths(meaning: Meaning, names: Iterable[str]) -> tuple[str, ...]:
    """The names that count the length of training: the one that means it, and undeclared others."""
    own = meaning.name("max_train_steps")
    declared = "max_train_steps" in meaning.means and "max_train_steps" not in meaning.guessed
    return tuple(
        name
        for name in dict.fromkeys(names)
        if name == own
        or (
            not declared
            and usual_meaning(name) == "max_train_steps"
            and meaning.of(name) in (None, "max_train_steps")
        )
    )


def _spelled(means: Mapping[str, Any]) -> Iterator[str]:
    """Every name that was declared to mean something."""
    for meaning, spelled in means.items():
        if meaning in NAMES and isinstance(spelled, str):
            yield spelled


def _words(name: str) -> list[str]:
    """The words of a name in lower case; `maxSteps` has two."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]


def _separated(name: str) -> tuple[list[str], str]:
    """The words before the last dot, slash or colon, and what follows it."""
    parts = re.split(r"[./:]", name)
    return _words(" ".join(parts[:-1])), parts[-1]


_OTHER_WORDS = frozenset(_OTHERWISE.split())
_REGULARISER_FORMS = frozenset(_REGULARISES.split())
_FORMS = {spelled: meaning for meaning, own in SPELLINGS.items() for spelled in own}
