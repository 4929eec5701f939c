"""Where the results of a report come from: time, code, hosts, versions, as far as recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tunewright.store.results import Results
from tunewright.store.trial import Trial

SHORT = 10  # characters of a commit


@dataclass(frozen=True)
class Origin:
    """What was spent, and where and with what the trials ran."""

    seconds: float  # of training, repeats included
    commits: tuple[str, ...] = ()  # in the order they were used
    changed: bool = False  # whether uncommitted changes were there
    hosts: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()  # of Tunewright


def origin_of(results: Results) -> Origin:
    """The origin of a round's trials and repeats."""
    trials: list[Trial] = [*results.recorded, *results.recorded_repeats]
    known = {trial.identity for trial in trials}
    found = [own for identity, own in sorted(results.origins.items()) if identity in known]
    return Origin(
        seconds=sum(trial.seconds for trial in trials),
        commits=_each(own.commit[:SHORT] for own in found),
        changed=any(own.diff or own.left_out for own in found),
        hosts=_each(own.host for own in found),
        devices=_each(device for own in found for device in own.devices),
        versions=_each(str(own.packages.get("tunewright", "")) for own in found),
    )


def _each(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))
