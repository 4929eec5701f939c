"""Findings about values that a program may not have used, in Chinese."""

from __future__ import annotations

from collections.abc import Callable

from tunewright.messages import Facts, Template, words

MOST_SHOWN = 3  # of several alike
LONGEST_NAME = 30  # characters of a name in a headline

HEADLINES: dict[str, str] = {
    "echo": "程序报告的 {name} 与给定的不同",
    "ranks": "同一试验的各进程使用了不同的 {name}",
    "scaled": "程序给 {name} 乘了同一个系数",
    "curves": "{name} 什么也没改变：曲线逐位相同",
    "rate": "记录的学习率没有跟随 {name}",
    "no_decay": "无论 {name} 是什么，学习率都不变",
    "decays": "{name} 是常数，学习率却在衰减",
    "no_warmup": "学习率从峰值开始：{name} 没有生效",
    "unknown_option": "程序丢弃 {option}：{name} 没有生效",
    "unread_option": "程序从不读取 {option}：{name} 没有生效",
}


def applied(verdict: str, facts: Facts) -> list[str]:
    """Were the values really applied?"""
    if verdict == "ok":
        return _fine(facts)
    doubts = facts["doubts"]
    first = doubts[0]
    name = first["name"]
    short = name if len(name) <= LONGEST_NAME and " " not in name else "某个超参数"
    option = first["option"] if " " not in first["option"] else "某个选项"
    headline = HEADLINES[first["kind"]].format(name=short, option=option)
    return [headline, *(_evidence(doubt) for doubt in doubts)]


def _fine(facts: Facts) -> list[str]:
    """What was looked at, where nothing casts doubt."""
    confirmed = facts["confirmed"]
    parts = {
        "报告了所用的值": facts["echoed"],
        "记录了学习率": facts["rates"],
        "在源码中查对了选项": facts["options"],
        "比较了曲线": facts["curves"],
    }
    looked = [f"{words.count(many, 'trial')}{what}" for what, many in parts.items() if many]
    seen = [f"确认生效：{', '.join(confirmed)}"] if confirmed else []
    if facts["unseen"]:
        seen.append(f"无法看出：{', '.join(facts['unseen'])}")
    headline = "程序使用了给定的值" if confirmed else "没有看到被忽略的值"
    return [headline, "；".join(looked), *seen]


def _evidence(doubt: Facts) -> str:
    runs = f"{doubt['of']} 次试验中的 {doubt['runs']} 次"
    given, seen = _list_of(doubt["given"]), _list_of(doubt["seen"])
    name, option = doubt["name"], doubt["option"]
    if doubt["kind"] == "curves":
        other = "" if doubt["certain"] else "，或者它在本轮次没有影响"
        return f"{name}：{runs}取值不同（{given}）而曲线相同；程序忽略了它{other}"
    return {
        "echo": f"{name}：{runs}给定 {given}，却报告 {seen}",
        "ranks": f"{name}：{runs}的各进程报告了不同的值：{seen}",
        "scaled": f"{name}：{runs}给定 {given}，却报告 {seen}，相差同一个系数",
        "rate": f"{name}：{runs}给定 {given}，记录的最高学习率却是 {seen}",
        "no_decay": f"{name}：{runs}在 {given} 下记录的学习率从不变化",
        "decays": f"{name}：{runs}在 {given} 下记录的学习率在下降",
        "no_warmup": f"{name}：{runs}在预热（{given}）的前一半就记录到峰值",
        "unknown_option": f"{name}：源码没有定义选项 {option}，并丢弃不认识的选项（{runs}）",
        "unread_option": f"{name}：源码定义了 {option}，但从不读取它的值（{runs}）",
    }[doubt["kind"]]


def _list_of(values: list[object]) -> str:
    texts = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in values[:MOST_SHOWN]]
    return ", ".join(dict.fromkeys(texts))


FINDINGS: dict[str, Callable[[str, Facts], list[str]]] = {"applied": applied}
CANNOT_JUDGE: dict[str, str] = {"applied": "看不出给定的值是否生效"}
SECTIONS: dict[str, str] = {"applied": "从实验结果中获取洞见"}
SENTENCES: dict[str, Template] = {
    "applied.none_ended": "没有试验结束",
    "applied.nothing_shows": "没有试验报告所用的值或记录学习率，曲线又太短或太粗，无法比较",
}
ACTIONS: dict[str, Template] = {
    "report_applied": "报告程序所用的值：run.applied(learning_rate=...)，"
    "或运行种子相同的两次短试验（docs/checks/applied.md）",
    "trace_value": "在程序中追踪 {name} 到使用它的地方，然后重新运行本轮次",
    "compare_by_hand": "用两个不同的 {name} 启动程序：最初的损失必须不同",
    "correct_option": "把 {option} 换成程序自己的选项名，把 parse_known_args 换成 parse_args",
    "read_option": "在程序中使用 {option} 的值，或从轮次中去掉 {name}",
    "same_values_on_ranks": "在 rank 0 读取 {name} 并广播，或给每个进程相同的配置",
    "declare_scaled": "搜索程序实际使用的值，或去掉其中的系数",
}
