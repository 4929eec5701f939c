"""Ask and tell by several processes: side by side, after a death, and under a process group."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from tests.execution.asking import OBJECTIVE, finish, rounds

from tunewright.execution.run import load
from tunewright.execution.session import open_round
from tunewright.store.store import Store

pytestmark = pytest.mark.beyond_core

DEADLINE_S = 120.0


@pytest.fixture
def store(tmp_path):
    return tmp_path / "tuning.db"


PROGRAM = """
    import sys
    import tunewright as tw
    from tests.execution.asking import OBJECTIVE, rates, rounds

    with tw.open_round(rounds(20), OBJECTIVE, sys.argv[1], search=rates(20)) as session:
        while (trial := session.ask()) is not None:
            with open(sys.argv[2], "a") as journal:
                journal.write(f"{trial.number}\\n")
            trial.log(1, valid_error=trial.configuration["learning_rate"])
            trial.finish()
"""


def start(program, *arguments, folder):
    path = folder / "program.py"
    path.write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        + textwrap.dedent(program)
    )
    return subprocess.Popen([sys.executable, str(path), *map(str, arguments)])


def test_several_processes_share_a_round(store, tmp_path):
    journal = tmp_path / "journal"
    processes = [start(PROGRAM, store, journal, folder=tmp_path) for _ in range(3)]
    assert [p.wait(DEADLINE_S) for p in processes] == [0, 0, 0]
    counts = Counter(int(line) for line in journal.read_text().split())
    assert counts == {number: 1 for number in range(40)}
    assert load(store, "depth").counts == {"completed": 40}


DIES = """
    import os, sys
    import tunewright as tw
    from tests.execution.asking import OBJECTIVE, rounds

    session = tw.open_round(rounds(), OBJECTIVE, sys.argv[1])
    trial = session.ask()
    trial.log(1, valid_error=0.5)
    os._exit(9)
"""


def test_the_trial_of_a_session_that_died_is_given_out_again(store, tmp_path):
    assert start(DIES, store, folder=tmp_path).wait(DEADLINE_S) == 9
    with open_round(rounds(), OBJECTIVE, store) as session:
        trials = session.ask(6)
        assert [t.number for t in trials] == list(range(6))
        assert [t.attempt for t in trials] == [2, 1, 1, 1, 1, 1]
        for trial in trials:
            finish(trial)


def test_a_session_takes_over_what_dies_while_it_asks(store, tmp_path):
    with open_round(rounds(), OBJECTIVE, store) as session:
        assert start(DIES, store, folder=tmp_path).wait(DEADLINE_S) == 9
        numbers = []
        while (trial := session.ask()) is not None:
            numbers.append(trial.number)
            finish(trial)
    assert numbers == [1, 2, 3, 4, 5, 0]


RANKS = """
    import json, sys
    import torch.distributed as group
    import tunewright as tw
    from tests.execution.asking import OBJECTIVE, rates, rounds
    from tunewright.errors import TunewrightError

    store, meeting, rank, out = sys.argv[1:]
    group.init_process_group(
        "gloo", init_method=f"file://{meeting}", rank=int(rank), world_size=2)
    told = []
    with tw.open_round(rounds(), OBJECTIVE, store, search=rates(3)) as session:
        while (trial := session.ask()) is not None:
            told.append([trial.number, dict(trial.configuration), trial.seeds.init,
                         trial.seeds.data, str(trial.folder)])
            trial.log(1, valid_error=trial.configuration["learning_rate"] + int(rank))
            if trial.number == 1:
                trial.log(2, valid_error=float("nan"))
                assert trial.diverged
            trial.finish()
        extra = session.add({"layers": 1, "learning_rate": 0.01})
        told.append([extra.number])
        extra.infeasible("no heads")
        try:
            session.add({"layers": 9})
        except TunewrightError as error:
            told.append(str(error)[:12])
    with open(out + rank, "w") as file:
        json.dump(told, file)
    group.barrier()
    group.destroy_process_group()
"""


@pytest.mark.torch
def test_under_a_process_group_rank_0_asks_and_writes_for_all(store, tmp_path):
    pytest.importorskip("torch")
    processes = [
        start(RANKS, store, tmp_path / "meeting", rank, tmp_path / "rank", folder=tmp_path)
        for rank in (0, 1)
    ]
    assert [p.wait(DEADLINE_S) for p in processes] == [0, 0]
    first, second = (json.loads((tmp_path / f"rank{rank}").read_text()) for rank in (0, 1))
    assert [t[0] for t in first[:7]] == list(range(7))
    for one, other in zip(first[:6], second[:6], strict=True):
        assert one[:3] == other[:3], "number, configuration and initial seed are alike"
        assert one[3] != other[3], "the data seed is the rank's own"
        assert one[4] == other[4]
    assert first[6] == second[6]
    assert first[7] == "add({'layers" and second[7] == "rank 0: Desi"
    results = load(store, "depth")
    assert results.counts == {"completed": 5, "infeasible": 2}
    for trial in results.trials:
        if trial.value is not None:
            assert trial.value == trial.configuration["learning_rate"], "rank 1 wrote nothing"
    with Store.open(store) as opened, opened._database.reading() as connection:
        workers = connection.exec_driver_sql("SELECT count(*) FROM worker").scalar()
    assert workers == 1
