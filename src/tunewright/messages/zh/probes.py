"""Answers of the probes that train, in Chinese: a headline and a sentence for each code."""

from __future__ import annotations

from tunewright import messages
from tunewright.messages import Facts, Template, declaration, sentence, words

DISGUISED = "这只是变相降低学习率：请直接降低学习率"
OTHERS = "请试其他办法：归一化与残差连接、分支零初始化、换优化器，最后才是更低的学习率"
SIDES = {"high": "上", "low": "下", "upper": "上", "lower": "下"}
UNITS = {"steps": "步", "epochs": "个 epoch"}  # of training
WRONGS = {
    "diverged": "发散",
    "rose above its start": "升到初始值以上",
    "spiked": "出现尖峰",
    "rose": "上升",
}


def _side(facts: Facts) -> str:
    return f"{SIDES.get(facts['side'], facts['side'])}端"


def _unit(facts: Facts) -> str:
    return UNITS.get(facts["unit"]) or str(facts["unit"])


def _unstable_run(facts: Facts) -> str:
    when = "训练早期" if facts["early"] else "训练中期"
    after = "，之后恢复" if facts["recovered"] else ""
    return f"在第 {facts['at_step']} 步（{when}）{WRONGS.get(facts['what'], facts['what'])}{after}"


def _loss_never_logged(facts: Facts) -> str:
    logged = ", ".join(facts["logged"]) or "无"
    return (
        f"{facts['metric']}：从未记录（已记录：{logged}）。请每一步都记录它；"
        f"若它叫别的名称，请声明：{declaration('means', 'train_loss')}"
    )


def _not_probed(facts: Facts) -> str:
    if "error" in facts:  # as earlier stores have it
        return f"无法探测：{facts['error']}"
    return f"无法探测：{'；'.join(sentence(problem) for problem in facts['problems'])}"


def _remedy(facts: Facts) -> str:
    if facts["early"]:
        return "早期不稳定请先试预热：tunewright probe warmup"
    return "中期不稳定请试梯度裁剪：tunewright probe clip"


def _unstable_at_best(facts: Facts) -> str:
    rates = f"学习率 {facts['learning_rate']:.3g}（最好的是 {facts['best']:.3g}）"
    run = messages.sentence(facts["run"])
    return f"{rates}时已不稳定：损失{run}；{_remedy(facts)}"


def _unstable_above(facts: Facts) -> str:
    return (
        f"从学习率 {facts['learning_rate']:.3g} 起不稳定，即最好值 {facts['best']:.3g} 的 "
        f"{facts['times']:.3g} 倍：损失{messages.sentence(facts['run'])}。使它稳定，也许能用更高的"
        f"学习率得到更好的结果；{_remedy(facts)}"
    )


def _often(clipped: Facts) -> str:
    """How many updates a threshold clips."""
    if not clipped["too_often"]:
        return f"{clipped['share']:.0%} 的更新被裁剪"
    return (
        f"但第 {clipped['from_step']} 至 {clipped['to_step']} 步之间有 {clipped['worst']:.0%} 的"
        f"更新被裁剪：{DISGUISED}"
    )


def _clip_recorded(facts: Facts) -> str:
    text = (
        f"梯度裁剪可从 {facts['clip_norm']:.3g} 开始：试验 {facts['trial']} 稳定各步的梯度范数有 "
        f"90 % 低于它；{_often(facts['clipped'])}"
    )
    if facts["stable"]:
        text += "。它的训练是稳定的：只有不稳定时才需要裁剪"
    return text


def _clip_stable(facts: Facts) -> str:
    text = f"在 {facts['clip_norm']:.3g} 处裁剪使学习率 {facts['learning_rate']:.3g} 稳定"
    return text if facts["clipped"] is None else f"{text}；{_often(facts['clipped'])}"


def _clip_stable_headline(facts: Facts) -> str:
    if facts["clipped"] is not None and facts["clipped"]["too_often"]:
        return "请降低学习率：裁剪只会掩盖它"
    return f"在 {facts['clip_norm']:.3g} 处裁剪梯度：训练变得稳定"


def _clip_recorded_headline(facts: Facts) -> str:
    if facts["clipped"]["too_often"]:
        return "请降低学习率：裁剪只会掩盖它"
    if facts["stable"]:
        return "训练稳定：不需要裁剪"
    return f"梯度裁剪可从 {facts['clip_norm']:.3g} 开始"


def _no_warmup(facts: Facts) -> str:
    """That no warm-up alone is enough."""
    return f"至多 {facts['longest']:,} 步的预热都不能使学习率 {facts['learning_rate']:.3g} 稳定"


def _warmup_found(facts: Facts) -> str:
    norm, peak, unstable = facts["clip_norm"], facts["base_learning_rate"], facts["unstable"]
    also = "" if norm is None else f"加上 {norm:.3g} 处的梯度裁剪"
    text = (
        f"{facts['warmup_steps']:,} 步预热{also}使学习率 {peak:.3g} 稳定，是最低不稳定值 "
        f"{unstable:.3g} 的 {peak / unstable:.3g} 倍"
    )
    if facts["compared"] is not None:
        compared = messages.sentence(facts["compared"])
        return f"{text}；{compared}。是否改用它，由 `tunewright launch` 决定"
    if facts["search_again"] is not None:
        return f"{text}：请重新搜索 {facts['search_again']}，上限 {peak:.3g}"
    return text


def _warmup_headline(facts: Facts) -> str:
    also = "加裁剪" if facts["clip_norm"] is not None else ""
    return f"{facts['warmup_steps']:,} 步预热{also}使学习率 {facts['base_learning_rate']:.3g} 稳定"


def _comparison(facts: Facts) -> str:
    word = "好" if facts["gain"] > 0 else "差"
    spread = "" if facts["error"] is None else f"（标准误 {facts['error']:.2g}）"
    return (
        f"完整训练，学习率 {facts['learning_rate']:.3g}：{facts['metric']} 为 {facts['mean']:.4g}，"
        f"基线为 {facts['baseline']:.4g}，{word} {abs(facts['gain']):.2g}{spread}"
    )


def _criterion(facts: Facts) -> str:
    if facts["limit"] is None:
        return f"{facts['metric']} 与其下限相差 1 % 以内"
    return f"{facts['metric']} {'至多' if facts['falls'] else '至少'} {facts['limit']:.4g}"


def _fit(facts: Facts) -> str:
    return (
        f"恒定学习率 {facts['learning_rate']:g} 最先拟合训练数据"
        f"（{messages.sentence(facts['criterion'])}），用 {facts['steps']:g} {_unit(facts)}，"
        f"精确到 {facts['resolution']:.3g}"
    )


def _fits(facts: Facts) -> str:
    name, proposed, factor = facts["name"], facts["max_train_steps"], facts["factor"]
    allowed = f"，为以后的梯度噪声留出 {factor:g} 倍" if factor > 1 else ""
    text = f"{_fit(facts)}。请从 {name} = {proposed} 开始{allowed}。"
    if facts["more"] is not None:
        low, high = facts["more"]
        what = (
            "和".join(f" {name_of} " for name_of in facts["returns"]).strip() or "数据增强或正则化"
        )
        text += f"加上 {what} 需要更多：{low} 至 {high}。"
    return text


def _fits_at_edge(facts: Facts) -> str:
    return (
        f"{_fit(facts)}；但它位于扫描的{_side(facts)}，别的值可能更快：请在 "
        f"{facts['learning_rate']:g} 附近扫描。"
    )


def _reach(facts: Facts) -> str:
    return f"学习率 {facts['learning_rate']:g} 时 {facts['metric']} 为 {facts['value']:.4g}"


def _plateau(facts: Facts) -> str:
    return (
        f"训练数据始终没有拟合：{facts['length']} {_unit(facts)} 之后最好的是{_reach(facts)}，"
        "训练的后半段没有进展。请给出够好的值（at_most=，--at-most），或训练能拟合它的模型。"
    )


def _none_fits(facts: Facts) -> str:
    return (
        f"从 {facts['low']:g} 到 {facts['high']:g} 的恒定学习率，没有一个在 {facts['length']} "
        f"{_unit(facts)} 之内拟合训练数据"
    )


def _none_at_edge(facts: Facts) -> str:
    return (
        f"{_none_fits(facts)}，且最好的位于扫描的{_side(facts)}（{_reach(facts)}）：请在 "
        f"{facts['learning_rate']:g} 附近扫描。"
    )


def _compute_bound(facts: Facts) -> str:
    return (
        f"这里的调优受算力限制：{_none_fits(facts)}（{_reach(facts)}）。请按负担得起的算力选 "
        f"{facts['name']}，并用约十分之一长度的较短轮次调优。"
    )


def _about(facts: Facts) -> str:
    """The critical batch size with its interval."""
    if facts["low"] is not None and facts["high"] is not None:
        within = f"{words.two_digits(facts['low'])} 至 {words.two_digits(facts['high'])}"
    elif facts["low"] is not None:
        within = f"至少 {words.two_digits(facts['low'])}"
    elif facts["high"] is not None:
        within = f"至多 {words.two_digits(facts['high'])}"
    else:
        within = "任意大小"
    size = words.two_digits(facts["critical_batch_size"])
    head = f"{facts['metric']} 达到 {facts['goal']:.4g} 的临界批量大小"
    return f"{head}约为 {size}（95 %：{within}）"


def _critical_above(facts: Facts) -> str:
    return f"{_about(facts)}，高于试过的所有大小：直到 {facts['largest']}，增大批量几乎按比例减少步数。"


def _critical_below(facts: Facts) -> str:
    return (
        f"{_about(facts)}，低于试过的所有大小：从 {facts['smallest']} 起，增大批量几乎不减少步数。"
    )


def _critical_inside(facts: Facts) -> str:
    fewest = words.two_digits(facts["smallest_steps"])
    return (
        f"{_about(facts)}：低于它，增大批量几乎按比例减少步数；高于它，几乎不减少；"
        f"任何大小都至少需要约 {fewest} 步。"
    )


def _critical_headline(facts: Facts) -> str:
    return f"临界批量大小约为 {words.two_digits(facts['critical_batch_size'])}"


def _at_edge(facts: Facts) -> str:
    end = f"{facts['column']} 的 {facts['range']} 的{_side(facts)}"
    if facts["alone"]:
        text = f"最快的试验遥遥领先，单独位于{end}"
    else:
        text = f"最快的 {facts['best_few']} 次试验挤在{end}"
    if facts["proposed"] is None:
        way = "更大" if facts["side"] == "high" else "更小"
        return f"{text}；请在 {facts['column']} 的列表中加入{way}的值"
    return f"{text}；请在 {facts['proposed']} 中搜索 {facts['column']}"


def _coarse(facts: Facts) -> str:
    apart = f"每隔 {facts['spacing']:g} 步才评估一次，而要数的是 {facts['steps']:.3g} 步"
    return apart if facts["counts"] else f"{apart}：请在 run.eval_due(step) 要求时评估"


def _course(facts: Facts) -> str:
    scales = "，".join(
        f"训练 {share:.0%} 时{'淹没在噪声中' if value is None else f' {words.two_digits(value)}'}"
        for share, value in facts["course"]
    )
    return (
        f"梯度噪声尺度：{scales}（廉价的预筛，只准到数量级：它指出该研究哪些批量大小，"
        "不指出哪个是临界的）"
    )


def _course_headline(facts: Facts) -> str:
    _, last = facts["course"][-1]
    if last is None:
        return "梯度噪声尺度淹没在噪声中"
    return f"梯度噪声尺度最后约为 {words.two_digits(last)}"


def _off_value(facts: Facts) -> str:
    example = "constant" if facts["schedule"] else None
    return f"关闭 {facts['name']} 的值：{declaration('off', facts['name'], example)}"


def _holds_for(facts: Facts) -> str:
    return "适用于 " + "，".join(f"{name} = {value}" for name, value in facts["settings"].items())


_LONGER = (
    "试验 {trial} 从第 {from_step} 步训练到 {longer_steps} 步而不是 {steps} 步，{metric} 改进 "
    "{gain:number}（90 % 区间 {low:number} 至 {high:number}"
)
# code -> headline, sentence
ANSWERS: dict[str, tuple[Template, Template]] = {
    "probe.failed": ("探测没能测出它", _not_probed),
    "probe.stability.unknown": ("无法判断训练是否稳定", "无法判断训练是否稳定"),
    "probe.stability.never_finite": (
        "损失从来不是有限值：请先找错误",
        "学习率从 {low:.3g} 到 {high:.3g}，没有一次运行的训练损失是有限值，第一步也不是："
        "请在数据、损失或模型中找错误，而不是加预热",
    ),
    "probe.stability.stable": (
        "直到最好学习率的 {times:.3g} 倍都稳定",
        "学习率直到最好值 {best:.3g} 的 {times:.3g} 倍，{steps} 步内都稳定：压低它的不是不稳定",
    ),
    "probe.stability.unstable_at_best": ("最好的学习率已不稳定", _unstable_at_best),
    "probe.stability.unstable_above": ("从最好学习率的 {times:.3g} 倍起不稳定", _unstable_above),
    "probe.longer.unknown": ("无法判断更长的训练是否有用", "无法判断更长的训练是否有用"),
    "probe.longer.open": (
        "更长的训练可能有用：种子间差异太大，无法定论",
        _LONGER + "）；种子间相差 {sd:number}",
    ),
    "probe.longer.helps": (
        "更长的训练有用：{longer_steps} 步约改进 {gain:number}",
        _LONGER + "；种子间相差 {sd:number}）",
    ),
    "probe.longer.does_not": (
        "更长的训练没有用",
        _LONGER + "），不到有意义的 {matters:number}",
    ),
    "probe.clip.unknown": ("无法判断在哪里裁剪", "无法判断在哪里裁剪"),
    "probe.clip.recorded": (_clip_recorded_headline, _clip_recorded),
    "probe.clip.not_needed": (
        "训练稳定：不需要裁剪",
        "{stability:message}；没有需要裁剪的。若仍要裁剪，请从梯度范数的第 90 百分位 "
        "{clip_norm:.3g} 开始",
    ),
    "probe.clip.still_unstable": (
        "裁剪不能使训练稳定",
        "裁剪不能使学习率 {learning_rate:.3g} 稳定：即使在 {clip_norm:.3g} 处裁剪，损失{run:message}。"
        "请降低学习率，或试预热：tunewright probe warmup",
    ),
    "probe.clip.stable": (_clip_stable_headline, _clip_stable),
    "probe.warmup.unknown": ("无法判断预热是否有用", "无法判断预热是否有用"),
    "probe.warmup.not_needed": (
        "不需要预热：训练稳定",
        "不需要预热：{stability:message}",
    ),
    "probe.warmup.clipping_untried": (
        "预热不够，又无法试裁剪",
        lambda facts: f"{_no_warmup(facts)}；下一个办法是裁剪，但无法试",
    ),
    "probe.warmup.clipping_works": (
        "预热不够，但裁剪够",
        lambda facts: f"{_no_warmup(facts)}，但{messages.sentence(facts['clip'])}",
    ),
    "probe.warmup.failed": (
        "预热不能使更高的学习率稳定",
        lambda facts: f"{_no_warmup(facts)}；{OTHERS}",
    ),
    "probe.warmup.failed_with_clipping": (
        "预热和裁剪都不能使训练稳定",
        lambda facts: f"{_no_warmup(facts)}，裁剪不能，两者并用也不能；{OTHERS}",
    ),
    "probe.warmup.found": (_warmup_headline, _warmup_found),
    "probe.train_steps.not_begun": (
        "扫描无法开始：缺少一些东西",
        "扫描无法开始：缺少它需要的东西。",
    ),
    "probe.train_steps.unknown": ("不知道何时拟合训练数据", "不知道何时拟合训练数据。"),
    "probe.train_steps.diverges": (
        "所有恒定学习率都发散",
        "从 {low:g} 到 {high:g} 的恒定学习率都发散：见 `tunewright probe stability`。",
    ),
    "probe.train_steps.fits": ("请从 {name} = {max_train_steps} 开始", _fits),
    "probe.train_steps.fits_at_edge": (
        lambda facts: f"最快的学习率位于扫描的{_side(facts)}",
        _fits_at_edge,
    ),
    "probe.train_steps.plateau": ("训练数据始终没有拟合", _plateau),
    "probe.train_steps.none_at_edge": (
        lambda facts: f"最好的学习率位于扫描的{_side(facts)}",
        _none_at_edge,
    ),
    "probe.train_steps.compute_bound": (
        lambda facts: f"调优受算力限制：{facts['length']} {_unit(facts)} 之内没有一个拟合",
        _compute_bound,
    ),
    "probe.critical_batch.no_goal": (
        "最小的批量大小定不出目标",
        "最小的批量大小定不出目标。",
    ),
    "probe.critical_batch.too_few_sizes": (
        "可计入的批量大小太少，找不到临界值",
        "不知道临界批量大小：{sizes} 个批量大小中有 {counted} 个计入，需要 {needed} 个。",
    ),
    "probe.critical_batch.above": (_critical_headline, _critical_above),
    "probe.critical_batch.below": (_critical_headline, _critical_below),
    "probe.critical_batch.inside": (_critical_headline, _critical_inside),
    "probe.noise_scale.course": (_course_headline, _course),
}
SENTENCES: dict[str, Template] = {
    **{code: sentence for code, (_, sentence) in ANSWERS.items()},
    **{f"{code}.headline": headline for code, (headline, _) in ANSWERS.items()},
    # what happened to a short run
    "probe.run.unknown": "无法判断",
    "probe.run.stable": "稳定",
    "probe.run.no_lower": "结束时不比开始时低",
    "probe.run.unstable": _unstable_run,
    # whole trainings compared
    "probe.prepended.unstable": "完整训练中并非每个种子都稳定（{metric}）",
    "probe.prepended.compared": _comparison,
    # what a judgement needs
    "probe.text": "{text}",  # of a store of version 1
    "probe.longer.not_restored": (
        "快照在第 {step} 步，程序却从另一步开始。请让它恢复：`if run.restored is not None: ...`"
    ),
    "probe.longer.too_few": "完成的分支太少：与试验同长的 {as_long} 个，更长的 {longer} 个",
    "probe.longer.no_noise": "所有种子给出同一个值，因此不知道噪声：请重复最好的试验",
    "probe.longer.more_seeds": "更多种子：--times {times}",
    "probe.longer.from_the_end": (
        "唯一的快照在训练结束时：更长的分支只能与试验本身比较，而它因为最好才被选中，看起来比实际好"
    ),
    "probe.finite_loss_needed": (
        "第一步有限的 {metric}：请在更新之前，用一个批检查输入和标签有无 NaN、损失有无 log(0) "
        "或除以 0，以及精度"
    ),
    "probe.takes_no_hyperparameter": (
        "{name}：训练程序不接受这个超参数。请让它接受；若它叫别的名称，请声明：{meaning:means}"
    ),
    "probe.no_value": (
        "{name}：没有已知的大于 0 的值。请固定一个，或从有它的轮次开始；若它叫别的名称，"
        "请声明：{meaning:means}"
    ),
    "probe.unclipped_unknown": "{name}：不知道哪个值表示不裁剪。请声明：{name:off}",
    "probe.infeasible_run": "可行的训练：{reason}",
    "probe.loss_never_logged": _loss_never_logged,
    "probe.too_few_points": (
        "每一步的 {metric}：它有 {points} 个点，需要 {needed} 个。请每一步都记录，或在 "
        "run.eval_due(step) 要求时评估（命令行程序用 {{run.eval_every}}）"
    ),
    "probe.clip.too_few_norms": "更多稳定的步：试验 {trial} 记录的范数太少",
    "probe.clip.norms_after_clipping": (
        "裁剪之前的 {name}：记录的是裁剪之后的范数。请记录裁剪的输入（clip_grad_norm_ 返回它）"
    ),
    "probe.clip.no_norms": (
        "{name}：记录的范数太少。请每一步在裁剪之前记录整个梯度的范数；若它叫别的名称，"
        "请声明：{declare.means.gradient_norm}"
    ),
    "probe.too_few_steps": (
        "更长的运行：{steps} 步太少，不能判断训练是否稳定；至少需要 {needed} 步"
        "（--steps {needed}，Python 中 steps={needed}）"
    ),
    "probe.logged_too_rarely": (
        "每一步的 {metric}：程序每 {every} 步记录一次，{steps} 步只得 {points} 个点，需要 "
        "{needed} 个。请每一步都记录，或在 run.eval_due(step) 要求时评估"
        "（命令行程序用 {{run.eval_every}}），或用 --steps {needed_steps}"
    ),
    "probe.warmup.too_few_steps": "{steps} 个训练步太少，容不下任何预热",
    "probe.train_steps.rate_varied": (
        "恒定的学习率：{round} 的试验 {trial} 记录的学习率在 {low:.4g} 与 {high:.4g} 之间。"
        "请让程序可以选择学习率调度，并声明哪个是恒定的：{declare.means.schedule}，"
        "{declare.off.schedule:constant}"
    ),
    "probe.train_steps.never_logged": (
        "{wanted}：从未记录（已记录：{logged:list}）。请在评估时记录一部分固定训练数据上的误差，"
        "或声明 {declare.means.train_loss}"
    ),
    "probe.train_steps.no_name": (
        "程序中 {meaning} 的名称：它接受 {takes:list}；请声明 {meaning:means}"
    ),
    "probe.train_steps.no_rate": (
        "一个学习率，在它附近扫描：learning_rate=0.01（--learning-rate 0.01）"
    ),
    "probe.train_steps.no_length": (
        "最初训练多长：max_train_steps=1000（--max-train-steps 1000），或 "
        "{declare.means.steps_per_epoch}，用 20 个 epoch"
    ),
    "probe.train_steps.no_value": ("{name} 的值：fixed={{{name!r}: ...}}（--fixed {name}=...）"),
    "probe.off_value": _off_value,
    "probe.critical_batch.few_feasible": (
        "批量大小 {batch_size} 需要三次可行的试验：{trials} 次中有 {feasible} 次。请缩小范围"
        "（见 {check}），或给出 goal="
    ),
    "probe.critical_batch.problem": "批量大小 {batch_size}：{why:message}",
    "probe.critical_batch.few_reach": (
        "{trials} 次试验中 {reached} 次达到 {goal:.4g}，需要 {needed} 次：更多试验、更多步数，"
        "或更容易的目标"
    ),
    "probe.critical_batch.few_for_edges": (
        "{feasible} 次可行的试验；需要 {needed} 次才能看出最快的是否在范围之内：更多试验"
    ),
    "probe.critical_batch.at_edge": _at_edge,
    "probe.critical_batch.coarse": _coarse,
    # what an answer rests on
    "probe.schedule_squeezed": (
        "短运行保留学习率调度，只是压缩到其长度之内。要保持恒定，请让程序接受 {name}，并声明 "
        "{name:off {constant}}"
    ),
    "probe.clip.share_unknown": "不知道裁剪了多少：请记录裁剪之前的 {name}",
    "probe.warmup.long": ("占 {name} 的 {share:percent} 的预热很长：训练总共 {steps:,} 步可能不够"),
    "probe.no_schedule": "假定程序的学习率恒定；它没有学习率调度",
    "probe.holds_for": _holds_for,
    "probe.stayed_on": "{names:list} 按要求保持开启",
    "probe.critical_batch.left_out": "未计入：批量大小 {batch_size}：{why:message}",
    "probe.critical_batch.misfit": ("步数不符合曲线 S_min (1 + B_crit / B)：请分别看每个大小"),
    "probe.critical_batch.caveat": "批量大小 {batch_size}：{why:message}",
    "probe.criterion": _criterion,
    "probe.interrupted": "已中断；再次运行同样的命令即可从中断处恢复",
}
