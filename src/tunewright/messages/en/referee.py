"""Sentences of the referee: decisions about changes, and errors raised in `referee`."""

from __future__ import annotations

from tunewright.messages import Facts, Message, Template, words


def _decision(head: str) -> Template:
    def sentence(facts: Facts) -> str:
        runs = words.count(facts["runs"], "run")
        why = dict(facts["why"])
        code = why.pop("code")
        if not facts["runs"]:
            return f"{head} {facts['commit']}: {Message(code, why).text}"
        return (
            f"{head} {facts['commit']}: {Message(code, why).text}; expected gain "
            f"{words.number(facts['gain'])} (90 % interval {words.number(facts['low'])} to "
            f"{words.number(facts['high'])}) after {runs}"
        )

    return sentence


def _baseline_failed(facts: Facts) -> str:
    reason = facts["reason"]
    text = "" if reason is None else Message(reason["code"], _rest(reason)).text
    tail = f"\n{facts['detail']}" if facts["detail"] else ""
    return f"the baseline {facts['commit']} could not be trained: {text}{tail}"


def _failure(facts: Facts) -> str:
    reason = facts.get("reason")
    return (
        f"a run failed: {Message(reason['code'], _rest(reason)).text}" if reason else "a run failed"
    )


def _rest(reason: Facts) -> Facts:
    return {name: fact for name, fact in reason.items() if name != "code"}


def _spent(facts: Facts) -> str:
    left = "" if facts["runs_left"] is None else f"; {facts['runs_left']} left"
    return (
        f"the budget is spent: {words.count(facts['runs'], 'run')} in {facts['hours']:.3g} hours"
        f"{left}, {facts['needed']} needed. A large budget keeps 16 runs back for the quote."
    )


SENTENCES: dict[str, Template] = {
    "referee.decided.keep": _decision("Keep"),
    "referee.decided.discard": _decision("Discard"),
    "referee.decided.undecided": _decision("Undecided about"),
    # ---- why
    "referee.why.gain": "it is expected to gain more than it costs",
    "referee.why.no_gain": "it is not expected to gain enough",
    "referee.why.budget_spent": "the budget is spent",
    "referee.why.left": "another change was submitted before this one was judged",
    "referee.why.failed": _failure,
    "referee.why.infeasible": "a run diverged",
    # ---- errors
    "referee.no_git": "git was not found; the referee runs every change from its own checkout.",
    "referee.no_repository": "{folder} is in no git repository: `git init`, commit, begin again.",
    "referee.no_commit": "{folder} has no commit yet; commit the program first.",
    "referee.unknown_commit": "{folder} has no commit {name!r}.",
    "referee.git_failed": "git {words:words} failed: {error}",
    "referee.uncommitted": (
        "the first commit is the baseline, but {count:count file} differ from it: {files:few}. "
        "Commit them, or name them in .gitignore, then begin."
    ),
    "referee.protects_nothing": (
        "the commit has no file of {paths:list}, so nothing would be protected. Correct the path."
    ),
    "referee.no_seed": (
        "{template!r} has no {{run.seed}}: under one seed a run repeats nothing. Add it, such as "
        "--seed {{run.seed}}."
    ),
    "referee.one_metric": "give one of --minimize METRIC and --maximize METRIC.",
    "referee.open_fields": (
        "the command has fields without a value: {names:list}. Give each a default, {{name=value}}."
    ),
    "referee.needs_files": "a lineage is kept in files beside a store; {store} is no file.",
    "referee.bad_name": "{name!r} is no name of a lineage: letters, digits, - and _ only.",
    "referee.bad_term": "{name} = {value} makes no sense for a lineage.",
    "referee.no_lineage": "no lineage in {folder}; begin one with tunewright judge begin.",
    "referee.begun_otherwise": (
        "the lineage {name!r} was begun with another {fields:list}; choose another --name."
    ),
    "referee.busy": "another process judges the lineage in {folder}.",
    "referee.damaged": "line {line} of {path} cannot be read.",
    "referee.newer": "{path} was written by a newer version.",
    "referee.no_change": "{commit} is the current baseline; commit or edit a change first.",
    "referee.protected": lambda facts: (
        f"{facts['commit']} touches {words.count(facts['count'], 'protected line')}:\n"
        + "\n".join(facts["lines"])
    ),
    "referee.baseline_failed": _baseline_failed,
    "referee.budget_spent": _spent,
    "referee.few_quote_runs": "a quoted total needs at least {least} runs of each end, not {runs}.",
    "referee.nothing_kept": "no change was kept yet: there is no gain to quote or to audit.",
    "referee.quote_failed": "too few runs gave a value: {failed:count run} failed.",
    # ---- pages
    "referee.begun": (
        "lineage {name} begins at {first}: {command}\n"
        "Change the program, then: tunewright judge try"
    ),
    "referee.quote": (
        "{metric} gained {gain:number} (95 % interval {low:number} to {high:number}) from {first} "
        "to {current}, by {runs:count fresh run} of each."
    ),
    "referee.audit": "{removed:count change} removed; the lineage continues at {commit}.",
}

ACTIONS: dict[str, Template] = {}
