"""Short lines that commands print around their pages, and the lines of progress."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "screen.wrote": "wrote {path}",
    "screen.wrote_about": "wrote {path}: {what}",
    "screen.next": "next: {command}",
    "screen.next_why": "next: {command}  ({why})",
    "screen.note": "note: {text}",
    "screen.error": "error: ",
    "screen.unforeseen": "not foreseen: the machine, or a fault of tunewright",
    "screen.no_reason": "no reason",
    "screen.no_reason_given": "no reason given",
    "screen.nothing_to_do": "nothing to do",
    "screen.interrupted": "interrupted",
    "screen.of_status": "{count} {status}",
    "screen.counted": "{trials} ({others})",
    "screen.between": "{low} to {high}",
    "screen.part": "{count} of {total}",
    "screen.torn_backup": "note: {path} is torn or altered and was passed over",
    "screen.restored": (
        "restored {store} from {source}: {rounds:count round}, {trials:count trial}"
    ),
    "screen.restored_from_folders": (
        "restored {store} from its trial folders: {rounds:count round}, {trials:count trial}"
    ),
    "screen.back": "{round} is back: {trials:count trial}",
    "screen.removed": "removed {round}: {trials:count trial}",
    "screen.folders_stay": "its trial folders stay in {folder}",
    "screen.undo": "undo: {command}",
    "screen.renamed": "{old} is called {new}",
    "screen.renamed_too": "with it: {name}",
    "screen.continues_it": "{name} continues it",
    "screen.demo.project": (
        "The demo's project is {folder}/: train.py (what is trained), {file} (how it is "
        "judged),\n{space} (what may be changed). It asks: {goal}"
    ),
    "screen.demo.trials": (
        "{trials} trainings in all; some diverge, and that is data. Every step shows its reason."
    ),
    "screen.demo.open": "and open {file}",
    "screen.demo.chosen": "what it chose: its curves, its seed, its checkpoint",
    "screen.demo.ui": "all of it in a browser, each page led by its verdict",
    "screen.demo.ls": "every round it ran, with its goal and its best",
    "screen.demo.history": "what was launched, when and why",
    "screen.demo.own_question": "a question of your own: is a second layer worth it?",
    "screen.demo.own_program": "in the folder of your own program",
    "screen.trial_said": "trial {trial}: {said}",
    "screen.again_took": "took {seconds:duration}; its log and files: {folder}",
    "screen.imported": "{round}: {goal}, kept in {store}",
    "screen.hyperparameters": "hyperparameters: {names}",
    "screen.none_named": "none named",
    "screen.next_question": "next: tunewright new NAME, to ask a first question of it",
    "screen.wrote_round": "wrote {path}: write down its goal, and a role for",
    "screen.wrote_round_with_roles": "wrote {path}: write down its goal, and change what is wrong",
    "screen.each_hyperparameter": "each hyperparameter",
    "screen.searches": "{optimizer} with {trials:count trial} per study searches {names}",
    "screen.fixes": "{optimizer} with {trials:count trial} per study fixes {names}",
    "screen.other_name": "if it has another name there, say so under {table} in {file}",
    "screen.lengths": "lengths of training: {says}",
    "screen.enough": "{round}: as many trials as asked for have ended already",
    "screen.listed_trials": "trials: {now} per study, as listed, in place of {before}",
    "screen.run_outcome": "{round}: {says} ({seconds:duration})",
    "screen.stop_none": "asked to stop: no trial of {round} is running now",
    "screen.stop_all": (
        "asked to stop: {running:count running trial} of {round} will save, stop and stay pending"
    ),
    "screen.stop_one": "asked to stop: trial {trial} of {round} will save, stop and stay pending",
    "screen.repeats": "trial {trial} was {value:number} {metric}; its repeats: {shown}",
    "screen.repeats_mean": (
        "mean {mean:number}, standard deviation {sd:number} over {repeats} repeats. The "
        "trial itself was picked for its value: trust the repeats."
    ),
    "screen.noted": "noted: {round} has {notes:count note}",
    "screen.exported": "wrote {path}: {trials:count trial} of {round}",
    "screen.step_cost": "step {step}  {kind}, {trials:count trial} of {left} left",
    "screen.step": "step {step}  {kind}",
    "screen.go_on": "go on?",
    "screen.campaign_says": "{name}: {says}",
    "screen.report_at": "report: {path}",
    "screen.plan_used": "{name}: {spent} of {total:count trial} used",
    "screen.plan_explore": "explore    up to {most} (the first round {first})",
    "screen.plan_kept": (
        "kept back  {kept} ({finalists} finalists x {times}, {luck} for seed variance, "
        "{launch} for the launch)"
    ),
    "screen.plan_exploit": "exploit    what is left, at least {least}",
    "screen.plan_extend": "extend     {extend} at full length, out of those kept back",
    "screen.plan_next": "next: {kind}, {trials:count trial}: {why}",
    "screen.limits": "what limits it:",
    "screen.over": "{candidate} over {baseline}",
    "screen.baseline": "baseline: {place}  {shown}",
    "screen.verdict.launch": "launch",
    "screen.verdict.keep": "keep",
    "screen.verdict.undecided": "undecided",
    "screen.verdict.first": "first",
    "screen.verdict.discard": "discard",
    "screen.verdict.remove": "remove",
    "screen.known_roughly": "known roughly: ",
    "screen.not_known": "not known: ",
    "screen.dry_run": "dry run: nothing was recorded. Next: {command}",
    "screen.plan_trials": (
        "{studies:count study/studies} of {each}: {trials:count trial} ({search})"
    ),
    "screen.plan_trials_ended": (
        "{studies:count study/studies} of {each}: {trials:count trial}, {ended} of them "
        "ended already ({search})"
    ),
    "screen.belief.saturated": "tuning has likely saturated",
    "screen.belief.few": "{trials} trials: from {enough} on, saturation of tuning can be judged",
    "screen.belief.pays": "more trials are expected to pay",
    "screen.belief.map": "feasible where the others are as recommended:",
    "screen.belief.learned": "learnt from {trials:count trial}",
    "screen.belief.earlier": ", {count} of them of earlier rounds",
    "screen.belief.infeasible": ", {count} of them infeasible",
    "screen.belief.says": "{says} ({learned})",
    "screen.belief.gain": (
        "{says}: {gain:number} {metric} is expected of {more} more trials, {enough:number} "
        "is worth them"
    ),
    "screen.belief.best": (
        "best to expect {value:number} {metric} (90 % interval {low:number} to {high:number}"
        "), as trial {trial}: {settings}"
    ),
    "screen.belief.feasible": "feasible there with probability {share:.2f}",
    "screen.belief.feasible_unsure": (
        "feasible there with probability {share:.2f}; none that completed is surer"
    ),
    "screen.belief.below": "probability below {sure}",
    "screen.trials_after": "{trials:count trial}, after {before}",
    "screen.more_changes": "and {count} changes more",
    "screen.extension": "{round}: from {old} to {new} steps, as in trial {trial}",
    "screen.schedule": "schedule: {rule}",
    "screen.extension_cost": "cost: {trials:count trial} of {steps} steps are {total} steps",
    "screen.extension_cost_times": (
        "cost: {trials:count trial} of {steps} steps are {total} steps, {times} times those "
        "of {round}"
    ),
    "screen.missing": "missing: {what}",
    "screen.for_configuration": "For the configuration:",
    "screen.caveat": "caveat: {what}",
    "screen.no_rounds": "no rounds yet. Next: tunewright new NAME",
    "screen.best_of_trial": "{value:number}\ntrial {trial}",
    "screen.trial_completed": "{round} trial {trial} completed: {metric} {value} at step {step}",
    "screen.trial_ended": "{round} trial {trial} {status}",
    "screen.trial_ended_why": "{round} trial {trial} {status}: {reason}",
    "screen.no_step": "no step yet",
    "screen.running_for": "running for {seconds:duration}",
    "screen.step_rate": "{rate:number} steps per second",
    "screen.time_left": "about {seconds:duration} left",
    "screen.on_examples": "on {n} examples",
    "screen.log_scale": " log",
    "screen.commit_changed": "{commit}, with uncommitted changes",
    "screen.metric_then": "{metric} then",
    "screen.judge.values": "values {values}; sd of one run {sd:number}",
    "screen.judge.stands": (
        "{first} -> {current}: {kept} of {tried:count change} kept, {undecided} undecided"
    ),
    "screen.judge.running": (
        "{metric} {baseline:number} (sd of one run {sd:number}); running estimate of the "
        "gain, not to be quoted: {gain:number}"
    ),
    "screen.judge.spent": "{runs:count run} in {seconds:duration}",
    "screen.judge.runs_left": "{runs:count run} left",
    "screen.judge.hours_left": "{hours:.3g} hours left",
    "screen.judge.cost": "cost: {parts}",
    "screen.figure_at": "The figure is in {path}.",
    "screen.bottleneck": "Bottleneck: {what}",
    "screen.hours_and_prices": "Hours and prices: {assumption}.",
    "screen.of_the_time": "{share} of the time",
    "screen.times_as_fast": "{times} times as fast",
    "screen.per_step": "{count} per step",
    "screen.steps_of_size": "{steps} steps of batch size {size}",
    "screen.trace_at": "The trace is in {path}; ui.perfetto.dev opens it.",
    "screen.progress.ended_before": ", {done} ended before",
    "screen.progress.began": "{round}: {trials:count trial}{before}, {objective}",
    "screen.progress.begins": "{who} begins  {settings}",
    "screen.progress.begins_again": "{who} begins (attempt {attempt})  {settings}",
    "screen.progress.pending": "goes back to pending",
    "screen.progress.continues": "continues: {done} of {total:count trial} ended",
    "screen.progress.failed": "! {who} failed: {reason}: `{command}`",
    "screen.progress.streak": (
        "! {count} trials in a row were infeasible, the last: {reason}: `{command}`"
    ),
    "screen.progress.a_repeat": "a repeat",
    "screen.progress.trial": "trial {number}",
    "screen.progress.step_cost": (
        "{campaign} step {step}  {kind}, {trials:count trial} of {left} left: {reason}"
    ),
    "screen.progress.step": "{campaign} step {step}  {kind}: {reason}",
    "screen.progress.left": "{time} left",
    "screen.progress.best": "best {value:number} {metric}  {who}  {settings}",
    "screen.progress.at_step": "step {step:,}",
    "screen.progress.at_step_of": "step {step:,}/{total:,}",
    **{
        f"screen.usage.{kind}": "{said}"
        for kind in ("option", "missing", "value", "command", "other")
    },
}
