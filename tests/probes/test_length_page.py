"""docs/probes_length.md runs as it stands and prints what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "probes_length.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SHOWN = re.findall(r"```text\n\$ tunewright probe train-steps.*?\n(.*?)```", PAGE, re.DOTALL)[0]


def test_the_page_prints_what_it_says(tmp_path):
    (tmp_path / "page.py").write_text("\n".join(BLOCKS), encoding="utf-8")
    source = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    promised = [line.strip() for block in BLOCKS for line in re.findall(r"# -> (.*)", block)]
    assert len(promised) >= 10
    place = 0
    for line in promised:
        place = done.stdout.find(line, place)
        assert place >= 0, f"{line!r} is not in its place of\n{done.stdout}"
    sentence = next(line for line in SHOWN.splitlines() if line.startswith("A constant"))
    assert sentence in done.stdout
