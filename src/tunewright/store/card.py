"""The verdict card of a round for notebooks: goal, counts, best; escaped text and no script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from tunewright.store.results import Results

_BOX = "border:1px solid #8886;border-radius:6px;padding:8px 12px;max-width:48em;line-height:1.5"
_FAINT = "opacity:.7"


def card(results: Results) -> str:
    """A small HTML card that survives a saved or untrusted notebook."""
    counts = ", ".join(f"{n} {status}" for status, n in results.counts.items()) or "no trials yet"
    rows = [
        f"<b>{_text(results.round.name)}</b> <i>{_text(results.round.asks)}</i>",
        f"{_text(counts)} of {len(results.trials)} trials",
        *_best(results),
    ]
    if results.round.caveats:
        caveats = "; ".join(results.round.caveats)
        rows.append(f'<span style="{_FAINT}">every conclusion {_text(caveats, 400)}</span>')
    body = "".join(f"<div>{row}</div>" for row in rows)
    return f'<div style="{_BOX}">{body}</div>'


def _best(results: Results) -> list[str]:
    objective = results.objective
    top = results.top(1)
    if not top:
        return [f"no completed trial to {_text(str(objective))}"]
    lines = [
        f"best <b>{_value(top[0])}</b> {_text(objective.metric)}, trial {top[0].number}: "
        f"{_text(_configuration(top[0]), 400)}"
    ]
    if len(results.studies) > 1:
        for study in results.studies[:12]:
            ranked = [t for t in results.of(study) if t.value is not None]
            best = min(ranked, key=lambda t: -objective.sign * (t.value or 0.0), default=None)
            shown = (
                "no completed trial" if best is None else f"{_value(best)} (trial {best.number})"
            )
            lines.append(f'<span style="{_FAINT}">{_text(study.label)}</span> {shown}')
    return lines


def _value(trial: Trial) -> str:
    return f"{trial.value:.4g}"


def _configuration(trial: Trial) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in trial.configuration.items()
    )


def _text(text: str, longest: int = 200) -> str:
    return escape(text if len(text) <= longest else text[: longest - 3] + "...")
