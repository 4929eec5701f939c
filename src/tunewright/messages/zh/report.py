"""Chinese sentences of reports, pages and the dashboard, and of errors raised in `present`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence, words
from tunewright.messages.zh.rounds import STATUSES

# ---- sentences and headings of the pages about a round or a campaign


def _counts(facts: Facts) -> str:
    counted = facts["counts"]
    parts = [
        f"{counted[status]} 次{word}" for status, word in STATUSES.items() if counted.get(status)
    ]
    return f"{words.count(facts['trials'], 'trial')}：{'，'.join(parts) or '还没有'}"


def _trust(facts: Facts) -> str:
    if facts["warnings"]:
        return f"检查清单有 {facts['warnings']} 条警告。"
    if not facts["judged"]:
        return "还没有什么可以判断。"
    unknown = f"；{facts['unknown']} 项无法判断" if facts["unknown"] else ""
    return f"检查清单没有警告{unknown}。"


def _best(facts: Facts) -> str:
    return (
        f"最好的 {facts['metric']}：{words.number(facts['value'])}，试验 {facts['trial']} 第 "
        f"{facts['step']} 步（{words.settings(facts['settings'])}）。"
    )


def _ahead(facts: Facts) -> str:
    """Which setting is ahead, by how much, and how surely."""
    each = f"每个设置 {facts['trials']} 次试验"
    sure = f"证据弱：{each}" if facts["weak"] else each
    of = facts["other"] if facts["others"] > 1 else ""
    text = f"{facts['best']} 领先{f' {of}' if of else ''} {_two(facts['gap'])}（{sure}）"
    return {"yes": "是：", "no": "否："}.get(facts["says"], "") + text


def _no_clear_gap(facts: Facts) -> str:
    each = f"每个设置 {facts['trials']} 次试验"
    best, other = facts["best"], facts["other"]
    if facts["says"] == "yes":
        return f"是：{best} 领先，{other} 紧随其后（{each}）"
    gap = "" if facts["gap"] is None else f" {_two(facts['gap'])}"
    return f"没有明显差异：{best} 领先 {other}{gap}（{each}）"


def _two(x: float) -> str:
    return words.number(float(f"{x:.2g}"))


def _trend(facts: Facts) -> str:
    if facts["follows"]:
        return f"是：最好值随 {facts['name']} 变化（p {facts['p']:.2g}）"
    return f"{facts['name']} 的影响没有超出噪声"


def _nothing_completed(facts: Facts) -> str:
    counted = facts["counts"]
    ended = [
        f"{counted[s]} 次{STATUSES[s]}"
        for s in ("infeasible", "failed", "pruned")
        if counted.get(s)
    ]
    of = words.count(facts["trials"], "trial")
    return f"没有答案：{of}都没有完成" + (f"（{'，'.join(ended)}）" if ended else "")


def _tile_trials(facts: Facts) -> str:
    counted = facts["counts"]
    parts = [
        f"{counted[status]} 次{word}" for status, word in STATUSES.items() if counted.get(status)
    ]
    studies = f"{facts['studies']} 个研究：" if facts["studies"] > 1 else ""
    return studies + ("，".join(parts) or "还没有")


def _tile_best(facts: Facts) -> str:
    step = "" if facts["step"] is None else f"，第 {facts['step']} 步"
    return f"试验 {facts['trial']}{step}"


def _tile_chosen(facts: Facts) -> str:
    if not facts["repeats"]:
        return f"{words.place(facts['place'])}，一次试验"
    return f"{words.place(facts['place'])}，{facts['repeats']} 个种子的平均"


def _undrawn(facts: Facts) -> str:
    parts = [f"{figure['figure']}（{_clause(figure['why'])}）" for figure in facts["missing"]]
    return f"没有画出：{'；'.join(parts)}。"


def _clause(text: str) -> str:
    return str(text).rstrip(".。")


def _commits(facts: Facts) -> str:
    changed = "，有未提交的改动" if facts["changed"] else ""
    return f"提交 {', '.join(facts['commits'][:3])}{changed}"


def _hosts(facts: Facts) -> str:
    devices = f"（{', '.join(facts['devices'][:4])}）" if facts["devices"] else ""
    more = f" 等 {len(facts['hosts'])} 台" if len(facts["hosts"]) > 3 else ""
    return f"运行于 {', '.join(facts['hosts'][:3])}{more}{devices}"


def _version(facts: Facts) -> str:
    older = f"（试验由 {', '.join(facts['ran_with'])} 运行）" if facts["ran_with"] else ""
    return f"Tunewright {facts['version']}{older}"


def _why_not_completed(facts: Facts) -> str:
    numbers = facts["numbers"]
    listed = ", ".join(str(number) for number in numbers[:8]) + (" ..." if len(numbers) > 8 else "")
    return f"{facts['trials']} 次中的 {len(numbers)} 次：{facts['reason']}（试验 {listed}）"


def _earlier(facts: Facts) -> str:
    rounds, counted = facts["rounds"], sum(facts["rounds"].values())
    of = "，".join(f"{words.printable(name)} 的 {number} 次" for name, number in rounds.items())
    return f"另计入 {counted} 次较早的试验：{of}"


def _settings(facts: Facts) -> str:
    names = facts["names"]
    more = f" 等 {len(names)} 个" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def _tally(facts: Facts) -> str:
    return (
        f"{words.printable(facts['round'])}：{facts['warn']} 条警告，{facts['note']} 条提示，"
        f"{facts['ok']} 项正常，{facts['cannot_judge']} 项无法判断"
    )


def _trials(facts: Facts) -> str:
    text = f"{words.count(facts['trials'], 'trial')}，按 {facts['metric']} 从好到坏"
    if not facts["left_out"]:
        return text
    return f"{text}；另有 {facts['left_out']} 次未显示：{facts['export']} 有全部"


def _ending(facts: Facts) -> str:
    status = str(STATUSES.get(facts["status"], facts["status"]))
    return f"{status}：{facts['reason']}" if facts["reason"] else status


# campaigns


def _choice(facts: Facts) -> str:
    whose = "候选" if facts["verdict"] in ("keep", "undecided") else "最好的配置"
    return f"{whose}：{_measurement(facts)}"


def _measurement(facts: Facts) -> str:
    metric, values = facts["metric"], facts["repeats"]
    settings = words.settings(facts["settings"])
    if not values:
        return f"一次试验的 {metric} {words.number(facts['value'])}：{settings}。"
    mean = words.number(facts["mean"])
    if len(values) == 1:
        return f"一次重复的 {metric} {mean}：{settings}。"
    spread = words.number(float(f"{facts['sd']:.2g}"))
    if facts["picked"]:
        return (
            f"选中它的 {len(values)} 次重复平均 {metric} {mean}（标准差 {spread}；略偏乐观）："
            f"{settings}。"
        )
    return f"{len(values)} 个新种子平均 {metric} {mean}（标准差 {spread}）：{settings}。"


LAUNCHES = {
    "launch": "它优于基线",
    "keep": "它不优于基线：保留基线",
    "undecided": "它是否优于基线，尚无定论",
}


def _launch_line(facts: Facts) -> str:
    if facts["baseline"] is None:
        return "它是这个存储库的第一个基线：没有可比较的对象。"
    parts = [
        f"{LAUNCHES.get(facts['verdict'], facts['verdict'])}（{words.place(facts['baseline'])}）"
    ]
    if facts["probability"] is not None:
        parts.append(f"有改进的概率 {facts['probability']:.2f}")
    if facts["gain"] is not None and facts["interval"]:
        low, high = (words.number(float(x)) for x in facts["interval"])
        gain = words.number(float(facts["gain"]))
        parts.append(f"改进 {gain}，90 % 区间 {low} 至 {high}")
    if facts["deterministic"] and facts["gain"] is not None:
        parts.append(f"确定性程序：改进 {words.number(float(facts['gain']))}，没有概率")
    elif facts["false_launch_rate"] is not None:
        rate = f"{facts['false_launch_rate']:.0%}"
        parts.append(f"毫无作用的改动，约有 {rate} 会被调优任务上线")
    if reason := facts["reason"]:  # version 1 stored a sentence
        parts.append(reason if isinstance(reason, str) else sentence(reason))
    return "；".join(parts) + "。"


def _test(facts: Facts) -> str:
    measured = "，".join(f"{name} {words.number(v)}" for name, v in facts["metrics"].items())
    look = facts["look"]
    times = "第一次查看" if look == 1 else f"第 {look} 次查看：请当心"
    return f"在测试集上（{times}）：{measured}。"


def _spent(facts: Facts) -> str:
    return (
        f"{words.count(facts['total'], 'trial')}中用了 {facts['spent']} 次，"
        f"{words.count(facts['rounds'], 'round')}（{words.count(facts['repeats'], 'repeat')}，"
        f"{facts['infeasible']} 次不可行），训练共 {words.duration(facts['seconds'])}。"
    )


def _budget(facts: Facts) -> str:
    hours = f"或 {facts['hours']:g} 小时" if facts["hours"] is not None else ""
    return f"预算 {words.count(facts['trials'], 'trial')}{hours}。"


# ---- sentences of the dashboard: what it refuses, and what it prints when it starts


PERMITS = {
    "read": "读取存储库",
    "actions": "写备注和请求停止",
    "run": "启动本项目的轮次",
}


def _permits(facts: Facts) -> str:
    text = "、".join(PERMITS[permit] for permit in facts["permits"])
    others = "" if len(facts["permits"]) > 1 else "；不会改动任何东西"
    return f"页面可以{text}{others}。"


SENTENCES: dict[str, Template] = {
    # ---- report
    "round.counts": _counts,
    "round.best": lambda facts: (
        f"{_counts(facts)}。最好的 {facts['metric']} 是 {words.number(facts['value'])}，试验 "
        f"{facts['trial']} 第 {facts['step']} 步：{words.configuration(facts['settings'])}"
    ),
    "round.none_completed": lambda facts: f"{_counts(facts)}。还没有试验完成。",
    "round.why_not_completed": _why_not_completed,
    "round.other_reasons": "其他原因",
    "round.earlier_trials": _earlier,
    "checklist.tally": _tally,
    "checklist.all_failed": "{failed} 次试验，全部失败：{reason}",
    "checklist.others": "另有 {others} 个",
    "checklist.settings": _settings,
    "checklist.of_setting": "{about}：{text}",
    "answer.counts": lambda facts: f"{_counts(facts)}。",
    "answer.best": _best,
    "answer.repeated": lambda facts: (
        f"用新种子重复 {facts['times']} 次，最好试验的均值 {words.number(facts['mean'])}，标准差 "
        f"{words.number(float(format(facts['sd'], '.2g')))}。"
    ),
    "answer.trust": _trust,
    # the answer in the first line
    "headline.ahead": _ahead,
    "headline.no_clear_gap": _no_clear_gap,
    "headline.trend": _trend,
    "headline.best": lambda facts: (
        f"目前最好的 {facts['metric']}：{words.number(facts['value'])}，"
        f"{words.settings(facts['settings']) or '没有搜索任何超参数'}"
    ),
    "headline.not_judged": "尚不清楚：{best} 领先，但{why:message}",
    "headline.nothing_completed": _nothing_completed,
    "tile.best": "最好的 {metric}",
    "tile.best.detail": _tile_best,
    "tile.chosen.detail": _tile_chosen,
    "tile.none.detail": "没有试验完成",
    "tile.trials": "试验",
    "tile.trials.detail": _tile_trials,
    "tile.spent.detail": "共 {total} 次，{rounds} 个轮次",
    "tile.time": "训练时间",
    "tile.time.detail": lambda facts: (
        f"所有试验和重复共 {facts['hours']:.1f} 小时" if facts["hours"] >= 1 else "所有试验和重复"
    ),
    "tile.no_time.detail": "没有记录",
    # why an action comes next
    "next.advised": "建议来自：{check}",
    "next.failed_elsewhere": "已知的失败原因（{failed} 次试验失败）",
    "next.failed": "失败原因和日志结尾（{failed} 次试验失败）",
    "next.join": "一起运行：还剩 {left} 次试验",
    "next.stop": "请它们保存并停止",
    "next.left": "还剩 {left} 次试验；已结束的不会再运行",
    "next.check": "什么可信，什么不可信",
    "next.report": "同样的内容加上所有图，在一页上",
    "next.propose": "接下来运行哪个轮次，为什么",
    "next.went_wrong": "没有试验完成：看看其中一次出了什么错",
    "next.repeat": "用新种子重新训练最好的：其中多少是噪声？",
    "next.launch": "它是否成为基线：两者都重新训练，直到有定论",
    "next.export": "所有试验的表格",
    # headings
    "heading.verdict": "结论",
    "heading.found": "发现了什么",
    "heading.doubts": "什么不可信",
    "heading.caveats": "适用范围",
    "heading.figures": "图",
    "heading.next": "下一步",
    "heading.checklist": "检查清单的其余部分",
    "heading.fine": "{findings} 项正常",
    "heading.unknown": "{findings} 项无法判断",
    "heading.trials": "试验",
    "heading.progress": "过程",
    "heading.steps": "每一步及其原因",
    "heading.together": "全部试验",
    "note": "备注：{text}",
    "trials.caption": _trials,
    "trials.trial": "试验",
    "trials.status": "状态",
    "trials.best_step": "步",
    "trials.time": "时间",
    "trials.ended": _ending,
    "trials.again": "复现",
    "steps.step": "步骤",
    "steps.kind": "内容",
    "steps.why": "原因",
    "steps.round": "轮次",
    **{f"status.{status}": wording for status, wording in STATUSES.items()},
    "report.undrawn": _undrawn,
    "report.commits": _commits,
    "report.hosts": _hosts,
    "report.version": _version,
    "report.written": "写于 {date}",
    "report.searched_by": "{objective:objective}，搜索方法 {search}",
    "report.objective": "{objective:objective}",
    # campaigns
    "campaign.chosen": _choice,
    "campaign.place": "它是 {place:place}，第 {step} 步最好。",
    "campaign.launched": _launch_line,
    "campaign.tested": _test,
    "campaign.spent": _spent,
    "campaign.probe": "探测 {probe}：{answer:message}",
    "campaign.lengths": "短训练与长训练之比：{says}。",
    "campaign.left_out": lambda facts: f"未做：{facts['what'].rstrip('。')}。",
    "campaign.budget": _budget,
    # ---- pages on a screen
    "page.trial.snapshot": "{path}（第 {step} 步）",
    "page.trial.retry": "{command}（程序修正之后）",
    "page.trial.earlier": "{round} 的试验 {trial}",
    "page.trial.rank": "{of} 次已完成中的第 {rank} 名",
    "page.trial.time": "{seconds:duration}，{attempts} 次运行",
    "page.trial.memory": "至多 {memory}",
    "page.proposals": lambda facts: (
        f"{facts['round']}：{facts['proposals']} 个下一步，最紧迫的在前"
    ),
    # ---- errors present
    "plot.bad_ending": "{what}：无法写入 {target!r}。路径请以 {first} 或 {second} 结尾。",
    "plot.no_best_step": (
        "目标是 {metric} 的最后一个值，所以没有哪一步比最后一步更好。"
        "改为按最好值评判，就能看到它何时达到。"
    ),
    "plot.no_gradient_norm": (
        "{round}：最好的试验都没有记录 {metric!r}。请记录梯度范数，并声明它的名称："
        "{declare.means.gradient_norm}。"
    ),
    "plot.no_such_hyperparameter": "{round}：没有搜索超参数 {name!r}。它搜索了：{known:list}。",
    "plot.not_a_pair": "{round}：没有两个同时出现的被搜索超参数。",
    "plot.not_results": "progress：请给出一个或多个轮次的 Results。",
    "plot.not_scientific": "{round}：{name!r} 不是科学超参数。它有：{known:list}。",
    "plot.nothing_scientific": (
        "{round} 没有科学超参数，所以没有可隔离的对象。plots.axis() 会画出它的试验。"
    ),
    "report.bad_ending": (
        "report：无法写入 {target!r}。路径以 .html 结尾得到网页，以 .txt 结尾得到纯文本。"
    ),
    "report.campaign_empty": "调优任务 {campaign} 还没有运行任何东西。",
    # ---- ui
    "ui.at": "{store} 的看板：{url}",
    "ui.bad_body": "请求体不是 JSON 对象",
    "ui.bad_field": "{field}：应为 {kind}",
    "ui.export_permits": "--export 写的是文件，不能授予任何权限",
    "ui.folder_taken": "{folder} 中有不属于导出看板的文件",
    "ui.judge_died": "检查清单以代码 {code} 结束，打印了 {said!r}",
    "ui.no_project": "--allow-run 需要项目：这里没有 {store} 的 tunewright.toml",
    "ui.no_round_file": "{round}：本项目没有这个轮次文件。它有：{known:list}。",
    "ui.no_such_file": "{path!r}：这次试验没有这个文件",
    "ui.not_results": "show() 的第一个参数应为 Results，得到的是 {kind}",
    "ui.not_started": "看板服务器没有启动",
    "ui.opened": (
        "浏览器只能经网页服务器打开这些页面。请在这个文件夹中运行下面的命令，"
        "然后打开 http://localhost:8000/。"
    ),
    "ui.scriptless": "看板需要 JavaScript。tunewright report 命令写出的页面不需要。",
    "ui.other_store": "--allow-run：项目的存储库是 {own}，而 {store} 是另一个",
    "ui.permits": _permits,
    "ui.port_taken": "无法使用 {address}:{port}：{reason}。请换一个 --port。",
    "ui.round_runs": "{round}：已从这个看板启动，仍在运行",
    "ui.token_needed": "其他机器能访问的看板需要令牌",
    "ui.too_large": "请求体超过 {most} 字节",
    "ui.unknown_permission": "{asked:list}：不在 {known:list} 之中",
    "ui.wrote": "写了 {files} 个文件（{megabytes:.1f} MB）到 {folder}",
}
