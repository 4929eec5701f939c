"""Chinese sentences about receipts: what verification found, which malpractice a receipt shows."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words

# a fault in a few words, for headlines
FAULTS = {
    "unequal_tuning": "调优程度不等",
    "seed_tuned": "调了种子",
    "steps_tuned": "调了步数",
    "mid_decay": "衰减途中的运行参与比较",
    "best_of_history": "取了历史最好值",
    "test_peeking": "偷看测试集",
    "dropped_failures": "丢弃了运行",
    "changed_code": "代码有改动",
    "narrowed_rival": "缩小了对手的范围",
    "reused_seeds": "重复使用种子",
    "truncated_curve": "曲线被截断",
    "different_split": "数据划分不同",
}


def _headline(facts: Facts) -> str:
    if facts["ok"]:
        return "已验证：每个结论都由曲线得出"
    if facts["kinds"]:
        first, *others = facts["kinds"]
        more = f"，另有 {len(others)} 个问题" if others else ""
        return f"不要相信它：{FAULTS[first]}{more}"
    return f"未通过验证：与曲线有 {facts['disagreements']} 处不符"


def _numbers(facts: Facts) -> str:
    return words.few(facts["trials"]) if facts["trials"] else "部分"


def _seed_tuned(facts: Facts) -> str:
    if facts["name"]:
        return f"{facts['name']} 是种子却被调优：它的最好值只是噪声"
    return f"同一配置试了 {facts['times']} 个种子（试验 {_numbers(facts)}）"


def _mid_decay(facts: Facts) -> str:
    how = "比同类试验更早结束" if facts["by"] == "steps" else "在学习率仍下降时结束"
    return f"试验 {_numbers(facts)} 计为已完成，却{how}"


def _best_of_history(facts: Facts) -> str:
    what = "被选中试验自己的值" if facts["selected"] else "没有任何重复得到过的值"
    arms = {"candidate": "候选", "baseline": "基线"}
    arm = arms.get(facts["arm"], facts["arm"])
    return f"一次上线的{arm}（{facts['round']} 的试验 {facts['trial']}）计入了{what}"


def _peeking(facts: Facts) -> str:
    if facts["by"] == "objective":
        return f"目标 {facts['metric']} 从名称看是在测试集上测的"
    return f"测试集看了 {facts['looks']} 次，涉及试验 {_numbers(facts)}"


def _drop(facts: Facts) -> str:
    of = "试验" if facts["of"] == "trials" else f"试验 {facts['trial']} 的重复"
    return f"{of} {words.few(facts['missing'])} 缺失：失败的运行可能被丢弃"


def _change(facts: Facts) -> str:
    files = f"（{', '.join(facts['files'])}）" if facts["files"] else ""
    return f"各试验的 {facts['part']} 不同{files}"


def _reuse(facts: Facts) -> str:
    if facts["by"] == "curve":
        return f"试验 {facts['about']} 的重复记录了完全相同的曲线"
    of = "同一设置的试验" if facts["of"] == "trials" else f"试验 {facts['about']} 的重复"
    return f"{of}共用一个种子（{_numbers(facts)}）"


def _split(facts: Facts) -> str:
    if facts["by"] == "round":
        return f"{' 与 '.join(facts['rounds'])} 在不同的数据划分上比较"
    text = "报告了" if facts["by"] == "report" else "改变了"
    return f"程序{text} {facts['name']}：各试验的数据划分不同"


SENTENCES: dict[str, Template] = {
    "receipt.headline": _headline,
    "receipt.verified": (
        "重新推导了 {round} 的 {trials:count trial}、{findings} 条结论和 {launches} 次上线"
    ),
    "receipt.not_derived": "{not_derived} 次上线无法重新推导",
    "receipt.disagrees_seal": "{about}：写入之后被改动过",
    "receipt.disagrees_curve": (
        "{about}：曲线与其哈希不符（哈希时有 {recorded} 个点，现有 {derived} 个）"
    ),
    "receipt.disagrees_value": "{about}：凭据中为 {recorded}，由曲线得出 {derived}",
    "receipt.disagrees_finding": "{about}：凭据中为 {recorded}，由曲线得出 {derived}",
    "receipt.disagrees_launch": "{about}：凭据中为 {recorded}，由曲线得出 {derived}",
    "malpractice.unequal_tuning": (
        "{most} 有 {trials:count trial}，{rival} 只有 {fewest} 次：调得多的看起来更好"
    ),
    "malpractice.seed_tuned": _seed_tuned,
    "malpractice.steps_tuned": ("{name} 决定训练多长，取了 {values} 个值：也就比较了更长的训练"),
    "malpractice.mid_decay": _mid_decay,
    "malpractice.best_of_history": _best_of_history,
    "malpractice.test_peeking": _peeking,
    "malpractice.dropped_failures": _drop,
    "malpractice.changed_code": _change,
    "malpractice.narrowed_rival": "{rival} 只在 {winner} 的 {name} 范围的 {share:percent} 中搜索",
    "malpractice.reused_seeds": _reuse,
    "malpractice.truncated_curve": "试验 {trial}：{metric} 的曲线比训练短",
    "malpractice.different_split": _split,
    # ---- errors
    "receipt.cannot_write": "{path} 无法写入：{reason}",
    "receipt.no_file": "{path} 处没有凭据：`tunewright receipt ROUND` 可写出一份",
    "receipt.too_large": "{path} 比任何凭据都大",
    "receipt.unreadable": "{path} 不是可读的凭据：{reason}",
    "receipt.not_one": "{path} 不是凭据：`tunewright receipt ROUND` 可写出一份",
    "receipt.version": "{path} 是版本 {version} 的凭据；这个 tunewright 能读 {known}",
    "receipt.wrong_field": "凭据与写入时不同：{reason}",
}
