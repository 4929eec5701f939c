"""Take the screenshots of docs/ui/ in Chromium, of a small store that is filled first."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = Path(__file__).with_name("ui")
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


def take(chromium: Any, url: str, name: str, place: str, *how: Any) -> None:
    from PIL import Image

    (width, height), colours, top, first = how
    page = chromium.new_page(
        viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce"
    )
    page.set_default_timeout(240_000)  # a verdict takes long on a busy machine
    page.goto(f"{url}#{place}")
    page.locator(first).first.wait_for()
    page.locator("td.best b", has_text="…").first.wait_for(state="detached")
    if top:
        page.locator(top).evaluate("element => element.scrollIntoView()")
    page.wait_for_timeout(300)  # the last frame is painted
    path = TARGET / f"{name}.png"
    page.screenshot(path=path)
    page.close()
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE).save(
            path, optimize=True
        )


if __name__ == "__main__":
    main()
