"""Chinese: short lines that commands print around their pages, and the lines of progress."""

from __future__ import annotations

from tunewright.messages import Facts, Template


def _begins(facts: Facts) -> str:
    """Who begins; a number before a Chinese word has a space."""
    who = str(facts["who"])
    return f"{who} 开始" if who[-1:].isascii() else f"{who}开始"


SENTENCES: dict[str, Template] = {
    "screen.wrote": "已写入 {path}",
    "screen.wrote_about": "已写入 {path}：{what}",
    "screen.next": "下一步：{command}",
    "screen.next_why": "下一步：{command}（{why}）",
    "screen.note": "注意：{text}",
    "screen.error": "错误：",
    "screen.unforeseen": "未预料：机器的问题，或 tunewright 的错误",
    "screen.no_reason": "没有给出原因",
    "screen.no_reason_given": "没有给出原因",
    "screen.nothing_to_do": "没有要做的",
    "screen.interrupted": "已中断",
    "screen.of_status": "{count} 次{status}",
    "screen.counted": "{trials}（{others}）",
    "screen.between": "{low} 至 {high}",
    "screen.part": "{total} 次中 {count} 次",
    "screen.torn_backup": "注意：{path} 残缺或被改动过，已跳过",
    "screen.restored": "已用 {source} 恢复 {store}：{rounds:count round}，{trials:count trial}",
    "screen.restored_from_folders": (
        "已由试验文件夹重建 {store}：{rounds:count round}，{trials:count trial}"
    ),
    "screen.back": "{round} 已恢复：{trials:count trial}",
    "screen.removed": "已移除 {round}：{trials:count trial}",
    "screen.folders_stay": "它的试验文件夹保留在 {folder}",
    "screen.undo": "撤销：{command}",
    "screen.renamed": "{old} 已改名为 {new}",
    "screen.renamed_too": "一并改名：{name}",
    "screen.continues_it": "{name} 是它的后续",
    "screen.demo.project": (
        "演示的项目是 {folder}/：train.py（训练什么）、{file}（如何评判）、\n{space}（可以改"
        "什么）。问题是：{goal}"
    ),
    "screen.demo.trials": "共 {trials} 次训练；有些会发散，那是数据。每一步都给出原因。",
    "screen.demo.open": "然后打开 {file}",
    "screen.demo.chosen": "它选中的试验：曲线、种子、检查点",
    "screen.demo.ui": "在浏览器中看全部，每页先给结论",
    "screen.demo.ls": "它运行的每个轮次，及其目的和最好结果",
    "screen.demo.history": "上线了什么、何时、为什么",
    "screen.demo.own_question": "你自己的问题：第二层值得吗？",
    "screen.demo.own_program": "在你自己程序的文件夹中",
    "screen.trial_said": "试验 {trial}：{said}",
    "screen.again_took": "用时 {seconds:duration}；日志和文件：{folder}",
    "screen.imported": "{round}：{goal}，保存在 {store}",
    "screen.hyperparameters": "超参数：{names}",
    "screen.none_named": "没有写出",
    "screen.next_question": "下一步：tunewright new NAME，提出第一个问题",
    "screen.wrote_round": "已写入 {path}：请写下目的，并给这些超参数一个角色：",
    "screen.wrote_round_with_roles": "已写入 {path}：请写下目的，并修改不合适的地方",
    "screen.each_hyperparameter": "每个超参数",
    "screen.searches": "{optimizer}，每个研究 {trials:count trial}，搜索 {names}",
    "screen.fixes": "{optimizer}，每个研究 {trials:count trial}，固定 {names}",
    "screen.other_name": "若它在那里叫别的名称，请在 {file} 的 {table} 下声明",
    "screen.lengths": "训练长度：{says}",
    "screen.enough": "{round}：要求的试验次数已经完成",
    "screen.listed_trials": "试验：每个研究 {now} 次（按列表），而不是 {before} 次",
    "screen.run_outcome": "{round}：{says}（{seconds:duration}）",
    "screen.stop_none": "已请求停止：{round} 现在没有试验在运行",
    "screen.stop_all": "已请求停止：{round} 运行中的 {running} 次试验会保存、停止，并保持待运行",
    "screen.stop_one": "已请求停止：{round} 的试验 {trial} 会保存、停止，并保持待运行",
    "screen.repeats": "试验 {trial} 的 {metric} 原为 {value:number}；各次重复：{shown}",
    "screen.repeats_mean": (
        "{repeats} 次重复的均值 {mean:number}，标准差 {sd:number}。试验本身是因其值被选中的："
        "请相信重复。"
    ),
    "screen.noted": "已记下：{round} 有 {notes:count note}",
    "screen.exported": "已写入 {path}：{round} 的 {trials:count trial}",
    "screen.step_cost": "第 {step} 步  {kind}，{trials:count trial}（还剩 {left} 次）",
    "screen.step": "第 {step} 步  {kind}",
    "screen.go_on": "继续？",
    "screen.campaign_says": "{name}：{says}",
    "screen.report_at": "报告：{path}",
    "screen.plan_used": "{name}：{total:count trial}中用了 {spent} 次",
    "screen.plan_explore": "探索       至多 {most} 次（第一个轮次 {first} 次）",
    "screen.plan_kept": (
        "预留       {kept} 次（入围者 {finalists} x {times}，种子方差 {luck}，上线 {launch}）"
    ),
    "screen.plan_exploit": "利用       其余，至少 {least} 次",
    "screen.plan_extend": "延长       {extend} 次按完整长度，取自预留的试验",
    "screen.plan_next": "下一步：{kind}，{trials:count trial}：{why}",
    "screen.limits": "局限：",
    "screen.over": "{candidate} 对 {baseline}",
    "screen.baseline": "基线：{place}  {shown}",
    "screen.verdict.launch": "上线",
    "screen.verdict.keep": "保留基线",
    "screen.verdict.undecided": "未定",
    "screen.verdict.first": "第一个基线",
    "screen.verdict.discard": "放弃",
    "screen.verdict.remove": "移除",
    "screen.known_roughly": "粗略知道：",
    "screen.not_known": "尚不知道：",
    "screen.dry_run": "仅为预览，没有记录任何内容。下一步：{command}",
    "screen.plan_trials": (
        "{studies:count study/studies}，各 {each} 次：{trials:count trial}（{search}）"
    ),
    "screen.plan_trials_ended": (
        "{studies:count study/studies}，各 {each} 次：{trials:count trial}，其中 {ended} 次已"
        "结束（{search}）"
    ),
    "screen.belief.saturated": "调优很可能已经饱和",
    "screen.belief.few": "{trials} 次试验：从 {enough} 次起才能判断调优是否饱和",
    "screen.belief.pays": "预期更多试验仍有改进",
    "screen.belief.map": "其他超参数取推荐值时可行的概率：",
    "screen.belief.learned": "依据 {trials:count trial}",
    "screen.belief.earlier": "，其中 {count} 次来自较早的轮次",
    "screen.belief.infeasible": "，其中 {count} 次不可行",
    "screen.belief.says": "{says}（{learned}）",
    "screen.belief.gain": (
        "{says}：再做 {more} 次试验，预期 {metric} 改进 {gain:number}；改进 {enough:number} 才值得"
    ),
    "screen.belief.best": (
        "可期望的最好 {metric} 为 {value:number}（90 % 区间 {low:number} 至 {high:number}），"
        "如试验 {trial}：{settings}"
    ),
    "screen.belief.feasible": "那里可行的概率为 {share:.2f}",
    "screen.belief.feasible_unsure": "那里可行的概率为 {share:.2f}；已完成的试验都不比它更有把握",
    "screen.belief.below": "概率低于 {sure}",
    "screen.trials_after": "{trials:count trial}，原为 {before} 次",
    "screen.more_changes": "另有 {count} 处改动",
    "screen.extension": "{round}：从 {old} 步到 {new} 步，如试验 {trial}",
    "screen.schedule": "学习率调度：{rule}",
    "screen.extension_cost": "代价：{trials:count trial}，每次 {steps} 步，共 {total} 步",
    "screen.extension_cost_times": (
        "代价：{trials:count trial}，每次 {steps} 步，共 {total} 步，是 {round} 的 {times} 倍"
    ),
    "screen.missing": "缺少：{what}",
    "screen.for_configuration": "可写进配置的设置：",
    "screen.caveat": "适用条件：{what}",
    "screen.no_rounds": "还没有轮次。下一步：tunewright new NAME",
    "screen.best_of_trial": "{value:number}\n试验 {trial}",
    "screen.trial_completed": "{round} 的试验 {trial} 已完成：{metric} {value}，第 {step} 步",
    "screen.trial_ended": "{round} 的试验 {trial} {status}",
    "screen.trial_ended_why": "{round} 的试验 {trial} {status}：{reason}",
    "screen.no_step": "还没有报告步",
    "screen.running_for": "已运行 {seconds:duration}",
    "screen.step_rate": "每秒 {rate:number} 步",
    "screen.time_left": "约剩 {seconds:duration}",
    "screen.on_examples": "在 {n} 个样本上",
    "screen.log_scale": "（对数刻度）",
    "screen.commit_changed": "{commit}，有未提交的改动",
    "screen.metric_then": "当时的 {metric}",
    "screen.judge.values": "各次的值 {values}；单次运行的标准差 {sd:number}",
    "screen.judge.stands": (
        "{first} -> {current}：{tried} 个改动中保留 {kept} 个，未定 {undecided} 个"
    ),
    "screen.judge.running": (
        "{metric} {baseline:number}（单次运行的标准差 {sd:number}）；改进的临时估计，不可引用"
        "：{gain:number}"
    ),
    "screen.judge.spent": "{runs:count run}，{seconds:duration}",
    "screen.judge.runs_left": "还剩 {runs:count run}",
    "screen.judge.hours_left": "还剩 {hours:.3g} 小时",
    "screen.judge.cost": "代价：{parts}",
    "screen.figure_at": "图在 {path}。",
    "screen.bottleneck": "瓶颈：{what}",
    "screen.hours_and_prices": "小时和价格：{assumption}。",
    "screen.of_the_time": "{share} 的时间",
    "screen.times_as_fast": "速度是 {times} 倍",
    "screen.per_step": "每步 {count} 次",
    "screen.steps_of_size": "{steps} 步，批量大小 {size}",
    "screen.trace_at": "轨迹在 {path}；可用 ui.perfetto.dev 打开。",
    "screen.progress.ended_before": "，此前已结束 {done} 次",
    "screen.progress.began": "{round}：{trials:count trial}{before}，{objective:objective}",
    "screen.progress.begins": lambda facts: f"{_begins(facts)}  {facts['settings']}",
    "screen.progress.begins_again": lambda facts: (
        f"{_begins(facts)}（第 {facts['attempt']} 次运行）  {facts['settings']}"
    ),
    "screen.progress.pending": "回到待运行",
    "screen.progress.continues": "继续：{total:count trial}中 {done} 次已结束",
    "screen.progress.failed": "! {who}失败：{reason}：`{command}`",
    "screen.progress.streak": "! 连续 {count} 次试验不可行，最后一次：{reason}：`{command}`",
    "screen.progress.a_repeat": "一次重复",
    "screen.progress.trial": "试验 {number}",
    "screen.progress.step_cost": (
        "{campaign} 第 {step} 步  {kind}，{trials:count trial}（还剩 {left} 次）：{reason}"
    ),
    "screen.progress.step": "{campaign} 第 {step} 步  {kind}：{reason}",
    "screen.progress.left": "还剩 {time}",
    "screen.progress.best": "最好 {metric} {value:number}  {who}  {settings}",
    "screen.progress.at_step": "第 {step:,} 步",
    "screen.progress.at_step_of": "第 {step:,}/{total:,} 步",
    # of the command line, whose own sentences are English
    "screen.usage.option": lambda facts: f"没有选项 {facts['name']}",
    "screen.usage.missing": lambda facts: f"缺少 {facts['name']}",
    "screen.usage.value": lambda facts: f"{facts['name']} 的值无效；帮助中有允许的值",
    "screen.usage.command": lambda facts: f"没有命令 {facts['name']!r}",
    "screen.usage.other": "用法有误：{said}",
}
