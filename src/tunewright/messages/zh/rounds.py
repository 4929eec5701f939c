"""Chinese sentences about one recorded trial or round: trained again, removed, renamed."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words

STATUSES = {
    "completed": "已完成",
    "infeasible": "不可行",
    "failed": "失败",
    "pruned": "已剪枝",
    "unmeasured": "未测量",
    "running": "运行中",
    "pending": "待运行",
}


def _which(facts: Facts) -> str:
    if facts["trial"] is None:
        return f"{facts['round']} 中的重复"
    return f"{facts['round']} 的试验 {facts['trial']}"


def _others(facts: Facts) -> str:
    if not facts["others"]:
        return ""
    return f"（其他不同的指标：{', '.join(facts['others'])}）"


def _equal(facts: Facts) -> str:
    if facts["value"] is None:
        status = STATUSES.get(facts["status"], facts["status"])
        return f"{_which(facts)} 已复现：仍是{status}{_others(facts)}"
    value = words.number(facts["value"])
    return f"{_which(facts)} 已复现：{facts['metric']} 仍是 {value}{_others(facts)}"


def _differs(facts: Facts) -> str:
    now, before = words.number(facts["value"]), words.number(facts["recorded"])
    by = words.number(facts["difference"])
    since = "" if facts["step"] is None else f"；曲线从第 {facts['step']} 步起不同"
    return (
        f"{_which(facts)} 结果不同：{facts['metric']} 现为 {now}，记录为 {before}，相差 {by}{since}"
    )


def _same_value(facts: Facts) -> str:
    return f"{_which(facts)} 的 {facts['metric']} 相同，过程不同：曲线从第 {facts['step']} 步起不同"


def _different_ending(facts: Facts) -> str:
    why = "" if facts["reason"] is None else f"（{sentence(facts['reason'])}）"
    now = STATUSES.get(facts["status"], facts["status"])
    before = STATUSES.get(facts["recorded_status"], facts["recorded_status"])
    return f"{_which(facts)} 结局不同：现在{now}{why}，记录为{before}"


def _not_removed(facts: Facts) -> str:
    known = ", ".join(facts["known"]) or "无"
    return f"没有删除过轮次 {facts['name']!r}。已删除的轮次：{known}。"


def _holds_for(facts: Facts) -> str:
    fixed = ", ".join(f"{name} = {value}" for name, value in facts["fixed"].items())
    under = " 且 ".join(f"{name} = {value}" for name, value in facts["when"].items())
    return f"适用于 {fixed}{f'，条件是 {under}' if under else ''}"


SENTENCES: dict[str, Template] = {
    # ---- rounds
    "remove.continued": "{round}：{rounds:list} 是它的后续，会失去它的试验。",
    "remove.has_replicates": "{round}：{rounds:list} 重复了它的搜索，会失去参照。",
    "remove.in_campaign": "{round} 是调优任务 {campaign} 的一步，删除后它就不知道试过什么。",
    "remove.launched": "{round}：{launches} 次上线决定依据它的试验；历史必须保留。",
    "remove.running": "{round} 正在运行：请先停止它。",
    "removed.not_found": _not_removed,
    "round.holds_for": _holds_for,
    "changed.value": "{what}：原为 {before}，现为 {after}",
    "changed.gone": "{what}：原为 {before}，现已去掉",
    "changed.new": "{what}：新增，{after}",
    "changed.order": "{what}：顺序原为 {before}，现为 {after}；顺序决定抽到哪些采样点",
    "changed.objective": (
        "目标：原为 {before}，现为 {after}。无需运行，"
        "load(store, name).with_objective(...) 就能重新评判已完成的试验"
    ),
    "rm.no_round": "请写出要删除的轮次。",
    "rename.name_taken": "存储库中已有轮次 {name!r}：请换一个名称。",
    "rename.in_campaign": "{round} 是调优任务 {campaign} 的一步，它按名称查找轮次。",
    "rename.same_name": "{name} 本来就是这个名称。",
    "trial.diff_cut": "……还有 {lines} 行：tunewright trial ROUND N --json",
    "again.equal": _equal,
    "again.differs": _differs,
    "again.same_value": _same_value,
    "again.ended_differently": _different_ending,
    "again.changed": "不是试验当时运行的代码：{files:list}",
    "again.code_unknown": "存储库没有记录试验运行了哪些文件",
    "again.resumed": "记录的试验用了 {attempts} 次运行：恢复过的训练可能有差别",
    "again.code_differs": (
        "{round} 的试验 {trial} 运行的是另外的代码：{files:list}。请检出那份代码，或仍然训练。"
    ),
    "again.folder_in_use": "{folder} 不是空的：请指定一个新文件夹。",
    "again.not_a_trial": "again({trial!r})：请给出一次试验，例如 results.best()。",
    "again.imported": "{round} 是导入的：它由别的工具训练，这里没有可用的程序。",
    "again.no_such_repeat": "{round} 的试验 {trial} 有 {there} 次重复，没有第 {repeat} 次。",
    # ---- goals
    "goal.clip": "梯度裁剪到 {norm:.3g} 时，学习率 {rate:.3g} 是否稳定？",
    "goal.critical_batch": "批量大小为 {batch_size}、全部重新调优时，到达目标需要多少步？",
    "goal.final": (
        "用训练集和验证集一起正式训练 {round} 的试验 {trial}：此后它的验证指标测的是训练数据。"
    ),
    "goal.imported": "从 {origin} 导入",
    "goal.longer": "训练稍长一些，结果是否更好？",
    "goal.measure": "一次训练需要多长时间？",
    "goal.prepended": "在前面加上预热后，整个训练是否更好？",
    "goal.replicate": "{round} 的结果有多少是噪声？同样的搜索，不同的采样点。",
    "goal.split": "{round} 的试验 {trial} 有多少取决于数据划分？",
    "goal.stability": "学习率高于 {rate:.3g} 到多少时训练不稳定？",
    "goal.train_steps": "最快的恒定学习率多快能完美拟合训练数据？",
    "goal.tune": "哪个配置最好？",
    "goal.warmup": "{warmup_steps} 步预热能否让学习率 {rate:.3g} 稳定？",
}
