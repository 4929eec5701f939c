"""A proposed role and range for each option, by the playbook's rules, with the reason as a code.

Optimizer hyperparameters and strengths of regularisers are nuisance; what a round may ask about
(model, optimizer, schedule, augmentation) is scientific; the length of training and the batch size
are fixed and never tuned; the seed and the folder come from the run; paths, logging and devices are
no hyperparameters. A name that shows nothing is judged by its help text and heading (`described`);
what nothing is known of has no role: nobody guesses in silence.

Names come first (`roles`): this is for the options whose names show nothing, such as `bias` below
a heading `# model`, or `blr` with the help text "base learning rate".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tunewright.design.guards import is_seed
from tunewright.design.names import (
    NAMES,
    Meaning,
    area_of,
    regularises,
    usual_meaning,
    usual_meanings,
)
from tunewright.design.ranges import Range, choice, integers, linear, log, log_from_one
from tunewright.design.round_file import USUAL
from tunewright.messages import Message
from tunewright.project.programs.declared import Declared

Part = Literal[
    "regulariser",
    "optimizer",
    "schedule",
    "augmentation",
    "loss",
    "model",
    "length",
    "batch size",
    "data",
    "logging",
    "machine",
    "validation",
]

# phrases of a help text, the most specific part first
_HELP: tuple[tuple[Part, str], ...] = (
    (
        "batch size",
        r"accumulat\w* (gradient|step|iter)|gradient accumulation|(mini|micro)?-?batch size",
    ),
    (
        "regulariser",
        r"drop-?out|dropconnect|drop ?path|stochastic depth|weight decay|smoothing|l2 regu",
    ),
    ("schedule", r"scheduler?|warm-?up|anneal\w*|cool-?down|lr decay|milestones?"),
    (
        "optimizer",
        r"learning[- ]rates?|\blr\b|optimi[sz]er|momentum|adamw?\b|\bsgd\b|clip\w* grad\w*",
    ),
    ("augmentation", r"augment\w*|mix-?up|cut-?mix|flip\w*|crop\w*|jitter|erase|erasing|resiz\w*"),
    ("loss", r"loss(es)?|criterion|cross[- ]entropy|distill\w*"),
    (
        "model",
        r"pre-?trained|layers?|attention|embeddings?|hidden|backbone|architecture|encoder|decoder|"
        r"activation|normali[sz]ation|transformer|lora\b|model|network|weights",
    ),
    ("length", r"number of (training )?(epochs|iterations|steps)|epochs? (to|of)|early ?stopping"),
    (
        "data",
        r"data ?sets?|data|splits?|classes|images?|tokeni[sz]\w*|vocabulary|samples?|tokens?|"
        r"inputs?|examples|held-?out|environments?",
    ),
)

# words of a heading or of a group's title
_HEADINGS: tuple[tuple[Part, str], ...] = (
    ("validation", r"eval\w*|validation|metrics?"),
    ("logging", r"log\w*|wandb|tensorboard|checkpoint\w*|i/o|output|misc\w*|saving|tracking"),
    ("machine", r"ddp|distributed|system|device|hardware|precision|gpus?|compil\w*|amp\b"),
    ("augmentation", r"augment\w*|mix-?up|transforms?|erase|erasing|crops?"),
    ("loss", r"loss(es)?|distill\w*|objective|temperature"),
    ("schedule", r"schedule\w*|learning rate decay|warm-?up"),
    ("optimizer", r"optimi[sz]\w*|adamw?|sgd"),
    ("regulariser", r"regulari[sz]\w*|dropout"),
    ("model", r"model\w*|network|architecture|encoder|decoder|embedding|layers?|ema"),
    ("data", r"data\w*|input\w*|tokeni[sz]\w*"),
)
_MODEL_OR_DATA = ("model", "data")
Role = Literal["nuisance", "scientific", "fixed", "seed", "folder", "none", "unknown"]
_HYPERPARAMETERS = ("nuisance", "scientific", "fixed")
_NEVER = ("length", "batch size", "validation")  # reasons of what is never tuned
_TUNED = ("learning_rate", "momentum", "beta1", "beta2", "epsilon", "warmup_steps", "clip_norm")

# words of a name that say what it is about
_TEXTS = {
    "validation": "eval evaluation val valid validation test",
    "counted": "batch size bs freq frequency interval every steps iters iter epochs epoch samples "
    "only",
    "path": "dir directory path paths file folder root cache url output out",
    "logging": "log logs logging logger wandb tensorboard tb mlflow comet clearml print verbose "
    "quiet progress save saves saving checkpoint checkpoints ckpt ckpts resume report entity tag "
    "tags notes note track project experiment push hub token display plot plots render video debug "
    "profile profiler profiling upload exist bucket artifact version visualize capture vis history "
    "hist summary recovery metric metrics name tracking checkpointing evals warnings",
    "machine": "device devices gpu gpus cuda cpu mps tpu workers worker backend distributed dist "
    "rank world nodes port master jit compile compiled torchcompile amp fp16 bf16 fp32 "
    "precision dtype tf32 pin prefetch threads deterministic benchmark fsdp deepspeed ddp dynamo "
    "xla memory multigpu accelerator accel prefetcher sync launcher nproc",
    # of a number: how strong a part of the loss or of the update is
    "strength": "coef coeff coefficient lambda alpha gain temperature tau weight weights penalty "
    "scale strength margin gamma",
    "shape": "decay cooldown warmup warmdown anneal annealing milestones end final min power",
    "split": "split splits holdout fold folds classes class",
    "picture": "img image imgsz resolution interpolation",
    "start": "pretrained weights finetune finetuning freeze frozen",
    "method": "algorithm algo method task",
}
_WORDS = {about: frozenset(text.split()) for about, text in _TEXTS.items()}
_KNOWN = frozenset().union(*_WORDS.values())
_NAMED = frozenset({"dataset", "model", "tokenizer", "config", "teacher"})  # `model_name_or_path`
_FOLDERS = (
    *("output_dir", "out_dir", "outdir", "output_folder", "save_dir", "checkpoint_dir", "ckpt_dir"),
    *("workdir", "work_dir", "results_dir", "result_dir", "run_dir", "exp_dir", "log_dir"),
    *("logdir", "log_folder", "output_path", "output", "trainer.default_root_dir", "save_path"),
)
_SHAPES = _WORDS["shape"] - {"min", "end", "final"}  # `min_epochs` is a length
_RATES = re.compile(r"(^|_)(lr|lrs|learning_rate|lrf|lr0|lrd)(_|$)|_lr\d*$|_lr_")
_SAVES_TO = re.compile(
    r"\b(save|saved|saves|write|output)\b.{0,20}\b(to|in|under)\b", re.IGNORECASE
)
_ADAM = re.compile(r"(^|_)(adam_)?betas?\d?$|(^|_)momentum\d?$")

# where nothing is known of the default
_USUAL: dict[str, Range] = {**USUAL, "clip_norm": log(0.1, 10.0)}
_WIDE = {"learning_rate": 10.0, "weight_decay": 10.0, "epsilon": 100.0, "clip_norm": 10.0}
_FROM_ONE = ("momentum", "beta1", "beta2")
_FRACTION = (
    "dropout",
    "smoothing",
    "prob",
    "rate",
    "ratio",
    "pct",
    "fraction",
    "frac",
    "mix",
    "path",
)


def _compile(table: tuple[tuple[Part, str], ...]) -> tuple[tuple[Part, re.Pattern[str]], ...]:
    return tuple((part, re.compile(rf"\b({text})", re.IGNORECASE)) for part, text in table)


_IN_HELP = _compile(_HELP)


_IN_HEADINGS = _compile(_HEADINGS)


def part_described(option: Declared) -> Part | None:
    """The part that the help text is about, else the heading; None where neither shows one.

    >>> part_described(Declared("bias", "--bias", "bool", False, section="model"))
    'model'
    >>> part_described(Declared("blr", "--blr", "float", 1e-3, help="base learning rate"))
    'optimizer'
    """
    under = _first(_IN_HEADINGS, option.section)
    about = _first(_IN_HELP, option.help)
    # a word such as "model" or "image" in a sentence is weaker than a heading
    if about is None or (about in _MODEL_OR_DATA and under is not None):
        return under or about
    return about


def _first(table: tuple[tuple[Part, re.Pattern[str]], ...], text: str) -> Part | None:
    return next((part for part, pattern in table if text and pattern.search(text)), None)


@dataclass(frozen=True)
class Proposed:
    """An option with its proposed role, and why."""

    option: Declared
    role: Role
    reason: Message  # scan.role.*
    meaning: str | None = None

    @property
    def name(self) -> str:
        """The option's name."""
        return self.option.name

    @property
    def hyperparameter(self) -> bool:
        """Whether it changes what is trained, as far as is known."""
        return self.role in _HYPERPARAMETERS

    @property
    def never(self) -> bool:
        """Whether it must never be tuned."""
        return self.role == "seed" or self.reason.facts.get("part") in _NEVER


def propose_roles(options: Sequence[Declared]) -> tuple[Proposed, ...]:
    """A role for every option, in their order.

    >>> options = [Declared("lr", "--lr", "float", 0.1), Declared("seed", "--seed")]
    >>> [proposed.role for proposed in propose_roles(options)]
    ['nuisance', 'seed']
    """
    seed = _seed(options)
    folder = _folder(options)
    names = [option.name for option in options]
    declared = {name: meant for meant, name in usual_meanings(names).items()}
    declared |= {name: name for name in names if name in NAMES}
    return tuple(_propose(option, seed, folder, declared.get(option.name)) for option in options)


def _propose(option: Declared, seed: str, folder: str, meant: str | None) -> Proposed:
    def role(role: Role, part: str, meaning: str | None = None) -> Proposed:
        return Proposed(option, role, Message("scan.role", {"part": part}), meaning)

    if option.name == seed:
        return role("seed", "seed")
    if option.name == folder:
        return role("folder", "folder")
    words = set(_words(option.name))
    if is_seed(option.name):
        return role("fixed", "another seed")
    if words & _WORDS["validation"] and words & _WORDS["counted"]:
        return role("none", "validation")
    plumbing = _plumbing(option, words)
    if plumbing:
        return role("none", plumbing)
    meaning = (
        meant or usual_meaning(option.name) or (option.name if option.name in _TUNED else None)
    )
    if meaning == "max_train_steps":
        return role("fixed", "length", meant)
    if meaning == "batch_size" or {"accumulation", "accumulate", "accum"} & words:
        return role("fixed", "batch size", meant)
    if meaning == "optimizer" or meaning == "schedule":
        part = "optimizer choice" if meaning == "optimizer" else "schedule choice"
        return role("scientific", part, meant)
    if meaning in _TUNED and option.kind != "bool":
        return role("nuisance", "optimizer", meant)
    if meaning == "weight_decay" or regularises(option.name):
        if option.kind in ("float", "int", "other"):
            return role("nuisance", "regulariser", meant)
        return role("scientific", "regulariser choice", meant)
    return role(*_by_area(option, words), meant)


def _by_area(option: Declared, words: set[str]) -> tuple[Role, str]:
    """The role by the part of training that the words of a name belong to."""
    number = option.kind in ("float", "int") or (option.kind == "other" and option.default is None)
    plain = "_".join(_words(option.name))
    if words & {"decay", "anneal", "cooldown"} and words & {"iters", "steps", "epochs"}:
        return "nuisance", "schedule"
    if _RATES.search(plain) or (_ADAM.search(plain) and "ema" not in words):
        return (
            ("nuisance", "optimizer")
            if number or option.kind == "list"
            else ("scientific", "schedule choice")
        )
    area = area_of(option.name, Meaning())
    if words & {"epochs", "epoch", "iters", "steps", "iterations"}:
        if words & (_SHAPES | {"warm", "patience"}) or area in ("warm-up", "schedule"):
            return "nuisance", "schedule"
        return "fixed", "length"
    if {"early", "stopping"} <= words:
        return "fixed", "length"
    if area in ("schedule", "warm-up") or (words & _WORDS["shape"] and "lr" in words):
        return ("nuisance", "schedule") if number else ("scientific", "schedule choice")
    if area == "optimizer":
        return ("nuisance", "optimizer") if number else ("scientific", "optimizer choice")
    if area == "augmentation":
        return "scientific", "augmentation"
    if area in ("model", "initialization"):
        return "scientific", "model"
    if area == "data":
        return "fixed", "data"
    if option.kind == "float" and words & _WORDS["strength"]:
        return "nuisance", "strength"
    if words & _WORDS["shape"] and option.kind == "float":
        return "nuisance", "schedule"
    if words & _WORDS["start"] and option.kind not in ("float", "int"):
        return "scientific", "model"
    if words & (_WORDS["split"] | _WORDS["picture"]):
        return "fixed", "data"
    if words & _WORDS["method"] and option.kind == "str":
        return "scientific", "method"
    if words & {"sequence", "seq", "context"} and words & {"length", "len", "lens", "lengths"}:
        return "fixed", "data"
    if "loss" in words and option.kind in ("bool", "str"):
        return "scientific", "loss choice"
    return _by_description(option)


def _by_description(option: Declared) -> tuple[Role, str]:
    """The role by the help text or the heading, where the name shows nothing."""
    number = option.kind in ("float", "int")
    part = part_described(option)
    if part in ("logging", "machine", "validation"):
        return "none", part
    if part in ("length", "batch size", "data"):
        return "fixed", part
    if part in ("model", "augmentation"):
        return "scientific", part
    if part == "loss":
        return ("nuisance", "strength") if option.kind == "float" else ("scientific", "loss choice")
    if part in ("optimizer", "schedule", "regulariser"):
        return ("nuisance", part) if number else ("scientific", f"{part} choice")
    return "unknown", "unknown"


def _plumbing(option: Declared, words: set[str]) -> str:
    """Why an option is no hyperparameter; empty if it may be one."""
    counts = option.kind in ("float", "int") and words & {"out", "path", "output"}
    named = "name" in words and words & _NAMED
    if words & _WORDS["path"] and not counts and not named:
        return "path"
    if usual_meaning(option.name) or regularises(option.name):
        return ""  # `per_device_train_batch_size` is about the batch, not the device
    if words & _WORDS["machine"] or ({"grad", "gradient"} & words and "checkpointing" in words):
        return "machine"
    return "logging" if words & _WORDS["logging"] and not named else ""


def _seed(options: Iterable[Declared]) -> str:
    """The option that takes the run's seed: the plainest name; empty if there is none."""
    seeds = [
        option for option in options if is_seed(option.name) or option.name == "seed_everything"
    ]
    taken = [option for option in seeds if option.kind in ("int", "other", "float", "str")]
    plain = [
        option
        for option in taken
        if option.name.lower() in ("seed", "random_seed", "seed_everything")
    ]
    return (plain or taken)[0].name if plain or taken else ""


def _folder(options: Sequence[Declared]) -> str:
    """The option that takes the run's folder, by its name or its help text; empty if none does."""
    by_name = {option.name.lower().replace("-", "_"): option.name for option in options}
    usual = next((by_name[name] for name in _FOLDERS if name in by_name), "")
    texts = (option for option in options if option.kind == "str" and not option.choices)
    return usual or next((option.name for option in texts if _SAVES_TO.search(option.help)), "")


def _words(name: str) -> list[str]:
    """The words of a name; `nosave` is no and save."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]
    return [part for word in words for part in _without_no(word)]


def _without_no(word: str) -> list[str]:
    bare = word.removeprefix("no")
    return ["no", bare] if bare != word and bare in _KNOWN else [word]


def propose_range(proposed: Proposed) -> Range | None:
    """The range to search a nuisance hyperparameter in; None where none can be proposed.

    >>> from tunewright.messages import Message
    >>> why = Message("scan.role", {"part": "optimizer"})
    >>> lr = Proposed(Declared("lr", "--lr", "float", 6e-4), "nuisance", why, "learning_rate")
    >>> str(propose_range(lr))
    'log(6e-05, 0.006)'
    """
    option = proposed.option
    meaning = proposed.meaning or usual_meaning(option.name)
    if option.choices:
        return choice(*option.choices) if len(option.choices) > 1 else None
    if option.kind not in ("float", "int", "other"):
        return None
    value = option.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return _USUAL.get(meaning or "") if option.kind != "int" else None
    if option.kind == "int" or isinstance(value, int):
        # the length of a decay follows the length of training, which is fixed
        follows = proposed.reason.facts["part"] == "schedule" and "warm" not in option.name.lower()
        return None if follows else _of_whole(int(value))
    # an average's share that is kept (ema_decay 0.9998) matters by its distance from one
    near_one = 0.9 <= value < 1 or (0.5 <= value < 1 and "beta" in option.name.lower())
    if meaning in _FROM_ONE or near_one:
        return _from_one(value) if 0 < value < 1 else _USUAL.get(meaning or "beta1")
    if _is_fraction(option, value):
        return linear(0.0, float(f"{min(0.5, max(0.3, 2 * value)):.1g}"))
    if value > 0:
        wide = _WIDE.get(
            meaning or "", 10.0 if proposed.reason.facts["part"] == "optimizer" else 3.0
        )
        return log(_short(value / wide), _short(value * wide))
    return _USUAL.get(meaning or "")


def _of_whole(value: int) -> Range | None:
    """A count: from none to twice the default."""
    if value < 0:
        return None
    return integers(0, 2 * value) if value > 0 else None


def _from_one(value: float) -> Range:
    """Five times nearer to one, and five times farther."""
    rest = 1 - value
    low, high = max(1 - 5 * rest, 0.5), 1 - rest / 5
    return log_from_one(float(f"{min(low, value):.4g}"), float(f"{high:.6g}"))


def _is_fraction(option: Declared, value: float) -> bool:
    """Whether it is a probability or a share, searched on a plain scale from zero."""
    name = option.name.lower()
    if "lr" in name.split("_") or "learning_rate" in name:
        return False
    named = any(word in name for word in _FRACTION)
    shrinks = regularises(option.name) and usual_meaning(option.name) != "weight_decay"
    return 0 <= value <= 0.5 and (named or shrinks)


def _short(value: float) -> float:
    return float(f"{value:.1g}")
