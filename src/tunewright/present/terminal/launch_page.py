"""A launch on a screen: the headline first, then why, then what limits it; history, variances."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from tunewright.launches.launch import Launch
from tunewright.launches.lineage import Launched, LaunchHistory, Place
from tunewright.launches.variance import Variances
from tunewright.launches.workflow import LaunchPlan, LaunchReport
from tunewright.messages import Message, filled, padded, worded, words
from tunewright.present.terminal.screen import cell, say, table
from tunewright.stats.spread import Spread

_STYLES: dict[str, str] = {"launch": "bold green", "keep": "bold", "undecided": "bold yellow"}
_HELD = "launch.holds_for"  # the code of a caveat: a value that both arms share


def print_report(report: LaunchReport, console: Console) -> None:
    """What a launch did; a dry run shows the plan."""
    launch = report.decision
    if launch is None:
        if report.plan is not None:
            _print_plan(report.plan)
        else:
            say(words.printable(report.headline), style=_STYLES["launch"])
        return
    _print_launch(launch)
    if report.interrupted:
        say(words.printable(report.headline), style="yellow")
    elif launch.forbidden and launch.reasons[0].code == "launch.finding":
        say(Message("launch.nothing_run").text, style="dim")
    elif launch.verdict == "launch" and report.now is not None:
        say(words.printable(Message("launch.recorded", {"baseline": str(report.now)}).text))


def _print_launch(launch: Launch) -> None:
    """The headline, the arms, the reasons in their order, and the caveats."""
    say(words.printable(launch.headline), style=_STYLES[launch.verdict])
    say(f"  {padded('candidate', 11)}{words.printable(launch.candidate)}")
    say(f"  {padded('baseline', 11)}{words.printable(launch.baseline)}")
    for reason in launch.reasons:
        say(f"  {words.printable(reason.text)}")
    if launch.caveats:
        say(worded("limits"), style="dim")
        held = [caveat for caveat in launch.caveats if caveat.code == _HELD]
        others = [caveat for caveat in launch.caveats if caveat.code != _HELD]
        if held:  # every fixed value is one: on one line
            facts = {"held": [caveat.facts for caveat in held]}
            others = [*others, Message("launch.all_held", facts)]
        for caveat in others:
            say(f"  {words.printable(caveat.text)}", style="dim")


def look_line(launch: Launch) -> str:
    """One look at a launch that is still running, on one line."""
    candidate_runs, baseline_runs = launch.runs
    facts = {
        "candidate_runs": candidate_runs,
        "baseline_runs": baseline_runs,
        "probability": launch.probability,
        "threshold": launch.threshold,
        "runs_needed": launch.runs_needed,
    }
    return Message("launch.look", facts).text


def _print_plan(plan: LaunchPlan) -> None:
    """What a launch would do, what it costs, and what it could find."""
    say(f"{padded('candidate', 11)}{_place(plan.candidate)}")
    why = words.phrase("in_brackets", text=str(plan.why_baseline))
    say(f"{padded('baseline', 11)}{_place(plan.baseline)} {why}")
    say(f"{padded('claim', 11)}{words.printable(plan.why_claim.text)}")
    asks = {
        "metric": plan.metric,
        "not_worse_by": plan.not_worse_by,
        "complexity": plan.complexity,
        "threshold": plan.threshold,
        "looks": plan.plan.looks,
    }
    say(f"{padded('asks', 11)}{Message('launch.asks', asks)}")
    cost = {"runs": plan.runs, "there": plan.there, "seconds": plan.seconds}
    say(f"{padded('cost', 11)}{Message('launch.cost', cost)}")
    if plan.cost is not None:
        say(f"{padded('', 11)}{plan.cost.message.text}")
    past = {
        "sd": plan.history_sd,
        "runs": plan.history_runs,
        "declared": plan.history_runs == 0,
    }
    say(f"{padded('history', 11)}{Message('launch.history', past)}")
    power = {"sequential": plan.plan.sequential, "finds": plan.finds}
    say(f"{padded('finds', 11)}{Message('launch.power', power)}")
    margin, sd = plan.not_worse_by, plan.history_sd
    if margin is not None and sd is not None and sd > margin:
        say(f"           {Message('launch.narrow_margin', {'sd': sd})}", style="yellow")


def print_history(history: LaunchHistory, console: Console) -> None:
    """The decisions, oldest first, and the baseline that resulted."""
    if not history.launches:
        say(Message("launch.none_yet").text)
        return
    for launched in history.launches:
        when = f"{launched.written.astimezone():%Y-%m-%d %H:%M}"
        about = words.place(str(launched.candidate))
        if launched.baseline is not None:
            about = worded("over", candidate=about, baseline=words.place(str(launched.baseline)))
        text = Text(f"{when}  ")
        text.append(
            filled(worded(f"verdict.{launched.verdict}"), 9),
            style=_STYLES.get(launched.verdict, ""),
        )
        text.append(f"  {words.printable(about)}")
        console.print(text, soft_wrap=True)
        for line in (_evidence(launched).text, f"{launched.who}: {launched.why or launched.goal}"):
            console.print(Text(f"{' ' * len(when)}  {words.printable(line)}"), soft_wrap=True)
    if history.baseline is not None:
        now = history.baseline.place
        place = words.printable(words.place(str(now)))
        settings = words.configuration(now.configuration)
        say(worded("baseline", place=place, shown=settings), style="bold")


def print_variances(variances: Variances, console: Console) -> None:
    """One line for each source of variance, and how to measure the rest."""
    title = Message("variance.title", {"metric": variances.metric, "round": variances.round})
    say(words.printable(title.text))
    rows = table("from", "sd", "90 % interval", "known", "what moves", right=("sd",))
    lines: list[tuple[str, str, Spread | None]] = [("trial", "", variances.trial)]
    lines += [
        ("study", "" if label == "all" else f" ({label})", s)
        for label, s in variances.study.items()
    ]
    lines += [("data", "", variances.data), ("data_of_gain", "", variances.data_of_gain)]
    lines += [("splits", "", variances.splits)]
    for kind, about, spread in lines:
        if spread is not None:
            within = worded("between", low=words.number(spread.low), high=words.number(spread.high))
            rows.add_row(
                cell(spread.source),
                cell(words.number(spread.sd)),
                cell(within),
                cell(spread.how),
                cell(f"{Message(f'variance.of.{kind}')}{about}"),
            )
    if rows.row_count:
        console.print(rows)
    if variances.optimism is not None and variances.optimism > 0:
        say(Message("variance.optimism", {"size": variances.optimism}).text)
    for known, actions in (("known_roughly", variances.rough), ("not_known", variances.missing)):
        for name, action in actions.items():
            how = words.printable(action.command or action.text)
            say(f"{worded(known)}{padded(name, 7)} -> {how}", style="dim")


def _evidence(launched: Launched) -> Message:
    """The numbers that a recorded decision rests on."""
    decision = launched.decision
    runs = [len(decision.get(f"{arm}_values") or ()) for arm in ("candidate", "baseline")]
    return Message(
        "launch.decided",
        {
            "probability": decision.get("probability"),
            "gain": decision.get("shrunk_gain"),
            "metric": decision.get("metric", ""),
            "not_worse_by": decision.get("not_worse_by"),
            "claim": decision.get("claim", ""),
            "runs": runs,
        },
    )


def _place(place: Place) -> str:
    """A trial of a round, and its configuration."""
    return f"{words.place(str(place))}  {words.configuration(place.configuration)}"
