r"""Patterns for a log that looks like measurements, proposed when a program has logged nothing.

    "step 0: train loss 4.1820, val loss 4.1823"
    -> \bstep\s+(?P<step>\d+):\s+train\s+loss\s+(?P<train_loss>[-+.\w]+),\s+val\s+loss\s+...

Numbers that follow a metric's name are metrics, the number that follows `step`, `iter` or `epoch`
is the step. What is proposed was tried on the log: it reads it, and steps do not go back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tunewright.execution.line_patterns import COLOURS, LONGEST, STEP, LineReader, problems

_WHOLE = r"\d+"
_NUMBER = r"[-+.\w]+"  # in a pattern: also nan, inf and 1e-3
_ANY = r".*?"
_FULL = r"100%\|"
_MOST_LINES = 400  # of the log that are looked at
MOST = 3  # patterns
_VALUE = re.compile(
    r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]*\w)|(?<!\w)(?:nan|inf)(?!\w)"
)
_BREAKS = re.compile(r"[^\w\s./@-]|\s-+\s|\s{3,}|\t")  # a name does not reach across these
STEPS = ("step", "steps", "iter", "iters", "iteration", "global_step", "it", "update", "epoch")
_HINTS = re.compile(
    r"(?:^|_)(?:loss|acc|accuracy|err|error|ppl|perplexity|f1|auc|bleu|rouge\w*|mae|mse|rmse|score|reward"
    r"|return|precision|recall|iou|map|nll|bpb|bpc|wer|cer|metric|r2)\d*(?:$|_)"
)
_ALONG = re.compile(r"(^|_)(lr|learning_rate|grad_norm|norm)$")  # worth reading with a metric
_QUALIFIERS = {
    *("train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "dev"),
    *("best", "avg", "average", "mean", "running", "total", "top", "top1", "top5", "ema"),
}
SAME = {"valid": "val", "validation": "val", "eval": "val", "evaluation": "val", "dev": "val"}
SAME |= {"acc": "accuracy", "err": "error", "training": "train", "ppl": "perplexity"}


@dataclass(frozen=True)
class Field:
    """A number of a line that a pattern captures."""

    name: str
    key: str  # as the line writes it
    begin: int  # where the key begins
    number: int  # where the number begins ...
    end: int  # ... and ends
    value: float


@dataclass(frozen=True)
class Line:
    """A line with the fields that were found in it."""

    text: str
    fields: tuple[Field, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its metrics, in order."""
        return tuple(field.name for field in self.fields if field.name != STEP)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its fields, in order."""
        return tuple(field.name for field in self.fields)


def propose(log: str, metric: str) -> tuple[str, ...]:
    """Patterns that read this log, those with the metric first; none if it has no measurements.

    >>> propose("step 0: val loss 4.1823\\nstep 10: val loss 3.9", "val_loss")
    ('\\\\bstep\\\\s+(?P<step>\\\\d+):\\\\s+val\\\\s+loss\\\\s+(?P<val_loss>[-+.\\\\w]+)',)
    """
    texts = [COLOURS.sub("", line).strip() for line in re.split(r"[\r\n]+", log)]
    texts = [text for text in texts if text and len(text) <= LONGEST][:_MOST_LINES]
    lines = [line for text in texts if (line := _line(text, metric)).fields]
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        if line.metrics:
            groups.setdefault(line.names, []).append(line)
    ranked = sorted(groups.items(), key=lambda group: (metric not in group[0], -len(group[1])))
    chosen: list[str] = []
    if ranked and STEP not in ranked[0][0]:
        chosen += _clock(lines, ranked)
    for names, members in ranked:
        if len(chosen) == MOST:
            break
        if not set(names) - {STEP} - _names(chosen):
            continue  # another line has them already
        pattern = _pattern(members)
        if pattern and _reads([*chosen, pattern], texts):
            chosen.append(pattern)
    return tuple(chosen) if _names(chosen) - {STEP} and _reads(chosen, texts) else ()


def _names(patterns: Iterable[str]) -> set[str]:
    return {name for pattern in patterns for name in re.compile(pattern).groupindex}


def _clock(
    lines: Sequence[Line], ranked: Sequence[tuple[tuple[str, ...], list[Line]]]
) -> list[str]:
    """A pattern that counts for lines without a step: one of steps alone, else the commonest."""
    alone = [line for line in lines if line.names == (STEP,)]
    elsewhere = any(STEP in names for names, _ in ranked)
    counts = len({line.fields[0].value for line in alone}) > 1  # "accumulation steps: 1" does not
    if alone and (counts or not elsewhere) and (pattern := _pattern(alone)):
        return [pattern]
    if elsewhere:
        return []  # a line with metrics has the step
    commonest = max(ranked, key=lambda group: len(group[1]))[1]
    pattern = _pattern(commonest)
    return [pattern] if pattern else []


def _reads(patterns: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether the patterns are fine, read something, and steps do not go back."""
    if any(True for _ in problems([*patterns, "(?P<any>x)"])):  # a step alone may come first
        return False
    reader, last, some = LineReader(patterns), 0, False
    for text in texts:
        reading = reader.read(text)
        if reading is None:
            continue
        if reading.step < last:
            return False
        last, some = reading.step, True
    return some


# ---- one line


def _line(text: str, metric: str) -> Line:
    fields: list[Field] = []
    end = 0
    for match in _VALUE.finditer(text):
        field = _field(text, end, match, metric)
        if field is not None and field.name not in {known.name for known in fields}:
            fields.append(field)
        end = match.end()
    if all(_ALONG.search(known.name) or known.name == STEP for known in fields):
        fields = [known for known in fields if known.name == STEP]  # a rate alone is no measurement
    return Line(text, tuple(fields))


def _field(text: str, begin: int, match: re.Match[str], metric: str) -> Field | None:
    """The field of a number, by the words between the number before and this one."""
    between = text[begin : match.start()]
    trimmed = between.rstrip(" \t:='\"")
    if not trimmed or len(trimmed) == len(between):
        return None
    parts = list(_BREAKS.finditer(trimmed))
    start = parts[-1].end() if parts else 0
    words = list(re.finditer(r"[A-Za-z][\w./@-]*", trimmed[start:]))
    if not words or words[-1].end() != len(trimmed[start:]):
        return None
    named = _name_in([word.group() for word in words], match.group(), metric)
    if named is None:
        return None
    name, used = named
    first = begin + start + words[-used].start()
    key = text[first : begin + len(trimmed)]
    return Field(name, key, first, match.start(), match.end(), float(match.group()))


def _name_in(words: list[str], number: str, metric: str) -> tuple[str, int] | None:
    """The metric's name (or `step`) in the last of these words, and how many of them are used."""
    last = _plain(words[-1])
    if last in STEPS and number.isdigit():
        return STEP, 1
    used = 1
    while used < len(words) and _plain(words[-used - 1]) in _QUALIFIERS:
        used += 1
    name = "_".join(_plain(word) for word in words[-used:])
    if _alike(name, metric) and metric.isidentifier():
        return metric, used
    hinted = _HINTS.search(name) or _ALONG.search(name)
    return (name, used) if hinted and name.isidentifier() and name != STEP else None


def _plain(word: str) -> str:
    return re.sub(r"\W+", "_", word).strip("_").lower()


def _alike(name: str, metric: str) -> bool:
    def canonical(text: str) -> list[str]:
        return [SAME.get(part, part) for part in _plain(text).split("_")]

    return canonical(name) == canonical(metric)


# ---- several lines of one kind


def _pattern(lines: Sequence[Line]) -> str:
    """One pattern for lines with the same fields; empty if they differ too much."""
    pattern = r"\b"
    full = any("100%|" in line.text for line in lines)
    lines = [line for line in lines if not full or "100%|" in line.text]
    begins = [line.fields[0].begin for line in lines]
    for place, field in enumerate(lines[0].fields):
        ends = [line.fields[place].number for line in lines]
        between = {_literal(line.text[b:e]) for line, b, e in zip(lines, begins, ends, strict=True)}
        if len(between) == 1:
            pattern += between.pop()
        else:
            keys = {
                _literal(line.text[line.fields[place].begin : line.fields[place].number])
                for line in lines
            }
            if len(keys) > 1:
                return ""
            # of a progress bar only the whole one: before it, values are the last epoch's
            pattern += (_ANY + _FULL if full else "") + _ANY + keys.pop()
        pattern += f"(?P<{field.name}>{_WHOLE if field.name == STEP else _NUMBER})"
        begins = [line.fields[place].end for line in lines]
    return pattern


def _literal(text: str) -> str:
    """Text as a pattern: other numbers may change, and so may the width of spaces."""
    pattern, end = "", 0
    for match in re.finditer(rf"{_VALUE.pattern}|\s+", text):
        pattern += re.escape(text[end : match.start()])
        pattern += r"\s+" if match.group().isspace() else _NUMBER
        end = match.end()
    return pattern + re.escape(text[end:])
