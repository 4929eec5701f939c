"""What is switched off, by meaning, and what a probe begins from."""

from __future__ import annotations

import pytest

import tunewright as tw
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.executors.inline import Inline
from tunewright.messages import Message
from tunewright.probes.starting_point import best_known, configuration, features_off


def train(run, lr=0.1, wd=0.01, mixup=0.4, augment=True, warmup=10, decay="cosine", width=64):
    run.log(1, valid_error=abs(lr - 0.2) + wd)


MEANS = {
    "learning_rate": "lr",
    "weight_decay": "wd",
    "warmup_steps": "warmup",
    "schedule": "decay",
    "regularisers": ["wd", "mixup"],
}


def workload(folder=None, **more) -> tw.Workload:
    store = "none.db" if folder is None else folder / "tuning.db"
    return tw.Workload(
        train, tw.minimize("valid_error"), store=store, executor=Inline(), means=MEANS, **more
    )


def test_what_has_an_obvious_off_value_needs_no_entry():
    off, missing = features_off(workload(off={"augment": False, "schedule": "constant"}), {})
    assert off == {"augment": False, "decay": "constant", "wd": 0.0, "warmup": 0}
    assert missing == [Message("probe.off_value", {"name": "mixup", "schedule": False})]
    assert 'off={"mixup": ...}' in missing[0].text


def test_an_entry_for_a_name_the_program_lacks_is_a_slip():
    with pytest.raises(WorkloadError) as refused:
        workload(off={"augmnt": False, "decay": "constant", "mixup": 0.0})
    (problem,) = refused.value.problems
    assert (problem.code, problem.facts["near"]) == ("meaning.off_not_taken", "augment")


def test_a_configuration_is_fixed_then_known_then_default(tmp_path):
    own = workload(tmp_path)
    assert best_known(own) is None
    tw.run(
        tw.Round(
            "first",
            goal="g",
            nuisance={"lr": tw.linear(0.1, 0.3)},
            fixed={"wd": 0.02},
            trials_per_study=4,
        ),
        own,
    )
    tw.run(tw.Round("probe_x", goal="g", fixed={"lr": 0.2, "wd": 0.0}, trials_per_study=1), own)
    known = best_known(own)
    assert known.configuration["wd"] == 0.02  # not that of a probe
    found = configuration(own, known, {"width": 32})
    assert found["width"] == 32 and found["wd"] == 0.02 and found["mixup"] == 0.4
    with pytest.raises(DesignError, match="Did you mean 'width'"):
        configuration(own, known, {"widht": 32})
