"""Makes the golden store `version_1/tuning.sqlite`; it must be run with version 0.1's code.

    PYTHONPATH=/path/to/version_0.1/src python -m tests.golden.make_version_1

It is kept for the record: later versions read the store that it made and need not run it. It copies
the files of `version_1/` that people wrote (the training program, the round files) to a temporary
folder, runs every kind of command there, takes names and times of the machine out, and puts store
and trial folders back. Made again, the store has the same facts.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import tunewright as tw

# Everything else of tunewright is imported where it is used: pytest imports this file to look for
# examples in it, under every later version.

VERSION = "0.1.0.dev0"
PROJECT = Path(__file__).parent / "version_1"
STORE = "tuning.sqlite"
BY_HAND = ("golden_train.py", "tunewright.toml", "runs_elsewhere.csv", "rounds")
INLINE = ("--on", "inline")
BEFORE: tuple[tuple[str, ...], ...] = (  # rounds, launches, evaluations
    ("run", "rate", *INLINE),
    ("launch", "rate", "--first", "--why", "there is nothing to compare it with"),
    ("run", "rate_2", *INLINE),
    ("repeat", "rate", "--times", "3", *INLINE),
    ("run", "optimizer", *INLINE),
    ("evaluate", "optimizer", "--top", "3", *INLINE),
    ("launch", "optimizer", "--why", "adam is as fast", *INLINE),
    ("launch", "rate_2", *INLINE),
    ("final", "optimizer"),
    ("variance", "rate", "--studies", "3", *INLINE),
    ("variance", "rate", "--splits", "3", *INLINE),
    ("probe", "train-steps", "rate_2", "--metric", "train_loss", "--at-most", "0.05", *INLINE),
    ("probe", "stability", "rate_2", "--steps", "60", *INLINE),
)
AFTER: tuple[tuple[str, ...], ...] = (  # the import, and people's words
    ("import", "table", "runs_elsewhere.csv", "--minimize", "valid_loss", "--name", "elsewhere"),
    ("note", "optimizer", "adam wins; ask about warm-up next"),
    ("note", "optimizer", "the second note"),
    ("note", "my round", "= a note that begins like a formula"),
    ("stop", "searching", "9"),
    ("stop", "searching"),
)
WAYS_TO_END = (  # a completed one first: a round whose first trials all fail is given up
    *("fine", "nan", "infeasible", "memory", "large", "slow"),
    *("raises", "unlogged", "silent", "exits", "text", "back", "hangs", "killed"),
    *("dies once", "no latency", "stops", "fine", "pending", "running"),
)
STOPPED, LEFT = WAYS_TO_END.index("stops"), 2
RATES = (0.03, 0.05, 0.1, 0.2)


def main() -> None:
    """Make the store and put it in its place."""
    if tw.__version__ != VERSION:
        raise SystemExit(f"this is version {tw.__version__}; the store is one of {VERSION}")
    from tests.golden.neutral import neutralise

    with tempfile.TemporaryDirectory(prefix="golden") as made:
        folder = Path(made) / "project"
        folder.mkdir()
        for name in BY_HAND:
            source = PROJECT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, folder / name)
        with chdir(folder):
            build()
        neutralise(folder, STORE)
        for name in (STORE, f"{STORE}.trials"):
            target = PROJECT / name
            if target.is_dir():
                shutil.rmtree(target)
            shutil.move(folder / name, target)


def build() -> None:
    """Fill the store of the project in this folder."""
    for command in BEFORE:
        run_command(command)
    batch_sizes()
    run_part_of("my round", 6)
    searching()
    asked()
    reasons()
    campaign()
    for command in AFTER:
        run_command(command)
    still_running()


def run_command(command: Sequence[str]) -> None:
    """Run one command, which must end well."""
    from tunewright.cli.main import main as tunewright

    print("$ tunewright", *command)
    code = tunewright(list(command))
    if code:
        raise SystemExit(f"{' '.join(command)}: exit code {code}")


def workload(executor: Any = None, objective: Any = None) -> Any:
    """The workload of the project in this folder."""
    from dataclasses import replace

    from tunewright.cli.project_folder import need_project

    made = need_project().workload(executor=executor or tw.Inline())
    return made if objective is None else replace(made, objective=objective)


def run_part_of(name: str, trials: int) -> None:
    """Run so many trials of a round; the others stay pending."""
    from tunewright.cli.project_folder import need_project
    from tunewright.execution.verbs import supervise

    supervise(need_project().round(name), workload(), trials=trials)


def searching() -> None:
    """A Bayesian round whose last two trials have no configuration yet."""
    from tunewright.execution.verbs import supervise

    asked_for = tw.Round(
        "searching",
        goal="Where does a Bayesian search go?",
        nuisance={"learning_rate": tw.log(1e-5, 0.1), "dropout": tw.linear(0.0, 0.6)},
        fixed={"optimizer": "adam", "max_train_steps": 40},
        trials_per_study=12,
        detect=0.005,
    )
    supervise(asked_for, workload(), search=tw.Bayesian(), trials=10)


def asked() -> None:
    """A round by ask and tell: one trial of each ending, one added by hand, one given back."""
    asked_for = tw.Round(
        "asked",
        goal="What does a program of one's own find?",
        nuisance={"learning_rate": tw.log(1e-3, 1.0), "width": tw.integers(8, 64, log=True)},
        trials_per_study=6,
    )
    with tw.open_round(asked_for, tw.maximize("accuracy", at="last"), store=STORE) as session:
        for number in range(5):
            trial = session.ask()
            assert trial is not None
            trial.folder.mkdir(exist_ok=True)
            for step in range(1, 5):
                trial.log(step, accuracy=0.5 + 0.05 * step + 0.01 * number)
            if number == 2:
                trial.infeasible("the width is odd")
            elif number == 3:
                trial.fail("the machine went away")
            elif number < 4:
                trial.finish()
        own = session.add({"learning_rate": 0.5, "width": 12})
        own.folder.mkdir(exist_ok=True)
        own.log(1, accuracy=0.9)
        own.finish()


def reasons() -> None:
    """A round with a trial for every way to end, under a constraint."""
    from tunewright.execution.verbs import supervise
    from tunewright.execution.watcher import Silent, Started
    from tunewright.record.store import Store

    class Stops(Silent):
        """Asks the trial that waits for it to stop."""

        def claimed(self, started: Started) -> None:
            """Ask, once it has begun."""
            if started.number == STOPPED:
                with Store.open(STORE) as store:
                    store.ask_stop(store.round("reasons").id, STOPPED)

    asked_for = tw.Round(
        "reasons",
        goal="In which ways can a trial end?",
        nuisance={"what": list(dict.fromkeys(WAYS_TO_END)), "learning_rate": list(RATES)},
        fixed={"max_train_steps": 20},
        trials_per_study=len(WAYS_TO_END),
    )
    points = [
        {"what": what, "learning_rate": RATES[number % len(RATES)]}
        for number, what in enumerate(WAYS_TO_END)
    ]
    supervise(
        asked_for,
        workload(
            tw.Local(workers=1, trial_timeout_s=1.5, memory_gb=0.5),
            tw.minimize("valid_error", subject_to={"latency_ms": ("<=", 20.0)}),
        ),
        search=tw.Listed(points),
        watch=Stops(),
        trials=len(WAYS_TO_END) - LEFT - 1,  # the one that is stopped does not end
    )


def campaign() -> None:
    """The whole loop on autopilot, within a small budget."""
    from tunewright.cli.project_folder import need_project
    from tunewright.cli.training_function import find_function

    project = need_project()
    looks = find_function("golden_train.py:on_test_set", project.folder)
    found = tw.tune(workload(), project.round("tune"), trials=40, name="tune", test=looks)
    print(f"campaign: {found.spent} of {found.total} trials")


def still_running() -> None:
    """Take the last trial of `reasons` and leave it running, as a machine that is far away does."""
    from tunewright.record.curve import pack
    from tunewright.record.store import Store

    with Store.open(STORE) as store:
        record = store.round("reasons")
        worker = store.register(record.id, "worker", exclusive=False)
        for claim in store.claim(record.id, worker, count=LEFT + 1):
            if claim.number == len(WAYS_TO_END) - 1:
                store.began(claim, 0, "host pid 7")
                store.log(claim, [pack({"train_loss": ([1, 2], [2.0, 1.5])})])
            else:
                store.release(claim, "its machine was switched off", died=claim.number == STOPPED)


class KnownRig:
    """Steps of a known time in a known memory, for the batch-size probe."""

    def build(self, batch_size: int, synthetic: bool = False) -> Any:
        """Take this batch size."""
        from tunewright.probes.rig import Device

        self.size = batch_size
        return Device("cpu", 16_000.0, 16_000.0)

    def run(
        self, windows: Sequence[int], cached: Sequence[bool] = (), count_waits: bool = False
    ) -> Any:
        """Say what these steps take."""
        from tunewright.probes.rig import Ran

        seconds = tuple(steps * (1e-3 + 2e-5 * self.size) for steps in windows)
        held = 500.0 + 2.0 * self.size
        return Ran(seconds, tuple(() for _ in windows), held, held)

    def identify(self) -> dict[str, str]:
        """What is trained."""
        return {"model": "formula", "optimizer": "sgd", "precision": "float64", "device": "known"}

    def rest(self) -> float:
        """Nothing stays behind."""
        return 0.0

    def close(self) -> None:
        """There is nothing to end."""


def batch_sizes() -> None:
    """The answer of the batch-size probe about steps whose time is known."""
    from tunewright.probes.batch_size import Asked, probe_rig
    from tunewright.probes.cost import Cost
    from tunewright.probes.subject import Subject
    from tunewright.probes.timing import TimingRule

    subject = Subject(print, "factory", "golden_train.make_step")
    question = Asked((), 8, 512, False, 1, None, TimingRule())
    probe_rig(KnownRig, subject, question, Cost(), STORE)


if __name__ == "__main__":
    main()
