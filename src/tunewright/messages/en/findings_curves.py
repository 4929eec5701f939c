"""Findings about training curves in English: one function per check, headline first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tunewright.messages import Facts, Template, words
from tunewright.messages.en.findings_space import _short as short

FEW = 40  # points of a curve: below it only large effects can be seen


def overfitting(verdict: str, facts: Facts) -> list[str]:
    """Did validation get worse again?"""
    metric, example = short(facts["metric"]), facts["shown"]
    elsewhere = _elsewhere(facts.get("elsewhere"), metric)
    if example is None and verdict == "note":
        return ["Trials below the better half overfit", *elsewhere, *_small_rates(facts)]
    if example is None:
        return [
            f"No overfitting: {metric} does not get worse late in training",
            *elsewhere,
            *_few_points(facts),
        ]
    evidence = [f"{_worsening(example, metric)}, in {who(facts)}", *elsewhere, *_small_rates(facts)]
    if facts["kind"] == "training too":
        return ["Unstable: validation and training both get worse late in training", *evidence]
    if facts["kind"] == "unknown":
        missing = "without a training loss this may be overfitting or instability"
        return [f"{metric} gets worse late in training", *evidence, missing]
    if facts["compared"]:
        expected = (
            f"expected at weak settings of {', '.join(facts['compared'])}, which are compared"
        )
        return ["The best trials overfit where regularisation is weak", *evidence, expected]
    return [f"Overfitting: {metric} gets worse while the training loss does not", *evidence]


def _worsening(example: Facts, metric: str) -> str:
    return (
        f"{metric} went from {example['best']:.4g} around step {example['best_step']} to "
        f"{example['end']:.4g} at the end"
    )


def _elsewhere(rest: Facts | None, metric: str) -> list[str]:
    """Which trials below the better half overfit."""
    if rest is None or not rest["trials"]:
        return []
    count = f"{len(rest['trials'])} of {words.count(rest['judged'], 'trial')} below the better half"
    if rest["by_chance"]:
        return [f"{count} may overfit, no more than noise explains"]
    worst = rest["shown"]
    return [f"{count} overfit, the clearest is trial {worst['trial']}: {_worsening(worst, metric)}"]


def _small_rates(facts: Facts) -> list[str]:
    """Whether the best trials escape overfitting by smaller learning rates."""
    low = facts.get("small_rates")
    if low is None:
        return []
    return [
        f"the best trials have smaller {low['name']} (median {low['best']:.2g}) than those that "
        f"overfit ({low['others']:.2g}): selecting the best favours regularisation by accident"
    ]


def step_variance(verdict: str, facts: Facts) -> list[str]:
    """Does the objective jump between evaluations late in training?"""
    metric, yardstick = short(facts["metric"]), facts["compared_with"]
    what = (
        "picking the best late evaluation gains" if facts["chosen"] else "the last value jumps by"
    )
    if yardstick is None:
        return [
            f"Nothing to compare the late jumps of {metric} with",
            f"{what} about {facts['gain']:.2g}; fewer than five trials and no repeats",
        ]
    than = "more" if facts["shown"] else "less"
    against = f"{than} than {YARDSTICKS[yardstick['source']]} ({yardstick['size']:.2g})"
    training = _training_jumps(facts)
    if facts["shown"] is None and verdict == "note":
        return [
            f"The training loss jumps late in training, {metric} does not",
            *training,
            f"{what} about {facts['gain']:.2g}, {against}",
        ]
    if facts["shown"] is None:
        return [
            f"Late jumps of {metric} are too small to matter",
            f"{what} about {facts['gain']:.2g}, {against}",
            *_few_points(facts),
        ]
    size = f"about {facts['shown']['gain']:.2g} (at least {facts['shown']['gain_at_least']:.2g})"
    return [
        f"{metric} still jumps between evaluations late in training",
        f"{what} {size} in {who(facts)}, {against}",
        *training,
    ]


def _training_jumps(facts: Facts) -> list[str]:
    """How much the training loss jumps, where it does."""
    by = facts.get("training")
    if by is None or 2 * by["jumping"] <= by["of"]:
        return []
    return [
        f"{by['metric']} jumps by {by['share']:.0%} of what it improved, in {by['jumping']} of "
        f"the {by['of']} best trials"
    ]


def validation_size(verdict: str, facts: Facts) -> list[str]:
    """Is the validation set large enough to tell the best trials apart?"""
    on = "" if facts["examples"] is None else f" on the same {facts['examples']} examples"
    evidence = [
        f"measurement alone moves the difference of two trials{on} by "
        f"{facts['sd_of_difference']:.2g} (standard deviation): differences below "
        f"{facts['resolves']:.2g} are none"
    ]
    if facts["wanted"] is None:
        evidence.append("too few trials, or all of the same value, to compare that with")
    else:
        evidence.append(f"{WANTED[facts['source']]} is {facts['wanted']:.2g}")
    if facts["needed"] is not None:
        evidence.append(f"about {facts['needed']} examples tell that apart")
    if facts["optimism"] > 0.1 * facts["resolves"]:
        evidence.append(
            f"picking the best evaluation of the best trial adds about {facts['optimism']:.2g}"
        )
    if facts["seeds_matter_more"]:
        evidence.append("repeats differ by more than that: repeat trials before adding examples")
    size = "large enough" if verdict == "ok" else "too small"
    return [f"The validation set is {size} to tell the best trials apart", *evidence]


WANTED = {
    "detect": "the difference to detect",
    "best_to_fifth": "the gap between the best and the fifth trial",
}
YARDSTICKS = {
    "trial_sd": "the seed-to-seed spread",
    "best_to_fifth": "half the gap between the best and the fifth trial",
    "measurement": "what measurement makes of two equal trials",
}


def still_improving(verdict: str, facts: Facts) -> list[str]:
    """Were the best trials still improving when training ended?"""
    metric, example = short(facts["metric"]), facts["shown"]
    if example is None and verdict == "cannot_judge":
        return ["A falling learning rate hides whether longer training would help", *_flat(facts)]
    if example is None:
        return [
            f"{metric} no longer improves at the end of training",
            *_consistently_late(facts),
            *_few_points(facts),
        ]
    evidence = [
        f"{metric} improved by {example['gain']:.2g} over the last quarter (steps "
        f"{example['since_step']} to {example['last_step']}) in {who(facts)}",
        *_not_fit(facts),
    ]
    if verdict == "cannot_judge":
        headline = "A falling learning rate hides whether longer training would help"
        return [headline, *evidence, "the learning rate was being lowered, which explains the gain"]
    if facts.get("immaterial"):
        return [f"{metric} still improves, by less than what matters", *evidence]
    if {"unknown", "declared"} & set(facts["schedules"]):
        evidence.append("no learning rate is logged; if it decays to zero, the gain is expected")
    return [f"Training ends too early: {metric} is still improving", *evidence]


def _consistently_late(facts: Facts) -> list[str]:
    """Best steps that all lie in the last quarter, although the curves end flat."""
    late, many = facts["in_last_quarter"], len(facts["best_steps"])
    if many < 5 or late < many or facts.get("immaterial"):
        return []
    return [f"all {many} best trials were best in the last quarter: when in doubt, train longer"]


def _not_fit(facts: Facts) -> list[str]:
    """A training set that is not fit yet."""
    fit = facts.get("not_fit")
    if fit is None:
        return []
    return [
        f"{fit['metric']} ends at {fit['end']:.3g}, {fit['fitted']:.0%} of the way from "
        f"{fit['reference']:.3g} ({FIT_REFERENCES[fit['source']]}) to zero: the training set is "
        "not fit, and regularisation is unlikely to help"
    ]


FIT_REFERENCES = {"chance": "chance", "start": "its first value"}


def _flat(facts: Facts) -> list[str]:
    """Curves that end flat while the learning rate is lowered."""
    metric = short(facts["metric"])
    why = "the learning rate ends near zero, and any curve is flat there"
    if "declared" in facts["schedules"]:
        why = "a schedule is on, and no learning rate is logged: near zero any curve is flat"
    late, many = facts["in_last_quarter"], len(facts["best_steps"])
    return [
        f"{metric} ends flat; {why}",
        f"{late} of {many} best trials were best in the last quarter of training",
        "a longer training with the decay moved back would show it",
    ]


def saturated(verdict: str, facts: Facts) -> list[str]:
    """Had the best trials levelled off long before training ended?"""
    metric, rule, steps = short(facts["metric"]), facts["rule"], facts["best_steps"]
    where = []
    if steps:
        where = [f"best steps {min(steps)} to {max(steps)} of {facts['max_train_steps']}"]
    if rule and (training := facts.get("training")):
        where.append(
            f"{training['metric']} levels off by half in {training['settled']} of {training['of']} "
            "of the best trials"
        )
    if rule == "settled_by_half":
        example = facts["shown"]
        if facts.get("still_improving"):
            return [
                f"{metric} levels off by half within a margin, and still improves",
                f"the second half changes it by {abs(example['gain']):.2g}, less than "
                f"{example['margin']:.2g}, 2 % by default, in {who(facts)}",
            ]
        return [
            f"Training is longer than needed: {metric} levels off by half",
            f"the second half changes it by {abs(example['gain']):.2g}, less than the "
            f"{example['margin']:.2g} that matters, in {who(facts)}",
            *where,
        ]
    if rule == "first_tenth":
        return ["The best trials peak within the first tenth of training", *where]
    if rule == "first_half":
        return ["Half of the best trials peak before half of training", *where]
    if facts.get("second_half_matters", True):
        return ["Training is not too long for the best trials", *where, *_few_points(facts)]
    return ["Nothing shows that training is too long", *where, *_few_points(facts)]


def training_bug(verdict: str, facts: Facts) -> list[str]:
    """Does the training loss rise?"""
    metric, example = short(facts["metric"]), facts["shown"]
    if example is None:
        return [f"{metric} does not rise in the best trials", *_few_points(facts)]
    evidence = (
        f"{metric} rose by {example['rise']:.2g} between step {example['from_step']} and step "
        f"{example['to_step']} and stayed up, in {who(facts)}"
    )
    if facts["schedule_rose"]:
        return [f"{metric} rises while the schedule raises the learning rate", evidence]
    return [f"{metric} rises and stays up: suspect a bug", evidence]


def instability(verdict: str, facts: Facts) -> list[str]:
    """Is training unstable?"""
    metric, worst, above = short(facts["metric"]), facts["worst"], facts["above_best_rate"]
    if worst is not None:
        headline = f"Training is unstable: {metric} {EPISODES[worst['kind']]}"
        return [headline, f"{metric} {_episode(worst)} in {who(facts)}"]
    if verdict == "ok":
        return ["Training is stable in the best trials", *_few_points(facts)]
    return [
        "Training is unstable just above the best learning rate",
        f"{len(above['unstable'])} of {above['trials']} trials with up to ten times the best "
        f"learning rate ({above['rate']:.3g}) are unstable",
        "making them stable may allow a higher rate and a better result",
    ]


EPISODES = {"spike": "spikes", "rise": "rises and recovers"}


def _episode(worst: Facts) -> str:
    """The clearest episode in words."""
    when = "early" if worst["early"] else "mid-training"
    if worst["kind"] == "spike":
        return f"spiked by {worst['height']:.0%} at step {worst['from_step']} ({when})"
    return f"rose and recovered between step {worst['from_step']} and {worst['to_step']} ({when})"


def periodicity(verdict: str, facts: Facts) -> list[str]:
    """Does the objective go up and down with a period?"""
    metric, period = short(facts["metric"]), facts["period_steps"]
    if period is None:
        return [f"{metric} shows no periodic pattern", *_few_points(facts)]
    evidence = f"a period of about {period:.4g} steps in {who(facts)}"
    if facts["of_epoch"]:
        evidence += ", that of an epoch or a simple part of it"
    return [f"{metric} goes up and down with a period", evidence]


def edge_of_divergence(verdict: str, facts: Facts) -> list[str]:
    """Does the best learning rate lie at the edge of divergence?"""
    edge = facts["edge"]
    if edge is None:
        return [f"No {short(facts['rate'])} was found above which trials diverge"]
    low, high = edge["between"]
    shared = words.settings({setting["name"]: setting["value"] for setting in edge["branch"]})
    where = f"{shared}: " if shared else ""
    evidence = [
        f"{where}the best trial lies {max(edge['decades_below'], 0.0):.1f} decades below "
        f"the {edge['feature']} ({low:.3g} to {high:.3g}) above which trials diverge"
    ]
    if verdict == "warn":
        evidence.append("the next best trials lie there too")
        return ["Instability may be holding the best learning rate down", *evidence]
    return ["The best learning rate is not held down by divergence", *evidence]


def who(facts: Facts) -> str:
    """The trials that carry the verdict."""
    because, best = facts["because"], len(facts["top"])
    if because == "median":
        return "the five best trials taken together"
    if because == "many":
        return f"{facts['flagged_trials']} of the {facts['judged']} better trials"
    if because == "several":
        return f"{facts['flagged_of_top']} of the {best} best trials"
    first = facts["flagged"][0]["trial"]
    if because == "one":
        return f"trial {first}"
    others = facts["flagged_of_top"] - 1
    return f"the best trial ({first})" + (f" and {others} of the next {best - 1}" if others else "")


def _few_points(facts: Facts) -> list[str]:
    """What limits a verdict that finds nothing."""
    if facts["points"] >= FEW:
        return []
    return [f"{facts['points']} points per curve show only large effects; log about 100"]


def _not_logged(facts: Facts) -> str:
    logged = f" (logged: {', '.join(facts['logged'])})" if facts["logged"] else ""
    return f"no trial logged {facts['metric']}{logged}"


FINDINGS: dict[str, Callable[[str, Facts], list[str]]] = {
    "edge_of_divergence": edge_of_divergence,
    "instability": instability,
    "overfitting": overfitting,
    "periodicity": periodicity,
    "saturated": saturated,
    "step_variance": step_variance,
    "still_improving": still_improving,
    "training_bug": training_bug,
    "validation_size": validation_size,
}
CANNOT_JUDGE: dict[str, str] = {
    "edge_of_divergence": "Whether divergence limits the learning rate cannot be judged",
    "instability": "Whether training is unstable cannot be judged",
    "overfitting": "Whether the best trials overfit cannot be judged",
    "periodicity": "Whether evaluations are periodic cannot be judged",
    "saturated": "Whether training is too long cannot be judged",
    "step_variance": "How much late evaluations jump cannot be judged",
    "still_improving": "Whether training ends too early cannot be judged",
    "training_bug": "Whether the training loss rises cannot be judged",
    "validation_size": "Whether the validation set is large enough cannot be judged",
}
CURVES = "Examining the training curves"
FAILURES = "How can optimization failures be debugged and mitigated?"
SECTIONS: dict[str, str] = {
    "edge_of_divergence": FAILURES,
    "instability": FAILURES,
    "overfitting": CURVES,
    "periodicity": "Setting up periodic evaluations",
    "saturated": CURVES,
    "step_variance": CURVES,
    "still_improving": CURVES,
    "training_bug": CURVES,
    "validation_size": CURVES,
}
# why a question to curves cannot be answered
SENTENCES: dict[str, Template] = {
    "judge.no_completed_trial": "no trial is completed yet",
    "judge.never_learned": "no trial improved on its first value: this study never learned",
    "judge.metric_not_logged": _not_logged,
    "judge.few_points": "{metric} has {points} points per trial; this check needs {needed}, "
    "better 100",
    "judge.uneven_steps": "{metric} was not logged at equal steps",
    "judge.rate_not_searched": "{rate} was not searched",
    "judge.feasible_beside_diverged": "fewer than {needed} feasible trials next to diverged ones",
}


def _decay_to_zero(facts: Facts) -> str:
    decay = "let the learning rate decay towards zero (linear or cosine)"
    if facts["rate_at_end"] == "high":
        return f"{decay}: it is still high at the end"
    return f"{decay}, unless it does already"


def _names(names: Any) -> str:
    return ", ".join(words.printable(str(name)) for name in names)


ACTIONS: dict[str, Template] = {
    # instability, in the playbook's order
    "try_another_optimizer": "try another optimizer: Adam handles what momentum cannot",
    "normalise_residual_branches": "add residual connections and normalisation, with the norm last "
    "on the branch: x + Norm(f(x))",
    "start_residual_branches_at_zero": "initialise the last layer of each residual branch to zero",
    "lower_learning_rate": "lower the learning rate, as the last resort",
    # a training loss that rises
    "lower_peak_learning_rate": "lower the peak learning rate if the loss does not come down",
    "suspect_training_bug": "suspect a bug first: the logged loss, labels, shuffling, a resumed "
    "data order, the sign or scale of a regulariser",
    "then_suspect_instability": "then suspect instability: see the finding of that name",
    # overfitting
    "see_finding": "see the finding `{check}`: the training loss got worse too",
    "look_at_any_overfitting": "look at its curves: what overfits here may overfit in a longer or "
    "larger training",
    "log_training_loss": "log the training loss at every evaluation",
    "regularise_first": lambda facts: (
        f"regularise before comparing settings: tune {_names(facts['regularisers'])} as nuisance "
        "hyperparameters"
    ),
    # late jumps
    "decay_to_zero": _decay_to_zero,
    "larger_batch": "use a larger batch size",
    "average_weights": "average the weights (Polyak averaging)",
    "validation_examples": "use a validation set of about {examples} examples",
    "within_measurement": "until then do not prefer one of the best trials to another for its "
    "value: take the cheapest, or repeat them",
    "larger_validation_set": "use a larger validation set",
    # the length of training
    "log_learning_rate": "log the learning rate to decide it: run.log(step, learning_rate=...)",
    "decay_earlier": "or let the learning rate decay earlier",
    "generous_length": "when in doubt train longer, and tune the decay again: a generous length "
    "makes the decay easier to tune",
    "fit_before_regularising": "fit the training set before adding regularisers",
    "train_shorter": "train shorter: about {max_train_steps} steps find the same",
    "declare_margin": "give the round detect=, in units of the metric: 2 % is only a convention",
    "regularise_if_overfitting": "if the best trials overfit, regularise first",
    # periods
    "shuffle_every_epoch": "shuffle the training data in every epoch; no evaluation may depend on "
    "its place in the data",
    "keep_data_apart": "make sure that training and validation data do not overlap",
    # curves that cannot be read
    "log_metric": "log it at every evaluation: run.log(step, {{'{metric}': ...}})",
    "evaluate_more_often": "evaluate every max_train_steps / 100 steps: `if run.eval_due(step): "
    "...`, or every {{run.eval_every}} steps in a command",
}
