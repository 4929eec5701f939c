"""A launch on a screen: the verdict first, then why, then what limits it; and the lineage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from tunewright.launches.launch import Launch
from tunewright.launches.lineage import Baseline, Launched, Place
from tunewright.launches.plan import POWER, Claim, Plan, runs_for
from tunewright.launches.reasons import about, percent
from tunewright.messages import words
from tunewright.present.terminal.screen import say
from tunewright.stats.gain import History

STYLES: dict[str, str] = {"launch": "bold green", "keep": "bold", "undecided": "bold yellow"}
EFFECTS = (0.5, 1.0, 2.0)  # trial standard deviations, for a plan's power


@dataclass(frozen=True)
class Intent:
    """A launch before anything is run: who against whom, on which terms."""

    candidate: Place
    baseline: Place
    why_baseline: str
    claim: Claim
    why_claim: str
    plan: Plan
    threshold: float
    not_worse_by: float | None
    complexity: float
    history: History | None
    runs: tuple[int, int]  # repeats of candidate and baseline that are there
    seconds: float  # of one run
    metric: str


def print_launch(launch: Launch, console: Console) -> None:
    """The verdict, the reasons in their order, the caveats, and how many runs are missing."""
    head = {
        "launch": f"launch: {launch.candidate} is the new baseline",
        "keep": f"keep: {launch.baseline} stays the baseline",
        "undecided": f"undecided: {launch.candidate} against {launch.baseline}",
    }
    say(words.printable(head[launch.verdict]), style=STYLES[launch.verdict])
    for reason in launch.reasons:
        say(f"  {words.printable(reason)}")
    if launch.runs_needed:
        runs = words.count(launch.runs_needed, "more run")
        say(f"  {runs} of each would bring it to the next decision")
    if launch.caveats:
        say("what limits it:", style="dim")
        for caveat in launch.caveats:
            say(f"  {words.printable(caveat)}", style="dim")


def look_line(launch: Launch) -> str:
    """One look at a launch that goes on, on one line."""
    own, other = launch.runs
    if launch.probability is None:
        return f"{own} + {other} runs: nothing can be said yet"
    sure = f"{percent(launch.probability)} sure, it takes {percent(launch.threshold)}"
    goes_on = f"; {launch.runs_needed} more of each" if launch.runs_needed else ""
    return f"{own} + {other} runs: {sure}{goes_on}"


def print_intent(intent: Intent, console: Console) -> None:
    """What a launch would do, what it costs, and what it could find."""
    say(f"candidate  {intent.candidate}  {_shown(intent.candidate)}")
    say(f"baseline   {intent.baseline}  {_shown(intent.baseline)}  ({intent.why_baseline})")
    say(f"claim      {about(intent.claim)} ({words.printable(intent.why_claim)})")
    if intent.not_worse_by is not None:
        asks = f"worse by no more than {words.number(intent.not_worse_by)} {intent.metric}"
    elif intent.complexity:
        asks = f"better by more than {words.number(intent.complexity)} {intent.metric}"
    else:
        asks = "better"
    looks = ", ".join(map(str, intent.plan.looks))
    say(f"asks       {asks}, with probability {percent(intent.threshold)}, at {looks} runs each")
    own, other = intent.runs
    first = max(0, intent.plan.looks[0] - own) + max(0, intent.plan.looks[0] - other)
    most = max(0, intent.plan.looks[-1] - own) + max(0, intent.plan.looks[-1] - other)
    cost = f"{first}" if first == most else f"{first} to {most}"
    time = words.duration_range(first * intent.seconds, most * intent.seconds)
    say(f"cost       {cost} runs ({own} and {other} are there already), {time} on one worker")
    past = intent.history
    if past is None or not past.weight > 0:
        say("history    none: the spread is taken from these runs alone")
    else:
        known = "declared" if past.source == "declared" else f"{past.runs} earlier repeats"
        say(f"history    a standard deviation of {words.number(float(past.sd))} ({known})")
    say(f"finds      {_power(intent)}")
    margin, past_sd = intent.not_worse_by, 0.0 if past is None else float(past.sd)
    if margin is not None and past_sd > margin:
        say(
            f"           a margin below one standard deviation ({words.number(past_sd)}) mostly "
            "stays undecided",
            style="yellow",
        )


def print_history(
    launches: Sequence[Launched], baselines: Sequence[Baseline], console: Console
) -> None:
    """The lineage, oldest first, and the baseline that came of it."""
    if not launches:
        say("no launch has been decided yet: tunewright launch ROUND")
        return
    for one in launches:
        when = f"{one.written.astimezone():%Y-%m-%d %H:%M}"
        against = f" over {one.baseline}" if one.baseline is not None else ""
        text = Text(f"{when}  ")
        text.append(f"{one.verdict:<9}", style=STYLES.get(one.verdict, ""))
        text.append(f"  {words.printable(f'{one.candidate}{against}')}")
        console.print(text, soft_wrap=True)
        for line in (_evidence(one), f"{one.who}: {one.why or one.goal}"):
            console.print(Text(f"{' ' * len(when)}  {words.printable(line)}"), soft_wrap=True)
    if baselines:
        now = baselines[-1].place
        say(f"baseline: {words.printable(str(now))}  {_shown(now)}", style="bold")


def _evidence(one: Launched) -> str:
    """What a decision rests on, on one line."""
    decision = one.decision
    sure, gain = decision.get("probability"), decision.get("shrunk_gain")
    if sure is None or gain is None:
        return "without a comparison"
    own, other = (len(decision.get(f"{arm}_values") or ()) for arm in ("candidate", "baseline"))
    of = f"a gain of about {words.number(gain)} {decision.get('metric', '')}"
    if decision.get("not_worse_by") is not None:
        of = f"a loss below {words.number(decision['not_worse_by'])} {decision.get('metric', '')}"
    return f"{percent(sure)} sure, {of}, {own} + {other} runs, {decision.get('claim', '')}"


def _power(intent: Intent) -> str:
    """What such a launch would find: gains in standard deviations between runs."""
    if intent.plan.sequential:
        found = POWER[intent.claim].items()
        shares = ", ".join(f"{effect:g} sd in {percent(share)}" for effect, share in found)
        return f"a gain of {shares} of launches"
    needed = (f"{effect:g} sd {runs_for(effect, intent.threshold)}" for effect in EFFECTS)
    return f"in 80 of 100 launches, by the gain, with this many runs each: {', '.join(needed)}"


def _shown(place: Place) -> str:
    return words.configuration(place.configuration)
