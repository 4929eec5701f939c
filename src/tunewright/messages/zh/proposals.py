"""Chinese sentences of proposals and of errors raised in `advice`."""

from __future__ import annotations

from tunewright import messages
from tunewright.messages import Facts, Template, fill, sentence, words
from tunewright.messages.zh.findings_space import REFERENCES

# ---- why a next step is proposed, what a proposed round changes, and what longer training needs


def _cause(facts: Facts) -> str:
    """The headline of the finding that asks for the step; of several, with whose it is."""
    finding = facts["finding"]
    if "text" in finding:
        return str(finding["text"])
    headline = messages.finding(finding["check"], finding["verdict"], finding["evidence"]).headline
    several = facts["findings"] > 1 and finding["scope"] == "study"
    return f"{finding['about']}：{headline}" if several else headline


def _because(then: str) -> Template:
    """A sentence that begins with the finding's headline."""
    return lambda facts: f"{_cause(facts)}；{fill(then, facts)}"


def _widen(facts: Facts) -> str:
    text = f"{_cause(facts)}；{fill('搜索 {ranges:ranges}', facts)}"
    if facts.get("left_out"):
        text += fill("（不含 {left_out:list}：过拟合要靠正则化，与大小无关）", facts)
    if "trials" not in facts or facts["trials"] <= facts["trials_before"]:
        return text
    more = "，每个研究 {trials} 次试验而不是 {trials_before} 次，以保持同样的密度"
    return text + fill(more, facts)


def _longer(facts: Facts) -> str:
    rule = sentence(facts["rule"])
    text = f"{_cause(facts)}；把最好的训练 {facts['steps']} 步：{rule}"
    then = facts.get("lengths", ())[1:]
    if not then:
        return text
    steps = "、".join(str(steps_then) for steps_then in then)
    return f"{text}；然后 {steps} 步，只要一个长度的结论在下一个长度仍然成立"


def _regularise(then: str) -> Template:
    """A regulariser to tune, and whether it may help at all."""

    def wording(facts: Facts) -> str:
        text = f"{_cause(facts)}；{fill(then, facts)}"
        fit = facts.get("not_fit")
        if fit is None:
            return text
        return text + fill(
            "（{metric} 最后是 {end:number}，到零只走了 {fitted:percent}：训练集尚未拟合时，"
            "正则化多半无用）",
            fit,
        )

    return wording


def _narrow(facts: Facts) -> str:
    why = f"{_cause(facts)}；" if "finding" in facts else ""
    return why + fill(
        "在最好的试验附近搜索：{ranges:ranges}（空间的 {left:percent}，试验次数不变）", facts
    )


def _more_trials(facts: Facts) -> str:
    if "trials" not in facts:
        return _cause(facts)
    more = "每个研究 {trials} 次试验而不是 {trials_before} 次"
    return f"{_cause(facts)}；{fill(more, facts)}"


def _gain(facts: Facts) -> str:
    gain = f"再做同样多次试验可能改进 {facts['gain']:.2g}"
    if facts["matters"] is None:
        return f"{gain}；这算不算多，只有 detect= 或重复才能说明"
    size, source = facts["matters"]["size"], REFERENCES[facts["matters"]["source"]]
    return f"{gain}（{source}：{size:.2g}）"


def _exploit(facts: Facts) -> str:
    names = facts["fixed"]
    fixed = f"，{', '.join(names)} 与最好的试验相同" if names else ""
    return f"没有警告：探索已完成；在最好的试验附近做贝叶斯搜索{fixed}"


def _agreement(facts: Facts) -> str:
    both = f"两个轮次共有 {facts['ranked']} 个{OF.get(facts['of'], facts['of'])}"
    if facts["correlation"] is None or facts["interval"] is None:
        return f"{both}：太少，无法比较名次"
    low, high = facts["interval"]
    return (
        f"{both}：秩相关 {facts['correlation']:.2f}（{low:.2f} 至 {high:.2f}），最好的 "
        f"{facts['top']} 个中有 {facts['overlap']} 个相同（偶然为 {facts['by_chance']:.1f}），"
        f"较短训练中最好的比真正最好的差 {facts['regret']:.3g}"
    )


OF = {"configurations": "配置", "settings": "设置", "trials": "试验"}


def _fix(facts: Facts) -> str:
    settings = "、".join(f"{name} = {words.value(v)}" for name, v in facts["values"].items())
    names = ", ".join(facts["values"])
    return f"在任何研究中都没有 {names} 有影响的迹象：固定 {settings}，与最好的试验相同"


SENTENCES: dict[str, Template] = {
    # ---- proposals
    # why
    "proposal.no_trial_has_run": "还没有运行试验",
    "proposal.unfinished": "{trials_in_all} 次试验中还有 {left} 次没有运行",
    "proposal.repair": lambda facts: _cause(facts),
    "proposal.none_completed": "{trials_in_all} 次试验都没有完成：先检查程序，再运行更多",
    "proposal.suspect": lambda facts: _cause(facts),
    "proposal.widen": _widen,
    "proposal.widen_beyond": lambda facts: fill(
        "或只从最好的位置向外：{ranges:ranges}"
        + ("，每个研究 {trials} 次试验" if "trials" in facts else ""),
        facts,
    ),
    "proposal.narrow": _narrow,
    "proposal.leave_out": _because("只在能训练的地方搜索：{ranges:ranges}"),
    "proposal.regularise": _regularise("把 {ranges:ranges} 也加入调优"),
    "proposal.stronger": _regularise("试试 {ranges:ranges}"),
    "proposal.no_regulariser": _because(
        "本轮次没有 {known:list} 中的任何一个：请让训练程序接受其中之一，或声明哪个起正则化作用："
        "{declare.means.regularisers}"
    ),
    "proposal.longer": _longer,
    "proposal.longer_in_doubt": _longer,
    "proposal.longer_impossible": lambda facts: "；".join(
        [_cause(facts), *(sentence(problem) for problem in facts["problems"])]
    ),
    "proposal.shorter": _because("用 {steps} 步代替 {before} 步，同样的算力可以做更多试验"),
    "proposal.own_ranges": _because("让每个设置在自己最好的位置附近搜索，试验次数相同"),
    "proposal.one_code": _because("再问同一个问题，全部使用同一份代码"),
    "proposal.equal_trials": _because("再问同一个问题，每个设置的试验次数相同"),
    "proposal.more_trials": _more_trials,
    "proposal.fix": _fix,
    "proposal.saturated": lambda facts: f"调优很可能已经饱和：{_gain(facts)}",
    "proposal.exhausted": "搜索空间中的每个配置都训练过了",
    "proposal.repeat": _gain,
    "proposal.exploit": _exploit,
    "proposal.exploit_more": "搜索的后一半仍有改进；再做同样多次试验可能改进 {gain:number}："
    "{trials} 次试验而不是 {trials_before} 次",
    "proposal.exploit_further": "这次搜索的试验太少，看不出它能改进多少："
    "{trials} 次试验而不是 {trials_before} 次",
    # what a round changes in the one before, as its goal shows it
    "change.wider": "扩大 {names:list}",
    "change.beyond": "向外移动 {names:list}",
    "change.narrower": "收窄 {names:list}",
    "change.own_ranges": "{names:list} 按 {by} 各用各的范围",
    "change.compared_again": "重新比较",
    "change.fixed": "固定 {names:list}",
    "change.exploitation": "利用阶段",
    "change.steps": "{steps} 步而不是 {before} 步",
    "change.regularised": "用 {names:list} 正则化",
    "change.stronger": "加强 {names:list}",
    # short training and long
    "agreement": _agreement,
    "length.only": "直接按完整长度训练",
    "length.first": "找到好的模型和优化器超参数",
    "length.between": "看看较短训练的结论是否成立，并保留最好的",
    "length.last": "把最好的几个按完整长度训练",
    # what becomes of a hyperparameter in longer training
    "extend.new_length": "新的长度",
    "extend.unused": "新的学习率调度用不到它",
    "extend.schedule": "学习率调度需要重新调",
    "extend.asked_for": "按要求",
    "extend.decides": "可能可以沿用，而且影响最大",
    "extend.warmup_share": "原为训练的一个比例（{before:number}）：预热保持原来的步数",
    "extend.fixed_before": "原来就是固定的",
    "extend.very likely": "很可能可以沿用",
    "extend.likely": "大概可以沿用",
    "extend.might": "也许可以沿用；少数几次长训练不够用来调它",
    "extend.unlikely": "不大可能沿用，但没有迹象表明该往哪里找",
    "extend.no_rate": lambda facts: (
        "没有重新调学习率"
        + (f"（{', '.join(facts['rates'])} 有好几个）" if len(facts["rates"]) > 1 else "")
        + "：请说明哪个超参数是学习率，或用 tune=(...) 调一个"
    ),
    "extend.far_apart": "{old} 步只是 {new} 步的 {share:percent}：那里成立的这里未必成立；"
    "中间加一个约 {between:percent} 的轮次更稳妥",
    "extend.taken_for_model": "视为模型的一部分，大概可以沿用：{names:list}",
    # the schedule of longer training
    "schedule.not_named": "超参数中没有学习率调度：使用程序自己的",
    "schedule.check_own": "请确认它的学习率不会在多出的 {extra} 步里停在零附近；"
    "声明设置它的超参数：{declare.means.schedule}",
    "schedule.kept": "{name} = {value!r} 保持不变",
    "schedule.unknown": "不了解这个学习率调度：请确认它不会提前 {extra} 步结束",
    "schedule.new_family": "学习率调度的类型变了：请重新调",
    "schedule.whole_stretched": "{name} = {value!r} 拉长到 {new} 步",
    "schedule.no_decay_steps": "程序不接受 {decay_steps}，所以衰减随训练一起拉长，"
    "而不是保持 {old} 步",
    # ---- errors advice
    "advice.bad_steps": "{name}={value!r} 不是从 {least} 起的整数步数。",
    "advice.bad_rounds": "rounds={rounds!r}：一个计划有 1 至 {most} 个轮次。",
    "advice.schedule_wastes_steps": (
        "{name} = {declared!r} 会让多出的 {extra} 步中有 {wasted:.0%} 低于基础学习率的十分之一："
        "{rule:message}。请让程序接受 {decay_steps}（结尾线性衰减的步数），或使用余弦。"
    ),
    "agreement.top_not_positive": "top={top}：至少需要 1。",
    "agreement.truncated_too_short": "truncated(steps={steps})：至少需要一步。",
    "extend.length_unknown": (
        "{round}：配置中没有 {name!r}，所以没有可延长的长度。请说明哪个超参数表示它："
        "{declare.means.max_train_steps}。"
    ),
    "extend.no_completed_trial": "{round}：没有可以继续训练的已完成试验。",
    "extend.not_longer": (
        "max_train_steps={max_train_steps} 不比 {round} 的 {old} 步更长。要缩短训练请重新调优："
        "{old} 步时的结论不适用于更少的步数。"
    ),
    "extend.steps_not_whole": "max_train_steps={max_train_steps!r} 不是整数步数。",
    "extend.unknown_hyperparameter": (
        "tune={tune}：最好的试验没有 {unknown!r}。它有 {known:list}。"
    ),
    "proposal.has_no_round": "建议 {kind!r} 没有可以命名为 {name!r} 的轮次。",
}
