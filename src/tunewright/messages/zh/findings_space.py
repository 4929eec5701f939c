"""Findings about the search space and the round in Chinese: headline first, then the numbers.

The functions and codes are those of the English file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tunewright.messages import Facts, Template, fill, text, words

REFERENCES = {
    "detect": "需要分辨的差异",
    "between_settings": "最好的两个设置之差",
    "trial_sd": "种子间波动",
    "measurement": "测量误差使两次相同试验产生的差异",
}
MOST_SHOWN = 3  # of several alike
MOST_FILES = 5  # names of files in one line
LONGEST_NAME = 40  # characters of a name in a headline


def baseline(verdict: str, facts: Facts) -> list[str]:
    """Is the best trial better than chance?"""
    best, chance, start = facts["best"], facts["chance"], facts["start"]
    if chance is not None:
        numbers = f"{facts['metric']} 达到 {best:.4g}；随机水平是 {chance:.4g}"
        if verdict == "ok":
            return ["最好的试验优于随机水平", numbers]
        return ["最好的试验不优于随机水平", numbers, *_by_noise(facts, chance)]
    numbers = f"最好试验的 {facts['metric']} 从 {start:.4g} 变到 {best:.4g}"
    unknown = "没有声明随机水平（即瞎猜时的损失）"
    if facts.get("unused_chance") is not None:
        unknown = f"声明的随机水平 {facts['unused_chance']:.4g} 是损失，但没有记录验证损失"
    if verdict == "ok":
        return ["最好的试验学到了东西", numbers, unknown]
    if verdict == "note":
        headline = "最好的试验也许学到了东西：噪声同样能解释"
        return [headline, numbers, *_by_noise(facts, start), unknown]
    return ["最好的试验几乎没有学到东西", numbers, *_by_noise(facts, start), unknown]


def _by_noise(facts: Facts, level: float) -> Iterator[str]:
    """How far noise alone may take the best of all evaluations from a level."""
    noise, sustained = facts.get("noise"), facts.get("sustained")
    if noise is not None:
        yield (
            f"最好的滑动平均是 {sustained:.4g}；评估噪声本身就能造成与 {level:.4g} 相差 {noise:.2g}"
        )


PARTS = {
    **{"source files": "源文件", "commit": "提交", "uncommitted changes": "未提交的改动"},
    **{"package versions": "软件包版本", "device": "设备", "git": "git 仓库"},
}


def _part(part: str) -> str:
    """One part of what a trial ran, between Chinese words."""
    return PARTS.get(part) or f" {part} "


def same_code(verdict: str, facts: Facts) -> list[str]:
    """Did all trials run the same code?"""
    runs = words.count(facts["runs"], "trial")
    if verdict == "warn":
        parts = [diff["part"] for diff in facts["differences"]]
        headline = f"各次试验的{_part(parts[0])}不同"
        if len(parts) > 1:
            headline += f"，来源还有 {len(parts) - 1} 处不同"
        evidence = [_difference(diff) for diff in facts["differences"]]
        together = [diff["part"] for diff in facts["differences"] if diff["goes_with_setting"]]
        if together:
            evidence.append(f"{_part(together[0])}的影响看起来会像是设置的影响")
        return [headline, *evidence]
    if verdict == "note":
        return ["没有记录能说明代码是否改动过", f"{runs}的软件包相同，但没有 git 仓库"]
    changes = "，未提交的改动相同" if facts["uncommitted"] else ""
    code = [f"提交 {facts['commit']}{changes}"] if facts["commit"] else []
    if facts.get("sources"):
        code.append(f"{facts['sources']} 个源文件相同")
    return ["所有试验运行的是同一份代码", f"{runs}：{'，'.join(code)}，软件包相同"]


def _value(value: str) -> str:
    return "无" if value == "none" else value


def _difference(diff: Facts) -> str:
    groups = diff["groups"]
    values = [
        f"{words.count(g['runs'], 'trial')}：{_value(g['value'])}" for g in groups[:MOST_SHOWN]
    ]
    more = f"；另有 {len(groups) - MOST_SHOWN} 种" if len(groups) > MOST_SHOWN else ""
    return (
        f"{_part(diff['part']).strip()}：{'；'.join(values)}{more}{_files(diff.get('files') or [])}"
    )


def _files(files: Sequence[str]) -> str:
    if not files:
        return ""
    more = f" 等，另有 {len(files) - MOST_FILES} 个" if len(files) > MOST_FILES else ""
    return f"（不同的文件：{', '.join(files[:MOST_FILES])}{more}）"


def boundary(verdict: str, facts: Facts) -> list[str]:
    """Is the search space large enough?"""
    edges = facts["edges"]
    if not edges:
        what = "只搜索了没有顺序的列表" if facts["searched"] else "没有搜索任何超参数"
        return ["没有范围存在可以扎堆的端点", what]
    if verdict == "ok":
        places = [f"最好的 {e['column']} 位于其范围的 {e['seen']['best']:.2f} 处" for e in edges]
        more = f"另有 {len(edges) - MOST_SHOWN} 个也在范围内部"
        return [
            "最好的试验都在范围内部",
            *places[:MOST_SHOWN],
            *([more] if len(edges) > MOST_SHOWN else []),
        ]
    speaking = [e for e in edges if e["verdict"] != "ok"]
    return [_at_end(speaking[0]), *(_edge(e) for e in speaking)]


SIDES = {"low": "下端", "high": "上端"}


def _at_end(e: Facts) -> str:
    """The headline about one end of a range."""
    where = f"{_short(e['column'])} 的{SIDES[e['seen']['side']]}"
    if e["wall"] is not None:
        return f"最好的试验位于 {where}，紧挨发散区"
    if e["bound"] is not None:
        return f"最好的试验位于 {where}，那里是自然边界"
    if e["seen"]["rule"] == "lone":
        return f"有一次好得多的试验位于 {where}"
    return f"最好的试验扎堆在 {where}"


def _edge(e: Facts, best: str = "最好") -> str:
    """The numbers about one end of a range."""
    seen = e["seen"]
    end = f"{e['column']} 的范围 {words.range_of(e['range'])} 的{SIDES[seen['side']]}"
    if seen["rule"] == "lone":
        text = f"{seen['feasible']} 次试验中{best}的一次遥遥领先，单独位于{end}"
    elif seen["rule"] == "pooled":
        text = f"{e['studies']} 个研究中{best}的试验合起来扎堆在{end}（p {seen['p']:.3f}）"
    else:
        text = f"{seen['feasible']} 次试验中{best}的 {seen['best_few']} 次扎堆在{end}"
        if e["beside"]:
            text += f"，已扣除 {', '.join(e['beside'])} 的影响"
        text += f"（p {seen['p']:.3f}）"
    if e["wall"] is not None:
        beyond = e["wall"]
        text += f"；更外侧的 {beyond['trials']} 次试验中有 {beyond['infeasible']} 次不可行"
    if e["bound"] is not None:
        off = f"，此时 {e['column']} 关闭" if e["bound"]["off"] else ""
        text += f"；取值不能越过 {words.number(e['bound']['value'])}{off}"
    return text


def density(verdict: str, facts: Facts) -> list[str]:
    """Have we sampled enough?"""
    gains = (
        f"{facts['feasible']} 次可行试验；后一半使最好值改进 {facts['last_gain']:.2g}，"
        f"再前四分之一改进 {facts['gain_before']:.2g}"
    )
    near = _good_region(facts["good_region"])
    if facts["reference"] is None:
        return ["不知道更多试验是否有用", gains, near]
    size, source = facts["reference"]["size"], REFERENCES[facts["reference"]["source"]]
    gains += f"（{source}：{size:.2g}）"
    if verdict == "ok":
        return ["对要分辨的差异来说，试验已经够了", gains, near]
    repeat = f"重做这个研究，结果会相差约 {facts['repeat_sd']:.2g}"
    mean, most = facts["expected_gain"], facts["gain_interval"][1]
    headline = f"试验太少：加倍可能改进 {mean:.1g}，至多 {most:.1g}"
    doubling = f"加倍平均改进 {mean:.2g}，十个研究中有九个至多改进 {most:.2g}；一半的研究毫无改进"
    return [headline, gains, doubling, near, repeat]


GOOD_REGIONS = {
    "detect": "需要分辨的差异的两倍",
    "between_settings": "最好的两个设置之差的两倍",
    "trial_sd": "种子间波动的两倍",
    "measurement": "测量误差使两次相同试验产生的差异的两倍",
    "late_evaluations": "后期单次评估噪声的两倍",
    "tenth_of_spread": "最好试验到中位试验距离的十分之一",
}


def _good_region(facts: Facts) -> str:
    """How many trials are about as good as the best."""
    return (
        f"{words.count(facts['trials'], 'trial')}与最好值相差不超过 {facts['within']:.2g}，"
        f"含它自己（{GOOD_REGIONS[facts['by']]}）"
    )


def infeasible(verdict: str, facts: Facts) -> list[str]:
    """How many trials are infeasible, and where?"""
    low, high = facts["interval"]
    share = f"{facts['share']:.0%}（{low:.0%} 至 {high:.0%}）"
    evidence = [f"{facts['trials']} 次试验中有 {facts['infeasible']} 次不可行：{share}"]
    if facts["far_above"]:
        evidence.append(f"{len(facts['far_above'])} 次结果有限，但远高于其他试验和自己的起点")
    evidence += [_region(region) for region in facts["regions"]]
    return [_infeasible_headline(verdict, facts), *evidence]


def _infeasible_headline(verdict: str, facts: Facts) -> str:
    if facts["nearly_all"]:
        return "几乎所有试验都不可行：先怀疑程序有错"
    clear = [region for region in facts["regions"] if region["clear"]]
    if clear:
        where = f"{_short(clear[0]['feature'])} {'偏大' if clear[0]['rises'] else '偏小'}"
        return f"{facts['share']:.0%} 的试验不可行，几乎都因 {where}"
    if verdict == "warn":
        return "大多数试验不可行"
    if not facts["infeasible"]:
        return "没有试验不可行"
    return f"{facts['share']:.0%} 的试验不可行"


def _region(region: Facts) -> str:
    shared = ", ".join(f"{at['name']}={words.value(at['value'])}" for at in region["branch"])
    where = f"{shared}：" if shared else ""
    if not region["clear"]:
        return f"{where}{region['feature']} 越{'大' if region['rises'] else '小'}越容易出现"
    return f"{where}几乎都出现在 {_threshold(region)}"


def _threshold(region: Facts) -> str:
    low, high = region["between"]
    return f"{region['feature']} {'高于' if region['rises'] else '低于'} {low:.3g} 至 {high:.3g}"


def fairness(verdict: str, facts: Facts) -> list[str]:
    """Were the scientific settings tuned equally well?"""
    settings = facts["settings"]
    if verdict == "ok":
        counts = [setting["trials"] for setting in settings]
        each = f"{min(counts)}"
        if max(counts) > min(counts):
            each += f" 至 {max(counts)}"
        numbers = f"{len(settings)} 个设置，各 {each} 次试验，搜索空间大小相同"
        return ["各设置调得同样充分", numbers]
    return [_unfair(facts), *_differences(facts)]


def _unfair(facts: Facts) -> str:
    if facts["lengths"] is not None:
        return "各设置的训练步数不同"
    if facts["budgets"] is not None:
        return "各设置的试验次数不同"
    if facts["feasible"]:
        return "有的设置可行试验少得多"
    if facts["ends"]:
        return "某个设置在范围之外可能更好"
    if facts.get("needs") is not None:
        return "同一训练长度并不适合每个设置"
    if facts.get("kept") is not None:
        return "沿用了为另一个批量大小调出的值"
    return "试验次数相同，搜索空间大小却不同"


def _differences(facts: Facts) -> Iterator[str]:
    """The settings that are not alike, one sentence each."""
    if facts["lengths"] is not None:
        gap = facts["lengths"]
        yield (
            f"{gap['longest']} 训练 {gap['most']:g} 步，{gap['shortest']} 训练 "
            f"{gap['fewest']:g} 步：差异中有一部分来自更长的训练"
        )
    if facts["budgets"] is not None:
        most, least = facts["budgets"]["most"], facts["budgets"]["least"]
        yield (
            f"{most['setting']} 有 {most['trials']} 次试验，{least['setting']} 有 "
            f"{least['trials']} 次"
        )
    for pair in facts["feasible"]:
        most, least = pair["most"], pair["least"]
        yield (
            f"{least['setting']} 的 {least['trials']} 次试验中 {least['feasible']} 次可行，"
            f"{most['setting']} 的 {most['trials']} 次中 {most['feasible']} 次可行"
        )
    for gap in facts["ends"]:
        yield (
            f"{gap['setting']} 在 {gap['column']} 的{SIDES[gap['side']]}最好，"
            f"{facts['best']} 则不是"
        )
    if facts.get("needs") is not None:
        gap = facts["needs"]
        yield (
            f"共 {gap['max_train_steps']} 步，{gap['longer']} 在第 {min(gap['late_steps'])} 至 "
            f"{max(gap['late_steps'])} 步最好，{gap['shorter']} 在第 {min(gap['early_steps'])} 至 "
            f"{max(gap['early_steps'])} 步最好"
        )
    if facts.get("kept") is not None:
        yield text("continued.batch_size", facts["kept"])
    if facts["spaces"] is not None:
        most, least = facts["spaces"]["most"], facts["spaces"]["least"]
        yield (
            f"{most['setting']} 搜索 {most['searched']} 个超参数，{least['setting']} 搜索 "
            f"{least['searched']} 个，试验次数相同：较大的空间覆盖得更稀疏"
        )


def comparison(verdict: str, facts: Facts) -> list[str]:
    """Which scientific setting is better, with so many trials each?"""
    if "buckets" in facts:
        return _trend(verdict, facts)
    if verdict == "ok":
        worse = facts["pairs"]
        headline = f"{_short(facts['best'])} 最好，每个设置 {facts['trials']} 次试验"
        evidence = [f"领先 {worse[0]['other']} {_gap(worse[0])}"]
        if len(worse) > 1:
            evidence.append(f"也领先另外 {len(worse) - 1} 个")
        if facts["weak"]:
            evidence.append("试验太少，结论较弱")
        return [headline, *evidence, *_move(worse[0]), *_small_rates(facts)]
    unclear = [pair for pair in facts["pairs"] if pair["verdict"] != "worse"]
    first = unclear[0]
    headline = f"{_short(facts['best'])} 与 {_short(first['other'])} 分不出高下"
    if first["why"] is None:
        evidence = [f"每个设置 {facts['trials']} 次试验，相差 {_gap(first)}"]
        if first.get("resolves") is not None:
            evidence.append(f"小于 {first['resolves']:.2g} 的差距在测量误差之内")
    else:
        evidence = [_why(first["why"])]
    if len(unclear) > 1:
        evidence.append(f"另外 {len(unclear) - 1} 个也分不出")
    return [headline, *evidence, *_move(first), *_small_rates(facts)]


def _small_rates(facts: Facts) -> list[str]:
    """Whether the best setting may owe its lead to small learning rates."""
    low = facts.get("small_rates")
    if low is None:
        return []
    return [
        f"它最好的试验 {low['name']} 较小（中位数 {low['best']:.2g}，其他设置 "
        f"{low['others']:.2g}）：领先可能来自无意的正则化；请为每个设置调一个正则化超参数"
    ]


def _gap(pair: Facts) -> str:
    low, high = pair["interval"]
    text = f"{pair['difference']:.3g}（试验减半的研究中 90 % 落在 {low:.3g} 至 {high:.3g}）"
    return text if pair["shared_points"] else f"{text}，各用各的采样点"


def _move(pair: Facts) -> list[str]:
    if pair["same_place"] is not False:
        return []
    return ["两者最好的冗余超参数取值不同：请分别收窄各自的范围"]


def _trend(verdict: str, facts: Facts) -> list[str]:
    name = _short(facts["name"])
    if verdict == "cannot_judge":
        numbers = f"沿 {facts['name']} 有 {facts['feasible']} 次可行试验"
        return [f"试验太少，看不出 {name} 的影响", f"{numbers}；本检查需要 {facts['needed']} 次"]
    numbers = f"沿 {facts['name']} 分为 {len(facts['buckets'])} 段（p {facts['p']:.2g}）"
    if verdict == "ok":
        return [f"最好值取决于 {name}", numbers]
    return [f"看不出 {name} 有影响", numbers]


def sensitivity(verdict: str, facts: Facts) -> list[str]:
    """Which hyperparameters matter?"""
    del verdict
    conditional = facts.get("conditional") or []
    matter = [effect for effect in (*facts["importances"], *conditional) if effect["matters"]]
    left = facts.get("unweighed") or []
    few = [f"带有 {', '.join(left[:MOST_SHOWN])} 的试验太少，无法衡量"] if left else []
    pairs = facts["interactions"] or []
    together = [f"{' 与 '.join(pair['names'])} 共同起作用" for pair in pairs[:1]]
    if not matter:
        many = len(facts["importances"]) + len(conditional)
        numbers = f"{words.count(facts['feasible'], 'trial')}，{many} 个超参数"
        return ["没有看到哪个超参数重要", numbers, *together, *few]
    names = [_short(effect["name"]) for effect in matter[:MOST_SHOWN]]
    shares = [
        f"{effect['name']} 解释了 {effect['share']:.0%}"
        f"（{effect['interval'][0]:.0%} 至 {effect['interval'][1]:.0%}）"
        for effect in matter[: MOST_SHOWN + 1]
    ]
    unseen = facts["unseen"][: MOST_SHOWN + 1]
    silent = [f"没有迹象表明 {', '.join(unseen)} 有影响"] if unseen else []
    return [f"{'、'.join(names)} 最重要", *shares, *together, *silent, *few]


def variance(verdict: str, facts: Facts) -> list[str]:
    """How much of the best value is noise?"""
    del verdict
    spread = facts["spread"]
    if facts["seedless"]:
        trials = ", ".join(map(str, facts["seedless"]))
        return [
            "所有重复的值都相同：程序没有使用种子",
            f"试验 {trials} 的重复用了不同种子，结果却逐位相同",
            "运行中没有随机性，就无法给出改进的概率",
        ]
    if facts["deterministic"] and (spread is None or not spread["sd"]):
        return ["程序声明为确定性的：种子不改变结果", "差异是精确的，没有概率可言"]
    if spread is None:
        return [
            "没有测量种子间波动",
            f"同一次试验只有 {facts['most_repeats']} 次重复；估计波动需要 {facts['needed']} 次",
            *_optimistic(facts),
        ]
    numbers = (
        f"{spread['repeats']} 次重复的标准差：{spread['sd']:.3g}"
        f"（{spread['low']:.2g} 至 {spread['high']:.2g}）"
    )
    evidence = [numbers]
    if facts.get("known_from"):
        evidence.append(f"在 {facts['known_from']} 中测得；流程有重大改动后才需要重测")
    evidence += _optimistic(facts)
    return [f"同一配置的重复相差约 {spread['sd']:.2g}", *evidence]


def _optimistic(facts: Facts) -> list[str]:
    """By how much the best value looks too good, where that is known."""
    if facts["optimism"] is None:
        return []
    return [
        f"最好值是从 {facts['picked_among']} 个中挑出的，很可能至少乐观了 {facts['optimism']:.2g}"
    ]


def _why(data: Facts) -> str:
    return text(data["code"], {name: fact for name, fact in data.items() if name != "code"})


def _short(name: str) -> str:
    """A name that fits a headline: one word, and not too long."""
    joined = "_".join(name.replace(", ", ",").split())
    return joined if len(joined) <= LONGEST_NAME else f"{joined[:LONGEST_NAME]}..."


def _few_positions(facts: Facts) -> str:
    text = fill("{feasible} 次位置已知的可行试验；本检查需要 {needed} 次", facts)
    return text + _adaptive(facts)


def _few_ended(facts: Facts) -> str:
    if facts.get("adaptive"):
        text = "{ended} 次试验的位置与结果无关；本检查需要 {needed} 次"
        return fill(text, facts) + _adaptive(facts)
    return fill("{ended} 次试验已结束；本检查需要 {needed} 次", facts)


def _few_feasible(facts: Facts) -> str:
    return fill("{feasible} 次可行试验；本检查需要 {needed} 次", facts) + _adaptive(facts)


def _adaptive(facts: Facts) -> str:
    """Which trials do not count, where an adaptive search suggested some."""
    if not facts.get("adaptive"):
        return ""
    return fill("（自适应搜索的 {adaptive} 次不计：它本来就会让试验扎堆）", facts)


def _add_values(facts: Facts) -> str:
    return f"在 {facts['column']} 的列表中加入更{'大' if facts['side'] == 'high' else '小'}的值"


FINDINGS: dict[str, Callable[[str, Facts], list[str]]] = {
    "baseline": baseline,
    "same_code": same_code,
    "boundary": boundary,
    "density": density,
    "infeasible": infeasible,
    "fairness": fairness,
    "comparison": comparison,
    "sensitivity": sensitivity,
    "variance": variance,
}
# the headline where a check has nothing to judge by; the reason follows as evidence
CANNOT_JUDGE: dict[str, str] = {
    "baseline": "还看不出试验是否在学习",
    "same_code": "没有记录试验运行的是哪份代码",
    "boundary": "试验太少，无法判断范围的端点",
    "density": "试验太少，无法判断再多是否有用",
    "infeasible": "试验太少，无法判断发散情况",
    "fairness": "有完成试验的设置太少，无法比较",
    "comparison": "试验太少，无法比较各设置",
    "sensitivity": "试验太少，无法判断哪些超参数重要",
    "variance": "没有测量种子间波动",
}
SECTIONS: dict[str, str] = {
    "baseline": "选择初始配置",
    "same_code": "从实验结果中获取洞见",
    "boundary": "识别错误的搜索空间边界",
    "density": "搜索空间中的采样点不足",
    "infeasible": "识别错误的搜索空间边界",
    "fairness": "在信息量与实验成本之间取得平衡",
    "comparison": "用隔离图检测改动是否有用",
    "sensitivity": "从实验结果中获取洞见",
    "variance": "决定是否采用训练流程的改动或超参数配置",
}
SENTENCES: dict[str, Template] = {
    "baseline.none_completed": "没有试验完成",
    "baseline.one_point": "每次试验的 {metric} 只有一个点，也没有声明随机水平（瞎猜时的损失，"
    "例如 log(类别数)）",
    "same_code.not_recorded": "试验是导入的或手工上报的，没有提交记录",
    "boundary.few_trials": _few_positions,
    "boundary.fastest": lambda facts: _edge(facts, best="最快"),
    "infeasible.few_trials": _few_ended,
    "fairness.one_setting": "有完成试验的设置不到两个",
    "comparison.none_completed": "没有试验完成",
    "comparison.few_trials": "{setting} 有 {feasible} 次可行试验；本检查需要 {needed} 次",
    "comparison.different_lengths": "{longest} 训练 {most:g} 步，{shortest} 训练 {fewest:g} 步："
    "差异中有一部分来自更长的训练",
    "comparison.many_infeasible": "不可行的试验太多",
    "sensitivity.few_trials": _few_feasible,
    "sensitivity.nothing_searched": "没有哪个超参数在它的所有试验中都被搜索",
}
ACTIONS: dict[str, Template] = {
    "declare_detect": "给轮次设置 detect=，即有意义的最小差异",
    "narrow_after_doublings": "加倍两次之后，改为收窄范围",
    "start_simpler": "从一个更小、更简单、能学到东西的配置开始",
    "overfit_one_batch": "用一个批次检查标签、损失和学习率：训练必须能把它过拟合",
    "do_not_widen": "不要扩大 {column}：外侧会发散；参见检查 instability",
    "compare_switched_off": "另开一个轮次，与关闭 {column} 的情况比较",
    "add_values": _add_values,
    "compare_as_list": "把 {name} 写成三个值的列表来比较：各用 16 个共同采样点能看出多得多的东西",
    "length_again": "重新选择 max_train_steps，使它对每个设置都够长：它随架构、数据和数据增强而变",
    "tune_again": lambda facts: (
        "针对这个批量大小重新调优："
        + "，然后 ".join(
            ", ".join(names) for names in (facts["optimizer"], facts["regularisers"]) if names
        )
    ),
    "tune_equally": "只有各设置调得同样充分时才能比较",
    "suspect_bug": "先怀疑训练程序有错：用小学习率、不用学习率调度，有没有一次试验能学到东西？",
    "leave_out_region": lambda facts: (
        "只在能训练的地方搜索：去掉 "
        + _threshold({**facts, "between": (facts["low"], facts["high"])})
    ),
    "rerun_same_code": "只比较同一份代码的试验：在新轮次中重新运行旧的试验",
    "use_git": "用 git 管理训练程序：git init、git commit",
    "fix_candidates": "下一轮次可以固定的候选：{names:list}",
}
