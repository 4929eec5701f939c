"""Why a trial is infeasible, failed, pruned or due for another attempt, in Chinese."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.messages import Facts, Template, text, words


def _at_step(facts: Facts) -> str:
    """Where it happened; a reason that speaks of several trials has no step."""
    step = facts.get("step")
    return "" if step is None else f"（第 {step} 步）"


def _pruning(facts: Facts) -> str:
    """Why it could not win; another tool's reason has a step at most."""
    if "bound" not in facts:
        return f"已剪枝{_at_step(facts)}"
    return (
        f"已剪枝{_at_step(facts)}：{facts['metric']} 现为 {words.number(facts['value'])}，"
        f"最后至多达到 {words.number(facts['bound'])}，不及第 {facts['place']} 名（"
        f"{words.number(facts['reference'])}；依据 {facts['curves']} 条完整曲线）"
    )


def _inner(facts: Facts) -> str:
    """The sentence of the reason inside another."""
    cause = facts["cause"]
    return text(cause["code"], {name: fact for name, fact in cause.items() if name != "code"})


def _read(patterns: Sequence[str]) -> str:
    """The patterns that read its log, as a project file has them."""
    if not patterns:
        return ""
    written = [f"'''{pattern}'''" if "'" in pattern else f"'{pattern}'" for pattern in patterns]
    line = written[0] if len(written) == 1 else f"[{', '.join(written)}]"
    return f"，或读取它的日志：在 [workload.read] 下写 line = {line}"


def _never_logged(facts: Facts) -> str:
    metric, logged, near = facts["metric"], facts.get("logged"), facts.get("near")
    text = f"从未记录目标指标 {metric}"
    if logged is None:
        return text
    if not logged and facts.get("command"):
        example = f'{{"step": 100, "{metric}": 0.5}}'
        text = f"{text}，也没有记录别的：每次测量打印一行，例如 {example}"
        return text + _read(facts.get("read") or ())
    if not logged:
        return (
            f"{text}，也没有记录别的："
            f'调用 run.log(step, {{"{metric}": ...}})，或每次测量打印一个 JSON 对象'
        )
    remedy = f"是不是想写 {near}？" if near else f"请记录 {metric}，或更换目标。"
    return f"{text}，只有 {', '.join(logged)}{' ...' if facts.get('more') else ''}。{remedy}"


def _not_finite(facts: Facts) -> str:
    return f"{facts['metric']} 是 {facts['value']}{_at_step(facts)}"


def _broken(facts: Facts) -> str:
    metric, relation, limit = facts["metric"], facts["relation"], facts["limit"]
    return f"{metric} 是 {facts['value']:g}{_at_step(facts)}，不满足 {relation} {limit:g}"


def _value_text(facts: Facts) -> str:
    such = f"，例如 float({facts['value']})" if facts["reads_as_number"] else ""
    return f"{facts['metric']}：{facts['value']} 是文本；请记录数字{such}"


def _bad_name(facts: Facts) -> str:
    why = "含有不可打印的字符" if facts["why"] == "unprintable" else "请用 1 至 200 个字符的文本"
    return f"{facts['name']} 不能作为指标名：{why}"


def _went_back(facts: Facts) -> str:
    number, after = facts["number"], facts["after"]
    who = "这次重复" if number is None else f"试验 {number}"
    before = f"从第 {after} 步恢复" if facts["resumed"] else f"第 {after} 步"
    return f"{who}在同一次运行中，于{before}之后记录了第 {facts['step']} 步"


def _exception(facts: Facts) -> str:
    return f"{facts['type']}: {facts['text']}" if facts["text"] else str(facts["type"])


def _exit(facts: Facts) -> str:
    if facts["status"] >= 0:
        error = f"：{facts['error']}" if facts.get("error") else ""
        return f"退出状态 {facts['status']}{error}"
    return f"被 {facts['signal'] or '信号 ' + str(-facts['status'])} 终止"


def _host_lost(facts: Facts) -> str:
    what = "节点" if facts["what"] == "node" else "所在主机的进程"
    alone = "；它的文件夹只在那个节点上，所以下一次从第 0 步开始"
    text = f"{what} {facts['where']} 失联：{facts['text']}"
    return text + alone if facts["folder_lost"] else text


def _folder_missing(facts: Facts) -> str:
    return (
        f"{_inner(facts)}（本节点 {facts['host']} 没有文件夹 {facts['folder']}："
        '请共享它，或用 runtime_env={"working_dir": "."} 传过去）'
    )


def _owner_lost(facts: Facts) -> str:
    return f"所属进程失联（{facts['owner']}）" if facts.get("owner") else "所属进程失联"


SENTENCES: dict[str, Template] = {
    # ---- reasons
    "trial.unmeasured": "没有 {metric}：没有任何测量",
    # the objective, the losses and the constraints
    "objective.never_logged": _never_logged,
    "metric.not_finite": _not_finite,
    "constraint.never_logged": "从未记录 {metric}，所以无法判断 {metric} {relation} {limit:g}",
    "constraint.broken": _broken,
    # what was logged is not a number, or not a step
    "value.too_large": "{metric}：{value} 超出浮点数范围；请记录它的对数",
    "value.none": "{metric}：None 不是数字；计算它的函数是否有返回值？",
    "value.truth": "{metric}：{value} 是布尔值；若确实如此，请记录 1.0 或 0.0",
    "value.text": _value_text,
    "value.complex": "{metric}：{value} 是复数；请记录它的 abs() 或 .real",
    "value.dictionary": "{metric}：{value} 是字典；请把每一项记录为单独的名称",
    "value.collection": "{metric}：{value} 是 {type}；每个名称只记录一个数字",
    "value.array": lambda facts: (
        f"{facts['metric']}：形状为 {tuple(facts['shape'])} 的数组不是一个数字；请记录它的 "
        ".item() 或 .mean()"
    ),
    "value.not_read": "{metric}：{value} 不是数字（{text}）",
    "value.other": "{metric}：{value} 是 {type}；若它是数字，请记录 float()",
    "metric.bad_name": _bad_name,
    "metrics.not_a_mapping": (
        'run.log(step, {value})：第二个参数是指标的字典，例如 run.log(step, {{"train/loss": loss}})'
    ),
    "step.not_whole": "步 {value} 不是整数：步数按更新次数计，0、1、2……",
    "step.out_of_bounds": "步 {value} 越界：步数按更新次数计，0、1、2……",
    "step.went_back": _went_back,
    # the training program
    "trial.raised": _exception,
    "trial.infeasible": lambda facts: facts["text"] or "不可行，没有给出原因",
    "trial.failed": lambda facts: facts["text"] or "失败，没有给出原因",
    "trial.no_folder": "无法写入它的文件夹 {folder}：{text}",
    "trial.died": "中途崩溃，没有给出原因",
    "trial.died_repeatedly": lambda facts: f"崩溃 {facts['deaths']} 次，最后一次：{_inner(facts)}",
    "trial.called_exit": "训练程序调用了 sys.exit({status})",
    "trial.pruned": _pruning,
    "trial.not_loaded": lambda facts: f"工作进程无法加载训练函数：{_inner(facts)}",
    "trial.not_started": "无法启动：{text}",
    "trial.folder_missing": _folder_missing,
    "program.not_started": "无法启动 {program}：{text}",
    "program.exited": _exit,
    "process.exited": lambda facts: f"进程结束：{_exit(facts)}",
    # what it may use
    "memory.exhausted": lambda facts: f"内存不足：{_exception(facts)}",
    "memory.killed": "内存不足：内核终止了 {what}",
    "limit.memory": "内存超限：用了 {used_gb:.3g} GB，上限 {limit_gb:g} GB（memory_gb）",
    "limit.time": "超时：运行了 {limit_s:g} 秒（trial_timeout_s）",
    "limit.no_progress": "超时：{limit_s:g} 秒没有报告任何一步（no_progress_timeout_s）",
    "disk.full": lambda facts: f"磁盘空间不足：{_exception(facts)}",
    # who trained it
    "owner.lost": _owner_lost,
    "host.lost": _host_lost,
    "slurm.preempted": "Slurm 抢占了任务 {task}",
    "slurm.terminated": "Slurm 结束了它的任务：它已保存，并在新任务中恢复",
    "slurm.time_limit": "它的 Slurm 任务接近时限：它已保存，由新任务恢复",
    "slurm.superseded": "已提交这次试验的更晚一次运行",
    "slurm.orphaned": "它的主管进程没有动静",
    "slurm.restarted": "Slurm 把任务 {task} 启动了第二次；由新任务恢复",
    "slurm.forgotten": "Slurm 丢失了任务 {task}；由新任务恢复",
    "slurm.ended": "Slurm 任务 {task} 结束而没有结果：{state}",
    "stopped.asked": "收到停止请求",
    "stopped.before_start": "开始之前已停止",
    "stopped.after_step": "在第 {step} 步之后停止",
    "stopped.without_snapshot": "在第 {step} 步之前停止，没有快照",
    "stopped.after_saving": "在第 {step} 步保存后停止",
    "stopped.program_exited": lambda facts: f"已停止，{_exit(facts)}",
    "stopped.grace_over": "已停止：它没有在宽限期内结束",
    "stopped.pack_lost": "它所在的 {trials} 次试验的组失去了进程（{how}）；它将重新运行",
    "stopped.pack_crowded": "与 {beside} 次试验同组时内存不足；它将在较小的组里重新运行",
    "stopped.no_answer": "已停止：{where} 没有响应",
    "stopped.host_lost": "已停止：其间 {where} 失联",
    "stopped.executor_closed": "执行器已关闭",
    "stopped.supervisor_ended": "它的主管进程已结束",
    "stopped.session_closed": "它的会话已关闭",
    "stopped.branched": "从 {round} 的试验 {trial} 第 {step} 步的快照开始",
    "stopped.not_started": "无法启动",
    "stopped.no_suggestion": "搜索没有更多配置",
    # an offline evaluation
    "evaluation.no_metrics": (
        '评估返回了 {value}：请以字典返回它的指标，例如 {{"full_valid_error": 0.08}}'
    ),
    "evaluation.no_checkpoint": "它的状态是 {status}，所以没有选出检查点",
    "evaluation.field_taken": "{name} 是它的超参数之一，也是命令的一个字段",
    "evaluation.no_snapshot": "它没有快照：请让训练保存，或改用 {{folder}}",
    "evaluation.nothing_measured": "它结束时没有指标",
    "evaluation.metric_taken": (
        "训练本身记录了 {metric}：请给离线指标另取名称，例如 full_{metric}"
    ),
    "evaluation.ended": "{outcome}",
    # text of other programs, or of version 0.1
    "foreign": "{text}",
    "foreign.no_reason": "在 {source} 中是 {state}，它不保存原因",
    "legacy": "{text}",
    # ---- judging
    "finding.by_chance": "在 {studies} 个研究中，不多于偶然所能解释的",
    "judge.feasible_trials": "{feasible} 次可行试验；本检查需要 {needed} 次",
}
