"""Words of the figures: captions, titles, labels of axes and legends."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words


def _two(x: float) -> str:
    """A measured difference; two digits are all that is known of it."""
    return words.number(float(f"{x:.2g}"))


def _best(facts: Facts) -> str:
    trials = facts["trials"]
    if len(trials) == 1:
        return f"Ringed: the best trial, {trials[0]}."
    return f"Ringed: the best trials {', '.join(map(str, trials))}."


def _beyond(facts: Facts) -> str:
    side = "above" if facts["minimize"] else "below"
    count = words.count(facts["beyond"], "trial")
    return f"Triangles at the margin: {count} {side} {words.number(facts['limit'])}."


def _curves(facts: Facts) -> str:
    below = facts["train_loss"]
    losses = f" above, {below} of the same trials in the same colours below" if below else ""
    return (
        f"Training curves of the best trials: {facts['metric']}{losses}. The numbers at the side "
        "are trials with their values, the best in bold. Dots mark the best step."
    )


def _curves_study(facts: Facts) -> str:
    if facts["value"] is not None:
        came = f"{words.number(facts['value'])} at step {facts['step']}"
    elif facts["diverged_at"] is not None:
        came = f"not finite from step {facts['diverged_at']}"
    else:
        came = "no value"
    others = ", ".join(str(number) for number in facts["others"])
    then = f", then {others}" if others else ""
    return f"{facts['study']}: trial {facts['trial']} ({came}){then}."


def _curves_pruned(facts: Facts) -> str:
    drawn = "" if facts["drawn"] == facts["pruned"] else f" ({facts['drawn']} of them drawn)"
    return f"Thin lines that end in a bar: {words.count(facts['pruned'], 'pruned trial')}{drawn}."


def _best_of_k_study(facts: Facts) -> str:
    best = f"{facts['study']}: best of {facts['trials']} trials {words.number(facts['best'])}"
    if facts["half"] is None:
        return f"{best}."
    return f"{best}; half as many trials would have cost {_two(facts['half'])} on average."


def _best_of_k_nothing(facts: Facts) -> str:
    if facts["adaptive"]:
        return "No trial of a search that was laid out beforehand has completed."
    return "No trial has completed: nothing is known about smaller budgets."


def _adaptive(facts: Facts) -> str:
    trials = words.count(facts["adaptive"], "trial")
    return f"{trials} of an adaptive search do not count: its later trials are better by design."


def _sensitivity_study(facts: Facts) -> str:
    matter = [f"{name} ({share:.0%})" for name, share in facts["matter"].items()]
    verb = "decides" if len(matter) == 1 else "decide"
    text = f"{', '.join(matter)} {verb}" if matter else "none is seen to matter"
    together = "".join(f"; {a} and {b} act together" for a, b in facts["together"])
    return f"{facts['study']}, {words.count(facts['trials'], 'trial')}: {text}{together}."


def _sensitivity_nothing(facts: Facts) -> str:
    why = "there are no trials" if facts["why"] is None else sentence(facts["why"])
    return f"Which hyperparameters matter cannot be judged: {why}."


def _arm(facts: Facts) -> str:
    best = "no completed trial" if facts["best"] is None else words.number(facts["best"])
    parts = [] if facts["trial"] is None else [f"trial {facts['trial']}"]
    parts.append(words.count(facts["trials"], "trial"))
    if facts["infeasible"]:
        parts.append(f"{facts['infeasible']} infeasible")
    if facts["off"]:
        parts.append("off")
    if facts["is_best"]:
        parts.append("best")
    if facts["beside"] is not None:
        parts.append(sentence(facts["beside"]))
    return f"{facts['value']}: {best} ({', '.join(parts)})."


def _trend(facts: Facts) -> str:
    trials = words.count(facts["trials"], "completed trial")
    verb = "is" if facts["trials"] == 1 else "are"
    if not facts["buckets"]:
        return f"{trials} {verb} too few for buckets; a list of values shows more."
    cut = f"{trials} in {facts['buckets']} buckets."
    if facts["p"] is None:
        return f"{cut} Too few to call a trend; a list of values shows far more."
    called = "Their bests follow it" if facts["p"] <= 0.05 else "No trend beyond the noise"
    return f"{cut} {called} (p {facts['p']:.2g})."


def _progress_round(facts: Facts) -> str:
    search = f" ({facts['search']})" if facts["search"] else ""
    trials = words.count(facts["trials"], "trial")
    return f"{facts['round']}{search}: {trials}, best so far {words.number(facts['best'])}."


def _pair(facts: Facts) -> str:
    what = "the two most important hyperparameters" if facts["important"] else "two hyperparameters"
    return (
        f"{facts['first']} against {facts['second']}, {what}: one mark per trial, the darker the "
        f"better by {facts['metric']}."
    )


def _batch_scaling(facts: Facts) -> str:
    steps = ", ".join(f"{size}: {_three(n)}" for size, n in facts["steps"].items())
    text = f"Steps to {facts['metric']} {words.number(facts['goal'])} by batch size ({steps})"
    if facts["critical"] is None:
        return f"{text}."
    return f"{text}; critical batch size about {words.two_digits(facts['critical'])}."


def _three(x: float) -> str:
    return words.number(float(f"{x:.3g}"))


def _steps_to_fit(facts: Facts) -> str:
    criterion, tried = facts["criterion"], facts["tried"]
    text = f"Steps to a perfect fit ({criterion}) of {tried} constant learning rates: "
    if not facts["fit"]:
        return f"{text}none fits, {facts['infeasible']} infeasible."
    text += f"{facts['fit']} fit, {facts['infeasible']} infeasible"
    if facts["fastest"] is not None:
        fastest, steps = words.number(facts["fastest"]), words.number(facts["steps"])
        text += f"; the fastest is {fastest} with {steps}"
    return f"{text}."


def _throughput(facts: Facts) -> str:
    return (
        f"Throughput of {facts['sizes']} batch sizes: from {words.rate(facts['first_rate'])} "
        f"examples/s at {facts['first']:,} to {words.rate(facts['knee_rate'])} at the knee, "
        f"{facts['knee']:,}. The largest batch size that fits is {facts['largest']:,}."
    )


def _losses(facts: Facts) -> str:
    dashed = facts["valid_loss"]
    return f"{facts['train_loss']} (dashed: {dashed})" if dashed else facts["train_loss"]


def _goal(facts: Facts) -> str:
    goal = "" if facts["goal"] is None else f" {words.number(facts['goal'])}"
    return f"steps to {facts['metric']}{goal}"


CAPTIONS: dict[str, Template] = {
    "figure.plain": "{text}",
    "figure.axis": (
        "{metric} of {completed:count completed trial} against {columns:list}, each on the scale "
        "it was searched on. Dashed lines are the ends of the range."
    ),
    "figure.axis.nothing": "No hyperparameter was searched, so there is nothing to plot against.",
    "figure.axis.best": _best,
    "figure.axis.infeasible": "Red crosses on the rail: {infeasible:count infeasible trial}.",
    "figure.axis.pruned": "Bars on the rail: {pruned:count pruned trial}.",
    "figure.axis.beyond": _beyond,
    "figure.axis.condition": "{column}: only {trials:count trial} {condition}.",
    "figure.axis.outside": "{column}: {outside:count trial} outside the space left out.",
    "figure.axis.panel": "{condition}: {trials:count trial}",
    "figure.curves": _curves,
    "figure.curves.nothing": "No trial has logged a curve yet.",
    "figure.curves.study": _curves_study,
    "figure.curves.pruned": _curves_pruned,
    "figure.curves.left_out": "{studies:count study/studies} with worse trials left out.",
    "figure.best_step": (
        "Best step of {trials:count completed trial} by {metric}: {early:percent} in the first "
        "half of training, {late:percent} in its last tenth."
    ),
    "figure.best_step.nothing": "No trial has completed, so there is no best step yet.",
    "figure.best_step.proposed": "{steps} steps would have been enough for the best trials.",
    "figure.best_step.enough": "{steps} are enough",
    "figure.best_of_k": "Best {metric} by number of trials.",
    "figure.best_of_k.study": _best_of_k_study,
    "figure.best_of_k.nothing": _best_of_k_nothing,
    "figure.best_of_k.empty": "no trial to count",
    "figure.best_of_k.left_out": "{studies:count worse study/worse studies} not drawn.",
    "figure.best_of_k.detect": "The round wants to see a difference of {detect:number}.",
    "figure.adaptive": _adaptive,
    "figure.sensitivity": (
        "How much of the objective each hyperparameter explains that no other does, as a share of "
        "all, with 90 % intervals (analysis of variance, as in the check)."
    ),
    "figure.sensitivity.study": _sensitivity_study,
    "figure.sensitivity.nothing": _sensitivity_nothing,
    "figure.sensitivity.empty": "cannot be judged yet",
    "figure.sensitivity.conditional": (
        "Starred: conditional, a share among the trials that have it."
    ),
    "figure.sensitivity.adaptive": (
        "It rests on {adaptive:count trial} of an adaptive search, which crowd where results are "
        "good: take the shares as rough."
    ),
    "figure.sensitivity.left_out": "The first {studies} studies are drawn.",
    "figure.gradient_norm": (
        "{metric} of trials {trials:list}. In the best of them 90 % of the norms are below "
        "{clip_norm:number}: a value to start clipping at."
    ),
    "figure.gradient_norm.percentile": "90 % below {clip_norm}",
    "figure.isolation": "Best {metric} by {name}, with equal budgets.",
    "figure.isolation.nothing": "No trial has completed at any value of {name}.",
    "figure.isolation.range": "Best {metric} by {name}.",
    "figure.isolation.arm": _arm,
    "figure.isolation.worse": lambda facts: (
        f"worse by {_three(facts['gap'])} with {facts['trials']} trials each"
    ),
    "figure.isolation.no_clear_gap": lambda facts: (
        f"cannot be separated from the best: a gap of {_three(facts['gap'])}"
    ),
    "figure.isolation.noise": (
        "Bars: the noise of tuning, 5 to 95 % of the best of half as many trials."
    ),
    "figure.isolation.trial_sd": "Whiskers: one trial standard deviation, from repeats.",
    "figure.isolation.left_out": "{trials:count trial} beyond the equal budget left out.",
    "figure.isolation.trend": _trend,
    "figure.progress": lambda facts: (
        "Every trial in the order of the rounds."
        if facts["rounds"] > 1
        else "Every trial by its number, and the best so far."
    ),
    "figure.progress.round": _progress_round,
    "figure.progress.nothing": "No trial has reached a {metric} yet.",
    "figure.progress.empty": "no trial has completed",
    "figure.progress.crosses": "Crosses above: {trials:count infeasible or failed trial}.",
    "figure.progress.pruned": "Bars above: {pruned:count pruned trial}.",
    "figure.progress.repeats": "Hollow: {repeats:count repeat} under new seeds.",
    "figure.pair": _pair,
    "figure.pair.nothing": "No trial has completed.",
    "figure.batch_scaling": _batch_scaling,
    "figure.batch_scaling.nothing": "No batch size reached the goal.",
    "figure.steps_to_fit": _steps_to_fit,
    "figure.steps_to_fit.empty": "no learning rate was swept",
    "figure.throughput": _throughput,
    "figure.missing_glyphs": (
        "Boxes are characters that no installed font has. Install one that has them, such as "
        "Noto Sans CJK."
    ),
}
TITLES: dict[str, Template] = {
    "figure.title.axis": "Every trial along every hyperparameter",
    "figure.title.isolation": "What the scientific hyperparameters do",
    "figure.title.curves": "Training curves of the best trials",
    "figure.title.best_step": "When the best value was reached",
    "figure.title.gradient_norm": "Gradient norms",
    "figure.title.best_of_k": "Have we sampled enough?",
    "figure.title.sensitivity": "Which hyperparameters matter",
    "figure.title.progress": "How the best came about",
    "figure.title.pair": "Two hyperparameters together",
    "figure.title.batch_scaling": "Steps to the goal by batch size",
    "figure.title.steps_to_fit": "Steps to a perfect fit by learning rate",
    "figure.title.throughput": "Throughput by batch size",
    "figure.title.questions": "What the questions about curves look for",
}
LABELS: dict[str, Template] = {
    "figure.label.all_completed": "all completed trials",
    "figure.label.batch_size": "batch size",
    "figure.label.best": "best",
    "figure.label.best_few": "best {trials}",
    "figure.label.best_of_bucket": "best of the bucket",
    "figure.label.best_of_k": "best {metric} of k",
    "figure.label.best_of_study": "best of the study",
    "figure.label.best_so_far": "best so far",
    "figure.label.best_step": "step of the best {metric}",
    "figure.label.best_with_sd": "best, with trial sd",
    "figure.label.beyond": lambda facts: (
        f"{'above' if facts['minimize'] else 'below'} {facts['limit']}"
    ),
    "figure.label.cached": "on one cached batch",
    "figure.label.cannot_draw": "too large to draw",
    "figure.label.constant_rate": "constant learning rate",
    "figure.label.count": "{trials:count trial}",
    "figure.label.count_infeasible": "{infeasible} infeasible",
    "figure.label.critical": "critical batch size",
    "figure.label.detect": "difference to detect",
    "figure.label.evaluations": "evaluations",
    "figure.label.examples_per_s": "examples/s",
    "figure.label.far": "far worse",
    "figure.label.fit": "fit",
    "figure.label.fits": "fits",
    "figure.label.in_order": lambda facts: (
        "trials, in the order of the rounds" if facts["rounds"] > 1 else "trial"
    ),
    "figure.label.infeasible": "infeasible",
    "figure.label.infeasible_or_failed": "infeasible or failed",
    "figure.label.k": "trials (k)",
    "figure.label.knee": "knee",
    "figure.label.losses": _losses,
    "figure.label.measured": "measured",
    "figure.label.ms_per_step": "ms per step",
    "figure.label.no_effect": "noise (no effect at all)",
    "figure.label.none_completed": "no completed trial",
    "figure.label.not_counted": "does not count",
    "figure.label.of_trial": "{metric}, trial {trial}",
    "figure.label.off": "off",
    "figure.label.perfect_scaling": "perfect scaling",
    "figure.label.proportional": "twice the batch, twice the throughput",
    "figure.label.pruned": "pruned",
    "figure.label.repeats": "repeats",
    "figure.label.share": "share of importance",
    "figure.label.step": "step",
    "figure.label.steps_to_fit": "steps to a perfect fit",
    "figure.label.steps_to_goal": _goal,
    "figure.label.too_slow": "does not fit in time",
    "figure.label.trial": "trial {trial}",
    "figure.label.trials": "trials",
    "figure.label.tuning_noise": "noise of tuning (best of half the trials)",
    "figure.verdict.best": "best",
    "figure.verdict.worse": "worse",
    "figure.verdict.no clear gap": "no clear gap",
    "figure.verdict.cannot judge": "cannot judge",
}
SENTENCES: dict[str, Template] = {**CAPTIONS, **TITLES, **LABELS}
