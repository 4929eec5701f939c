"""docs/evaluation.md and hosts.md run as they stand, and print what they say, on two ranks too."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pages import printed, replayed, text_of

HOSTS = text_of("hosts.md")
(TRAIN,) = re.findall(r"```python title=\"train.py\"\n(.*?)```", HOSTS, re.DOTALL)


def test_the_page_prints_what_it_says(tmp_path: Path) -> None:
    assert replayed("evaluation.md", tmp_path, promises=10)


def test_the_program_for_several_hosts_prints_the_same_on_two(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    alone = printed(["train.py"], tmp_path)
    assert re.fullmatch(r"(step \d+: [\d.]+ of 1001 examples\n){2}", alone)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    assert printed([*launcher, "train.py"], tmp_path) == alone


def test_the_program_of_shards_prints_the_same_on_two(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python title=\"shards.py\"\n(.*?)```", HOSTS, re.DOTALL)
    (tmp_path / "shards.py").write_text(program, encoding="utf-8")
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    for before in ([], launcher):
        assert printed([*before, "shards.py"], tmp_path) == "108.0 3.888889\n"
