"""Chinese sentences of the MCP server: what its tools are for, what they answer and refuse."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words
from tunewright.messages.zh.rounds import STATUSES


def _dry_run(facts: Facts) -> str:
    if not facts["left"]:
        return f"{facts['round']}：没有剩下要运行的"
    left = words.count(facts["left"], "trial")
    if facts["low_hours"] is None:
        return f"{facts['round']}：{left}，代价尚不清楚"
    low, high = facts["low_hours"] * 3600, facts["high_hours"] * 3600
    return f"{facts['round']}：{left}，预计 {words.duration_range(low, high)}"


def _status(facts: Facts) -> str:
    counted = facts["counts"].items()
    counts = (
        "，".join(f"{n} 次{STATUSES.get(status, status)}" for status, n in counted) or "还没有试验"
    )
    return f"{facts['verdict']}：{counts}"


_LAUNCHED = {
    "launch": "{about} 最好的试验成为基线",
    "keep": "基线不变；{about} 最好的试验没有好到足够的程度",
    "undecided": "差别被噪声掩盖，基线不变，对 {about} 没有结论",
    "none": "对 {about} 没有决定",
}
_JUDGED = {
    "keep": "保留 {about}：提交它，再做下一个改动",
    "discard": "放弃 {about}：撤销它，再做下一个改动",
    "undecided": "对 {about} 还没有结论",
}


def _launch_verdict(facts: Facts) -> str:
    verdict = facts["verdict"]
    return f"{verdict}：{_LAUNCHED[verdict].format(about=facts['about'])}{_chance(facts)}"


def _judge_verdict(facts: Facts) -> str:
    verdict = facts["verdict"]
    if verdict in _JUDGED:
        return f"{_JUDGED[verdict].format(about=facts['about'])}{_chance(facts)}"
    if facts["removed"] is not None:
        return f"审查：去掉了 {facts['removed']} 个保留的改动"
    if facts["gain"] is not None and facts["interval"]:
        low, high = (words.number(end) for end in facts["interval"])
        return f"总收益：{words.number(facts['gain'])}（95 % 区间 {low} 到 {high}）"
    return f"{facts['about']}：已回答"


def _chance(facts: Facts) -> str:
    sure = facts["probability"]
    return "" if sure is None else f"（更好的概率 {words.probability(sure)}）"


def _judge_stands(facts: Facts) -> str:
    gain = words.number(facts["running_gain"])
    return f"{facts['tried']} 个改动保留了 {facts['kept']} 个；收益的运行估计（不可引用）：{gain}"


def _history(facts: Facts) -> str:
    if not facts["launches"]:
        return "还没有上线过"
    return f"{facts['launches']} 个决定；基线是 {facts['baseline']}"


def _no_handle(facts: Facts) -> str:
    known = f"已知：{', '.join(facts['known'])}。" if facts["known"] else ""
    return f"没有任务 {facts['handle']!r}。{known}"


SENTENCES: dict[str, Template] = {
    "mcp.instructions": (
        "调优深度学习训练，结论带有实测的错误率。循环：propose_round、dry_run、run、status 直到结束、"
        "check，然后照回答的 `next` 去做，直到没有警告；再 launch。不要调种子或步数，"
        "不要由一次运行下结论，结束之前不要看测试集。"
        "代码改动：先 judge begin 一次；然后改动、judge try，按结论保留或撤销。"
    ),
    "mcp.about.propose_round": "写一个轮次：目的，以及每个超参数的角色。",
    "mcp.about.dry_run": "运行一个轮次会做什么、代价多少；不记录任何东西。",
    "mcp.about.run": "在后台启动一个轮次；立即返回句柄。",
    "mcp.about.status": "一个轮次或句柄进行到哪里；结束后给出决定。",
    "mcp.about.check": "这一轮可信吗？最紧迫的结论及其办法。",
    "mcp.about.next": "一个轮次之后做什么；write=true 写出提议的轮次。",
    "mcp.about.launch": "在后台决定最好的是否成为基线。",
    "mcp.about.judge": "用项目的命令运行，逐个保留或放弃代码改动。",
    "mcp.nothing_ran": "{round} 还没有运行过试验。",
    "mcp.round_exists": "轮次 {name} 已存在；请换一个名字，或运行它。",
    "mcp.judge_needs_command": (
        "这个项目训练的是 Python 函数；裁判需要一个命令。在终端里：tunewright judge begin COMMAND "
        "--minimize METRIC。"
    ),
    "mcp.about.history": "至今的上线决定，以及基线。",
    "mcp.about.why": "一次试验结果如何，为什么。",
    "mcp.about.diagnose": "任何工具的一次运行，其曲线说明什么。",
    "mcp.proposed": "{name}：{settings} 个设置，共 {trials:count trial}",
    "mcp.dry_run": _dry_run,
    "mcp.check_fine": "{round}：没有警告",
    "mcp.no_proposal": "{round}：没有提议新的轮次",
    "mcp.history": _history,
    "mcp.why": "试验 {trial}（{status}）：{reason}",
    "mcp.no_reason": "没有出错",
    "mcp.started": "{about} 的 {kind} 在后台运行，句柄 {handle}",
    "mcp.status": _status,
    "mcp.launched": _launch_verdict,
    "mcp.judged": _judge_verdict,
    "mcp.judge_begun": "谱系从 {current} 开始；请改动程序，再 judge try",
    "mcp.judge_stands": _judge_stands,
    "mcp.judge_history": "{decisions} 个决定，这里是最新的 {newest} 个",
    "mcp.by_hand": "请按这句话手工修改，再运行该轮次",
    "mcp.diagnosed": "{run}：{headline}",
    "mcp.diagnosed_nothing": "没有警告",
    # ---- errors
    "mcp.unknown_tool": "没有工具 {tool!r}。现有：{known:list}。",
    "mcp.unknown_argument": "{tool}：没有参数 {name!r}。它接受：{known:list}。",
    "mcp.missing_argument": "{tool}：缺少 {name}",
    "mcp.wrong_type": "{tool}：{name} 不是 {kind}",
    "mcp.too_large": "{tool}：{name} 太大（至多 {most}）",
    "mcp.bad_name": "{tool}：{name} = {shown!r}：名称只用字母、数字、空格、点、- 和 _",
    "mcp.bad_text": "{tool}：{name} 含有控制字符（例如 NUL）",
    "mcp.bad_choice": "{tool}：{name} 应为 {known:list} 之一",
    "mcp.outside_project": "{tool}：{name} = {shown!r} 不在项目中",
    "mcp.no_handle": _no_handle,
    "mcp.unforeseen": "未预料的错误：{kind}：{text}",
}
