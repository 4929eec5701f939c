"""A report as one HTML file: no script, no outside host, opens from disk, prints.

Everything that came from a record is text here: names and notes are escaped, and the page forbids
itself to load or run anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tunewright.actions import Export
from tunewright.errors import MissingExtra
from tunewright.messages import Message, Reader, Text
from tunewright.messages.markup import STYLE as FINDINGS_STYLE, text
from tunewright.present.answer import Answer
from tunewright.present.chapters import Chapter
from tunewright.present.figures.figure import Figure
from tunewright.present.next_step import TABLE
from tunewright.present.shown_findings import as_markup
from tunewright.present.trial_rows import TrialRows
from tunewright.store.results import Results

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
.tunewright figure{margin:.6rem 0;break-inside:avoid}
.tunewright figcaption{color:#444;font-size:.88rem;max-width:60rem}
.tunewright .wide{overflow-x:auto}
.tunewright table{border-collapse:collapse;font-size:.85rem}
.tunewright caption{text-align:left;color:#444;padding:.3rem 0}
.tunewright th,.tunewright td{text-align:left;vertical-align:top;padding:.2rem .7rem .2rem 0;
 border-bottom:1px solid #eee}
.tunewright td.number,.tunewright th.number{text-align:right;font-variant-numeric:tabular-nums}
.tunewright tr.infeasible td:nth-child(3),.tunewright tr.failed td:nth-child(3){color:#C8102E}
.tunewright tr.pruned td:nth-child(3){color:#767676}
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
    answer: Answer,
    chapters: Iterable[Chapter],
    trials: TrialRows,
    *,
    version: str,
    lead: Iterable[str] = (),
    reader: Reader = "python",
) -> str:
    """The report as markup that can stand in a page or a notebook: verdict, figures, trials.

    `lead` is markup that comes before all of it.
    """
    parts = [
        f'<style>{STYLE}{FINDINGS_STYLE}</style><main class="tunewright">',
        *lead,
        *_verdict(results, answer, reader),
        *(part for chapter in chapters for part in _chapter(chapter)),
        *_checklist(answer, reader),
        *_trials(results, trials, reader),
        f"<footer>{text(_source(results))}. Tunewright {text(version)}.</footer></main>",
    ]
    return "\n".join(parts)


def _verdict(results: Results, answer: Answer, reader: Reader) -> Iterator[str]:
    yield f"<h1>{text(results.round.name)}</h1>"
    yield f'<p class="asked">{text(answer.asked)}</p>'
    tone = " warned" if answer.warnings else "" if answer.judged else " unjudged"
    yield f'<section class="verdict{tone}" aria-label="{text(heading("verdict"))}">'
    yield f"<p><strong>{text(answer.trust)}</strong></p>"
    yield f"<h3>{text(heading('found'))}</h3>"
    compared = [str(finding.words) for finding in answer.compared]
    yield items(text(said) for said in [*(m.text_for(reader) for m in answer.found), *compared])
    if answer.doubts:
        yield f"<h3>{text(heading('doubts'))}</h3>"
        yield as_markup(answer.doubts, reader)
    if answer.caveats:
        yield f"<h3>{text(heading('caveats'))}</h3>"
        yield items(text(caveat) for caveat in answer.caveats)
    if answer.next:
        yield f"<h3>{text(heading('next'))}</h3>"
        yield items(
            f"<code>{text(step.action.code_for(reader) or step.action.text_for(reader))}</code> "
            f"{text(step.why.text_for(reader))}"
            for step in answer.next
        )
    for note in results.notes:
        yield f"<p>{text(Message('note', {'text': note}))}</p>"
    yield "</section>"


def heading(name: str, **facts: Any) -> Text:
    """A heading of the page, in the reader's language."""
    return Message(f"heading.{name}", facts).text


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


def _checklist(answer: Answer, reader: Reader) -> Iterator[str]:
    """What is fine and what could not be judged; what warns stands above."""
    yield f"<h2>{text(heading('checklist'))}</h2>"
    for name, findings in (("fine", answer.fine), ("unknown", answer.unknown)):
        if findings:
            summary = text(heading(name, findings=len(findings)))
            shown = as_markup(findings, reader)
            yield f"<details><summary>{summary}</summary>{shown}</details>"


def _trials(results: Results, trials: TrialRows, reader: Reader) -> Iterator[str]:
    metric = results.objective.metric
    export = Export(results.round.name, TABLE).code_for(reader)
    facts = {"trials": trials.trials, "metric": metric, "left_out": trials.left_out}
    caption = Message("trials.caption", {**facts, "export": export})
    yield f"<h2>{text(heading('trials'))}</h2>"
    yield f'<div class="wide"><table><caption>{text(caption)}</caption><thead><tr>'
    columns = ("trial", "study", "status", "value", "best_step", "configuration", "why", "again")
    for column in columns:
        kind = ' class="number"' if column in ("trial", "value", "best_step") else ""
        head = metric if column == "value" else Message(f"trials.{column}")
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


def _source(results: Results) -> Message:
    facts = {"objective": str(results.objective), "search": results.search}
    return Message("report.searched_by" if results.search else "report.objective", facts)


def items(said: Iterable[str]) -> str:
    """A list of markup."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in said)}</ul>"
