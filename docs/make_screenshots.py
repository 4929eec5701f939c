"""Take the screenshots of docs/ui/ and docs/zh/ in Chromium.

Those of the dashboard show a small store that is filled first; those in Chinese a report and a
terminal about the recorded rounds of tests/golden. `python docs/make_screenshots.py zh` takes the
latter alone; they need a font with Chinese characters, such as Noto Sans CJK.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = Path(__file__).with_name("ui")
CHINESE = Path(__file__).with_name("zh")
TUNEWRIGHT = (
    sys.executable,
    "-c",
    "import sys; from tunewright.cli.main import main; sys.exit(main())",
)
SESSION = (  # what the terminal in Chinese shows
    ("ls", ("rate", "rate_2", "optimizer")),
    ("check rate_2", ()),
    ("launch optimizer --baseline rate --dry-run", ()),
)
PAGE = """<!doctype html><html lang="zh"><meta charset="utf-8"><style>
body{{margin:0;background:#1b1f24;color:#d5dae0;padding:18px 22px;display:inline-block}}
pre{{margin:0;font:14px/1.45 "Noto Sans Mono CJK SC",monospace}}</style><pre>{text}</pre></html>"""
COLOURS = 255  # of a picture: it stays small, and text stays sharp
SERVE = """
import sys
from tunewright.ui.serve import serve
serve(sys.argv[1], port=0, started=lambda served: print(served.url, flush=True))
"""
SIZE = (1280, 860)
PHONE = (390, 844)
# name, place, size, colours, what is scrolled to the top, what must be there first
PICTURES: tuple[tuple[str, str, tuple[int, int], str, str, str], ...] = (
    ("home", "/", (1280, 600), "light", "", "td.best b"),
    ("round", "/round/width", SIZE, "light", "", ".panel.isolation svg"),
    (
        *("figures", "/round/width?sel=3,11,20-22", SIZE, "light"),
        *(".selection", ".panel.isolation svg"),
    ),
    ("dark", "/round/width", SIZE, "dark", ".curves", ".panel.isolation svg"),
    ("compare", "/compare?t=width:33&t=width:3&t=width:11", SIZE, "light", "", ".u-wrap"),
    ("campaign", "/campaign/autopilot", (1280, 700), "light", "", ".timeline li"),
    ("phone", "/round/width", PHONE, "light", "", ".panel.isolation svg"),
)


def main() -> None:
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT))
    from tests.ui.filled_store import fill_history, fill_small

    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/tuning.db"
        fill_small(store)
        fill_history(store)
        command = [sys.executable, "-c", SERVE, store]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            try:
                with sync_playwright() as playwright:
                    chromium = playwright.chromium.launch(
                        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                    )
                    for picture in PICTURES:
                        take(chromium, url, *picture)
                    chromium.close()
            finally:
                server.kill()


def main_in_chinese() -> None:
    """A report and a terminal session: real output of commands on a copy of the golden store."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT))
    from tests.golden import cases

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        project = cases.copied(Path(folder))
        run(project, "ls")  # migrates the copy, which a reader need not see
        page = Path(folder) / "terminal.html"
        page.write_text(PAGE.format(text=session(project)), encoding="utf-8")
        run(project, f"report optimizer --out {folder}/report.html")
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, part in (("terminal", "body"), ("report", None)):
            opened = chromium.new_page(viewport={"width": 1180, "height": 1240})
            opened.goto(f"file://{folder}/{name}.html")
            if name == "report":
                opened.locator('html[data-figures="live"]').wait_for()
            path = CHINESE / f"{name}.png"
            if part is None:
                opened.screenshot(path=path)
            else:
                opened.locator(part).screenshot(path=path)
            smaller(path)
        chromium.close()


def run(project: Path, command: str) -> str:
    """What a command prints in Chinese, with its colours."""
    made = {"TUNEWRIGHT_LANG": "zh", "COLUMNS": "110", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(
        [*TUNEWRIGHT, *command.split()],
        cwd=project,
        env={**os.environ, **made},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def session(project: Path) -> str:
    """Commands and what they printed, as markup; a long list shows some of its lines."""
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=110, file=StringIO(), color_system="truecolor")
    for command, kept in SESSION:
        console.print(Text(f"$ tunewright {command}", style="bold #7fb2ff"))
        lines = run(project, command).rstrip().splitlines()
        if kept:
            shown = [line for line in lines if Text.from_ansi(line).plain.split(" ")[0] in kept]
            lines = [lines[0], *shown]
        for line in lines:
            console.print(Text.from_ansi(line), soft_wrap=True)
        console.print()
    return console.export_html(inline_styles=True, code_format="{code}")


def take(chromium: Any, url: str, name: str, place: str, *how: Any) -> None:
    (width, height), colours, top, first = how
    page = chromium.new_page(
        viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce"
    )
    page.set_default_timeout(500_000)  # a verdict takes long on a busy machine
    page.goto(f"{url}#{place}")
    page.locator(first).first.wait_for()
    page.locator("td.best b", has_text="…").first.wait_for(state="detached")
    if top:
        page.locator(top).evaluate("element => element.scrollIntoView()")
    page.wait_for_timeout(300)  # the last frame is painted
    path = TARGET / f"{name}.png"
    page.screenshot(path=path)
    page.close()
    smaller(path)


def smaller(path: Path) -> None:
    """Keep few colours of a picture."""
    from PIL import Image

    with Image.open(path) as picture:
        full = picture.convert("RGB")
    # the most frequent colours as they are, so that neither a background nor a thin line is tinted
    counted = sorted(full.getcolors(full.width * full.height), reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in counted for part in colour])
    full.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main_in_chinese() if sys.argv[1:] == ["zh"] else main()
