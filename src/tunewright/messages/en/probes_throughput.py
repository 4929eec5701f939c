"""Answers of the probes that time steps, in English: a headline and a sentence for each code."""

from __future__ import annotations

from tunewright import messages
from tunewright.messages import Facts, Template, words

CHANGED = {
    "model": "the model",
    "optimizer": "the optimizer",
    "precision": "the precision",
    "device": "the device",
    "processes": "the number of processes",
    "example": "the shape of an example (such as its sequence length)",
    "fixed": "the other hyperparameters",
    "packages": "the version of torch",
    "program": "the command, or a file named in it",
}


def _choice(facts: Facts) -> str:
    text = (
        f"Batch size {facts['batch_size']:,} trains on {words.rate(facts['examples_per_s'])} "
        f"examples/s ({facts['step_ms']:.4g} ms per step)"
    )
    following = facts["following"]
    if facts["batch_size"] < facts["knee"]:
        text += f", and larger ones, though faster up to {facts['knee']:,}, end no sooner"
    elif following is not None:
        text += f"; {following['batch_size']:,} {_following(following)}"
    longest = f", with {facts['longest']} as well" if facts["longest"] else ""
    if facts["limit_found"]:
        text += f". The largest that fits is {facts['largest']:,}{longest}."
    else:
        text += f". {facts['largest']:,} fits too{longest}; nothing larger was tried."
    if facts.get("provisional"):  # answers of version 0.1 have no such fact
        text += " Something other than arithmetic limits these steps: fix it, then probe again."
    return text


def _defer(facts: Facts) -> str:
    pays = "it never pays for itself"
    if facts["trainings"] is not None:
        pays = f"it pays for itself after {facts['trainings']:.3g} trainings"
    return (
        f"Batch size {facts['batch_size']:,} ends soonest, but needs {facts['extra']:g} more "
        f"upfront, and a training at {facts['instead']:,} costs {facts['usage']:.3g}: {pays}. "
        f"Begin with {facts['instead']:,} and defer the larger batch until the project has matured."
    )


def _several_processes(facts: Facts) -> str:
    faster = "" if facts["times"] is None else f" {facts['times']:.2g} times as fast as one"
    return (
        f"{facts['processes']} processes are{faster or ' more to get right'}: several processes "
        "bring subtle bugs, so begin with one unless the time matters now."
    )


def _later_change(facts: Facts) -> str:
    text = (
        f"Keep batch size {facts['batch_size']:,} if you can: after a change tune the optimizer's "
        "hyperparameters again first, then the regularisation."
    )
    if facts["recorded"]:
        sizes = ", ".join(f"{size:,}" for size in facts["recorded"])
        text += f" The rounds of this store were tuned at {sizes}."
    return text


def _following(following: Facts) -> str:
    """What the next larger size would bring."""
    more = following["gain"]
    if more < 0:
        return f"would be {-more:.0%} slower"
    if following["unsure"]:
        return f"seems to add {more:.0%}, but not surely"
    return f"would add only {more:.0%}"


def _choice_headline(facts: Facts) -> str:
    return (
        f"Use batch size {facts['batch_size']:,}: {words.rate(facts['examples_per_s'])} examples/s"
    )


def _assumption(facts: Facts) -> str:
    limit, steps = facts["critical_batch_size"], facts["steps"]
    shrinking = (
        "steps fall as 1 / batch size"
        if limit is None
        else f"steps fall as 1 / batch size up to {limit} and stay the same beyond"
    )
    if not steps:
        text = f"assumed: {shrinking}; times and prices are of {facts['examples']:,} examples"
    elif len(steps) == 1:
        ((size, count),) = steps.items()
        text = f"assumed: {shrinking}, from the {count:g} steps at {size} given"
    else:
        beyond = "the same steps" if limit is None else shrinking
        text = f"steps as given between the sizes measured; assumed beyond them: {beyond}"
    if limit is None and len(steps) < 2:
        text += " (measure it: tunewright probe critical-batch)"
    return text


def _launches(facts: Facts) -> str:
    why = (
        f"the host waits for it {facts['host_waits']:.3g} times in every step"
        if facts["host_waits"] >= 1
        else "the host cannot launch its work fast enough"
    )
    return (
        f"launches: at {facts['batch_size']} the device is busy for only "
        f"{facts['busy_share']:.0%} of the time, as {why}; capture or compile the step "
        "(FitConfig(capture=True)), and read results seldom."
    )


def _change(facts: Facts) -> str:
    what = CHANGED.get(facts["what"], facts["what"])
    change = f"{what} ({facts['before']} before, {facts['now']} now)"
    return f"Measured anew, as {change} has changed."


def _memory(held: float | None) -> str:
    return "memory unknown" if held is None else f"{held:,.0f} MB"


def _size_line(facts: Facts) -> str:
    return (
        f"batch size {facts['batch_size']:,}: {words.rate(facts['examples_per_s'])} examples/s "
        f"({words.rate(facts['low'])} to {words.rate(facts['high'])}), {facts['step_ms']:.4g} ms "
        f"per step, {_memory(facts['reserved_mb'])}"
    )


def _fits_line(facts: Facts) -> str:
    held, limit = facts["held_mb"], facts["limit_mb"]
    of = "fits" if limit is None else f"{held:,.0f} MB of {limit:,.0f}"
    return f"batch size {facts['batch_size']}: {of} in a real step"


def _largest(facts: Facts) -> str:
    """How the largest size was found."""
    held = "its memory cannot be seen"
    if facts["reserved_mb"] is not None and facts["limit_mb"] is not None:
        held = f"{facts['reserved_mb']:,.0f} of {facts['limit_mb']:,.0f} MB"
    ways = {
        "memory model": f"predicted by the memory of smaller sizes, and tried: {held}",
        "doubling": f"found by doubling: {held}",
        "asked": f"as far as asked: {held}",
        "step time": f"as far as a step lasts no longer than allowed: {held}",
        "refused": "nothing larger could be built",
        "not limited": f"memory does not grow with it: {held}",
    }
    longest = f" with {facts['longest']}" if facts["longest"] else ""
    return f"Largest{longest}: {facts['batch_size']:,}, {ways[facts['how']]}."


def _host(facts: Facts) -> str:
    """How often the host waits for the device; empty where that is seldom."""
    waits = facts["host_waits"]
    if waits is None:
        return ""
    places = f" ({', '.join(waits['places'])})" if waits["places"] else ""
    return (
        f" The host waits for the device {waits['per_step']:.3g} times in every step{places}: read "
        "results every hundred steps instead."
    )


def _stage(facts: Facts) -> str:
    stage = facts["slow_stage"]
    if stage is None:
        return ""
    return (
        f" The slowest stage is {stage['name']}, with {stage['share']:.0%} of the work on a batch."
    )


def _input(sentence: str) -> Template:
    def wording(facts: Facts) -> str:
        return messages.fill(sentence, facts) + _stage(facts) + _host(facts)

    return wording


def _fine_headline(facts: Facts) -> str:
    if facts["host_waits"] is not None:
        return "The host waits for the device in every step"
    return "Training does not wait for its data"


def _stalls(facts: Facts) -> str:
    why = ""
    if facts["at_epoch"]:
        why = ", which is where an epoch of its loader ends (persistent_workers=True keeps workers)"
    elif facts["workers"]:
        why = f" (the loader has {facts['workers']} workers)"
    return f"The input stalls every {facts['every']} steps, for {facts['ms']:.3g} ms{why}."


def _copies(facts: Facts) -> str:
    remedy = (
        "copy with .to(device, non_blocking=True), and the next batch before it is needed"
        if facts["pinned"]
        else "DataLoader(pin_memory=True) makes it faster, .to(device, non_blocking=True) lets it "
        "overlap"
    )
    return (
        f"Copying a batch to the device takes {facts['ms']:.3g} ms ({facts['share']:.0%} of the "
        f"time of a step): {remedy}; smaller numbers (uint8, converted on the device) help too."
    )


ANSWERS: dict[str, tuple[Template, Template]] = {
    "probe.batch_size.chosen": (_choice_headline, _choice),
    "probe.input_bound.unknown": (
        "Whether training waits for its data is not known",
        _input("Whether training waits for its data is not known: no source of batches was seen."),
    ),
    "probe.input_bound.input_bound": (
        "Training waits for its data {waiting_share:percent} of the time",
        _input(
            "Training waits for its data: {waiting_share:percent} of the time, and steps on a "
            "cached batch are {slowdown:.3g} times as fast."
        ),
    ),
    "probe.input_bound.copies": (
        "Copying batches to the device takes {copy_share:percent} of a step",
        _input(
            "Training waits for its loader {waiting_share:percent} of the time, but copying a "
            "batch to the device takes {copy_share:percent} of the time of a step, unless the two "
            "overlap."
        ),
    ),
    "probe.input_bound.watch": (
        "The input is not the bottleneck yet",
        _input(
            "Training waits for its data {waiting_share:percent} of the time, but steps on a "
            "cached batch are only {slowdown:.3g} times as fast: not the bottleneck yet."
        ),
    ),
    "probe.input_bound.fine": (
        _fine_headline,
        _input("Training does not wait for its data: {waiting_share:percent} of the time."),
    ),
}
SENTENCES: dict[str, Template] = {
    **{code: sentence for code, (_, sentence) in ANSWERS.items()},
    **{f"{code}.headline": headline for code, (headline, _) in ANSWERS.items()},
    "probe.cost.assumed": _assumption,
    # what holds a step up
    "probe.bottleneck.communication": (
        "{processes} processes do {times:.2g} times the work of one ({efficiency:percent} each): "
        "the exchange between them is the bottleneck; a larger batch per process, a faster network "
        "or fewer processes help."
    ),
    "probe.bottleneck.input": (
        "the input pipeline: at {batch_size}, steps on one cached batch are {ratio:.2g} times as "
        "fast; `tunewright probe input` names the slow stage."
    ),
    "probe.bottleneck.launch": _launches,
    # notes on batch sizes
    "probe.batch_size.accumulation": (
        "Gradient accumulation brings no throughput: every part takes the time of a separate step. "
        "Use it only for a batch that must be larger than what fits."
    ),
    "probe.batch_size.unused": (
        "Neither time per step nor memory grows up to {batch_size}: does the step use the batch "
        "size at all?"
    ),
    "probe.batch_size.too_slow": (
        "Sizes above {batch_size} were not tried: a step would take too long."
    ),
    "probe.batch_size.refused": "Nothing larger could be built: {reason}",
    "probe.batch_size.unsteady": (
        "Times per step were not steady within 10 % at {sizes:list}: the machine is busy, or the "
        "work differs from step to step. The intervals show how much it matters."
    ),
    "probe.batch_size.not_doubling": (
        "From {small:,} to {large:,} examples the throughput grows only {gain:.2f} times, where a "
        "device that is not full yet doubles it: it is full at once, or something else limits the "
        "step. Find out which before you continue (tunewright probe input --trace FILE)."
    ),
    "probe.batch_size.pack": (
        "At {batch_size:,} examples the device is busy for {busy_share:.0%} of a step: several "
        "trials at once may use the rest (--pack auto). Packed trials were not timed here; a pack "
        "finds its number of trials while it trains."
    ),
    "probe.batch_size.defer": _defer,
    "probe.batch_size.several_processes": _several_processes,
    "probe.batch_size.later_change": _later_change,
    "probe.batch_size.over_budget": "No size stays within the budget of {budget:g}.",
    "probe.changed": _change,
    "probe.batch_size.from_record": (
        "Nothing has changed since this was measured: read from the store (--again measures)."
    ),
    "probe.batch_size.efficiency": (
        "{processes} processes: {efficiency:percent} of as many single ones."
    ),
    "probe.batch_size.largest": _largest,
    # what a judgement needs
    "probe.batch_size.calmer": (
        "a calmer machine, or longer windows: from {knee:,} to {following:,} the throughput seems "
        "to grow {gain:.2f} times, but surely only {surely:.2f} times"
    ),
    "probe.unseen.from_outside": (
        "what holds its steps up: a command hides from outside how long it waits for input and how "
        "busy its device is, and evaluations between two step lines count as steps; write a "
        "factory make_step(batch_size) to learn more"
    ),
    "probe.unseen.gpu_memory": (
        "the memory of its GPU, which a command hides from outside: the largest size was searched "
        "by doubling until it failed"
    ),
    "probe.unseen.few_lines": (
        "more step lines at {sizes:list}: they come too seldom for {windows} windows of time; "
        'print {{"step": n}} every second or so'
    ),
    "probe.input_bound.no_batches": (
        "batches that a probe can see: iterate a DataLoader, use pipeline.fit, or write "
        "`for batch in probes.watched(batches)`"
    ),
    # notes on the input
    "probe.input_bound.no_workers_keep_up": (
        "No number of workers keeps up: training could take {needed:,.0f} batches/s, and workers "
        "load {best:,.0f} at most. Make the slow stage faster, or do it once, ahead of training."
    ),
    # what to change about the input, by what was measured
    "probe.input_advice.colocate": (
        "{stage} takes {ms:.3g} ms per batch ({share:percent} of the work), and waits for "
        "{waiting_share:percent} of that: put the data next to the training, on a local disk, in "
        "few large files."
    ),
    "probe.input_advice.cache": (
        "{stage} takes {ms:.3g} ms per batch ({share:percent} of the work) and gives the same "
        "result again: keep it in memory. All examples take {all_mb:,.0f} of {free_mb:,.0f} MB."
    ),
    "probe.input_advice.offline": (
        "{stage} takes {ms:.3g} ms per batch ({share:percent} of the work) and gives the same "
        "result again: do it once, ahead of training, and save it."
    ),
    "probe.input_advice.on_device": (
        "{stage} takes {ms:.3g} ms per batch ({share:percent} of the work) and is random, so it "
        "cannot be done ahead: do it on the device, on whole batches, or with more workers."
    ),
    "probe.input_advice.batch_first": (
        "{stage} takes {ms:.3g} ms per batch ({share:percent} of the work), and gives the same on "
        "a whole batch {times:.2g} times as fast: batch first, then transform."
    ),
    "probe.input_advice.drop_unused": (
        "The step never looks at {names:list}, {share:percent} of the bytes of a batch: drop them "
        "before they are decoded and collated."
    ),
    "probe.input_bound.stalls": _stalls,
    "probe.input_bound.slow_copy": _copies,
    # progress
    "probe.progress.size": _size_line,
    "probe.progress.memory": lambda facts: (
        f"batch size {facts['batch_size']}: {_memory(facts['reserved_mb'])}"
    ),
    "probe.progress.fits": _fits_line,
    "probe.progress.left": (
        "{done} of at most {most} sizes timed, at most about {seconds:duration} left"
    ),
    "probe.progress.out_of_memory": "batch size {batch_size}: out of memory",
    "probe.progress.out_of_memory_later": "batch size {batch_size}: out of memory after a while",
    "probe.progress.refused": "batch size {batch_size}: refused, left out ({error})",
    "probe.progress.does_not_fit": "batch size {batch_size}: does not fit, left out",
    "probe.progress.largest_with": "the largest with {longest}:",
    "probe.progress.largest_without": "and without:",
    "probe.progress.steps": "{steps} steps on real input and on a cached batch ...",
    "probe.progress.done": "done in {seconds:.1f} s",
    "probe.progress.prefetch": "the loader with {factors:list} batches ahead of each worker ...",
    "probe.progress.loader": "the loader alone with {workers:list} workers ...",
}
