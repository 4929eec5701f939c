"""A live region: drawn in a real console of rich, whose text is read back."""

from __future__ import annotations

import io

from rich.console import Console
from tests.told import begun, concluded, reached, started

from tunewright.progress.live import LiveRegion, region
from tunewright.progress.tally import Tally
from tunewright.progress.watcher import Summary


def test_a_terminal_gets_one_live_region() -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100, color_system=None)
    watch = LiveRegion(console)
    watch.began(begun(10, 0))
    watch.claimed(started(0))
    watch.ended(concluded(0, value=0.202377))
    watch.best(concluded(0, value=0.202377))
    watch.message("2 trials left to finish")
    watch.closed(Summary("finished"))
    shown = text.getvalue().replace("\x1b[?25h", "")  # the cursor is shown again
    assert "2 trials left to finish" in shown
    assert shown.rstrip().splitlines()[-1].startswith("best 0.2024 valid_error  trial 0")


def test_the_region_fits_one_screen_line_each() -> None:
    text = io.StringIO()
    console = Console(file=text, width=40)
    best = concluded(3, value=0.25)
    console.print(region(Tally("a_long_name_of_a_round" * 3, "valid_error", 9, 4, best=best), 0.0))
    lines = text.getvalue().rstrip("\n").splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 40 for line in lines)


def test_a_terminal_shows_the_step_of_a_running_trial() -> None:
    text = io.StringIO()
    watch = LiveRegion(Console(file=text, force_terminal=True, width=100, color_system=None))
    watch.began(begun(4))
    watch.claimed(started(3))
    watch.claimed(started(4))
    watch.reached(reached(3, step=400, total=2000))
    watch.closed(Summary("interrupted"))
    assert "0/4  2 running (trial 3: step 400/2,000)" in text.getvalue()


def test_one_watcher_follows_several_rounds() -> None:
    text = io.StringIO()
    watch = LiveRegion(Console(file=text, force_terminal=True, width=100, color_system=None))
    for name in ("first", "second"):
        watch.began(begun(1, name=name))
        watch.claimed(started(0))
        watch.ended(concluded(0, value=0.5))
        watch.best(concluded(0, value=0.5))
        watch.closed(Summary("finished"))
        assert watch.summary == Summary("finished")
        assert f"{name}  ████" in text.getvalue()
