"""Did all trials run the same code? The commonest real error of a comparison is that they did not.

Within a round the data split is the same for all trials by construction (`run.seeds.split`); what
is compared here is the rest: the program's own source files, tracked by git or not; what else
differs between commits or is uncommitted; package versions, Python, devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tunewright.actions import Advise, Note, ShowTrial
from tunewright.checks._program import Compared, by_commit, by_diff, by_sources
from tunewright.finding import Evidence, Finding, NotJudged, Verdict
from tunewright.messages import Message
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_SHOWN = 20  # trials listed as evidence
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
        why = NotJudged(Message("same_code.not_recorded"))
        return [Finding.of_round("same_code", name, "cannot_judge", why, (Note(name),))]
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
    verdict, actions = _judged(name, evidence)
    return [Finding.of_round("same_code", name, verdict, evidence, actions)]


def _judged(
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
            tuple(t.number for t in group if t.number is not None)[:_SHOWN],
            tuple(t.parent for t in group if t.number is None and t.parent is not None)[:_SHOWN],
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
        "device": Compared([_kinds(o.devices) for o in origins]),
    }


def _packages(versions: Sequence[Mapping[str, str]]) -> list[str]:
    """The versions that are not the same everywhere."""
    names = sorted({name for own in versions for name in own})
    differ = [n for n in names if len({own.get(n, "none") for own in versions}) > 1]
    return [", ".join(f"{n} {own.get(n, 'none')}" for n in differ) for own in versions]


def _kinds(devices: Sequence[str]) -> str:
    """The devices without their order: which of several alike ones a trial got does not matter."""
    return ", ".join(sorted(set(devices))) or "none"


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
    return sum(len(own) for own in kinds) == len(studies)
