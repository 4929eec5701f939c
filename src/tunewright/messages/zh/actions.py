"""What each action does, in a few Chinese words; the command or the call stands beside it."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


def _run_trials(facts: Facts) -> str:
    per_study = facts["trials_per_study"]
    if per_study is None:
        return "运行剩下的试验"
    return f"运行更多试验，每个研究 {per_study} 次"


def _repeat(facts: Facts) -> str:
    which = "最好的试验" if facts["trial"] is None else f"试验 {facts['trial']}"
    return f"用 {facts['times']} 个新种子重新训练{which}"


def _next_round(facts: Facts) -> str:
    if facts["write"]:
        return "写出建议的轮次"
    return "看看下一轮次该问什么"


PROBES = {
    "warmup": "寻找学习率预热，最适合对付早期不稳定",
    "clip": "寻找梯度裁剪的阈值，对付早期和中期的不稳定",
    "stability": "更仔细地查看不稳定",
}
# what declaring something is good for, where it is not another name
PURPOSES = {
    "steps_per_epoch": "，以便把周期与 epoch 比较",
    "chance": "，即瞎猜时的损失，例如 log(类别数)",
}


def _probe(facts: Facts) -> str:
    return PROBES.get(facts["name"], f"探测 {facts['name']}")


def _declare(facts: Facts) -> str:
    return f"声明 {facts['name']}{PURPOSES.get(facts['name'], '，如果它另有名称')}"


def _declare_in_project(facts: Facts) -> str:
    setting = words.as_setting(facts["table"], facts["name"], facts["value"])
    return f"{_declare(facts)}：{setting}"


def _variance(facts: Facts) -> str:
    nouns = {"times": "次重复", "studies": "次搜索", "splits": "种数据划分"}
    counts = [f"{facts[name]} {noun}" for name, noun in nouns.items() if facts[name] is not None]
    return f"测量 {'和 '.join(counts)}的方差"


ACTIONS: dict[str, Template] = {
    "run_trials": _run_trials,
    "repeat": _repeat,
    "again": "用它自己的种子重新训练，再比较",
    "stop_round": "请正在运行它的进程停止",
    "remove_round": lambda facts: "恢复这个轮次" if facts["undo"] else "删除这个轮次；之后可以恢复",
    "run_round": "运行建议的轮次",
    "next_round": _next_round,
    "variance": _variance,
    "launch": "决定它是否成为基线",
    "extend": "训练更久：{max_train_steps} 步",
    "show_trial": "查看试验 {number}",
    "show_round": "查看轮次",
    "check": "阅读检查清单",
    "probe": _probe,
    "probe_longer": "从快照恢复最好的试验，训练更久",
    "report": "写报告",
    "export": "把所有试验写到 {path}",
    "declare": {"python": _declare, "shell": _declare_in_project},
    "note": "记下试验运行的是哪次提交",
    "search_range": "在 {range:range} 中搜索 {column}",
    "backup": "写备份",
    "fix_project_file": "修正 tunewright.toml",
    "fix_in": "在 {folder} 中修正",
    "edit_file": "编辑 {path}",
    "use_local_disk": "把存储库放到本地磁盘",
    "free_space": "腾出一些空间",
    "list_backups": "列出备份",
    "init": "在这里建立项目",
    "scan": "由程序建立项目；指标按程序输出的名称写",
    "new_round": "写轮次文件，给每个超参数一个范围或一个值",
    "tune": "在 {trials} 次训练的预算内搜索它的空间",
    # remedies that no command carries out
    "use_words": "{words:words}",
    "give_one": "给出其中一个",
    "list_more": "列出更多，或 {words:words}",
    "did_you_mean": "是不是想写 {name}？",
    "choose_among": "从 {names:list} 中选一个",
    "name_function": "写成 train.py:train，或 package.module:train",
    "name_measure": '在 tunewright.toml 中写 [workload] {key} = "{example}"，或用 --with {example}',
    "rename_file": "改名，例如 {name}",
    "check_name_and_folder": "检查名称，并在项目文件夹中运行",
    "find_store": {
        "python": "指定存储库，或在项目文件夹中运行",
        "shell": "进入项目文件夹，或用 --store 指定存储库；tunewright init 建立项目，"
        "tunewright demo 生成一个可供查看的存储库",
    },
    "plain_name": "使用字母、数字、- 和 _，例如 weight_decay",
    "edit_or_delete": "编辑它，或先删除它",
    "name_or_delete": "换一个名称，或删除那个文件",
    "back_up_server": "使用 pg_dump，或询问服务器管理员",
    "use_the_seed": "让程序使用它的种子（run.seeds、{{run.seed}}），或声明 deterministic = true",
    "train_as_long": "让所有设置训练同样多的步数",
    "connect_program": "要在这里运行，请建立项目（tunewright init），其程序接受 {names:list}，"
    "然后用 tunewright next 加 --write",
    "train_elsewhere": "用记录这些试验的工具继续训练，然后重新导入",
    "save_per_example": "把 per_example.npy 存到 run.folder：每个样本一个数",
}
