"""Is training unstable, early or mid-way? Instability matters when it holds the rate down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.checks._better_half import Judged
from tunewright.checks._curve_question import Answer, CurveQuestion, ask, training_metric
from tunewright.checks._study_rule import IMMATERIAL, Reading, Statement
from tunewright.checks.spacing import SpacedCurves, tables
from tunewright.checks.unstable import diverged, episodes
from tunewright.finding import LegacyFinding as Finding
from tunewright.stats.spikes import LONGEST
from tunewright.store.results import Results
from tunewright.store.trial import Trial

JUST_ABOVE = 10.0  # times the best learning rate
FEWEST_ABOVE, NEAREST = 3, 20  # trials there

SECTION = "How can optimization failures be debugged and mitigated?"
FIXES = (  # in that section's order
    "learning rate warm-up, best against early instability: tunewright probe warmup",
    "gradient clipping, against early and mid-training instability: tunewright probe clip",
    "another optimizer: Adam can handle what momentum cannot",
    "residual connections and normalisation, with the norm last on the branch: x + Norm(f(x))",
    "the last layer of each residual branch initialised to zero",
    "a lower learning rate, as the last resort",
)


def remedies(results: Results) -> tuple[str, ...]:
    """The fixes, and how to see the instability closer."""
    return (*FIXES, f"to see it closer: tunewright probe stability {results.round.name}")


def instability(results: Results) -> list[Finding]:
    """Ask each study whether training is unstable in its better trials, or just above their rate.

    The best learning rate at the edge of divergence is judged with the infeasible trials.
    """
    question = CurveQuestion(
        "instability",
        training_metric(results),
        read=lambda _, table: _readings(results, table),
        answer=lambda judged, said: _answer(results, judged, said),
        longest=LONGEST,
        many="note",  # it matters where it keeps the best trials from a higher learning rate
        section=SECTION,
    )
    return ask(results, question)


@dataclass(frozen=True)
class Above:
    """The trials whose learning rate is above the best one, up to ten times, and how they fared."""

    rate: float  # the best trial's
    trials: int
    unstable: tuple[int | None, ...]  # numbers of those that diverged, spiked or rose
    early: int
    mid: int

    @property
    def speaks(self) -> bool:
        """Whether half of at least three are unstable: fixing that may allow a higher rate."""
        return self.trials >= FEWEST_ABOVE and 2 * len(self.unstable) >= self.trials


def just_above(results: Results, judged: Judged) -> Above | None:
    """How stable a study is just above its best learning rate; None if no rate was searched."""
    name = results.meaning.name("learning_rate")
    best = _rate(judged.ranked[0], name) if judged.ranked else None
    if best is None:
        return None
    ended = [t for t in results.of(judged.study) if t.status in ("completed", "infeasible")]
    above = [t for t in ended if best < (_rate(t, name) or 0.0) <= JUST_ABOVE * best]
    above = sorted(above, key=lambda trial: _rate(trial, name) or 0.0)[:NEAREST]
    unstable = [t.number for t in above if t.status == "infeasible" and diverged(results, t)]
    early, mid = 0, 0
    loss = results.meaning.name("train_loss")
    for table in tables([t for t in above if t.status == "completed"], loss, longest=LONGEST):
        found = episodes(results, table, lasting=True)
        for trial, own in zip(table.trials, found, strict=True):
            if own:
                unstable.append(trial.number)
                early, mid = early + own[0].early, mid + (not own[0].early)
    return Above(best, len(above), tuple(unstable), early, mid)


def _rate(trial: Trial, name: str) -> float | None:
    value = trial.configuration.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return float(value)


def _readings(results: Results, table: SpacedCurves) -> list[Reading]:
    readings = []
    for trial, own in zip(table.trials, episodes(results, table), strict=True):
        facts = {"trial": trial.number, "episodes": [episode.as_data() for episode in own]}
        z = max((episode.z for episode in own), default=IMMATERIAL)
        readings.append(Reading(trial, z, bool(own), table.values.shape[1], facts))
    return readings


def _answer(results: Results, judged: Judged, said: Statement) -> Answer:
    loss = results.meaning.name("train_loss")
    above = just_above(results, judged)
    evidence: dict[str, Any] = {"above_best_rate": None}
    if above is not None:
        evidence["above_best_rate"] = {
            "best_rate": above.rate,
            "trials": above.trials,
            "unstable": list(above.unstable),
            "early": above.early,
            "mid": above.mid,
        }
    if said.because:
        own = [episode for r in said.speakers for episode in r.facts["episodes"]]
        evidence["early"] = sum(episode["early"] for episode in own)
        evidence["mid"] = len(own) - evidence["early"]
        says = f"{loss} {_worst(own)} in {said.who}"
        return Answer(said.verdict, says, remedies(results), evidence)
    if above is not None and above.speaks:
        says = (
            f"{len(above.unstable)} of {above.trials} trials with up to ten times the best "
            f"learning rate ({above.rate:.3g}) are unstable: making them stable may allow a "
            "higher rate and a better result"
        )
        return Answer("note", says, remedies(results), evidence)
    return Answer("ok", f"{loss} is stable in the best trials", (), evidence)


def _worst(found: Sequence[dict[str, Any]]) -> str:
    """The clearest episode in words."""
    worst = max(found, key=lambda episode: float(episode["z"]))
    when = "early" if worst["early"] else "mid-training"
    if worst["kind"] == "spike":
        return f"spiked by {worst['height']:.0%} at step {worst['from_step']} ({when})"
    return f"rose and recovered between step {worst['from_step']} and {worst['to_step']} ({when})"
