"""Numbers, durations and curves in words: what users read on a screen.

Four significant digits here; `--json` and exports carry all of them.
"""

from __future__ import annotations

import itertools
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from tunewright.messages._language import catalogue

SIGNIFICANT_DIGITS = 4
BLOCKS = "▁▂▃▄▅▆▇█"
MINUTE, HOUR, DAY = 60, 3600, 86400


def with_sd(value: float, sd: float) -> str:
    """A value with its standard deviation.

    >>> with_sd(0.0812, 0.004)
    '0.0812 ± 0.004'
    """
    return f"{number(value)} ± {number(sd)}"


def phrase(name: str, /, **parts: Any) -> str:
    """A phrase of the reader's language with its parts filled in.

    >>> phrase("from_to", low="1 s", high="2 s")
    '1 s to 2 s'
    """
    return str(catalogue().PHRASES[name].format(**parts))


def objective(text: str) -> str:
    """An objective as `str` has it, in the reader's language.

    >>> objective("minimize valid_error (best)")
    'minimize valid_error (best)'
    """
    verb, _, metric = text.partition(" ")
    return phrase(verb, metric=metric) if verb in ("minimize", "maximize") else text


def place(text: str) -> str:
    """A trial of a round as `str` has it, in the reader's language.

    >>> place("decay trial 14")
    'decay trial 14'
    """
    round, _, trial = text.rpartition(" trial ")
    return phrase("place", round=round, trial=trial) if round and trial.isdecimal() else text


def number(x: float | None) -> str:
    """A number with four significant digits, short enough for a table.

    >>> [number(x) for x in (0.202377, 2.71e-4, 12, 1234567.0, -0.0, float("nan"), None)]
    ['0.2024', '2.71e-4', '12', '1.235e6', '0', 'nan', '-']
    """
    if x is None:
        return "-"
    if isinstance(x, int):
        return str(x)
    if not math.isfinite(x):
        return str(x)
    if x == 0:
        return "0"
    if 1e-3 <= abs(x) < 10**5:
        digits = f"{x:.{SIGNIFICANT_DIGITS}g}"
        return digits if "e" not in digits else f"{x:.0f}"
    mantissa, exponent = f"{x:.{SIGNIFICANT_DIGITS - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def probability(p: float) -> str:
    """A probability in per cent, never rounded to certainty.

    >>> [probability(p) for p in (0.965, 0.78, 0.9999, 0.0001)]
    ['96.5 %', '78 %', 'over 99.9 %', 'below 0.1 %']
    """
    if 0.999 < p < 1:
        return phrase("over", one="99.9 %")
    if 0 < p < 0.001:
        return phrase("below", one="0.1 %")
    return f"{100 * p:.3g} %"


def rate(per_second: float) -> str:
    """A throughput with four significant digits.

    >>> rate(19005.4), rate(3.14159)
    ('19,010', '3.142')
    """
    if per_second < 1000:
        return f"{per_second:.4g}"
    return f"{float(f'{per_second:.4g}'):,.0f}"


def two_digits(x: float) -> str:
    """A batch size or a number of steps that is not known any better.

    >>> two_digits(131.7), two_digits(3.44)
    ('130', '3.4')
    """
    digits = 1 - math.floor(math.log10(x))
    return f"{round(x, digits):.10g}"


def value(x: Any) -> str:
    """The value of a hyperparameter.

    >>> [value(x) for x in (0.0130001, True, "adam", None, 128)]
    ['0.013', 'True', 'adam', 'None', '128']
    """
    if isinstance(x, float):
        return number(x)
    return printable(str(x))


def range_of(data: Any) -> str:
    """A range, given as a round file writes it; four digits are enough.

    >>> range_of({"log": [1.0062094353842928e-08, 9.314682827219622]}), range_of(["adam", 2])
    ('log(1.006e-08, 9.315)', '[adam, 2]')
    >>> range_of({"integers": [1, 64], "log": True})
    'integers(1, 64, log=True)'
    """
    if not isinstance(data, Mapping):
        return f"[{', '.join(value(choice) for choice in data)}]"
    (kind, (low, high)), *flags = data.items()
    ends = ", ".join(str(x) if isinstance(x, int) else f"{x:.4g}" for x in (low, high))
    return f"{kind}({ends}{''.join(f', {name}={flag}' for name, flag in flags)})"


def configuration(settings: Mapping[str, Any], without: Sequence[str] = ()) -> str:
    """A configuration on one line, leaving out what the reader knows.

    >>> configuration({"learning_rate": 0.013, "beta1": 0.9, "layers": 2}, without=["layers"])
    'learning_rate 0.013  beta1 0.9'
    """
    pairs = (f"{printable(k)} {value(v)}" for k, v in settings.items() if k not in without)
    return "  ".join(pairs)


def settings(configuration: Mapping[str, Any]) -> str:
    """A configuration inside a sentence or a cell.

    >>> settings({"optimizer": "adam", "learning_rate": 0.0130001})
    'optimizer=adam, learning_rate=0.013'
    """
    return ", ".join(f"{printable(k)}={value(v)}" for k, v in configuration.items())


def duration(seconds: float) -> str:
    """A length of time in its two largest units.

    >>> [duration(s) for s in (0.043, 4.2, 59.6, 200, 10200, 100000)]
    ['0.04 s', '4.2 s', '1m00', '3m20', '2h50', '1d03h']
    """
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < MINUTE - 0.5:
        return f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE:02d}"
    if whole < DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02d}"
    return f"{whole // DAY}d{whole % DAY // HOUR:02d}h"


def rough_duration(seconds: float) -> str:
    """A length of time in one unit.

    >>> rough_duration(42), rough_duration(600), rough_duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def duration_range(low_s: float, high_s: float) -> str:
    """Two lengths of time as a range; an estimate is never one number.

    >>> duration_range(10200, 12600), duration_range(61, 61.2)
    ('2h50 to 3h30', 'about 1m01')
    """
    low, high = duration(low_s), duration(high_s)
    return phrase("about", one=low) if low == high else phrase("from_to", low=low, high=high)


def megabytes(mb: float) -> str:
    """An amount of memory.

    >>> megabytes(412.3), megabytes(23500)
    ('412 MB', '23.5 GB')
    """
    return f"{mb:.0f} MB" if mb < 1000 else f"{mb / 1000:.3g} GB"


def count(n: int, what: str, plural: str | None = None) -> str:
    """A count with its noun.

    >>> count(1, "trial"), count(3, "study", "studies")
    ('1 trial', '3 studies')
    """
    if counted := catalogue().COUNTED.get(what):
        return str(counted.format(n=n))
    return f"{n} {what if n == 1 else plural or what + 's'}"


def few(names: Sequence[Any], most: int = 8) -> str:
    """The first of some names, and how many more there are.

    >>> few(["a", "b"]), few(list("abcd"), most=2)
    ('a, b', 'a, b and 2 more')
    """
    first = ", ".join(value(name) for name in names[:most])
    more = len(names) - most
    return first if more <= 0 else phrase("and_more", shown=first, more=more)


def printable(text: str) -> str:
    r"""Text from a record or a program, harmless to a terminal: control characters are shown.

    >>> printable("best \x1b[31mever\x00\n")
    'best \\x1b[31mever\\x00\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable_lines(text: str) -> str:
    r"""As `printable`, keeping line breaks and tabs: for log tails and tracebacks."""
    lines = text.expandtabs(4).splitlines()
    return "\n".join(printable(line) for line in lines)


def one_line(text: str) -> str:
    r"""Text on one line, harmless to a terminal.

    >>> one_line("two\n  lines")
    'two lines'
    """
    return printable(" ".join(text.split()))


def shell_word(text: str) -> str:
    """A name as it is typed in a command line.

    >>> shell_word("weight_decay"), shell_word("my round")
    ('weight_decay', "'my round'")
    """
    return shlex.quote(printable(text))


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """A curve as one line of blocks, by the mean of each part; `x` marks non-finite parts.

    >>> sparkline([4, 3, 2, 1])
    '█▆▃▁'
    >>> sparkline([1.0, float("nan")]), sparkline([2, 2]), sparkline([])
    ('▁x', '▁▁', '')
    """
    parts = min(width, len(values))
    edges = [len(values) * part // parts for part in range(parts + 1)] if parts else [0]
    means = []
    for low, high in itertools.pairwise(edges):
        part = [float(v) for v in values[low:high]]
        means.append(sum(part) / len(part))
    finite = [m for m in means if math.isfinite(m)]
    if not finite:
        return "x" * len(means)
    bottom, span = min(finite), max(finite) - min(finite)
    highest = len(BLOCKS) - 1

    def block(mean: float) -> str:
        if not math.isfinite(mean):
            return "x"
        if span == 0 or not math.isfinite(span):
            return BLOCKS[0]
        return BLOCKS[min(highest, math.floor((mean - bottom) / span * highest + 0.5))]

    return "".join(block(mean) for mean in means)


# ---- what a workload declares, in Python and as a line of tunewright.toml


TABLES = ("means", "off")  # of the workload; `workload` itself holds single settings


def as_setting(table: str, name: str, value: Any = None) -> str:
    """A declaration as the project's file writes it.

    >>> as_setting("means", "train_loss", "train/loss")
    'train_loss = "train/loss" under [workload.means] in tunewright.toml'
    >>> as_setting("workload", "deterministic", True)
    'deterministic = true under [workload] in tunewright.toml'
    """
    where = f"workload.{table}" if table in TABLES else table
    return phrase("setting", line=f"{name} = {_value(value)}", where=where)


def as_argument(table: str, name: str, value: Any = None) -> str:
    """The same as Python writes it, an argument of `tw.Workload`.

    >>> as_argument("means", "train_loss", "train/loss"), as_argument("off", "schedule")
    ('means={"train_loss": "train/loss"}', 'off={"schedule": ...}')
    >>> as_argument("workload", "deterministic", True)
    'deterministic=True'
    """
    literal = str(value) if isinstance(value, bool) else _value(value)
    return f'{table}={{"{name}": {literal}}}' if table in TABLES else f"{name}={literal}"


def read_value(text: str) -> Any:
    """The value that a format field writes: JSON, or else a text; None for an empty one.

    >>> [read_value(text) for text in ("true", "0.0", "constant", "")]
    [True, 0.0, 'constant', None]
    """
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _value(value: Any) -> str:
    if value is None:
        return "..."
    if isinstance(value, Sequence) and not value:
        return "[...]"
    return json.dumps(value, ensure_ascii=False)
