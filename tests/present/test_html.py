"""The page stands alone, says the verdict first, and shows hostile names as text."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tunewright as tw
from tunewright.actions import RunTrials
from tunewright.checks.checklist import check
from tunewright.messages import Message, words
from tunewright.present.figures import style
from tunewright.present.figures.axis import axis
from tunewright.present.html import heading
from tunewright.present.report import Report, report
from tunewright.present.report_parts import trial_rows
from tunewright.store.curves import Curves
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl, Walled
from tunewright.testing.worlds import World, results

pytestmark = pytest.mark.beyond_core  # draws many figures: seconds each

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)> & \x1b[31m'
VOID = {"meta", "br", "img", "hr", "input", "link"}

MEMORY = Message("memory.exhausted", {"type": "MemoryError", "text": ""})


def decay(trials: int = 12, name: str = "decay", goal: str = "Does it help?") -> Results:
    round = tw.Round(
        name,
        goal=goal,
        scientific={"weight_decay": [0.0, 1e-4]},
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        fixed={"max_train_steps": 1000},
        trials_per_study=trials,
    )
    surface = Walled(Bowl({"learning_rate": 0.5}), {"learning_rate": 1.0}, above=0.85)
    return results(round, World(surface, noise_sd=0.005, effect=lambda s: 0.02 * s.number))


@pytest.fixture(scope="module")
def usual() -> Report:
    return report(decay())


@pytest.fixture(scope="module")
def page(usual: Report) -> str:
    return usual.html


class Reader(HTMLParser):
    """Collects tags and text, and checks that tags close in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = self.script = self.data = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            kind = next(a for tag, a in reversed(self.tags) if tag == "script").get("type")
            if kind == "text/plain":  # the figures' data, which no browser runs
                self.data += data
            else:
                self.script += data
        elif not self.open or self.open[-1] != "style":
            self.text += data


def without_script(page: str) -> str:
    """The markup alone; the script's templates and licences are no part of it."""
    return re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "decay.html"
    report(decay(), path)
    page = path.read_text()
    read = Reader(page)
    assert "http://" not in without_script(page) and "https://" not in without_script(page)
    assert not read.open
    names = {tag for tag, _ in read.tags}
    assert not names & {"link", "iframe", "object", "img"}
    (policy,) = [a["content"] or "" for tag, a in read.tags if tag == "meta" and "http-equiv" in a]
    assert policy.startswith("default-src 'none'")
    # the one script sorts the table and draws figures, and no other may run
    assert [a.get("type") for tag, a in read.tags if tag == "script"] == ["text/plain", None]
    allowed = base64.b64encode(hashlib.sha256(read.script.encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}'" in policy
    for _, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("href", "xlink:href", "src"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/png"))


def test_the_verdict_comes_first_and_every_part_follows(usual: Report) -> None:
    read = Reader(usual.html)
    best = usual.results.best()
    wanted = [
        "Does it help?",
        usual.answer.headline.text,
        words.number(best.value),
        heading("doubts"),
        usual.answer.trust.text,
        "max_train_steps = 1000",
        heading("next"),
        *(figure.title for chapter in usual.chapters for figure in chapter.figures),
        heading("checklist"),
        heading("trials"),
        "none of the best trials logged 'gradient_norm'",
        f"Tunewright {tw.__version__}",
    ]
    place = 0
    for part in wanted:
        place = read.text.index(part, place)
    assert [tag for tag, _ in read.tags].count("h1") == 1


def test_figures_stand_in_one_grid_and_what_is_not_drawn_in_one_line(usual: Report) -> None:
    page = without_script(usual.html)
    cards = page.count('<figure class="card')
    assert cards == page.count("<svg") == page.count("<figcaption>")
    assert [c.kind for c in usual.chapters if c.missing] == ["pair", "gradient_norm"]
    assert page.count('class="undrawn"') == 1
    for chapter in usual.chapters:
        for figure in chapter.figures:
            assert figure.size[0] in (style.SINGLE, style.DOUBLE)


def test_the_origin_of_the_results_is_shown() -> None:
    made = decay()
    origin = Provenance("python", "/w", commit="0123456789abcdef", host="gpu-3", diff="x")
    trials = tuple(replace(t, seconds=1800.0, identity=n + 1) for n, t in enumerate(made.recorded))
    made = replace(made, recorded=trials, origins={n + 1: origin for n in range(len(trials))})
    told = Report(made, tuple(check(made)), written=date(2026, 5, 1))
    text = Reader(told.html).text
    for part in ("0123456789", "gpu-3", "2026-05-01", words.duration(1800.0 * len(trials))):
        assert part in text


def test_a_dark_page_sets_every_colour_that_a_figure_uses(page: str) -> None:
    used = set(re.findall(r"var\(--tw-([\w-]+)", page))
    dark = page[page.index("prefers-color-scheme:dark") :]
    assert used <= set(re.findall(r"--tw-([\w-]+):", dark[: dark.index("}}")]))


def test_no_box_is_green(page: str) -> None:
    style = page[page.index("<style>") : page.index("</style>")]
    borders = re.findall(r"border-left(?:-color)?:[^;}]*(#[0-9A-Fa-f]{6})", style)
    for colour in borders:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        assert not (green > red and green > blue), colour


def test_it_can_be_read_without_seeing_it(page: str) -> None:
    read = Reader(page)
    figures = [attributes for tag, attributes in read.tags if tag == "svg"]
    assert len(figures) >= 6
    assert all(a.get("role") == "img" and a.get("aria-label") for a in figures)
    heads = [attributes for tag, attributes in read.tags if tag == "th"]
    assert len(heads) == 7  # trial, value, step, two hyperparameters, time, status
    assert all(a.get("scope") == "col" for a in heads)
    assert ("html", {"lang": "en", "class": "tunewright-page"}) in read.tags


def test_names_used_twice_in_markup_mean_the_same(page: str) -> None:
    names = re.findall(r' id="([^"]+)"', without_script(page))
    shared = {name for name in names if names.count(name) > 1}
    for name in shared:  # equal definitions of equal content do no harm
        bodies = set(re.findall(rf'<(?:path|clipPath) id="{name}".*?/>', page, re.DOTALL))
        assert len(bodies) <= 1


def test_hostile_names_and_notes_are_text() -> None:
    odd = '<b onclick="x">$\\frac{'
    round = tw.Round(
        "<script>",
        goal=HOSTILE,
        scientific={odd: ["<img src=x>", "b"]},
        nuisance={"</style><script>": tw.linear(0, 1)},
        fixed={"<svg>": "</main>"},
        trials_per_study=12,
    )
    made = results(round, World(Bowl({}), objective=tw.minimize("</td><script>")))
    broken = replace(
        made.recorded[0],
        status="failed",
        reason=Message("trial.failed", {"text": HOSTILE}),
        command="<script>rm -rf</script>",
    )
    made = replace(made, recorded=(broken, *made.recorded[1:]), notes=(HOSTILE, "\x1b]0;owned\x07"))
    page = report(made).html
    read = Reader(page)
    assert not read.open
    assert not {"img", "b"} & {tag for tag, _ in read.tags}
    assert [tag for tag, _ in read.tags].count("script") == 2 and "alert" not in read.script
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", read.data)  # names are not even readable there
    assert "alert(1)" in read.text and "\x1b" not in page and "\x07" not in page
    assert not [a for _, a in read.tags if set(a) & {"onclick", "onerror"}]


def test_every_trial_says_why_and_how_to_do_it_again() -> None:
    made = decay()
    trials = tuple(replace(t, command=f"python train.py {t.number}") for t in made.recorded)
    made = replace(made, recorded=trials)
    text = Reader(report(made).html).text
    for trial in made.trials:
        assert f"python train.py {trial.number}" in text
    assert text.count("train_loss is nan at step") == made.counts["infeasible"]


def test_rows_are_best_first_and_say_what_is_left_out() -> None:
    made = decay(trials=40)
    rows = trial_rows(made, most=50)
    assert [column.name for column in rows.columns] == [
        *("", "valid_error", "", "weight_decay", "learning_rate", ""),
    ]
    assert rows.left_out == 30
    assert [row.number for row in rows.rows] == [t.number for t in made.top(50)]
    everything = trial_rows(made)
    assert [r.status for r in everything.rows][-1] == "infeasible"
    assert everything.left_out == 0


@pytest.mark.parametrize("state", ["not begun", "one trial", "all infeasible", "half done"])
def test_any_state_of_a_round_can_be_reported(state: str) -> None:
    made = decay()
    waiting = [replace(t, status="pending", curves=Curves(())) for t in made.recorded]
    trials = {
        "not begun": waiting,
        "one trial": made.recorded[:1],
        "all infeasible": [replace(t, status="infeasible", reason=MEMORY) for t in made.recorded],
        "half done": [*made.recorded[:12], *waiting[12:]],
    }[state]
    told = report(Results.from_parts(made.round, made.objective, trials))
    read = Reader(told.html)
    assert not read.open
    assert told.answer.summary
    assert "Does it help?" in told.text
    if state in ("not begun", "half done"):
        assert told.answer.next[0].action == RunTrials("decay")


def test_without_matplotlib_the_words_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = report(decay()).html
    assert "<svg" not in without_script(page)
    text = Reader(page).text
    assert "pip install 'tunewright[plots]'" in text
    assert axis(decay()).says in text


def test_a_page_of_the_shell_shows_commands_and_one_of_python_calls(usual: Report) -> None:
    shell = replace(usual, reader="shell")
    assert "tunewright repeat decay --times 5" in Reader(shell.html).text
    assert "tunewright repeat" not in Reader(usual.html).text
    assert "tw.repeat(" in Reader(usual.html).text
