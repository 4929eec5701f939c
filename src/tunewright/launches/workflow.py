"""The verb `launch`: choose candidate and baseline, train both again, decide, record.

results = tw.run(round, workload)
report = tw.launch(results, workload)          # its best trial against the store's baseline
print(report.headline)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tunewright import messages
from tunewright.budgets.cost import CostEstimate, Price, Timing, Trainings, cost_of
from tunewright.budgets.state import state
from tunewright.checks.checklist import check
from tunewright.errors import DesignError
from tunewright.execution.run import executor_of, watcher_of
from tunewright.execution.workload import Workload
from tunewright.facts import Facts, plain
from tunewright.launches import lineage
from tunewright.launches.arm import Arm
from tunewright.launches.asked import RECORDED, question_data
from tunewright.launches.decide import claim_of
from tunewright.launches.launch import POWER, Claim, Launch, LaunchTerms, Plan, Verdict, runs_for
from tunewright.launches.lineage import Pipeline, Place, read_history
from tunewright.launches.looks import (
    Decided,
    Named,
    OnLook,
    Question,
    Rivals,
    as_recorded,
    decide_by_split,
    look_until_decided,
    of_round,
    record,
    refuse_pruned,
    replicates,
    rivals,
)
from tunewright.launches.variance import examples_of, of_gain, study_spread_of_gain
from tunewright.messages import Message, Text, markup, words
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Watcher
from tunewright.stats.gain import History
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

_EFFECTS = (0.5, 1.0, 2.0)  # trial standard deviations, for a plan's power


@dataclass(frozen=True)
class LaunchPlan(Facts):
    """What a launch would do, what it costs, and what it could find."""

    candidate: Place
    baseline: Place
    why_baseline: Message
    claim: Claim
    why_claim: Message
    plan: Plan
    threshold: float
    not_worse_by: float | None
    complexity: float
    history_sd: float | None  # of earlier repeats, or declared; None: nothing is known
    history_runs: int  # repeats it comes from; 0: declared
    there: tuple[int, int]  # repeats of candidate and baseline that exist already
    run_seconds: float  # of one run
    metric: str
    unfinished: int = 0  # trials of the candidate's round that have not ended
    cost: CostEstimate | None = None  # hours, money, and what is left of the budget

    @property
    def runs(self) -> tuple[int, int]:
        """How many runs it takes, at the first look and at the last one."""
        looks = (self.plan.looks[0], self.plan.looks[-1])
        first, last = (sum(max(0, look - there) for there in self.there) for look in looks)
        return first, last

    @property
    def seconds(self) -> tuple[float, float]:
        """How long that takes on one worker."""
        return self.runs[0] * self.run_seconds, self.runs[1] * self.run_seconds

    @property
    def finds(self) -> tuple[tuple[float, float], ...]:
        """What it could find, by the gain in standard deviations between runs.

        Of several looks the share of launches that find it, of one look the runs per arm it takes.
        """
        if self.plan.sequential:
            return tuple(POWER[self.claim].items())
        return tuple((effect, runs_for(effect, self.threshold)) for effect in _EFFECTS)

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        derived = {"runs": self.runs, "seconds": self.seconds, "finds": self.finds}
        return {**super().to_data(), **{name: plain(value) for name, value in derived.items()}}


def plan_of(pair: Rivals, question: Question, results: Results) -> LaunchPlan:
    """The plan for a pair on these terms."""
    terms, plan = question.terms, question.plan
    candidate, baseline = Arm.of(pair.candidate), Arm.of(pair.baseline)
    claim, why = claim_of(candidate, baseline, terms.claim)
    worth = terms.detect
    if worth is None and candidate.round is not None:
        worth = candidate.round.detect
    past = question.history
    sd = float(past.sd) if past is not None and past.weight > 0 else None
    timed = [t.seconds for arm in (pair.candidate, pair.baseline) for t in (arm.of, *arm)]
    return LaunchPlan(
        candidate=pair.places[0],
        baseline=pair.places[1],
        why_baseline=pair.why,
        claim=claim,
        why_claim=why,
        plan=plan,
        threshold=plan.threshold(
            claim,
            not_worse=terms.not_worse_by is not None,
            candidates=terms.candidates or 1,
            detect_in_sd=worth / sd if worth and sd else 1.0,
        ),
        not_worse_by=terms.not_worse_by,
        complexity=terms.complexity,
        history_sd=sd,
        history_runs=0 if past is None else past.runs,
        there=(len(pair.candidate), len(pair.baseline)),
        run_seconds=sum(timed) / len(timed),
        metric=candidate.objective.metric,
        unfinished=results.unfinished,
    )


@dataclass(frozen=True)
class Look:
    """One look at the runs of a launch."""

    runs: tuple[int, int]  # of the candidate and of the baseline
    verdict: Verdict
    probability: float | None
    threshold: float
    runs_needed: int


@dataclass(frozen=True)
class LaunchReport(Facts):
    """What a launch did: the plan, the decision, and what is recorded of it."""

    candidate: Place
    baseline: Place | None  # None: the first baseline, which is compared with nothing
    plan: LaunchPlan | None = None
    decision: Launch | None = None  # None: a dry run, or the first baseline
    looks: tuple[Look, ...] = ()
    recorded: int | None = None  # the key of the decision in the store; None: not recorded
    now: Place | None = None  # the baseline after this launch
    interrupted: bool = False  # somebody stopped it before there was an answer

    def priced(self, price: Price | None) -> LaunchReport:
        """The same with the cost of its plan at another price; None keeps the budget's."""
        if self.plan is None or self.plan.cost is None:
            return self
        return replace(self, plan=replace(self.plan, cost=self.plan.cost.priced(price)))

    @property
    def headline(self) -> Text:
        """What came of it, in at most twelve words."""
        if self.interrupted:
            return messages.text("launch.interrupted", {})
        if self.decision is not None:
            return self.decision.headline
        names = {"candidate": str(self.candidate), "baseline": str(self.baseline)}
        return messages.text("launch.first" if self.baseline is None else "launch.planned", names)

    @property
    def refusal(self) -> str | None:
        """The stable code of what keeps it undecided; None where there is an answer."""
        return None if self.decision is None or self.interrupted else self.decision.refusal

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data, without words; the refusal where there is one."""
        refusal = self.refusal
        return {**super().to_data(), **({} if refusal is None else {"refusal": refusal})}

    def __str__(self) -> str:
        """The headline."""
        return self.headline

    def __repr__(self) -> str:
        """The headline and the two arms, on one line."""
        arms = f"{self.candidate} against {self.baseline}"
        return words.one_line(f"<{self.headline} ({arms})>")

    def _repr_html_(self) -> str:
        """The decision as a card; a plan or a first baseline by its headline."""
        if self.decision is not None and not self.interrupted:
            return self.decision._repr_html_()
        return markup.card(self.headline, [f"{self.candidate}", f"{self.baseline or ''}"])


def launch(
    candidate: Results | Trial,
    workload: Workload,
    *,
    against: Named | None = None,
    terms: LaunchTerms | None = None,
    trial: int | None = None,
    first: bool = False,
    dry_run: bool = False,
    why: str = "",
    progress: Wanted = "auto",
    on_look: OnLook | None = None,
) -> LaunchReport:
    """Decide whether a candidate becomes the baseline: train both again, decide, and record it.

    The candidate is a trial, or the best trial of some results (or the one with the number
    `trial`). `against` names the baseline: a trial, results (their best trial), "ROUND", "ROUND:7",
    or the number of a trial of the candidate's round; by default what was launched last, and before
    the first launch the best trial of the round's starting point. Results count together with the
    rounds that they continue, as `tw.load` and `tw.check` read them. `terms` is what is asked, see
    `LaunchTerms`; without a plan in them the runs are looked at 3, 5, 8, 13 and 20 times each.

    A decision is recorded with `why`, and one to launch makes the candidate the baseline of the
    next. What the checklist forbids costs no run and is not recorded. `first` makes the candidate
    the first baseline without a comparison; `dry_run` returns the plan and its cost and runs
    nothing. `progress` is as for `run`, `on_look` receives the decision of every look.

        report = tw.launch(results, workload, terms=tw.launches.LaunchTerms(complexity=0.002))
        report.decision.verdict, report.now

    Args:
        candidate: a trial, or results whose best trial it is.
        workload: the program that trained both.
        against: the baseline; None: what was launched last.
        terms: what is asked; None: the defaults of `LaunchTerms`.
        trial: the number of the candidate among its results.
        first: whether the candidate becomes the first baseline without a comparison.
        dry_run: whether to return the plan and its cost only.
        why: the reason to record.
        progress: as for `tw.run`.
        on_look: receives the decision of every look.
    """
    watch = watcher_of(progress, workload)
    terms = terms or LaunchTerms()
    if workload.deterministic:
        terms = replace(terms, deterministic=True)
    with Store.open(workload.store, create=False) as store:
        results, number = _candidate(store, candidate, trial)
        if first:
            return _first(store, results, number, why)
        pair = rivals(store, results, number, against)
        question = _question(store, pair, results, terms)
    plan = plan_of(pair, question, results)
    plan = replace(plan, cost=_cost(plan, pair, workload))
    candidate_place, baseline_place = pair.places
    if dry_run:
        return LaunchReport(candidate_place, baseline_place, plan)
    if plan.unfinished:
        facts = {"trials": plan.unfinished, "round": results.round.name}
        watch.message(Message("launch.still_running", facts).text)
    looks: list[Look] = []

    def look(decision: Launch) -> None:
        looks.append(
            Look(
                decision.runs,
                decision.verdict,
                decision.probability,
                decision.threshold,
                decision.runs_needed,
            )
        )
        if on_look is not None:
            on_look(decision)

    decided = _run(pair, workload, question, watch, look)
    with Store.open(workload.store, create=False) as store:
        ran = decided.summary is not None and not decided.interrupted
        skip = pair.won_with if terms.fresh else 0
        more = {RECORDED: question_data(question, decided, skip)}
        key = record(store, decided, why, more) if ran else None
        now = lineage.baseline(store)
    return LaunchReport(
        candidate=candidate_place,
        baseline=baseline_place,
        plan=plan,
        decision=decided.launch,
        looks=tuple(looks),
        recorded=key,
        now=None if now is None else now.place,
        interrupted=decided.interrupted,
    )


def _cost(plan: LaunchPlan, pair: Rivals, workload: Workload) -> CostEstimate:
    """What the runs of a launch cost, judged by those that both arms have."""
    trials = (t for arm in (pair.candidate, pair.baseline) for t in (arm.of, *arm))
    known = [Timing(trial.seconds) for trial in trials if trial.seconds]
    budget = state(workload.store, workload.budget)
    return cost_of(
        [Trainings(*plan.runs)],
        known,
        workers=executor_of(workload).slots,
        price=None if budget is None else budget.price,
        left=None if budget is None else budget.left,
    )


def _candidate(
    store: Store, candidate: Results | Trial, number: int | None
) -> tuple[Results, int | None]:
    """The round with those it continues, as the store has them now, and the candidate's number."""
    if isinstance(candidate, Results):
        return as_recorded(store, candidate.round.name, candidate, earlier=True), number
    if not isinstance(candidate, Trial):
        raise DesignError("launch.not_a_candidate", candidate=candidate)
    if number is not None:
        raise DesignError("final_test.trial_of_a_trial")
    name, number_there = of_round(store, candidate)
    return as_recorded(store, name, None, earlier=True), number_there


def _first(store: Store, results: Results, number: int | None, why: str) -> LaunchReport:
    """Record the first baseline, or refuse a second first one."""
    now = lineage.baseline(store)
    if now is not None:
        raise DesignError("launch.first_is_baseline", place=now.place)
    trial = results.best() if number is None else results.trial(number)
    refuse_pruned(results, trial)
    place = Place.of(results, trial)
    key = lineage.first_baseline(store, place, why)
    return LaunchReport(place, None, recorded=key, now=place)


def _question(store: Store, pair: Rivals, results: Results, terms: LaunchTerms) -> Question:
    """The terms with what the checklist and the store add to them."""
    past = History.from_declaration(terms.sd) if terms.sd is not None else _history(store, pair)
    by_split = terms.splits is not None
    candidates = terms.candidates or 1 + lineage.count_rivals(store, *pair.places)
    question = Question(
        replace(terms, candidates=candidates),
        findings=tuple(check(results)),
        looked=lineage.count_looks(store, *pair.places, by_split=by_split),
        history=past,
    )
    return _in_general(store, pair, question) if terms.in_general else question


def _history(store: Store, pair: Rivals) -> History | None:
    candidate, baseline = pair.places
    pipeline = Pipeline.of(pair.candidate.results, pair.candidate.of)
    both = ((candidate.round, candidate.trial), (baseline.round, baseline.trial))
    return read_history(store, pipeline, both)


def _in_general(store: Store, pair: Rivals, question: Question) -> Question:
    """The question with study and data variance in it."""
    candidate, baseline = pair.candidate, pair.baseline
    again: tuple[Results, ...] = ()
    if candidate.results.round.name == baseline.results.round.name:
        again = replicates(store, candidate.results.round)
    study = study_spread_of_gain(
        candidate.results,
        candidate.of.study,
        baseline.results,
        baseline.of.study,
        (candidate.results, *again) if again else (),
    )
    if study is None:
        raise DesignError("launch.study_variance_unknown")
    kept = [examples_of(arm.results, arm.trials or (arm.of,)) for arm in (candidate, baseline)]
    data = None
    if kept[0] is not None and kept[1] is not None:
        data = of_gain(kept[0], kept[1])
    return replace(question, study=study, data=data)


def _run(
    pair: Rivals, workload: Workload, question: Question, watch: Watcher | None, on_look: OnLook
) -> Decided:
    if question.terms.splits is not None:
        return decide_by_split(pair.candidate, pair.baseline, workload, question, watch=watch)
    return look_until_decided(
        pair.candidate,
        pair.baseline,
        workload,
        question,
        skip=pair.won_with if question.terms.fresh else 0,
        won_with=pair.won_with,
        watch=watch,
        on_look=on_look,
    )
