"""Findings about training curves in Chinese: one function per check, headline first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tunewright.messages import Facts, Template, words
from tunewright.messages.zh.findings_space import _short as short

FEW = 40  # points of a curve: below it only large effects can be seen


def overfitting(verdict: str, facts: Facts) -> list[str]:
    """Did validation get worse again?"""
    metric, example = short(facts["metric"]), facts["shown"]
    elsewhere = _elsewhere(facts.get("elsewhere"), metric)
    if example is None and verdict == "note":
        return ["较差一半的试验过拟合", *elsewhere, *_small_rates(facts)]
    if example is None:
        return [f"没有过拟合：{metric} 在训练后期没有变差", *elsewhere, *_few_points(facts)]
    evidence = [f"{who(facts)}：{_worsening(example, metric)}", *elsewhere, *_small_rates(facts)]
    if facts["kind"] == "training too":
        return ["训练不稳定：验证和训练在后期都变差", *evidence]
    if facts["kind"] == "unknown":
        return [f"{metric} 在训练后期变差", *evidence, "没有训练损失，可能是过拟合，也可能是不稳定"]
    if facts["compared"]:
        expected = f"在 {', '.join(facts['compared'])} 较弱时属于预期，它们正是比较对象"
        return ["正则化较弱时，最好的试验过拟合", *evidence, expected]
    return [f"过拟合：{metric} 变差而训练损失没有", *evidence]


def _worsening(example: Facts, metric: str) -> str:
    return (
        f"{metric} 从第 {example['best_step']} 步附近的 {example['best']:.4g} 变到最后的 "
        f"{example['end']:.4g}"
    )


def _elsewhere(rest: Facts | None, metric: str) -> list[str]:
    """Which trials below the better half overfit."""
    if rest is None or not rest["trials"]:
        return []
    count = f"较差一半的 {words.count(rest['judged'], 'trial')}中有 {len(rest['trials'])} 次"
    if rest["by_chance"]:
        return [f"{count}可能过拟合，不多于噪声所能解释的"]
    worst = rest["shown"]
    return [f"{count}过拟合，最明显的是试验 {worst['trial']}：{_worsening(worst, metric)}"]


def _small_rates(facts: Facts) -> list[str]:
    """Whether the best trials escape overfitting by smaller learning rates."""
    low = facts.get("small_rates")
    if low is None:
        return []
    return [
        f"最好的试验 {low['name']}（中位数 {low['best']:.2g}）小于过拟合的试验"
        f"（{low['others']:.2g}）：挑选最好的试验等于偏爱无意的正则化"
    ]


def step_variance(verdict: str, facts: Facts) -> list[str]:
    """Does the objective jump between evaluations late in training?"""
    metric, yardstick = short(facts["metric"]), facts["compared_with"]
    what = "挑后期最好的一次评估会偏乐观" if facts["chosen"] else "最后的值跳动"
    if yardstick is None:
        return [
            f"没有可与 {metric} 后期跳动相比的尺度",
            f"{what}约 {facts['gain']:.2g}；试验不到五次，也没有重复",
        ]
    than = "大于" if facts["shown"] else "小于"
    against = f"{than}{YARDSTICKS[yardstick['source']]}（{yardstick['size']:.2g}）"
    training = _training_jumps(facts)
    if facts["shown"] is None and verdict == "note":
        return [
            f"训练损失在后期跳动，{metric} 没有",
            *training,
            f"{what}约 {facts['gain']:.2g}，{against}",
        ]
    if facts["shown"] is None:
        return [
            f"{metric} 的后期跳动小到无关紧要",
            f"{what}约 {facts['gain']:.2g}，{against}",
            *_few_points(facts),
        ]
    size = f"约 {facts['shown']['gain']:.2g}（至少 {facts['shown']['gain_at_least']:.2g}）"
    return [
        f"{metric} 在训练后期的各次评估之间仍在跳动",
        f"{who(facts)}：{what}{size}，{against}",
        *training,
    ]


def validation_size(verdict: str, facts: Facts) -> list[str]:
    """Is the validation set large enough to tell the best trials apart?"""
    on = "" if facts["examples"] is None else f"在同样的 {facts['examples']} 个样本上，"
    evidence = [
        f"{on}仅测量误差就使两次试验之差变动 {facts['sd_of_difference']:.2g}（标准差）："
        f"小于 {facts['resolves']:.2g} 的差异不算差异"
    ]
    if facts["wanted"] is None:
        evidence.append("试验太少，或数值都相同，无从比较")
    else:
        evidence.append(f"{WANTED[facts['source']]}为 {facts['wanted']:.2g}")
    if facts["needed"] is not None:
        evidence.append(f"约需 {facts['needed']} 个样本才能分辨")
    if facts["optimism"] > 0.1 * facts["resolves"]:
        evidence.append(f"从最好试验的各次评估中挑最好的一次，约偏乐观 {facts['optimism']:.2g}")
    if facts["seeds_matter_more"]:
        evidence.append("重复之间的差异更大：先重复试验，再增加样本")
    size = "足以" if verdict == "ok" else "太小，不足以"
    return [f"验证集{size}分辨最好的几次试验", *evidence]


WANTED = {
    "detect": "要分辨的差异",
    "best_to_fifth": "第一名与第五名之差",
}


def _training_jumps(facts: Facts) -> list[str]:
    """How much the training loss jumps, where it does."""
    by = facts.get("training")
    if by is None or 2 * by["jumping"] <= by["of"]:
        return []
    return [
        f"最好的 {by['of']} 次试验中有 {by['jumping']} 次，{by['metric']} 的跳动占其总改进的 "
        f"{by['share']:.0%}"
    ]


YARDSTICKS = {
    "trial_sd": "种子间波动",
    "best_to_fifth": "第一名与第五名之差的一半",
    "measurement": "测量误差使两次相同试验产生的差异",
}


def still_improving(verdict: str, facts: Facts) -> list[str]:
    """Were the best trials still improving when training ended?"""
    metric, example = short(facts["metric"]), facts["shown"]
    if example is None and verdict == "cannot_judge":
        return ["学习率正在下降，看不出训练更久是否有用", *_flat(facts)]
    if example is None:
        return [
            f"{metric} 在训练结束时不再改进",
            *_consistently_late(facts),
            *_few_points(facts),
        ]
    evidence = [
        f"{who(facts)}：{metric} 在最后四分之一（第 {example['since_step']} 至 "
        f"{example['last_step']} 步）改进了 {example['gain']:.2g}",
        *_not_fit(facts),
    ]
    if verdict == "cannot_judge":
        headline = "学习率正在下降，看不出训练更久是否有用"
        return [headline, *evidence, "学习率正在降低，足以解释这一改进"]
    if facts.get("immaterial"):
        return [f"{metric} 仍在改进，但小于有意义的差异", *evidence]
    if {"unknown", "declared"} & set(facts["schedules"]):
        evidence.append("没有记录学习率；若它衰减到零，这一改进属于预期")
    return [f"训练结束得太早：{metric} 仍在改进", *evidence]


def _consistently_late(facts: Facts) -> list[str]:
    """Best steps that all lie in the last quarter, although the curves end flat."""
    late, many = facts["in_last_quarter"], len(facts["best_steps"])
    if many < 5 or late < many or facts.get("immaterial"):
        return []
    return [f"最好的 {many} 次试验都在最后四分之一达到最好：拿不准时，训练更久"]


def _not_fit(facts: Facts) -> list[str]:
    """A training set that is not fit yet."""
    fit = facts.get("not_fit")
    if fit is None:
        return []
    return [
        f"{fit['metric']} 最后是 {fit['end']:.3g}，从 {fit['reference']:.3g}"
        f"（{FIT_REFERENCES[fit['source']]}）到零只走了 {fit['fitted']:.0%}：训练集尚未拟合，"
        "正则化多半无用"
    ]


FIT_REFERENCES = {"chance": "随机水平", "start": "第一个值"}


def _flat(facts: Facts) -> list[str]:
    """Curves that end flat while the learning rate is lowered."""
    metric = short(facts["metric"])
    why = "学习率最后接近零，任何曲线在那里都是平的"
    if "declared" in facts["schedules"]:
        why = "用了学习率调度，但没有记录学习率：接近零时任何曲线都是平的"
    late, many = facts["in_last_quarter"], len(facts["best_steps"])
    return [
        f"{metric} 最后走平；{why}",
        f"最好的 {many} 次试验中有 {late} 次在最后四分之一达到最好",
        "把衰减推后、训练更久才能看出来",
    ]


def saturated(verdict: str, facts: Facts) -> list[str]:
    """Had the best trials levelled off long before training ended?"""
    metric, rule, steps = short(facts["metric"]), facts["rule"], facts["best_steps"]
    where = []
    if steps:
        where = [f"共 {facts['max_train_steps']} 步，最好的在第 {min(steps)} 至 {max(steps)} 步"]
    if rule and (training := facts.get("training")):
        where.append(
            f"最好的 {training['of']} 次试验中有 {training['settled']} 次的 {training['metric']} "
            "在一半之前走平"
        )
    if rule == "settled_by_half":
        example = facts["shown"]
        if facts.get("still_improving"):
            return [
                f"{metric} 在一半时已在余量内走平，但仍在改进",
                f"{who(facts)}：后一半改变了 {abs(example['gain']):.2g}，小于余量 "
                f"{example['margin']:.2g}（默认 2 %）",
            ]
        return [
            f"训练过长：{metric} 在一半之前走平",
            f"{who(facts)}：后一半改变了 {abs(example['gain']):.2g}，小于有意义的 "
            f"{example['margin']:.2g}",
            *where,
        ]
    if rule == "first_tenth":
        return ["最好的试验在训练的前十分之一就达到顶点", *where]
    if rule == "first_half":
        return ["最好的试验有一半在训练过半之前达到顶点", *where]
    if facts.get("second_half_matters", True):
        return ["对最好的试验来说，训练不算过长", *where, *_few_points(facts)]
    return ["没有迹象表明训练过长", *where, *_few_points(facts)]


def training_bug(verdict: str, facts: Facts) -> list[str]:
    """Does the training loss rise?"""
    metric, example = short(facts["metric"]), facts["shown"]
    if example is None:
        return [f"最好试验的 {metric} 没有上升", *_few_points(facts)]
    evidence = (
        f"{who(facts)}：{metric} 在第 {example['from_step']} 步到第 {example['to_step']} 步之间上升了 "
        f"{example['rise']:.2g}，此后没有回落"
    )
    if facts["schedule_rose"]:
        return [f"调度提高学习率时 {metric} 上升", evidence]
    return [f"{metric} 上升后没有回落：怀疑程序有错", evidence]


def instability(verdict: str, facts: Facts) -> list[str]:
    """Is training unstable?"""
    metric, worst, above = short(facts["metric"]), facts["worst"], facts["above_best_rate"]
    if worst is not None:
        headline = f"训练不稳定：{metric} {EPISODES[worst['kind']]}"
        return [headline, f"{who(facts)}：{metric} {_episode(worst)}"]
    if verdict == "ok":
        return ["最好的试验训练稳定", *_few_points(facts)]
    return [
        "略高于最好学习率时训练不稳定",
        f"学习率至多为最好值（{above['rate']:.3g}）十倍的 {above['trials']} 次试验中，有 "
        f"{len(above['unstable'])} 次不稳定",
        "使它们稳定，也许能用更高的学习率得到更好的结果",
    ]


EPISODES = {"spike": "出现尖峰", "rise": "上升后恢复"}


def _episode(worst: Facts) -> str:
    """The clearest episode in words."""
    when = "早期" if worst["early"] else "中期"
    if worst["kind"] == "spike":
        return f"在第 {worst['from_step']} 步（{when}）冲高 {worst['height']:.0%}"
    return f"在第 {worst['from_step']} 至 {worst['to_step']} 步（{when}）上升后恢复"


def periodicity(verdict: str, facts: Facts) -> list[str]:
    """Does the objective go up and down with a period?"""
    metric, period = short(facts["metric"]), facts["period_steps"]
    if period is None:
        return [f"{metric} 没有周期性", *_few_points(facts)]
    evidence = f"{who(facts)}：周期约 {period:.4g} 步"
    if facts["of_epoch"]:
        evidence += "，等于一个 epoch 或其简单的一部分"
    return [f"{metric} 周期性地上下波动", evidence]


def edge_of_divergence(verdict: str, facts: Facts) -> list[str]:
    """Does the best learning rate lie at the edge of divergence?"""
    edge = facts["edge"]
    if edge is None:
        return [f"没有发现使试验发散的 {short(facts['rate'])} 上限"]
    low, high = edge["between"]
    shared = words.settings({setting["name"]: setting["value"] for setting in edge["branch"]})
    where = f"{shared}：" if shared else ""
    evidence = [
        f"{where}{edge['feature']} 高于 {low:.3g} 至 {high:.3g} 时试验发散，最好的试验低 "
        f"{max(edge['decades_below'], 0.0):.1f} 个数量级"
    ]
    if verdict == "warn":
        evidence.append("紧随其后的好试验也在那里")
        return ["不稳定可能压低了最好的学习率", *evidence]
    return ["最好的学习率没有受发散压制", *evidence]


def who(facts: Facts) -> str:
    """The trials that carry the verdict."""
    because, best = facts["because"], len(facts["top"])
    if because == "median":
        return "最好的五次试验合起来"
    if because == "many":
        return f"较好的 {facts['judged']} 次试验中的 {facts['flagged_trials']} 次"
    if because == "several":
        return f"最好的 {best} 次试验中的 {facts['flagged_of_top']} 次"
    first = facts["flagged"][0]["trial"]
    if because == "one":
        return f"试验 {first}"
    others = facts["flagged_of_top"] - 1
    more = f"以及其后 {best - 1} 次中的 {others} 次" if others else ""
    return f"最好的试验（{first}）{more}"


def _few_points(facts: Facts) -> list[str]:
    """What limits a verdict that finds nothing."""
    if facts["points"] >= FEW:
        return []
    return [f"每条曲线 {facts['points']} 个点只能看出大的影响；请记录约 100 个"]


def _not_logged(facts: Facts) -> str:
    logged = f"（记录了：{', '.join(facts['logged'])}）" if facts["logged"] else ""
    return f"没有试验记录 {facts['metric']}{logged}"


FINDINGS: dict[str, Callable[[str, Facts], list[str]]] = {
    "edge_of_divergence": edge_of_divergence,
    "instability": instability,
    "overfitting": overfitting,
    "periodicity": periodicity,
    "saturated": saturated,
    "step_variance": step_variance,
    "still_improving": still_improving,
    "training_bug": training_bug,
    "validation_size": validation_size,
}
CANNOT_JUDGE: dict[str, str] = {
    "edge_of_divergence": "无法判断发散是否限制了学习率",
    "instability": "无法判断训练是否不稳定",
    "overfitting": "无法判断最好的试验是否过拟合",
    "periodicity": "无法判断评估是否有周期",
    "saturated": "无法判断训练是否过长",
    "step_variance": "无法判断后期评估跳动多大",
    "still_improving": "无法判断训练是否结束得太早",
    "training_bug": "无法判断训练损失是否上升",
    "validation_size": "无法判断验证集是否足够大",
}
CURVES = "检查训练曲线"
FAILURES = "如何调试和缓解优化失败？"
SECTIONS: dict[str, str] = {
    "edge_of_divergence": FAILURES,
    "instability": FAILURES,
    "overfitting": CURVES,
    "periodicity": "设置定期评估",
    "saturated": CURVES,
    "step_variance": CURVES,
    "still_improving": CURVES,
    "training_bug": CURVES,
    "validation_size": CURVES,
}
# why a question to curves cannot be answered
SENTENCES: dict[str, Template] = {
    "judge.no_completed_trial": "还没有试验完成",
    "judge.never_learned": "没有试验优于它的第一个值：这个研究什么也没学到",
    "judge.metric_not_logged": _not_logged,
    "judge.few_points": "每次试验的 {metric} 有 {points} 个点；本检查需要 {needed} 个，最好 100 个",
    "judge.uneven_steps": "{metric} 的记录步距不均匀",
    "judge.rate_not_searched": "没有搜索 {rate}",
    "judge.feasible_beside_diverged": "与发散试验相邻的可行试验不到 {needed} 次",
}


def _decay_to_zero(facts: Facts) -> str:
    decay = "让学习率衰减到接近零（线性或余弦）"
    if facts["rate_at_end"] == "high":
        return f"{decay}：它最后仍然很高"
    return f"{decay}，除非已经如此"


def _names(names: Any) -> str:
    return ", ".join(words.printable(str(name)) for name in names)


ACTIONS: dict[str, Template] = {
    # instability, in the playbook's order
    "try_another_optimizer": "换一个优化器：Adam 能应付动量法应付不了的情况",
    "normalise_residual_branches": "加入残差连接和归一化，归一化放在分支最后：x + Norm(f(x))",
    "start_residual_branches_at_zero": "把每个残差分支的最后一层初始化为零",
    "lower_learning_rate": "降低学习率，作为最后手段",
    # a training loss that rises
    "lower_peak_learning_rate": "若损失不回落，降低学习率峰值",
    "suspect_training_bug": "先怀疑程序有错：记录的损失、标签、打乱、恢复后的数据顺序、"
    "正则项的符号或尺度",
    "then_suspect_instability": "再怀疑不稳定：参见同名检查",
    # overfitting
    "see_finding": "参见检查 `{check}`：训练损失也变差了",
    "look_at_any_overfitting": "看看它的曲线：在这里过拟合的，训练更久或模型更大时也可能过拟合",
    "log_training_loss": "每次评估时记录训练损失",
    "regularise_first": lambda facts: (
        f"比较设置之前先正则化：把 {_names(facts['regularisers'])} 作为冗余超参数来调"
    ),
    # late jumps
    "decay_to_zero": _decay_to_zero,
    "larger_batch": "用更大的批量",
    "average_weights": "对权重取平均（Polyak 平均）",
    "validation_examples": "用约 {examples} 个样本的验证集",
    "within_measurement": "在此之前，不要仅凭数值偏好其中某一次：选最省的，或重复它们",
    "larger_validation_set": "用更大的验证集",
    # the length of training
    "log_learning_rate": "记录学习率以便判断：run.log(step, learning_rate=...)",
    "decay_earlier": "或者让学习率更早衰减",
    "generous_length": "拿不准时训练更久，并重新调衰减：长度宽裕时衰减更容易调",
    "fit_before_regularising": "先拟合训练集，再加正则化",
    "train_shorter": "缩短训练：约 {max_train_steps} 步就能得到同样的结果",
    "declare_margin": "给轮次设置 detect=，以指标为单位：2 % 只是惯例",
    "regularise_if_overfitting": "若最好的试验过拟合，先正则化",
    # periods
    "shuffle_every_epoch": "每个 epoch 打乱训练数据；任何评估都不应依赖它在数据中的位置",
    "keep_data_apart": "确保训练数据与验证数据没有重叠",
    # curves that cannot be read
    "log_metric": "每次评估时记录它：run.log(step, {{'{metric}': ...}})",
    "evaluate_more_often": "每 max_train_steps / 100 步评估一次：`if run.eval_due(step): "
    "...`，命令行程序则每 {{run.eval_every}} 步一次",
}
