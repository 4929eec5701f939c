"""Part of bench/ui.py: what a page costs in Chromium: time to data, processor time, bytes."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psutil

QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-component-update", "--disable-sync"),
)


@contextmanager
def opened() -> Iterator[Any]:
    """A Chromium of our own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield browser
        browser.close()


def page_costs(url: str, ready: Sequence[str], times: int, limit_s: float) -> dict[str, float]:
    """Medians of opening a page in a fresh browser until every selector is there."""
    found = [once(url, ready, limit_s) for _ in range(times)]
    return {name: statistics.median(one[name] for one in found) for name in found[0]}


def once(url: str, ready: Sequence[str], limit_s: float) -> dict[str, float]:
    """One opening; infinite time where the data did not appear."""
    with opened() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        received = [0]
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on(
            "Network.loadingFinished",
            lambda event: received.__setitem__(0, received[0] + int(event["encodedDataLength"])),
        )
        before = browser_cpu()
        began = time.perf_counter()
        shown = True
        try:
            page.goto(url, timeout=limit_s * 1000)
            for selector in ready:
                left = limit_s - (time.perf_counter() - began)
                page.locator(selector).first.wait_for(timeout=max(1.0, left * 1000))
        except Exception as error:
            if "Timeout" not in type(error).__name__:
                raise
            shown = False
        took = time.perf_counter() - began
        return {
            "page with data, wall s": took if shown else float("inf"),
            "its browser CPU s": browser_cpu() - before,
            "its bytes in the browser": float(received[0]),
        }


def browser_cpu() -> float:
    """Processor seconds of every process of our browsers that still runs."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            if "chrom" in child.name():
                used = child.cpu_times()
                total += used.user + used.system
        except psutil.Error:
            continue
    return total
