"""Pages that once contradicted themselves or their own commands: each says one thing now."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.small_project import ROUND, Tunewright

import tunewright as tw
from tunewright.cli._verbs import FAMILIES, load_verb
from tunewright.execution.heartbeat import on_duty
from tunewright.store.store import Store

FULL = """

def full(checkpoint):
    return {"full_error": checkpoint.state["loss"]}
"""


def test_a_round_that_runs_is_not_to_be_run(tunewright: Tunewright, ran: Path) -> None:
    """Of a round with trials left that another process runs, `show` proposes to join it."""
    path = ran / "rounds" / "layers.toml"
    path.write_text(path.read_text().replace("= 4", "= 5"))
    with Store.open(ran / "tuning.db") as store:
        workload = tw.project.load().workload(executor=tw.executors.Inline())
        round = tw.project.load().round("layers")
        record = store.begin(
            round,
            workload.objective,
            workload.meaning,
            search="halton",
            suggestions=lambda study, count: tw.search.Halton().suggest(study, (), count),
        )
        with on_duty(store, record.id, "supervisor", exclusive=True):
            data = tunewright("show", "layers", "--json").data
            assert data["running"]
            verbs = [step["argv"][1] for step in data["next"]]
            assert "worker" in verbs and "stop" in verbs and "run" not in verbs
            busy = tunewright("run", "layers", "--on", "inline", "--json")
            assert busy.error["code"] == "round.busy"
    after = tunewright("show", "layers", "--json").data
    assert not after["running"] and "run" in [step["argv"][1] for step in after["next"]]


def test_what_was_not_measured_has_not_failed(tunewright: Tunewright, project: Path) -> None:
    train = project / "train.py"
    saving = "run.log(step, valid_error=loss / layers)\n            run.save({'loss': loss})"
    text = train.read_text().replace("run.log(step, valid_error=loss / layers)", saving)
    train.write_text(text + FULL)
    assert tunewright("run", "layers", "--on", "inline").code == 0
    assert (
        tunewright("evaluate", "layers", "--top", "3", "--with", "train.py:full", "--on", "inline")
    ).code == 0
    data = tunewright("show", "layers", "--minimize", "full_error", "--json").data
    assert data["counts"] == {"completed": 3, "unmeasured": 3, "infeasible": 2}
    assert not [step for step in data["next"] if step["kind"] == "show_trial"]
    text = tunewright("show", "layers", "--minimize", "full_error").out
    assert "3 not measured" in text and "failed" not in text


def test_json_has_folders_and_repeats_that_can_be_found(tunewright: Tunewright, ran: Path) -> None:
    assert (
        tunewright("repeat", "layers", "--times", "2", "--trial", "3", "--on", "inline").code == 0
    )
    data = tunewright("show", "layers", "--json").data
    assert Path(data["root"]).is_absolute() and Path(data["trials"][0]["folder"]).is_dir()
    found = [(own["parent"], own["repeat"], own["value"] is None) for own in data["repeats"]]
    assert found == [(3, 1, False), (3, 2, False)]
    trial = tunewright("trial", "layers", "3", "--json").data
    assert trial["root"] == data["root"] and Path(trial["trial"]["folder"]).is_dir()
    assert [own["repeat"] for own in trial["repeats"]] == [1, 2]
    again = tunewright("again", "layers", "3", "--repeat", "2", "--on", "inline", "--json")
    assert again.code == 0 and again.data["repeat_of"] == 3


def test_every_shown_number_is_one_that_trial_finds(tunewright: Tunewright, ran: Path) -> None:
    """Joined trials too: by their number here, and by that in their own round."""
    (ran / "rounds" / "finer.toml").write_text('continues = "layers"\n' + ROUND)
    assert tunewright("run", "finer", "--on", "inline").code == 0
    results = tw.load(ran / "tuning.db", "finer")
    joined = [trial for trial in results.trials if trial.origin is not None]
    assert joined
    for trial in results.trials:
        found = tunewright("trial", "finer", str(trial.number), "--json").data["trial"]
        assert found["identity"] == trial.identity
    for trial in joined:
        number, _, name = str(trial.shown_number).partition(" of ")
        found = tunewright("trial", name, number, "--json").data["trial"]
        assert found["identity"] == trial.identity
    named = re.findall(r'"trial": (\d+)', json.dumps(tunewright("check", "finer", "--json").data))
    for number in set(named):
        assert tunewright("trial", "finer", number, "--json").code == 0


@pytest.mark.parametrize("verb", [verb for verbs in FAMILIES.values() for verb in verbs])
def test_paragraphs_of_help_flow(verb) -> None:
    """A line that ends in mid-sentence would break at another place than the terminal's edge."""
    for paragraph in (load_verb(verb).help or "").split("\n\n"):
        assert "\n" not in paragraph.strip()


def test_a_gain_of_nothing_is_not_worth_more_trials() -> None:
    from tests.advice.test_saturation import adaptive
    from tests.launches.rounds_of_worlds import asked, ran as made_of

    from tunewright.advice.exploit import exploit
    from tunewright.testing import Bowl, World

    made = made_of(asked(), World(Bowl({"learning_rate": 0.5, "beta1": 0.5}), evaluations=2))
    ranked = sorted(range(len(made.trials)), key=lambda n: made.trials[n].value or 0.0)
    best_first = adaptive(made, ranked)
    assert exploit(best_first, ()) == []
    assert [one.kind for one in exploit(adaptive(made, ranked[::-1]), ())] == ["exploit"]
