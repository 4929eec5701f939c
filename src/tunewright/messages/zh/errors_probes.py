"""Chinese sentences of the errors raised in `probes`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "cost.bad_critical_batch_size": (
        "Cost(critical_batch_size={critical_batch_size})：至少 1 个样本。"
    ),
    "cost.bad_price": "Cost({name}={price!r})：价格应大于等于 0。",
    "cost.bad_steps": ("Cost(steps={steps!r})：应为批量大小及其步数，例如 {{128: 50_000}}。"),
    "critical_batch.bad_sizes": "batch_sizes={batch_sizes!r}：应为两个或更多整数，从 1 起。",
    "critical_batch.epochs": (
        "{name} 按 epoch 计：较大的批量步数更少，单凭这一点就会显得更差。请让程序接受步数，"
        "并声明它的名称：{declare.means.max_train_steps}。"
    ),
    "critical_batch.no_steps": "max_train_steps={max_train_steps!r}：请给出每次试验的步数。",
    "critical_batch.same_examples": (
        "max_train_steps：每个批量大小看到同样多的样本，那是按 epoch 的预算。"
        "请让较大的批量与最小的步数相同，或给它们所需的步数。"
    ),
    "critical_batch.unknown_hyperparameter": (
        "{name}：训练程序不接受这个超参数。若它另有名称，请声明：{meaning:means}。"
    ),
    "longer.bad_share": "share={share!r}：应为长度的比例，例如 0.25；至多 4。",
    "longer.bad_times": "times={times!r}：每个长度 2 至 20 个种子。",
    "longer.does_not_restore": (
        "{workload} 从不读取 run.restored，所以会从第 0 步而不是快照开始。请恢复 run.save 保存的内容，"
        "或从头训练更久：extend。"
    ),
    "longer.no_snapshot": (
        "{round} 的试验 {trial} 没有完好的快照。请在程序中调用 run.save(state)；"
        "或从头训练更久：extend。"
    ),
    "input_bound.bad_workers": "workers={ladder}：加载器的工作进程数应大于等于 0。",
    "input_bound.command": (
        "从外部看不到命令（{subject}）的批次：请用 Python 写一个产生训练步的工厂 {example}，"
        "再探测它。"
    ),
    "input_bound.no_batch_size": (
        "batch_size={batch_size}：请给出观察 {subject} 所用的批量大小，例如 probes.batch_size 的结果。"
    ),
    "input_bound.out_of_memory": (
        "{subject} 在批量大小 {size} 时内存不足（{error}）：请给更小的 batch_size，"
        "或用 probes.batch_size 查明哪些放得下。"
    ),
    "input_bound.trace_folder": "trace={path}：它的文件夹不存在。请先建立。",
    "input_bound.too_few_steps": "steps={steps}：至少需要 {fewest}，要有结论需要 200。",
    "noise_scale.bad_sizes": "small={small}，big={big}：应为两个批量大小，小的在前。",
    "noise_scale.no_finite_norm": "没有有限的梯度范数：请在裁剪之前、未缩放时测量。",
    "noise_scale.not_logged": (
        "试验 {trial} 从未记录 {missing}。请在记录整批梯度范数的同时记录一个微批次的梯度范数；"
        "probes.noise_scale.squared_norms() 可计算两者。"
    ),
    "noise_scale.too_few_micro_batches": "{count} 个微批次：至少需要两个才能区分噪声与信号。",
    "noise_scale.unequal_norms": "{small} 个小批量和 {big} 个大批量的范数：每步应各有一个。",
    "probe.bad_factors": "factors={factors!r}：应为大于 0 的数，例如 (1, 2, 5, 10)。",
    "probe.bad_repeats": "repeats={repeats!r}：请给出种子数，0 表示不比较。",
    "probe.bad_steps": "steps={steps!r}：请给出每次运行的步数，例如 500。",
    "probe.bad_times": "times={times!r}：应为大于 1 的数，例如 (10, 3)。",
    "probe.not_a_trial": "trial={trial}：请给出试验本身，例如 results.trial({trial})。",
    "probe.rate_not_searched": (
        "nuisance：没有搜索 {rate}，但它的最好值随批量大小而变。请给它一个范围，例如 "
        "{rate}=log(1e-4, 1.0)，优化器的其他超参数也一样。"
    ),
    "probe.run_failed": (
        "{round} 的试验 {trial} 失败：{reason}。请修正训练程序；`tunewright trial "
        "{round} {trial}` 显示更多。"
    ),
    "probe.unknown_fixed": "fixed {name}：训练程序不接受这个名称。{hint}",
    "throughput.bad_memory_limit": "memory_gb={memory_gb}：上限应大于 0。",
    "throughput.bad_size": "批量大小 {size}：应大于等于 1。",
    "throughput.bad_windows": "{what}：窗口要有一定时长，至少需要 3 个窗口和 1 个预热步。",
    "throughput.cannot_step": "{subject} {verb} {about}：{error}{place}。",
    "throughput.factory_lacks": (
        "{shown} 还需要 {lacking:list}：请给它们默认值，或 fixed={{{first!r}: ...}}。"
    ),
    "throughput.hangs": (
        "{subject} {about}在 {patience_s:.0f} 秒内没有响应：它挂起了，或一步耗时很长"
        "（patience_s= 可延长等待）。"
    ),
    "throughput.largest_below_smallest": "largest={largest} 小于 smallest={smallest}。",
    "throughput.longest_does_not_fit": (
        "{subject} 用 {longest} 时完全放不下：批量大小 {smallest} 内存不足（{error}）。"
    ),
    "throughput.no_batch_size_argument": (
        "{shown}({names:list}) 不接受 batch_size：{example}，其中 step() 用那么多样本做完整的一步"
        "训练。"
    ),
    "throughput.no_process": "processes={processes}：至少一个进程训练。",
    "throughput.not_a_subject": "{given!r} 既不是训练程序也不是产生训练步的函数：{example}。",
    "throughput.nothing_fits": (
        "{subject} 完全放不下：批量大小 {smallest} 内存不足（{error}）。"
        "请试更小的模型、更低的精度或更多内存。"
    ),
    "throughput.nothing_timed": (
        "{subject} 没有一个批量大小能计时：{smallest} 在几步之后内存不足。"
        "请试更小的模型、更低的精度或更多内存。"
    ),
    "throughput.process_ended": "{subject} 的进程以状态 {status} 结束{detail}",
    "throughput.processes_of_command": (
        "processes={processes}：命令自己启动进程，例如在模板中写 torchrun "
        "--nproc-per-node={processes}；processes 请保持 1。"
    ),
    "throughput.signature_unreadable": (
        "无法读取 {shown} 的参数（{error}）：请包装它，{example}。"
    ),
    "throughput.step_does_nothing": (
        "一步只用 {microseconds:.2g} 微秒，等于什么也没做：make_step(batch_size) 返回的函数每次调用"
        "都必须做完整的一步训练（前向、反向、更新）。"
    ),
    "throughput.training_function": (
        "{shown}({names:list}) 是训练函数：请探测它所属的 Workload({shown}, minimize(...))，"
        "或写一个产生训练步的工厂，{example}。"
    ),
    "throughput.under_torchrun": (
        "WORLD_SIZE={processes}：请从单个进程调用探测，不要用 torchrun；"
        "给 processes={processes}，它会自己启动。"
    ),
    "throughput.uneven_size": (
        "批量大小 {size} 不能由 {processes} 个进程平分：大小按全部进程的样本数计。"
    ),
    "throughput.workload_lacks": (
        "{shown} 还需要 {lacking:list}：任何常用值都可以，fixed={{{first!r}: ...}}"
        "（命令行用 --set {first}=...）。"
    ),
    "throughput.workload_without_batch_size": (
        "{shown} 不接受 {name}：请声明哪个参数是批量大小，{declare.means.batch_size:{which}}。"
    ),
    "train_steps.bad_factor": "factor={factor!r}：从 1（即测量值）到 10；通常 1.5 至 2。",
    "train_steps.bad_learning_rate": (
        "learning_rate={learning_rate!r}：应为大于 0 的数，在它附近扫描。"
    ),
    "train_steps.bad_max_train_steps": (
        "max_train_steps={max_train_steps!r}：应为整数步数，从 2 起。"
    ),
    "train_steps.limit_without_metric": (
        'at_most 或 at_least 针对哪个指标？请给 metric="train_loss"，at_most=..'
    ),
    "train_steps.two_limits": "at_most 与 at_least：完美拟合只用其中之一。",
}
