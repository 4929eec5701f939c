"""A command is timed from outside: by the step lines of its program, in a fresh process per size.

The program is a real one, without torch; how long its steps take and what it holds are known.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import tunewright as tw
from tunewright.errors import DesignError, WorkloadError
from tunewright.probes.throughput.rig import CannotStep, OutOfMemory, ProcessRig
from tunewright.probes.throughput.size_answer import unseen
from tunewright.probes.throughput.size_sweep import BatchSizeTerms, SizeRow
from tunewright.probes.throughput.subject import MANY_STEPS, subject_of
from tunewright.probes.throughput.timing import Timing, TimingRule

QUICK = TimingRule(window_s=0.02, seconds=0.12, settling=3, most_settling=6, spread=1.0)
PAIR = BatchSizeTerms(sizes=[8, 32], rule=QUICK)
PROGRAM = Path(__file__).with_name("printing_program.py")
TEMPLATE = shlex.join([sys.executable, "-S", str(PROGRAM)]) + " {batch_size} {steps}"
OBJECTIVE = tw.minimize("train_loss")


def workload(store: Path | str = "unused.db", rest: str = "{every} {how}") -> tw.Workload:
    means = {"max_train_steps": "steps"}
    return tw.Workload(tw.command(f"{TEMPLATE} {rest}"), OBJECTIVE, store=store, means=means)


def rig_of(how: str = "well", every: int = 1, **options: Any) -> Any:
    subject = subject_of(workload(), {"every": every, "how": how})
    return contextlib.closing(ProcessRig(subject, **options))


def test_the_probe_of_a_command_and_its_record(tmp_path: Path) -> None:
    own = workload(tmp_path / "tuning.db")
    fixed = {"every": 1, "how": "well"}
    answer = tw.probes.batch_size(own, fixed=fixed, terms=PAIR)
    assert [row.batch_size for row in answer.rows] == [8, 32]
    for row in answer.rows:  # a step cannot be shorter than it sleeps
        assert row.timing.time_per_step_s >= 0.95 * (0.002 + 1e-4 * row.batch_size)
        assert row.waiting_share is None and row.cached is None and row.busy_share is None
    small, large = (row.reserved_mb for row in answer.rows)
    assert large - small == pytest.approx(12, abs=2)  # half a megabyte for each example
    assert answer.settings == {"batch_size": answer.chosen}
    assert answer.bottleneck.kind == "none"
    assert answer.missing[0].code == "probe.unseen.from_outside"
    again = tw.probes.batch_size(own, fixed=fixed, terms=PAIR)
    assert again.from_record and again.missing == answer.missing


def test_a_size_is_a_fresh_program_even_in_one_rig() -> None:
    with rig_of(every=3) as rig:
        device = rig.build(8)
        assert device.kind == "cpu" and device.total_mb > 0
        assert len(rig.run([1, 6]).seconds) == 2
        held = rig.run([1]).reserved_mb
        identity = rig.identify()
        rig.build(40)
        assert rig.run([1]).reserved_mb > held + 10
    assert "printing_program.py" in identity["program"]


@pytest.mark.parametrize("how, said", [("infeasible", "41 and more"), ("words", "exit status 1")])
def test_out_of_memory_as_programs_say_it(how: str, said: str) -> None:
    with rig_of(how) as rig:
        rig.build(40)
        with pytest.raises(OutOfMemory, match=said):
            rig.build(48)


def test_the_largest_size_lies_below_what_the_program_refuses(tmp_path: Path) -> None:
    answer = tw.probes.batch_size(
        workload(tmp_path / "tuning.db"),
        fixed={"every": 1, "how": "words"},
        terms=BatchSizeTerms(smallest=32, rule=QUICK),
    )
    assert 39 <= answer.largest.batch_size <= 40 and answer.largest.how == "doubling"


def test_more_memory_than_allowed_ends_it() -> None:
    with rig_of(memory_mb=60.0) as rig, pytest.raises(OutOfMemory, match="60 MB allowed"):
        rig.build(16)
        rig.build(400)
        rig.run([200])


@pytest.mark.parametrize(
    "how, said",
    [
        ("mute", r"ended without printing a step: print a line \{\"step\": n\}"),
        ("broken", "exit status 1; its last words:\nno file of examples"),
        ("short", "ended after step 4, before it could be timed"),
    ],
)
def test_programs_that_cannot_be_timed(how: str, said: str) -> None:
    with rig_of(how) as rig, pytest.raises(CannotStep, match=said):
        rig.build(8)
        rig.run([50] * 4)


def test_a_program_that_does_not_exist() -> None:
    own = tw.Workload(tw.command("no-such-program {batch_size}"), OBJECTIVE)
    with pytest.raises(WorkloadError, match="no-such-program could not be started"):
        tw.probes.batch_size(own, store=None)


def test_the_template_is_filled_by_what_names_mean() -> None:
    subject = subject_of(workload(), {"every": 1, "how": "well"})
    assert subject.kind == "command" and subject.configuration["steps"] == MANY_STEPS
    with pytest.raises(DesignError, match="needs every, how too"):
        subject_of(workload())
    file = tw.Workload(tw.command("train {config}"), OBJECTIVE)
    assert subject_of(file).configuration == {"max_train_steps": MANY_STEPS}
    words = tw.Workload(tw.command("train {overrides}"), OBJECTIVE)
    assert subject_of(words).configuration == {}  # a name that Hydra may not know
    with pytest.raises(DesignError, match="takes no batch_size"):
        subject_of(tw.Workload(tw.command("train {learning_rate}"), OBJECTIVE))


def test_questions_that_a_command_cannot_answer() -> None:
    with pytest.raises(DesignError, match="torchrun --nproc-per-node=2"):
        fixed = {"every": 1, "how": "well"}
        tw.probes.batch_size(workload(), fixed=fixed, terms=BatchSizeTerms(processes=2))
    with pytest.raises(WorkloadError, match="batches of a command cannot be seen"):
        tw.probes.input_bound(workload(), fixed={"every": 1, "how": "well"}, batch_size=8)


def test_what_is_unseen_is_said() -> None:
    row = SizeRow(8, Timing(5, (1.0, 1.0, 1.0), True), None, None, None)
    assert unseen("factory", [row], TimingRule()) == []
    about = unseen("command", [row], TimingRule())
    codes = ["from_outside", "gpu_memory", "few_lines"]
    assert [one.code for one in about] == [f"probe.unseen.{code}" for code in codes]
    assert about[2].facts == {"sizes": [8], "windows": 6}
