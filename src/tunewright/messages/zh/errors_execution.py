"""Chinese sentences of the errors raised in `execution`."""

from __future__ import annotations

from tunewright.messages import Facts, Template


def _not_trainable(facts: Facts) -> str:
    train = facts["train"]
    wrong = f"train={train!r} 既不是函数也不是命令"
    if isinstance(train, str):
        return f"{wrong}：命令行请写作 tw.command({train!r})。"
    return f"{wrong}：请定义 train(run, learning_rate, ...)。"


def _bad_booleans(facts: Facts) -> str:
    where = "booleans" if facts["name"] is None else f"booleans {facts['name']}"
    return (
        f"{where}：{facts['spelling']!r} 没有写出真和假。请两个都写，例如 "
        '"true/false"、"True/False" 或 "1/0"；有则为真的标志写 "flag"。'
    )


SENTENCES: dict[str, Template] = {
    "join.not_a_round": "worker({round!r})：请写出存储库中的一个轮次，例如 'depth'。",
    "join.unknown_search": (
        "{round} 以搜索 {search!r} 开始，它不在 {known:list} 之中。请再次传入："
        "worker({round!r}, workload, search=...)。"
    ),
    "checkpoint.no_snapshot": (
        "试验 {trial} 没有快照：它的训练从未调用 run.save()。请在训练函数中保存，或从 "
        "checkpoint.folder 加载你自己的检查点。"
    ),
    "command.bad_booleans": _bad_booleans,
    "command.bad_defaults": "defaults={defaults!r}：应为超参数及其值的表。",
    "command.bad_braces": "{word!r}：{error}；普通花括号要写两次，{{{{ 或 }}}}。",
    "command.default_of_ours": "{word!r}：{{{field}}} 由每次试验填入；它不接受默认值。",
    "command.empty": "command('')：是空的；请写出程序及其参数。",
    "command.flag_without_name": (
        "booleans：{name} 是标志，所以前面要有标志名：--{name}={{{name}}}。"
    ),
    "command.field_with_format": (
        "{word!r}：字段不接受格式，否则程序训练所用的值会与记录的不同；请写 {{{field}}}。"
    ),
    "command.field_without_name": "{word!r}：请在花括号中写出超参数，例如 {{learning_rate}}。",
    "command.not_a_field": "{of}：命令没有字段 {{{name}}}。它有：{known:list}。",
    "command.no_such_program": "{program}：没有这个程序。请检查拼写、路径和执行权限。",
    "command.not_splittable": "command({template!r})：{error}；请像在 shell 中那样加引号。",
    "command.not_text": "command({template!r})：模板应为文本，例如 'train --lr={{lr}}'。",
    "command.overrides_not_alone": "{word!r}：{{overrides}} 会变成多个词，所以要单独写。",
    "command.shell": (
        "命令不经过 shell，所以 {found:list} 会成为程序的参数。如果确实要用 shell：{instead}"
    ),
    "command.two_defaults": (
        "{name} 有两个默认值：defaults 中是 {one!r}，模板中是 {other!r}。请保留一个。"
    ),
    "command.steps_unknown": (
        "{before}{{{field}}} 无法填入：不知道步数。请声明它的名称："
        "{declare.means.max_train_steps}。"
    ),
    "evaluate.not_callable": (
        "with_={with_!r} 既不是函数也不是命令：请定义 full(checkpoint) -> "
        '{{"full_valid_error": ...}}，或给 command("...")。'
    ),
    "evaluate.not_trials": "evaluate({trials!r})：请给一次或几次试验，例如 results.top(5)。",
    "evaluate.several_on_test": (
        "对 {trials} 次试验做 evaluate(test=True)：在测试集上从几个中选最好的，测试集就成了验证集。"
        "请先用验证集选定一个。"
    ),
    "executor.bad_count": "{name}={count!r} 不是至少为 1 的整数。",
    "packed.bad_trials": "trials={trials!r} 不是 1 至 {most} 的整数，也不是 None。",
    "packed.no_device": "Packed 需要 CUDA 设备，而 device={device!r} 不是。",
    "executor.bad_isolate": 'isolate={isolate!r}：请给 "auto"、"always" 或 "never"。',
    "executor.limit_not_positive": "{name}={limit!r} 不是正数；不设上限就不要给它。",
    "executor.too_few_devices": (
        "devices_per_trial={per_trial}，但只有 {count} 个设备（{devices:list}）："
        "请减小它，或指定更多设备。"
    ),
    "hyperparameter.reserved": (
        "{round}：{taken} 在这里不能作超参数：{why}。否则数据库会保存一个没有用于训练的值。"
        "请换一个名称。"
    ),
    "lease.bad_seconds": "{variable}={value}：不是至少 0.5 的秒数。",
    "log.bad_step": "{shown} 不是大于等于 0 的训练步数。",
    "process_group.rank_zero_refused": "rank 0 报告：{reason}",
    "slurm.bad_count": "{name}={count!r} 不是至少为 {least} 的整数。",
    "slurm.bad_word": "{name}={text!r} 是空的或含有空格；sbatch 只接受一个词。",
    "slurm.bad_line": "lines：{line!r} 是空的或多于一行；请每项给一行。",
    "slurm.no_commands": ("PATH 上找不到 {missing:list}。请在 Slurm 集群的登录节点上运行。"),
    "slurm.refused": (
        "Slurm 拒绝了作业：{reason}。请改正分区、时间、账户或附加的行；`sinfo` 列出分区。"
    ),
    "ray.bad_workers": "workers={workers!r} 不是至少为 1 的整数。",
    "ray.client_address": (
        "address={address!r}：经 Ray 客户端连接时，试验会随连接结束。请在集群的一台机器上给出集群"
        "本身的地址（host:6379），或把本程序作为作业提交。"
    ),
    "ray.grows_without_workers": "grows=True：请给出最多同时运行的试验数（workers=）。",
    "ray.no_cluster": (
        "无法加入 {place} 的 Ray 集群：{reason}。请启动一个（`ray start --head`）或给出地址；"
        "`ray stop` 清除崩溃的集群。"
    ),
    "ray.no_trial_begun": (
        "无法在 Ray 集群上开始试验：{reason}。每个节点的 Python、Ray 和 tunewright 都要与本进程"
        "相同。"
    ),
    "ray.other_version": (
        "节点 {host} 的 tunewright 是 {version}，本进程是 {own}：请在所有节点安装同一版本。"
    ),
    "ray.runtime_env_too_late": ("本程序已在使用 Ray：请把 runtime_env 给它的 ray.init()。"),
    "ray.silent": (
        "Ray 集群已 {silent_s:.0f} 秒没有响应：它的头节点可能已消失。运行中的试验回到待运行状态；"
        "有了集群后再运行一次。"
    ),
    "repeat.bad_times": "times={times!r} 不是至少为 1 的整数。",
    "repeat.no_configuration": "试验 {trial} 还没有配置：没有可做的。",
    "repeat.no_seed": (
        "{template}：程序得不到种子，所以每次重复都是同一次运行。请在命令中加上 "
        "--seed={{run.seed}}（或 {{config}}），并让程序使用它。"
    ),
    "repeat.not_a_trial": "repeat({trial!r})：请给一次试验，例如 results.best()。",
    "repeat.of_a_repeat": "这次试验本身是试验 {parent} 的重复：请重复那一次。",
    "repeat.trial_not_found": (
        "{url} 中没有试验 {trial}：请用运行它的轮次时的训练程序（和存储库）来重复。"
    ),
    "repeat.unknown_hyperparameter": "试验 {trial} 有 {name}，而 {workload} 不接受它。{hint}",
    "resources.bad_amount": "resources：{name}={amount!r} 不是大于等于 0 的数。",
    "resources.bad_name": "resources：{name!r} 不是资源的名称。",
    "resources.misspelt": "resources：{name!r} 应写作 {right!r}。",
    "resources.part_of_gpus": "resources：GPU={amount!r}：多于一块 GPU 时必须是整数。",
    "run.bad_best": "run.save(best={best!r})：要保留的最好个数应为从 1 起的整数。",
    "run.bad_max_hours": "max_hours={max_hours!r}：请给出小时数，例如 0.5。",
    "run.bad_trials": "trials={trials!r}：请给出至多运行的试验数，从 1 起。",
    "run.in_child_process": (
        "在子进程中使用了 Run：只有收到它的进程才能记录和保存。请把数字传回那个进程。"
    ),
    "run.not_a_round": "tw.run() 的第一个参数应为 Round，得到的是 {round!r}。",
    "run.not_picklable": (
        "Run 不能传给另一个进程：只有收到它的进程才能记录和保存。请传所需的内容，例如 run.seeds 或 "
        "run.folder。"
    ),
    "run.restored_too_late": (
        "run.restored 在第一步之后才首次读取，训练已从第 0 步开始：请在 run.steps() 和 run.log() "
        "之前读取。"
    ),
    "applied.not_a_mapping": (
        "run.applied() 需要名称和值，得到的是 {value!r}：run.applied(lr=0.1)。"
    ),
    "hydra.no_sweep": "{arguments:list} 没有可搜索的：请给一个范围，例如 lr=log(1e-4,1)。",
    "integration.missing": (
        "没有安装 {package}：pip install {package}，或安装附加项 integrations。"
    ),
    "run.bad_environment": (
        "环境变量 {name} 描述的不是一次试验（{error}）：不要改它，单独运行程序时请取消它。"
    ),
    "run.resumed_at_too_late": (
        "run.resumed_at({step}) 在第一步之后才调用；请在 run.steps()、run.log() 之前调用。"
    ),
    "run.steps_unknown": (
        "不知道训练步数，因为没有 {name}：请调用 run.steps(max_train_steps)，或说明哪个超参数是"
        "步数，{declare.means.max_train_steps}。"
    ),
    "session.bad_count": "ask({count!r})：请给出试验数，从 1 起。",
    "session.closed": "这个会话已关闭：要继续请求，请重新打开轮次。",
    "session.configuration_ambiguous": (
        "add({configuration}) 属于 {labels} 中的 {count} 个研究：请写出它的科学超参数。"
    ),
    "session.end_not_recorded": "无法记录试验 {trial} 的结果：{error} 它保存在{kept}。",
    "session.no_folder": "这个会话没有试验文件夹：请给一个，open_round(..., folder=...)。",
    "session.rank_has_no_store": "rank {rank} 没有存储库：只有 rank 0 读写。",
    "store.gave_up": "尝试了 {minutes:.0f} 分钟仍未成功：{error}",
    "store.unreachable": (
        "已有 {minutes:.0f} 分钟无法访问存储库：{error} 已结束的保存在试验文件夹中，再次运行轮次时"
        "会收回。"
    ),
    "trial.already_ended": "试验 {trial} 已是 {status}：不能再对它 {verb}。",
    "workload.bad_eval_every": "eval_every={eval_every!r}：请给出步数，从 1 起。",
    "workload.bad_objective": "目标 {objective!r}：请给 minimize(metric) 或 maximize(metric)。",
    "workload.folder_deleted": "工作文件夹已被删除：请进入一个存在的文件夹，重新开始",
    "workload.no_handle": (
        "{function} 没有句柄参数：它的第一个参数接收 Run，例如 def "
        "{function}(run, learning_rate): ..."
    ),
    "workload.not_sendable": (
        "{name}（{kind}）不能传给工作进程，而 {function} 用到它（{reason}）：请在训练函数内创建，"
        "或放到它导入的模块中"
    ),
    "workload.not_trainable": _not_trainable,
    "workload.positional_only": (
        "{function} 只按位置接受 {parameter}，而超参数是按名称给的：请把它移到签名中 / 的后面。"
    ),
    "workload.signature_unreadable": (
        "无法读取 {train!r} 的参数（{error}）：请用一个以超参数为参数的函数包装它。"
    ),
    "workload.too_large": (
        "{name}（{kind}）大于 {largest} MB，{function} 会把它带给每个工作进程：请在训练函数内加载，"
        "或放到它导入的模块中"
    ),
}
