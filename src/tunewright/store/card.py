"""The verdict card of a round for notebooks: goal, counts, best; escaped text and no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright.messages import Message, markup, words
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from tunewright.store.results import Results

MOST_STUDIES = 12
MOST_SETTINGS = 30  # hyperparameters of the best trial


def card(results: Results) -> str:
    """A small HTML card that survives a saved or untrusted notebook."""
    facts = {"counts": dict(results.counts), "trials": len(results.trials)}
    lines = [results.round.asks, Message("card.results", facts).text, *_best(results)]
    lines += [
        Message(
            "card.limits",
            {"text": "; ".join(caveat.text for caveat in results.round.caveats)[:400]},
        ).text
    ] * bool(results.round.caveats)
    return markup.card(results.round.name, lines, table=_studies(results))


def _best(results: Results) -> list[str]:
    objective = results.objective
    if not (top := results.top(1)):
        return [Message("card.none_completed", {"objective": str(objective)}).text]
    best = top[0]
    settings = dict(list(best.configuration.items())[:MOST_SETTINGS])
    facts = {"metric": objective.metric, "value": best.value, "step": best.best_step}
    return [Message("answer.best", {**facts, "trial": best.number, "settings": settings}).text]


def _studies(results: Results) -> markup.Table | None:
    """The best of each study, where there are several."""
    if len(results.studies) < 2:
        return None
    rows = []
    for study in results.studies[:MOST_STUDIES]:
        ranked = [t for t in results.of(study) if t.value is not None]
        sign = results.objective.sign
        best: Trial | None = max(ranked, key=lambda t: sign * (t.value or 0.0), default=None)
        shown = "-" if best is None else words.number(best.value)
        rows.append((study.label, shown, "-" if best is None else best.number))
    names = ("study", "best", "trial")
    columns = tuple(Message(f"card.label.{name}").text for name in names)
    return markup.Table(columns, tuple(rows))
