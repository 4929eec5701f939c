"""Launch decisions, variances and final tests in English."""

from __future__ import annotations

from collections.abc import Callable

from tunewright import messages
from tunewright.messages import Facts, Reader, Template, declaration, words

# what a warning of the checklist means for a launch, by check
OBJECTIONS = {
    "baseline": "the round has learned nothing",
    "training_bug": "the training itself looks wrong",
    "overfitting": "the best trials overfit; regularise before comparing settings",
    "fairness": "the settings were not tuned equally well",
    "boundary": "the best trials crowd at the end of a range",
    "edge_of_divergence": "instability holds the best learning rate down",
    "applied": "the program did not use a value that it was given",
    "same_code": "the trials of the round do not come from the same code",
}
CLAIMS = {"feature": "a feature", "hyperparameters": "hyperparameters only"}
SOURCES = {"trial": "seed", "study": "tuning", "data": "data"}


def _headline(facts: Facts) -> str:
    """Should I launch?"""
    verdict, margin = facts["verdict"], facts["not_worse_by"]
    if facts["because"] == "launch.deterministic":
        way = "Launch" if verdict == "launch" else "Keep the baseline"
        better = "better" if facts["gain"] > 0 else "worse"
        by = f"{better} by {abs(facts['gain']):.3g}" if facts["gain"] else "equal"
        return f"{way}: {by} (deterministic: no probability)"
    if verdict == "launch":
        sure = words.probability(facts["probability"])
        if margin is not None:
            return f"Launch: worse by less than {margin:.3g} with probability {sure}"
        return f"Launch: better with probability {sure}"
    if verdict == "keep":
        if margin is not None:
            return f"Keep the baseline: the loss may exceed {margin:.3g}"
        if facts["gain"] is not None and facts["gain"] <= 0:
            return "Keep the baseline: the candidate is not better"
        if facts["because"] == "launch.futile":
            return "Keep the baseline: a gain worth having is unlikely"
        if facts["complexity"]:
            return "Keep the baseline: the gain may not be worth its cost"
        return "Keep the baseline: the gain may be noise"
    if facts["runs_needed"]:
        runs = words.count(facts["runs_needed"], "more run")
        return f"Undecided: {runs} each {'is' if facts['runs_needed'] == 1 else 'are'} needed"
    return UNDECIDED.get(facts["because"], _check_objects)(facts)


def _check_objects(facts: Facts) -> str:
    return f"Undecided: {OBJECTIONS.get(facts['check'], 'the checklist objects')}"


UNDECIDED: dict[str, Callable[[Facts], str]] = {
    "launch.too_small": lambda facts: "Undecided: the difference is too small to see",
    "launch.different_splits": lambda facts: "Undecided: the two were evaluated on different data",
    "launch.infeasible_repeats": lambda facts: "Undecided: the candidate trains less stably",
    "launch.too_few_runs": lambda facts: "Undecided: too few runs completed",
    "launch.identical_repeats": lambda facts: "Undecided: the program does not use its seed",
    "launch.different_lengths": lambda facts: "Undecided: the two train for different lengths",
    "launch.not_deterministic": lambda facts: "Undecided: declared deterministic, but repeats vary",
}


def _probability(facts: Facts) -> str:
    pair = f"than {facts['baseline']}"
    if facts["not_worse_by"] is not None:
        what = f"is worse {pair} by no more than {facts['not_worse_by']:.3g}"
    else:
        what = f"is better {pair}"
        what += f" by more than {facts['must_exceed']:.3g}" if facts["must_exceed"] else ""
    sure, needed = words.probability(facts["probability"]), words.probability(facts["threshold"])
    return f"{facts['candidate']} {what} with probability {sure}; launching needs {needed}"


def _difference(facts: Facts) -> str:
    gain, expected, (low, high) = facts["gain"], facts["shrunk_gain"], facts["interval"]
    means = (
        f"{facts['metric']} {facts['candidate_mean']:.4g} ({facts['candidate_runs']} runs) against "
        f"{facts['baseline_mean']:.4g} ({facts['baseline_runs']})"
    )
    if gain < 0:
        low, high = -high, -low
    within = f"90 % interval {low:.3g} to {high:.3g}"
    if not gain:
        return f"{means}: equal ({within})"
    way = "better" if gain > 0 else "worse"
    return (
        f"{means}: {way} by about {abs(expected):.3g} ({within}; observed {abs(gain):.3g}, shrunk "
        "for seed variance)"
    )


def _deterministic(facts: Facts) -> str:
    gain = facts["gain"]
    way = "equal" if not gain else f"{'better' if gain > 0 else 'worse'} by {abs(gain):.3g}"
    margin = ""
    if facts["not_worse_by"] is not None:
        margin = f", where a loss of {facts['not_worse_by']:.3g} is accepted"
    elif facts["must_exceed"]:
        margin = f", where {facts['must_exceed']:.3g} is asked for"
    return (
        f"deterministic: {way} ({facts['metric']} {facts['candidate_mean']:.4g} against "
        f"{facts['baseline_mean']:.4g}){margin}; no probability"
    )


def _identical(facts: Facts) -> str:
    arms = " and of ".join(f"{label} ({runs})" for label, runs in facts["runs"].items())
    return (
        f"all repeats of {arms} gave the same value: the program does not use its seed, so that "
        "no probability can be given. Let it use run.seeds (a command: {run.seed}), or declare "
        f"it: {declaration('workload', 'deterministic', True)}"
    )


def _not_deterministic(facts: Facts) -> str:
    arms = ", ".join(f"{label} by {sd:.3g}" for label, sd in facts["arms"].items())
    return f"the program is declared deterministic, but repeats differ: {arms}"


def _false_launches(facts: Facts) -> str:
    if facts["not_worse_by"] is not None:
        what = f"a candidate that is worse by {facts['not_worse_by']:.3g}"
    elif facts["must_exceed"]:
        what = f"a change that gains no more than {facts['must_exceed']:.3g}"
    else:
        what = "a change that does nothing"
    if facts["candidates"] > 1:
        what += f", in any of {facts['candidates']} candidates,"
    most = "at most" if facts["at_most"] else "about"
    return f"this rule launches {what} in {most} {words.probability(facts['rate'])} of decisions"


def _other_runs(facts: Facts) -> str:
    runs = " and ".join(map(str, facts["asked"]))
    looks = " ".join(map(str, facts["looks"]))
    return f"{runs} runs where {facts['planned']} were planned: judged as one of the looks {looks}"


def _earlier_look(facts: Facts) -> str:
    looks = " ".join(map(str, facts["looks"]))
    return f"this pair was decided on before: judged as one of the looks {looks}"


def _too_few_runs(facts: Facts) -> str:
    arm = "each" if facts["arm"] == "each" else f"the {facts['arm']}"
    more = "" if facts["sd_known"] else "; fewer show no spread, unless sd= is known"
    runs = f"{facts['candidate_runs']} + {facts['baseline_runs']} runs"
    return f"{runs}: at least {facts['needed']} of {arm} are needed{more}"


def _futile(facts: Facts) -> str:
    if facts["not_worse"]:
        return "so low a probability is not worth more runs"
    chance = words.probability(facts["probability"])
    return f"a gain above {facts['gain']:.3g} has a probability of {chance}: not worth more runs"


def _objection(facts: Facts) -> str:
    of = "" if facts["scope"] == "round" else f" ({facts['about']})"
    text = messages.finding(facts["check"], facts["verdict"], facts["evidence"])
    return f"{OBJECTIONS[facts['check']]}{of}: {text}"


def _claim(why: str) -> Callable[[Facts], str]:
    def claim(facts: Facts) -> str:
        return f"the claim is about {CLAIMS[facts['claim']]}: {messages.fill(why, facts)}"

    return claim


def _runs_lost(facts: Facts) -> str:
    lost = [f"{facts['failed']} failed"] * bool(facts["failed"])
    lost += [f"{facts['unfinished']} have not ended"] * bool(facts["unfinished"])
    return f"of the {facts['asked']} repeats of {facts['arm']}, {' and '.join(lost)}"


def _value_held(facts: Facts) -> str:
    when = " and ".join(f"{name} = {value}" for name, value in facts["when"])
    return f"{facts['name']} = {facts['value']}{f' under {when}' if when else ''}"


def _all_held(facts: Facts) -> str:
    return f"holds for {', '.join(_value_held(value) for value in facts['held'])}"


def _holds_for(facts: Facts) -> str:
    return f"holds for {_value_held(facts)}"


def _look(facts: Facts) -> str:
    """One look of a launch that is still running, on one line."""
    runs = f"{facts['candidate_runs']} + {facts['baseline_runs']} runs"
    if facts["probability"] is None:
        return f"{runs}: too few to judge"
    sure, needed = words.probability(facts["probability"]), words.probability(facts["threshold"])
    more = f"; {facts['runs_needed']} more of each follow" if facts["runs_needed"] else ""
    return f"{runs}: probability {sure}, launching needs {needed}{more}"


def _asks(facts: Facts) -> str:
    """What a planned launch asks, at which probability and how many runs."""
    metric, asks = facts["metric"], "better"
    if facts["not_worse_by"] is not None:
        asks = f"worse by no more than {words.number(facts['not_worse_by'])} {metric}"
    elif facts["complexity"]:
        asks = f"better by more than {words.number(facts['complexity'])} {metric}"
    looks = ", ".join(map(str, facts["looks"]))
    sure = words.probability(facts["threshold"])
    return f"{asks}, with probability {sure}, at {looks} runs each"


def _cost(facts: Facts) -> str:
    low, high = facts["runs"]
    runs = f"{low}" if low == high else f"{low} to {high}"
    candidate, baseline = facts["there"]
    time = words.duration_range(*facts["seconds"])
    return f"{runs} runs ({candidate} and {baseline} are there already), {time} on one worker"


def _history(facts: Facts) -> str:
    if facts["sd"] is None:
        return "none: only these runs show the spread"
    known = "declared" if facts["declared"] else f"{facts['runs']} earlier repeats"
    return f"a standard deviation of {words.number(facts['sd'])} ({known})"


def _power(facts: Facts) -> str:
    if facts["sequential"]:
        shares = ", ".join(f"{e:g} sd in {words.probability(p)}" for e, p in facts["finds"])
        return f"a gain of {shares} of launches"
    needed = ", ".join(f"{effect:g} sd {runs}" for effect, runs in facts["finds"])
    return f"in 80 of 100 launches, by the gain, with this many runs each: {needed}"


def _decision(facts: Facts) -> str:
    """What a recorded decision rests on, on one line."""
    if facts["gain"] is None:
        return "without a comparison"
    if facts["probability"] is None:
        return f"a difference of {words.number(facts['gain'])} {facts['metric']}, deterministic"
    of = f"a gain of about {words.number(facts['gain'])} {facts['metric']}"
    if facts["not_worse_by"] is not None:
        of = f"a loss below {words.number(facts['not_worse_by'])} {facts['metric']}"
    candidate, baseline = facts["runs"]
    sure = words.probability(facts["probability"])
    return f"probability {sure}, {of}, {candidate} + {baseline} runs, {facts['claim']}"


def _halves(facts: Facts) -> str:
    each = " each" if facts["each"] else ""
    return f"about, from halves of {facts['trials']} trials{each}"


def _final(facts: Facts) -> str:
    metrics = ", ".join(f"{name} {value:.4g}" for name, value in facts["metrics"].items())
    which = "a repeat" if facts["trial"] is None else f"trial {facts['trial']}"
    promised = ""
    if facts["value"] is not None:
        promised = f"; {facts['objective']} there was {facts['value']:.4g}"
    return f"{metrics} on the test set for {which} at step {facts['step']}{promised}"


def _record(facts: Facts) -> str:
    round, metric = words.shell_word(facts["round"]), words.shell_word(facts["metric"])
    option = "--minimize" if facts["minimize"] else "--maximize"
    ranked = f"tunewright show {round} {option} {metric}"
    return f"recorded: {ranked} ranks by it; tunewright trial {round} N shows it"


def _look_at(facts: Facts) -> str:
    times = "once" if facts["times"] == 1 else f"{facts['times']} times"
    why = (
        "another configuration was measured there, so the better of the two is chosen by it"
        if facts["other"]
        else "it is the same checkpoint, so nothing was chosen by it yet"
    )
    return (
        f"The test set was looked at {times} before ({', '.join(facts['days'])}): {why}. Take "
        "fresh test data for a number to report, or report the first look."
    )


def _final_headline(facts: Facts) -> str:
    name, value = next(iter(facts["metrics"].items()))
    if not facts["looks_before"]:
        return f"Report {name} {value:.4g}: the first look at the test set"
    return f"{name} {value:.4g}, but the test set was used before"


# ---- sentences of the errors raised in `launches`


def _unknown_baseline(facts: Facts) -> str:
    near = facts["near"]
    hint = f"did you mean {near!r}?" if near else f"there is: {', '.join(facts['known'])}."
    return (
        f"baseline {facts['named']}: no round of this name, and no trial's number; {hint} Name a "
        "round (its best trial), ROUND:7, or a trial of this round by its number."
    )


_ANY_LENGTH: dict[Reader, str] = {"python": "any_length=True", "shell": "--any-length"}
SENTENCES: dict[str, Template] = {
    # ---- launches
    # the decision
    "launch.headline": _headline,
    "launch.first": "{candidate} is the first baseline; the next candidate has to beat it",
    "launch.planned": "Planned, not run: {candidate} against {baseline}",
    "launch.interrupted": "Interrupted: nothing was recorded; the same call resumes",
    "launch.still_running": "{trials:count trial} of {round} have not ended: the best may change",
    "launch.look": _look,
    # reasons
    "launch.probability": _probability,
    "launch.difference": _difference,
    "launch.deterministic": _deterministic,
    "launch.identical_repeats": _identical,
    "launch.not_deterministic": _not_deterministic,
    "launch.different_lengths": {
        reader: (
            "the candidate trains for {candidate:g} steps, the baseline for {baseline:g}: longer "
            f"training is the difference. Train both as long, or ask for it with {how}"
        )
        for reader, how in _ANY_LENGTH.items()
    },
    "launch.too_small_to_find": (
        "a gain of {gain:.3g} is too small to see: even {runs} runs each would find it in fewer "
        "than 80 of 100 decisions"
    ),
    "launch.runs_to_find": (
        "to find a gain of {gain:.3g} in 80 of 100 decisions takes about {runs} runs each"
    ),
    "launch.false_launches": _false_launches,
    "launch.claim_declared": _claim("declared"),
    "launch.claim_other_code": _claim("candidate and baseline ran different code"),
    "launch.claim_unknown_change": _claim("what was changed is not recorded"),
    "launch.claim_scientific": _claim("the round asked about {names:list}"),
    "launch.claim_not_asked": _claim(
        "only {names:list} changed, which the round did not ask about"
    ),
    "launch.variance_included": lambda facts: (
        f"the interval includes {SOURCES[facts['source']]} variance: a standard deviation of "
        f"{facts['sd']:.3g} {messages.sentence(facts['how'])}"
    ),
    "launch.looked_before": _earlier_look,
    "launch.other_runs": _other_runs,
    "launch.different_splits": (
        "the arms were evaluated on different data splits (the seeds of their rounds differ): "
        "equal settings would look different. Repeat both in rounds of one seed, or give "
        "same_data=True if the program does not take its split from the seed"
    ),
    "launch.infeasible_repeats": (
        "{candidate} of {candidate_asked} repeats of the candidate were infeasible, {baseline} of "
        "{baseline_asked} of the baseline: a mean over the others would hide it. Fix the "
        "instability first"
    ),
    "launch.finding": _objection,
    "launch.too_few_runs": _too_few_runs,
    "launch.no_spread": (
        "all {runs} runs of either gave one value, by chance: no spread to judge by yet"
    ),
    "launch.unbalanced": (
        "{candidate_runs} runs of the candidate against {baseline_runs} of the baseline: {more} "
        "more of the {arm} would balance them"
    ),
    "launch.futile": _futile,
    "launch.next_look": "the next look is at {runs} runs per arm",
    "launch.too_small": (
        "still open after {runs} runs per arm: the difference is smaller than these runs can show"
    ),
    # caveats
    "launch.only_this_point": (
        "about this point only: whether the feature helps however it is tuned was not asked"
    ),
    "launch.one_run": (
        "one run each finds an effect of two standard deviations less than half the time"
    ),
    "launch.unplanned_look": (
        "judged at {runs} runs, which is not one of the planned looks ({looks:list})"
    ),
    "launch.history_contradicted": (
        "earlier repeats had a standard deviation of {sd:.3g}; these runs contradict it, so it "
        "was left out"
    ),
    "launch.unequal_spread": (
        "{arm} varies {ratio:.1f} times as much as the other: with skewed noise five runs each "
        "then launch up to 22 % of equal pairs"
    ),
    "launch.same_curves": (
        "all {runs} repeats of {arm} gave the same value: does the program use its seed?"
    ),
    "launch.lost_runs": _runs_lost,
    "launch.baseline_infeasible": (
        "{infeasible} of {asked} repeats of the baseline were infeasible"
    ),
    "launch.different_code": (
        "candidate and baseline ran different code ({candidate:list} and {baseline:list}): the "
        "gain is that of everything that changed"
    ),
    "launch.reused_runs": (
        "{runs} of the baseline's runs won its own launch. Noise helped to choose it, which makes "
        "it harder to beat: the error is on the safe side"
    ),
    "launch.all_held": _all_held,
    "launch.holds_for": _holds_for,
    # the plan of a launch
    "launch.baseline_named": "as given",
    "launch.baseline_launched": "launched last",
    "launch.baseline_start": "{study}: the starting point of the round",
    "launch.asks": _asks,
    "launch.cost": _cost,
    "launch.history": _history,
    "launch.power": _power,
    "launch.narrow_margin": (
        "a margin below one standard deviation ({sd:number}) mostly stays undecided"
    ),
    "launch.decided": _decision,
    "launch.none_yet": "no launch has been decided yet: tunewright launch ROUND",
    "launch.nothing_run": (
        "no run was started. To ship this point as it is: --claim hyperparameters"
    ),
    "launch.recorded": "recorded: tunewright history. Baseline: {baseline}",
    "repeat.identical": (
        "All repeats of trial {trials:list} gave the same value: the program does not use its "
        "seed. Let it use run.seeds (a command: {{run.seed}}), or declare it: "
        "{declare.workload.deterministic:true}"
    ),
    # variances
    "variance.repeats": "from {repeats} repeats",
    "variance.halves": _halves,
    "variance.studies": "from {studies} studies",
    "variance.replicates": "from {studies} replicate rounds",
    "variance.splits": "from {splits} data splits",
    "variance.examples": "from {examples} examples",
    "variance.examples_of_runs": "from {examples} examples of {runs} runs, one run at a time",
    "variance.shared_examples": "from {examples} shared examples",
    "variance.measurement": lambda facts: (
        "from the uncertainty of each value, measured on the same "
        + (f"{facts['examples']} examples" if facts["examples"] else "examples")
    ),
    "variance.bootstrap": "from {examples} shared examples, drawn again {draws} times",
    "variance.title": "standard deviation of {metric} in {round}",
    "variance.nothing_known": "nothing is known yet",
    "variance.optimism": (
        "the best value was selected for being best: probably optimistic by at least {size:number}"
    ),
    "variance.of.trial": "the same configuration, other seeds",
    "variance.of.study": "the best, if the search were done again",
    "variance.of.data": "the value of one run of the best, on other examples",
    "variance.of.data_of_gain": "its lead over the next, repeats averaged, on other examples",
    "variance.of.splits": "the same configuration, other data splits",
    # evaluations and the final test
    "evaluation.not_selected": "it is {status}, so no checkpoint of it was selected",
    "evaluation.name_taken": (
        "{name} is one of its hyperparameters, and a field of the command as well"
    ),
    "evaluation.failed": "{cause}",
    "evaluation.best_kept": "best kept, for step {step}",
    "evaluation.recorded": _record,
    "evaluation.no_metric": "the evaluation ended without a metric",
    "evaluation.logged_in_training": (
        "training logged {metric} itself: give the offline metric another name, such as "
        "full_{metric}"
    ),
    "final.headline": _final_headline,
    "final.measured": _final,
    "final.first_look": (
        "The checkpoint was chosen by validation, so expect the test set to be a little worse. "
        "Report this number; do not tune on it."
    ),
    "final.looked_before": _look_at,
    # ---- errors launches
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
    "final_test.other_trial": (
        "the test set has measured trial {before} ({looks:count look}): looking at trial {trial} "
        "too would let the test set choose. To look all the same: anyway=True (--anyway)."
    ),
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
    "for several looks one of the plans of tunewright.launches.launch.",
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
