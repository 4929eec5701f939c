"""Sentences about receipts: what verification found, which malpractice a receipt shows."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words

# a fault in a few words, for headlines
FAULTS = {
    "unequal_tuning": "unequal tuning",
    "seed_tuned": "a tuned seed",
    "steps_tuned": "tuned steps",
    "mid_decay": "runs compared in mid-decay",
    "best_of_history": "a best-of-history value",
    "test_peeking": "test peeking",
    "dropped_failures": "dropped runs",
    "changed_code": "changed code",
    "narrowed_rival": "a narrowed rival range",
    "reused_seeds": "reused seeds",
    "truncated_curve": "a truncated curve",
    "different_split": "different splits",
}


def _headline(facts: Facts) -> str:
    if facts["ok"]:
        return "Verified: every verdict follows from the curves"
    if facts["kinds"]:
        first, *others = facts["kinds"]
        more = f" and {words.count(len(others), 'other fault')}" if others else ""
        return f"Do not trust it: {FAULTS[first]}{more}"
    return f"Does not verify: {words.count(facts['disagreements'], 'disagreement')} with its curves"


def _numbers(facts: Facts) -> str:
    return words.few(facts["trials"]) if facts["trials"] else "some"


def _seed_tuned(facts: Facts) -> str:
    if facts["name"]:
        return f"{facts['name']} is a seed and was tuned: its best value is noise"
    return f"one configuration was tried under {facts['times']} seeds (trials {_numbers(facts)})"


def _mid_decay(facts: Facts) -> str:
    how = "before like trials did" if facts["by"] == "steps" else "while the learning rate fell"
    return f"trials {_numbers(facts)} count as completed and ended {how}"


def _best_of_history(facts: Facts) -> str:
    what = "the selected trial's own value" if facts["selected"] else "a value that no repeat has"
    return f"the {facts['arm']} of a launch ({facts['round']} trial {facts['trial']}) counts {what}"


def _peeking(facts: Facts) -> str:
    if facts["by"] == "objective":
        return f"the objective {facts['metric']} is measured on the test set, by its name"
    return f"the test set was looked at {facts['looks']} times, for trials {_numbers(facts)}"


def _drop(facts: Facts) -> str:
    of = "trials" if facts["of"] == "trials" else f"repeats of trial {facts['trial']}:"
    return f"{of} {words.few(facts['missing'])} are missing: failed runs may have been dropped"


def _change(facts: Facts) -> str:
    files = f" ({', '.join(facts['files'])})" if facts["files"] else ""
    return f"the trials differ in {facts['part']}{files}"


def _reuse(facts: Facts) -> str:
    if facts["by"] == "curve":
        return f"repeats of trial {facts['about']} logged the very same curve"
    of = (
        "trials of one setting" if facts["of"] == "trials" else f"repeats of trial {facts['about']}"
    )
    return f"{of} share a seed ({_numbers(facts)})"


def _split(facts: Facts) -> str:
    if facts["by"] == "round":
        return f"{' and '.join(facts['rounds'])} were compared on different data splits"
    text = "reports" if facts["by"] == "report" else "varies"
    return f"the program {text} {facts['name']}: trials differ in their data split"


SENTENCES: dict[str, Template] = {
    "receipt.headline": _headline,
    "receipt.verified": (
        "{trials:count trial} of {round}, {findings:count finding} and {launches:count launch/"
        "launches} derived again"
    ),
    "receipt.not_derived": "{not_derived:count launch/launches} could not be derived again",
    "receipt.disagrees_seal": "{about}: it was changed after it was written",
    "receipt.disagrees_curve": (
        "{about}: the curve contradicts its hash ({recorded} points were hashed, {derived} are "
        "there)"
    ),
    "receipt.disagrees_value": "{about}: the receipt has {recorded}, its curves give {derived}",
    "receipt.disagrees_finding": "{about}: the receipt has {recorded}, its curves give {derived}",
    "receipt.disagrees_launch": "{about}: the receipt has {recorded}, its curves give {derived}",
    "malpractice.unequal_tuning": (
        "{most} had {trials:count trial}, {fewest} {rival}: the better tuned one looks better"
    ),
    "malpractice.seed_tuned": _seed_tuned,
    "malpractice.steps_tuned": (
        "{name} sets how long to train and took {values} values: longer training is compared too"
    ),
    "malpractice.mid_decay": _mid_decay,
    "malpractice.best_of_history": _best_of_history,
    "malpractice.test_peeking": _peeking,
    "malpractice.dropped_failures": _drop,
    "malpractice.changed_code": _change,
    "malpractice.narrowed_rival": (
        "{rival} was searched in {share:percent} of the range of {name} that {winner} had"
    ),
    "malpractice.reused_seeds": _reuse,
    "malpractice.truncated_curve": (
        "trial {trial}: the curve of {metric} is shorter than the training was"
    ),
    "malpractice.different_split": _split,
    # ---- errors
    "receipt.cannot_write": "{path} cannot be written: {reason}",
    "receipt.no_file": "no receipt at {path}: `tunewright receipt ROUND` writes one",
    "receipt.too_large": "{path} is larger than any receipt",
    "receipt.unreadable": "{path} is no receipt that can be read: {reason}",
    "receipt.not_one": "{path} is not a receipt: `tunewright receipt ROUND` writes one",
    "receipt.version": "{path} is a receipt of version {version}; this tunewright reads {known}",
    "receipt.wrong_field": "the receipt is not as it was written: {reason}",
}
