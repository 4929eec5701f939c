"""A block of a notebook: updated in place, safe HTML, and in a real kernel."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from tests.told import begun, concluded, reached, started

from tunewright.messages import Message
from tunewright.progress.notebook import AGAIN_S, Bundle, Notebook, in_notebook
from tunewright.progress.watcher import CampaignStep, Summary


class Cell:
    """The output of a cell: blocks, each with all that it has shown."""

    def __init__(self) -> None:
        self.blocks: list[list[Bundle]] = []
        self.now = 0.0

    def show(self, bundle: Bundle):
        block = [bundle]
        self.blocks.append(block)
        return block.append

    def watcher(self) -> Notebook:
        return Notebook(self.show, lambda: self.now)


def test_a_round_is_one_block_whose_last_state_stays() -> None:
    cell = Cell()
    watch = cell.watcher()
    watch.began(begun(2))
    watch.claimed(started(0))
    cell.now += 10
    watch.reached(reached(0, step=400, total=2000))
    assert "(trial 0: step 400/2,000)" in cell.blocks[0][-1]["text/html"]
    watch.ended(concluded(0, value=0.25))
    watch.best(concluded(0, value=0.25))
    watch.closed(Summary("finished"))
    (block,) = cell.blocks
    assert "1/2" in block[-1]["text/plain"] and "best 0.25" in block[-1]["text/plain"]
    assert '<progress value="1" max="2">' in block[-1]["text/html"]
    assert watch.summary == Summary("finished")


def test_updates_are_not_sent_for_every_event() -> None:
    cell = Cell()
    watch = cell.watcher()
    watch.began(begun(1000))
    for number in range(1000):
        watch.claimed(started(number))
        watch.ended(concluded(number, value=0.5))
        cell.now += AGAIN_S / 10
    watch.closed(Summary("finished"))
    assert 50 <= len(cell.blocks[0]) <= 110
    assert "1000/1000" in cell.blocks[0][-1]["text/plain"]


def test_several_rounds_of_a_campaign_are_blocks_in_order() -> None:
    cell = Cell()
    watch = cell.watcher()
    for number, name in enumerate(("first", "second"), start=1):
        watch.step(
            CampaignStep(
                campaign="tune",
                number=number,
                kind="explore",
                about=name,
                reason=Message("campaign.stuck"),
                trials=3,
                left=9,
            )
        )
        watch.began(begun(1, name=name))
        watch.closed(Summary("finished"))
    watch.message("all done")
    texts = [block[-1]["text/plain"] for block in cell.blocks]
    assert [name in text for name, text in zip(("tune step 1", "first"), texts, strict=False)]
    assert len(texts) == 5 and texts[-1].endswith("all done")


def test_what_a_program_says_is_no_markup() -> None:
    cell = Cell()
    watch = cell.watcher()
    watch.began(begun(1, name="<b>x</b>"))
    reason = Message("trial.failed", {"text": "<script>alert(1)</script>"})
    watch.ended(concluded(0, "failed", reason=reason))
    watch.closed(Summary("finished"))
    shown = cell.blocks[0][-1]["text/html"]
    assert "<script>" not in shown and "<b>" not in shown
    assert "&lt;script&gt;" in shown


def test_this_test_is_no_notebook() -> None:
    assert not in_notebook()


PROGRAM = """
import tunewright as tw

def train(run, learning_rate, max_train_steps=20):
    for step in run.steps(max_train_steps):
        run.log(step, valid_error=learning_rate / step)

round = tw.Round("nb", goal="?", nuisance={"learning_rate": tw.log(1e-3, 1e-1)},
                 fixed={"max_train_steps": 20}, trials_per_study=3)
workload = tw.Workload(train, tw.minimize("valid_error"), store="nb.db",
                       executor=tw.executors.Inline())
results = tw.run(round, workload)
"""


@pytest.mark.slow
@pytest.mark.beyond_core
def test_a_real_kernel_shows_a_block_that_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ipykernel")
    manager = pytest.importorskip("jupyter_client.manager")
    for name in ("PYTEST_CURRENT_TEST", "PYTEST_VERSION"):
        monkeypatch.delenv(name, raising=False)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel = manager.KernelManager()
    kernel.kernel_spec.argv[:] = command
    kernel.start_kernel(cwd=str(tmp_path))
    client = kernel.client()
    client.start_channels()
    shown: list[dict] = []

    def note(message: dict) -> None:
        if message["msg_type"] in ("display_data", "update_display_data", "error"):
            shown.append(message)

    try:
        client.wait_for_ready(timeout=60)
        client.execute_interactive(textwrap.dedent(PROGRAM), timeout=60, output_hook=note)
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    kinds = [message["msg_type"] for message in shown]
    assert "error" not in kinds, shown
    assert kinds[0] == "display_data" and kinds[-1] == "update_display_data"
    last = shown[-1]["content"]["data"]
    assert "3/3" in last["text/plain"] and "<progress" in last["text/html"]
