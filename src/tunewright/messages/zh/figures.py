"""Chinese words of the figures: captions, titles, labels of axes and legends."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words


def _two(x: float) -> str:
    """A measured difference; two digits are all that is known of it."""
    return words.number(float(f"{x:.2g}"))


def _three(x: float) -> str:
    return words.number(float(f"{x:.3g}"))


def _best(facts: Facts) -> str:
    return f"圆圈：最好的试验 {', '.join(map(str, facts['trials']))}。"


def _beyond(facts: Facts) -> str:
    side = "高于" if facts["minimize"] else "低于"
    count = words.count(facts["beyond"], "trial")
    return f"边缘的三角：{count}{side} {words.number(facts['limit'])}。"


def _curves(facts: Facts) -> str:
    below = facts["train_loss"]
    losses = f" 在上，同一批试验的 {below} 以同色在下" if below else ""
    return (
        f"最好试验的训练曲线：{facts['metric']}{losses}。旁边的数字是试验编号及其值，"
        "最好的为粗体。圆点标出最好的一步。"
    )


def _curves_study(facts: Facts) -> str:
    if facts["value"] is not None:
        came = f"{words.number(facts['value'])}，第 {facts['step']} 步"
    elif facts["diverged_at"] is not None:
        came = f"从第 {facts['diverged_at']} 步起不是有限值"
    else:
        came = "没有值"
    others = ", ".join(str(number) for number in facts["others"])
    then = f"，然后是 {others}" if others else ""
    return f"{facts['study']}：试验 {facts['trial']}（{came}）{then}。"


def _curves_pruned(facts: Facts) -> str:
    drawn = "" if facts["drawn"] == facts["pruned"] else f"（画出其中 {facts['drawn']} 次）"
    return f"以短横结束的细线：{facts['pruned']} 次已剪枝的试验{drawn}。"


def _best_of_k_study(facts: Facts) -> str:
    best = f"{facts['study']}：{facts['trials']} 次试验中最好 {words.number(facts['best'])}"
    if facts["half"] is None:
        return f"{best}。"
    return f"{best}；试验减半平均会差 {_two(facts['half'])}。"


def _best_of_k_nothing(facts: Facts) -> str:
    if facts["adaptive"]:
        return "事先布点的搜索还没有已完成的试验。"
    return "还没有试验完成：对更小的预算一无所知。"


def _adaptive(facts: Facts) -> str:
    return f"自适应搜索的 {facts['adaptive']} 次试验不计入：它后面的试验本来就更好。"


def _sensitivity_study(facts: Facts) -> str:
    matter = [f"{name}（{share:.0%}）" for name, share in facts["matter"].items()]
    text = f"起决定作用的是 {'、'.join(matter)}" if matter else "看不出哪个有影响"
    together = "".join(f"；{a} 与 {b} 共同起作用" for a, b in facts["together"])
    return f"{facts['study']}，{words.count(facts['trials'], 'trial')}：{text}{together}。"


def _sensitivity_nothing(facts: Facts) -> str:
    why = "没有试验" if facts["why"] is None else sentence(facts["why"])
    return f"无法判断哪些超参数重要：{why}。"


def _arm(facts: Facts) -> str:
    best = "没有完成的试验" if facts["best"] is None else words.number(facts["best"])
    parts = [] if facts["trial"] is None else [f"试验 {facts['trial']}"]
    parts.append(words.count(facts["trials"], "trial"))
    if facts["infeasible"]:
        parts.append(f"{facts['infeasible']} 次不可行")
    if facts["off"]:
        parts.append("关闭")
    if facts["is_best"]:
        parts.append("最好")
    if facts["beside"] is not None:
        parts.append(sentence(facts["beside"]))
    return f"{facts['value']}：{best}（{'，'.join(parts)}）。"


def _trend(facts: Facts) -> str:
    trials = f"{facts['trials']} 次已完成的试验"
    if not facts["buckets"]:
        return f"{trials}太少，不足以分组；改用列出的值能看到更多。"
    cut = f"{trials}分为 {facts['buckets']} 组。"
    if facts["p"] is None:
        return f"{cut}太少，不能判定趋势；改用列出的值能看到多得多。"
    called = "各组的最好值随它变化" if facts["p"] <= 0.05 else "趋势没有超出噪声"
    return f"{cut}{called}（p {facts['p']:.2g}）。"


def _progress_round(facts: Facts) -> str:
    search = f"（{facts['search']}）" if facts["search"] else ""
    trials = words.count(facts["trials"], "trial")
    return f"{facts['round']}{search}：{trials}，目前最好 {words.number(facts['best'])}。"


def _pair(facts: Facts) -> str:
    what = "最重要的两个超参数" if facts["important"] else "两个超参数"
    return (
        f"{facts['first']} 与 {facts['second']}，{what}：每次试验一个点，颜色越深，"
        f"{facts['metric']} 越好。"
    )


def _batch_scaling(facts: Facts) -> str:
    steps = "，".join(f"{size}：{_three(n)}" for size, n in facts["steps"].items())
    text = f"不同批量大小使 {facts['metric']} 达到 {words.number(facts['goal'])} 的步数（{steps}）"
    if facts["critical"] is None:
        return f"{text}。"
    return f"{text}；临界批量大小约 {words.two_digits(facts['critical'])}。"


def _steps_to_fit(facts: Facts) -> str:
    criterion, tried = facts["criterion"], facts["tried"]
    text = f"{tried} 个恒定学习率达到完美拟合（{criterion}）的步数："
    if not facts["fit"]:
        return f"{text}没有一个拟合，{facts['infeasible']} 个不可行。"
    text += f"{facts['fit']} 个拟合，{facts['infeasible']} 个不可行"
    if facts["fastest"] is not None:
        fastest, steps = words.number(facts["fastest"]), words.number(facts["steps"])
        text += f"；最快的是 {fastest}，用 {steps}"
    return f"{text}。"


def _throughput(facts: Facts) -> str:
    return (
        f"{facts['sizes']} 个批量大小的吞吐量：从 {facts['first']:,} 时的每秒 "
        f"{words.rate(facts['first_rate'])} 个样本，到拐点 {facts['knee']:,} 的每秒 "
        f"{words.rate(facts['knee_rate'])} 个。放得下的最大批量大小是 {facts['largest']:,}。"
    )


def _losses(facts: Facts) -> str:
    dashed = facts["valid_loss"]
    return f"{facts['train_loss']}（虚线：{dashed}）" if dashed else facts["train_loss"]


def _goal(facts: Facts) -> str:
    goal = "" if facts["goal"] is None else f" {words.number(facts['goal'])}"
    return f"{facts['metric']} 达到目标{goal} 的步数"


CAPTIONS: dict[str, Template] = {
    "figure.plain": "{text}",
    "figure.axis": (
        "{completed} 次已完成试验的 {metric} 随 {columns:list} 的变化，各用其搜索时的刻度。"
        "虚线是范围的端点。"
    ),
    "figure.axis.nothing": "没有搜索任何超参数，所以没有可画的横轴。",
    "figure.axis.best": _best,
    "figure.axis.infeasible": "轨道上的红叉：{infeasible} 次不可行的试验。",
    "figure.axis.pruned": "轨道上的短横：{pruned} 次已剪枝的试验。",
    "figure.axis.beyond": _beyond,
    "figure.axis.condition": "{column}：只有 {condition} 的 {trials:count trial}。",
    "figure.axis.outside": "{column}：搜索空间之外的 {outside:count trial}没有画出。",
    "figure.axis.panel": "{condition}：{trials:count trial}",
    "figure.curves": _curves,
    "figure.curves.nothing": "还没有试验记录曲线。",
    "figure.curves.study": _curves_study,
    "figure.curves.pruned": _curves_pruned,
    "figure.curves.left_out": "试验较差的 {studies:count study}没有画出。",
    "figure.best_step": (
        "{trials} 次已完成试验按 {metric} 的最好一步：{early:percent} 在训练前半段，{late:percent} "
        "在最后十分之一。"
    ),
    "figure.best_step.nothing": "没有试验完成，所以还没有最好的一步。",
    "figure.best_step.proposed": "对最好的试验来说，{steps} 步就够了。",
    "figure.best_step.enough": "{steps} 步就够",
    "figure.best_of_k": "最好的 {metric} 随试验次数的变化。",
    "figure.best_of_k.study": _best_of_k_study,
    "figure.best_of_k.nothing": _best_of_k_nothing,
    "figure.best_of_k.empty": "没有可计入的试验",
    "figure.best_of_k.left_out": "较差的 {studies:count study}没有画出。",
    "figure.best_of_k.detect": "这一轮希望看出 {detect:number} 的差异。",
    "figure.adaptive": _adaptive,
    "figure.sensitivity": (
        "每个超参数单独解释目标变化的多少（其他超参数都解释不了的部分），占全部的比例，带 90 % "
        "区间（方差分析，与检查相同）。"
    ),
    "figure.sensitivity.study": _sensitivity_study,
    "figure.sensitivity.nothing": _sensitivity_nothing,
    "figure.sensitivity.empty": "还无法判断",
    "figure.sensitivity.conditional": "带星号：条件超参数，比例只在有它的试验中计算。",
    "figure.sensitivity.adaptive": (
        "它依据自适应搜索的 {adaptive:count trial}，这些试验聚集在结果好的地方：比例只是粗略值。"
    ),
    "figure.sensitivity.left_out": "只画出前 {studies} 个研究。",
    "figure.gradient_norm": (
        "试验 {trials:list} 的 {metric}。最好的那次试验中 90 % 的范数低于 {clip_norm:number}："
        "可作为梯度裁剪的起点。"
    ),
    "figure.gradient_norm.percentile": "90 % 低于 {clip_norm}",
    "figure.isolation": "同等预算下，最好的 {metric} 随 {name} 的变化。",
    "figure.isolation.nothing": "{name} 的任何值都没有完成的试验。",
    "figure.isolation.range": "最好的 {metric} 随 {name} 的变化。",
    "figure.isolation.arm": _arm,
    "figure.isolation.worse": lambda facts: (
        f"差 {_three(facts['gap'])}，各 {facts['trials']} 次试验"
    ),
    "figure.isolation.no_clear_gap": lambda facts: f"与最好的无法区分：相差 {_three(facts['gap'])}",
    "figure.isolation.noise": "粗线：调优的噪声，即一半试验中最好值的 5 % 至 95 %。",
    "figure.isolation.trial_sd": "须线：一个试验标准差，由重复得出。",
    "figure.isolation.left_out": "超出同等预算的 {trials:count trial}没有画出。",
    "figure.isolation.trend": _trend,
    "figure.progress": lambda facts: (
        "所有试验，按轮次的先后。"
        if facts["rounds"] > 1
        else "所有试验（按编号），以及目前最好值。"
    ),
    "figure.progress.round": _progress_round,
    "figure.progress.nothing": "还没有试验得到 {metric}。",
    "figure.progress.empty": "没有试验完成",
    "figure.progress.crosses": "上方的叉：{trials} 次不可行或失败的试验。",
    "figure.progress.pruned": "上方的短横：{pruned} 次已剪枝的试验。",
    "figure.progress.repeats": "空心：用新种子的 {repeats:count repeat}。",
    "figure.pair": _pair,
    "figure.pair.nothing": "没有试验完成。",
    "figure.batch_scaling": _batch_scaling,
    "figure.batch_scaling.nothing": "没有批量大小达到目标。",
    "figure.steps_to_fit": _steps_to_fit,
    "figure.steps_to_fit.empty": "没有扫描学习率",
    "figure.throughput": _throughput,
    "figure.missing_glyphs": (
        "方框是所装字体都没有的字符。请安装含有它们的字体，例如 Noto Sans CJK。"
    ),
}
TITLES: dict[str, Template] = {
    "figure.title.axis": "每次试验沿每个超参数的分布",
    "figure.title.isolation": "科学超参数的作用",
    "figure.title.curves": "最好试验的训练曲线",
    "figure.title.best_step": "何时达到最好值",
    "figure.title.gradient_norm": "梯度范数",
    "figure.title.best_of_k": "采样够了吗？",
    "figure.title.sensitivity": "哪些超参数重要",
    "figure.title.progress": "最好结果是怎样得到的",
    "figure.title.pair": "两个超参数的共同作用",
    "figure.title.batch_scaling": "不同批量大小达到目标的步数",
    "figure.title.steps_to_fit": "不同学习率达到完美拟合的步数",
    "figure.title.throughput": "不同批量大小的吞吐量",
    "figure.title.questions": "关于曲线的检查看什么",
}
LABELS: dict[str, Template] = {
    "figure.label.all_completed": "所有已完成的试验",
    "figure.label.batch_size": "批量大小",
    "figure.label.best": "最好",
    "figure.label.best_few": "最好的 {trials} 次",
    "figure.label.best_of_bucket": "组内最好",
    "figure.label.best_of_k": "k 次中最好的 {metric}",
    "figure.label.best_of_study": "研究中最好",
    "figure.label.best_so_far": "目前最好",
    "figure.label.best_step": "{metric} 最好的一步",
    "figure.label.best_with_sd": "最好，带试验标准差",
    "figure.label.beyond": lambda facts: (
        f"{'高于' if facts['minimize'] else '低于'} {facts['limit']}"
    ),
    "figure.label.cached": "用一个缓存的批",
    "figure.label.cannot_draw": "太大，无法画出",
    "figure.label.constant_rate": "恒定学习率",
    "figure.label.count": "{trials:count trial}",
    "figure.label.count_infeasible": "{infeasible} 次不可行",
    "figure.label.critical": "临界批量大小",
    "figure.label.detect": "要看出的差异",
    "figure.label.evaluations": "评估次数",
    "figure.label.examples_per_s": "样本/秒",
    "figure.label.far": "差得多",
    "figure.label.fit": "拟合",
    "figure.label.fits": "放得下",
    "figure.label.in_order": lambda facts: "试验，按轮次的先后" if facts["rounds"] > 1 else "试验",
    "figure.label.infeasible": "不可行",
    "figure.label.infeasible_or_failed": "不可行或失败",
    "figure.label.k": "试验次数 (k)",
    "figure.label.knee": "拐点",
    "figure.label.losses": _losses,
    "figure.label.measured": "测量值",
    "figure.label.ms_per_step": "每步毫秒",
    "figure.label.no_effect": "噪声（毫无作用时）",
    "figure.label.none_completed": "没有完成的试验",
    "figure.label.not_counted": "不计入",
    "figure.label.of_trial": "{metric}，试验 {trial}",
    "figure.label.off": "关闭",
    "figure.label.perfect_scaling": "完美扩展",
    "figure.label.proportional": "批量加倍，吞吐量加倍",
    "figure.label.pruned": "已剪枝",
    "figure.label.repeats": "重复",
    "figure.label.share": "重要性占比",
    "figure.label.step": "步",
    "figure.label.steps_to_fit": "达到完美拟合的步数",
    "figure.label.steps_to_goal": _goal,
    "figure.label.too_slow": "来不及拟合",
    "figure.label.trial": "试验 {trial}",
    "figure.label.trials": "试验",
    "figure.label.tuning_noise": "调优的噪声（一半试验中最好的）",
    "figure.verdict.best": "最好",
    "figure.verdict.worse": "较差",
    "figure.verdict.no clear gap": "没有明显差异",
    "figure.verdict.cannot judge": "无法判断",
}
SENTENCES: dict[str, Template] = {**CAPTIONS, **TITLES, **LABELS}
