from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.cli.small_project import TRAIN, Tunewright

from tunewright.cli._errors import Misuse
from tunewright.cli._options import anchor, find_project, plain_name
from tunewright.design import presets as defaults
from tunewright.design.round_file import read_round

COMMAND = "python train.py --lr={learning_rate} --wd={weight_decay} --seed={run.seed}"


def test_init_writes_a_file_that_is_read_back(tunewright: Tunewright, tmp_path: Path) -> None:
    answer = tunewright("init", COMMAND, "--maximize", "accuracy")
    assert answer.code == 0
    assert "hyperparameters: learning_rate, weight_decay" in answer.out
    project = find_project()
    assert project is not None
    assert project.settings["command"] == COMMAND
    assert not project.settings["objective"].minimize
    assert tomllib.loads((tmp_path / "tunewright.toml").read_text())["workload"]["store"] == (
        "tuning.db"
    )


@pytest.mark.parametrize("scan", [(), ("--scan",)])
def test_without_a_metric_the_remedy_repeats_the_program(
    tunewright: Tunewright, scan: tuple[str, ...]
) -> None:
    answer = tunewright("init", *scan, "my train.py", "--json")
    assert answer.error["code"] == "option.no_metric"
    words = ["tunewright", "init", *scan, "my train.py", "--minimize", "valid_error"]
    assert answer.error["remedy"]["argv"] == words


def test_init_takes_a_function_and_lists_its_signature(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    answer = tunewright("init", "train.py:train", "--minimize", "valid_error")
    assert answer.code == 0
    assert "hyperparameters: learning_rate, layers, max_train_steps" in answer.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((COMMAND,), "--minimize and --maximize"),
        ((COMMAND, "--minimize", "a", "--maximize", "b"), "--minimize and --maximize"),
        (("python train.py --lr={run.sed}", "--minimize", "a"), "{run.seed}"),
        (("train.py:train", "--minimize", "a"), "does not exist"),
    ],
)
def test_init_refuses_what_cannot_be_run(
    tunewright: Tunewright, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    answer = tunewright("init", *arguments)
    assert answer.code == 2
    assert says in answer.err
    assert not (tmp_path / "tunewright.toml").exists()


def test_init_says_what_a_command_lacks(tunewright: Tunewright) -> None:
    answer = tunewright("init", "no-such-program train.py --lr={learning_rate}", "--minimize", "a")
    assert answer.code == 0
    assert "no-such-program is not on the PATH" in answer.out
    assert "there is no train.py here" in answer.out
    assert "without {run.seed}" in answer.out


def test_init_never_overwrites(tunewright: Tunewright, project: Path) -> None:
    before = (project / "tunewright.toml").read_text()
    answer = tunewright("init", COMMAND, "--minimize", "a")
    assert answer.code == 2
    assert (project / "tunewright.toml").read_text() == before


def test_new_writes_a_round_to_fill_in(tunewright: Tunewright, project: Path) -> None:
    answer = tunewright("new", "depth")
    assert answer.code == 0
    text = (project / "rounds" / "depth.toml").read_text()
    assert "layers = 1" in text
    assert "learning_rate" in text
    unfilled = tunewright("run", "depth", "--dry-run")
    assert unfilled.code == 2
    assert "goal: empty" in unfilled.err
    assert tunewright("new", "depth").code == 2


SPELLED = """
def train(run, lr, beta1=0.9, beta2=0.99, wd=0.0, layers=1, max_train_steps=20):
    run.log(1, valid_error=lr)
"""
MEANS = '[workload.means]\nlearning_rate = "lr"\nweight_decay = "wd"\n'


def test_new_begins_with_a_ready_space_and_its_sources(
    tunewright: Tunewright, project: Path
) -> None:
    (project / "train.py").write_text(SPELLED)
    guessed = tunewright("new", "guessed", "--space", "adamw", "--trials", "30")
    assert "adamw with 30 trials per study searches lr, beta1, wd" in guessed.out
    (project / "train.py").write_text(SPELLED.replace("lr", "rate"))
    unspelt = tunewright("new", "blind", "--space", "adamw", "--trials", "30", "--json")
    (note,) = unspelt.data["space"]["notes"]
    assert (note["code"], note["name"]) == ("preset.not_taken", "learning_rate")
    assert (
        "[workload.means]" in tunewright("new", "blind_2", "--space", "adamw", "--trials", "30").out
    )
    (project / "train.py").write_text(SPELLED)
    settings = project / "tunewright.toml"
    settings.write_text(settings.read_text() + MEANS)
    answer = tunewright("new", "depth", "--space", "adamw", "--trials", "30")
    assert answer.code == 0
    assert "adamw with 30 trials per study searches lr, beta1, wd" in answer.out
    assert "a role for" not in answer.out, "what the space leaves has the program's default"
    path = project / "rounds" / "depth.toml"
    text = path.read_text()
    lines = text.splitlines()
    assert all(len(line) <= 100 for line in lines)
    above = lines[lines.index("wd = { log = [0.005, 1.0] }") - 2]
    assert above.startswith("# AlgoPerf's AdamW and NAdamW baselines")
    fixed = "\n".join(lines[lines.index("beta2 = 0.999") - 4 : lines.index("beta2 = 0.999")])
    assert "# searched in log_from_one(0.5, 0.999) with 50 trials or more: " in fixed
    assert fixed.endswith("# The program's own default is 0.99.")
    # with a goal it is a round that runs, and its space is the one that Python gives
    path.write_text(text.replace('goal = ""', 'goal = "How low?"'))
    found = read_round(path)
    means = {"learning_rate": "lr", "weight_decay": "wd"}
    ready = defaults.space("adamw", 30, takes=["lr", "beta1", "beta2", "wd"], means=means)
    assert found.nuisance == ready.nuisance
    assert found.fixed == {**ready.fixed, "layers": 1, "max_train_steps": 20}
    assert found.trials_per_study == 30
    assert tunewright("run", "depth", "--dry-run").code == 0


def test_a_ready_space_is_as_wide_as_the_trials_allow(
    tunewright: Tunewright, project: Path
) -> None:
    (project / "train.py").write_text(SPELLED.replace("lr", "learning_rate"))
    assert tunewright("new", "few", "--space", "adam", "--trials", "5").code == 0
    found = tomllib.loads((project / "rounds" / "few.toml").read_text())
    assert list(found["nuisance"]) == ["learning_rate"]
    assert found["fixed"]["beta1"] == 0.9
    assert tunewright("new", "plain", "--trials", "7").code == 0
    assert tomllib.loads((project / "rounds" / "plain.toml").read_text())["trials_per_study"] == 7


def test_a_misspelt_space_is_answered_and_nothing_is_written(
    tunewright: Tunewright, project: Path
) -> None:
    answer = tunewright("new", "depth", "--space", "nadamm")
    assert answer.code == 2
    assert "try     --space nadam" in answer.err
    assert not (project / "rounds" / "depth.toml").exists()


def test_a_program_that_takes_any_name_gets_the_whole_space(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    assert tunewright("init", "python train.py {overrides}", "--minimize", "loss").code == 0
    assert tunewright("new", "first", "--space", "nesterov", "--trials", "10").code == 0
    found = tomllib.loads((tmp_path / "rounds" / "first.toml").read_text())
    assert list(found["nuisance"]) == ["learning_rate", "momentum"]
    assert found["fixed"] == {"weight_decay": 1e-5}


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "", ".", "..", "a/b", "a\nb", "x" * 5000])
def test_a_round_never_leaves_its_folder(tunewright: Tunewright, project: Path, name: str) -> None:
    before = sorted(project.rglob("*"))
    assert tunewright("new", name).code == 2
    assert tunewright("run", name).code == 2
    assert sorted(project.rglob("*")) == before


def test_names_of_other_alphabets_are_names(tunewright: Tunewright, project: Path) -> None:
    assert plain_name("größe-2") == "größe-2"
    assert tunewright("new", "größe-2").code == 0
    assert (project / "rounds" / "größe-2.toml").exists()


def test_commands_find_the_project_from_below(
    tunewright: Tunewright, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = project / "notebooks" / "old"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert tunewright("new", "depth").code == 0
    assert (project / "rounds" / "depth.toml").exists()


def test_without_a_project_the_next_command_is_said(tunewright: Tunewright) -> None:
    answer = tunewright("new", "depth")
    assert answer.code == 2
    assert "tunewright init" in answer.err


def test_every_problem_of_a_file_at_once(tunewright: Tunewright, project: Path) -> None:
    (project / "rounds" / "bad.toml").write_text(
        'gaol = "x"\ntrials_per_study = 0\n[nuisance]\nlearning_rate = { lgo = [1, 2] }\n'
    )
    answer = tunewright("run", "bad")
    assert answer.code == 2
    for part in ("gaol", "goal", "trials_per_study", "'log'"):
        assert part in answer.err
    assert "bad.toml" in answer.err


def test_a_store_is_relative_to_the_file_that_names_it() -> None:
    folder = Path("/home/me")
    assert anchor("postgresql://host/db", folder) == "postgresql://host/db"
    assert anchor("/data/t.db", folder) == "/data/t.db"
    with pytest.raises(Misuse):
        plain_name("a\\b")


def test_doctor_examines_a_fresh_project(tunewright: Tunewright, project: Path) -> None:
    answer = tunewright("doctor", "--json")
    assert answer.code == 0
    found = {one["what"]: one for one in answer.data["examined"]}
    assert found["workload"]["verdict"] == "ok"
    assert found["locks"]["verdict"] == "ok"
    assert found["store"]["verdict"] == "note"  # not there yet
    assert not list(project.glob("*.doctor*"))
    assert not (project / "tuning.db").exists()


def test_doctor_finds_what_is_broken(tunewright: Tunewright, ran: Path) -> None:
    (ran / "rounds" / "bad.toml").write_text("goal = 3\n")
    (ran / "tuning.db").write_bytes(b"SQLite format 3\x00" + b"\x00" * 5000)
    for extra in ("-wal", "-shm"):
        (ran / f"tuning.db{extra}").unlink(missing_ok=True)
    answer = tunewright("doctor")
    assert answer.code == 3
    assert "damaged" in answer.out
    assert "tunewright restore" in answer.out
    assert "round bad" in answer.out


def test_doctor_speaks_about_a_broken_project_file(tunewright: Tunewright, project: Path) -> None:
    (project / "tunewright.toml").write_text("[workload]\nminimise = 'x'\n")
    answer = tunewright("doctor")
    assert answer.code == 3
    assert "'minimize'" in answer.out


NAMED = "python train.py --lr={lr} --bs={bs} --n={epochs} --seed={run.seed}"


def test_init_writes_what_names_mean_by_their_spelling(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    answer = tunewright("init", NAMED, "--minimize", "val_loss", "--json")
    means = {
        "batch_size": "bs",
        "max_train_steps": "epochs",
        "learning_rate": "lr",
        "valid_loss": "val_loss",
    }
    assert answer.data["means"] == means
    assert tomllib.loads((tmp_path / "tunewright.toml").read_text())["workload"]["means"] == means
    project = find_project()
    assert project is not None and project.workload().meaning.guessed == {}
    (tmp_path / "tunewright.toml").unlink()
    shown = tunewright("init", NAMED, "--minimize", "val_loss").out
    assert "lr as learning_rate" in shown and "[workload.means]" in shown


def test_a_declared_name_that_the_command_lacks_is_refused(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    assert tunewright("init", NAMED, "--minimize", "val_loss").code == 0
    settings = tmp_path / "tunewright.toml"
    settings.write_text(settings.read_text().replace('"epochs"', '"max_steps"'))
    answer = tunewright("new", "first", "--json")
    assert answer.code == 2
    assert answer.error["code"] == "meaning.not_taken"
    facts = answer.error["facts"]
    assert facts["near"] == "epochs" and facts["known"] == ["bs", "epochs", "lr"]
    settings.write_text(settings.read_text().replace('"max_steps"', "{ none = true }"))
    assert tunewright("new", "first").code == 0


def test_a_dry_run_shows_what_was_guessed(tunewright: Tunewright, project: Path) -> None:
    (project / "train.py").write_text(SPELLED.replace("max_train_steps", "n_steps"))
    text = 'goal = "?"\ntrials_per_study = 5\n[nuisance]\nlr = { log = [0.01, 0.1] }\n'
    (project / "rounds" / "first.toml").write_text(text)
    notes = {
        one["code"]: one for one in tunewright("run", "first", "--dry-run", "--json").data["advice"]
    }
    assert notes["meaning.guessed"]["means"]["max_train_steps"] == "n_steps"
    assert "n_steps as max_train_steps" in tunewright("run", "first", "--dry-run").out
    searched = text + "n_steps = { integers = [5, 20] }\n"
    (project / "rounds" / "second.toml").write_text(searched)
    refused = tunewright("run", "second", "--dry-run", "--json")
    assert refused.error["code"] == "guard.searched_steps"


def test_new_asks_about_what_the_round_is_called_after(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    line = "python train.py --lr={learning_rate} --dropout={dropout} --decay_lr={decay_lr}"
    assert tunewright("init", line, "--minimize", "val_loss").code == 0
    settings = tmp_path / "tunewright.toml"
    means = 'schedule = "decay_lr"\n[workload.off]\ndecay_lr = "False"\n'
    settings.write_text(settings.read_text() + means)
    answer = tunewright("new", "dropout", "--space", "adamw", "--json")
    assert answer.data["without_role"] == []
    found = tomllib.loads((tmp_path / "rounds" / "dropout.toml").read_text())
    assert found["scientific"] == {"dropout": [0.0, 0.1]}
    assert found["fixed"] == {"decay_lr": "False"}
    assert tunewright("new", "later", "--space", "adamw", "--lr-decay").code == 0
    found = tomllib.loads((tmp_path / "rounds" / "later.toml").read_text())
    assert found["fixed"]["decay_lr"] == "True"


def test_new_lists_the_values_that_the_program_allows(
    tunewright: Tunewright, tmp_path: Path
) -> None:
    """A schedule is never asked about by its name alone, but one of a list of names is."""
    program = tmp_path / "train.py"
    program.write_text(
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--learning-rate', type=float, required=True)\n"
        "parser.add_argument('--decay', choices=['constant', 'linear'], default='constant')\n"
        "parser.parse_args()\n"
    )
    assert tunewright("init", "train.py", "--scan", "--minimize", "valid_error").code == 0
    first = tomllib.loads((tmp_path / "rounds" / "first.toml").read_text())
    assert first["nuisance"] == {"learning_rate": {"log": [1e-4, 1.0]}}, "no default is known"
    answer = tunewright("new", "decay")
    assert answer.code == 0 and "a role for" not in answer.out, "every one has a role"
    written = tomllib.loads((tmp_path / "rounds" / "decay.toml").read_text())
    assert written["scientific"] == {"decay": ["constant", "linear"]} and not written["fixed"]
    program.unlink()
    assert tunewright("new", "decay_2").code == 0
    without = (tmp_path / "rounds" / "decay_2.toml").read_text()
    assert '# decay = ["constant", ]' in without, "without its source only the default is known"
