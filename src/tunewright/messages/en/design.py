"""What is wrong, or unwise, about a round, its ranges, its schedule and the files they stand in."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.messages import Facts, Template, sentence

_STEPS = "max_train_steps"
_KEY_OF = {
    "file": "a table here",
    "round": "a key of a round",
    "workload": "a key of [workload]",
    "read": "a key of [workload.read]",
}


def _and(names: Sequence[object]) -> str:
    return " and ".join(str(name) for name in names)


def _nearest(facts: Facts, otherwise: str = "Known: ") -> str:
    """A hint at the name that was meant, or at all there are."""
    if facts["near"]:
        return f"Did you mean {facts['near']!r}?"
    return f"{otherwise}{', '.join(facts['known']) or 'none'}."


def _steps(facts: Facts) -> str:
    name = facts["name"]
    return name if name == _STEPS else f"{name} (it means {_STEPS})"


def _steps_differ(facts: Facts) -> str:
    values = facts["values"]
    return (
        f"{_steps(facts)} takes {len(values)} values ({', '.join(map(str, values))}) within one "
        "study, which would compare trials of different length: pick one value."
    )


def _missing_name(facts: Facts) -> str:
    settings = ", ".join(f"{column} = {value}" for column, value in facts["under"].items())
    under = f" under {settings}" if settings else ""
    return (
        f"{facts['name']}: the training program needs it, and the round gives it no value{under}. "
        "Put it in fixed= with one value, or in nuisance= to search it."
    )


def _too_few_trials(facts: Facts) -> str:
    dimensions, branches = facts["dimensions"], facts["branches"]
    plural = "" if dimensions == 1 else "s"
    study = f" in study {facts['study']}" if facts["study"] else ""
    shared = f", shared by {branches} conditional branches" if branches > 1 else ""
    return (
        f"{facts['trials']} trials for {dimensions} hyperparameter{plural}{study}{shared}: "
        f"{facts['suggested']} trials would be enough; or fix the hyperparameters that matter "
        "least."
    )


def _several_scientific(facts: Facts) -> str:
    return (
        f"{_and(facts['names'])} are all scientific: a round answers one question well. Ask about "
        f"one, with the others nuisance or fixed, or expect {facts['studies']} studies to share "
        "the trials."
    )


def _belief_unit(facts: Facts) -> str:
    place = f"{facts['range']}.around({facts['value']!r})"
    if facts["wanted"] == "width":
        return f"{place}: on a linear scale give width= alone, in the units of the value."
    return f"{place}: on a log scale and in a list give factor= alone, such as factor=3."


def _fixed_range(facts: Facts) -> str:
    text = f"{facts['column']}: {facts['range']} is a range. A fixed hyperparameter has one value"
    if facts["meaning"] == _STEPS:
        return f"{text}, and the number of training steps is never searched: pick one."
    if facts["meaning"] is not None:
        return (
            f"{text}: pick one, or compare batch sizes as a list in scientific= with the rest "
            "tuned anew under each."
        )
    return f"{text}; to search it, move it to nuisance= (unless it counts the training steps)."


def _unknown_meaning(facts: Facts) -> str:
    near = f" Did you mean {facts['near']!r}?" if facts["near"] else ""
    known = ", ".join(facts["known"])
    return f"means {facts['meaning']!r}: no such meaning.{near} The meanings are: {known}."


def _meaning_not_taken(facts: Facts) -> str:
    near = f" Did you mean {facts['near']!r}?" if facts["near"] else ""
    return (
        f"means {facts['meaning']}: {facts['spelled']!r} is not a hyperparameter here.{near} There "
        f"is: {', '.join(facts['known']) or 'none'}. None declares that nothing has this meaning."
    )


def _guesses(facts: Facts) -> str:
    pairs = [
        f"{', '.join(name) if isinstance(name, list | tuple) else name} as {meaning}"
        for meaning, name in facts["means"].items()
    ]
    return f"names are read by their spelling: {'; '.join(pairs)}."


def _no_range(facts: Facts) -> str:
    name, key = facts["name"], facts["key"]
    hint = f' If {name}.{key} is one name, quote it: "{name}.{key}" = ...' if key else ""
    return (
        f"{facts['declared']!r} is not a range. Write {{ log = [1e-4, 1e-1] }}, a list of values, "
        f"or another kind ({', '.join(facts['kinds'])}). A kind of your own is known once "
        f"the module that registers it is imported.{hint}"
    )


def _missing_file(facts: Facts) -> str:
    parts = [f"{facts['path']}: no such file."]
    if facts["near"]:
        parts.append(f"Did you mean {facts['near']}?")
    if facts["how"]:
        parts.append(sentence(facts["how"]))
    return " ".join(parts)


def _one_of_two(facts: Facts) -> str:
    there = "both are there" if facts["both"] else "neither is there"
    return f"[workload] needs one of {facts['one']} and {facts['other']}; {there}."


def _unknown_schedule(facts: Facts) -> str:
    if facts["near"]:
        return f". {_nearest(facts)}"
    return f"; there are {', '.join(facts['known'])}."


def _fixed_while_compared(facts: Facts) -> str:
    fixed = ", ".join(f"{name} = {value}" for name, value in facts["fixed"].items())
    return (
        f"{fixed} is fixed while {_and(facts['compared'])} is compared: {sentence(facts['why'])}. "
        "Make it nuisance if the budget allows, or the answer holds for this value alone."
    )


def _lengths_differ(facts: Facts) -> str:
    each = ", ".join(f"{value} under {study}" for study, value in facts["lengths"].items())
    return (
        f"{facts['name']} differs between settings ({each}): the longer training looks better for "
        "that alone. Give every setting the same number of steps."
    )


def _batch_size_of_earlier(facts: Facts) -> str:
    held = [*facts["optimizer"], *facts["regularisers"]]
    order = "the optimizer's hyperparameters first, then the regularisers"
    return (
        f"{facts['name']} was {facts['before']} in {facts['earlier']} and is {facts['now']}, while "
        f"{_and(held)} {'keeps its value' if len(held) == 1 else 'keep their values'}: tune "
        f"{order} anew."
    )


SENTENCES: dict[str, Template] = {
    "advice.architecture_nuisance": lambda facts: (
        f"{_and(facts['names'])}: the architecture is nuisance. It decides cost, latency and "
        "memory, so it is usually scientific (compare it) or fixed."
    ),
    "advice.fixed_while_compared": _fixed_while_compared,
    "advice.lengths_differ": _lengths_differ,
    "advice.shared_by_optimizers": lambda facts: (
        f"{_and(facts['names'])}: one range for every {facts['optimizer']} "
        f"({', '.join(map(str, facts['values']))}). The same name is not the same hyperparameter: "
        f"give each its own range with given()."
    ),
    "interaction.augmentation": "the more augmentation, the less other regularisation helps",
    "interaction.batch_size": "its best value changes with the batch size",
    "interaction.model_size": "larger models often need stronger regularisation",
    "continued.batch_size": _batch_size_of_earlier,
    "continued.length": lambda facts: (
        f"{facts['name']} = {facts['steps']} comes from a probe, and {_and(facts['changed'])} "
        f"changed since {facts['earlier']}: the number of steps depends on it. Run the probe again."
    ),
    "advice.two_values": (
        "{name} takes {low:number} or {high:number} and nothing between. If a range is meant, "
        "declare log({low:number}, {high:number})."
    ),
    "advice.epoch_budget": (
        "batch sizes are compared under an epoch budget ({steps}): the larger ones take fewer "
        "steps and look worse for that alone. Give every batch size as many steps as it needs, "
        "and compare at the same number of steps or the same time."
    ),
    "advice.many_dimensions": (
        "{dimensions} hyperparameters are searched at once: beyond {most} quasi-random points "
        "are hardly more even than random ones. Fix some of them."
    ),
    "advice.nothing_nuisance": (
        "nothing is nuisance: settings are compared at one configuration each, and the answer "
        "holds for that configuration only."
    ),
    "advice.one_value": (
        "{name} is scientific with one value: nothing is compared. Add one, or fix it."
    ),
    "advice.optimizer_nuisance": (
        "{name} is nuisance: which optimizer is used is usually scientific (compare them) or "
        "fixed, since each adds its own hyperparameters."
    ),
    "advice.optimizer_scientific": (
        "{name} is scientific: its best value changes with almost anything else, so the answer "
        "will not last. Optimizer hyperparameters are usually nuisance."
    ),
    "advice.rate_fixed": (
        "{name} is fixed while settings are compared: each may need another one, and the "
        "setting it happens to suit will win. Make it nuisance if the budget allows."
    ),
    "advice.rate_not_retuned": (
        "{name} is scientific, but the learning rate is not tuned anew under each value: most "
        "optimal values change with the batch size."
    ),
    "advice.regulariser_on_training_metric": (
        "{name} regularises, and {metric} is a training metric: it can only look harmful. "
        "Judge regularisers by a validation metric."
    ),
    "advice.scientific_range": (
        "{name} is a scientific range: its effect is read from buckets of one study, which "
        "find a difference of 3 trial standard deviations at most 8 times in 100, even with "
        "100 trials. A list of 3 values with 16 trials each finds it 9 times in 10."
    ),
    "advice.several_scientific": _several_scientific,
    "advice.sobol": (
        "{dimensions} hyperparameters are searched at once: Halton points degrade beyond "
        "{most}, so scrambled Sobol points are used, which do not stay the same when a "
        "hyperparameter is added. Fix some of them."
    ),
    "advice.strength_scientific": (
        "{name} is scientific in its strength: ask whether it helps at all (a list of on and "
        "off), and let its strength be nuisance where it is on, by given()."
    ),
    "advice.too_few_trials": _too_few_trials,
    "belief.bad_size": "{range}.around(): {wanted}={given!r} is not a number above {least:g}.",
    "belief.no_value": (
        "{range}: {keys} without around. A belief names the value: around = 3e-4, factor = 3."
    ),
    "belief.other_unit": _belief_unit,
    "belief.outside": (
        "{range}.around({value!r}): the value lies outside the range. Name a value inside, or "
        "widen the range."
    ),
    "budget.bad_workers": "workers: {workers} is not at least 1.",
    "declaration.at": "{place}: {problem:message}",
    "declaration.bad_choice": "choice = {data!r} is not a list of values.",
    "declaration.bad_given": (
        "given is neither a table of values nor a list of [value, table] pairs; a value "
        "without hyperparameters below it has an empty table."
    ),
    "declaration.fixed_range": _fixed_range,
    "declaration.inside": "{place} {problem:message}",
    "declaration.no_range": _no_range,
    "declaration.not_two_bounds": (
        "{kind} = {bounds!r}: two numbers are needed, {kind} = [low, high]."
    ),
    "declaration.nothing_to_search": (
        "{column}: {declared!r} is a plain value, with nothing to search. Move it to fixed=, "
        "or give a range such as log(1e-4, 1e-1) or a list."
    ),
    "declaration.two_kinds": lambda facts: (
        f"{_and([repr(key) for key in facts['others']])} cannot stand beside "
        f"{facts['kind']!r} in one range."
    ),
    "declaration.unknown_kind": "{key!r} is not a kind of range. Did you mean {near!r}?",
    "file.cannot_be_read": "{path}: cannot be read: {reason}.",
    "file.deep_key": "{path}: a key of more than {deepest} parts; quote it if it is one.",
    "file.init": "Write one: tunewright init COMMAND_OR_FUNCTION --minimize METRIC",
    "file.missing": _missing_file,
    "file.new_round": "Write one to fill in: tunewright new {name:quoted}",
    "file.not_toml": "{path}: not valid TOML: {error}.",
    "file.not_utf8": "{path}: byte {byte} is not UTF-8 text.",
    "file.problem": "{path}: {problem:message}",
    "file.too_deep": "{path}: nested too deeply to be a round or a workload.",
    "file.too_large": "{path}: larger than {largest} bytes, which no round or workload needs.",
    "file.unknown_key": lambda facts: (
        f"{facts['key']}: not {_KEY_OF[facts['of']]}. {_nearest(facts)}"
    ),
    "given.missing_values": (
        "{column}: given() has no entry for {missing}. A value without hyperparameters "
        "below it maps to {{}}."
    ),
    "given.no_values": "given(): no values. Name at least one value of the parent.",
    "given.not_hyperparameters": (
        "{place} maps to {children!r}, not to hyperparameters. A value without any maps to {{}}."
    ),
    "given.not_mapping": "given(): {branches!r} is not a mapping of values to hyperparameters.",
    "given.parent_has_one_value": (
        "{column}: given() needs {column} to have several values. List {values} in scientific= "
        "or nuisance=."
    ),
    "given.parent_is_range": (
        "{role} {name}: given() needs a list of values, but scientific {name} is {declared}. "
        "List the values {values} there."
    ),
    "given.unknown_values": "{column}: given() names {unknown}, but its values are {values}.",
    "guard.missing_name": _missing_name,
    "guard.searched_steps": lambda facts: (
        f"{_steps(facts)} cannot be searched: pick one value and use it for every trial (put it in "
        "fixed=)."
    ),
    "guard.seed": (
        "{name}: a seed is not a hyperparameter; the best draw would be chosen, and repeats "
        "would not vary. Take it from the handle (run.seeds.init, .order, .data, .split) or "
        "from {{run.seed}} in a command."
    ),
    "guard.steps_differ": _steps_differ,
    "guard.tuned_batch_size": (
        "{name} cannot be a nuisance hyperparameter of {metric}: the best values of the "
        "optimizer and the regularisers change with it, so the search would compare batch "
        "sizes at settings tuned for another. Put it in fixed= (the largest that trains fast), "
        "or compare batch sizes as scientific values with the rest tuned anew under each."
    ),
    "guard.unknown_name": lambda facts: (
        f"{facts['name']}: the training program takes no hyperparameter of this name. "
        f"{_nearest(facts, 'It takes: ')}"
    ),
    "meaning.not_mapping": "{part}: {declared!r} is not a mapping of names.",
    "meaning.not_name": "means {meaning}: {spelled!r} is not a name.",
    "meaning.not_names": "means {meaning}: {spelled!r} is not a list of names.",
    "meaning.not_number": "means {meaning}: {spelled!r} is not a finite number.",
    "meaning.shared": "means {meaning}: {spelled!r} means {other} already.",
    "meaning.unknown": _unknown_meaning,
    "meaning.not_taken": _meaning_not_taken,
    "meaning.off_not_taken": lambda facts: (
        f"off {facts['name']}: the training program takes no hyperparameter of this name. "
        f"{_nearest(facts, 'It takes: ')}"
    ),
    "meaning.guessed": {
        "python": lambda facts: (
            f"{_guesses(facts)} Declare the others with means={{...}}; None declares that nothing "
            "has a meaning."
        ),
        "shell": lambda facts: (
            f"{_guesses(facts)} Declare the others under [workload.means] in tunewright.toml; "
            "{ none = true } declares that nothing has a meaning."
        ),
    },
    "name.empty": "the name {name!r} is empty or not text.",
    "name.too_long": "the name {start!r}... is longer than {most} characters.",
    "name.unprintable": "the name {name!r} has a line break or another unprintable character.",
    "objective.bad_at": (
        '{verb}(at={at!r}): "best" takes the best value over training, "last" the final one.'
    ),
    "objective.bad_constraint": (
        'subject_to {name}: {constraint!r} is not a relation and a number, such as ("<=", 20).'
    ),
    "objective.constraints_not_mapping": (
        "subject_to: {subject_to!r} is not a mapping of metrics to limits, such as "
        '{{"latency_ms": ("<=", 20)}}.'
    ),
    "objective.no_metric": "{verb}({metric!r}): name the metric your program logs.",
    "preset.batch_size_bounded": (
        "the range of the learning rate is centred for a batch size of {most}, not {batch_size}: "
        "beyond a critical size the best rate no longer grows with it, and only tuning finds it."
    ),
    "preset.not_taken": (
        "{name} would be searched with {trials:count trial}, but the training program does not "
        "take it."
    ),
    "preset.bad_count": "defaults.space({argument}={count!r}): a whole number from 1 is needed.",
    "preset.unknown_optimizer": lambda facts: (
        f"defaults.space({facts['name']!r}): no such optimizer. {_nearest(facts)}"
    ),
    "range.bad_log_flag": "integers(): log is {log!r}; it is True or False.",
    "range.bound_not_finite": "{kind}(): {bound} is {value}; bounds must be finite numbers.",
    "range.bound_not_number": "{kind}(): {bound} is {value!r}, not a number.",
    "range.bound_not_whole": (
        "{kind}(): {bound} is {value!r}, not a whole number. For fractions use linear()."
    ),
    "range.bad_kind_name": (
        "{given}.kind is {name!r}. The name of a kind of range is a word that a round file can "
        "have as a key, such as 'octaves'; 'given' and 'none' mean something else there."
    ),
    "range.bound_of_other_kind": (
        "{kind}(): {bound} is {value!r}, which no range of this kind can have."
    ),
    "range.bound_too_large": "{kind}(): {bound} is {value}, beyond 2**53; write it as a float.",
    "range.choice_twice": "choice(): {value!r} is listed twice; each value stands once.",
    "range.high_not_below_one": (
        "{range}: it searches 1 - x on a log scale, so high must be below 1, such as 0.999."
    ),
    "range.kind_taken": (
        "{given} has the kind {name!r}, which {known} has already. Give it another name."
    ),
    "range.log_from_zero": (
        "{range}: a log range needs 0 < low < high. For a range that touches zero use "
        "linear(), or search 1 - x with log_from_one()."
    ),
    "range.log_integers_from_zero": (
        "{range}: a log range needs 0 < low < high. For one that touches zero leave out "
        "log=True, or start at 1."
    ),
    "range.low_above_high": (
        "{kind}({low}, {high}): low is above high; did you mean {kind}({high}, {low})?"
    ),
    "range.low_equals_high": (
        "{kind}({low}, {high}): low equals high, so there is nothing to search. Put the value "
        "{low} into fixed= instead."
    ),
    "range.no_choices": "choice(): no values. Name at least one, or leave the name out.",
    "range.not_a_kind": (
        "{given!r} is not a kind of range. Register a class that subclasses tw.ranges.Range."
    ),
    "range.not_a_choice": "{value!r} is not one of {values}",
    "range.same_logarithm": (
        "{range}: the ends have the same logarithm; search so little by linear()."
    ),
    "range.too_wide": "{range}: the range is too wide for a float.",
    "range.value_not_number": "{value!r} is not a number of {range}",
    "range.value_not_whole": "{value!r} is not a whole number of {range}",
    "range.value_of_other_kind": "{value!r} is not a value of {range}",
    "range.value_outside": "{value!r} lies outside {range}",
    "range.whole_bound_too_large": (
        "{kind}(): {bound} is {value}, beyond 2**53, where a float cannot separate "
        "neighbours. Search its logarithm instead: integers(low, high) of the exponent."
    ),
    "round.scientific_belief": (
        "scientific {name}: a belief about the best value makes no sense where the values are "
        "compared evenly. Leave out {belief}, or make {name} nuisance."
    ),
    "round.bad_detect": (
        "detect: {detect!r} is not a positive number. It is the smallest difference of the "
        "objective worth finding; leave it out if you do not know."
    ),
    "round.bad_name": "the round: {problem:message}",
    "round.bad_seed": "seed: {seed!r} is not a whole number from 0 to 2**63 - 1.",
    "round.bad_trials_per_study": (
        "trials_per_study: {trials_per_study!r} is not a whole number from 1 to {most:,}."
    ),
    "round.continues_bad_name": (
        "continues: {problem:message} It names the earlier round whose trials count too."
    ),
    # how a schedule becomes longer
    "stretch.warmup": "warm-up stays {warmup_steps} steps; {rule:message}",
    "stretch.linear": (
        "the decay stays {decay_steps} steps, {extra} more come before it at the base rate"
    ),
    "stretch.stable": "the stable phase is {extra} steps longer",
    "stretch.piecewise": "the first piece is {extra} steps longer, the others keep their lengths",
    "stretch.cosine": "the same base rate, the cosine stretched to {steps} steps",
    "stretch.constant": "the rate stays constant",
    "stretch.rsqrt_kept": "the rate had not begun to decay; rsqrt is kept",
    "stretch.rsqrt_replaced": (
        "rsqrt would spend the extra steps below {end_factor:.3g} of the base rate: constant, then "
        "linear over {decay_steps} steps to the same end rate instead"
    ),
    "round.asks": "{goal} [{change:message}]",
    "round.bad_change": (
        "change: {change!r} is not a message with a code and its facts. Leave it out: "
        "the commands that propose a round write it."
    ),
    "round.continues_itself": (
        "continues: {name!r} is this round itself. Name an earlier one, or leave it out."
    ),
    "round.declared_twice": (
        "{name}: declared twice for {study}; a name may stand under several values of a "
        "given(), but not beside itself."
    ),
    "round.bad_goal": (
        "goal: {goal!r} has a code or facts that no message has. Write the question as text."
    ),
    "round.goal_empty": (
        'goal: empty. A round asks one question; write it down, such as "Does weight decay '
        'lower the validation error?"'
    ),
    "round.goal_unstorable": "goal: {goal!r} holds a NUL or half a character.",
    "round.key_missing": "{key}: missing. Write, for example, {example}.",
    "round.not_mapping": "a round is a mapping of {keys:list}, not {data!r}.",
    "round.role_not_mapping": (
        "{role}: {declared!r} is not a mapping of names to ranges or values."
    ),
    "round.role_not_table": "{role}: {declared!r} is not a table of hyperparameters.",
    "round.same_column": (
        "{column}: two hyperparameters would both be recorded under this column; rename one of "
        "them."
    ),
    "round.scientific_given": (
        "scientific {name}: given() belongs under the same name in nuisance= or fixed=; list "
        "the values here: {values}."
    ),
    "round.scientific_value": (
        "scientific {name}: {declared!r} is a plain value. A scientific hyperparameter has a "
        "list of values (one study each) or a range; a single value belongs into fixed=."
    ),
    "round.too_many_studies": (
        "scientific: the lists make {studies} studies, more than {most}. Ask about fewer "
        "hyperparameters at once, or give some of them as ranges."
    ),
    "round.too_many_trials": (
        "trials_per_study: {studies} studies of {trials_per_study} are more than {most} trials."
    ),
    "round.two_roles": lambda facts: (
        f"{facts['name']}: stands in {_and(facts['roles'])}; in a round it has one role."
    ),
    "schedule.above_one": (
        "{kind}: {name}={value!r} is above 1, so the rate would grow, not decay."
    ),
    "schedule.bad_count": "{kind}: {name}={value!r} is not a whole number of steps from {least}.",
    "schedule.bad_fields": "schedule {name!r}: {reason}",
    "schedule.bad_step": "step {step}: steps are updates, counted from 1.",
    "schedule.bad_total": "max_train_steps={max_train_steps!r}: a whole number from 1 is needed.",
    "schedule.bad_warmup_mode": ('Warmup: mode={mode!r} is neither "within" nor "prepend".'),
    "schedule.boundaries_not_growing": "Piecewise: the boundaries {boundaries} must grow.",
    "schedule.boundary_never_passed": (
        "Piecewise: the boundary {boundary} is never passed in {max_train_steps} steps. Lower "
        "it, or leave it out."
    ),
    "schedule.decay_too_long": (
        "decay_steps={decay_steps} is more than the {max_train_steps} steps there are to decay in."
    ),
    "schedule.no_stretching_rule": "no rule is known for stretching {schedule}.",
    "schedule.no_such_name": lambda facts: (
        f"no schedule is called {facts['name']!r}{_unknown_schedule(facts)}"
    ),
    "schedule.not_number": "{kind}: {name}={value!r} is not a number.",
    "schedule.not_positive": "{kind}: {name}={value!r} must be finite and not negative.",
    "schedule.phases_too_long": (
        "WarmupStableDecay: warm-up ({warmup_steps}) and decay ({decay_steps}) need {needed} "
        "steps, but max_train_steps is {max_train_steps}."
    ),
    "schedule.pieces": (
        "Piecewise: {boundaries} boundaries cut the training into {pieces} pieces, but "
        "{factors} factors are given."
    ),
    "schedule.shorter": (
        "from {old_steps} to {new_steps} steps is shorter, and a schedule tuned for longer "
        "training is no guide to it: tune it again."
    ),
    "schedule.unknown_shape": lambda facts: (
        f"WarmupStableDecay: shape={facts['shape']!r}{_unknown_schedule(facts)}"
    ),
    "schedule.warmup_too_long": (
        "Warmup: warmup_steps={warmup_steps} leaves nothing of "
        'max_train_steps={max_train_steps}. Shorten it, or use mode="prepend".'
    ),
    "schedule.warmup_twice": "Warmup: {schedule} warms up already; give one of them.",
    "study.bad_value": "{column}: {problem:message}.",
    "study.configuration_lacks": "the configuration lacks {name}: {range}.",
    "study.no_position": "no position for {column}; the vector has {columns}.",
    "study.other_setting": "{name} = {given!r} is not this study's setting {setting!r}.",
    "study.too_many_branches": (
        "{study}: the given()s of nuisance= make more than {most} combinations, each searched "
        "on its own. Fix some of the parents, or compare them as scientific hyperparameters in "
        "separate rounds."
    ),
    "value.beyond_integers": (
        "{place}: {value} is beyond 2**53; give it as text or as a logarithm."
    ),
    "value.not_finite": "{place}: {value} is not a finite number.",
    "value.not_plain": (
        "{place}: {value!r} is a {type}. Values are numbers, text, True, False or None, so "
        "that any program and record can hold them; give it a name and look the object up in "
        "the training function."
    ),
    "value.unstorable": (
        "{place}: {value!r} holds a NUL or half a character, which no program can be given."
    ),
    "measured.bad_value": (
        "Measured: value={value} is not a number; give what was measured, such as 0.081."
    ),
    "measured.bad_sd": (
        "Measured: sd={value} is not a standard deviation; give a number that is not negative: for "
        "a mean, the standard deviation over the examples divided by the root of their number."
    ),
    "measured.bad_n": (
        "Measured: n={value} is not a number of examples; give a whole number from 1 on, or leave "
        "it out."
    ),
    "workload.not_a_table": "{key}: {value!r} is not a table; write [workload.{key}].",
    "workload.only_of_a_command": (
        "{key}: a training function needs none; it is for command = ... in [workload]."
    ),
    "file.bad_search": "search: {search!r} is none of {known:list}.",
    "workload.not_table": "workload: {table!r} is not a table; write [workload].",
    "workload.not_text": "{key}: {value!r} is not text.",
    "workload.one_of_two": _one_of_two,
}
