"""What every probe has in common: how its short rounds are run, and how its answer is kept.

A probe asks one question by short experiments. Those that train go through `run_listed`, so they
are rounds of the store like any other: interrupted, they resume where they stopped; asked again,
they cost nothing. The answer is a frozen data class, an `Answer`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tunewright import messages
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.round_file import as_data
from tunewright.errors import NotFound
from tunewright.execution.run import supervise
from tunewright.execution.sources import sources
from tunewright.execution.workload import Purpose, Workload
from tunewright.facts import Facts, plain
from tunewright.messages import Message, Text
from tunewright.progress.watcher import Watcher
from tunewright.search.listed import Listed
from tunewright.search.search import Search
from tunewright.store.campaigns import PROBE
from tunewright.store.provenance import digest
from tunewright.store.results import Results
from tunewright.store.store import Store


class Answer(Facts):
    """What a probe found; each probe has a frozen data class of this kind.

    Its fields are the facts. `message` is the answer as a code with its facts, `settings` what to
    put into the configuration in the workload's own spelling (may be empty), and `missing` what a
    judgement would need (empty when the probe could judge).
    """

    probe: ClassVar[str] = ""  # the probe's name, as in tunewright.probes

    if TYPE_CHECKING:  # fields or properties of the data classes

        @property
        def message(self) -> Message: ...  # noqa: D102

        @property
        def settings(self) -> Mapping[str, Value]: ...  # noqa: D102

        @property
        def missing(self) -> tuple[Message, ...]: ...  # noqa: D102

    @property
    def headline(self) -> Text:
        """The answer in at most twelve words."""
        return messages.text(f"{self.message.code}.headline", self.message.facts)

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data: the fields, the message, the settings and what is missing."""
        common = {"message": self.message, "settings": self.settings, "missing": self.missing}
        return {"probe": self.probe, **super().to_data(), **plain(common)}

    def __str__(self) -> str:
        """Headline and sentence on one line."""
        return f"{self.headline}. {self.message}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Conclusion(Answer):
    """An answer whose message is fixed when it is made, as of most probes that train."""

    message: Message  # the answer as a code with its facts
    # what to put into the configuration, in the workload's own spelling
    settings: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    missing: tuple[Message, ...] = ()  # what kept it from an answer
    caveats: tuple[Message, ...] = ()  # what the answer rests on


def message_of(data: Mapping[str, Any] | str) -> Message:
    """A message as the store has it; a store of version 1 has its text."""
    if isinstance(data, str):
        return Message("probe.text", {"text": data})
    return Message(data["code"], {name: value for name, value in data.items() if name != "code"})


def with_probe_name(probe: str, round: Round, workload: Workload, code: str = "") -> Round:
    """The round under a name made of the probe and of all it asks, so that asking again finds it.

    A change of anything makes another round; the goal is only words. `code` separates it from a
    round of an earlier program.
    """
    words = ("name", "goal", "change")
    what = {name: value for name, value in as_data(round).items() if name not in words}
    about = [workload.name, str(workload.objective), what, *([code] if code else [])]
    whole = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    return dataclasses.replace(round, name=f"probe_{probe}_{whole[:8]}")


def run_probe(
    probe: str,
    round: Round,
    workload: Workload,
    search: Search | None = None,
    watch: Watcher | None = None,
) -> Results:
    """Run one of a probe's short rounds, resume it, or just read it if it is finished.

    Failed trials run again: a user who asks again has fixed the workload. What an earlier
    program did, before its source files changed, does not count.
    """
    named, of_probe = round_in_store(probe, round, workload), for_probe(workload)
    return supervise(named, of_probe, search=search, retry_failed=True, watch=watch, advise=False)


def for_probe(workload: Workload) -> Workload:
    """The workload with the purpose of its rounds, unless a campaign has named one."""
    if workload.purpose is not None:
        return workload
    return dataclasses.replace(workload, purpose=Purpose("", PROBE))


def round_in_store(probe: str, round: Round, workload: Workload) -> Round:
    """The round under the name by which the store has it, or will have it."""
    candidate = with_probe_name(probe, round, workload)
    now = sources(workload.train)
    if _ran_otherwise(candidate.name, workload, now):
        candidate = with_probe_name(probe, round, workload, digest(now))
    return candidate


def _ran_otherwise(name: str, workload: Workload, now: Mapping[str, str]) -> bool:
    """Whether a round of this name has trials of a program whose files differ from today's."""
    if not now:
        return False
    try:
        store = Store.open(workload.store, create=False)
    except NotFound:
        return False
    with store:
        if all(record.name != name for record in store.rounds()):
            return False
        recorded = [origin.sources for origin in store.results(name).origins.values()]
    return any(files and files != now for files in recorded)


def run_listed(
    probe: str,
    goal: Message,
    workload: Workload,
    configurations: Sequence[Mapping[str, Value]],
    fixed: Mapping[str, Value],
    watch: Watcher | None = None,
) -> Results:
    """Train each configuration once, in this order, with everything else fixed."""
    names = dict.fromkeys(name for setting in configurations for name in setting)
    nuisance = {
        name: list(dict.fromkeys(setting[name] for setting in configurations if name in setting))
        for name in names
    }
    round = Round(
        probe,
        goal=goal,
        scientific={},
        nuisance=nuisance,
        fixed=dict(fixed),
        trials_per_study=len(configurations),
    )
    return run_probe(probe, round, workload, Listed(list(configurations)), watch)


def keep(workload: Workload, answer: Answer) -> None:
    """Record an answer in the workload's store, as plain data about this workload."""
    with Store.open(workload.store) as store:
        add_answer(store, workload, answer.probe, as_document(answer))


def add_answer(store: Store, workload: Workload, name: str, answer: Mapping[str, Any]) -> int:
    """Record what a probe answered about a workload, for the campaign that asked; its key."""
    campaign = "" if workload.purpose is None else workload.purpose.campaign
    metric = workload.objective.metric
    return store.add_probe(name, workload.name, answer, metric=metric, campaign=campaign)


def as_document(answer: Answer) -> dict[str, Any]:
    """The answer as the store keeps it: plain data, without words."""
    return answer.to_data()
