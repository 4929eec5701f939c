"""Launch decisions, variances and final tests in Chinese."""

from __future__ import annotations

from collections.abc import Callable

from tunewright import messages
from tunewright.messages import Facts, Reader, Template, declaration, words

# what a warning of the checklist means for a launch, by check
OBJECTIONS = {
    "baseline": "这一轮什么也没有学到",
    "training_bug": "训练本身看起来有错",
    "overfitting": "最好的试验过拟合；请先正则化，再比较设置",
    "fairness": "各设置的调优程度不同",
    "boundary": "最好的试验挤在范围的一端",
    "edge_of_divergence": "不稳定压低了最好的学习率",
    "applied": "程序没有使用给它的某个值",
    "same_code": "这一轮的试验不是同一份代码跑出来的",
}
CLAIMS = {"feature": "一个特性", "hyperparameters": "仅超参数"}
SOURCES = {"trial": "种子", "study": "调优", "data": "数据"}


def _headline(facts: Facts) -> str:
    """Should I launch?"""
    verdict, margin = facts["verdict"], facts["not_worse_by"]
    if facts["because"] == "launch.deterministic":
        way = "上线" if verdict == "launch" else "保留基线"
        better = "更好" if facts["gain"] > 0 else "更差"
        by = f"{better}，相差 {abs(facts['gain']):.3g}" if facts["gain"] else "相等"
        return f"{way}：{by}（确定性程序：没有概率）"
    if verdict == "launch":
        sure = words.probability(facts["probability"])
        if margin is not None:
            return f"上线：变差不超过 {margin:.3g} 的概率{sure}"
        return f"上线：更好的概率{sure}"
    if verdict == "keep":
        if margin is not None:
            return f"保留基线：损失可能超过 {margin:.3g}"
        if facts["gain"] is not None and facts["gain"] <= 0:
            return "保留基线：候选并不更好"
        if facts["because"] == "launch.futile":
            return "保留基线：不太可能有值得的改进"
        if facts["complexity"]:
            return "保留基线：改进可能不值其代价"
        return "保留基线：改进可能只是噪声"
    if facts["runs_needed"]:
        return f"未定：双方各需再运行 {facts['runs_needed']} 次"
    return UNDECIDED.get(facts["because"], _check_objects)(facts)


def _check_objects(facts: Facts) -> str:
    return f"未定：{OBJECTIONS.get(facts['check'], '检查清单有异议')}"


UNDECIDED: dict[str, Callable[[Facts], str]] = {
    "launch.too_small": lambda facts: "未定：差异太小，看不出来",
    "launch.different_splits": lambda facts: "未定：两者在不同的数据上评估",
    "launch.infeasible_repeats": lambda facts: "未定：候选的训练较不稳定",
    "launch.too_few_runs": lambda facts: "未定：完成的运行太少",
    "launch.identical_repeats": lambda facts: "未定：程序没有使用种子",
    "launch.different_lengths": lambda facts: "未定：两者的训练长度不同",
    "launch.not_deterministic": lambda facts: "未定：声明为确定性程序，但重复结果不同",
}


def _probability(facts: Facts) -> str:
    candidate, baseline = words.place(facts["candidate"]), words.place(facts["baseline"])
    if facts["not_worse_by"] is not None:
        what = f"{candidate} 比 {baseline} 变差不超过 {facts['not_worse_by']:.3g}"
    elif facts["must_exceed"]:
        what = f"{candidate} 比 {baseline} 至少好 {facts['must_exceed']:.3g}"
    else:
        what = f"{candidate} 优于 {baseline}"
    sure, needed = words.probability(facts["probability"]), words.probability(facts["threshold"])
    return f"{what} 的概率{sure}；上线需要 {needed}"


def _difference(facts: Facts) -> str:
    gain, expected, (low, high) = facts["gain"], facts["shrunk_gain"], facts["interval"]
    means = (
        f"{facts['metric']} {facts['candidate_mean']:.4g}（{facts['candidate_runs']} 次运行）对 "
        f"{facts['baseline_mean']:.4g}（{facts['baseline_runs']} 次）"
    )
    if gain < 0:
        low, high = -high, -low
    within = f"90 % 区间 {low:.3g} 至 {high:.3g}"
    if not gain:
        return f"{means}：相等（{within}）"
    way = "好" if gain > 0 else "差"
    return f"{means}：{way}约 {abs(expected):.3g}（{within}；观测值 {abs(gain):.3g}，已按种子方差收缩）"


def _deterministic(facts: Facts) -> str:
    gain = facts["gain"]
    way = "相等" if not gain else f"{'好' if gain > 0 else '差'} {abs(gain):.3g}"
    margin = ""
    if facts["not_worse_by"] is not None:
        margin = f"，可接受的损失为 {facts['not_worse_by']:.3g}"
    elif facts["must_exceed"]:
        margin = f"，要求的改进为 {facts['must_exceed']:.3g}"
    return (
        f"确定性程序：{way}（{facts['metric']} {facts['candidate_mean']:.4g} 对 "
        f"{facts['baseline_mean']:.4g}）{margin}；没有概率"
    )


def _identical(facts: Facts) -> str:
    arms = "和 ".join(f"{label}（{runs} 次）" for label, runs in facts["runs"].items())
    return (
        f"{arms}的所有重复都给出同一个值：程序没有使用种子，无法给出概率。请让它使用 "
        "run.seeds（命令行程序用 {run.seed}），或声明："
        f"{declaration('workload', 'deterministic', True)}"
    )


def _not_deterministic(facts: Facts) -> str:
    arms = "，".join(f"{label} 相差 {sd:.3g}" for label, sd in facts["arms"].items())
    return f"程序声明为确定性，但重复结果不同：{arms}"


def _false_launches(facts: Facts) -> str:
    if facts["not_worse_by"] is not None:
        what = f"差 {facts['not_worse_by']:.3g} 的候选"
    elif facts["must_exceed"]:
        what = f"改进不超过 {facts['must_exceed']:.3g} 的改动"
    else:
        what = "毫无作用的改动"
    if facts["candidates"] > 1:
        what += f"（{facts['candidates']} 个候选中的任何一个）"
    most = "至多" if facts["at_most"] else "约"
    return f"按此规则，{what}{most}有 {words.probability(facts['rate'])} 的决策会被上线"


def _other_runs(facts: Facts) -> str:
    runs = "和".join(f" {count} " for count in facts["asked"]).strip()
    looks = " ".join(map(str, facts["looks"]))
    return f"运行了 {runs} 次而计划是 {facts['planned']} 次：按查看计划 {looks} 中的一次判断"


def _earlier_look(facts: Facts) -> str:
    looks = " ".join(map(str, facts["looks"]))
    return f"这一对以前决定过：按查看计划 {looks} 中的一次判断"


def _too_few_runs(facts: Facts) -> str:
    arms = {"each": "双方各", "candidate": "候选", "baseline": "基线"}
    arm = arms.get(facts["arm"], facts["arm"])
    more = "" if facts["sd_known"] else "；再少就看不出离散程度，除非给出 sd="
    runs = f"{facts['candidate_runs']} + {facts['baseline_runs']} 次运行"
    return f"{runs}：{arm}至少需要 {facts['needed']} 次{more}"


def _futile(facts: Facts) -> str:
    if facts["not_worse"]:
        return "概率这么低，不值得再运行"
    chance = words.probability(facts["probability"])
    return f"改进超过 {facts['gain']:.3g} 的概率为 {chance}：不值得再运行"


def _objection(facts: Facts) -> str:
    of = "" if facts["scope"] == "round" else f"（{facts['about']}）"
    text = messages.finding(facts["check"], facts["verdict"], facts["evidence"])
    return f"{OBJECTIONS[facts['check']]}{of}：{text}"


def _claim(why: str) -> Callable[[Facts], str]:
    def claim(facts: Facts) -> str:
        return f"结论针对{CLAIMS[facts['claim']]}：{messages.fill(why, facts)}"

    return claim


def _runs_lost(facts: Facts) -> str:
    lost = [f"{facts['failed']} 次失败"] * bool(facts["failed"])
    lost += [f"{facts['unfinished']} 次尚未结束"] * bool(facts["unfinished"])
    return f"{facts['arm']} 的 {facts['asked']} 次重复中，{'，'.join(lost)}"


def _value_held(facts: Facts) -> str:
    when = "、".join(f"{name} = {value}" for name, value in facts["when"])
    return f"{facts['name']} = {facts['value']}{f'（当 {when}）' if when else ''}"


def _all_held(facts: Facts) -> str:
    return f"适用于 {'，'.join(_value_held(value) for value in facts['held'])}"


def _holds_for(facts: Facts) -> str:
    return f"适用于 {_value_held(facts)}"


def _look(facts: Facts) -> str:
    """One look of a launch that is still running, on one line."""
    runs = f"{facts['candidate_runs']} + {facts['baseline_runs']} 次运行"
    if facts["probability"] is None:
        return f"{runs}：太少，无法判断"
    sure, needed = words.probability(facts["probability"]), words.probability(facts["threshold"])
    more = f"；接着双方各再运行 {facts['runs_needed']} 次" if facts["runs_needed"] else ""
    return f"{runs}：概率 {sure}，上线需要 {needed}{more}"


def _asks(facts: Facts) -> str:
    """What a planned launch asks, at which probability and how many runs."""
    metric, asks = facts["metric"], "更好"
    if facts["not_worse_by"] is not None:
        asks = f"{metric} 变差不超过 {words.number(facts['not_worse_by'])}"
    elif facts["complexity"]:
        asks = f"{metric} 至少好 {words.number(facts['complexity'])}"
    looks = ", ".join(map(str, facts["looks"]))
    sure = words.probability(facts["threshold"])
    return f"{asks}，概率 {sure}，双方各运行 {looks} 次时判断"


def _cost(facts: Facts) -> str:
    low, high = facts["runs"]
    runs = f"{low}" if low == high else f"{low} 至 {high}"
    candidate, baseline = facts["there"]
    time = words.duration_range(*facts["seconds"])
    return f"{runs} 次运行（已有 {candidate} 和 {baseline} 次），一个工作进程需 {time}"


def _history(facts: Facts) -> str:
    if facts["sd"] is None:
        return "没有：只能由这些运行看出离散程度"
    known = "声明的" if facts["declared"] else f"由 {facts['runs']} 次较早的重复得出"
    return f"标准差 {words.number(facts['sd'])}（{known}）"


def _power(facts: Facts) -> str:
    if facts["sequential"]:
        shares = "，".join(f"{e:g} 个标准差：{words.probability(p)}" for e, p in facts["finds"])
        return f"改进能被上线发现的比例，{shares}"
    needed = "，".join(f"{effect:g} 个标准差 {runs} 次" for effect, runs in facts["finds"])
    return f"100 次上线中发现 80 次，按改进大小双方各需运行：{needed}"


def _decision(facts: Facts) -> str:
    """What a recorded decision rests on, on one line."""
    if facts["gain"] is None:
        return "没有比较"
    if facts["probability"] is None:
        return f"{facts['metric']} 相差 {words.number(facts['gain'])}，确定性程序"
    of = f"{facts['metric']} 改进约 {words.number(facts['gain'])}"
    if facts["not_worse_by"] is not None:
        of = f"{facts['metric']} 的损失低于 {words.number(facts['not_worse_by'])}"
    candidate, baseline = facts["runs"]
    sure = words.probability(facts["probability"])
    claim = CLAIMS.get(facts["claim"], facts["claim"])
    return f"概率 {sure}，{of}，{candidate} + {baseline} 次运行，针对{claim}"


def _halves(facts: Facts) -> str:
    each = "各" if facts["each"] else ""
    return f"约值，由{each} {facts['trials']} 次试验的两半得出"


def _final(facts: Facts) -> str:
    metrics = "，".join(f"{name} {value:.4g}" for name, value in facts["metrics"].items())
    which = "一次重复" if facts["trial"] is None else f"试验 {facts['trial']}"
    promised = ""
    if facts["value"] is not None:
        promised = f"；当时的 {facts['objective']} 为 {facts['value']:.4g}"
    return f"{which} 第 {facts['step']} 步在测试集上：{metrics}{promised}"


def _record(facts: Facts) -> str:
    round, metric = words.shell_word(facts["round"]), words.shell_word(facts["metric"])
    option = "--minimize" if facts["minimize"] else "--maximize"
    ranked = f"tunewright show {round} {option} {metric}"
    return f"已记录：{ranked} 按它排序；tunewright trial {round} N 显示它"


def _look_at(facts: Facts) -> str:
    why = (
        "在那里测过另一个配置，两者中较好的就等于由测试集选出"
        if facts["other"]
        else "那是同一个检查点，还没有用它选择什么"
    )
    return (
        f"测试集以前看过 {facts['times']} 次（{', '.join(facts['days'])}）：{why}。"
        "要报告数字，请用新的测试数据，或报告第一次的结果。"
    )


def _final_headline(facts: Facts) -> str:
    name, value = next(iter(facts["metrics"].items()))
    if not facts["looks_before"]:
        return f"报告 {name} {value:.4g}：第一次查看测试集"
    return f"{name} {value:.4g}，但测试集以前用过"


# ---- sentences of the errors raised in `launches`


def _unknown_baseline(facts: Facts) -> str:
    near = facts["near"]
    hint = f"是否想写 {near!r}？" if near else f"现有：{', '.join(facts['known'])}。"
    return (
        f"baseline {facts['named']}：没有这个名称的轮次，也不是试验编号；{hint}请给出轮次"
        "（取其最好的试验）、ROUND:7，或本轮某次试验的编号。"
    )


_ANY_LENGTH: dict[Reader, str] = {"python": "any_length=True", "shell": "--any-length"}
SENTENCES: dict[str, Template] = {
    # ---- launches
    # the decision
    "launch.headline": _headline,
    "launch.first": "{candidate:place} 是第一个基线；下一个候选必须胜过它",
    "launch.planned": "只计划，未运行：{candidate:place} 对 {baseline:place}",
    "launch.interrupted": "已中断：没有记录任何结果；再次进行同样的调用即可恢复",
    "launch.still_running": "{round} 的 {trials:count trial}尚未结束：最好的可能改变",
    "launch.look": _look,
    # reasons
    "launch.probability": _probability,
    "launch.difference": _difference,
    "launch.deterministic": _deterministic,
    "launch.identical_repeats": _identical,
    "launch.not_deterministic": _not_deterministic,
    "launch.different_lengths": {
        reader: (
            "候选训练 {candidate:g} 步，基线训练 {baseline:g} 步：差别在于训练更久。"
            f"请让两者训练同样长，或用 {how} 明确要求"
        )
        for reader, how in _ANY_LENGTH.items()
    },
    "launch.too_small_to_find": (
        "{gain:.3g} 的改进太小：即使各运行 {runs} 次，100 次决策中也发现不到 80 次"
    ),
    "launch.runs_to_find": "要在 100 次决策中发现 80 次 {gain:.3g} 的改进，各需约 {runs} 次运行",
    "launch.false_launches": _false_launches,
    "launch.claim_declared": _claim("由声明给出"),
    "launch.claim_other_code": _claim("候选与基线的代码不同"),
    "launch.claim_unknown_change": _claim("没有记录改动了什么"),
    "launch.claim_scientific": _claim("这一轮问的是 {names:list}"),
    "launch.claim_not_asked": _claim("只有 {names:list} 变了，而这一轮没有问它"),
    "launch.variance_included": lambda facts: (
        f"区间已计入{SOURCES[facts['source']]}方差：标准差 {facts['sd']:.3g}，"
        f"{messages.sentence(facts['how'])}"
    ),
    "launch.looked_before": _earlier_look,
    "launch.other_runs": _other_runs,
    "launch.different_splits": (
        "双方在不同的数据划分上评估（两个轮次的种子不同）：相同的设置也会显得不同。请在同一种子的"
        "轮次中重复两者，或在程序不由种子决定划分时给出 same_data=True"
    ),
    "launch.infeasible_repeats": (
        "候选的 {candidate_asked} 次重复中有 {candidate} 次不可行，基线的 {baseline_asked} 次中有 "
        "{baseline} 次：只对其余求平均会掩盖它。请先解决不稳定"
    ),
    "launch.finding": _objection,
    "launch.too_few_runs": _too_few_runs,
    "launch.no_spread": "双方各 {runs} 次运行碰巧都给出同一个值：还没有可用于判断的离散程度",
    "launch.unbalanced": (
        "候选 {candidate_runs} 次运行，基线 {baseline_runs} 次：{arm} 再运行 {more} 次即可平衡"
    ),
    "launch.futile": _futile,
    "launch.next_look": "下一次查看在各 {runs} 次运行时",
    "launch.too_small": "各运行 {runs} 次之后仍未定：差异小于这些运行所能显示的",
    # caveats
    "launch.only_this_point": "只针对这一个点：没有问无论怎样调优该特性是否都有用",
    "launch.one_run": "各运行一次，两个标准差的效应也不到一半机会被发现",
    "launch.unplanned_look": "在 {runs} 次运行时判断，这不是计划中的查看（{looks:list}）",
    "launch.history_contradicted": ("较早的重复标准差为 {sd:.3g}；这些运行与之矛盾，因此没有采用"),
    "launch.unequal_spread": (
        "{arm} 的离散程度是另一方的 {ratio:.1f} 倍：若噪声偏斜，各运行五次时，相等的两者有多达 "
        "22 % 会被上线"
    ),
    "launch.same_curves": "{arm} 的 {runs} 次重复都给出同一个值：程序使用种子了吗？",
    "launch.lost_runs": _runs_lost,
    "launch.baseline_infeasible": "基线的 {asked} 次重复中有 {infeasible} 次不可行",
    "launch.different_code": (
        "候选与基线的代码不同（{candidate:list} 与 {baseline:list}）：改进来自所有改动的总和"
    ),
    "launch.reused_runs": (
        "基线的 {runs} 次运行曾使它自己上线。噪声参与了对它的选择，它因此更难被超过：误差偏向安全的一侧"
    ),
    "launch.all_held": _all_held,
    "launch.holds_for": _holds_for,
    # the plan of a launch
    "launch.baseline_named": "按指定",
    "launch.baseline_launched": "上次上线的",
    "launch.baseline_start": "{study}：本轮的起点",
    "launch.asks": _asks,
    "launch.cost": _cost,
    "launch.history": _history,
    "launch.power": _power,
    "launch.narrow_margin": "容差低于一个标准差（{sd:number}）时，多半不能定论",
    "launch.decided": _decision,
    "launch.none_yet": "还没有决定过上线：tunewright launch ROUND",
    "launch.nothing_run": "没有启动运行。要按原样上线这个点：--claim hyperparameters",
    "launch.recorded": "已记录：tunewright history。基线：{baseline:place}",
    "repeat.identical": (
        "试验 {trials:list} 的所有重复都给出同一个值：程序没有使用种子。请让它使用 "
        "run.seeds（命令行程序用 {{run.seed}}），或声明：{declare.workload.deterministic:true}"
    ),
    # variances
    "variance.repeats": "由 {repeats} 次重复得出",
    "variance.halves": _halves,
    "variance.studies": "由 {studies} 个研究得出",
    "variance.replicates": "由 {studies} 个复现轮次得出",
    "variance.splits": "由 {splits} 个数据划分得出",
    "variance.examples": "由 {examples} 个样本得出",
    "variance.examples_of_runs": "由 {runs} 次运行的 {examples} 个样本得出，逐次运行计算",
    "variance.shared_examples": "由 {examples} 个共同样本得出",
    "variance.measurement": lambda facts: (
        "由每个值的不确定度得出，在相同的"
        + (f" {facts['examples']} 个样本上测量" if facts["examples"] else "样本上测量")
    ),
    "variance.bootstrap": "由 {examples} 个共同样本得出，重抽样 {draws} 次",
    "variance.title": "{round} 中 {metric} 的标准差",
    "variance.nothing_known": "还一无所知",
    "variance.optimism": "最好值因为最好才被选中：很可能至少偏乐观 {size:number}",
    "variance.of.trial": "相同配置，换种子",
    "variance.of.study": "重做一次搜索时的最好值",
    "variance.of.data": "最好配置的一次运行，换样本",
    "variance.of.data_of_gain": "它对第二名的领先（重复取平均），换样本",
    "variance.of.splits": "相同配置，换数据划分",
    # evaluations and the final test
    "evaluation.not_selected": "它{status}，所以没有选出它的检查点",
    "evaluation.name_taken": "{name} 既是它的超参数，又是命令的字段",
    "evaluation.failed": "{cause}",
    "evaluation.best_kept": "保留的最好检查点，用于第 {step} 步",
    "evaluation.recorded": _record,
    "evaluation.no_metric": "评估结束时没有给出指标",
    "evaluation.logged_in_training": (
        "训练自己记录了 {metric}：请给离线指标另取名称，例如 full_{metric}"
    ),
    "final.headline": _final_headline,
    "final.measured": _final,
    "final.first_look": ("检查点由验证集选出，测试集通常会略差。请报告这个数字；不要用它调优。"),
    "final.looked_before": _look_at,
    # ---- errors launches
    "final_test.fold_needs_last_launch": (
        "把 {round} 的验证数据并入训练数据之后，就没有数据可以判断下一次改动。只有这个训练程序以后"
        "不再上线时才这样做，并声明：no_later_launch=True（--no-later-launch）。"
    ),
    "final_test.fold_without_switch": (
        'fold(switch={{}})：请给出超参数，{{"train_on_validation": True}}'
    ),
    "final_test.not_a_test_look": (
        "用 {with_} 的评估没有查看测试集：请调用 evaluate(..., test=True)。"
    ),
    "final_test.not_measured": "无法测量试验 {trial}：{reason}{detail}",
    "final_test.other_trial": (
        "测试集已测过试验 {before}（{looks} 次）：再看试验 {trial}，就等于由测试集选择。"
        "仍要查看：anyway=True（--anyway）。"
    ),
    "final_test.switched_on_already": (
        "试验 {trial} 训练时已有 {name} = {value!r}：它的验证指标测的是训练数据，不应据此选它。"
    ),
    "final_test.trial_of_a_trial": "trial= 从结果中选一次试验：请给出结果，而不是试验。",
    "final_test.unknown_switch": "试验 {trial} 没有超参数 {name!r}。{hint}",
    "launch.already_baseline": "{round} 的试验 {trial} 已是基线：没有可上线的。",
    "launch.already_the_baseline": (
        "{round} 的试验 {trial} 已是基线：没有可上线的。请用 trial=（--trial N）指定另一个候选；"
        "`tunewright history` 列出上线过的。"
    ),
    "launch.bad_candidates": "candidates={candidates!r}：有几个候选与此基线比较，从 1 起。",
    "launch.bad_complexity": (
        "complexity={complexity!r}：值得其代价的改进，从 0 起。要问能否去掉某样东西，请用 "
        "not_worse_by=。"
    ),
    "launch.bad_detect": "detect={detect!r}：值得发现的最小差异，大于 0。",
    "launch.bad_not_worse_by": (
        "not_worse_by={not_worse_by!r}：可以接受的损失，大于 0，以指标的单位计。"
    ),
    "launch.bad_plan": "plan={plan!r}：双方各运行多少次时决定，从 1 起的整数；"
    "要多次查看，请用 tunewright.launches.launch 中的计划。",
    "launch.bad_splits": "splits={splits!r}：数据划分的个数，从 {fewest} 起。",
    "launch.baseline_not_completed": (
        "{round}：作为基线的 {label} 没有完成的试验。请指定另一个：against=（--baseline）。"
    ),
    "launch.candidate_is_baseline": "{label} 既是候选又是基线：请与另一个比较。",
    "launch.examples_differ": (
        "候选有 {candidate} 个样本，基线有 {baseline} 个：两者必须在相同的样本上、以相同的顺序评估。"
    ),
    "launch.first_is_baseline": (
        "{place:place} 已是基线：请去掉 first=True（--first）再上线，以便与它比较。"
    ),
    "launch.looks_not_growing": "查看计划 {looks}：应为递增的运行次数，从 1 起。",
    "launch.no_baseline": (
        "{round} 只有一个设置，以前也没有上线过：没有基线。请用 first=True（{command} --first）"
        '把它最好的试验作为第一个基线，或用 against="ROUND"（{command} --baseline ROUND）指定。'
    ),
    "launch.no_calibrated_plan": (
        "{looks} 次查看的计划：阈值只为一次、5 和 10 次运行、3 5 8 13 20、以及 3 5 7 ... 19 标定过。"
    ),
    "launch.no_other_setting": "{round}：除 {label} 外没有完成的设置。",
    "launch.not_a_candidate": (
        "launch({candidate!r})：请给出结果，或一次试验，例如 results.best(layers=2)。"
    ),
    "launch.not_an_array": "{path}：不是数字数组（{error}）。",
    "launch.not_repeats": "请给出一次试验的重复：tw.repeat(results.best(), workload, times=5)。",
    "launch.objectives_differ": (
        "候选按 {candidate} 评判，基线按 {baseline}：请用 results.with_objective(...) 统一评判。"
    ),
    "launch.repeats_differ_in_objective": "这些重复按不同的目标评判。",
    "launch.split_of_every_value": (
        "{label}：{splits} 个划分上有 {values} 个值；请给出每个值所属的划分。"
    ),
    "launch.study_variance_unknown": (
        "in_general（--in-general）：不知道改进的调优方差。它需要两个研究各有八次可行的试验，"
        "或三次复现：tw.launches.variance(results, workload, studies=3)"
        "（tunewright variance ROUND --studies 3）。"
    ),
    "launch.too_few_examples": "{what}：请给出至少 {fewest} 个有限数，每个样本一个。",
    "launch.candidate_pruned": (
        "{round} 的试验 {trial} 被提前停止，没有最终值：请上线一个已完成的。"
    ),
    "launch.trial_is_repeat": "这次试验是试验 {parent} 的重复：请上线那一个。",
    "launch.trials_differ_in_examples": "这些试验的 {file} 含有不同数目的样本。",
    "launch.two_questions": "complexity= 与 not_worse_by= 是两个问题：请只问一个。",
    "launch.unknown_baseline": _unknown_baseline,
    "launch.value_not_finite": "{label}：值中有 {values:list}。发散的运行没有值："
    "请去掉它，并计入 infeasible=。",
    "launch.unknown_claim": "claim={claim!r}：应为 {claims:list} 之一。",
    "variance.bad_splits": "splits={splits!r}：数据划分的个数，从 1 起。",
    "variance.bad_studies": "studies={studies!r}：总共几个研究，从 2 起；三个才有用。",
    "variance.no_workload": (
        "times=、studies= 和 splits= 需要训练：请给出训练程序，"
        "tw.launches.variance(results, workload, times=5)。"
    ),
}
