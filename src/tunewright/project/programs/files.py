"""The files for a program that was read: its command, `tunewright.toml`, and a first round.

Each line that was proposed is below or beside a comment with the reason.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tunewright.design.names import metric_meanings, regularises
from tunewright.design.objective import Objective
from tunewright.design.round_file import declaration_data
from tunewright.design.study import dimensions_for
from tunewright.design.workload_file import toml_key, toml_value
from tunewright.messages import Message, words as printed
from tunewright.project.programs.json_values import with_fields
from tunewright.project.programs.read import Read
from tunewright.project.programs.roles import Proposed, propose_range

_WIDTH = 98
_HYDRA_FOLDER = "hydra.run.dir"
_WITH_VALUES = ("-m", "tunewright.execution.with_values")
# the most important first: what the trials do not pay for is proposed as a comment
_ORDER = ("learning_rate", "momentum", "beta1", "weight_decay", "epsilon", "beta2", "clip_norm")


@dataclass(frozen=True)
class Template:
    """The command of a program: its template, and what belongs to its fields."""

    text: str
    defaults: dict[str, Any] = field(default_factory=dict)
    booleans: dict[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()  # fields without a value, which the user must give
    passed: frozenset[str] = frozenset()  # the options that the template has


def template(read: Read, roles: Sequence[Proposed], given: Sequence[str]) -> Template:
    """The command: the given words, then a field for each hyperparameter with a known default.

    `given` are words such as `python train.py --data=imagenet`: an option that they have already is
    left as it is.
    """
    inside = {
        each.name: "{run.seed}" if each.role == "seed" else f"{{{each.name}}}"
        for each in roles
        if each.option.passed == "json" and (each.hyperparameter or each.role == "seed")
    }
    words = [shlex.quote(with_fields(each, inside)) for each in given]
    if read.style == "constants":
        at = next(n for n, word in enumerate(given) if word.endswith(".py"))
        words[at:at] = list(_WITH_VALUES)
    words += [each for each in read.words if each not in given]
    taken = {word.partition("=")[0] for word in given}
    defaults: dict[str, Any] = {}
    booleans: dict[str, str] = {}
    required: list[str] = []
    passed: set[str] = set()
    for each in sorted(roles, key=lambda p: bool(p.option.option)):  # those by position first
        option = each.option
        if option.passed == "json":
            if each.name in inside:
                passed.add(each.name)
                defaults |= {} if each.role == "seed" else {each.name: option.value}
            continue
        if option.option and {option.option, *_spellings(option.option)} & taken:
            continue
        if each.role in ("seed", "folder"):
            field = "{run.seed}" if each.role == "seed" else "{run.folder}"
            words.append(_word(read, each, field))
            passed.add(each.name)
            continue
        if option.required and option.value is None:
            if option.option or _positional_missing(given, roles, each):
                required.append(each.name)
                words.append(_word(read, each, f"{{{each.name}}}"))
                passed.add(each.name)
            continue
        if not each.hyperparameter or option.value is None or option.kind == "list":
            continue
        if option.conditional or not option.option:
            continue
        if each.reason.facts["part"] == "another seed":
            continue  # no hyperparameter: a round refuses it, so that the program keeps its own
        if isinstance(option.value, bool):
            spelled = _boolean(read, each)
            if not spelled:
                continue
            booleans[each.name] = spelled
        words.append(_word(read, each, f"{{{each.name}}}"))
        defaults[each.name] = option.value
        passed.add(each.name)
    if read.style == "hydra" and _HYDRA_FOLDER not in taken and not _has_folder(roles):
        words.append(f"{_HYDRA_FOLDER}={{run.folder}}")  # whatever Hydra's programs write
    return Template(" ".join(words), defaults, booleans, tuple(required), frozenset(passed))


def _has_folder(roles: Sequence[Proposed]) -> bool:
    return any(proposed.role == "folder" for proposed in roles)


def workload_text(
    read: Read,
    roles: Sequence[Proposed],
    command: Template,
    objective: Objective,
    store: str,
    lines: Sequence[str] = (),
    metrics: Sequence[str] = (),
) -> str:
    """`tunewright.toml`, with comments that say where each line comes from.

    `lines` read the `metrics`, as far as a short run has shown both.
    """
    text = [
        *_comment(Message("scan.file_header", {"files": read.files, "style": read.style})),
        "[workload]",
        f"command = {toml_value(command.text)}",
        f"{'minimize' if objective.minimize else 'maximize'} = {toml_value(objective.metric)}",
        f"store = {toml_value(store)}",
    ]
    for note in read.notes:
        text += ["", *_comment(note)]
    if lines:
        text += ["", *lines]
    if command.booleans:
        text += ["", *_comment(Message("scan.file_booleans"))]
        text += ["[workload.booleans]"]
        text += [f"{toml_key(n)} = {toml_value(v)}" for n, v in command.booleans.items()]
    if command.defaults or command.required:
        text += ["", *_comment(Message("scan.file_defaults")), "[workload.defaults]"]
        text += [f"{toml_key(n)} = {toml_value(v)}" for n, v in command.defaults.items()]
        for name in command.required:
            text.append(f"# {toml_key(name)} =   # {Message('scan.file_required')}")
    by_name = {proposed.name: proposed for proposed in roles if proposed.name in command.passed}
    means = {
        proposed.meaning: name
        for name, proposed in by_name.items()
        if proposed.meaning not in (None, name)
    }
    means |= metric_meanings(metrics)
    shrink = [
        n for n, proposed in by_name.items() if regularises(n) and proposed.role == "nuisance"
    ]
    if means or shrink:
        text += ["", *_comment(Message("scan.file_means")), "[workload.means]"]
        text += [f"{toml_key(str(m))} = {toml_value(n)}" for m, n in means.items()]
        if shrink:
            text.append(f"regularisers = {toml_value(shrink)}")
    zero = [n for n in shrink if isinstance(by_name[n].option.value, float)]
    if zero:
        text += ["", *_comment(Message("scan.file_off")), "[workload.off]"]
        text += [f"{toml_key(n)} = 0.0" for n in zero]
    text += ["", *_comment(Message("scan.file_roles")), *_role_lines(roles, command)]
    return "\n".join(text) + "\n"


def round_text(roles: Sequence[Proposed], command: Template, trials: int) -> str:
    """A first round: the most important nuisance hyperparameters, everything else fixed."""
    ranged = [(proposed, propose_range(proposed)) for proposed in _nuisance(roles, command)]
    searched = [(proposed, range) for proposed, range in ranged if range is not None]
    paid = dimensions_for(trials)
    names = [proposed.name for proposed, _ in searched[:paid]]
    text = [
        *_comment(Message("scan.round_header", {"trials": trials, "paid": paid})),
        f"goal = {toml_value(Message('scan.round_goal', {'names': names}).text)}",
        f"trials_per_study = {trials}",
        "",
        *_comment(Message("scan.round_scientific")),
        "[scientific]",
    ]
    for proposed in roles:
        if proposed.role == "scientific" and proposed.name in command.passed:
            values = list(proposed.option.choices) or [proposed.option.value]
            text.append(f"# {toml_key(proposed.name)} = {toml_value(values)}")
    text += ["", *_comment(Message("scan.round_nuisance")), "[nuisance]"]
    for at, (proposed, range) in enumerate(searched):
        mark = "" if at < paid else "# "
        text.append(f"{mark}{toml_key(proposed.name)} = {toml_value(declaration_data(range))}")
    fixed = [
        proposed
        for proposed in roles
        if proposed.role == "fixed" and proposed.name in command.passed
    ]
    text += ["", *_comment(Message("scan.round_fixed")), "[fixed]"]
    for proposed in fixed:
        if proposed.option.value is not None:
            text.append(f"{toml_key(proposed.name)} = {toml_value(proposed.option.value)}")
    return "\n".join(text) + "\n"


def _nuisance(roles: Sequence[Proposed], command: Template) -> list[Proposed]:
    """The nuisance hyperparameters of the command, the most important first."""

    def rank(proposed: Proposed) -> int:
        return _ORDER.index(proposed.meaning) if proposed.meaning in _ORDER else len(_ORDER)

    passed = [each for each in roles if each.role == "nuisance" and each.name in command.passed]
    return sorted(passed, key=rank)


def _role_lines(roles: Sequence[Proposed], command: Template) -> Iterator[str]:
    """Every option with its role and the reason, as comments; options alike share a line."""
    alike: dict[tuple[str, str, bool], list[str]] = {}
    for proposed in roles:
        key = (proposed.role, str(proposed.reason.facts["part"]), proposed.name in command.passed)
        alike.setdefault(key, []).append(proposed.name)
    for (role, part, passed), names in alike.items():
        facts = {"role": role, "part": part, "passed": passed, "names": names}
        yield from _comment(Message("scan.role_line", facts))


def _word(read: Read, proposed: Proposed, value: str) -> str:
    option = proposed.option.option
    if (
        proposed.option.passed == "pair"
        and value.startswith("{")
        and proposed.option.kind == "bool"
    ):
        return value  # the two words are the pair
    if not option:
        return value
    return f"{option}={value}"


def _boolean(read: Read, proposed: Proposed) -> str:
    """How the program takes true and false for this option; empty if it cannot be passed."""
    option = proposed.option
    if option.passed == "flag":
        return "flag"
    if option.passed == "pair":
        return f"{option.option}/{option.off_option}" if option.off_option else ""
    if option.passed == "negative flag" or option.notes:
        return ""  # `type=bool` takes every text for true
    return "True/False" if read.style in ("configurator", "constants", "fire") else "true/false"


def _positional_missing(
    given: Sequence[str], roles: Sequence[Proposed], proposed: Proposed
) -> bool:
    """Whether the given words lack this argument by position."""
    script = next((n for n, word in enumerate(given) if word.endswith(".py")), len(given) - 1)
    there = [word for word in given[script + 1 :] if not word.startswith("-")]
    places = [other.name for other in roles if not other.option.option]
    return places.index(proposed.name) >= len(there)


def _spellings(option: str) -> tuple[str, str]:
    return option.replace("_", "-"), option.replace("-", "_").replace("__", "--", 1)


def _comment(message: Message) -> list[str]:
    text = printed.printable(message.text)
    return textwrap.wrap(
        text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )
