"""Round files: `rounds/NAME.toml`, the same words as the Python call.

goal = "Is NAdam better than Nesterov momentum here?"
trials_per_study = 20
[scientific]
optimizer = ["nadam", "nesterov"]
[nuisance.optimizer.given.nadam]
learning_rate = { log = [1e-5, 1e-2] }

Ranges read `{"log": [1e-4, 0.1]}`, `{"integers": [1, 64], "log": true}`; a list is a choice; a
given reads `{"given": {"adam": {...}, "sgd": {}}}`, or as a list of pairs where a value is no text.
The order of names is part of a round (it decides the points): keep it when storing the data.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright.design.conditions import Given, settle
from tunewright.design.names import Meaning, area_of, lengths, usual_meaning
from tunewright.design.presets import Line, Space
from tunewright.design.ranges import Choice, Range, Value, log, log_from_one, same_value
from tunewright.design.registry import kinds, read
from tunewright.design.round import (
    ROLES,
    Round,
    differences as differences,
    kind_problems,
    plain_problems,
)
from tunewright.design.study import dimensions_for
from tunewright.design.workload_file import (
    option_problems,
    read_toml,
    read_workload as read_workload,
    toml_key,
    toml_lines,
    toml_value,
    unknown_key,
)
from tunewright.errors import DesignError
from tunewright.messages import Message
from tunewright.nearest import nearest

_KEYS = ("name", "goal", "trials_per_study", "seed", "detect", "continues", "change", *ROLES)
_BAD = object()  # a declaration that could not be read; its problem has been reported
_NEVER_ASKED = ("optimizer", "length", "schedule", "warm-up")  # areas: nuisance or one value
_STRENGTH = {"weight_decay": 1e-4}  # of a regulariser that is switched on; others take 0.1

# where a first search may begin when nothing is known; `tw.presets` has spaces by optimizer and
# budget. The learning rate reaches what suits both Adam and SGD: a rate that diverges is data, but
# a best one beyond the range costs another round.
USUAL: Mapping[str, Range] = {  # the most important first: what does not pay is fixed from the end
    "learning_rate": log(1e-4, 1.0),
    "momentum": log_from_one(0.7, 0.995),
    "beta1": log_from_one(0.5, 0.99),
    "weight_decay": log(1e-6, 1e-2),
    "epsilon": log(1e-10, 1e-6),
    "beta2": log_from_one(0.5, 0.999),
}
OPTIONS = ("search", "eval_every")  # of a file, how the round is run; a Round has none of them

# what a training program refuses of a round, whose file names these hyperparameters
Guards = Callable[[Round, frozenset[str]], Iterable[Message]]
_WIDTH = 98  # of comments


def as_data(round: Round) -> dict[str, Any]:
    """The round as plain JSON data; `from_data` gives it back.

    >>> from tunewright.design.ranges import log
    >>> as_data(Round("r", goal="?", nuisance={"lr": log(0.1, 1)}, trials_per_study=4))["nuisance"]
    {'lr': {'log': [0.1, 1.0]}}
    """
    data: dict[str, Any] = {
        "name": round.name,
        "goal": round.goal.to_data() if isinstance(round.goal, Message) else round.goal,
        "trials_per_study": round.trials_per_study,
        "seed": round.seed,
    }
    if round.detect is not None:
        data["detect"] = round.detect
    if round.continues:
        data["continues"] = round.continues
    if round.change is not None:
        data["change"] = round.change.to_data()
    for role in ROLES:
        data[role] = {n: declaration_data(d) for n, d in getattr(round, role).items()}
    return data


def declaration_data(declared: Any) -> Any:
    """One hyperparameter's declaration as plain data."""
    match declared:
        case Range():
            return _range_data(declared)
        case Given(branches):
            children = [
                (value, {name: declaration_data(d) for name, d in under.items()})
                for value, under in branches
            ]
            if all(isinstance(value, str) for value, _ in children):
                return {"given": dict(children)}
            return {"given": [list(pair) for pair in children]}
    return declared


def _range_data(declared: Range) -> Any:
    """A range with its belief; a list with one is written by its name."""
    data = declared.to_data()
    if declared.belief is None:
        return data
    named = {declared.kind: data} if isinstance(data, list) else data
    return {**named, **declared.belief.to_data()}


def from_data(data: Mapping[str, Any]) -> Round:
    """The round that plain data means; every problem at once."""
    if not isinstance(data, Mapping):
        raise DesignError("round.not_mapping", keys=list(_KEYS), data=data)
    problems = [unknown_key(key, _KEYS, "round") for key in data if key not in _KEYS]
    plain = {key: data[key] for key in _KEYS if key in data and key not in ROLES}
    for key in ("goal", "change"):
        if key in plain:
            plain[key] = _read_message(plain[key])
    for key, example in (
        ("name", 'name = "depth"'),
        ("goal", 'goal = "Do more layers help?"'),
        ("trials_per_study", "trials_per_study = 20"),
    ):
        if key not in plain:
            problems.append(Message("round.key_missing", {"key": key, "example": example}))
    stand_in = {"name": "?", "goal": "?", "trials_per_study": 1, "seed": 0, "detect": None}
    roles: dict[str, Any] = {}
    for role in ROLES:
        declared = data.get(role, {})
        if not isinstance(declared, Mapping):
            problems.append(Message("round.role_not_table", {"role": role, "declared": declared}))
            declared = {}
        roles[role] = _read_all(declared, role, problems)
    if problems:  # report what else is wrong, as far as it can be known
        problems += plain_problems(**{**stand_in, **plain})
        readable = {role: settle(roles[role], role, problems) for role in ROLES}
        raise DesignError.several([*problems, *kind_problems(readable)])
    return Round(**plain, **roles)


def _sound_part(data: Mapping[str, Any]) -> Round | None:
    """The round without those declarations that cannot be read or run; None: nothing is left."""
    plain = {"name": "?", "goal": "?", "trials_per_study": 1}
    kept: dict[str, dict[str, Any]] = {role: {} for role in ROLES}
    for role in ROLES:
        declared = data.get(role, {})
        for name, declaration in declared.items() if isinstance(declared, Mapping) else ():
            parent = {} if role == "scientific" else kept["scientific"].get(name)
            alone = {"scientific": {name: parent}} if parent else {}
            if _is_sound({**plain, **alone, role: {name: declaration}}):
                kept[role][name] = declaration
    whole = {**plain, **kept}
    return from_data(whole) if _is_sound(whole) else None


def _names_in(data: Mapping[str, Any]) -> Iterator[str]:
    """Every name that a round's data gives a role, under a condition or not, sound or not."""
    for role in ROLES:
        yield from _names(data.get(role, {}))


def _names(declared: Any) -> Iterator[str]:
    for name, declaration in declared.items() if isinstance(declared, Mapping) else ():
        yield str(name)
        branches = declaration.get("given") if isinstance(declaration, Mapping) else None
        if isinstance(branches, Mapping):
            branches = list(branches.items())
        for pair in branches if isinstance(branches, list) else ():
            if isinstance(pair, list | tuple) and len(pair) == 2:
                yield from _names(pair[1])


def _is_sound(data: Mapping[str, Any]) -> bool:
    try:
        from_data(data)
    except DesignError:
        return False
    return True


def _read_message(data: Any) -> Any:
    """The message that a table with a code and facts means; anything else stays what it is."""
    if not isinstance(data, Mapping) or not isinstance(data.get("code"), str):
        return data
    return Message(data["code"], {n: _nones(fact) for n, fact in data.items() if n != "code"})


def _nones(fact: Any) -> Any:
    """A fact with None again where TOML, which has no such value, holds a table for it."""
    if isinstance(fact, Mapping):
        return None if fact == {"none": True} else {n: _nones(part) for n, part in fact.items()}
    return [_nones(part) for part in fact] if isinstance(fact, list) else fact


def _read_all(declared: Mapping[str, Any], where: str, problems: list[Message]) -> dict[str, Any]:
    read = {name: _read(d, f"{where} {name}", problems) for name, d in declared.items()}
    return {name: declaration for name, declaration in read.items() if declaration is not _BAD}


def _read(data: Any, where: str, problems: list[Message]) -> Any:
    """One declaration, or _BAD with its problem added."""
    try:
        if isinstance(data, Mapping):
            if data == {"none": True}:
                return None
            return _read_table(data, where, problems)
        if isinstance(data, list):
            return Choice.from_data({"choice": data})
        return data
    except DesignError as error:
        problems += error.inside("declaration.at", place=where)
        return _BAD


def _read_table(data: Mapping[str, Any], where: str, problems: list[Message]) -> Any:
    if "given" not in data:
        searched = read(data)
        if searched is None:
            raise _no_range(data, where)
        return searched
    others = [key for key in data if key != "given"]
    if others:
        raise DesignError("declaration.two_kinds", others=others, kind="given")
    return _read_given(data["given"], where, problems)


def _read_given(data: Any, where: str, problems: list[Message]) -> Any:
    pairs = list(data.items()) if isinstance(data, Mapping) else data
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[1], Mapping)
        for pair in pairs
    ):
        raise DesignError("declaration.bad_given")
    before = len(problems)
    branches = tuple(
        (_value(value), _read_all(children, f"{where}.{value}", problems))
        for value, children in pairs
    )
    return Given(branches) if len(problems) == before else _BAD


def _value(data: Any) -> Any:
    return None if data == {"none": True} else data


def _no_range(data: Mapping[str, Any], where: str) -> DesignError:
    name = where.split(" ", 1)[1]
    known = [*kinds(), "given"]
    for key in data:
        near = nearest(key, known)
        if near:
            return DesignError("declaration.unknown_kind", key=key, near=near)
    return DesignError(
        "declaration.no_range",
        declared=dict(data),
        name=name,
        key=next(iter(data), None),
        kinds=list(kinds()),
    )


def question_of(
    name: str, takes: Sequence[str], meaning: Meaning, listed: Collection[str] = ()
) -> str | None:
    """The hyperparameter that a round of this name asks about: `dropout_2` about dropout.

    A number of a schedule or of an optimizer is searched or fixed. Which schedule is a question:
    `listed` are the hyperparameters whose values are names rather than numbers.

    >>> question_of("dropout_2", ["lr", "dropout"], Meaning())
    'dropout'
    >>> question_of("decay", ["decay"], Meaning())
    >>> question_of("decay", ["decay"], Meaning(), listed=["decay"])
    'decay'
    """
    for hyperparameter in takes:
        is_question = (
            area_of(hyperparameter, meaning) not in _NEVER_ASKED
            or meaning.of(hyperparameter) == "optimizer"
            or hyperparameter in listed
        )
        if is_question and re.fullmatch(rf"{re.escape(hyperparameter)}(_\d+)?", name):
            return hyperparameter
    return None


def scientific_lines(
    question: str | None,
    others: Sequence[str],
    meaning: Meaning,
    defaults: Mapping[str, Value],
    choices: Mapping[str, Sequence[Value]],
) -> Iterator[str]:
    """What the round asks about, then comments for what has no default."""
    if question is not None:
        allowed, default = choices.get(question, ()), defaults.get(question)
        if len(allowed) > 1:
            values = ", ".join(toml_value(value) for value in allowed)
            yield f"{toml_key(question)} = [{values}]  # the values that the program allows"
        elif area_of(question, meaning) == "regulariser":
            off = meaning.off_by_name.get(question, 0.0)
            usual = _STRENGTH.get(meaning.of(question) or "", 0.1)
            on = usual if default is None or same_value(default, off) else default
            values = f"[{toml_value(off)}, {toml_value(on)}]"
            yield f"{toml_key(question)} = {values}  # off against on"
        else:
            first = " " if default is None else toml_value(default)
            yield f"# {toml_key(question)} = [{first}, ]  # the round's question: list values here"
    for name in others:
        yield f"# {toml_key(name)} = [ , ]  # no default: list values here, or give it another role"


def what_is_paid_for(trials_per_study: int) -> Iterator[str]:
    """Comments: how many hyperparameters the trials pay for, and what to fix."""
    paid = dimensions_for(trials_per_study)
    yield f"# the most important first: {trials_per_study} trials per study pay for {paid} of them;"
    yield "# fix the rest from the end, each a caveat, but not what acts on the scientific one"


def one_value(name: str, meaning: Meaning) -> bool:
    """Whether a hyperparameter has one value: it counts the training steps, or the batch."""
    meant = meaning.of(name) or usual_meaning(name)
    return meant == "batch_size" or bool(lengths(meaning, [name]))


@dataclass(frozen=True)
class RoundFile:
    """A round, and how its file wants it run."""

    round: Round
    search: str | None = None  # halton, bayesian or auto; None: as the project has it
    eval_every: int | None = None  # steps between evaluations; None: as the project has it


def read_round(path: str | Path) -> Round:
    """The round of a file, called as the file is; every problem at once, each with the file."""
    return read_round_file(path).round


def read_round_file(path: str | Path, guards: Guards | None = None) -> RoundFile:
    """A round and how it is to run; every problem at once, each with the file.

    `guards` names what the training program refuses of a round. Where the file itself has problems,
    the part of it without them is checked too, so that nobody fixes a file twice.
    """
    path = Path(path)
    data = read_toml(path, Message("file.new_round", {"name": path.stem}))
    options = {key: data.pop(key) for key in OPTIONS if key in data}
    problems = list(option_problems(options))
    named = {"name": path.stem, **data}
    try:
        round = from_data(named)
    except DesignError as error:
        problems = [*error.problems, *problems]
        sound = _sound_part(named)
        if guards is not None and sound is not None:
            problems += guards(sound, frozenset(_names_in(named)))
    if problems:
        every = DesignError.several(problems)
        raise DesignError.several(every.inside("file.problem", path=str(path)))
    return RoundFile(round, **options)


def write_round(round: Round, path: str | Path, search: str | None = None) -> None:
    """Write a round so that `read_round` gives the same one back."""
    path = Path(path)
    data = as_data(round)
    lines = [f"{key} = {toml_value(v)}" for key, v in data.items() if key not in ROLES]
    if round.name == path.stem:
        lines.pop(0)
    if search is not None:
        lines.append(f"search = {toml_value(search)}")
    for role in ROLES:
        if data[role]:
            lines += ["", *toml_lines(role, data[role])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def template(
    name: str,
    takes: Sequence[str] = (),
    defaults: Mapping[str, Value] | None = None,
    meaning: Meaning | None = None,
    trials_per_study: int = 20,
    space: Space | None = None,
    choices: Mapping[str, Sequence[Value]] | None = None,
) -> str:
    """A round file to fill in, with the hyperparameters the training program takes.

    Those with a default start fixed at it, what means the learning rate starts as nuisance, and
    the others stand as comments for a role to be chosen. A ready `space` gives its own ranges and
    values instead, each below a comment with its source. What the round is called
    after is scientific, with the `choices` that the program allows.
    """
    meaning, defaults, choices = meaning or Meaning(), defaults or {}, choices or {}
    listed = {*choices, *(name for name, value in defaults.items() if isinstance(value, str))}
    question = question_of(name, takes, meaning, listed)
    ready = [line for line in space.lines if line.name != question] if space else []
    with_role = {question, *(line.name for line in ready)}
    takes = [name for name in takes if name not in with_role]
    usual = {n: USUAL[m] for m in USUAL for n in takes if meaning.of(n) == m}
    rate = meaning.name("learning_rate")
    lines = [
        f"# {name}: a round asks one question. Give every hyperparameter a role, then:",
        f"#   tunewright run {name} --dry-run",
        'goal = ""  # the question, such as "Does weight decay lower the validation error?"',
        f"trials_per_study = {trials_per_study}",
        "# seed = 0",
        "# detect = 0.002  # the smallest difference worth finding, in units of the objective",
        "",
        "[scientific]  # whose effect is measured: a list makes one study per value",
        *scientific_lines(
            question,
            [n for n in takes if n not in {*defaults, *usual} and not one_value(n, meaning)],
            meaning,
            defaults,
            choices,
        ),
        "",
        "[nuisance]  # tuned anew in every study, so that the comparison is fair",
        *what_is_paid_for(trials_per_study),
        *_ready(ready, True, defaults),
    ]
    for hyperparameter, searched in usual.items():
        mark = "" if hyperparameter == rate else "# "
        text = toml_value(declaration_data(searched))
        lines.append(f"{mark}{toml_key(hyperparameter)} = {text}")
    lines += ["", "[fixed]  # one value for all: a caveat on every conclusion"]
    lines += _ready(ready, False, defaults)
    for hyperparameter in takes:
        if hyperparameter in defaults and hyperparameter != rate:
            lines.append(f"{toml_key(hyperparameter)} = {toml_value(defaults[hyperparameter])}")
        elif one_value(hyperparameter, meaning):
            lines.append(f"# {toml_key(hyperparameter)} =  # no default: it needs a value")
    return "\n".join(lines) + "\n"


def _ready(ready: Sequence[Line], searched: bool, defaults: Mapping[str, Value]) -> Iterator[str]:
    """The searched or the fixed lines of a ready space, each below its source."""
    for line in ready:
        if line.searched != searched:
            continue
        remarks = [f"{line.later}: {line.source}" if line.later else line.source]
        usual, value = defaults.get(line.name), line.declared
        if usual is not None and not isinstance(value, Range) and not same_value(usual, value):
            remarks.append(f"The program's own default is {toml_value(usual)}.")
        for remark in remarks:
            yield from textwrap.wrap(
                remark, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
            )
        yield f"{toml_key(line.name)} = {toml_value(declaration_data(line.declared))}"
