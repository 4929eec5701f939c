"""Sentences of proposals and of errors raised in `advice`."""

from __future__ import annotations

from tunewright import messages
from tunewright.messages import Facts, Template, fill, sentence, words
from tunewright.messages.en.findings_space import REFERENCES

# ---- why a next step is proposed, what a proposed round changes, and what longer training needs


def _cause(facts: Facts) -> str:
    """The headline of the finding that asks for the step; of several, with whose it is."""
    finding = facts["finding"]
    if "text" in finding:
        return str(finding["text"])
    headline = messages.finding(finding["check"], finding["verdict"], finding["evidence"]).headline
    several = facts["findings"] > 1 and finding["scope"] == "study"
    return f"{finding['about']}: {headline}" if several else headline


def _because(then: str) -> Template:
    """A sentence that begins with the finding's headline."""
    return lambda facts: f"{_cause(facts)}; {fill(then, facts)}"


def _widen(facts: Facts) -> str:
    text = f"{_cause(facts)}; {fill('search {ranges:ranges}', facts)}"
    if facts.get("left_out"):
        text += fill(" (not {left_out:list}: overfitting is regularised, whatever the size)", facts)
    if "trials" not in facts or facts["trials"] <= facts["trials_before"]:
        return text
    return text + fill(
        ", {trials} trials per study instead of {trials_before} to keep it as dense", facts
    )


def _longer(facts: Facts) -> str:
    rule = sentence(facts["rule"])
    text = f"{_cause(facts)}; train the best for {facts['steps']} steps: {rule}"
    then = facts.get("lengths", ())[1:]
    if not then:
        return text
    steps = " and ".join(str(steps_then) for steps_then in then)
    return f"{text}; then {steps} steps, as long as the conclusions of a length hold at the next"


def _regularise(then: str) -> Template:
    """A regulariser to tune, and whether it may help at all."""

    def wording(facts: Facts) -> str:
        text = f"{_cause(facts)}; {fill(then, facts)}"
        fit = facts.get("not_fit")
        if fit is None:
            return text
        return text + fill(
            " ({metric} ends at {end:number}, {fitted:percent} of the way to zero: where the "
            "training set is not fit, regularisation is unlikely to help)",
            fit,
        )

    return wording


def _narrow(facts: Facts) -> str:
    why = f"{_cause(facts)}; " if "finding" in facts else ""
    return why + fill(
        "search around the best trials: {ranges:ranges} ({left:percent} of the space, as many "
        "trials)",
        facts,
    )


def _more_trials(facts: Facts) -> str:
    if "trials" not in facts:
        return _cause(facts)
    more = "{trials} trials per study instead of {trials_before}"
    return f"{_cause(facts)}; {fill(more, facts)}"


def _gain(facts: Facts) -> str:
    gain = f"as many trials again may gain {facts['gain']:.2g}"
    if facts["matters"] is None:
        return f"{gain}; whether that is much, only detect= or repeats can show"
    size, source = facts["matters"]["size"], REFERENCES[facts["matters"]["source"]]
    return f"{gain} ({source}: {size:.2g})"


def _exploit(facts: Facts) -> str:
    names = facts["fixed"]
    fixed = f", {', '.join(names)} as in the best trial" if names else ""
    return f"nothing warns: exploration is done; Bayesian search around the best trials{fixed}"


def _agreement(facts: Facts) -> str:
    both = f"{facts['ranked']} {facts['of']} in both rounds"
    if facts["correlation"] is None or facts["interval"] is None:
        return f"{both}: too few to compare rankings"
    low, high = facts["interval"]
    return (
        f"{both}: rank correlation {facts['correlation']:.2f} ({low:.2f} to {high:.2f}), "
        f"{facts['overlap']} of the best {facts['top']} the same (chance "
        f"{facts['by_chance']:.1f}), the best by the shorter is {facts['regret']:.3g} behind the "
        "best"
    )


def _fix(facts: Facts) -> str:
    settings = " and ".join(f"{name} = {words.value(v)}" for name, v in facts["values"].items())
    names = ", ".join(facts["values"])
    return f"no sign of {names} in any study: fix {settings}, as in the best trial"


SENTENCES: dict[str, Template] = {
    # ---- proposals
    # why
    "proposal.no_trial_has_run": "no trial has run",
    "proposal.unfinished": "{left} of {trials_in_all} trials have not been run yet",
    "proposal.repair": lambda facts: _cause(facts),
    "proposal.none_completed": "none of {trials_in_all:count trial} completed: look at the program "
    "before more are run",
    "proposal.suspect": lambda facts: _cause(facts),
    "proposal.widen": _widen,
    "proposal.widen_beyond": lambda facts: fill(
        "or only from where the best lie: {ranges:ranges}"
        + (", {trials} trials per study" if "trials" in facts else ""),
        facts,
    ),
    "proposal.narrow": _narrow,
    "proposal.leave_out": _because("search where it trains: {ranges:ranges}"),
    "proposal.regularise": _regularise("tune {ranges:ranges} as well"),
    "proposal.stronger": _regularise("try {ranges:ranges}"),
    "proposal.no_regulariser": _because(
        "the round has none of {known:list}: let the training program take one, or declare "
        "what regularises: {declare.means.regularisers}"
    ),
    "proposal.longer": _longer,
    "proposal.longer_in_doubt": _longer,
    "proposal.longer_impossible": lambda facts: "; ".join(
        [_cause(facts), *(sentence(problem) for problem in facts["problems"])]
    ),
    "proposal.shorter": _because(
        "{steps} steps instead of {before} leave more trials for the same compute"
    ),
    "proposal.own_ranges": _because(
        "search every setting around its own best, with the same number of trials"
    ),
    "proposal.one_code": _because("the same question again, all of it with one code"),
    "proposal.equal_trials": _because(
        "the same question again, the same number of trials for each setting"
    ),
    "proposal.more_trials": _more_trials,
    "proposal.fix": _fix,
    "proposal.saturated": lambda facts: f"tuning has likely saturated: {_gain(facts)}",
    "proposal.exhausted": "every configuration of the search space has been trained",
    "proposal.repeat": _gain,
    "proposal.exploit": _exploit,
    "proposal.exploit_more": "the second half of the search still gained; as many trials again "
    "may gain {gain:number}: {trials} trials instead of {trials_before}",
    "proposal.exploit_further": "too few trials of this search to show what it gains: {trials} "
    "trials instead of {trials_before}",
    # what a round changes in the one before, as its goal shows it
    "change.wider": "wider {names:list}",
    "change.beyond": "beyond {names:list}",
    "change.narrower": "narrower {names:list}",
    "change.own_ranges": "{names:list} in separate ranges for each {by}",
    "change.compared_again": "compared again",
    "change.fixed": "{names:list} fixed",
    "change.exploitation": "exploitation",
    "change.steps": "{steps} steps instead of {before}",
    "change.regularised": "regularised by {names:list}",
    "change.stronger": "stronger {names:list}",
    # short training and long
    "agreement": _agreement,
    "length.only": "train at full length at once",
    "length.first": "find good model and optimizer hyperparameters",
    "length.between": "see whether the conclusions of the shorter training hold, and keep the best",
    "length.last": "train the best few at full length",
    # what becomes of a hyperparameter in longer training
    "extend.new_length": "the new length",
    "extend.unused": "the new schedule has no use for it",
    "extend.schedule": "a schedule is tuned again",
    "extend.asked_for": "asked for",
    "extend.decides": "might transfer, and decides most",
    "extend.warmup_share": (
        "a share of training, {before:number} before: warm-up keeps its number of steps"
    ),
    "extend.fixed_before": "fixed before",
    "extend.very likely": "very likely to transfer",
    "extend.likely": "likely to transfer",
    "extend.might": "might transfer; few long trials cannot pay for it",
    "extend.unlikely": "unlikely to transfer, but nothing shows where else to look",
    "extend.no_rate": lambda facts: (
        "no learning rate is tuned again"
        + (f" ({', '.join(facts['rates'])} are several)" if len(facts["rates"]) > 1 else "")
        + ": name the hyperparameter that means it, or tune one with tune=(...)"
    ),
    "extend.far_apart": "{old} steps are {share:percent} of {new}: what holds there may not hold "
    "here; a round at about {between:percent} in between is safer",
    "extend.taken_for_model": "taken for parts of the model, which are likely to transfer: "
    "{names:list}",
    # the schedule of longer training
    "schedule.not_named": "no schedule is among the hyperparameters: the program's own is used",
    "schedule.check_own": "check that its learning rate does not spend the {extra} extra steps "
    "near zero; declare the hyperparameter that sets it: {declare.means.schedule}",
    "schedule.kept": "{name} = {value!r} is kept as it is",
    "schedule.unknown": "nothing is known of this schedule: check that it does not end {extra} "
    "steps early",
    "schedule.new_family": "the schedule's family has changed: tune it again",
    "schedule.whole_stretched": "{name} = {value!r} stretched to {new} steps",
    "schedule.no_decay_steps": "the program takes no {decay_steps}, so its decay is stretched with "
    "the training instead of keeping its {old} steps",
    # ---- errors advice
    "advice.bad_steps": "{name}={value!r} is not a whole number of steps from {least}.",
    "advice.bad_rounds": "rounds={rounds!r}: a plan has one to {most} rounds.",
    "advice.schedule_wastes_steps": (
        "{name} = {declared!r} would spend {wasted:.0%} of the {extra} extra steps below a "
        "tenth of the base learning rate: {rule:message}. Let the program take {decay_steps} (the "
        "steps of a linear decay at the end), or use a cosine."
    ),
    "agreement.top_not_positive": "top={top}: at least 1 is needed.",
    "agreement.truncated_too_short": "truncated(steps={steps}): at least one step is needed.",
    "extend.length_unknown": (
        "{round}: no {name!r} in the configurations, so there is no length to extend. Name the "
        "hyperparameter that means it: {declare.means.max_train_steps}."
    ),
    "extend.no_completed_trial": "{round}: no completed trial whose training could continue.",
    "extend.not_longer": (
        "max_train_steps={max_train_steps} is not longer than the {old} steps of {round}. For "
        "a shorter training tune again: what was found at {old} steps is no guide to fewer."
    ),
    "extend.steps_not_whole": (
        "max_train_steps={max_train_steps!r} is not a whole number of steps."
    ),
    "extend.unknown_hyperparameter": (
        "tune={tune}: the best trial has no {unknown!r}. It has {known:list}."
    ),
    "proposal.has_no_round": "the proposal {kind!r} has no round that could be called {name!r}.",
}
