"""Did all trials run the same code? The commonest real error of a comparison is that they did not.

Within a round the data split is the same for all trials by construction (`run.seeds.split`); what
is compared here is the rest: the program's own source files, tracked by git or not; what else
differs between commits or is uncommitted; package versions, Python, devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from tunewright.actions import Advise, Note, ShowTrial
from tunewright.finding import Evidence, Finding, Verdict, not_judged
from tunewright.messages import Message
from tunewright.store.provenance import (
    LONGEST_DIFF,
    Provenance,
    files_between_commits,
    prefix_of,
)
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_MOST_LISTED = 20  # trials listed as evidence
Part = Literal[
    "source files", "commit", "uncommitted changes", "package versions", "python", "device"
]
Known = Sequence[tuple[Trial, Provenance]]


@dataclass(frozen=True)
class SameOrigin:
    """The trials that ran the same commit, or the same versions."""

    value: str
    runs: int  # trials and repeats
    trials: tuple[int, ...]  # numbers of the first of them
    repeats_of: tuple[int, ...] = ()  # and which trials the first repeats among them repeat


@dataclass(frozen=True)
class Difference:
    """Something that must not differ between trials, and does."""

    part: Part
    groups: tuple[SameOrigin, ...]  # the largest first
    goes_with_setting: bool  # every study has one kind, so that neither can be blamed
    files: tuple[str, ...] = ()  # that differ, where that is known


@dataclass(frozen=True)
class SameCodeEvidence(Evidence):
    """Where the trials come from, and in what they differ."""

    runs: int  # trials and repeats whose origin is recorded
    unknown: int  # and those without
    commit: str  # of the first; empty without a git repository
    uncommitted: bool  # whether the first ran with uncommitted changes
    sources: int = 0  # source files of the program that were compared; 0: not recorded
    differences: tuple[Difference, ...] = ()


def same_code(results: Results) -> list[Finding]:
    """Ask whether trials and repeats of the round differ in code, packages or device."""
    name = results.round.name
    ended = [t for t in (*results.rows, *results.recorded_repeats) if t.ended]
    known = [(t, results.origins[t.identity]) for t in ended if t.identity in results.origins]
    if not known:
        why = Message("same_code.not_recorded")
        return [not_judged("same_code", name, why, Note(name), scope="round")]
    origins = [origin for _, origin in known]
    differences = tuple(
        _difference(part, groups, known, compared.files)
        for part, compared in _facts(origins).items()
        if len(groups := _groups(known, compared.values)) > 1
    )
    first = known[0][1]
    evidence = SameCodeEvidence(
        runs=len(known),
        unknown=len(ended) - len(known),
        commit=first.commit[:10],
        uncommitted=bool(first.diff_sha256),
        sources=len(first.sources) if all(origin.sources for origin in origins) else 0,
        differences=differences,
    )
    verdict, actions = _verdict_of(name, evidence)
    return [Finding.of_round("same_code", name, verdict, evidence, actions)]


def _verdict_of(
    name: str, evidence: SameCodeEvidence
) -> tuple[Verdict, tuple[Advise | ShowTrial, ...]]:
    if evidence.differences:
        smallest = evidence.differences[0].groups[-1]
        odd = (*smallest.trials, *smallest.repeats_of)[:1]
        return "warn", (Advise("rerun_same_code"), *(ShowTrial(name, number) for number in odd))
    return ("ok", ()) if evidence.commit or evidence.sources else ("note", (Advise("use_git"),))


def _difference(
    part: Part, groups: Mapping[str, Sequence[Trial]], known: Known, files: Sequence[str]
) -> Difference:
    origins = tuple(
        SameOrigin(
            value,
            len(group),
            tuple(t.number for t in group if t.number is not None)[:_MOST_LISTED],
            tuple(t.parent for t in group if t.number is None and t.parent is not None)[
                :_MOST_LISTED
            ],
        )
        for value, group in groups.items()
    )
    return Difference(part, origins, _by_study(groups, known), tuple(files))


def _facts(origins: Sequence[Provenance]) -> dict[Part, Compared]:
    """What must not differ, one value for each trial."""
    return {
        "source files": by_sources(origins),
        "commit": by_commit(origins),
        "uncommitted changes": by_diff(origins),
        "package versions": Compared(_packages([o.packages for o in origins])),
        "python": Compared([o.python for o in origins]),
        "device": _by_device(origins),
    }


def _packages(versions: Sequence[Mapping[str, str]]) -> list[str]:
    """The versions that are not the same everywhere."""
    names = sorted({name for versions_of_one in versions for name in versions_of_one})
    differ = [
        n
        for n in names
        if len({versions_of_one.get(n, "none") for versions_of_one in versions}) > 1
    ]
    return [
        ", ".join(f"{n} {versions_of_one.get(n, 'none')}" for n in differ)
        for versions_of_one in versions
    ]


def _by_device(origins: Sequence[Provenance]) -> Compared:
    """The kinds of GPUs, where all are recorded; which of several alike it was is no matter."""
    if not all(origin.devices for origin in origins):
        return Compared([_NONE] * len(origins))
    return Compared([", ".join(sorted(set(origin.devices))) for origin in origins])


def _groups(known: Known, values: Sequence[str]) -> dict[str, list[Trial]]:
    groups: dict[str, list[Trial]] = {}
    for (trial, _), value in zip(known, values, strict=True):
        groups.setdefault(value, []).append(trial)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def _by_study(groups: Mapping[str, Sequence[Trial]], known: Known) -> bool:
    """Whether the code goes with the setting: every study has one kind, and they differ."""
    studies = {trial.study for trial, _ in known}
    if len(studies) < 2:
        return False
    kinds = [{trial.study for trial in group} for group in groups.values()]
    return sum(len(studies_of) for studies_of in kinds) == len(studies)


# ---- which files of the program differ between trials? Round files and documents do not count.
#
# The program's own files are compared by the hashes that provenance has of them, tracked by git or
# not. With these known, another Python file cannot matter: the program does not import it. What
# else git sees counts, such as a configuration in YAML, unless it is a round, a report or a
# document.


_NONE = "none"
_NAMES = {"tunewright.toml", ".gitignore", ".gitattributes", "LICENSE"}
_ENDINGS = {".md", ".rst", ".html", ".db", ".sqlite", ".sqlite3", ".db-wal", ".db-shm", ".png"}
_FOLDERS = {"rounds", "reports", "docs"}
_CHANGED = "diff --git a/"  # begins what git shows of one file


@dataclass(frozen=True)
class Compared:
    """One value for each trial, and the files by which they differ."""

    values: Sequence[str]
    files: Sequence[str] = ()


def by_sources(origins: Sequence[Provenance]) -> Compared:
    """The program's own files; alike for all where they are not recorded."""
    if not all(origin.sources for origin in origins):
        return Compared([_NONE] * len(origins))
    names = sorted({name for origin in origins for name in origin.sources})
    differ = [n for n in names if len({o.sources.get(n) for o in origins}) > 1]
    return Compared([origin.program[:10] for origin in origins], differ)


def by_commit(origins: Sequence[Provenance]) -> Compared:
    """The commits, those that differ from the first in nothing that counts taken for the same."""
    folder = next((o.folder for o in origins if o.commit), "")

    def files_between(first: Provenance, other: Provenance) -> Sequence[str] | None:
        return files_between_commits(folder, first.commit, other.commit)

    return _compare(origins, lambda o: o.commit, files_between)


def by_diff(origins: Sequence[Provenance]) -> Compared:
    """The uncommitted changes, as far as they count."""
    return _compare(origins, lambda o: o.diff_sha256, _diffs_apart)


def _compare(
    origins: Sequence[Provenance],
    value: Callable[[Provenance], str],
    changed: Callable[[Provenance, Provenance], Sequence[str] | None],
) -> Compared:
    first, known = origins[0], all(origin.sources for origin in origins)
    first_name = value(first)[:10] or _NONE
    seen: dict[str, str] = {value(first): first_name}  # a commit or a diff -> how it is called
    differ: dict[str, None] = {}
    for origin in origins:
        if value(origin) in seen:
            continue
        files = changed(first, origin)
        counting = None if files is None else list(_counting(files, origins if known else ()))
        # where git does not know, the hashes of the program's own files have to do
        alike = known if counting is None else not counting
        seen[value(origin)] = first_name if alike else value(origin)[:10] or _NONE
        differ |= dict.fromkeys(counting or ())
    return Compared([seen[value(origin)] for origin in origins], tuple(differ))


def _counting(files: Sequence[str], known: Sequence[Provenance]) -> Iterator[str]:
    """Of files that differ those that may change what a trial does; `known` has its sources."""
    prefix = prefix_of(known[0].folder) if known else ""
    for name in files:
        path = PurePosixPath(name)
        aside = path.name in _NAMES or path.suffix in _ENDINGS or _FOLDERS & set(path.parts[:-1])
        stored = any(part.endswith(".trials") for part in path.parts)
        # a Python file of the working folder is judged by its hash, or is not imported
        judged = bool(known) and path.suffix == ".py" and name.startswith(prefix)
        if not (aside or stored or judged):
            yield name


def _diffs_apart(first: Provenance, other: Provenance) -> Sequence[str] | None:
    """The files whose uncommitted changes differ; None when a diff was cut."""
    if max(len(first.diff), len(other.diff)) >= LONGEST_DIFF:
        return None
    ours, theirs = _by_file(first.diff), _by_file(other.diff)
    differ = [n for n in dict.fromkeys((*ours, *theirs)) if ours.get(n) != theirs.get(n)]
    return differ or None  # the checksums differ, so something does


def _by_file(diff: str) -> Mapping[str, str]:
    """What git shows of each file."""
    by_file: dict[str, str] = {}
    name = ""
    for line in diff.splitlines():
        if line.startswith(_CHANGED):
            name = line[len(_CHANGED) :].partition(" b/")[0]
        by_file[name] = f"{by_file.get(name, '')}{line}\n"
    return by_file
