"""Chinese sentences of campaigns and of errors raised in `campaigns`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words

# ---- why a campaign takes each step, what it cannot do by itself, and how it ends


PROBED = {"batch_size": "批量大小", "train_steps": "训练长度"}
TRIED = {"warm-up": "预热", "clipping": "梯度裁剪"}
ARMS = {"winner": "胜出者", "baseline": "基线"}
VERDICTS = {"launch": "上线", "keep": "保留基线", "undecided": "未定", "first": "第一个基线"}


def _trial(facts: Facts) -> str:
    return f"{facts['metric']} {facts['value']:.4g}，{facts['round']} 的试验 {facts['trial']}"


def _continue_search(facts: Facts) -> str:
    text = f"继续贝叶斯搜索，直到 {facts['trials']} 次试验"
    if facts["gain"] is None:
        return text
    if not facts["gain"]:
        return f"{text}：最近的试验没有改进，但搜索太短，还不能在此结束"
    return f"{text}：再做同样多次可能改进 {facts['gain']:.2g}"


def _search(facts: Facts) -> str:
    why = "探索已完成" if facts["why"] is None else sentence(facts["why"])
    text = f"{why}；贝叶斯搜索，{words.count(facts['trials'], 'trial')}"
    moved = facts.get("ranges")
    if not moved:
        return text
    ranges = "、".join(f"{column} 在 {range} 中" for column, range in moved.items())
    return f"{text}；最好的试验靠近范围的端点，因此 {ranges}"


def _edge(facts: Facts) -> str:
    ranges = "，".join(f"{column} ∈ {range}" for column, range in facts["ranges"].items())
    return f"最好的试验位于范围的端点；继续贝叶斯搜索，范围改为 {ranges}"


def _tune_longer(facts: Facts) -> str:
    agreement = f"{sentence(facts['agreement'])}；" if facts["agreement"] else ""
    names = ", ".join(facts["names"])
    return f"{agreement}在 {facts['steps']} 步、最好配置附近重新调 {names}"


def _remedy(facts: Facts) -> str:
    named = " 或 ".join(facts["remedies"])
    return f"{sentence(facts['why'])}：{named} 能否让训练稳定？至多 {facts['runs']} 次短训练"


def _repair(facts: Facts) -> str:
    settings = "，".join(f"{name} = {value:g}" for name, value in facts["settings"].items())
    lacks = "；".join(sentence(lack) for lack in facts["missing"])
    answer = sentence(facts["answer"]) + (f"（{lacks}）" if lacks else "")
    return f"{answer}：用 {settings} 重新搜索整个空间"


def _skip(facts: Facts) -> str:
    probed = [PROBED[what] for what in facts["what"] if what in PROBED]
    remedies = [TRIED[what] for what in facts["what"] if what in TRIED]
    parts = [f"不探测{'和'.join(probed)}"] if probed else []
    if remedies:
        parts.append(f"训练不稳定时不尝试{'和'.join(remedies)}")
    return f"{'；'.join(parts)}：{sentence(facts['why'])}"


def _decide(facts: Facts) -> str:
    return f"{VERDICTS.get(facts['verdict'], facts['verdict'])}：{sentence(facts['reason'])}"


SENTENCES: dict[str, Template] = {
    # ---- campaigns
    # steps
    "campaign.first_round": "在 {names:list} 的整个空间里做 {trials} 次准随机试验："
    "哪些设置重要，好的在哪里？",
    "campaign.all_infeasible": "{ended} 次试验全部不可行：再做 {more} 次，也许空间的某个角落能训练",
    "campaign.unfinished_trials": "{total} 次试验中还有 {left} 次没有运行",
    "campaign.unfinished_repeats": "{round} 的试验 {trial} 还有 {left} 次重复没有运行",
    "campaign.current_default": "当前默认值：{settings:settings}",
    "campaign.retrained_baseline": "基线（{round} 的试验 {trial}）的训练长度不同："
    "按搜索的长度重新训练它，才能比较",
    "campaign.repeat_best": lambda facts: (
        f"重复探索阶段最好的试验（{_trial(facts)}）：其中多少是噪声？"
    ),
    "campaign.moved_range": _edge,
    "campaign.continue_search": _continue_search,
    "campaign.search": _search,
    "campaign.finalist": lambda facts: (
        f"用新种子重复一个入围者（{_trial(facts)}）：众多试验中最好的那个部分来自噪声"
    ),
    "campaign.spare_trials": lambda facts: (
        f"还有剩余的试验：把一个入围者（{_trial(facts)}）重复到 {facts['runs']} 次"
    ),
    "campaign.first_baseline": lambda facts: f"{_trial(facts)} 成为第一个基线：没有可比较的对象",
    "campaign.more_runs": lambda facts: (
        f"用新种子把{ARMS[facts['arm']]}重复到 {facts['runs']} 次，以决定是否上线"
    ),
    "campaign.decide": _decide,
    "campaign.test": "在测试集上查看一次 {round} 的试验 {trial}",
    "campaign.train_longer": "搜索中最好的 {count} 个，训练 {steps} 步而不是 {before} 步",
    "campaign.tune_longer": _tune_longer,
    "campaign.probe_batch_size": "没有给出批量大小：哪些放得下，各有多快？",
    "campaign.probe_train_steps": "没有给出训练长度：最快的完美拟合需要多少步？",
    "campaign.probe_remedy": _remedy,
    "campaign.repaired": _repair,
    # its end
    "campaign.none_completed": "没有试验完成：请修正训练程序或范围",
    "campaign.too_few_trials": "试验太少，无法决定是否上线：请提高预算",
    "campaign.finished": "已完成，{total} 次试验中剩下 {left} 次",
    "campaign.identical_repeats": "{round} 的试验 {trial} 的所有重复都给出相同的值："
    "程序没有使用种子，因此无法决定是否上线。请让它使用 run.seeds（命令行程序用 "
    "{{run.seed}}）并换一个名称重新调优，或声明它是确定性的再调用一次",
    "campaign.false_launches": "据测量，这种规模的调优任务约有 {rate:percent} "
    "会把毫无作用的改动上线",
    # what came of it: headlines
    "campaign.verdict.nothing": "没有试验完成：没有可选择的",
    "campaign.verdict.open": "有了最好的配置，还没有与基线比较",
    "campaign.verdict.first": "最好的配置成为第一个基线",
    "campaign.verdict.launch": "上线最好的配置：它优于基线",
    "campaign.verdict.keep": "保留基线：没有候选优于它",
    "campaign.verdict.undecided": "暂时保留基线：比较没有定论",
    "campaign.used": "{total} 次试验中用了 {spent} 次",
    "campaign.used_up": "{total} 次试验已全部用完",
    "campaign.stuck": "最后一步什么也没有改变：`tunewright show` 说明原因",
    "campaign.not_confirmed": "没有确认；再次调用会重新询问",
    "campaign.interrupted": "{text}",
    # what it does not do by itself
    "campaign.skipped": _skip,
    "campaign.pays_from": "从 {least} 次试验起才划算，而这个调优任务有 {trials} 次",
    "campaign.trials_run_elsewhere": "试验在别处运行，而探测只会测量这台机器",
    "campaign.probe_refused": lambda facts: "；".join(
        words.one_line(sentence(problem)) for problem in facts["problems"]
    ),
    "campaign.probe_lacks": lambda facts: "；".join(sentence(lack) for lack in facts["missing"]),
    "campaign.takes_no": "程序不接受 {name}（或 {meaning:means}）",
    # a sentence that version 1 stored
    "campaign.legacy": "{text}",
    # ---- errors campaigns
    "campaign.not_found": "{url} 中没有调优任务 {name!r}；它有：{others}。",
    "campaign.other_space": (
        "这个存储库的调优任务 {name!r} 搜索的是另一个空间：请给这一个另取名称，"
        'name="..."（--name）。'
    ),
    "tune.bad_baseline": (
        'TuneTerms(baseline={baseline!r})：请给出一个配置，例如 {{"learning_rate": 0.1}}。'
    ),
    "tune.bad_detect": ("TuneTerms(detect={detect!r})：有意义的最小差异应大于 0，例如 0.001。"),
    "tune.bad_extend": "TuneTerms(extend={extend!r})：训练长度的倍数应大于 1，例如 2。",
    "tune.bad_extend_to": ("TuneTerms(extend_to={extend_to!r})：应为步数，至少 1，例如 20000。"),
    "tune.bad_hours": "tune(hours={hours!r})：请给出小时数，例如 8 或 0.5。",
    "tune.no_length": (
        "tune：{name} 没有值，所以没有可延长的长度。请固定一个，或说明哪个名称表示它："
        "{declare.means.max_train_steps}。"
    ),
    "tune.as_long_already": "tune：搜索已经训练 {steps} 步，{extend_to} 并不更长。",
    "tune.bad_seed": "TuneTerms(seed={seed!r})：应为整数，至少 0。",
    "tune.bad_space": (
        'tune(space={space!r})：请按名称给出范围，例如 {{"learning_rate": tw.log(1e-4, '
        "1e-1)}}，或给出一个 Round。"
    ),
    "tune.no_budget": "tune：可以花费多少？请给 trials=200，或 hours=8，或两者都给。",
    "tune.nothing_searched": (
        "tune(space={space!r})：没有搜索任何超参数。请给一个范围，例如 tw.log(1e-4, 1e-1)，"
        "或一个值的列表。"
    ),
    "tune.test_set_failed": "无法查看测试集：{reason}",
    "tune.trials_not_positive": "tune(trials={trials})：至少 1。",
    "tune.trials_not_whole": "tune(trials={trials!r})：应为整数。",
    "tune.two_lengths": "TuneTerms(extend=, extend_to=)：只给一个：倍数，或步数。",
}
