"""Answers of the probes that train, in English: a headline and a sentence for each code."""

from __future__ import annotations

from tunewright import messages
from tunewright.messages import Facts, Template, declaration, sentence, words

DISGUISED = "this lowers the learning rate in disguise: lower the learning rate instead"
OTHERS = (
    "try the other fixes: normalisation and residual connections, zero-initialised branches, "
    "another optimizer, and as the last resort a lower learning rate"
)


def _unstable_run(facts: Facts) -> str:
    when = "early in training" if facts["early"] else "mid-training"
    after = ", then recovered" if facts["recovered"] else ""
    return f"{facts['what']} at step {facts['at_step']} ({when}){after}"


def _loss_never_logged(facts: Facts) -> str:
    logged = ", ".join(facts["logged"]) or "nothing"
    return (
        f"{facts['metric']}: it was never logged (logged: {logged}). Log it at every step, or if "
        f"it has another name, declare it: {declaration('means', 'train_loss')}"
    )


def _not_probed(facts: Facts) -> str:
    if "error" in facts:  # as earlier stores have it
        return f"cannot be probed: {facts['error']}"
    return f"cannot be probed: {'; '.join(sentence(problem) for problem in facts['problems'])}"


def _remedy(facts: Facts) -> str:
    if facts["early"]:
        return "against early instability try warm-up first: tunewright probe warmup"
    return "against mid-training instability try clipping: tunewright probe clip"


def _unstable_at_best(facts: Facts) -> str:
    rates = f"learning rate {facts['learning_rate']:.3g} (the best is {facts['best']:.3g})"
    run = messages.sentence(facts["run"])
    return f"already unstable at {rates}: the loss {run}; {_remedy(facts)}"


def _unstable_above(facts: Facts) -> str:
    return (
        f"unstable from learning rate {facts['learning_rate']:.3g} on, {facts['times']:.3g} times "
        f"the best, {facts['best']:.3g}: the loss {messages.sentence(facts['run'])}. Making it "
        f"stable may allow a higher rate and a better result; {_remedy(facts)}"
    )


def _often(clipped: Facts) -> str:
    """How many updates a threshold clips."""
    if not clipped["too_often"]:
        return f"{clipped['share']:.0%} of the updates are clipped"
    return (
        f"but {clipped['worst']:.0%} of the updates between step {clipped['from_step']} and "
        f"{clipped['to_step']} are clipped: {DISGUISED}"
    )


def _clip_recorded(facts: Facts) -> str:
    text = (
        f"clipping might begin at {facts['clip_norm']:.3g}: 90 % of the gradient norms of trial "
        f"{facts['trial']}'s stable steps are below; {_often(facts['clipped'])}"
    )
    if facts["stable"]:
        text += ". Its training is stable: clip only where training is not"
    return text


def _clip_stable(facts: Facts) -> str:
    text = f"clipping at {facts['clip_norm']:.3g} makes learning rate {facts['learning_rate']:.3g}"
    text += " stable"
    return text if facts["clipped"] is None else f"{text}; {_often(facts['clipped'])}"


def _clip_stable_headline(facts: Facts) -> str:
    if facts["clipped"] is not None and facts["clipped"]["too_often"]:
        return "Lower the learning rate: clipping would only disguise it"
    return f"Clip gradients at {facts['clip_norm']:.3g}: training becomes stable"


def _clip_recorded_headline(facts: Facts) -> str:
    if facts["clipped"]["too_often"]:
        return "Lower the learning rate: clipping would only disguise it"
    if facts["stable"]:
        return "Training is stable: there is no need to clip"
    return f"Clipping might begin at {facts['clip_norm']:.3g}"


def _no_warmup(facts: Facts) -> str:
    """That no warm-up alone is enough."""
    return (
        f"no warm-up of up to {facts['longest']:,} steps makes learning rate "
        f"{facts['learning_rate']:.3g} stable"
    )


def _warmup_found(facts: Facts) -> str:
    norm, peak, unstable = facts["clip_norm"], facts["base_learning_rate"], facts["unstable"]
    also = "" if norm is None else f" with gradients clipped at {norm:.3g}"
    text = (
        f"{facts['warmup_steps']:,} warm-up steps{also} make learning rate {peak:.3g} stable, "
        f"{peak / unstable:.3g} times the lowest unstable one ({unstable:.3g})"
    )
    if facts["compared"] is not None:
        compared = messages.sentence(facts["compared"])
        return f"{text}; {compared}. `tunewright launch` decides whether to change over"
    if facts["search_again"] is not None:
        return f"{text}: search {facts['search_again']} again, up to {peak:.3g}"
    return text


def _warmup_headline(facts: Facts) -> str:
    also = " with clipping" if facts["clip_norm"] is not None else ""
    peak = f"learning rate {facts['base_learning_rate']:.3g}"
    return f"{facts['warmup_steps']:,} warm-up steps{also} make {peak} stable"


def _comparison(facts: Facts) -> str:
    word = "better" if facts["gain"] > 0 else "worse"
    spread = "" if facts["error"] is None else f" (standard error {facts['error']:.2g})"
    return (
        f"in whole trainings at learning rate {facts['learning_rate']:.3g}, {facts['metric']} is "
        f"{facts['mean']:.4g} against {facts['baseline']:.4g} of the baseline: {word} by "
        f"{abs(facts['gain']):.2g}{spread}"
    )


def _criterion(facts: Facts) -> str:
    if facts["limit"] is None:
        return f"{facts['metric']} within 1 % of its floor"
    return f"{facts['metric']} at {'most' if facts['falls'] else 'least'} {facts['limit']:.4g}"


def _fit(facts: Facts) -> str:
    return (
        f"A constant learning rate {facts['learning_rate']:g} fits the training data first "
        f"({messages.sentence(facts['criterion'])}), after {facts['steps']:g} {facts['unit']}, to "
        f"within {facts['resolution']:.3g}"
    )


def _fits(facts: Facts) -> str:
    name, proposed, factor = facts["name"], facts["max_train_steps"], facts["factor"]
    allowed = f", {factor:g} times as many for gradient noise to come" if factor > 1 else ""
    text = f"{_fit(facts)}. Begin with {name} = {proposed}{allowed}."
    if facts["more"] is not None:
        low, high = facts["more"]
        what = " and ".join(facts["returns"]) or "augmentation or regularisation"
        text += f" With {what} it takes more: {low} to {high}."
    return text


def _fits_at_edge(facts: Facts) -> str:
    return (
        f"{_fit(facts)}; but it stands at the {facts['side']} end of the sweep, so another may be "
        f"faster: sweep around {facts['learning_rate']:g}."
    )


def _reach(facts: Facts) -> str:
    return f"{facts['metric']} {facts['value']:.4g} at learning rate {facts['learning_rate']:g}"


def _plateau(facts: Facts) -> str:
    return (
        f"The training data is never fit: after {facts['length']} {facts['unit']} the best is "
        f"{_reach(facts)}, and the second half of training gains nothing. Give what is good "
        "enough (at_most=, --at-most), or train a model that can fit it."
    )


def _none_fits(facts: Facts) -> str:
    return (
        f"no constant learning rate from {facts['low']:g} to {facts['high']:g} fits the training "
        f"data within {facts['length']} {facts['unit']}"
    )


def _none_at_edge(facts: Facts) -> str:
    none = _none_fits(facts)
    return (
        f"{none[0].upper()}{none[1:]}, and the best stands at the {facts['side']} end of the sweep "
        f"({_reach(facts)}): sweep around {facts['learning_rate']:g}."
    )


def _compute_bound(facts: Facts) -> str:
    return (
        f"Tuning is compute-bound here: {_none_fits(facts)} ({_reach(facts)}). Choose "
        f"{facts['name']} by what you can afford, and tune in shorter rounds of about a tenth of "
        "it."
    )


def _about(facts: Facts) -> str:
    """The critical batch size with its interval."""
    low = f"{words.two_digits(facts['low'])} to " if facts["low"] is not None else "anything up to "
    high = words.two_digits(facts["high"]) if facts["high"] is not None else "any size"
    if facts["low"] is not None and facts["high"] is None:
        low, high = "at least ", words.two_digits(facts["low"])
    size = words.two_digits(facts["critical_batch_size"])
    head = f"To {facts['metric']} {facts['goal']:.4g}, the critical batch size is"
    return f"{head} about {size} (95 %: {low}{high})"


def _critical_above(facts: Facts) -> str:
    return (
        f"{_about(facts)}, above all that were tried: up to {facts['largest']} a larger batch "
        "saves steps nearly in proportion."
    )


def _critical_below(facts: Facts) -> str:
    return (
        f"{_about(facts)}, below all that were tried: from {facts['smallest']} on a larger batch "
        "saves next to no steps."
    )


def _critical_inside(facts: Facts) -> str:
    fewest = words.two_digits(facts["smallest_steps"])
    return (
        f"{_about(facts)}: below it a larger batch saves steps nearly in proportion, above it next "
        f"to none; no size needs fewer than about {fewest} steps."
    )


def _critical_headline(facts: Facts) -> str:
    size = words.two_digits(facts["critical_batch_size"])
    return f"The critical batch size is about {size}"


def _at_edge(facts: Facts) -> str:
    end = f"the {facts['side']} end of {facts['range']} of {facts['column']}"
    if facts["alone"]:
        text = f"the fastest trial stands alone and far ahead at {end}"
    else:
        text = f"the fastest {facts['best_few']} trials crowd at {end}"
    if facts["proposed"] is None:
        way = "larger" if facts["side"] == "high" else "smaller"
        return f"{text}; add {way} values to the list of {facts['column']}"
    return f"{text}; search {facts['column']} in {facts['proposed']}"


def _coarse(facts: Facts) -> str:
    apart = f"evaluations {facts['spacing']:g} steps apart where {facts['steps']:.3g} are counted"
    return apart if facts["counts"] else f"{apart}: evaluate where run.eval_due(step) asks for it"


def _course(facts: Facts) -> str:
    scales = ", ".join(
        f"{'lost in noise' if value is None else words.two_digits(value)} at {share:.0%}"
        for share, value in facts["course"]
    )
    return (
        f"gradient noise scale {scales} of training (a cheap pre-screen, to an order of magnitude: "
        "it shows which batch sizes to study, not which is critical)"
    )


def _course_headline(facts: Facts) -> str:
    _, last = facts["course"][-1]
    if last is None:
        return "The gradient noise scale is lost in noise"
    return f"The gradient noise scale ends at about {words.two_digits(last)}"


def _off_value(facts: Facts) -> str:
    example = "constant" if facts["schedule"] else None
    entry = declaration("off", facts["name"], example)
    return f"the value that switches {facts['name']} off: {entry}"


def _holds_for(facts: Facts) -> str:
    settings = ", ".join(f"{name} = {value}" for name, value in facts["settings"].items())
    return f"holds for {settings}"


# code -> headline, sentence
ANSWERS: dict[str, tuple[Template, Template]] = {
    "probe.failed": ("The probe could not measure it", _not_probed),
    "probe.stability.unknown": (
        "Whether training is stable cannot be judged",
        "whether training is stable cannot be judged",
    ),
    "probe.stability.never_finite": (
        "The loss is never finite: look for a bug first",
        "no run at a learning rate from {low:.3g} to {high:.3g} has a finite training loss, not "
        "even at its first step: look for a bug in the data, the loss or the model, not for a "
        "warm-up",
    ),
    "probe.stability.stable": (
        "Stable up to {times:.3g} times the best learning rate",
        "stable for {steps} steps at up to {times:.3g} times the best learning rate, {best:.3g}: "
        "instability is not what holds it down",
    ),
    "probe.stability.unstable_at_best": (
        "Unstable already at the best learning rate",
        _unstable_at_best,
    ),
    "probe.stability.unstable_above": (
        "Unstable from {times:.3g} times the best learning rate on",
        _unstable_above,
    ),
    "probe.longer.unknown": (
        "Whether longer training helps cannot be judged",
        "whether longer training helps cannot be judged",
    ),
    "probe.longer.open": (
        "Longer training may help: seeds differ too much to decide",
        "trained from step {from_step} to {longer_steps} in place of {steps}, trial {trial} gains "
        "{gain:number} in {metric} (90 % interval {low:number} to {high:number}); seeds differ by "
        "{sd:number}",
    ),
    "probe.longer.helps": (
        "Longer training helps: {longer_steps} steps gain about {gain:number}",
        "trained from step {from_step} to {longer_steps} in place of {steps}, trial {trial} gains "
        "{gain:number} in {metric} (90 % interval {low:number} to {high:number}; seeds differ by "
        "{sd:number})",
    ),
    "probe.longer.does_not": (
        "Longer training does not help",
        "trained from step {from_step} to {longer_steps} in place of {steps}, trial {trial} gains "
        "{gain:number} in {metric} (90 % interval {low:number} to {high:number}), less than the "
        "{matters:number} that matters",
    ),
    "probe.clip.unknown": ("Where to clip cannot be judged", "where to clip cannot be judged"),
    "probe.clip.recorded": (_clip_recorded_headline, _clip_recorded),
    "probe.clip.not_needed": (
        "Training is stable: there is no need to clip",
        "{stability:message}; there is nothing to clip for. If you clip all the same, begin at "
        "{clip_norm:.3g}, the 90th percentile of its gradient norms",
    ),
    "probe.clip.still_unstable": (
        "Clipping does not make training stable",
        "clipping does not make learning rate {learning_rate:.3g} stable: even at {clip_norm:.3g} "
        "the loss {run:message}. Lower the learning rate, or try warm-up: tunewright probe warmup",
    ),
    "probe.clip.stable": (_clip_stable_headline, _clip_stable),
    "probe.warmup.unknown": (
        "Whether warm-up helps cannot be judged",
        "whether warm-up helps cannot be judged",
    ),
    "probe.warmup.not_needed": (
        "No warm-up is needed: training is stable",
        "no warm-up is needed: {stability:message}",
    ),
    "probe.warmup.clipping_untried": (
        "No warm-up is enough, and clipping cannot be tried",
        lambda facts: f"{_no_warmup(facts)}; clipping, the next remedy, cannot be tried",
    ),
    "probe.warmup.clipping_works": (
        "No warm-up is enough, but clipping is",
        lambda facts: f"{_no_warmup(facts)}, but {messages.sentence(facts['clip'])}",
    ),
    "probe.warmup.failed": (
        "No warm-up makes a higher learning rate stable",
        lambda facts: f"{_no_warmup(facts)}; {OTHERS}",
    ),
    "probe.warmup.failed_with_clipping": (
        "Neither warm-up nor clipping makes training stable",
        lambda facts: f"{_no_warmup(facts)}, nor does clipping, nor do both; {OTHERS}",
    ),
    "probe.warmup.found": (_warmup_headline, _warmup_found),
    "probe.train_steps.not_begun": (
        "The sweep cannot begin: something is missing",
        "The sweep cannot begin: something that it needs is missing.",
    ),
    "probe.train_steps.unknown": (
        "When the training data is fit is not known",
        "When the training data is fit is unknown.",
    ),
    "probe.train_steps.diverges": (
        "Every constant learning rate diverged",
        "Every constant learning rate from {low:g} to {high:g} diverged: see "
        "`tunewright probe stability`.",
    ),
    "probe.train_steps.fits": ("Begin with {name} = {max_train_steps}", _fits),
    "probe.train_steps.fits_at_edge": (
        "The fastest learning rate is at the sweep's {side} end",
        _fits_at_edge,
    ),
    "probe.train_steps.plateau": ("The training data is never fit", _plateau),
    "probe.train_steps.none_at_edge": (
        "The best learning rate is at the sweep's {side} end",
        _none_at_edge,
    ),
    "probe.train_steps.compute_bound": (
        "Tuning is compute-bound: nothing fits within {length} {unit}",
        _compute_bound,
    ),
    "probe.critical_batch.no_goal": (
        "No goal can be set at the smallest batch size",
        "No goal can be set at the smallest batch size.",
    ),
    "probe.critical_batch.too_few_sizes": (
        "Too few batch sizes count to find the critical one",
        "The critical batch size is unknown: {counted} of {sizes} batch sizes count, and "
        "{needed} are needed.",
    ),
    "probe.critical_batch.above": (_critical_headline, _critical_above),
    "probe.critical_batch.below": (_critical_headline, _critical_below),
    "probe.critical_batch.inside": (_critical_headline, _critical_inside),
    "probe.noise_scale.course": (_course_headline, _course),
}
SENTENCES: dict[str, Template] = {
    **{code: sentence for code, (_, sentence) in ANSWERS.items()},
    **{f"{code}.headline": headline for code, (headline, _) in ANSWERS.items()},
    # what happened to a short run
    "probe.run.unknown": "cannot be judged",
    "probe.run.stable": "stable",
    "probe.run.no_lower": "ended no lower than it began",
    "probe.run.unstable": _unstable_run,
    # whole trainings compared
    "probe.prepended.unstable": "in whole trainings not every seed was stable ({metric})",
    "probe.prepended.compared": _comparison,
    # what a judgement needs
    "probe.text": "{text}",  # of a store of version 1
    "probe.longer.not_restored": (
        "the program began at another step than {step}, where its snapshot is. Let it restore: "
        "`if run.restored is not None: ...`"
    ),
    "probe.longer.too_few": (
        "too few branches completed: {as_long} as long as the trial, {longer} longer"
    ),
    "probe.longer.no_noise": (
        "all seeds gave the same value, so noise is not known: repeat the best trial"
    ),
    "probe.longer.more_seeds": "more seeds: --times {times}",
    "probe.longer.from_the_end": (
        "the only snapshot is from the end of training: the longer branches are compared with the "
        "trial itself, which was chosen as the best and so looks better than it is"
    ),
    "probe.finite_loss_needed": (
        "a finite {metric} at the first step: check the inputs and labels for NaN, the loss for "
        "log(0) or a division by 0, and the precision, on one batch before any update"
    ),
    "probe.takes_no_hyperparameter": (
        "{name}: the training program takes no such hyperparameter. Let it take one, or if it has "
        "another name, declare it: {meaning:means}"
    ),
    "probe.no_value": (
        "{name}: no value above 0 is known. Fix one, or begin from a round that has it; if it has "
        "another name, declare it: {meaning:means}"
    ),
    "probe.unclipped_unknown": (
        "{name}: which value clips nothing is not known. Declare it: {name:off}"
    ),
    "probe.infeasible_run": "a training that can be done: {reason}",
    "probe.loss_never_logged": _loss_never_logged,
    "probe.too_few_points": (
        "{metric} at every step: it has {points} points, and {needed} are needed. Log it at every "
        "step, or evaluate where run.eval_due(step) asks for it ({{run.eval_every}} in a command)"
    ),
    "probe.clip.too_few_norms": (
        "more stable steps: trial {trial} logged too few norms to begin from"
    ),
    "probe.clip.norms_after_clipping": (
        "{name} before clipping: what is logged is the norm after it. Log what clipping was given "
        "(clip_grad_norm_ returns it)"
    ),
    "probe.clip.no_norms": (
        "{name}: too few norms were logged. Log the norm of the whole gradient at every step, "
        "before clipping, or if it has another name, declare it: "
        "{declare.means.gradient_norm}"
    ),
    "probe.too_few_steps": (
        "longer runs: {steps:count step} are too few to judge whether training is stable; it takes "
        "at least {needed} (--steps {needed}, in Python steps={needed})"
    ),
    "probe.logged_too_rarely": (
        "{metric} at every step: the program logs it every {every:count step}, so {steps} steps "
        "give {points:count point}, and {needed} are needed. Log it at every step, or evaluate "
        "where run.eval_due(step) asks for it ({{run.eval_every}} in a command), or take "
        "--steps {needed_steps}"
    ),
    "probe.warmup.too_few_steps": "{steps} training steps are too few for any warm-up",
    "probe.train_steps.rate_varied": (
        "a constant learning rate: trial {trial} of {round} logged one between {low:.4g} and "
        "{high:.4g}. Give the program a schedule to choose and declare which is constant: "
        "{declare.means.schedule}, {declare.off.schedule:constant}"
    ),
    "probe.train_steps.never_logged": (
        "{wanted}: it was never logged (logged: {logged:list}). Log the error of a fixed part of "
        "the training data at evaluations, or declare {declare.means.train_loss}"
    ),
    "probe.train_steps.no_name": (
        "the program's name for {meaning}: it takes {takes:list}; declare {meaning:means}"
    ),
    "probe.train_steps.no_rate": (
        "a learning rate to sweep around: learning_rate=0.01 (--learning-rate 0.01)"
    ),
    "probe.train_steps.no_length": (
        "how long to train at first: max_train_steps=1000 (--max-train-steps 1000), or "
        "{declare.means.steps_per_epoch}, for 20 epochs"
    ),
    "probe.train_steps.no_value": (
        "a value for {name}: fixed={{{name!r}: ...}} (--fixed {name}=...)"
    ),
    "probe.off_value": _off_value,
    "probe.critical_batch.few_feasible": (
        "three feasible trials at batch size {batch_size}: {feasible} of {trials} are. Narrow the "
        "ranges (see {check}), or give goal="
    ),
    "probe.critical_batch.problem": "batch size {batch_size}: {why:message}",
    "probe.critical_batch.few_reach": (
        "{reached} of {trials} trials reach {goal:.4g}; {needed} are needed: more trials, more "
        "steps, or a goal that is easier"
    ),
    "probe.critical_batch.few_for_edges": (
        "{feasible} feasible trials; {needed} are needed to see whether the fastest lies inside "
        "the ranges: more trials"
    ),
    "probe.critical_batch.at_edge": _at_edge,
    "probe.critical_batch.coarse": _coarse,
    # what an answer rests on
    "probe.schedule_squeezed": (
        "short runs keep the schedule of the learning rate, squeezed into them. To hold it "
        "constant, let the program take {name}, and declare {name:off {constant}}"
    ),
    "probe.clip.share_unknown": (
        "how much is clipped is not known: log {name} as it is before clipping"
    ),
    "probe.warmup.long": (
        "a warm-up of {share:percent} of {name} is a long one: training may need more than the "
        "{steps:,} steps it has with it"
    ),
    "probe.no_schedule": (
        "the program is taken to keep its learning rate constant; it has no schedule"
    ),
    "probe.holds_for": _holds_for,
    "probe.stayed_on": "{names:list} stayed on, as asked",
    "probe.critical_batch.left_out": "left out: batch size {batch_size}: {why:message}",
    "probe.critical_batch.misfit": (
        "the steps follow the curve S_min (1 + B_crit / B) badly: look at each size instead"
    ),
    "probe.critical_batch.caveat": "batch size {batch_size}: {why:message}",
    "probe.criterion": _criterion,
    "probe.interrupted": "interrupted; the same command resumes where it stopped",
}
