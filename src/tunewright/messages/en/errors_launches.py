"""Sentences of the errors raised in `launches`."""

from __future__ import annotations

from tunewright.messages import Facts, Template


def _unknown_baseline(facts: Facts) -> str:
    near = facts["near"]
    hint = f"did you mean {near!r}?" if near else f"there is: {', '.join(facts['known'])}."
    return (
        f"baseline {facts['named']}: no round of this name, and no trial's number; {hint} Name a "
        "round (its best trial), ROUND:7, or a trial of this round by its number."
    )


SENTENCES: dict[str, Template] = {
    "final_test.fold_needs_last_launch": (
        "folding the validation data into the training data of {round} leaves nothing to judge "
        "the next change by. Do it only when no later launch is planned for this workload, and "
        "declare it: no_later_launch=True (--no-later-launch)."
    ),
    "final_test.fold_without_switch": (
        'fold(switch={{}}): name the hyperparameter, {{"train_on_validation": True}}'
    ),
    "final_test.not_a_test_look": (
        "the evaluation by {with_} was not a look at the test set: call evaluate(..., test=True)."
    ),
    "final_test.not_measured": "trial {trial} could not be measured: {reason}{detail}",
    "final_test.switched_on_already": (
        "trial {trial} was trained with {name} = {value!r} already: its validation metric "
        "measured training data, so it should not have been chosen by it."
    ),
    "final_test.trial_of_a_trial": (
        "trial= chooses one of some results: give the results, not a trial."
    ),
    "final_test.unknown_switch": "trial {trial} has no hyperparameter {name!r}. {hint}",
    "launch.already_baseline": (
        "trial {trial} of {round} is the baseline already: there is nothing to launch."
    ),
    "launch.already_the_baseline": (
        "trial {trial} of {round} is the baseline already: there is nothing to launch. Name "
        "another candidate with trial= (--trial N); `tunewright history` lists what was "
        "launched."
    ),
    "launch.bad_candidates": (
        "candidates={candidates!r}: how many are compared with this baseline, from 1."
    ),
    "launch.bad_complexity": (
        "complexity={complexity!r}: the gain it takes to be worth its cost, from 0. Use "
        "not_worse_by= to ask whether something can be removed."
    ),
    "launch.bad_detect": "detect={detect!r}: the smallest difference worth finding, above 0.",
    "launch.bad_not_worse_by": (
        "not_worse_by={not_worse_by!r}: the loss you would accept, above 0, in the metric's units."
    ),
    "launch.bad_plan": "plan={plan!r}: at how many runs per arm to decide, a whole number from 1; "
    "for several looks one of the plans of tunewright.launches.plan.",
    "launch.bad_splits": "splits={splits!r}: how many data splits, from {fewest}.",
    "launch.baseline_not_completed": (
        "{round}: no trial with {label} has completed, which would be the baseline. Name "
        "another one: against= (--baseline)."
    ),
    "launch.candidate_is_baseline": (
        "{label} is both candidate and baseline: compare it with another."
    ),
    "launch.examples_differ": (
        "{candidate} examples of the candidate and {baseline} of the baseline: both must be "
        "evaluated on the same ones, in the same order."
    ),
    "launch.first_is_baseline": (
        "{place} is the baseline already: launch without first=True (--first) to compare with it."
    ),
    "launch.looks_not_growing": "looks at {looks}: numbers of runs that grow, from 1.",
    "launch.no_baseline": (
        "{round} has one setting and nothing was launched before: there is no baseline. Make "
        "its best trial the first one with first=True ({command} --first), or name one with "
        'against="ROUND" ({command} --baseline ROUND).'
    ),
    "launch.no_calibrated_plan": (
        "a plan of {looks} looks: thresholds are calibrated for one, for 5 and 10 runs, for 3 "
        "5 8 13 20, and for 3 5 7 ... 19."
    ),
    "launch.no_other_setting": "{round}: no other setting than {label} has completed.",
    "launch.not_a_candidate": (
        "launch({candidate!r}): give results, or a trial such as results.best(layers=2)."
    ),
    "launch.not_an_array": "{path}: not an array of numbers ({error}).",
    "launch.not_repeats": (
        "give the repeats of a trial: tw.repeat(results.best(), workload, times=5)."
    ),
    "launch.objectives_differ": (
        "the candidate is judged by {candidate}, the baseline by {baseline}: judge both alike "
        "with results.with_objective(...)."
    ),
    "launch.repeats_differ_in_objective": "these repeats are judged by different objectives.",
    "launch.split_of_every_value": (
        "{label}: {values} values on {splits} splits; name the split of every value."
    ),
    "launch.study_variance_unknown": (
        "in_general (--in-general): the study variance of the gain is not known. It takes "
        "eight feasible trials in each of the two studies, or three replicates: "
        "tw.launches.variance(results, workload, studies=3) "
        "(tunewright variance ROUND --studies 3)."
    ),
    "launch.too_few_examples": (
        "{what}: give at least {fewest} finite numbers, one for each example."
    ),
    "launch.candidate_pruned": (
        "trial {trial} of {round} was stopped early and has no final value: launch one that "
        "completed."
    ),
    "launch.trial_is_repeat": "this trial is a repeat of trial {parent}: launch that one.",
    "launch.trials_differ_in_examples": (
        "{file} of these trials hold different numbers of examples."
    ),
    "launch.two_questions": "complexity= and not_worse_by= are two questions: ask one of them.",
    "launch.unknown_baseline": _unknown_baseline,
    "launch.value_not_finite": "{label}: {values:list} among its values. A run that diverged is no "
    "value: leave it out, and count it by infeasible=.",
    "launch.unknown_claim": "claim={claim!r}: one of {claims:list}.",
    "variance.bad_splits": "splits={splits!r}: on how many data splits, from 1.",
    "variance.bad_studies": "studies={studies!r}: how many in all, from 2; three are useful.",
    "variance.no_workload": (
        "times=, studies= and splits= train: give the workload, "
        "tw.launches.variance(results, workload, times=5)."
    ),
}
