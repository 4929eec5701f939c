"""Findings as markup: headline, evidence and actions, in a report and in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from tunewright.messages import Words, words

SIGNS = {"warn": "warn", "note": "note", "ok": "ok", "cannot_judge": "?"}
STYLE = """
.tunewright .findings{list-style:none;padding:0;margin:.2rem 0}
.tunewright .findings li{margin:.6rem 0;padding-left:4.2rem;position:relative}
.tunewright .sign{position:absolute;left:0;width:3.4rem;text-align:center;border-radius:3px;
 font-weight:600;font-size:.85rem;print-color-adjust:exact}
.tunewright .warn{background:#D55E00;color:#fff}
.tunewright .note{background:#CFE6F5;color:#003D60}
.tunewright .ok{background:#D5EFE6;color:#00513B}
.tunewright .cannot_judge{background:#e8e8e8;color:#444}
.tunewright .headline{display:block}
.tunewright .check{color:#666;font-size:.85rem;margin-right:.6rem}
.tunewright .evidence{display:block;color:#444;font-size:.92rem}
.tunewright .action{display:block;color:#444;font-size:.92rem}
.tunewright code{font:13px/1.4 ui-monospace,Menlo,Consolas,monospace;background:#f1f1f1;
 padding:.05rem .3rem;border-radius:3px;overflow-wrap:anywhere}
"""

Entry = tuple[Sequence[str], Words]  # the settings that it holds for, and what was found


def finding(
    verdict: str,
    check: str,
    entries: Iterable[Entry],
    actions: Iterable[tuple[str, str]] = (),
    section: str = "",
) -> str:
    """One question with one verdict: what was found for each setting, then what to do about all."""
    sign = f'<span class="sign {verdict}">{SIGNS[verdict]}</span>'
    where = f' title="{text(section)}"' if section else ""
    label = f'<span class="check"{where}>{text(check)}</span>'
    lines = []
    for place, (about, found) in enumerate(entries):
        of = f" <em>{text(', '.join(about))}</em>" if about else ""
        asked = label if place == 0 else ""
        said = f"{asked}<strong>{text(found.headline)}</strong>{of}"
        lines.append(f'<span class="headline">{said}</span>')
        lines += [f'<span class="evidence">{text(line)}</span>' for line in found.evidence]
    for code, does in actions:
        typed = f"<code>{text(code)}</code> " if code else ""
        lines.append(f'<span class="action">→ {typed}{text(does)}</span>')
    return f"<li>{sign}{''.join(lines)}</li>"


def alone(*entries: str) -> str:
    """Findings with the style they need, as a notebook shows them."""
    return (
        f'<style>{STYLE}</style><div class="tunewright"><ul class="findings">'
        f"{''.join(entries)}</ul></div>"
    )


def answer(name: str, headline: str, evidence: Iterable[str]) -> str:
    """A name with its answer and what that rests on, as a notebook shows them."""
    lines = "".join(f'<span class="evidence">{text(line)}</span>' for line in evidence)
    return (
        f'<style>{STYLE}</style><div class="tunewright"><span class="check">{text(name)}</span>'
        f"<strong>{text(headline)}</strong>{lines}</div>"
    )


def text(said: Any) -> str:
    """Words, or text from the database, harmless in a page."""
    return escape(words.one_line(str(said)), quote=True)
