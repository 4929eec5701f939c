"""Answers of the probes that time steps, in Chinese: a headline and a sentence for each code."""

from __future__ import annotations

from tunewright import messages
from tunewright.messages import Facts, Template, words

CHANGED = {
    "model": "模型",
    "optimizer": "优化器",
    "precision": "精度",
    "device": "设备",
    "processes": "进程数",
    "example": "样本的形状（例如序列长度）",
    "fixed": "其他超参数",
    "packages": "torch 的版本",
    "program": "命令，或其中写到的文件",
}


def _choice(facts: Facts) -> str:
    text = (
        f"批量大小 {facts['batch_size']:,} 每秒训练 {words.rate(facts['examples_per_s'])} 个样本"
        f"（每步 {facts['step_ms']:.4g} 毫秒）"
    )
    following = facts["following"]
    if facts["batch_size"] < facts["knee"]:
        text += f"；更大的批量直到 {facts['knee']:,} 虽然更快，却不会更早结束"
    elif following is not None:
        text += f"；{following['batch_size']:,} {_following(following)}"
    longest = f"，用 {facts['longest']} 时也放得下" if facts["longest"] else ""
    if facts["limit_found"]:
        text += f"。放得下的最大批量是 {facts['largest']:,}{longest}。"
    else:
        text += f"。{facts['largest']:,} 也放得下{longest}；没有试更大的。"
    if facts.get("provisional"):  # answers of version 0.1 have no such fact
        text += "限制这些步的不是计算本身：请先解决，再探测一次。"
    return text


def _defer(facts: Facts) -> str:
    pays = "永远不能回本"
    if facts["trainings"] is not None:
        pays = f"训练 {facts['trainings']:.3g} 次之后才回本"
    return (
        f"批量大小 {facts['batch_size']:,} 最早结束，但前期多花 {facts['extra']:g}，而用 "
        f"{facts['instead']:,} 训练一次花 {facts['usage']:.3g}：{pays}。"
        f"请从 {facts['instead']:,} 开始，等项目成熟再用更大的批量。"
    )


def _several_processes(facts: Facts) -> str:
    faster = "更难做对" if facts["times"] is None else f"速度是一个的 {facts['times']:.2g} 倍"
    return f"{facts['processes']} 个进程{faster}：多进程会带来隐蔽的错误，除非现在就缺时间，请从一个开始。"


def _later_change(facts: Facts) -> str:
    text = f"尽量保持批量大小 {facts['batch_size']:,}：改动之后，要先重新调优化器的超参数，再调正则化。"
    if facts["recorded"]:
        sizes = "、".join(f"{size:,}" for size in facts["recorded"])
        text += f"这个存储库的轮次是用 {sizes} 调的。"
    return text


def _following(following: Facts) -> str:
    """What the next larger size would bring."""
    more = following["gain"]
    if more < 0:
        return f"会慢 {-more:.0%}"
    if following["unsure"]:
        return f"似乎快 {more:.0%}，但不确定"
    return f"只快 {more:.0%}"


def _choice_headline(facts: Facts) -> str:
    rate = words.rate(facts["examples_per_s"])
    return f"用批量大小 {facts['batch_size']:,}：每秒 {rate} 个样本"


def _assumption(facts: Facts) -> str:
    limit, steps = facts["critical_batch_size"], facts["steps"]
    shrinking = (
        "步数按 1 / 批量大小减少"
        if limit is None
        else f"步数按 1 / 批量大小减少，直到 {limit}，之后不变"
    )
    if not steps:
        text = f"假定：{shrinking}；时间和价格按 {facts['examples']:,} 个样本计"
    elif len(steps) == 1:
        ((size, count),) = steps.items()
        text = f"假定：从给出的 {size} 时 {count:g} 步起，{shrinking}"
    else:
        beyond = "步数不变" if limit is None else shrinking
        text = f"所测各大小之间的步数按给出的值；之外假定：{beyond}"
    if limit is None and len(steps) < 2:
        text += "（可以测量：tunewright probe critical-batch）"
    return text


def _launches(facts: Facts) -> str:
    why = (
        f"主机每步等它 {facts['host_waits']:.3g} 次"
        if facts["host_waits"] >= 1
        else "主机来不及下发它的工作"
    )
    return (
        f"下发开销：批量大小 {facts['batch_size']} 时设备只有 {facts['busy_share']:.0%} 的时间在忙，"
        f"因为{why}；请捕获或编译训练步（FitConfig(capture=True)），并少读结果。"
    )


def _change(facts: Facts) -> str:
    what = CHANGED.get(facts["what"], facts["what"])
    return f"已重新测量，因为{what}变了（以前 {facts['before']}，现在 {facts['now']}）。"


def _memory(held: float | None) -> str:
    return "内存未知" if held is None else f"{held:,.0f} MB"


def _size_line(facts: Facts) -> str:
    return (
        f"批量大小 {facts['batch_size']:,}：每秒 {words.rate(facts['examples_per_s'])} 个样本"
        f"（{words.rate(facts['low'])} 至 {words.rate(facts['high'])}），每步 "
        f"{facts['step_ms']:.4g} 毫秒，{_memory(facts['reserved_mb'])}"
    )


def _fits_line(facts: Facts) -> str:
    held, limit = facts["held_mb"], facts["limit_mb"]
    of = "放得下" if limit is None else f"{limit:,.0f} MB 中的 {held:,.0f} MB"
    return f"批量大小 {facts['batch_size']}：真实的一步{'' if limit is None else '占 '}{of}"


def _largest(facts: Facts) -> str:
    """How the largest size was found."""
    held = "看不到它的内存"
    if facts["reserved_mb"] is not None and facts["limit_mb"] is not None:
        held = f"{facts['limit_mb']:,.0f} MB 中的 {facts['reserved_mb']:,.0f} MB"
    ways = {
        "memory model": f"由较小批量的内存推出，并试过：{held}",
        "doubling": f"逐次加倍找到：{held}",
        "asked": f"到要求的上限为止：{held}",
        "step time": f"到每步允许的时间为止：{held}",
        "refused": "更大的无法构建",
        "not limited": f"内存不随它增长：{held}",
    }
    longest = f"（用 {facts['longest']}）" if facts["longest"] else ""
    return f"最大{longest}：{facts['batch_size']:,}，{ways[facts['how']]}。"


def _host(facts: Facts) -> str:
    """How often the host waits for the device; empty where that is seldom."""
    waits = facts["host_waits"]
    if waits is None:
        return ""
    places = f"（{', '.join(waits['places'])}）" if waits["places"] else ""
    return f"主机每步等设备 {waits['per_step']:.3g} 次{places}：请改为每一百步读一次结果。"


def _stage(facts: Facts) -> str:
    stage = facts["slow_stage"]
    if stage is None:
        return ""
    return f"最慢的环节是 {stage['name']}，占一个批的工作的 {stage['share']:.0%}。"


def _input(sentence: str) -> Template:
    def wording(facts: Facts) -> str:
        return messages.fill(sentence, facts) + _stage(facts) + _host(facts)

    return wording


def _fine_headline(facts: Facts) -> str:
    if facts["host_waits"] is not None:
        return "主机每一步都在等设备"
    return "训练不等数据"


def _stalls(facts: Facts) -> str:
    why = ""
    if facts["at_epoch"]:
        why = "，即加载器的一轮结束之处（persistent_workers=True 可保留工作进程）"
    elif facts["workers"]:
        why = f"（加载器有 {facts['workers']} 个工作进程）"
    return f"输入每 {facts['every']} 步停顿一次，每次 {facts['ms']:.3g} 毫秒{why}。"


def _copies(facts: Facts) -> str:
    remedy = (
        "请用 .to(device, non_blocking=True) 复制，并提前复制下一个批"
        if facts["pinned"]
        else "DataLoader(pin_memory=True) 使它更快，.to(device, non_blocking=True) 使它与计算重叠"
    )
    return (
        f"把一个批复制到设备需 {facts['ms']:.3g} 毫秒（一步时间的 {facts['share']:.0%}）：{remedy}；"
        "用更小的数据类型（uint8，在设备上转换）也有帮助。"
    )


_WORK = "{stage} 每批需 {ms:.3g} 毫秒（占工作的 {share:percent}）"
ANSWERS: dict[str, tuple[Template, Template]] = {
    "probe.batch_size.chosen": (_choice_headline, _choice),
    "probe.input_bound.unknown": (
        "不知道训练是否在等数据",
        _input("不知道训练是否在等数据：没有看到批的来源。"),
    ),
    "probe.input_bound.input_bound": (
        "训练有 {waiting_share:percent} 的时间在等数据",
        _input(
            "训练有 {waiting_share:percent} 的时间在等数据；用缓存的批，步速是现在的 {slowdown:.3g} 倍。"
        ),
    ),
    "probe.input_bound.copies": (
        "把批复制到设备占一步的 {copy_share:percent}",
        _input(
            "训练有 {waiting_share:percent} 的时间在等加载器，而把批复制到设备占一步时间的 "
            "{copy_share:percent}，除非两者重叠。"
        ),
    ),
    "probe.input_bound.watch": (
        "输入还不是瓶颈",
        _input(
            "训练有 {waiting_share:percent} 的时间在等数据，但用缓存的批，步速只是现在的 "
            "{slowdown:.3g} 倍：还不是瓶颈。"
        ),
    ),
    "probe.input_bound.fine": (
        _fine_headline,
        _input("训练不等数据：只占 {waiting_share:percent} 的时间。"),
    ),
}
SENTENCES: dict[str, Template] = {
    **{code: sentence for code, (_, sentence) in ANSWERS.items()},
    **{f"{code}.headline": headline for code, (headline, _) in ANSWERS.items()},
    "probe.cost.assumed": _assumption,
    # what holds a step up
    "probe.bottleneck.communication": (
        "{processes} 个进程的工作量是一个的 {times:.2g} 倍（每个 {efficiency:percent}）：瓶颈是它们之间"
        "的通信；加大每个进程的批量、用更快的网络或更少的进程会有帮助。"
    ),
    "probe.bottleneck.input": (
        "输入流水线：批量大小 {batch_size} 时，用一个缓存的批，步速是现在的 {ratio:.2g} 倍；"
        "`tunewright probe input` 指出慢的环节。"
    ),
    "probe.bottleneck.launch": _launches,
    # notes on batch sizes
    "probe.batch_size.accumulation": (
        "梯度累积不提高吞吐量：每一份都花一个单独的步的时间。只有需要的批量放不下时才用。"
    ),
    "probe.batch_size.unused": (
        "直到 {batch_size}，每步时间和内存都不增长：训练步真的用了批量大小吗？"
    ),
    "probe.batch_size.too_slow": "没有试 {batch_size} 以上的大小：一步会太久。",
    "probe.batch_size.refused": "更大的无法构建：{reason}",
    "probe.batch_size.unsteady": (
        "{sizes:list} 时，每步时间的波动超过 10 %：机器繁忙，或各步的工作不同。区间显示影响有多大。"
    ),
    "probe.batch_size.not_doubling": (
        "从 {small:,} 到 {large:,} 个样本，吞吐量只增长到 {gain:.2f} 倍，而没有占满的设备应当加倍："
        "它或已占满，或训练步受别的限制。请先弄清是哪一个（tunewright probe input --trace FILE）。"
    ),
    "probe.batch_size.pack": (
        "批量大小 {batch_size:,} 时，设备只有 {busy_share:.0%} 的时间在忙：同时进行几次试验可用上其余的"
        "（--pack auto）。这里没有对打包的试验计时；打包时会在训练中求得个数。"
    ),
    "probe.batch_size.defer": _defer,
    "probe.batch_size.several_processes": _several_processes,
    "probe.batch_size.later_change": _later_change,
    "probe.batch_size.over_budget": "没有大小在预算 {budget:g} 之内。",
    "probe.changed": _change,
    "probe.batch_size.from_record": "自测量以来没有变化：从存储库读出（--again 重新测量）。",
    "probe.batch_size.efficiency": "{processes} 个进程：效率是同样多个单进程的 {efficiency:percent}。",
    "probe.batch_size.largest": _largest,
    # what a judgement needs
    "probe.batch_size.calmer": (
        "更空闲的机器，或更长的窗口：从 {knee:,} 到 {following:,}，吞吐量似乎增长到 {gain:.2f} 倍，"
        "但可以确定的只有 {surely:.2f} 倍"
    ),
    "probe.unseen.from_outside": (
        "什么拖慢它的步：从外面看不到命令等输入多久、设备多忙，两行步数之间的评估也算作步；"
        "写一个工厂 make_step(batch_size) 可知道更多"
    ),
    "probe.unseen.gpu_memory": ("它的 GPU 内存，从外面看不到：最大的大小是逐次加倍直到失败找到的"),
    "probe.unseen.few_lines": (
        "{sizes:list} 时更多的步数行：出现得太少，不够 {windows} 个时间窗口；请每秒左右打印 "
        '{{"step": n}}'
    ),
    "probe.input_bound.no_batches": (
        "探测看得到的批：请遍历 DataLoader、使用 pipeline.fit，或写 "
        "`for batch in probes.watched(batches)`"
    ),
    # notes on the input
    "probe.input_bound.no_workers_keep_up": (
        "多少个工作进程都跟不上：训练每秒可用 {needed:,.0f} 个批，而工作进程至多加载 {best:,.0f} 个。"
        "请加快慢的环节，或在训练之前一次做完。"
    ),
    # what to change about the input, by what was measured
    "probe.input_advice.colocate": (
        _WORK
        + "，其中 {waiting_share:percent} 在等待：请把数据放在训练旁边的本地磁盘上，存成少数大文件。"
    ),
    "probe.input_advice.cache": (
        _WORK
        + "，且每次结果相同：请放在内存中。全部样本占 {free_mb:,.0f} MB 中的 {all_mb:,.0f} MB。"
    ),
    "probe.input_advice.offline": (_WORK + "，且每次结果相同：请在训练之前做一次并保存。"),
    "probe.input_advice.on_device": (
        _WORK + "，且是随机的，不能提前做：请在设备上对整个批做，或用更多工作进程。"
    ),
    "probe.input_advice.batch_first": (
        _WORK + "，而对整个批做结果相同、速度是 {times:.2g} 倍：请先组成批，再变换。"
    ),
    "probe.input_advice.drop_unused": (
        "训练步从不读 {names:list}，它们占一个批的字节的 {share:percent}：请在解码和组批之前去掉。"
    ),
    "probe.input_bound.stalls": _stalls,
    "probe.input_bound.slow_copy": _copies,
    # progress
    "probe.progress.size": _size_line,
    "probe.progress.memory": lambda facts: (
        f"批量大小 {facts['batch_size']}：{_memory(facts['reserved_mb'])}"
    ),
    "probe.progress.fits": _fits_line,
    "probe.progress.left": "至多 {most} 个大小，已计时 {done} 个，至多还需约 {seconds:duration}",
    "probe.progress.out_of_memory": "批量大小 {batch_size}：内存不足",
    "probe.progress.out_of_memory_later": "批量大小 {batch_size}：运行一会儿之后内存不足",
    "probe.progress.refused": "批量大小 {batch_size}：被拒绝，未计入（{error}）",
    "probe.progress.does_not_fit": "批量大小 {batch_size}：放不下，未计入",
    "probe.progress.largest_with": "用 {longest} 时最大的：",
    "probe.progress.largest_without": "不用时：",
    "probe.progress.steps": "用真实输入和一个缓存的批各 {steps} 步 ...",
    "probe.progress.done": "用了 {seconds:.1f} 秒",
    "probe.progress.prefetch": "加载器，每个工作进程提前 {factors:list} 个批 ...",
    "probe.progress.loader": "只运行加载器，{workers:list} 个工作进程 ...",
}
