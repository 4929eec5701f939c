from __future__ import annotations

import pytest
from tests.problems import codes, problems, states

from tunewright.design.conditions import given
from tunewright.design.ranges import integers, linear, log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.messages import Message

LR = {"learning_rate": log(1e-4, 1e-1)}


def refusal(**changes) -> DesignError:
    """The error of a round that is fine but for these changes."""
    fine = {"goal": "Does it help?", "nuisance": LR, "trials_per_study": 4}
    name = changes.pop("name", "fine")
    with pytest.raises(DesignError) as refused:
        Round(name, **{**fine, **changes})
    return refused.value


@pytest.mark.parametrize("name", ["", "  ", None, 3, "a\nb", "a\0b", "x" * 201, "\ud800"])
def test_odd_names_of_rounds_and_hyperparameters(name) -> None:
    for error, place in (
        (refusal(name=name), "round.bad_name"),
        (refusal(nuisance={name: log(1, 2)}), "nuisance"),
        (refusal(fixed={name: 1}), "fixed"),
    ):
        ((code, facts),) = problems(error)
        assert code in ("name.empty", "name.too_long", "name.unprintable")
        assert facts["within"] == [place]


@pytest.mark.parametrize("goal", ["", " \n ", None, 7])
def test_a_goal_is_required(goal) -> None:
    assert codes(refusal(goal=goal)) == ["round.goal_empty"]


def test_text_that_no_record_can_hold() -> None:
    assert problems(refusal(goal="a\0")) == [("round.goal_unstorable", {"goal": "a\0"})]
    found = {"place": "name", "value": "a\0", "within": ["fixed"]}
    assert problems(refusal(fixed={"name": "a\0"})) == [("value.unstorable", found)]


@pytest.mark.parametrize("trials", [0, -1, 2.0, True, "8", None, 10**8])
def test_trials_per_study_is_a_count(trials) -> None:
    found = {"trials_per_study": trials, "most": 10_000_000}
    assert problems(refusal(trials_per_study=trials)) == [("round.bad_trials_per_study", found)]


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, True, None])
def test_seeds(seed) -> None:
    assert problems(refusal(seed=seed)) == [("round.bad_seed", {"seed": seed})]


@pytest.mark.parametrize("detect", [0, -1, float("nan"), float("inf"), True, "1", 10**400])
def test_detect_is_a_difference(detect) -> None:
    assert codes(refusal(detect=detect)) == ["round.bad_detect"]


@pytest.mark.parametrize(
    "changes, said",
    [
        (
            {"scientific": {"layers": 2}},
            ("round.scientific_value", {"name": "layers", "declared": 2}),
        ),
        (
            {"scientific": {"optimizer": given({"adam": {}})}},
            ("round.scientific_given", {"name": "optimizer", "values": ["adam"]}),
        ),
        (
            {"scientific": {"layers": []}},
            ("range.no_choices", {"within": ["scientific", "layers"]}),
        ),
        (
            {"scientific": [1, 2]},
            ("round.role_not_mapping", {"role": "scientific", "declared": [1, 2]}),
        ),
        (
            {"nuisance": {"learning_rate": 0.1}},
            (
                "declaration.nothing_to_search",
                {"column": "learning_rate", "declared": 0.1, "within": ["nuisance"]},
            ),
        ),
        (
            {"nuisance": {"optimizer": given({"adam": {"beta1": 0.9}, "sgd": {"m": 0.9}})}},
            (
                "declaration.nothing_to_search",
                {"column": "optimizer.sgd.m", "declared": 0.9, "within": ["nuisance"]},
            ),
        ),
        (
            {"fixed": {"width": [1, 2]}},
            (
                "declaration.fixed_range",
                {"column": "width", "range": "choice(1, 2)", "within": ["fixed"]},
            ),
        ),
        (
            {"fixed": {"model": print}},
            (
                "value.not_plain",
                {
                    "place": "model",
                    "value": "<built-in function print>",
                    "type": "builtin_function_or_method",
                    "within": ["fixed"],
                },
            ),
        ),
        (
            {"fixed": {"width": 2**60}},
            (
                "value.beyond_integers",
                {"place": "width", "value": 1152921504606846976, "within": ["fixed"]},
            ),
        ),
        (
            {"fixed": {"width": float("inf")}},
            ("value.not_finite", {"place": "width", "within": ["fixed"]}),
        ),
        (
            {"fixed": {"learning_rate": 0.1}},
            ("round.two_roles", {"name": "learning_rate", "roles": ["nuisance", "fixed"]}),
        ),
        (
            {"fixed": {"optimizer": given({"adam": {"a": 1}})}},
            ("given.parent_has_one_value", {"column": "optimizer", "values": ["adam"]}),
        ),
        (
            {
                "scientific": {"optimizer": ["adam", "sgd"]},
                "nuisance": {"optimizer": given({"adam": {}})},
            },
            (
                "given.missing_values",
                {"column": "optimizer", "missing": ["sgd"], "within": ["nuisance"]},
            ),
        ),
        (
            {
                "scientific": {"optimizer": ["adam"]},
                "nuisance": {"optimizer": given({"adam": {}, "sgd": {}})},
            },
            (
                "given.unknown_values",
                {
                    "column": "optimizer",
                    "unknown": ["sgd"],
                    "values": ["adam"],
                    "within": ["nuisance"],
                },
            ),
        ),
        (
            {
                "scientific": {"width": integers(1, 8)},
                "nuisance": {"width": given({1: {}, 2: {}})},
            },
            (
                "given.parent_is_range",
                {
                    "role": "nuisance",
                    "name": "width",
                    "declared": "integers(1, 8)",
                    "values": [1, 2],
                },
            ),
        ),
        (
            {"nuisance": {**LR, "optimizer": given({"adam": LR, "sgd": {}})}},
            ("round.declared_twice", {"name": "learning_rate", "study": "all"}),
        ),
        (
            {
                "nuisance": {"opt": ["a", "b"], **LR},
                "fixed": {"opt": given({"a": {"learning_rate": 1.0}, "b": {}})},
            },
            ("round.declared_twice", {"name": "learning_rate", "study": "all"}),
        ),
        (
            {"nuisance": {"o": given({"a": LR}), "o.a.learning_rate": linear(0, 1)}},
            ("round.same_column", {"column": "o.a.learning_rate"}),
        ),
        (
            {"nuisance": {"flag": given({True: LR, "True": LR})}},
            ("round.same_column", {"column": "flag.True.learning_rate"}),
        ),
        (
            {"scientific": {f"s{i}": list(range(30)) for i in range(3)}},
            ("round.too_many_studies", {"studies": 27000, "most": 10000}),
        ),
        (
            {"scientific": {"s": list(range(1000))}, "trials_per_study": 100_000},
            (
                "round.too_many_trials",
                {"studies": 1000, "trials_per_study": 100000, "most": 10000000},
            ),
        ),
        (
            {"nuisance": {f"g{i}": given({1: {f"x{i}": log(1, 2)}, 2: {}}) for i in range(10)}},
            ("study.too_many_branches", {"study": "all", "most": 1000}),
        ),
    ],
)
def test_every_refusal_says_what_and_what_to_do(changes, said) -> None:
    assert states(refusal(**changes), *said)


@pytest.mark.parametrize(
    "change", ["wider", {"code": "change.wider"}, Message("no.such_code"), Message("change.wider")]
)
def test_a_change_is_a_message_that_can_be_read(change) -> None:
    with pytest.raises(DesignError) as refused:
        Round("r", goal="?", trials_per_study=1, change=change)
    assert codes(refused.value) == ["round.bad_change"]


def test_all_problems_are_said_at_once() -> None:
    found = refusal(
        name="",
        goal="",
        trials_per_study=0,
        seed=-1,
        detect=0,
        scientific={"layers": 2},
        nuisance={"optimizer": given({"adam": {"beta1": 0.9}, "sgd": {"m": 0.9}}), "x": []},
        fixed={"width": [1, 2], "model": print},
    )
    assert codes(found) == [
        "name.empty",
        "round.goal_empty",
        "round.bad_trials_per_study",
        "round.bad_seed",
        "round.bad_detect",
        "range.no_choices",
        "value.not_plain",
        "round.scientific_value",
        "declaration.nothing_to_search",
        "declaration.nothing_to_search",
        "declaration.fixed_range",
    ]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [("max_iters", "max_train_steps"), ("bs", "batch_size"), ("width", None)],
)
def test_a_fixed_range_is_not_sent_to_where_it_is_refused(name: str, meaning: str | None) -> None:
    with pytest.raises(DesignError) as refused:
        Round("r", goal="?", fixed={name: integers(50, 100)}, trials_per_study=1)
    assert states(refused.value, "declaration.fixed_range", {"column": name, "meaning": meaning})
