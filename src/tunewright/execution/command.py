"""A training program in any language: a command line with fields for the configuration.

    command("torchrun train.py --lr={learning_rate} --seed={run.seed} --out={run.folder}")

The template is split into words as a shell would split it, then each word is filled in; no shell
ever sees a value. Fields are hyperparameters (dots allowed), what the run is about (`{run.seed}`,
see FACTS), `{config}` (a file with the whole configuration) and `{overrides}` (`name=value` words).
A word whose hyperparameter is not active in a configuration is left out, together with the flag
before it: a conditional hyperparameter needs no second template. `{{` and `}}` are plain braces.
`{learning_rate=0.01}` has a default, which holds where a round does not name the hyperparameter.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import Formatter

from tunewright.design.ranges import Value, check_plain, same_value
from tunewright.design.workload_file import read_value
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution import growing_file, line_patterns
from tunewright.execution.command_syntax import (
    FLAG,
    JSON,
    Booleans,
    Spelling,
    for_a_shell,
    in_a_shell,
)
from tunewright.execution.growing_file import GrowingFile
from tunewright.messages import Message
from tunewright.nearest import nearest

# what a program may receive about its run, next to the configuration
FACTS = ("seed", "folder", "start_step", "eval_every", "devices", "port")
CONFIG, _OVERRIDES = "config", "overrides"
CONFIG_FILE = "config.json"  # of a trial's folder, which {config} names
_PLAIN_WORD = re.compile(r"[A-Za-z_][\w.\-/+:%@]*")  # text that Hydra reads as text without quotes
_NOT_TEXT = {"true", "false", "null", "inf", "nan"}  # ... unless it is one of these

Fact = str | int


@dataclass(frozen=True)
class Word:
    """One word of the template: literal texts and field names in turn, the texts first."""

    texts: tuple[str, ...]
    fields: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """The word with every field replaced."""
        pairs = zip(self.fields, self.texts[1:], strict=True)
        return self.texts[0] + "".join(values[name] + text for name, text in pairs)


@dataclass(frozen=True)
class Command:
    """A command line with fields; see the module for what they may be."""

    template: str
    booleans: Spelling = field(default=JSON, hash=False)  # how the program spells true and false
    defaults: Mapping[str, Value] = field(default_factory=dict, hash=False)
    read: tuple[str, ...] = ()  # patterns of lines that are measurements, beside JSON
    file: GrowingFile | None = None  # of the trial's folder, that has the measurements
    within: str = ""  # the folder that the program starts in; empty: that of this process

    def __post_init__(self) -> None:
        """Refuse a template that cannot be filled, every problem at once."""
        given = (self.read,) if isinstance(self.read, str) else tuple(self.read)
        object.__setattr__(self, "read", given)
        problems = list(_problems(self))
        if isinstance(self.booleans, Mapping):
            object.__setattr__(self, "booleans", dict(self.booleans))
        if not problems:
            problems = [
                *Booleans(self.booleans).problems(self._known),
                *_declaration_problems(self),
            ]
        if problems:
            raise WorkloadError.several(problems)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The template's words, read once."""
        return tuple(_word(text) for text in shlex.split(self.template))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Every field, each once, in the order of the template."""
        return tuple(dict.fromkeys(name for word in self.words for name in word.fields))

    @property
    def hyperparameters(self) -> tuple[str, ...]:
        """The fields that a round gives, or a default; the others are ours."""
        return tuple(name for name in self.fields if not is_reserved(name))

    @cached_property
    def default_values(self) -> dict[str, Value]:
        """What holds where a round does not name a hyperparameter, of the template and declared."""
        return {**self.defaults, **dict(_in_template(self.template))}

    @property
    def _known(self) -> tuple[str, ...] | None:
        """The hyperparameters there can be; None: any name."""
        return None if self.takes_anything else self.hyperparameters

    @property
    def takes_anything(self) -> bool:
        """Whether the program receives the whole configuration, whatever its names."""
        return CONFIG in self.fields or _OVERRIDES in self.fields

    @property
    def takes_seed(self) -> bool:
        """Whether the program learns its seed; without it a repeat would repeat nothing."""
        return "run.seed" in self.fields or CONFIG in self.fields

    def fill(
        self, configuration: Mapping[str, Value], facts: Mapping[str, Fact], config_file: str = ""
    ) -> list[str]:
        """The words to execute for one configuration.

        >>> command("train --lr={learning_rate} --beta {beta1} -v {overrides}").fill(
        ...     {"learning_rate": 1e-05, "nesterov": True}, {})
        ['train', '--lr=1e-05', '-v', 'learning_rate=1e-05', 'nesterov=true']
        """
        spelled = Booleans(self.booleans)
        flags = {name: bool(v) for name, v in configuration.items() if spelled.is_flag(name, v)}
        values = {name: spelled.text(name, value) for name, value in configuration.items()}
        values |= {f"run.{name}": str(value) for name, value in facts.items()}
        values[CONFIG] = config_file
        words: list[str] = []
        for word in self.words:
            if _OVERRIDES in word.fields:
                words += overrides(configuration, spelled)
            elif len(word.fields) == 1 and word.fields[0] in flags:
                _flag(words, word, flags[word.fields[0]])
            elif all(name in values for name in word.fields):
                words.append(word.fill(values))
            elif any(name.startswith("run.") and name not in values for name in word.fields):
                raise WorkloadError(
                    "command.steps_unknown", before=word.texts[0], field=word.fields[0]
                )
            elif words and "".join(word.texts) == "" and _is_flag(words[-1]):
                words.pop()  # `--beta {beta1}` without beta1: the flag goes with its value
        return words

    def __str__(self) -> str:
        return self.template


def command(
    template: str,
    *,
    booleans: Spelling = JSON,
    defaults: Mapping[str, Value] | None = None,
    read: str | Sequence[str] = (),
    file: GrowingFile | None = None,
) -> Command:
    r"""A training program to start for each trial, instead of a function.

    It prints one JSON object per measurement, `{"step": 400, "valid_error": 0.081}`; every other
    line is its log. `{"infeasible": "reason"}` ends the trial as infeasible, and
    `{"resumed_at": 300}`, before the first measurement, means that it resumes from its own
    checkpoint. True, False and None are written true, false and null; `booleans` declares another
    spelling of the first two, `"True/False"` or `"flag"`, for all hyperparameters or by name.
    `defaults`, or `{lr=0.01}` in the template, hold where a round does not name a hyperparameter.
    Everything of `{run.*}` is also in the environment: TUNEWRIGHT_SEED, TUNEWRIGHT_FOLDER and so
    on. docs/command_protocol.md has all of it.

    `read` is one or more regular expressions for a program that prints measurements in its own
    form; each named group is a metric, and `step` the step:

        tw.command("python train.py --lr={lr}",
                   read=r"step (?P<step>\d+): val loss (?P<val_loss>\S+)")

    `file` is a `GrowingFile` of the trial's folder that has them:
    CSV, TSV, JSON lines or trainer_state.json, read while the program runs.

    There is no shell: `|`, `>` and `$NAME` are refused; for them write `bash -c '...'`.

    Args:
        template: the command line; `{name}` is a hyperparameter, `{run.seed}` a fact of the trial.
        booleans: how to write True and False, for all hyperparameters or by name.
        defaults: hyperparameter -> its value where a round does not name it.
        read: regular expressions for a program with its own form of measurements.
        file: a file of the trial's folder that the program writes its measurements to.

    >>> command("train --amp={amp} --lr={lr=0.01}", booleans={"amp": "flag"}).default_values
    {'lr': 0.01}
    """
    lines = (read,) if isinstance(read, str) else tuple(read)
    return Command(template, booleans, {} if defaults is None else defaults, lines, file)


def text(value: Value) -> str:
    """A value as a program reads it that spells booleans as JSON does.

    >>> [text(value) for value in (True, None, 0.1, "adam")]
    ['true', 'null', '0.1', 'adam']
    """
    return Booleans().text("", value)


def overrides(configuration: Mapping[str, Value], spelled: Booleans | None = None) -> list[str]:
    """The configuration as Hydra's `name=value` words; text is quoted where Hydra would misread it.

    >>> overrides({"optimizer.lr": 0.1, "note": "a b", "flag": "true", "n": None})
    ['optimizer.lr=0.1', "note='a b'", "flag='true'", 'n=null']
    """
    spelled = spelled or Booleans()
    return [f"{name}={_hydra(name, value, spelled)}" for name, value in configuration.items()]


def as_config(configuration: Mapping[str, Value], facts: Mapping[str, Fact]) -> str:
    """The configuration and the run's facts as JSON that YAML readers read alike.

    Its keys are the template's field names. YAML 1.1 takes 1e-05 for text: it is written 1.0e-05.

    >>> print(as_config({"learning_rate": 1e-05}, {"seed": 7}))
    {
      "learning_rate": 1.0e-05,
      "run.seed": 7
    }
    """
    entries = {**configuration, **{f"run.{name}": fact for name, fact in facts.items()}}
    lines = [f"  {_yaml(name)}: {_yaml(value)}" for name, value in entries.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _yaml(value: Value) -> str:
    if isinstance(value, str):
        # JSON escapes rare characters in two halves, which YAML does not put together again
        return f'"{"".join(json.dumps(c, ensure_ascii=not c.isprintable())[1:-1] for c in value)}"'
    written = json.dumps(value)
    if isinstance(value, float) and "e" in written and "." not in written:
        return written.replace("e", ".0e")
    return written


def _hydra(name: str, value: Value, spelled: Booleans) -> str:
    if not isinstance(value, str):
        return spelled.text(name, value)
    if _PLAIN_WORD.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    # Hydra unescapes a backslash only before a quote or at the end, so double those alone
    escaped = re.sub(r"(\\*)('|$)", lambda m: m[1] * 2 + ("\\'" if m[2] else ""), value)
    return f"'{escaped}'"


def _flag(words: list[str], word: Word, given: bool) -> None:
    """Pass a flag that is there or not: `--amp={amp}`, or `--amp {amp}` with its name before."""
    name = "".join(word.texts).removesuffix("=")
    if not name and not (words and _is_flag(words[-1])):
        raise WorkloadError("command.flag_without_name", name=word.fields[0])
    if given and name:
        words.append(name)
    elif not given and not name:
        words.pop()


def _is_flag(word: str) -> bool:
    return word.startswith("-") and "=" not in word


def is_reserved(name: str) -> bool:
    """Whether a field of this name is filled by us, not with a hyperparameter."""
    return name in (CONFIG, _OVERRIDES) or name.startswith("run.")


def _word(text: str) -> Word:
    texts, fields = [""], []
    for literal, written, _, _ in Formatter().parse(text):
        texts[-1] += literal
        if written is not None:
            fields.append(written.partition("=")[0])
            texts.append("")
    return Word(tuple(texts), tuple(fields))


def _problems(program: Command) -> Iterator[Message]:
    if not isinstance(program.template, str):
        yield Message("command.not_text", {"template": program.template})
        return
    try:
        words = shlex.split(program.template)
    except ValueError as error:
        yield Message(
            "command.not_splittable", {"template": program.template, "error": str(error).lower()}
        )
        return
    if not words:
        yield Message("command.empty")
    if operators := for_a_shell(program.template):
        facts = {"found": list(operators), "instead": in_a_shell(program.template)}
        yield Message("command.shell", facts)
    yield from line_patterns.problems(program.read)
    if program.file is not None:
        yield from growing_file.problems(program.file, bool(program.read))
    for word in words:
        for problem in _word_problems(word):
            yield Message("command.problem", {"problem": problem.to_data()})


def _in_template(template: str) -> Iterator[tuple[str, Value]]:
    """The defaults that the template has, `{lr=0.01}`, read as a round file reads values."""
    for word in shlex.split(template):
        for _, written, _, _ in Formatter().parse(word):
            name, divider, value = (written or "").partition("=")
            if divider:
                yield name, read_value(value)


def _declaration_problems(program: Command) -> Iterator[Message]:
    """What is wrong with the defaults, and with flags that have no name."""
    if not isinstance(program.defaults, Mapping):
        yield Message("command.bad_defaults", {"defaults": program.defaults})
        return
    known = program._known
    for name, value in program.defaults.items():
        try:
            check_plain(value, f"default {name}")
        except DesignError as error:
            yield from error.problems
        if known is not None and name not in known:
            facts = {"name": name, "known": sorted(known), "of": "defaults"}
            yield Message("command.not_a_field", facts)
    given = dict(program.defaults)
    for name, value in _in_template(program.template):
        if name in given and not same_value(given[name], value):
            twice = {"name": name, "one": given[name], "other": value}
            yield Message("command.two_defaults", twice)
        given[name] = value
    # with one spelling for all, a flag without a name is refused when a boolean comes
    by_name = program.booleans if isinstance(program.booleans, Mapping) else {}
    before = ""
    for word in program.words:
        named = before if "".join(word.texts) == "" else "".join(word.texts)
        flag = [name for name in word.fields if by_name.get(name) == FLAG]
        if flag and (len(word.fields) > 1 or not named.startswith("-")):
            yield Message("command.flag_without_name", {"name": flag[0]})
        before = "" if word.fields else word.texts[0]


def _word_problems(word: str) -> Iterator[Message]:
    try:
        parts = list(Formatter().parse(word))
    except ValueError as error:
        yield Message("command.bad_braces", {"word": word, "error": error})
        return
    for _, written, form, conversion in parts:
        if written is None:
            continue
        field, default, _ = written.partition("=")
        if default and is_reserved(field):
            yield Message("command.default_of_ours", {"field": field, "word": word})
        if form or conversion:
            yield (Message("command.field_with_format", {"word": word, "field": field}))
        elif not field or field.isdigit():
            yield Message("command.field_without_name", {"word": word})
        elif field == _OVERRIDES and word != f"{{{_OVERRIDES}}}":
            yield Message("command.overrides_not_alone", {"word": word})
        elif field.startswith("run.") and field[4:] not in FACTS:
            facts = {"field": field, "near": nearest(field[4:], FACTS), "known": list(FACTS)}
            yield Message("command.unknown_fact", facts)
