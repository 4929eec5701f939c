"""Sentences of campaigns and of errors raised in `campaigns`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words

# ---- why a campaign takes each step, what it cannot do by itself, and how it ends


PROBED = {"batch_size": "the batch size", "train_steps": "the length of training"}
ARMS = {"winner": "the winner", "baseline": "the baseline"}


def _trial(facts: Facts) -> str:
    return f"{facts['metric']} {facts['value']:.4g}, trial {facts['trial']} of {facts['round']}"


def _continue_search(facts: Facts) -> str:
    text = f"continue the Bayesian search up to {facts['trials']} trials"
    if facts["gain"] is None:
        return text
    if not facts["gain"]:
        return f"{text}: its last trials gained nothing, but it is too short to end here"
    return f"{text}: as many again may gain {facts['gain']:.2g}"


def _search(facts: Facts) -> str:
    why = "exploration is complete" if facts["why"] is None else sentence(facts["why"])
    text = f"{why}; Bayesian search, {words.count(facts['trials'], 'trial')}"
    moved = facts.get("ranges")  # a step of an older version has none
    if not moved:
        return text
    ranges = ", ".join(f"{column} in {range}" for column, range in moved.items())
    return f"{text}; the best trials lie near the end of a range, so {ranges}"


def _edge(facts: Facts) -> str:
    ranges = ", ".join(f"{column} in {range}" for column, range in facts["ranges"].items())
    return f"the best trials lie at the end of a range; continue the Bayesian search with {ranges}"


def _tune_longer(facts: Facts) -> str:
    agreement = f"{sentence(facts['agreement'])}; " if facts["agreement"] else ""
    names = ", ".join(facts["names"])
    return f"{agreement}tune {names} again at {facts['steps']} steps, around the best"


def _remedy(facts: Facts) -> str:
    named = " or ".join(facts["remedies"])
    runs = words.count(facts["runs"], "short run")
    return f"{sentence(facts['why'])}: does {named} make training stable? Up to {runs}"


def _repair(facts: Facts) -> str:
    settings = ", ".join(f"{name} = {value:g}" for name, value in facts["settings"].items())
    lacks = "; ".join(sentence(lack) for lack in facts["missing"])
    answer = sentence(facts["answer"]) + (f" ({lacks})" if lacks else "")
    return f"{answer}: search the space again with {settings}"


def _skip(facts: Facts) -> str:
    probed = [PROBED[what] for what in facts["what"] if what in PROBED]
    remedies = [what for what in facts["what"] if what not in PROBED]
    parts = []
    if probed:
        parts.append(f"{' and '.join(probed)} {'are' if probed[1:] else 'is'} not probed")
    if remedies:
        verb = "are" if remedies[1:] else "is"
        parts.append(f"if training is unstable, {' and '.join(remedies)} {verb} not tried")
    return f"{'; '.join(parts)}: {sentence(facts['why'])}"


def _decide(facts: Facts) -> str:
    return f"{facts['verdict']}: {sentence(facts['reason'])}"


SENTENCES: dict[str, Template] = {
    # ---- campaigns
    # steps
    "campaign.first_round": "{trials} quasi-random trials over the whole space of {names:list}: "
    "which settings matter, and where?",
    "campaign.all_infeasible": "all {ended} trials were infeasible: {more} more, in case a corner "
    "of the space trains",
    "campaign.unfinished_trials": "{left} of {total} trials have not run yet",
    "campaign.unfinished_repeats": "{left} repeats of trial {trial} of {round} have not run yet",
    "campaign.current_default": "the current default: {settings:settings}",
    "campaign.retrained_baseline": "the baseline (trial {trial} of {round}) trained for another "
    "length: train it as long as the search does, to compare with it",
    "campaign.repeat_best": lambda facts: (
        f"repeat the best of exploration ({_trial(facts)}): how much of it is noise?"
    ),
    "campaign.moved_range": _edge,
    "campaign.continue_search": _continue_search,
    "campaign.search": _search,
    "campaign.finalist": lambda facts: (
        f"repeat a finalist ({_trial(facts)}) with new seeds: the "
        "best of many trials is partly noise"
    ),
    "campaign.spare_trials": lambda facts: (
        f"trials are left over: repeat a finalist ({_trial(facts)}) up to {facts['runs']} runs"
    ),
    "campaign.first_baseline": lambda facts: (
        f"{_trial(facts)} is the first baseline: there is none to compare it with"
    ),
    "campaign.more_runs": lambda facts: (
        f"repeat {ARMS[facts['arm']]} up to {facts['runs']} runs "
        "with new seeds, to decide on the launch"
    ),
    "campaign.decide": _decide,
    "campaign.test": "the test set, once, for trial {trial} of {round}",
    "campaign.train_longer": "the {count} best of the search, trained for {steps} steps instead of "
    "{before}",
    "campaign.tune_longer": _tune_longer,
    "campaign.probe_batch_size": "no batch size was given: which sizes fit, and how fast is each?",
    "campaign.probe_train_steps": "no length of training was given: how many steps does the "
    "fastest perfect fit take?",
    "campaign.probe_remedy": _remedy,
    "campaign.repaired": _repair,
    # its end
    "campaign.none_completed": "no trial completed: fix the workload or the ranges",
    "campaign.too_few_trials": "too few trials for a launch decision: raise the budget",
    "campaign.finished": "finished with {left} of {total} trials left",
    "campaign.identical_repeats": "all repeats of trial {trial} of {round} gave the same value: "
    "the program does not use its seed, so that no launch can be decided. Let it use run.seeds (a "
    "command: {{run.seed}}) and tune under a new name, or declare it deterministic and call again",
    "campaign.false_launches": "campaigns of this size launch a change that does nothing in about "
    "{rate:percent} of cases, as measured",
    # what came of it: headlines
    "campaign.verdict.nothing": "No trial completed: there is nothing to choose",
    "campaign.verdict.open": "A best configuration, not yet compared with a baseline",
    "campaign.verdict.first": "The best configuration becomes the first baseline",
    "campaign.verdict.launch": "Launch the best configuration: it beats the baseline",
    "campaign.verdict.keep": "Keep the baseline: no candidate beats it",
    "campaign.verdict.undecided": "Keep the baseline for now: the comparison is undecided",
    "campaign.used": "{spent} of {total:count trial} used",
    "campaign.used_up": "all {total} trials are used",
    "campaign.stuck": "the last step changed nothing: `tunewright show` explains why",
    "campaign.not_confirmed": "not confirmed; the same call asks again",
    "campaign.interrupted": "{text}",
    # what it does not do by itself
    "campaign.skipped": _skip,
    "campaign.pays_from": "it pays from {least} trials, and this campaign has {trials}",
    "campaign.trials_run_elsewhere": "trials run elsewhere, and the probe would measure this "
    "machine",
    "campaign.probe_refused": lambda facts: "; ".join(
        words.one_line(sentence(problem)) for problem in facts["problems"]
    ),
    "campaign.probe_lacks": lambda facts: "; ".join(sentence(lack) for lack in facts["missing"]),
    "campaign.takes_no": "the program takes no {name} (or {meaning:means})",
    # a sentence that version 1 stored
    "campaign.legacy": "{text}",
    # ---- errors campaigns
    "campaign.not_found": "no campaign {name!r} in {url}; it has: {others}.",
    "campaign.other_space": (
        "the campaign {name!r} of this store searches another space: give this one another "
        'name, name="..." (--name).'
    ),
    "tune.bad_baseline": (
        'TuneTerms(baseline={baseline!r}): give a configuration, such as {{"learning_rate": 0.1}}.'
    ),
    "tune.bad_detect": (
        "TuneTerms(detect={detect!r}): the smallest difference that matters is above 0, such as "
        "0.001."
    ),
    "tune.bad_extend": (
        "TuneTerms(extend={extend!r}): how many times as long, above 1, such as 2."
    ),
    "tune.bad_extend_to": (
        "TuneTerms(extend_to={extend_to!r}): a number of steps, at least 1, such as 20000."
    ),
    "tune.bad_hours": "tune(hours={hours!r}): give a number of hours, such as 8 or 0.5.",
    "tune.no_length": (
        "tune: {name} has no value, so there is no length to extend. Fix one, or name what means "
        "it: {declare.means.max_train_steps}."
    ),
    "tune.as_long_already": (
        "tune: the search trains for {steps} steps already, and {extend_to} are no more."
    ),
    "tune.bad_seed": "TuneTerms(seed={seed!r}): a whole number, at least 0.",
    "tune.bad_space": (
        'tune(space={space!r}): give ranges by name, such as {{"learning_rate": tw.log(1e-4, '
        "1e-1)}}, or a Round."
    ),
    "tune.no_budget": "tune: how much may it spend? Give trials=200, or hours=8, or both.",
    "tune.nothing_searched": (
        "tune(space={space!r}): nothing is searched. Give a range, such as tw.log(1e-4, 1e-1), "
        "or a list of values."
    ),
    "tune.test_set_failed": "the test set could not be looked at: {reason}",
    "tune.trials_not_positive": "tune(trials={trials}): at least 1.",
    "tune.trials_not_whole": "tune(trials={trials!r}): a whole number of trials.",
    "tune.two_lengths": "TuneTerms(extend=, extend_to=): give one: a factor, or a number of steps.",
}
