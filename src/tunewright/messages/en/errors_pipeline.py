"""Sentences of the errors raised in `pipeline`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "averages.bad_decay": "decay={decay}: it must lie in 0 <= decay < 1; 0.999 is usual.",
    "averages.no_batches": "recompute_batch_norm() got no batches: give it 200 training batches.",
    "averages.other_model": (
        "The averages are of another model: {differences}. Make Averages from the model that "
        "is trained."
    ),
    "batch_norm.bad_choice": "{name}={value!r}: use {allowed!r} or {allowed_2!r}.",
    "batch_norm.bad_micro_batches": (
        "micro_batches={micro_batches}: a step has at least 1 forward pass."
    ),
    "batch_norm.bad_shape": (
        "GhostBatchNorm({num_features}) got a batch of shape {shape}: it takes (examples, "
        "{num_features}, ...)."
    ),
    "batch_norm.lazy": "A lazy batch norm has no shape yet: run one forward pass first.",
    "batch_norm.no_rank_group": (
        "A batch of {examples} examples per process is smaller than "
        "virtual_batch_size={virtual_batch_size}, and {world} process(es) cannot be taken in "
        "groups that hold {virtual_batch_size} together: set virtual_batch_size={examples} or "
        "a multiple of it that the processes can hold, use a larger batch (with gradient "
        "accumulation: larger micro-batches), or strict=False."
    ),
    "batch_norm.no_running_statistics": (
        "{model} keeps no running statistics, so its evaluation depends on the batch: make it "
        "with track_running_stats=True."
    ),
    "batch_norm.not_divisible": (
        "A batch of {examples} examples cannot be cut into virtual batches of "
        "{virtual_batch_size}: use a multiple of {virtual_batch_size}, another "
        "virtual_batch_size, or strict=False (groups of {sizes})."
    ),
    "batch_norm.virtual_batch_too_small": (
        "virtual_batch_size={virtual_batch_size}: statistics need at least 2 examples."
    ),
    "batches.bad_weights": "Weights must be finite and not negative; 0 leaves an example out.",
    "batches.not_divisible": (
        "a batch of {size} examples cannot be cut into {parts} equal parts: make the batch "
        "size (per process) a multiple of accumulate."
    ),
    "batches.not_repeatable": (
        "{loader} gave no batch when it was run through again: give a loader that can be "
        "iterated anew for every epoch, or a function of the step."
    ),
    "batches.prefetch_draws": (
        "prefetch= makes batches ahead of training, and making one draws from the global generator "
        "of {generators:list}, from which training draws too: a resume could not repeat it. Give "
        "the data its own generator (DataLoader(generator=torch.Generator())), or leave prefetch "
        "out."
    ),
    "batches.prefetch_needs_workers": (
        "prefetch={prefetch} needs FitConfig(workers=1) or more for a map-style dataset: what it "
        "draws at random must not mix with the draws of training."
    ),
    "batches.weight_count": "{weights} weights for {size} examples: give one per example.",
    "batches.weights_need_numbers": (
        "weights= needs data whose examples are numbered (tensors or a map-style dataset); "
        "here put the weights into the batch and use them in the loss function."
    ),
    "checkpoints.keep_nothing": (
        "Keep(best={best}, latest={latest}): nothing would be kept. Keep the best 3 and the "
        "latest 1, as the defaults do."
    ),
    "checkpoints.metric_not_evaluated": (
        "the selection metric {metric!r} was not evaluated at step {step}: there are {known}. "
        "Name one of them in Keep(metric=...)."
    ),
    "checkpoints.no_finite_metric": (
        "no step has a finite {metric!r} in {folder}: evaluated were {known}."
    ),
    "confidence.bad_level": "level={level}: a level of confidence lies between 0 and 1, as 0.95.",
    "confidence.bad_proportion": (
        "{correct} of {total}: the interval needs 0 <= correct <= total, total > 0."
    ),
    "confidence.cluster_count": "{clusters} clusters for {values} values: give one each.",
    "confidence.too_few_values": (
        "{independent} independent value(s): an interval of a mean needs at least 2."
    ),
    "confidence.unequal_columns": "Columns of {sizes} examples: give columns of one length.",
    "data.not_indexable": (
        "{kind} has no length and no [i]: give a map-style dataset, a tensor, or a tuple or "
        "dict of tensors, so that every example can be counted once."
    ),
    "data.unequal_parts": (
        "The parts of the data have {sizes} examples: they need the same first dimension."
    ),
    "evaluation.bad_batch_size": "batch_size={batch_size}: a batch has at least 1 example.",
    "evaluation.bad_sample_ids": (
        "A sample of {population} examples needs ids 0 .. {last}, at least one and none twice."
    ),
    "evaluation.bad_sample_size": (
        "A sample of {size} out of {population} examples cannot be drawn."
    ),
    "evaluation.batch_below_training": (
        "An evaluation batch of {batch_size} is smaller than the training batch of "
        "{train_batch_size}: evaluation keeps no activations, so at least that fits. Leave "
        "batch_size out to have it found."
    ),
    "evaluation.batch_out_of_memory": (
        "An evaluation batch of {size} does not fit in the memory of {device}: call evaluate() "
        "with a smaller batch_size."
    ),
    "evaluation.correct_not_a_metric": "correct={name!r} is not a metric: metrics() gives {known}.",
    "evaluation.counts_need_labels": (
        "Counts per class need both labels= and correct=, the metric's name."
    ),
    "evaluation.bad_predict_ids": (
        "predict_ids={ids}: name examples 0 .. {last} of the evaluation data, at least one and "
        "none twice."
    ),
    "evaluation.empty_shard": (
        "the ranks hold {sizes} examples of the evaluation set: with sharded=True every rank "
        "needs at least one."
    ),
    "evaluation.examples_not_counted_once": (
        "The sum of weights is {sum} and should be {expected}: {wrong_count} of {examples} "
        "examples were not counted once, the first is {wrong}. Is every process one of {world} "
        "with a separate rank, and are the weights the same everywhere?"
    ),
    "evaluation.label_shape": "labels of shape {shape} for {size} examples: give one per example.",
    "evaluation.metric_shape": (
        "metric {name!r} has shape {shape} and the weights have {weights}: metrics() must give "
        "one value per weight, not a mean (reduction='none') and without further dimensions "
        "(.squeeze(1))."
    ),
    "evaluation.metrics_changed": (
        "metrics() gave {found} after {known}: it must give the same names for every batch."
    ),
    "evaluation.no_labels": "A stratified sample is compared by class: give labels=.",
    "evaluation.no_weight": "The weights sum to {total}: no example counts.",
    "evaluation.predict_ids_alone": "predict_ids= needs predict=, which gives the predictions.",
    "evaluation.ranks_differ": (
        "The ranks evaluate {sizes} examples: every rank needs the same, not empty, data set; "
        "evaluate() shares it out itself. Where each rank holds its own part, give sharded=True."
    ),
    "evaluation.bad_reuse_size": "size={size!r}: a sample has at least 1 example.",
    "evaluation.reused": (
        "{selections} selections were made on {size} examples: confirm the choice on held-out "
        "examples."
    ),
    "evaluation.value_count": (
        "{values} values{labels} for a full set of {population}: give one per example of the "
        "full set."
    ),
    "evaluation.values_not_finite": (
        "Values that are not finite cannot be compared: look at those first."
    ),
    "evaluation.values_not_paired": (
        "Values of shapes {shape} and {shape_2}: both checkpoints need one value for each "
        "example of the same sample."
    ),
    "files.bad_size": "{path} has size {size!r}: a size is a whole number from 0.",
    "files.fewer_than_ranks": (
        "{files:count file} for {world} processes: some would have none. Write the data in more "
        "files, several per process."
    ),
    "files.twice": "{path} is listed twice: its examples would count twice.",
    "files.unreadable": "{path} cannot be read: {error}.",
    "fit.bad_configuration": "FitConfig: {problems}.",
    "fit.batch_not_divisible": (
        "batch_size={batch_size} cannot be cut into {world} process(es) x {accumulate} "
        "part(s): use a multiple of {parts}."
    ),
    "fit.keep_needs_folder": (
        "keep={metric!r} needs folder=, where the checkpoints are written: fit(..., keep=..., "
        'folder="checkpoints").'
    ),
    "fit.keep_needs_valid": "keep={metric!r} needs valid=, which evaluates that metric.",
    "fit.loss_shape": (
        "the loss has shape {shape} and the weights {weights}: with weights= the loss function "
        "gives one value per weight (reduction='none')."
    ),
    "fit.note.accumulation": (
        "accumulate={accumulate} simulates a larger batch without any gain in throughput: prefer a "
        "batch that fits, and accumulate only where one is wanted that does not (playbook, "
        "'Choosing the batch size')."
    ),
    "fit.note.batch_norm_apart": (
        "{layers:count batch norm layer} of {world} processes take statistics of {examples} "
        "examples each, so another number of processes trains another model. Layer norm does not "
        "depend on it; pipeline.convert_batch_norm(model, 64) or SyncBatchNorm fix the number of "
        "examples."
    ),
    "fit.note.batch_norm_few": (
        "{layers:count batch norm layer} take statistics of {examples:count example}, which are "
        "noisy below {fewest}. Layer norm or group norm do not depend on the batch size."
    ),
    "fit.note.not_captured": "not captured: {reason}.",
    "fit.note.other_schedule": (
        "resumed under another learning-rate schedule than it was started with."
    ),
    "fit.note.other_world": (
        "resumed with {world} process(es) instead of {before}: random numbers differ from an "
        "uninterrupted training."
    ),
    "fit.trace_folder": "trace={path}: its folder does not exist. Make it first.",
    "captured_step.bad_metrics": "metrics={metrics!r} must be different names, at least one.",
    "captured_step.bad_rows": "rows({step}, 1) must be a tuple of tensors with one row each.",
    "captured_step.count": "The update returned {count} values for metrics={metrics!r}.",
    "gradient.no_room": "length={length}: room for at least one step is needed.",
    "gradient.not_read": "{count} steps are recorded and not read: read() before step {step}.",
    "hosts.bad_batch": (
        "step {step}, batch of {batch_size}, data set of {size}: steps count updates from 1, "
        "and batch and data set have at least 1 example."
    ),
    "hosts.bad_rank": "Host(rank={rank}, world={world}): the rank must lie in 0 .. world - 1.",
    "hosts.batch_not_divisible": (
        "A batch of {batch_size} examples cannot be shared equally by {world} processes, and "
        "unequal shares would bias the gradient's mean: use {below}{above}."
    ),
    "hosts.not_started": (
        "WORLD_SIZE={launched}, but the process group is not initialised: call hosts.start() "
        "(or torch.distributed.init_process_group()) before the pipeline is used."
    ),
    "hosts.rank_zero_failed": "Work on rank 0 failed; its own log has the reason.",
    "metrics.correctness_not_binary": (
        "Counting needs 0 or 1 per example: name a metric such as accuracy."
    ),
    "metrics.correctness_shape": (
        "Correctness of shape {shape} for labels of shape {labels}: give one of each per example."
    ),
    "optimizer.nesterov_without_momentum": (
        "Nesterov(momentum=0) is plain gradient descent: use SGD()."
    ),
    "optimizer.no_parameters": "the model has no parameters to train.",
    "optimizer.not_a_number": "{kind}: {name}={value!r} is not a number.",
    "optimizer.out_of_limits": "{kind}: {name}={value!r} must be finite and {limit}.",
    "optimizer.unknown": "no optimizer is called {name!r}. {hint}",
    "optimizer.unknown_form": '{kind}: form={value!r} is neither "torch" nor "playbook".',
    "optimizer.unknown_hyperparameter": "{kind} has no hyperparameter {name!r}. {hint}",
    "precision.no_bf16": "{device} has no bf16: use fp16 or fp32.",
    "precision.unknown": "precision={precision!r}: there are {known}.",
    "predictions.bad_shape": (
        "predict() gave shape {shape} for {examples} examples: it must give one row per example."
    ),
    "random_state.numpy_generator": "numpy's global generator is {kind}; MT19937 was expected.",
    "random_state.other_device": (
        "the checkpoint's random states have {bytes} bytes, a process on {device} has {sizes}: "
        "it was written on another kind of device."
    ),
    "random_state.python_version": "Python's random state has version {version}; 3 was expected.",
    "ranks.batch_sizes_differ": (
        "The ranks hold {sizes} examples of one batch: shares must be equal."
    ),
    "ranks.examples_not_shared_out": (
        "The examples of this batch are not shared out: {reason}. Take hosts.batch_ids() with "
        "the same seed (seeds.order) on every rank."
    ),
    "ranks.files_differ": (
        "The ranks see different data files: {files} with {total} bytes in all, by rank. Wait "
        "until the files are complete everywhere; each rank must pass the same names and sizes."
    ),
    "ranks.parameter_counts_differ": (
        "The ranks hold {counts} parameters: they built different models."
    ),
    "ranks.parameters_differ": (
        "{count} of {parameters} parameters differ from rank 0: {names}{more}. Initialise with "
        "seeds.init on every rank, wrap with hosts.parallel(), and step the same optimizer."
    ),
    "ranks.same_batches": (
        "all {world} processes get the same batches from this loader, so they train as one. "
        "Give fit the dataset itself (it shares the examples out), or a DataLoader with "
        "sampler=DistributedSampler(dataset), or shard the stream by rank."
    ),
    "ranks.seeds_alike": "seeds.{name} must differ between ranks and is {values}.",
    "ranks.seeds_differ": "seeds.{name} must be alike on all ranks and is {values}.",
    "resume.data_position": (
        "after step {step} the checkpoint stands at {data}, but this training would stand at "
        "{position}: examples would be repeated or left out. Resume with the same batch size "
        "and seed, or start in another folder."
    ),
    "resume.not_of_fit": (
        "the saved state is not one of fit's: it belongs to another program, or to an earlier "
        "one of this folder. Give fit a separate folder."
    ),
    "resume.other_precision": (
        "the checkpoint was written {with_} {name}: resume with the same precision and "
        "average_decay."
    ),
    "resume.other_training": (
        "the checkpoint of step {step} was written by another training: {changed}. Resume with "
        "the same settings, or start in another folder."
    ),
    "throughput.bad_counts": "steps={steps}, windows={windows}: at least 1 of each is needed.",
}
