"""Chinese sentences of the errors raised in `pipeline`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "averages.bad_decay": "decay={decay}：应满足 0 <= decay < 1；常用 0.999。",
    "averages.no_batches": "recompute_batch_norm() 没有得到批：请给它 200 个训练批。",
    "averages.other_model": "平均值属于另一个模型：{differences}。请用被训练的模型创建 Averages。",
    "batch_norm.bad_choice": "{name}={value!r}：请用 {allowed!r} 或 {allowed_2!r}。",
    "batch_norm.bad_micro_batches": "micro_batches={micro_batches}：一步至少有一次前向。",
    "batch_norm.bad_shape": (
        "GhostBatchNorm({num_features}) 得到形状为 {shape} 的批：它接受（样本数, {num_features}, ...）。"
    ),
    "batch_norm.lazy": "延迟初始化的 batch norm 还没有形状：请先运行一次前向。",
    "batch_norm.no_rank_group": (
        "每个进程 {examples} 个样本的批小于 virtual_batch_size={virtual_batch_size}，而 {world} "
        "个进程无法分成合计 {virtual_batch_size} 个样本的组：请设 virtual_batch_size={examples} "
        "或其进程容得下的倍数，用更大的批（梯度累积时：更大的微批次），或 strict=False。"
    ),
    "batch_norm.no_running_statistics": (
        "{model} 不保存滑动统计量，评估结果取决于批：创建时请用 track_running_stats=True。"
    ),
    "batch_norm.not_divisible": (
        "{examples} 个样本的批不能切成 {virtual_batch_size} 个样本的虚拟批：请用 "
        "{virtual_batch_size} 的倍数、另一个 virtual_batch_size，或 strict=False（各组 {sizes}）。"
    ),
    "batch_norm.virtual_batch_too_small": (
        "virtual_batch_size={virtual_batch_size}：统计量至少需要 2 个样本。"
    ),
    "batches.bad_weights": "权重应为有限的非负数；0 表示不计入该样本。",
    "batches.not_divisible": (
        "{size} 个样本的批不能等分为 {parts} 份：（每个进程的）批量大小应为 accumulate 的倍数。"
    ),
    "batches.not_repeatable": (
        "{loader} 再次遍历时没有给出批：请给每一轮都能重新遍历的加载器，或以步为参数的函数。"
    ),
    "batches.prefetch_draws": (
        "prefetch= 会在训练之前准备批，而准备时从 {generators:list} 的全局随机数生成器取数，训练也从中"
        "取数：恢复时无法重现。请给数据自己的生成器"
        "（DataLoader(generator=torch.Generator())），或去掉 prefetch。"
    ),
    "batches.prefetch_needs_workers": (
        "prefetch={prefetch} 用于 map 式数据集时需要 FitConfig(workers=1) 或更多："
        "它的随机数不能与训练的混在一起。"
    ),
    "batches.weight_count": "{size} 个样本有 {weights} 个权重：请每个样本给一个。",
    "batches.weights_need_numbers": (
        "weights= 需要样本有编号的数据（张量或 map 式数据集）；这里请把权重放进批，在损失函数中使用。"
    ),
    "captured_step.bad_metrics": "metrics={metrics!r} 应为互不相同的名称，至少一个。",
    "captured_step.bad_rows": "rows({step}, 1) 应为张量的元组，每个张量一行。",
    "captured_step.count": "metrics={metrics!r}，而更新函数返回了 {count} 个值。",
    "checkpoints.keep_nothing": (
        "Keep(best={best}, latest={latest})：什么也不会保留。请像默认值那样保留最好的 3 个和最近的 1 个。"
    ),
    "checkpoints.metric_not_evaluated": (
        "选择所用的指标 {metric!r} 在第 {step} 步没有评估：现有 {known}。"
        "请在 Keep(metric=...) 中给出其一。"
    ),
    "checkpoints.no_finite_metric": (
        "{folder} 中没有一步的 {metric!r} 是有限值：已评估的有 {known}。"
    ),
    "confidence.bad_level": "level={level}：置信水平在 0 与 1 之间，例如 0.95。",
    "confidence.bad_proportion": (
        "{total} 个中的 {correct} 个：区间要求 0 <= correct <= total，total > 0。"
    ),
    "confidence.cluster_count": "{values} 个值有 {clusters} 个簇：请每个值给一个。",
    "confidence.too_few_values": "{independent} 个独立的值：均值的区间至少需要 2 个。",
    "confidence.unequal_columns": "各列有 {sizes} 个样本：请给等长的列。",
    "data.not_indexable": (
        "{kind} 没有长度，也不支持 [i]：请给 map 式数据集、张量，或张量的元组或字典，"
        "以便每个样本只计一次。"
    ),
    "data.unequal_parts": "数据的各部分有 {sizes} 个样本：第一维应相同。",
    "evaluation.bad_batch_size": "batch_size={batch_size}：一个批至少有 1 个样本。",
    "evaluation.bad_sample_ids": (
        "{population} 个样本的抽样需要编号 0 .. {last}，至少一个，且不重复。"
    ),
    "evaluation.bad_sample_size": "不能从 {population} 个样本中抽取 {size} 个。",
    "evaluation.batch_below_training": (
        "评估批量 {batch_size} 小于训练批量 {train_batch_size}：评估不保存激活值，至少那么大放得下。"
        "去掉 batch_size 即可自动求得。"
    ),
    "evaluation.batch_out_of_memory": (
        "评估批量 {size} 在 {device} 的内存中放不下：请以更小的 batch_size 调用 evaluate()。"
    ),
    "evaluation.correct_not_a_metric": "correct={name!r} 不是指标：metrics() 给出 {known}。",
    "evaluation.counts_need_labels": "按类别计数需要 labels= 以及 correct=（指标名称）。",
    "evaluation.bad_predict_ids": (
        "predict_ids={ids}：请给评估数据的样本编号 0 .. {last}，至少一个，且不重复。"
    ),
    "evaluation.empty_shard": (
        "各进程持有评估集的 {sizes} 个样本：用 sharded=True 时每个进程至少需要一个。"
    ),
    "evaluation.examples_not_counted_once": (
        "权重之和为 {sum}，应为 {expected}：{examples} 个样本中有 {wrong_count} 个没有恰好计一次，"
        "第一个是 {wrong}。每个进程都是 {world} 个之一且 rank 各不相同吗？各处的权重相同吗？"
    ),
    "evaluation.label_shape": "{size} 个样本的标签形状为 {shape}：请每个样本给一个。",
    "evaluation.metric_shape": (
        "指标 {name!r} 的形状为 {shape}，权重的形状为 {weights}：metrics() 应为每个权重给一个值，"
        "而不是均值（reduction='none'），且没有多余的维（.squeeze(1)）。"
    ),
    "evaluation.metrics_changed": (
        "metrics() 先给出 {known}，后给出 {found}：每个批都应给出同样的名称。"
    ),
    "evaluation.no_labels": "分层抽样按类别比较：请给 labels=。",
    "evaluation.no_weight": "权重之和为 {total}：没有样本计入。",
    "evaluation.predict_ids_alone": "predict_ids= 需要 predict=，由它给出预测。",
    "evaluation.ranks_differ": (
        "各进程评估 {sizes} 个样本：每个进程都需要同一个非空数据集；evaluate() 自己会分配。"
        "若每个进程各持一部分，请用 sharded=True。"
    ),
    "evaluation.bad_reuse_size": "size={size!r}：抽样至少有 1 个样本。",
    "evaluation.reused": ("在 {size} 个样本上已做过 {selections} 次选择：请在留出的样本上确认。"),
    "evaluation.value_count": (
        "{population} 个样本的全集有 {values} 个值{labels}：请为全集的每个样本给一个。"
    ),
    "evaluation.values_not_finite": "非有限值无法比较：请先看这些值。",
    "evaluation.values_not_paired": (
        "值的形状为 {shape} 和 {shape_2}：两个检查点都需要同一抽样中每个样本的一个值。"
    ),
    "files.bad_size": "{path} 的大小为 {size!r}：应为从 0 起的整数。",
    "files.fewer_than_ranks": (
        "{world} 个进程只有 {files} 个文件：有的会一个也没有。请把数据写成更多文件，每个进程几个。"
    ),
    "files.twice": "{path} 列出了两次：它的样本会计两次。",
    "files.unreadable": "{path} 无法读取：{error}。",
    "fit.bad_configuration": "FitConfig 有误：{problems}。",
    "fit.batch_not_divisible": (
        "batch_size={batch_size} 不能分给 {world} 个进程 x {accumulate} 份：请用 {parts} 的倍数。"
    ),
    "fit.keep_needs_folder": (
        'keep={metric!r} 需要 folder=，检查点写在那里：fit(..., keep=..., folder="checkpoints")。'
    ),
    "fit.keep_needs_valid": "keep={metric!r} 需要 valid=，由它评估该指标。",
    "fit.loss_shape": (
        "损失的形状为 {shape}，权重的形状为 {weights}：用 weights= 时，损失函数应为每个权重给一个值"
        "（reduction='none'）。"
    ),
    "fit.note.accumulation": (
        "accumulate={accumulate} 只是模拟更大的批，不提高吞吐量：优先用放得下的批，只有需要的批放不下"
        "时才累积（调优手册，选择批量大小一节）。"
    ),
    "fit.note.batch_norm_apart": (
        "{world} 个进程的 {layers} 个 batch norm 层各用 {examples} 个样本的统计量，因此进程数不同，"
        "训练出的模型也不同。layer norm 不受此影响；pipeline.convert_batch_norm(model, 64) 或 "
        "SyncBatchNorm 可固定样本数。"
    ),
    "fit.note.batch_norm_few": (
        "{layers} 个 batch norm 层用 {examples} 个样本的统计量，少于 {fewest} 个时噪声大。"
        "layer norm 和 group norm 不依赖批量大小。"
    ),
    "fit.note.not_captured": "没有捕获：{reason}。",
    "fit.note.other_schedule": "恢复时的学习率调度与开始时不同。",
    "fit.note.other_world": ("以 {world} 个进程而不是 {before} 个恢复：随机数与不中断的训练不同。"),
    "fit.trace_folder": "trace={path}：它的文件夹不存在。请先创建。",
    "gradient.no_room": "length={length}：至少要容得下一步。",
    "gradient.not_read": "{count} 步已记录而未读取：请在第 {step} 步之前 read()。",
    "hosts.bad_batch": (
        "第 {step} 步，批量 {batch_size}，数据集 {size}：步从 1 起数，批和数据集至少有 1 个样本。"
    ),
    "hosts.bad_rank": "Host(rank={rank}, world={world})：rank 应在 0 .. world - 1 之内。",
    "hosts.batch_not_divisible": (
        "{batch_size} 个样本的批不能由 {world} 个进程平分，而不均分会使梯度均值有偏：请用 "
        "{below}{above}。"
    ),
    "hosts.not_started": (
        "WORLD_SIZE={launched}，但进程组没有初始化：请在使用 pipeline 之前调用 hosts.start()"
        "（或 torch.distributed.init_process_group()）。"
    ),
    "hosts.rank_zero_failed": "rank 0 上的工作失败；原因在它自己的日志里。",
    "metrics.correctness_not_binary": "计数要求每个样本为 0 或 1：请给出 accuracy 之类的指标。",
    "metrics.correctness_shape": (
        "正确与否的形状为 {shape}，标签的形状为 {labels}：请每个样本各给一个。"
    ),
    "optimizer.nesterov_without_momentum": "Nesterov(momentum=0) 就是普通梯度下降：请用 SGD()。",
    "optimizer.no_parameters": "模型没有可训练的参数。",
    "optimizer.not_a_number": "{kind}：{name}={value!r} 不是数字。",
    "optimizer.out_of_limits": "{kind}：{name}={value!r} 应为有限数且 {limit}。",
    "optimizer.unknown": "没有名为 {name!r} 的优化器。{hint}",
    "optimizer.unknown_form": '{kind}：form={value!r} 既不是 "torch" 也不是 "playbook"。',
    "optimizer.unknown_hyperparameter": "{kind} 没有超参数 {name!r}。{hint}",
    "precision.no_bf16": "{device} 不支持 bf16：请用 fp16 或 fp32。",
    "precision.unknown": "precision={precision!r}：可用的有 {known}。",
    "predictions.bad_shape": ("predict() 对 {examples} 个样本给出形状 {shape}：应为每个样本一行。"),
    "random_state.numpy_generator": "numpy 的全局生成器是 {kind}；应为 MT19937。",
    "random_state.other_device": (
        "检查点的随机状态有 {bytes} 字节，而 {device} 上的进程有 {sizes}：它写于另一种设备。"
    ),
    "random_state.python_version": "Python 的随机状态版本为 {version}；应为 3。",
    "ranks.batch_sizes_differ": "各进程持有同一个批的 {sizes} 个样本：份额应相等。",
    "ranks.examples_not_shared_out": (
        "这个批的样本没有分配好：{reason}。请在每个进程上用同一个种子（seeds.order）取 "
        "hosts.batch_ids()。"
    ),
    "ranks.files_differ": (
        "各进程看到的数据文件不同：按 rank 依次为 {files} 个，共 {total} 字节。"
        "请等各处的文件都完整；每个进程应给出相同的名称和大小。"
    ),
    "ranks.parameter_counts_differ": "各进程持有 {counts} 个参数：它们构建的模型不同。",
    "ranks.parameters_differ": (
        "{parameters} 个参数中有 {count} 个与 rank 0 不同：{names}{more}。请在每个进程用 seeds.init "
        "初始化，用 hosts.parallel() 包装，并使用同样的优化器。"
    ),
    "ranks.same_batches": (
        "{world} 个进程从这个加载器得到同样的批，等于只训练一个。请把数据集本身给 fit（由它分配样本），"
        "或给带 sampler=DistributedSampler(dataset) 的 DataLoader，或按 rank 切分数据流。"
    ),
    "ranks.seeds_alike": "seeds.{name} 在各进程上应不同，现在是 {values}。",
    "ranks.seeds_differ": "seeds.{name} 在所有进程上应相同，现在是 {values}。",
    "resume.data_position": (
        "第 {step} 步之后检查点位于 {data}，而这次训练会位于 {position}：样本会重复或遗漏。"
        "请用相同的批量大小和种子恢复，或换一个文件夹开始。"
    ),
    "resume.not_of_fit": (
        "保存的状态不是 fit 的：它属于另一个程序，或这个文件夹里较早的程序。请给 fit 单独的文件夹。"
    ),
    "resume.other_precision": ("检查点写入时{with_} {name}：请用相同的精度和 average_decay 恢复。"),
    "resume.other_training": (
        "第 {step} 步的检查点由另一次训练写入：{changed}。请用相同的设置恢复，或换一个文件夹开始。"
    ),
    "throughput.bad_counts": "steps={steps}，windows={windows}：各至少为 1。",
}
