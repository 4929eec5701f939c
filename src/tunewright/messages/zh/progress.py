"""Chinese sentences shown while trials run, and of cards in a notebook."""

from __future__ import annotations

from tunewright.messages import Facts, Template, text, words
from tunewright.messages.zh.rounds import STATUSES

# ---- progress of training, patterns that read a program's lines, and why a round stops early


_SLOW = {
    "group": "重复的分组在一行上可能耗时极长；分组后面只能跟 ?",
    "any": ".* 出现得太多，在一行上可能耗时极长；请写出中间的内容",
}


def _who(number: int | None) -> str:
    return "一次重复" if number is None else f"试验 {number}"


def _hopeless(facts: Facts) -> str:
    reason = facts["reason"]
    cause = text(reason["code"], {name: fact for name, fact in reason.items() if name != "code"})
    if facts["mute"]:
        head = f"{_who(facts['trial'])}运行到结束却什么也没有记录，其他试验也就无法评判：{cause}"
    else:
        head = f"最初的 {facts['trials']} 次试验全部失败，最后一次：{cause}"
    return f"{head}。{facts['finishing']}；请修正程序，再运行一次"


def _not_restored(facts: Facts) -> str:
    return (
        f"{_who(facts['number'])}：有第 {facts['step']} 步的快照，但程序没有读取 run.restored："
        "它从第 0 步开始"
    )


def _own_process(facts: Facts) -> str:
    return f"{_who(facts['number'])}在自己的进程里训练，不在组里：{facts['reason']}"


_ENDED = {
    "finished": "所有试验都已结束",
    "interrupted": "已中断",
    "terminated": "被 SIGTERM 结束",
    "asked to stop": "按请求停止",
    "out of time": "到达时限",
    "budget spent": "预算已用完",
    "limit": "要求的试验次数已运行完",
    "all failed": "最初的试验全部失败",
    "no suggestion": "搜索没有更多建议",
    "error": "因错误结束",
}
_WHOLE = ("finished", "no suggestion")  # nothing is left to resume


def _ending(facts: Facts) -> str:
    if facts["stopped"]:
        return "除被请求停止的以外，所有试验都已结束"
    return _ENDED[facts["why"]]


def _ending_in_python(facts: Facts) -> str:
    """Why a call returned, and how to resume from Python."""
    if facts["why"] == "all failed":
        return f"{_ending(facts)}。请修正训练程序，然后以 retry_failed=True 再次调用"
    if facts["why"] in _WHOLE and not facts["stopped"]:
        return _ending(facts)
    return f"{_ending(facts)}。再次进行同样的调用即可恢复"


def _ending_at_a_shell(facts: Facts) -> str:
    """The same for a reader at a shell: the command that resumes."""
    command = f"tunewright run {words.shell_word(facts['round'])}"
    if facts["why"] == "all failed":
        return f"{_ending(facts)}。请修正训练程序，然后：{command} --retry-failed"
    if facts["why"] == "finished" and not facts["stopped"]:
        return "已完成"
    if facts["why"] in _WHOLE and not facts["stopped"]:
        return _ending(facts)
    return f"{_ending(facts)}；{command} 可恢复"


# ---- words of the cards that a notebook shows of a trial, a round, a launch and so on


def _findings(facts: Facts) -> str:
    named = {"warn": "条警告", "note": "条提示", "ok": "项正常", "cannot_judge": "项未判断"}
    parts = [f"{facts[kind]} {counted}" for kind, counted in named.items() if facts[kind]]
    return "，".join(parts) or "没有检查结论"


def _trial(facts: Facts) -> str:
    name = "重复" if facts["number"] is None else f"试验 {facts['number']}"
    value = "" if facts["value"] is None else f"，{words.number(facts['value'])}"
    step = "" if facts["step"] is None else f"，第 {facts['step']} 步"
    return f"{name}：{STATUSES.get(facts['status'], facts['status'])}{value}{step}"


def _results(facts: Facts) -> str:
    counts = "，".join(
        f"{n} 次{STATUSES.get(status, status)}" for status, n in facts["counts"].items()
    )
    return f"{words.count(facts['trials'], 'trial')}：{counts}" if counts else "还没有试验"


SENTENCES: dict[str, Template] = {
    # ---- progress
    "run.ended": _ending_in_python,
    "run.outcome": _ending_at_a_shell,
    "packed.own_process": _own_process,
    "progress.bad": 'progress={progress!r}：请给 "auto"、"off" 或一个 tw.progress.Watcher。',
    "progress.bad_variable": "{variable}={value}：请设为 off、plain 或 auto。",
    "round.hopeless": _hopeless,
    "run.not_restored": _not_restored,
    "read.not_table": "read：{value!r} 不是表；请写 [workload.read]，下面写 line = '...'。",
    "read.not_text": (
        "read：{pattern!r} 不是文本形式的正则表达式，例如 "
        r"'step (?P<step>\d+): val loss (?P<val_loss>\S+)'。"
    ),
    "read.not_regex": "read：{pattern!r} 不是正则表达式：{error}。",
    "read.no_group": (
        "read：{pattern!r} 没有命名分组；请给每个指标命名，例如 (?P<val_loss>\\S+)。"
    ),
    "read.step_alone": "read：{patterns:list} 没有指标；请加一个分组，例如 (?P<val_loss>\\S+)。",
    "read.slow": lambda facts: f"read：{facts['pattern']!r}：{_SLOW[facts['why']]}。",
    "read.too_many": "read：{count} 个模式；至多 {most} 个。",
    "read.bad_file": "read：file = {file!r} 不是试验文件夹之下的路径。",
    "read.unknown_kind": "read：file = {file!r}：结尾不在 {known:list} 之中。",
    "read.bad_step": "read：step = {step!r} 不是列名。",
    "read.bad_step_times": "read：step_times = {step_times!r} 不是大于零的整数。",
    "read.file_and_line": "read：line 与 file = {file!r} 不能并用：请保留一个。",
    "read.step_without_file": "read：有 {keys:list} 而没有 file；请写出含有它们的文件。",
    "read.without_command": (
        "read：只有命令行程序才读取输出行；函数请调用 run.log(step, metric=value)。"
    ),
    # ---- cards
    "card.findings": _findings,
    "card.fine": "{count} 项正常",
    "card.not_judged": "{count} 项未判断",
    "card.trial": _trial,
    "card.results": _results,
    "card.round": "{name}：{studies} 个研究，各 {trials} 次试验",
    "card.study": "{label}：{trials} 次试验",
    "card.variances": "{round} 中偶然因素使 {metric} 变动多少",
    "card.proposals": "下一步做什么，最有用的在前",
    "card.campaign": "{name}：{total} 次试验用了 {spent} 次，{rounds} 个轮次",
    "card.limits": "局限：{text}",
    "card.label.hyperparameter": "超参数",
    "card.label.role": "角色",
    "card.label.searched": "值或范围",
    "card.label.scientific": "科学",
    "card.label.nuisance": "冗余",
    "card.label.fixed": "固定",
    "card.label.conditional": "仅当 {condition}",
    "card.label.candidate": "候选",
    "card.label.baseline": "基线",
    "card.label.probability": "概率",
    "card.label.gain": "改进",
    "card.label.interval": "90 % 区间",
    "card.label.runs": "运行次数",
    "card.label.seconds": "时间",
    "card.label.seed": "种子",
    "card.label.attempts": "运行次数",
    "card.label.memory": "峰值内存",
    "card.label.source": "来源",
    "card.label.sd": "标准差",
    "card.label.how": "测量依据",
    "card.label.step": "步",
    "card.label.why": "原因",
    "card.label.round": "轮次",
    "card.label.what": "内容",
    "card.label.best": "最好",
    "card.label.study": "研究",
    "card.label.trial": "试验",
    "card.none_completed": "没有可用于{objective:objective} 的已完成试验",
}
