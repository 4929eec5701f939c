"""What a browser draws is what the figure holds."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.ui.small_world import read_frame

import tunewright as tw
from tunewright.checks.checklist import check
from tunewright.present.figures.axis import axis_data
from tunewright.present.figures.curves import curves_data
from tunewright.present.live_figures import DRAWN, LIVE, figure_data, packed
from tunewright.present.report_parts import chapters
from tunewright.store.overview import INACTIVE, STATUSES
from tunewright.store.results import Results
from tunewright.testing.surfaces import Bowl, Walled
from tunewright.testing.worlds import World, results

KINDS = {
    "adam": {"rate": tw.log(1e-4, 1e-1), "beta1": tw.linear(0.8, 0.99)},
    "sgd": {"rate": tw.log(1e-2, 10.0)},
}


def made(trials: int = 12) -> Results:
    declared = tw.Round(
        "decay",
        goal="Does it help?",
        scientific={"weight_decay": [0.0, 1e-4]},
        nuisance={"optimizer": tw.given(KINDS), "dropout": tw.linear(0.0, 0.5)},
        fixed={"max_train_steps": 100},
        trials_per_study=trials,
    )
    surface = Walled(Bowl({"dropout": 0.5}), {"dropout": 1.0}, above=0.85)
    return results(declared, World(surface, noise_sd=0.005))


@pytest.fixture(scope="module")
def own() -> Results:
    return made()


@pytest.fixture(scope="module")
def unpacked(own: Results) -> tuple[dict[str, Any], dict[str, Any]]:
    text = packed(own, tuple(chapters(own, check(own))))
    return read_frame(zlib.decompress(base64.b64decode(text)))


def test_every_ended_trial_is_there_with_its_place(
    own: Results, unpacked: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    head, arrays = unpacked
    ended = [t for t in own.trials if t.status in ("completed", "infeasible")]
    assert list(arrays["number"]) == [t.number for t in ended]
    assert [STATUSES[s] for s in arrays["status"]] == [t.status for t in ended]
    known = np.array([np.nan if t.value is None else t.value for t in ended])
    np.testing.assert_allclose(arrays["value"], known, rtol=1e-6)
    data = axis_data(own)
    assert head["columns"] == [panel.column for panel in data.panels]
    places = arrays["position"].reshape(len(ended), len(data.panels))
    for at, panel in enumerate(data.panels):
        active = np.isin(arrays["number"], panel.trials)
        assert (places[~active, at] == INACTIVE).all()
        np.testing.assert_allclose(places[active, at] / 65534, panel.positions, atol=1e-5)


def test_figures_are_keyed_by_their_place_in_the_report(
    own: Results, unpacked: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    every = [c.kind for c in chapters(own, check(own)) for _ in c.figures]
    head, _ = unpacked
    assert {int(at): one["kind"] for at, one in head["figures"].items()} == {
        at: kind for at, kind in enumerate(every) if kind in LIVE
    }
    assert {"axis", "curves", "isolation"} <= set(every)


def test_an_axis_is_named_by_its_hyperparameter(
    own: Results, unpacked: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    (axis,) = [one for one in unpacked[0]["figures"].values() if one["kind"] == "axis"]
    names = {one["column"]: (one["name"], one["condition"]) for one in axis["data"]["axes"]}
    assert names["optimizer.adam.rate"][0] == "rate" and "adam" in names["optimizer.adam.rate"][1]
    assert names["weight_decay"] == ("weight_decay", "")
    assert axis["data"]["best"] == [t.number for t in own.top(5)]


def test_curves_are_those_of_the_figure(
    own: Results, unpacked: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    (shown,) = [one for one in unpacked[0]["figures"].values() if one["kind"] == "curves"]
    wanted = [t.trial for study in curves_data(own).studies for t in study.trials]
    found = [line["trial"] for plot in shown["data"]["plots"] for line in plot["curves"]]
    assert set(found) == set(wanted)
    for plot in shown["data"]["plots"]:
        for line in plot["curves"]:
            assert len(line["steps"]) == len(line["values"]) <= 400


def test_long_rows_have_six_digits_and_short_ones_all(own: Results) -> None:
    for chapter in chapters(own, check(own), only=DRAWN):
        for figure in chapter.figures:
            text = json.dumps(figure_data(chapter.kind, figure), allow_nan=False)
            assert text
            if chapter.kind == "isolation":
                arms = json.loads(text)["data"]["arms"]
                assert [arm["best"] for arm in arms] == [arm.best for arm in figure.data.arms]


def test_a_joined_trial_is_known_by_its_own_round(own: Results) -> None:
    first = replace(own.recorded[0], origin=("older", 7))
    joined = replace(own, recorded=(first, *own.recorded[1:]))
    text = packed(joined, tuple(chapters(joined)))
    head, _ = read_frame(zlib.decompress(base64.b64decode(text)))
    assert list(head["labels"].values()) == [str(first.shown_number)]


def test_nothing_to_draw(own: Results) -> None:
    waiting = tuple(replace(t, status="pending") for t in own.recorded)
    empty = replace(own, recorded=waiting)
    head, arrays = read_frame(
        zlib.decompress(base64.b64decode(packed(empty, tuple(chapters(empty)))))
    )
    assert len(arrays["number"]) == 0 and set(head["figures"]) <= {"0", "1", "2", "3"}
