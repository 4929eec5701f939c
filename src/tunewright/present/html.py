"""A report as one HTML file: no script, no outside host, opens from disk, prints.

Everything that came from a record is text here: names and notes are escaped, and the page forbids
itself to load or run anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from tunewright.errors import MissingExtra
from tunewright.finding import Finding, is_about_round
from tunewright.messages import words
from tunewright.present.answer import Answer
from tunewright.present.chapters import Chapter
from tunewright.present.figures.figure import Figure
from tunewright.present.trial_rows import TrialRows
from tunewright.store.results import Results

SIGNS = {"warn": "warn", "note": "note", "ok": "ok", "cannot_judge": "?"}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
.tunewright{font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:#1a1a1a;
 background:#fff;max-width:76rem;margin:0 auto;padding:1.2rem}
.tunewright h1{font-size:1.6rem;margin:0 0 .2rem}
.tunewright h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid #ddd}
.tunewright h3{font-size:1rem;margin:1rem 0 .2rem}
.tunewright .asked{font-size:1.1rem;font-style:italic;margin:0 0 .8rem}
.tunewright .verdict{border:1px solid #ccc;border-left:6px solid #009E73;border-radius:4px;
 padding:.6rem 1rem;background:#fafafa}
.tunewright .verdict.warned{border-left-color:#D55E00}
.tunewright .verdict.unjudged{border-left-color:#999}
.tunewright ul{margin:.2rem 0;padding-left:1.3rem}
.tunewright .findings{list-style:none;padding:0}
.tunewright .findings li{margin:.35rem 0;padding-left:4.2rem;text-indent:-4.2rem}
.tunewright .findings li *{text-indent:0}
.tunewright .sign{display:inline-block;width:3.4rem;margin-right:.8rem;text-align:center;
 border-radius:3px;font-weight:600;font-size:.85rem;text-indent:0;print-color-adjust:exact}
.tunewright .warn{background:#D55E00;color:#fff}
.tunewright .note{background:#CFE6F5;color:#003D60}
.tunewright .ok{background:#D5EFE6;color:#00513B}
.tunewright .cannot_judge{background:#e8e8e8;color:#444}
.tunewright .said{display:block}
.tunewright .advice{display:block;color:#444}
.tunewright code{font:13px/1.4 ui-monospace,Menlo,Consolas,monospace;background:#f1f1f1;
 padding:.05rem .3rem;border-radius:3px;overflow-wrap:anywhere}
.tunewright figure{margin:.6rem 0;break-inside:avoid}
.tunewright figcaption{color:#444;font-size:.88rem;max-width:60rem}
.tunewright .wide{overflow-x:auto}
.tunewright table{border-collapse:collapse;font-size:.85rem}
.tunewright caption{text-align:left;color:#444;padding:.3rem 0}
.tunewright th,.tunewright td{text-align:left;vertical-align:top;padding:.2rem .7rem .2rem 0;
 border-bottom:1px solid #eee}
.tunewright td.number,.tunewright th.number{text-align:right;font-variant-numeric:tabular-nums}
.tunewright tr.infeasible td:nth-child(3),.tunewright tr.failed td:nth-child(3){color:#C8102E}
.tunewright footer{color:#666;font-size:.85rem;margin-top:2rem}
@media print{.tunewright{max-width:none;padding:0;font-size:11px}
 .tunewright details::details-content{content-visibility:visible;block-size:auto}
 .tunewright h2{break-after:avoid}.tunewright .wide{overflow:visible}}
"""


def page(body: str, title: str) -> str:
    """A whole page around the body of a report."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def body(
    results: Results,
    told: Answer,
    chapters: Iterable[Chapter],
    trials: TrialRows,
    version: str,
    lead: Iterable[str] = (),
) -> str:
    """The report as markup that can stand in a page or a notebook: verdict, figures, trials.

    `lead` is markup that comes before all of it.
    """
    parts = [
        f'<style>{STYLE}</style><main class="tunewright">',
        *lead,
        *_verdict(results, told),
        *(part for chapter in chapters for part in _chapter(chapter)),
        *_checklist(told),
        *_trials(results, trials),
        f"<footer>{text(_source(results))}. Tunewright {text(version)}.</footer></main>",
    ]
    return "\n".join(parts)


def _verdict(results: Results, told: Answer) -> Iterator[str]:
    yield f"<h1>{text(results.round.name)}</h1>"
    yield f'<p class="asked">{text(told.asked)}</p>'
    tone = " warned" if told.warnings else "" if told.judged else " unjudged"
    yield f'<section class="verdict{tone}" aria-label="Verdict">'
    yield f"<p><strong>{text(told.trust)}</strong></p>"
    yield "<h3>What it found</h3>"
    yield items(text(sentence) for sentence in told.found)
    if told.doubts:
        yield "<h3>What not to trust</h3>"
        yield _findings(told.doubts)
    if told.caveats:
        yield "<h3>Every conclusion</h3>"
        yield items(text(caveat) for caveat in told.caveats)
    if told.next:
        yield "<h3>Next</h3>"
        yield items(f"<code>{text(s.command)}</code> {text(s.why)}" for s in told.next)
    for note in results.notes:
        yield f"<p>Note: {text(note)}</p>"
    yield "</section>"


def _chapter(chapter: Chapter) -> Iterator[str]:
    yield f"<h2>{text(chapter.heading)}</h2>"
    if chapter.missing:
        yield f"<p>{text(chapter.missing)}</p>"
    for figure in chapter.figures:
        yield figure_markup(figure)


def figure_markup(figure: Figure[Any]) -> str:
    """A figure with its words below, or the words alone where it cannot be drawn."""
    try:
        drawn = figure.svg()
    except MissingExtra as error:  # the words are still worth reading
        drawn = f"<p>{text(str(error))}</p>"
    width = f"{figure.size[0] * 96:.0f}px"
    caption = f"<figcaption>{text(figure.says)}</figcaption>"
    return f'<figure><div style="max-width:{width}">{drawn}</div>{caption}</figure>'


def _checklist(told: Answer) -> Iterator[str]:
    """What is fine and what could not be judged; what warns stands above."""
    yield "<h2>The rest of the checklist</h2>"
    for summary, findings in (("fine", told.fine), ("could not be judged", told.unknown)):
        if findings:
            said = f"{len(findings)} {summary}"
            yield f"<details><summary>{said}</summary>{_findings(findings)}</details>"


def _findings(findings: Sequence[Finding]) -> str:
    """One item per question and advice: settings that are told the same share it."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[Finding]] = {}
    for finding in findings:
        key = (finding.check, finding.verdict, finding.advice)
        groups.setdefault(key, []).append(finding)
    return f'<ul class="findings">{"".join(map(_group, groups.values()))}</ul>'


def _group(findings: Sequence[Finding]) -> str:
    first = findings[0]
    sign = f'<span class="sign {first.verdict}">{SIGNS[first.verdict]}</span>'
    where = f' title="{text(first.section)}"' if first.section else ""
    check = f"<strong{where}>{text(first.check.replace('_', ' '))}</strong>"
    sentences = [f"{_about(f)}{text(f.says)}" for f in findings]
    if len(findings) > 1 and len({f.says for f in findings}) == 1:
        sentences = [f"{text(first.says)} ({len(findings)} settings)"]
    said = "".join(f'<span class="said">{sentence}</span>' for sentence in sentences)
    shown = () if first.verdict == "ok" else first.advice
    advice = "".join(f'<span class="advice">→ {text(one)}</span>' for one in shown)
    return f"<li>{sign}{check}{said}{advice}</li>"


def _about(finding: Finding) -> str:
    whole = finding.about == "all" or is_about_round(finding)
    return "" if whole else f"<em>{text(finding.about)}</em>: "


def _trials(results: Results, trials: TrialRows) -> Iterator[str]:
    metric = results.objective.metric
    yield "<h2>Trials</h2>"
    said = f"{words.count(trials.trials, 'trial')}, the best by {metric} first"
    if trials.left_out:
        name = words.shell_word(results.round.name)
        said += f"; {trials.left_out} are not shown: tunewright export {name} trials.csv has all"
    yield f'<div class="wide"><table><caption>{text(said)}</caption><thead><tr>'
    heads = ("trial", "study", "status", metric, "at step", "configuration", "why", "again")
    for head in heads:
        kind = ' class="number"' if head in ("trial", metric, "at step") else ""
        yield f'<th scope="col"{kind}>{text(head)}</th>'
    yield "</tr></thead><tbody>"
    for row in trials.rows:
        yield (
            f'<tr class="{text(row.status)}"><td class="number">{row.number}</td>'
            f"<td>{text(row.study)}</td><td>{text(row.status)}</td>"
            f'<td class="number">{text(row.value)}</td>'
            f'<td class="number">{text(row.best_step)}</td><td>{text(row.configuration)}</td>'
            f"<td>{text(row.why)}</td><td>{_command(row.again)}</td></tr>"
        )
    yield "</tbody></table></div>"


def _command(command: str) -> str:
    return f"<code>{text(command)}</code>" if command else ""


def _source(results: Results) -> str:
    searched = f", searched by {results.search}" if results.search else ""
    return f"{results.objective}{searched}"


def items(said: Iterable[str]) -> str:
    """A list of markup."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in said)}</ul>"


def text(said: str) -> str:
    """Words of a record, harmless in a page."""
    return escape(words.printable(" ".join(said.split())), quote=True)
