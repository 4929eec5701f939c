"""Findings about the search space and the round: headline first, then the numbers.

One function per check of the facts of its evidence; `SENTENCES` are the reasons why a check cannot
judge, `ACTIONS` the advice that no command carries out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tunewright.messages import Facts, Template, fill, text, words

REFERENCES = {
    "detect": "the difference to detect",
    "between_settings": "the gap between the two best settings",
    "trial_sd": "the seed-to-seed spread",
    "measurement": "what measurement makes of two equal trials",
}
MOST_SHOWN = 3  # of several alike
MOST_FILES = 5  # names of files in one line
LONGEST_NAME = 40  # characters of a name in a headline


def baseline(verdict: str, facts: Facts) -> list[str]:
    """Is the best trial better than chance?"""
    best, chance, start = facts["best"], facts["chance"], facts["start"]
    if chance is not None:
        numbers = f"{facts['metric']} reached {best:.4g}; chance is {chance:.4g}"
        if verdict == "ok":
            return ["The best trials beat chance", numbers]
        return ["The best trials are no better than chance", numbers, *_by_noise(facts, chance)]
    numbers = f"{facts['metric']} of the best trials went from {start:.4g} to {best:.4g}"
    unknown = "chance, the loss of a guess, is not declared"
    if facts.get("unused_chance") is not None:
        unknown = (
            f"chance, {facts['unused_chance']:.4g}, is a loss, and no validation loss is logged"
        )
    if verdict == "ok":
        return ["The best trials learned", numbers, unknown]
    if verdict == "note":
        headline = "The best trials may have learned: noise explains it too"
        return [headline, numbers, *_by_noise(facts, start), unknown]
    return ["The best trials hardly learned", numbers, *_by_noise(facts, start), unknown]


def _by_noise(facts: Facts, level: float) -> Iterator[str]:
    """How far noise alone may take the best of all evaluations from a level."""
    noise, sustained = facts.get("noise"), facts.get("sustained")
    if noise is not None:
        yield (
            f"the best moving mean is {sustained:.4g}; the noise of the evaluations explains a "
            f"difference of {noise:.2g} from {level:.4g}"
        )


def same_code(verdict: str, facts: Facts) -> list[str]:
    """Did all trials run the same code?"""
    runs = words.count(facts["runs"], "trial")
    if verdict == "warn":
        parts = [diff["part"] for diff in facts["differences"]]
        headline = f"Trials differ in {parts[0]}"
        if len(parts) > 1:
            headline += f" and {words.count(len(parts) - 1, 'more part')} of their origin"
        evidence = [_difference(diff) for diff in facts["differences"]]
        together = [diff["part"] for diff in facts["differences"] if diff["goes_with_setting"]]
        if together:
            evidence.append(f"an effect of {together[0]} looks like an effect of the setting")
        return [headline, *evidence]
    if verdict == "note":
        return [
            "Nothing records whether the code changed",
            f"{runs} had the same packages, but no git repository",
        ]
    changes = " with the same uncommitted changes" if facts["uncommitted"] else ""
    code = [f"commit {facts['commit']}{changes}"] if facts["commit"] else []
    if facts.get("sources"):
        code.append(f"{words.count(facts['sources'], 'source file')} alike")
    return [
        "All trials ran the same code",
        f"{runs}: {', '.join(code)}, the same packages",
    ]


def _difference(diff: Facts) -> str:
    groups = diff["groups"]
    values = [f"{words.count(g['runs'], 'trial')}: {g['value']}" for g in groups[:MOST_SHOWN]]
    more = f"; and {len(groups) - MOST_SHOWN} more" if len(groups) > MOST_SHOWN else ""
    return f"{diff['part']}: {'; '.join(values)}{more}{_files(diff.get('files') or [])}"


def _files(files: Sequence[str]) -> str:
    if not files:
        return ""
    more = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
    return f" (differing: {', '.join(files[:MOST_FILES])}{more})"


def boundary(verdict: str, facts: Facts) -> list[str]:
    """Is the search space large enough?"""
    edges = facts["edges"]
    if not edges:
        what = "only lists without an order are searched"
        return [
            "No range has an end to crowd at",
            what if facts["searched"] else "nothing is searched",
        ]
    if verdict == "ok":
        places = [f"best {e['column']} at {e['seen']['best']:.2f} of its range" for e in edges]
        more = f"and {len(edges) - MOST_SHOWN} more inside"
        return [
            "The best trials lie inside their ranges",
            *places[:MOST_SHOWN],
            *([more] if len(edges) > MOST_SHOWN else []),
        ]
    speaking = [e for e in edges if e["verdict"] != "ok"]
    return [_at_end(speaking[0]), *(_edge(e) for e in speaking)]


def _at_end(e: Facts) -> str:
    """The headline about one end of a range."""
    where = f"the {e['seen']['side']} end of {_short(e['column'])}"
    if e["wall"] is not None:
        return f"Best trials lie at {where}, next to divergence"
    if e["bound"] is not None:
        return f"Best trials lie at {where}, a natural bound"
    if e["seen"]["rule"] == "lone":
        return f"One far better trial lies at {where}"
    return f"Best trials crowd at {where}"


def _edge(e: Facts, best: str = "best") -> str:
    """The numbers about one end of a range."""
    seen = e["seen"]
    end = f"the {seen['side']} end of {words.range_of(e['range'])} of {e['column']}"
    if seen["rule"] == "lone":
        text = f"the {best} of {seen['feasible']} trials lies alone and far ahead at {end}"
    elif seen["rule"] == "pooled":
        text = f"the {best} trials of {e['studies']} studies together crowd at {end}"
        text += f" (p {seen['p']:.3f})"
    else:
        text = f"the {best} {seen['best_few']} of {seen['feasible']} trials crowd at {end}"
        if e["beside"]:
            text += f" once the effect of {', '.join(e['beside'])} is taken off"
        text += f" (p {seen['p']:.3f})"
    if e["wall"] is not None:
        beyond = e["wall"]
        text += f"; {beyond['infeasible']} of the {beyond['trials']} trials beyond are infeasible"
    if e["bound"] is not None:
        off = f", where {e['column']} is off" if e["bound"]["off"] else ""
        text += f"; no value can pass {words.number(e['bound']['value'])}{off}"
    return text


def density(verdict: str, facts: Facts) -> list[str]:
    """Have we sampled enough?"""
    gains = (
        f"{facts['feasible']} feasible trials; the second half improved the best by "
        f"{facts['last_gain']:.2g}, the quarter before by {facts['gain_before']:.2g}"
    )
    near = _good_region(facts["good_region"])
    if facts["reference"] is None:
        return ["Whether more trials would help is unknown", gains, near]
    size, source = facts["reference"]["size"], REFERENCES[facts["reference"]["source"]]
    gains += f" ({source}: {size:.2g})"
    if verdict == "ok":
        return ["Enough trials for the difference that matters", gains, near]
    repeat = f"a repeat of this study would differ by about {facts['repeat_sd']:.2g}"
    mean, most = facts["expected_gain"], facts["gain_interval"][1]
    headline = f"Too few trials: doubling may gain {mean:.1g}, at most {most:.1g}"
    doubling = (
        f"doubling gains {mean:.2g} on average, at most {most:.2g} in 9 of 10 studies; "
        "half of all studies gain nothing"
    )
    return [headline, gains, doubling, near, repeat]


GOOD_REGIONS = {
    "detect": "twice the difference to detect",
    "between_settings": "twice the gap between the two best settings",
    "trial_sd": "twice the seed-to-seed spread",
    "measurement": "twice what measurement makes of two equal trials",
    "late_evaluations": "twice the noise of one late evaluation",
    "tenth_of_spread": "a tenth of the way from the best trial to the median one",
}


def _good_region(facts: Facts) -> str:
    """How many trials are about as good as the best."""
    verb = "lies" if facts["trials"] == 1 else "lie"
    return (
        f"{words.count(facts['trials'], 'trial')} {verb} within {facts['within']:.2g} of the best "
        f"value, itself included ({GOOD_REGIONS[facts['by']]})"
    )


def infeasible(verdict: str, facts: Facts) -> list[str]:
    """How many trials are infeasible, and where?"""
    low, high = facts["interval"]
    share = f"{facts['share']:.0%} ({low:.0%} to {high:.0%})"
    counted = f"{facts['infeasible']} of {facts['trials']} trials are infeasible: {share}"
    evidence = [counted]
    if facts["far_above"]:
        far = words.count(len(facts["far_above"]), "trial")
        evidence.append(f"{far} finite, but far above the others and where they began")
    evidence += [_region(region) for region in facts["regions"]]
    return [_infeasible_headline(verdict, facts), *evidence]


def _infeasible_headline(verdict: str, facts: Facts) -> str:
    if facts["nearly_all"]:
        return "Nearly all trials are infeasible: suspect a bug first"
    clear = [region for region in facts["regions"] if region["clear"]]
    if clear:
        where = f"{'high' if clear[0]['rises'] else 'low'} {_short(clear[0]['feature'])}"
        return f"{facts['share']:.0%} of trials are infeasible, nearly all at {where}"
    if verdict == "warn":
        return "Most trials are infeasible"
    if not facts["infeasible"]:
        return "No trial is infeasible"
    return f"{facts['share']:.0%} of trials are infeasible"


def _region(region: Facts) -> str:
    shared = ", ".join(f"{at['name']}={words.value(at['value'])}" for at in region["branch"])
    where = f"{shared}: " if shared else ""
    if not region["clear"]:
        return f"{where}likelier with {'high' if region['rises'] else 'low'} {region['feature']}"
    return f"{where}nearly all with {_threshold(region)}"


def _threshold(region: Facts) -> str:
    low, high = region["between"]
    return f"{region['feature']} {'above' if region['rises'] else 'below'} {low:.3g} to {high:.3g}"


def fairness(verdict: str, facts: Facts) -> list[str]:
    """Were the scientific settings tuned equally well?"""
    settings = facts["settings"]
    if verdict == "ok":
        counts = [setting["trials"] for setting in settings]
        each = f"{min(counts)}"
        if max(counts) > min(counts):
            each += f" to {max(counts)}"
        numbers = f"{len(settings)} settings, {each} trials each, in spaces of the same size"
        return ["The settings were tuned equally well", numbers]
    return [_unfair(facts), *_differences(facts)]


def _unfair(facts: Facts) -> str:
    if facts["lengths"] is not None:
        return "The settings train for different numbers of steps"
    if facts["budgets"] is not None:
        return "The settings had unequal numbers of trials"
    if facts["feasible"]:
        return "Some settings have far fewer feasible trials"
    if facts["ends"]:
        return "A setting may improve beyond the end of its range"
    if facts.get("needs") is not None:
        return "One length of training does not suit every setting"
    if facts.get("kept") is not None:
        return "Values tuned for another batch size are kept"
    return "Search spaces differ in size, with as many trials"


def _differences(facts: Facts) -> Iterator[str]:
    """The settings that are not alike, one sentence each."""
    if facts["lengths"] is not None:
        gap = facts["lengths"]
        yield (
            f"{gap['longest']} trains for {gap['most']:g} steps, {gap['shortest']} for "
            f"{gap['fewest']:g}: longer training is part of the difference"
        )
    if facts["budgets"] is not None:
        most, least = facts["budgets"]["most"], facts["budgets"]["least"]
        yield (
            f"{most['setting']} had {most['trials']} trials, {least['setting']} {least['trials']}"
        )
    for pair in facts["feasible"]:
        most, least = pair["most"], pair["least"]
        yield (
            f"{least['setting']} has {least['feasible']} feasible of {least['trials']} trials, "
            f"{most['setting']} {most['feasible']} of {most['trials']}"
        )
    for gap in facts["ends"]:
        yield (
            f"{gap['setting']} is best at the {gap['side']} end of {gap['column']}, "
            f"{facts['best']} is not"
        )
    if facts.get("needs") is not None:
        gap = facts["needs"]
        yield (
            f"{gap['longer']} is best at steps {min(gap['late_steps'])} to "
            f"{max(gap['late_steps'])} of {gap['max_train_steps']}, {gap['shorter']} at "
            f"{min(gap['early_steps'])} to {max(gap['early_steps'])}"
        )
    if facts.get("kept") is not None:
        yield text("continued.batch_size", facts["kept"])
    if facts["spaces"] is not None:
        most, least = facts["spaces"]["most"], facts["spaces"]["least"]
        yield (
            f"{most['setting']} searches {most['searched']} hyperparameters and "
            f"{least['setting']} {least['searched']} with as many trials: the larger space is "
            "covered more thinly"
        )


def comparison(verdict: str, facts: Facts) -> list[str]:
    """Which scientific setting is better, with so many trials each?"""
    if "buckets" in facts:
        return _trend(verdict, facts)
    if verdict == "ok":
        worse = facts["pairs"]
        headline = f"{_short(facts['best'])} is best, with {facts['trials']} trials each"
        evidence = [f"ahead of {worse[0]['other']} by {_gap(worse[0])}"]
        if len(worse) > 1:
            evidence.append(f"and ahead of {len(worse) - 1} more")
        if facts["weak"]:
            evidence.append("so few trials make this weak")
        return [headline, *evidence, *_move(worse[0]), *_small_rates(facts)]
    unclear = [pair for pair in facts["pairs"] if pair["verdict"] != "worse"]
    first = unclear[0]
    headline = f"{_short(facts['best'])} and {_short(first['other'])} cannot be separated"
    if first["why"] is None:
        evidence = [f"with {facts['trials']} trials each, a gap of {_gap(first)}"]
        if first.get("resolves") is not None:
            evidence.append(
                f"gaps below {first['resolves']:.2g} are within the uncertainty of the measurement"
            )
    else:
        evidence = [_why(first["why"])]
    if len(unclear) > 1:
        evidence.append(f"nor can {len(unclear) - 1} more")
    return [headline, *evidence, *_move(first), *_small_rates(facts)]


def _small_rates(facts: Facts) -> list[str]:
    """Whether the best setting may owe its lead to small learning rates."""
    low = facts.get("small_rates")
    if low is None:
        return []
    return [
        f"its best trials have smaller {low['name']} (median {low['best']:.2g}, the others' "
        f"{low['others']:.2g}): its lead may be regularisation by accident; tune a regulariser for "
        "every setting"
    ]


def _gap(pair: Facts) -> str:
    low, high = pair["interval"]
    text = f"{pair['difference']:.3g} (90 % of half-size studies: {low:.3g} to {high:.3g})"
    return text if pair["shared_points"] else f"{text}, each at its own points"


def _move(pair: Facts) -> list[str]:
    if pair["same_place"] is not False:
        return []
    return ["the best nuisance values differ between them: narrow the ranges around each"]


def _trend(verdict: str, facts: Facts) -> list[str]:
    name = _short(facts["name"])
    if verdict == "cannot_judge":
        numbers = f"{facts['feasible']} feasible trials along {facts['name']}"
        needed = f"{numbers}; this check needs {facts['needed']}"
        return [f"Too few trials to see an effect of {name}", needed]
    numbers = f"{len(facts['buckets'])} buckets along {facts['name']} (p {facts['p']:.2g})"
    if verdict == "ok":
        return [f"The best value depends on {name}", numbers]
    return [f"No effect of {name} is visible", numbers]


def sensitivity(verdict: str, facts: Facts) -> list[str]:
    """Which hyperparameters matter?"""
    del verdict
    conditional = facts.get("conditional") or []
    matter = [effect for effect in (*facts["importances"], *conditional) if effect["matters"]]
    left = facts.get("unweighed") or []
    few = [f"too few trials have {', '.join(left[:MOST_SHOWN])} to weigh it"] if left else []
    pairs = facts["interactions"] or []
    together = [f"{' and '.join(pair['names'])} act together" for pair in pairs[:1]]
    if not matter:
        many = words.count(len(facts["importances"]) + len(conditional), "hyperparameter")
        numbers = f"{many} in {words.count(facts['feasible'], 'trial')}"
        return ["No hyperparameter is seen to matter", numbers, *together, *few]
    names = [_short(effect["name"]) for effect in matter[:MOST_SHOWN]]
    shares = [
        f"{effect['name']} explains {effect['share']:.0%} "
        f"({effect['interval'][0]:.0%} to {effect['interval'][1]:.0%})"
        for effect in matter[: MOST_SHOWN + 1]
    ]
    unseen = facts["unseen"][: MOST_SHOWN + 1]
    silent = [f"no sign of an effect of {', '.join(unseen)}"] if unseen else []
    verb = "decides" if len(names) == 1 else "decide"
    return [f"{_list_of(names)} {verb} most", *shares, *together, *silent, *few]


def variance(verdict: str, facts: Facts) -> list[str]:
    """How much of the best value is noise?"""
    del verdict
    spread = facts["spread"]
    if facts["seedless"]:
        trials = ", ".join(map(str, facts["seedless"]))
        return [
            "All repeats gave the same value: the seed is not used",
            f"repeats of trial {trials} agree to the last digit, under different seeds",
            "without chance in the runs, no probability of a gain can be given",
        ]
    if facts["deterministic"] and (spread is None or not spread["sd"]):
        return [
            "The program is declared deterministic: seeds change nothing",
            "differences are exact, and have no probability",
        ]
    if spread is None:
        repeated = words.count(facts["most_repeats"], "repeat")
        return [
            "The seed-to-seed spread is not measured",
            f"{repeated} of one trial; a spread needs {facts['needed']}",
            *_optimistic(facts),
        ]
    numbers = (
        f"standard deviation of {spread['repeats']} repeats: {spread['sd']:.3g} "
        f"({spread['low']:.2g} to {spread['high']:.2g})"
    )
    evidence = [numbers]
    if facts.get("known_from"):
        evidence.append(
            f"measured in {facts['known_from']}; again only after a major change of the pipeline"
        )
    evidence += _optimistic(facts)
    return [f"Repeats of one configuration differ by about {spread['sd']:.2g}", *evidence]


def _optimistic(facts: Facts) -> list[str]:
    """By how much the best value looks too good, where that is known."""
    if facts["optimism"] is None:
        return []
    return [
        f"the best value, picked among {facts['picked_among']}, is probably optimistic by at "
        f"least {facts['optimism']:.2g}"
    ]


def _why(data: Facts) -> str:
    return text(data["code"], {name: fact for name, fact in data.items() if name != "code"})


def _short(name: str) -> str:
    """A name that fits a headline: one word, and not too long."""
    joined = "_".join(name.replace(", ", ",").split())
    return joined if len(joined) <= LONGEST_NAME else f"{joined[:LONGEST_NAME]}..."


def _list_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _few_positions(facts: Facts) -> str:
    text = fill(
        "{feasible:count feasible trial} with known positions; this check needs {needed}", facts
    )
    return text + _adaptive(facts)


def _few_ended(facts: Facts) -> str:
    if facts.get("adaptive"):
        text = "{ended:count trial} that no result placed; this check needs {needed}"
        return fill(text, facts) + _adaptive(facts)
    return fill("{ended:count trial} ended; this check needs {needed}", facts)


def _few_feasible(facts: Facts) -> str:
    text = fill("{feasible:count feasible trial}; this check needs {needed}", facts)
    return text + _adaptive(facts)


def _adaptive(facts: Facts) -> str:
    """Which trials do not count, where an adaptive search suggested some."""
    if not facts.get("adaptive"):
        return ""
    return fill(
        " ({adaptive} of an adaptive search do not count: it crowds its trials by design)", facts
    )


def _add_values(facts: Facts) -> str:
    word = "larger" if facts["side"] == "high" else "smaller"
    return f"add {word} values to the list of {facts['column']}"


FINDINGS: dict[str, Callable[[str, Facts], list[str]]] = {
    "baseline": baseline,
    "same_code": same_code,
    "boundary": boundary,
    "density": density,
    "infeasible": infeasible,
    "fairness": fairness,
    "comparison": comparison,
    "sensitivity": sensitivity,
    "variance": variance,
}
# the headline where a check has nothing to judge by; the reason follows as evidence
CANNOT_JUDGE: dict[str, str] = {
    "baseline": "Nothing shows yet whether the trials learn",
    "same_code": "Which code the trials ran is not recorded",
    "boundary": "Too few trials to judge the ends of ranges",
    "density": "Too few trials to judge whether more would help",
    "infeasible": "Too few trials to judge divergence",
    "fairness": "Too few settings have completed trials to compare",
    "comparison": "Too few trials to compare the settings",
    "sensitivity": "Too few trials to judge which hyperparameters matter",
    "variance": "The seed-to-seed spread is not measured",
}
SECTIONS: dict[str, str] = {
    "baseline": "Choosing the initial configuration",
    "same_code": "Extracting insight from experimental results",
    "boundary": "Identifying bad search space boundaries",
    "density": "Not sampling enough points in the search space",
    "infeasible": "Identifying bad search space boundaries",
    "fairness": "Striking a balance between informative and affordable experiments",
    "comparison": "Detecting whether a change is useful with isolation plots",
    "sensitivity": "Extracting insight from experimental results",
    "variance": "Determining whether to adopt a training pipeline change or hyperparameter "
    "configuration",
}
SENTENCES: dict[str, Template] = {
    "baseline.none_completed": "no trial has completed",
    "baseline.one_point": "{metric} has one point per trial and chance, the loss of a guess such "
    "as log(classes), is not declared",
    "same_code.not_recorded": "the trials were imported or reported by hand, without their commit",
    "boundary.few_trials": _few_positions,
    "boundary.fastest": lambda facts: _edge(facts, best="fastest"),
    "infeasible.few_trials": _few_ended,
    "fairness.one_setting": "fewer than two settings have a completed trial",
    "comparison.none_completed": "no trial has completed",
    "comparison.few_trials": "{setting} has {feasible:count feasible trial}; this check needs "
    "{needed}",
    "comparison.different_lengths": "{longest} trains for {most:g} steps, {shortest} for "
    "{fewest:g}: longer training is part of the difference",
    "comparison.many_infeasible": "too many trials are infeasible",
    "sensitivity.few_trials": _few_feasible,
    "sensitivity.nothing_searched": "no hyperparameter was searched in all of its trials",
}
ACTIONS: dict[str, Template] = {
    "declare_detect": "give the round detect=, the smallest difference that matters",
    "narrow_after_doublings": "after two doublings narrow the ranges instead",
    "start_simpler": "start from a smaller, simpler configuration that learns something",
    "overfit_one_batch": "check the labels, the loss and the learning rate on one batch, which "
    "training must overfit",
    "do_not_widen": "do not widen {column}: what lies beyond diverges; see the check instability",
    "compare_switched_off": "compare with {column} switched off, in a separate round",
    "add_values": _add_values,
    "compare_as_list": "compare three values of {name} as a list: 16 shared points each show far "
    "more",
    "length_again": "choose max_train_steps again, long enough for every setting: it changes with "
    "the architecture, the data and their augmentation",
    "tune_again": lambda facts: (
        "tune again for this batch size: "
        + ", then ".join(
            ", ".join(names) for names in (facts["optimizer"], facts["regularisers"]) if names
        )
    ),
    "tune_equally": "compare settings only when each is tuned as well as the others",
    "suspect_bug": "suspect a bug in the training program first: does one trial learn with a small "
    "learning rate and no schedule?",
    "leave_out_region": lambda facts: (
        "search only where it trains: leave out "
        + _threshold({**facts, "between": (facts["low"], facts["high"])})
    ),
    "rerun_same_code": "compare only trials of the same code: run the older ones again in a new "
    "round",
    "use_git": "keep the training program in git: git init, git commit",
    "fix_candidates": "candidates to fix in the next round: {names:list}",
}
