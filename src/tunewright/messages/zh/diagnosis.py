"""Chinese sentences of a diagnosis: one question to the curves of one run."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words

QUESTIONS = {
    "diverged": "训练是否发散",
    "spikes": "训练是否有尖峰",
    "training_bug": "训练损失是否上升且不再下降",
    "overfitting": "是否过拟合",
    "still_improving": "结束时是否仍在改进",
    "saturated": "是否在训练过半之前已趋平",
    "noise": "后期的评估是否跳动",
    "periodicity": "评估是否有周期",
    "gradient_norm": "梯度范数是否爆炸或消失",
    "learned": "是否优于猜测",
    "schedule": "学习率是否遵循其调度",
}
ROLES = {
    **dict.fromkeys(("spikes", "training_bug"), "训练损失"),
    "overfitting": "验证指标",
    "gradient_norm": "梯度范数",
    "schedule": "学习率",
}


def _percent(value: float | None) -> str:
    return "未知的一部分" if value is None else f"{100 * value:.3g} %"


def _at(facts: Facts) -> str:
    return "" if facts["at_step"] is None else f"（第 {facts['at_step']} 步）"


def _over(facts: Facts) -> str:
    return f"{facts['metric']}，{facts['points']} 个点"


def _divergence(facts: Facts) -> str:
    if facts["effect"] is None:
        return f"{_over(facts)}：不是有限值{_at(facts)}。"
    return (
        f"{_over(facts)}：结束时失去了改进的 {_percent(facts['effect'])}"
        f"（发散的运行失去超过 {_percent(facts['yes_from'])}）。"
        if facts["yes_from"] < 50
        else f"{_over(facts)}：最后为 {words.number(facts['value'])}。"
    )


def _spikes(facts: Facts) -> str:
    if not facts["score"]:
        return f"{_over(facts)}：没有超出噪声的 10 % 的跳动。"
    return (
        f"{_over(facts)}：{round(facts['value'] or 0)} 个尖峰，最明显的达 "
        f"{_percent(facts['effect'])}{_at(facts)}，为稳健标准差的 {facts['score']:.1f} 倍。"
    )


def _rise(facts: Facts) -> str:
    return (
        f"{_over(facts)}：最明显的持续上升为改进的 {_percent(facts['effect'])}，从第 "
        f"{facts['at_step']} 步起；z = {facts['score']:.1f}。"
    )


def _worse(facts: Facts) -> str:
    return (
        f"{_over(facts)}：最好 {words.number(facts['value'])}{_at(facts)}；结束时变差，为改进的 "
        f"{_percent(facts['effect'])}，z = {facts['score']:.1f}。"
    )


def _improves(facts: Facts) -> str:
    return (
        f"{_over(facts)}：从第 {facts['at_step']} 步起又改进了全部改进的 "
        f"{_percent(facts['effect'])}，至少 {facts['score']:.2g} %。"
    )


def _level_off(facts: Facts) -> str:
    return (
        f"{_over(facts)}：后半段的变化为改进的 {_percent(facts['effect'])}，至多 "
        f"{-facts['score']:.2g} %。"
    )


def _noise(facts: Facts) -> str:
    return (
        f"{_over(facts)}：后期一次评估的标准差为 {words.number(facts['value'])}，为改进的 "
        f"{_percent(facts['effect'])}。"
    )


def _period(facts: Facts) -> str:
    chance = 10 ** -facts["score"]
    return (
        f"{_over(facts)}：最强的周期为 {words.number(facts['value'])} 步；偶然出现这么强的概率为 "
        f"{words.probability(chance)}。"
    )


def _gradient(facts: Facts) -> str:
    if facts["effect"] is None:
        return f"{_over(facts)}：不是有限值或为零{_at(facts)}。"
    factor = 10 ** facts["effect"]
    return f"{_over(facts)}：最后为训练中期中位数的 {words.number(factor)} 倍。"


def _learning(facts: Facts) -> str:
    return (
        f"{_over(facts)}：最后为 {words.number(facts['value'])}，比开始或猜测好 "
        f"{_percent(facts['effect'])}。"
    )


def _schedule(facts: Facts) -> str:
    return (
        f"{_over(facts)}：峰值 {words.number(facts['value'])}，其末值或峰值为预期的 "
        f"{words.number(facts['effect'])} 倍。"
    )


SENTENCES: dict[str, Template] = {
    "diagnosis.tally": ("{runs:count run}：{warn} 条警告，{note} 条提示，{cannot_judge} 项未判断"),
    "diagnosis.cannot_judge": lambda facts: f"无法判断{QUESTIONS[facts['question']]}",
    "diagnosis.why": "{why:message}",
    "diagnosis.error_rate": (
        "{curves} 条已知没有此问题的曲线中，{false_alarms:percent} 引发了这条警告。"
    ),
    # ---- why a question cannot be judged
    "diagnosis.few_points": "{metric} 有 {points} 次评估，需要 {needed} 次。",
    "diagnosis.uneven_steps": "{metric} 的记录步距不大致相等。",
    "diagnosis.not_finite": "{metric} 不是有限值。",
    "diagnosis.between": (
        "{metric} 两者都不明显：得分 {score}；从 {yes} 起为是，不超过 {no} 为否。"
    ),
    "diagnosis.not_logged": lambda facts: (
        f"在 {', '.join(facts['logged']) or '（没有曲线）'} 中没有认出"
        f"{ROLES.get(facts['question'], '损失或指标')}。"
    ),
    "diagnosis.no_schedule_declared": "配置中既没有学习率调度，也没有学习率可供比较。",
    # ---- errors
    "diagnosis.unknown_role": "{role!r} 不是曲线的角色；角色有 {known:list}。",
    "diagnosis.no_such_metric": (
        "{name!r} 被指定为 {role}，但没有运行记录它；已记录的有 {logged:few}。"
    ),
    "diagnosis.no_such_run": "没有运行 {run!r}；现有 {runs:few}。",
    "diagnosis.no_curves": "{source} 没有曲线。",
    "diagnosis.not_numbers": "曲线 {name!r} 中有不是数字的内容。",
    "diagnosis.unequal_lengths": "曲线 {name!r} 有 {steps} 个步和 {values} 个值。",
    # ---- headlines and evidence, by question and verdict
    "diagnosis.diverged.warn": "训练发散",
    "diagnosis.diverged.ok": "训练没有发散",
    "diagnosis.diverged.evidence": _divergence,
    "diagnosis.spikes.warn": "训练损失有尖峰",
    "diagnosis.spikes.ok": "训练损失没有尖峰",
    "diagnosis.spikes.evidence": _spikes,
    "diagnosis.training_bug.warn": "训练损失上升且不再下降：可能有错误",
    "diagnosis.training_bug.ok": "训练损失没有上升",
    "diagnosis.training_bug.evidence": _rise,
    "diagnosis.overfitting.warn": "验证变差而训练没有：过拟合",
    "diagnosis.overfitting.ok": "验证没有变差",
    "diagnosis.overfitting.evidence": _worse,
    "diagnosis.still_improving.note": "训练结束时仍在改进",
    "diagnosis.still_improving.ok": "训练结束时不再改进",
    "diagnosis.still_improving.evidence": _improves,
    "diagnosis.saturated.note": "训练过半之前已趋平",
    "diagnosis.saturated.ok": "训练的后半段仍有变化",
    "diagnosis.saturated.evidence": _level_off,
    "diagnosis.noise.note": "后期评估的跳动占训练改进的很大一部分",
    "diagnosis.noise.ok": "后期评估平稳",
    "diagnosis.noise.evidence": _noise,
    "diagnosis.periodicity.warn": "评估周期性地起伏",
    "diagnosis.periodicity.ok": "评估没有周期",
    "diagnosis.periodicity.evidence": _period,
    "diagnosis.gradient_norm.warn": "梯度范数偏离平常的大小",
    "diagnosis.gradient_norm.ok": "梯度范数大小正常",
    "diagnosis.gradient_norm.evidence": _gradient,
    "diagnosis.learned.warn": "什么也没有学到：不优于猜测",
    "diagnosis.learned.ok": "学到了东西",
    "diagnosis.learned.evidence": _learning,
    "diagnosis.schedule.warn": "学习率偏离其调度",
    "diagnosis.schedule.ok": "学习率遵循其调度",
    "diagnosis.schedule.evidence": _schedule,
}

ACTIONS: dict[str, Template] = {
    **{
        f"diagnosis.log.{question}": f"记录{ROLES.get(question, '损失')}，才能回答这一项"
        for question in QUESTIONS
    },
    "diagnosis.log.schedule": "每次评估时记录学习率",
    "diagnosis.do.diverged.1": "把学习率峰值减半",
    "diagnosis.do.diverged.2": "给学习率加预热",
    "diagnosis.do.diverged.3": "裁剪梯度范数",
    "diagnosis.do.spikes.1": "裁剪梯度范数，或降低学习率",
    "diagnosis.do.training_bug.1": "调优之前，先在数据或损失中找错误",
    "diagnosis.do.overfitting.1": "调一个正则化手段：权重衰减、dropout、数据增强",
    "diagnosis.do.overfitting.2": "保留最好的检查点，而不是最后一个",
    "diagnosis.do.still_improving.1": "训练更多步",
    "diagnosis.do.still_improving.2": "让学习率到结束时衰减为零",
    "diagnosis.do.saturated.1": "训练更少步，省下的用于更多试验",
    "diagnosis.do.noise.1": "衰减学习率、平均权重，或用更多数据评估",
    "diagnosis.do.periodicity.1": "每个 epoch 重新打乱训练数据",
    "diagnosis.do.gradient_norm.1": "裁剪梯度范数，或给学习率加预热",
    "diagnosis.do.learned.1": "先拟合十个样本；若不行，请找错误",
    "diagnosis.do.schedule.1": "查看优化器在哪里得到学习率",
}
