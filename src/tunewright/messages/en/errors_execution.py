"""Sentences of the errors raised in `execution`."""

from __future__ import annotations

from tunewright.messages import Facts, Template


def _not_trainable(facts: Facts) -> str:
    train = facts["train"]
    wrong = f"train={train!r} is neither a function nor a command"
    if isinstance(train, str):
        return f"{wrong}: give a command line as tw.command({train!r})."
    return f"{wrong}: define train(run, learning_rate, ...)."


def _bad_booleans(facts: Facts) -> str:
    where = "booleans" if facts["name"] is None else f"booleans {facts['name']}"
    return (
        f"{where}: {facts['spelling']!r} does not spell true and false. Write both, such as "
        '"true/false", "True/False" or "1/0", or "flag" for a flag that is there or not.'
    )


SENTENCES: dict[str, Template] = {
    "join.not_a_round": "worker({round!r}): name a round of the store, such as 'depth'.",
    "join.unknown_search": (
        "{round} began with the search {search!r}, which is none of {known:list}. Pass it again: "
        "worker({round!r}, workload, search=...)."
    ),
    "checkpoint.no_snapshot": (
        "trial {trial} has no snapshot: its training never called run.save(). Save in the "
        "training function, or load a checkpoint of your own from checkpoint.folder."
    ),
    "command.bad_booleans": _bad_booleans,
    "command.bad_defaults": "defaults={defaults!r}: a table of hyperparameters and their values.",
    "command.bad_braces": "{word!r}: {error}; a plain brace is written twice, {{{{ or }}}}.",
    "command.default_of_ours": (
        "{word!r}: {{{field}}} is filled in for each trial; it takes no default."
    ),
    "command.empty": "command(''): empty; write the program and its arguments.",
    "command.flag_without_name": (
        "booleans: {name} is a flag, so it needs the flag's name before it: --{name}={{{name}}}."
    ),
    "command.field_with_format": (
        "{word!r}: a field takes no format, or the program would train with another value than "
        "the recorded one; write {{{field}}}."
    ),
    "command.field_without_name": (
        "{word!r}: name the hyperparameter inside the braces, such as {{learning_rate}}."
    ),
    "command.not_a_field": ("{of}: the command has no field {{{name}}}. It has: {known:list}."),
    "command.no_such_program": (
        "{program}: there is no such program. Check the spelling, its path, and that it may be "
        "executed."
    ),
    "command.not_splittable": "command({template!r}): {error}; quote as for a shell.",
    "command.not_text": (
        "command({template!r}): the template is text, such as 'train --lr={{lr}}'."
    ),
    "command.overrides_not_alone": (
        "{word!r}: {{overrides}} becomes several words, so it stands alone."
    ),
    "command.shell": (
        "no shell reads the command, so {found:list} would be an argument of the program. "
        "If a shell is meant: {instead}"
    ),
    "command.two_defaults": (
        "{name} has two defaults: {one!r} under defaults, {other!r} in the template. Keep one."
    ),
    "command.steps_unknown": (
        "{before}{{{field}}} cannot be filled in: the number of steps is not known. Declare "
        "its name: {declare.means.max_train_steps}."
    ),
    "evaluate.not_callable": (
        "with_={with_!r} is neither a function nor a command: define full(checkpoint) -> "
        '{{"full_valid_error": ...}}, or give command("...").'
    ),
    "evaluate.not_trials": (
        "evaluate({trials!r}): give a trial or several, such as results.top(5)."
    ),
    "evaluate.several_on_test": (
        "evaluate(test=True) of {trials} trials: the best of several on the test set is chosen "
        "by it, and it becomes a validation set. Choose one by validation first."
    ),
    "executor.bad_count": "{name}={count!r} is not a whole number of at least 1.",
    "packed.bad_trials": "trials={trials!r} is not a whole number from 1 to {most}, or None.",
    "packed.no_device": "Packed needs a CUDA device, and device={device!r} names none.",
    "executor.bad_isolate": 'isolate={isolate!r}: give "auto", "always" or "never".',
    "executor.limit_not_positive": (
        "{name}={limit!r} is not a positive number; leave it out for no limit."
    ),
    "executor.too_few_devices": (
        "devices_per_trial={per_trial}, but there are only {count} devices ({devices:list}): "
        "lower it, or name more devices."
    ),
    "hyperparameter.reserved": (
        "{round}: {taken} cannot be a hyperparameter here: {why}. The database would hold "
        "a value that was not trained. Give it another name."
    ),
    "lease.bad_seconds": "{variable}={value}: not a number of seconds of at least 0.5.",
    "log.bad_step": "{shown} is not a number of training steps, 0 or more.",
    "process_group.rank_zero_refused": "rank 0: {reason}",
    "slurm.bad_count": "{name}={count!r} is not a whole number of at least {least}.",
    "slurm.bad_word": "{name}={text!r} is empty or has spaces; sbatch takes one word.",
    "slurm.bad_line": "lines: {line!r} is empty or more than one line; give one line each.",
    "slurm.no_commands": (
        "{missing:list} cannot be found on PATH. Run this on a login node of the Slurm cluster."
    ),
    "slurm.refused": (
        "Slurm refuses the job: {reason}. Correct the partition, the time, the account or the "
        "extra lines; `sinfo` lists partitions."
    ),
    "ray.bad_workers": "workers={workers!r} is not a whole number of at least 1.",
    "ray.client_address": (
        "address={address!r}: over a Ray client the trials would end with the connection. Give "
        "the address of the cluster itself (host:6379) on one of its machines, or submit this "
        "program as a job."
    ),
    "ray.grows_without_workers": (
        "grows=True: give the number of trials at once (workers=) it may grow to."
    ),
    "ray.no_cluster": (
        "no Ray cluster can be joined at {place}: {reason}. Start one (`ray start --head`) or "
        "give the address of one; `ray stop` forgets one that has crashed."
    ),
    "ray.no_trial_begun": (
        "no trial can be begun on the Ray cluster: {reason}. Every node needs the same Python, "
        "Ray and tunewright as this process."
    ),
    "ray.other_version": (
        "node {host} has tunewright {version}, this process {own}: install the same version on "
        "all nodes."
    ),
    "ray.runtime_env_too_late": (
        "Ray is in use by this program: give runtime_env to its ray.init()."
    ),
    "ray.silent": (
        "the Ray cluster has not answered for {silent_s:.0f} s: its head may be gone. Trials "
        "that ran go back to pending; run again once there is a cluster."
    ),
    "repeat.bad_times": "times={times!r} is not a whole number of at least 1.",
    "repeat.no_configuration": "trial {trial} has no configuration yet: there is nothing to do.",
    "repeat.no_seed": (
        "{template}: the program never learns its seed, so every repeat would be the same run. "
        "Add --seed={{run.seed}} (or {{config}}) to the command and let the program use it."
    ),
    "repeat.not_a_trial": "repeat({trial!r}): give a trial, such as results.best().",
    "repeat.of_a_repeat": (
        "this trial is itself a repeat of trial {parent}: repeat that one instead."
    ),
    "repeat.trial_not_found": (
        "trial {trial} is not in {url}: repeat it with the workload (and the store) its round "
        "was run with."
    ),
    "repeat.unknown_hyperparameter": (
        "trial {trial} has {name}, which {workload} does not take. {hint}"
    ),
    "resources.bad_amount": "resources: {name}={amount!r} is not a number of at least 0.",
    "resources.bad_name": "resources: {name!r} is not the name of a resource.",
    "resources.misspelt": "resources: {name!r} is written {right!r}.",
    "resources.part_of_gpus": (
        "resources: GPU={amount!r}: more than one GPU must be a whole number."
    ),
    "run.bad_best": "run.save(best={best!r}): keep a whole number of the best, from 1.",
    "run.bad_max_hours": "max_hours={max_hours!r}: give a number of hours, such as 0.5.",
    "run.bad_trials": "trials={trials!r}: give the most trials to run, from 1.",
    "run.in_child_process": (
        "the Run was used in a child process: only the process that received it can log and "
        "save. Send the numbers back to it."
    ),
    "run.not_a_round": "tw.run() expects a Round as its first argument, got {round!r}.",
    "run.not_picklable": (
        "a Run cannot be sent to another process: only the process that received it can log "
        "and save. Send what the process needs instead, such as run.seeds or run.folder."
    ),
    "run.restored_too_late": (
        "run.restored was first read after the first step, so training began at step 0: read "
        "it before run.steps() and run.log()."
    ),
    "applied.not_a_mapping": (
        "run.applied() expects names and values, got {value!r}: run.applied(lr=0.1)."
    ),
    "hydra.no_sweep": (
        "Nothing is swept by {arguments:list}: give a range, such as lr=log(1e-4,1)."
    ),
    "integration.missing": (
        "{package} is not installed: pip install {package}, or the extra integrations."
    ),
    "run.bad_environment": (
        "The variable {name} of the environment does not describe a trial ({error}): do not "
        "change it, or unset it to run the program alone."
    ),
    "run.resumed_at_too_late": (
        "run.resumed_at({step}) came after the first step; call it before run.steps(), run.log()."
    ),
    "run.steps_unknown": (
        "the number of training steps is not known, as there is no {name}: call "
        "run.steps(max_train_steps), or name the hyperparameter that has it, "
        "{declare.means.max_train_steps}."
    ),
    "session.bad_count": "ask({count!r}): give a number of trials, from 1.",
    "session.closed": "this session is closed: open the round again to ask for more.",
    "session.configuration_ambiguous": (
        "add({configuration}) belongs to {count} of the studies {labels}: name its scientific "
        "hyperparameters."
    ),
    "session.end_not_recorded": (
        "the end of trial {trial} could not be recorded: {error} It is kept {kept}."
    ),
    "session.no_folder": (
        "this session has no folder of trials: give one, open_round(..., folder=...)."
    ),
    "session.rank_has_no_store": "rank {rank} has no store: only rank 0 reads and writes.",
    "store.gave_up": "tried for {minutes:.0f} min in vain: {error}",
    "store.unreachable": (
        "the store could not be reached for {minutes:.0f} min: {error} What has ended is kept "
        "in the trial folders, and is taken over when the round is run again."
    ),
    "trial.already_ended": "trial {trial} is {status} already: nothing can {verb} it any more.",
    "workload.bad_eval_every": "eval_every={eval_every!r}: give a number of steps, from 1.",
    "workload.bad_objective": "objective {objective!r}: give minimize(metric) or maximize(metric).",
    "workload.folder_deleted": (
        "the working folder has been deleted: go to one that exists, and start again"
    ),
    "workload.no_handle": (
        "{function} takes no handle: its first argument receives the Run, as in def "
        "{function}(run, learning_rate): ..."
    ),
    "workload.not_sendable": (
        "{name} (a {kind}) cannot be sent to a worker process, but {function} uses it "
        "({reason}): create it inside the training function, or in a module that it imports"
    ),
    "workload.not_trainable": _not_trainable,
    "workload.positional_only": (
        "{function} takes {parameter} by position only, but hyperparameters are given by name: "
        "move it behind the / of the signature."
    ),
    "workload.signature_unreadable": (
        "the arguments of {train!r} cannot be read ({error}): wrap it in a function whose "
        "arguments are its hyperparameters."
    ),
    "workload.too_large": (
        "{name} (a {kind}) is larger than {largest} MB, and {function} would take it along to "
        "every worker: load it inside the training function, or in a module that it imports"
    ),
}
