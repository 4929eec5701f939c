"""docs/evaluation.md runs as it stands, prints what it says, on one process and on two."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TRAIN = re.findall(r"```python title=\"train.py\"\n(.*?)```", PAGE, re.DOTALL)[0]


def printed(arguments: list[str], folder: Path) -> str:
    source = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_prints_what_it_says(tmp_path):
    (tmp_path / "page.py").write_text("\n".join(BLOCKS), encoding="utf-8")
    output = printed(["page.py"], tmp_path)
    promised = [line.strip() for block in BLOCKS for line in re.findall(r"# -> (.*)", block)]
    assert len(promised) >= 10
    place = 0
    for line in promised:
        place = output.find(line, place)
        assert place >= 0, f"{line!r} is not in its place of\n{output}"


def test_the_program_for_several_hosts_prints_the_same_on_two(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    alone = printed(["train.py"], tmp_path)
    assert re.fullmatch(r"(step \d+: [\d.]+ of 1001 examples\n){2}", alone)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    assert printed([*launcher, "train.py"], tmp_path) == alone
