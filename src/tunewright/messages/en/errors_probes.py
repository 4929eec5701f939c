"""Sentences of the errors raised in `probes`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "cost.bad_critical_batch_size": (
        "Cost(critical_batch_size={critical_batch_size}): at least 1 example."
    ),
    "cost.bad_price": "Cost({name}={price!r}): a price is 0 or more.",
    "cost.bad_steps": (
        "Cost(steps={steps!r}): batch sizes and their numbers of steps, as in {{128: 50_000}}."
    ),
    "critical_batch.bad_sizes": "batch_sizes={batch_sizes!r}: two or more whole numbers, from 1.",
    "critical_batch.epochs": (
        "{name} counts epochs: a larger batch would get fewer steps and look worse for that "
        "alone. Let the program take a number of steps, and declare its name: "
        "{declare.means.max_train_steps}."
    ),
    "critical_batch.no_steps": (
        "max_train_steps={max_train_steps!r}: give the steps of every trial."
    ),
    "critical_batch.same_examples": (
        "max_train_steps: every batch size sees the same number of examples, which is a budget "
        "of epochs. Give the larger sizes as many steps as the smallest, or what they need."
    ),
    "critical_batch.unknown_hyperparameter": (
        "{name}: the training program takes no such hyperparameter. If it has another name, "
        "declare it: {meaning:means}."
    ),
    "longer.bad_share": "share={share!r}: a share of the length, such as 0.25; 4 at most.",
    "longer.bad_times": "times={times!r}: from 2 to 20 seeds of each length.",
    "longer.does_not_restore": (
        "{workload} never reads run.restored, so it would start at step 0 in place of its "
        "snapshot. Restore what run.save saved, or train longer from the start: extend."
    ),
    "longer.no_snapshot": (
        "trial {trial} of {round} has no whole snapshot. Call run.save(state) in the program; "
        "or train longer from the start: extend."
    ),
    "input_bound.bad_workers": "workers={ladder}: a loader has 0 workers or more.",
    "input_bound.command": (
        "the batches of a command cannot be seen from outside ({subject}): write a factory of "
        "its steps in Python, {example}, and probe that."
    ),
    "input_bound.no_batch_size": (
        "batch_size={batch_size}: give the batch size at which to watch {subject}, such as "
        "the one of probes.batch_size."
    ),
    "input_bound.out_of_memory": (
        "{subject} runs out of memory at batch size {size} ({error}): give a smaller "
        "batch_size, or ask probes.batch_size which ones fit."
    ),
    "input_bound.trace_folder": "trace={path}: its folder does not exist. Make it first.",
    "input_bound.too_few_steps": "steps={steps}: at least {fewest} are needed, 200 for a verdict.",
    "noise_scale.bad_sizes": "small={small}, big={big}: two batch sizes, the smaller one first.",
    "noise_scale.no_finite_norm": "no finite gradient norm: measure before clipping and unscaled.",
    "noise_scale.not_logged": (
        "trial {trial} never logged {missing}. Log the norm of a micro-batch's gradient beside "
        "that of the whole batch; probes.noise_scale.squared_norms() computes both."
    ),
    "noise_scale.too_few_micro_batches": (
        "{count} micro-batch: two or more are needed to separate noise from signal."
    ),
    "noise_scale.unequal_norms": (
        "{small} small and {big} big norms: one of each per step is needed."
    ),
    "probe.bad_factors": "factors={factors!r}: numbers above 0, such as (1, 2, 5, 10).",
    "probe.bad_repeats": "repeats={repeats!r}: give a number of seeds, or 0 for no comparison.",
    "probe.bad_steps": "steps={steps!r}: give the number of steps of each run, such as 500.",
    "probe.bad_times": "times={times!r}: numbers above 1, such as (10, 3).",
    "probe.not_a_trial": "trial={trial}: give the trial itself, such as results.trial({trial}).",
    "probe.rate_not_searched": (
        "nuisance: {rate} is not searched, but its best value changes with the batch size. "
        "Give it a range, such as {rate}=log(1e-4, 1.0), and others that the optimizer has."
    ),
    "probe.run_failed": (
        "trial {trial} of {round} failed: {reason}. Fix the workload; `tunewright trial "
        "{round} {trial}` shows more."
    ),
    "probe.unknown_fixed": "fixed {name}: the training program takes no such name.{hint}",
    "throughput.bad_memory_limit": "memory_gb={memory_gb}: a limit is more than 0.",
    "throughput.bad_size": "batch size {size}: sizes are 1 or more.",
    "throughput.bad_windows": (
        "{what}: windows must last some time, and at least 3 of them and 1 settling step are "
        "needed."
    ),
    "throughput.cannot_step": "{subject} {verb} {about}: {error}{place}.",
    "throughput.factory_lacks": (
        "{shown} needs {lacking:list} too: give them a default, or fixed={{{first!r}: ...}}."
    ),
    "throughput.hangs": (
        "{subject} gave no answer {about} for {patience_s:.0f} s: it hangs, or a step takes "
        "very long (patience_s= waits longer)."
    ),
    "throughput.largest_below_smallest": "largest={largest} is below smallest={smallest}.",
    "throughput.longest_does_not_fit": (
        "{subject} with {longest} does not fit at all: batch size {smallest} runs out of "
        "memory ({error})."
    ),
    "throughput.no_batch_size_argument": (
        "{shown}({names:list}) takes no batch_size: {example}, where step() does one whole "
        "training step on that many examples."
    ),
    "throughput.no_process": "processes={processes}: at least one process trains.",
    "throughput.not_a_subject": (
        "{given!r} is neither a workload nor a function that makes steps: {example}."
    ),
    "throughput.nothing_fits": (
        "{subject} does not fit at all: batch size {smallest} runs out of memory ({error}). "
        "Try a smaller model, lower precision or more memory."
    ),
    "throughput.nothing_timed": (
        "no batch size of {subject} could be timed: {smallest} runs out of memory after some "
        "steps. Try a smaller model, lower precision or more memory."
    ),
    "throughput.process_ended": "the process of {subject} ended with status {status}{detail}",
    "throughput.processes_of_command": (
        "processes={processes}: a command starts its processes itself, such as by torchrun "
        "--nproc-per-node={processes} in its template; leave processes at 1."
    ),
    "throughput.signature_unreadable": (
        "the arguments of {shown} cannot be read ({error}): wrap it, {example}."
    ),
    "throughput.step_does_nothing": (
        "a step takes {microseconds:.2g} microseconds, which is the time of doing nothing: the "
        "function that make_step(batch_size) returns must do one whole training step (forward, "
        "backward, update) each time it is called."
    ),
    "throughput.training_function": (
        "{shown}({names:list}) is a training function: probe the workload it belongs to, "
        "Workload({shown}, minimize(...)), or write a factory of steps, {example}."
    ),
    "throughput.under_torchrun": (
        "WORLD_SIZE={processes}: call the probe from one process, without torchrun; with "
        "processes={processes} it starts them itself."
    ),
    "throughput.uneven_size": (
        "batch size {size} cannot be shared by {processes} processes: sizes count the examples "
        "of all of them."
    ),
    "throughput.workload_lacks": (
        "{shown} needs {lacking:list} too: any usual value will do, fixed={{{first!r}: ...}} "
        "(on the command line --set {first}=...)."
    ),
    "throughput.workload_without_batch_size": (
        "{shown} takes no {name}: declare which of its arguments is the batch size, "
        "{declare.means.batch_size:{which}}."
    ),
    "train_steps.bad_factor": "factor={factor!r}: from 1 (as measured) to 10; 1.5 to 2 is usual.",
    "train_steps.bad_learning_rate": (
        "learning_rate={learning_rate!r}: a number above 0 to sweep around."
    ),
    "train_steps.bad_max_train_steps": (
        "max_train_steps={max_train_steps!r}: a whole number of steps, from 2."
    ),
    "train_steps.limit_without_metric": (
        'at_most or at_least of which metric? Give metric="train_loss", at_most=..'
    ),
    "train_steps.two_limits": "at_most and at_least: a perfect fit is one of them.",
}
