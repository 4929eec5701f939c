"""Did all trials run the same code? The commonest real error of a comparison is that they did not.

Within a round the data split is the same for all trials by construction (`run.seeds.split`); what
is compared here is the rest: commit, uncommitted changes, package versions, Python, devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tunewright.finding import LegacyFinding as Finding
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.store.trial import Trial

SECTION = "Extracting insight from experimental results"
SHOWN = 20  # trials listed as evidence


def same_code(results: Results) -> list[Finding]:
    """Ask whether trials and repeats of the round differ in code, packages or device."""
    about, name = f"round {results.round.name}", results.round.name
    ended = [t for t in (*results.trials, *results.recorded_repeats) if t.ended]
    known = [(t, results.origins[t.identity]) for t in ended if t.identity in results.origins]
    if not known:
        says = "the record does not say which code the trials ran (imported, or told by hand)"
        write = (f'note the commit: tunewright note {name} "..."',)
        return [Finding("same_code", about, "cannot_judge", says, {}, write, SECTION)]
    facts = _facts([origin for _, origin in known])
    differing = {
        what: groups for what, values in facts.items() if len(groups := _groups(known, values)) > 1
    }
    evidence: dict[str, Any] = {
        "trials": len(known),
        "unknown": len(ended) - len(known),
        "differs": {
            what: {value: _numbers(group)[:SHOWN] for value, group in groups.items()}
            for what, groups in differing.items()
        },
    }
    if differing:
        says = "; ".join(_sentence(what, groups) for what, groups in differing.items())
        apart = [what for what, groups in differing.items() if _by_study(groups, known)]
        if apart:
            says += f". {apart[0].capitalize()} and setting cannot be told apart"
        remedies = (
            "compare only trials of the same code: run the older ones again in a new round",
            f"tunewright trial {name} N shows where a trial comes from",
        )
        return [Finding("same_code", about, "warn", says, evidence, remedies, SECTION)]
    origin = known[0][1]
    if not origin.commit:
        says = f"{len(known)} trials had the same packages and devices, but without a git "
        says += "repository nothing tells whether their code changed"
        advice = ("keep the training program in git: git init, git commit",)
        return [Finding("same_code", about, "note", says, evidence, advice, SECTION)]
    where = f"commit {origin.commit[:10]}"
    if origin.diff_sha256:
        where += " with the same uncommitted changes"
    says = f"{len(known)} trials ran the same code ({where}), packages and devices"
    return [Finding("same_code", about, "ok", says, evidence, (), SECTION)]


def _facts(origins: Sequence[Provenance]) -> dict[str, list[str]]:
    """What must not differ, one value for each trial."""
    return {
        "commit": [o.commit[:10] or "none" for o in origins],
        "uncommitted changes": [o.diff_sha256[:10] or "none" for o in origins],
        "package versions": _packages([o.packages for o in origins]),
        "python": [o.python for o in origins],
        "device": [_kinds(o.devices) for o in origins],
    }


def _packages(versions: Sequence[Mapping[str, str]]) -> list[str]:
    """The versions that are not the same everywhere."""
    names = sorted({name for own in versions for name in own})
    differ = [n for n in names if len({own.get(n, "none") for own in versions}) > 1]
    return [", ".join(f"{n} {own.get(n, 'none')}" for n in differ) for own in versions]


def _kinds(devices: Sequence[str]) -> str:
    """The devices without their order: which of several alike ones a trial got does not matter."""
    return ", ".join(sorted(set(devices))) or "none"


def _groups(
    known: Sequence[tuple[Trial, Provenance]], values: Sequence[str]
) -> dict[str, list[Trial]]:
    groups: dict[str, list[Trial]] = {}
    for (trial, _), value in zip(known, values, strict=True):
        groups.setdefault(value, []).append(trial)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def _numbers(group: Sequence[Trial]) -> list[str]:
    return [str(t.number) if t.number is not None else f"repeat of {t.parent}" for t in group]


def _sentence(what: str, groups: Mapping[str, Sequence[Trial]]) -> str:
    shown = [f"{len(group)} trials: {value}" for value, group in list(groups.items())[:3]]
    more = f", and {len(groups) - 3} more" if len(groups) > 3 else ""
    return f"trials differ in {what} ({'; '.join(shown)}{more})"


def _by_study(
    groups: Mapping[str, Sequence[Trial]], known: Sequence[tuple[Trial, Provenance]]
) -> bool:
    """Whether the code goes with the setting: every study has one kind, and they differ."""
    studies = {trial.study for trial, _ in known}
    if len(studies) < 2:
        return False
    kinds = [{trial.study for trial in group} for group in groups.values()]
    return sum(len(own) for own in kinds) == len(studies)
