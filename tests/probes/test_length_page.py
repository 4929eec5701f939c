"""docs/probes_length.md runs as it stands and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pages import replayed, text_of


def test_the_page_prints_what_it_says(tmp_path: Path) -> None:
    output = replayed("probes_length.md", tmp_path, promises=10)
    command = r"```text\n\$ tunewright probe train-steps.*?\n(.*?)```"
    (shown,) = re.findall(command, text_of("probes_length.md"), re.DOTALL)
    sentence = next(line for line in shown.splitlines() if line.startswith("A constant"))
    assert sentence in output
