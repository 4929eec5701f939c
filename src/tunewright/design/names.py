"""What names mean, how they are usually spelt, and which part of training each belongs to.

`Workload(means={"learning_rate": "optimizer.lr", ...}, off={"dropout": 0.0, ...})` declares once
how a training program calls the playbook's ideas. The playbook's own names are the defaults, and
the table of spellings guesses the rest; None declares that nothing has a meaning.

One table for everything that reads names: `init`, `new`, `run`, `open_round`, `extend`, `transfer`
and the importers. A guess is a starting point: it is shown, and what the user declares under
`means=` counts first. A name with two candidates is left to the user.

The part of training that a name belongs to follows from its meaning where it has one, else from
its words. Notes on roles and the ladder of what transfers to longer training use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tunewright.design.ranges import Value, as_plain, check_plain, is_number
from tunewright.errors import DesignError
from tunewright.messages import Message
from tunewright.nearest import nearest

# meanings of hyperparameters and metrics, whose default spelling is the meaning itself
NAMES = (
    *("learning_rate", "momentum", "beta1", "beta2", "epsilon", "weight_decay", "warmup_steps"),
    *("max_train_steps", "batch_size", "optimizer", "schedule", "clip_norm"),
    *("train_loss", "valid_loss", "gradient_norm"),
)
_METRICS = ("train_loss", "valid_loss", "gradient_norm")  # of the names, those that are logged
_PLAIN_LOSS = "loss"
LISTS = ("regularisers",)  # names of the hyperparameters that regularise
NUMBERS = ("steps_per_epoch", "chance")  # plain facts about the workload
_DEFAULT_REGULARISERS = ("weight_decay", "dropout", "label_smoothing")

# words of a metric's name that show what it measures, where no meaning was declared
_OF_VALIDATION = {"valid", "validation", "val", "eval", "evaluation", "test", "dev", "holdout"}
_OF_TRAINING = {"train", "training", "throughput", "time", "seconds", "latency", "memory", "speed"}

# spellings without their separators: a whole name, or what follows the last dot or slash
_SPELT = {
    "learning_rate": "lr learningrate baselr baselearningrate initlr initiallr initiallearningrate "
    "maxlr maxlearningrate peaklr peaklearningrate",
    "batch_size": "bs batch batchsize minibatchsize trainbatchsize globalbatchsize "
    "perdevicetrainbatchsize perdevicebatchsize batchsizepergpu",
    "weight_decay": "wd weightdecay l2 l2reg l2penalty l2regularization",
    "momentum": "momentum sgdmomentum nesterovmomentum",
    "beta1": "beta1 adambeta1 b1 adamb1",
    "beta2": "beta2 adambeta2 b2 adamb2",
    "epsilon": "epsilon eps adameps adamepsilon",
    "warmup_steps": "warmupsteps numwarmupsteps nwarmupsteps lrwarmupsteps warmupiters "
    "warmupiterations warmupupdates",
    "max_train_steps": "steps maxsteps nsteps numsteps totalsteps trainsteps maxtrainsteps "
    "numtrainsteps ntrainsteps totaltrainsteps trainingsteps maxtrainingsteps numtrainingsteps "
    "totaltrainingsteps iters iterations maxiter maxiters maxiterations niter niters niterations "
    "numiters numiterations totaliters totaliterations trainiters trainiterations maxupdate "
    "maxupdates numupdates epoch epochs",
    "optimizer": "optimizer optimiser optim opt optimizername optimizertype optname",
    "schedule": "schedule lrschedule learningrateschedule scheduler lrscheduler lrschedulertype "
    "lrschedulename lrschedulername schedulertype sched lrsched",
    "clip_norm": "clipnorm gradclip clipgrad clipgradnorm maxgradnorm gradientclip gradientclipval "
    "gradientclipping gradclipnorm gradclipping gradnormclip",
    "train_loss": "trainloss trainingloss losstrain",
    "valid_loss": "validloss valloss validationloss evalloss lossval lossvalid",
    "gradient_norm": "gradientnorm gradnorm gnorm traingradnorm",
}
SPELLINGS = {meaning: tuple(forms.split()) for meaning, forms in _SPELT.items()}

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
_OTHER_WORDS = frozenset(_OTHERWISE.split())
_REGULARISER_FORMS = frozenset(_REGULARISES.split())
_FORMS = {spelled: meaning for meaning, forms in SPELLINGS.items() for spelled in forms}
Part = Literal["warm-up", "initialization", "model", "optimizer", "augmentation", "regulariser"]
Area = Part | Literal["data", "schedule", "length", "batch size"]
_MEANINGS: dict[str, Area] = {
    "warmup_steps": "warm-up",
    "learning_rate": "optimizer",
    "momentum": "optimizer",
    "beta1": "optimizer",
    "beta2": "optimizer",
    "epsilon": "optimizer",
    "optimizer": "optimizer",
    "clip_norm": "optimizer",
    "weight_decay": "regulariser",
    "schedule": "schedule",
    "max_train_steps": "length",
    "batch_size": "batch size",
}

# words of a name that show what it is, where it has no meaning; the first area that has one counts
_WORDS: dict[Area, str] = {
    "warm-up": "warmup warm",
    "regulariser": "dropout regulariser regularizer l1 l2 smoothing",
    "schedule": "schedule scheduler decay cooldown gamma",
    "augmentation": "aug augment augmentation augmentations mixup cutmix cutout crop flip jitter "
    "rotation randaugment trivialaugment autoaugment erasing hue saturation brightness contrast "
    "grayscale blur specaugment",
    "initialization": "init initialization initializer initial",
    "optimizer": "lr learning adam adamw sgd nesterov clip clipping momentum rmsprop eps",
    "model": "layer layers depth width hidden head heads unit units channel channels filter "
    "filters embd embed embedding block blocks kernel dim dims model architecture arch backbone "
    "act activation encoder decoder mlp ffn expansion rank experts patch",
    "data": "data dataset corpus mixture subset vocab tokenizer",
}
WORDS = {area: frozenset(words.split()) for area, words in _WORDS.items()}
_TOGETHER: dict[str, Area] = {"weight_decay": "regulariser", "end_factor": "schedule"}


@dataclass(frozen=True)
class Meaning:
    """How one workload spells the playbook's names, and the values that switch features off."""

    means: Mapping[str, Any] = field(default_factory=dict)
    off: Mapping[str, Value] = field(default_factory=dict)
    deterministic: bool = False  # the same configuration gives the same value under every seed
    # of `means`, what nobody declared: guessed from how names are spelled
    guessed: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for part in ("means", "off"):
            if not isinstance(getattr(self, part), Mapping):
                raise DesignError("meaning.not_mapping", part=part, declared=getattr(self, part))
        object.__setattr__(self, "means", {n: as_plain(v) for n, v in self.means.items()})
        object.__setattr__(self, "off", {n: as_plain(v) for n, v in self.off.items()})
        problems = [p for entry in self.means.items() if (p := _problem(*entry))]
        if not isinstance(self.deterministic, bool):
            problems.append(f"deterministic: {self.deterministic!r} is neither true nor false.")
        problems += _shared(self.means)
        for name, value in self.off.items():
            try:
                check_plain(value, f"off {name}")
            except DesignError as error:
                problems += error.problems
        if problems:
            raise DesignError.several(problems)

    def name(self, meaning: str) -> str:
        """How this workload spells a meaning: `learning_rate` may be `optimizer.lr`.

        Where None is declared no hyperparameter has the meaning, and this is no hyperparameter's
        name.
        """
        spelled = self.means.get(meaning, meaning)
        return f"({meaning})" if spelled is None else str(spelled)

    @property
    def off_by_name(self) -> dict[str, Value]:
        """The values that switch features off, by the workload's own names.

        >>> Meaning({"schedule": "lr_scheduler_type"}, {"schedule": "constant"}).off_by_name
        {'lr_scheduler_type': 'constant'}
        """
        return {self.name(key): value for key, value in self.off.items()}

    def absent(self, meaning: str) -> bool:
        """Whether it is declared that nothing has this meaning."""
        return meaning in self.means and self.means[meaning] is None

    def of(self, name: str) -> str | None:
        """What a name means here, or None if nothing is known of it."""
        for meaning in NAMES:
            if self.name(meaning) == name:
                return meaning
        return None

    def judges_validation(self, metric: str) -> bool:
        """Whether a metric is about generalisation; one that nothing is known of is taken to be.

        >>> [Meaning().judges_validation(m) for m in ("error", "valid_time", "throughput")]
        [True, True, False]
        """
        if self.of(metric) in ("train_loss", "gradient_norm"):
            return False
        words = set(re.split(r"[^a-z0-9]+", metric.lower()))
        return bool(words & _OF_VALIDATION) or not words & _OF_TRAINING

    @property
    def declared(self) -> dict[str, tuple[str, ...]]:
        """The hyperparameters that the user named for each meaning, without what was guessed."""
        declared: dict[str, tuple[str, ...]] = {}
        for meaning, spelled in self.means.items():
            if meaning in self.guessed or meaning in (*_METRICS, *NUMBERS) or spelled is None:
                continue
            declared[meaning] = (spelled,) if isinstance(spelled, str) else tuple(spelled)
        return declared

    @property
    def regularisers(self) -> tuple[str, ...]:
        """The names of the hyperparameters that regularise."""
        if "regularisers" in self.means:
            return tuple(self.means["regularisers"])
        decay, *others = _DEFAULT_REGULARISERS
        return (self.name(decay), *others)

    def number(self, meaning: str) -> float | None:
        """A plain fact such as `steps_per_epoch` or `chance`, or None when it was not declared."""
        number = self.means.get(meaning)
        return None if number is None else float(number)


def _shared(means: Mapping[str, Any]) -> Iterator[Message]:
    """One spelling for two meanings would make every check guess which one is meant."""
    first: dict[str, str] = {}
    for meaning, spelled in means.items():
        if meaning not in NAMES or not isinstance(spelled, str):
            continue
        other = first.setdefault(spelled, meaning)
        if other != meaning and {other, meaning} != {"momentum", "beta1"}:  # one idea, two names
            yield Message(
                "meaning.shared", {"meaning": meaning, "spelled": spelled, "other": other}
            )


def _problem(meaning: str, spelled: Any) -> Message | None:
    known = (*NAMES, *LISTS, *NUMBERS)
    if meaning not in known:
        facts = {"meaning": meaning, "near": nearest(meaning, known), "known": known}
        return Message("meaning.unknown", facts)
    if meaning in NUMBERS:
        if not is_number(spelled):
            return Message("meaning.not_number", {"meaning": meaning, "spelled": spelled})
    elif meaning in LISTS:
        if not isinstance(spelled, list | tuple) or not all(isinstance(s, str) for s in spelled):
            return Message("meaning.not_names", {"meaning": meaning, "spelled": spelled})
    elif spelled is not None and (not isinstance(spelled, str) or not spelled):
        return Message("meaning.not_name", {"meaning": meaning, "spelled": spelled})
    return None


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
    before, component = _split_path(name)
    last = _words(component)
    if before and not _OTHER_WORDS & set(before) and (meant := _FORMS.get("".join(last))):
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
    words, component = _words(name), _words(_split_path(name)[1])
    forms = {"".join(words), "".join(component), *words[-1:]}
    ending = bool(words) and words[-1] == "dropout"
    return ending or bool(forms & _REGULARISER_FORMS) or usual_meaning(name) == "weight_decay"


def candidates(names: Iterable[str]) -> dict[str, list[str]]:
    """The names that may have each meaning by their spelling."""
    by_meaning: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if meant := usual_meaning(name):
            by_meaning.setdefault(meant, []).append(name)
    return by_meaning


def usual_meanings(names: Iterable[str]) -> dict[str, str]:
    """The meanings that these names have by their spelling, each meaning once.

    >>> usual_meanings(["optimizer.lr", "bs", "train/loss", "depth"])
    {'learning_rate': 'optimizer.lr', 'batch_size': 'bs', 'train_loss': 'train/loss'}
    """
    meanings: dict[str, str] = {}
    for meaning, spelled in candidates(names).items():
        if meaning in spelled:  # the playbook's own name needs no guess
            continue
        if meaning == "max_train_steps" and len(spelled) > 1:
            # programs that take both stop at the number of steps
            spelled = [name for name in spelled if not _EPOCH & set(_words(name)[-1:])]
        if len(spelled) == 1:
            meanings[meaning] = spelled[0]
    return meanings


def metric_meanings(metrics: Iterable[str]) -> dict[str, str]:
    """The meanings that these logged metrics have by their spelling.

    A plain `loss` beside a metric of validation is the training loss, as Keras and the Hugging Face
    Trainer log it.

    >>> metric_meanings(["loss", "val_loss"]), metric_meanings(["loss"])
    ({'train_loss': 'loss', 'valid_loss': 'val_loss'}, {})
    """
    known = list(dict.fromkeys(metrics))
    meanings = {meant: name for meant, name in usual_meanings(known).items() if meant in _METRICS}
    validates = any(_OF_VALIDATION & set(_words(name)) for name in known)
    if _PLAIN_LOSS in known and validates and "train_loss" not in candidates(known):
        meanings["train_loss"] = _PLAIN_LOSS
    return dict(sorted(meanings.items()))


def with_guesses(meaning: Meaning, names: Iterable[str], metrics: Iterable[str] = ()) -> Meaning:
    """The meaning, with guesses from names of hyperparameters and metrics where none was declared.

    >>> with_guesses(Meaning({"batch_size": "bs"}), ["lr", "bs", "epochs"]).guessed
    {'learning_rate': 'lr', 'max_train_steps': 'epochs'}
    >>> with_guesses(Meaning({"max_train_steps": None}), ["epochs"]).guessed
    {}
    """
    names = list(dict.fromkeys(names))
    declared = set(_names_declared(meaning.means))
    guessed: dict[str, Any] = {}
    by_name = usual_meanings(name for name in names if name not in declared)
    hyperparameters = {m: n for m, n in by_name.items() if m not in _METRICS and m not in names}
    logged = [name for name in metrics if name not in declared]
    for meant, name in {**hyperparameters, **metric_meanings(logged)}.items():
        if meant not in meaning.means:
            guessed[meant] = name
    regularisers = [name for name in names if regularises(name) and name not in declared]
    known = {*_DEFAULT_REGULARISERS, *guessed.values()}
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
    counted = meaning.name("max_train_steps")
    declared = "max_train_steps" in meaning.means and "max_train_steps" not in meaning.guessed
    return tuple(
        name
        for name in dict.fromkeys(names)
        if name == counted
        or (
            not declared
            and usual_meaning(name) == "max_train_steps"
            and meaning.of(name) in (None, "max_train_steps")
        )
    )


def _names_declared(means: Mapping[str, Any]) -> Iterator[str]:
    """Every name that was declared to mean something."""
    for meaning, spelled in means.items():
        if meaning in NAMES and isinstance(spelled, str):
            yield spelled


def _words(name: str) -> list[str]:
    """The words of a name in lower case; `maxSteps` has two."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]


def _split_path(name: str) -> tuple[list[str], str]:
    """The words before the last dot, slash or colon, and what follows it."""
    parts = re.split(r"[./:]", name)
    return _words(" ".join(parts[:-1])), parts[-1]


def area_of(name: str, meaning: Meaning) -> Area | None:
    """The part of training a name belongs to; None if nothing shows it.

    >>> [area_of(n, Meaning()) for n in ("initial_lr", "eps", "color_jitter", "n_layer", "foo")]
    ['optimizer', 'optimizer', 'augmentation', 'model', None]
    """
    meant = meaning.of(name)
    if meant is None and name not in meaning.regularisers:
        meant = usual_meaning(name)
        if (
            meant in meaning.means
        ):  # another name has this meaning, or it was declared that none has
            meant = None
    if meant in _MEANINGS:
        return _MEANINGS[meant]
    if name in meaning.regularisers or regularises(name):
        return "regulariser"
    for together, area in _TOGETHER.items():
        if together in name.lower():
            return area
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    for area, of_area in WORDS.items():
        if area == "initialization" and words & WORDS["optimizer"]:
            continue  # `initial_lr` is where a learning rate begins, not how weights are drawn
        if words & of_area:
            return area
    return None
