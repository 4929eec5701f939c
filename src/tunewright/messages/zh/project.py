"""Chinese sentences about a project and its program, and of errors raised in `project`."""

from __future__ import annotations

from tunewright.messages import Facts, Template

# ---- what is found about a project and the machine it is on: remarks of `init`, lines of
# `doctor`


def _packages(facts: Facts) -> str:
    return "  ".join(f"{name} {version}" for name, version in facts["versions"].items())


def _devices(facts: Facts) -> str:
    names = ", ".join(str(name) for name in facts["cuda"])
    return f"{f'CUDA {names}' if names else '没有 CUDA 设备'}，{facts['cores']} 个核"


def _locks(facts: Facts) -> str:
    state = "有效" if facts["hold"] else "无效：可能同时授予两个进程"
    return f"{facts['folder']}（{facts['file_system'] or '未知文件系统'}）中的文件锁{state}"


def _damage(facts: Facts) -> str:
    where = "；".join(f"{fault['where']}：{fault['what']}" for fault in facts["faults"])
    more = facts["count"] - len(facts["faults"])
    others = f"；另有 {more} 处" if more else ""
    return f"{facts['store']} 有 {facts['count']} 处损坏：{where}{others}"


def _means_guessed(facts: Facts) -> str:
    pairs = [
        f"{', '.join(name) if isinstance(name, list | tuple) else name} 作为 {meaning}"
        for meaning, name in facts["means"].items()
    ]
    return f"按拼写推断：{'；'.join(pairs)}。已写入 tunewright.toml 的 [workload.means]：有错请改正"


# ---- what the source of a program gave: comments of the files of `init --scan`, and its notes


_PARTS = {
    "optimizer": "优化器超参数：每个研究都重新调",
    "regulariser": "正则化的强度：凡启用之处都调",
    "regulariser choice": "是否正则化：由一个轮次来问",
    "schedule": "学习率调度的形状",
    "schedule choice": "用哪种调度：由一个轮次来问",
    "optimizer choice": "用哪个优化器：由一个轮次来问，因为每个都要单独调",
    "strength": "从名称看，是损失或更新中某一部分的权重",
    "model": "模型：由一个轮次来问",
    "method": "用哪种方法：由一个轮次来问",
    "loss choice": "用哪种损失：由一个轮次来问",
    "augmentation": "数据增强：由一个轮次来问",
    "length": "训练长度：从不调优，否则总是最长的胜出",
    "batch size": "批量大小：从不为验证指标调优；由探测来选",
    "validation": "只影响评估：从不调优，它改变的是测量对象",
    "data": "数据：取一个值，是每条结论的适用条件",
    "seed": "种子：由运行给出，从不调优",
    "another seed": "另一个种子：保持不变",
    "folder": "写入的位置：每次试验有自己的文件夹",
    "path": "路径：不是超参数",
    "logging": "日志和检查点：不是超参数",
    "machine": "机器和精度：不是超参数",
    "unknown": "从名称看不出什么：请给它一个角色，或保持默认值",
}
_ROLES = {
    "scientific": "科学",
    "nuisance": "冗余",
    "fixed": "固定",
    "none": "无",
    "unknown": "未知",
}


def _role(facts: Facts) -> str:
    return _PARTS[facts["part"]]


def _role_line(facts: Facts) -> str:
    names = ", ".join(facts["names"])
    left = "" if facts["passed"] or facts["role"] in ("none", "unknown") else "；不在命令中"
    role = _ROLES.get(facts["role"], facts["role"])
    return f"{role}：{names}（{_PARTS[facts['part']]}{left}）"


def _subcommands(facts: Facts) -> str:
    known = ", ".join(facts["known"])
    if facts["chosen"]:
        return f"子命令 {known} 中，读取了 {facts['chosen']} 的选项"
    return f"子命令 {known}：没有一个叫 train；请把负责训练的那个写进命令"


def _no_seed(facts: Facts) -> str:
    lines = ", ".join(str(line) for line in facts["lines"])
    where = f"{facts['path']} 在第 {lines} 行用固定数字设种子。" if lines else ""
    return f"没有选项是种子，重复也就没有意义。{where}请让程序从环境变量读取 TUNEWRIGHT_SEED"


def _header(facts: Facts) -> str:
    files = ", ".join(facts["files"][:4]) or "源码"
    return (
        f"读自 {files}（{facts['style']}），没有导入或运行它。"
        "每个角色和范围都只是建议：有错请改正。"
    )


SENTENCES: dict[str, Template] = {
    # ---- project
    "project.means_guessed": _means_guessed,
    "project.program_missing": "PATH 上没有 {program}",
    "project.script_missing": "这里没有 {script}",
    "project.no_seed": "命令中没有 {placeholder}，重复也就没有意义",
    "doctor.problem": "{text}",
    "doctor.no_project": "这里和上级都没有 tunewright.toml",
    "doctor.python": "{version}，位于 {at}",
    "doctor.packages": _packages,
    "doctor.absent": "没有 {packages:list}",
    "doctor.devices": _devices,
    "doctor.workload": "{name}，{objective:objective}",
    "doctor.no_store": "{store} 还不存在",
    "doctor.store": "{store} 完好：{rounds} 个轮次，{trials} 次试验",
    "doctor.damaged": _damage,
    "doctor.no_backup": "还没有",
    "doctor.backup": "{name}，{seconds:duration} 之前",
    "doctor.no_locks": "{folder}：{error}",
    "doctor.locks": _locks,
    "doctor.disk": "可用 {free_gb:.1f} GB，其中预留 {reserve_mb} MB",
    # ---- errors project
    "function.bad_file_name": "{path} 不能用这个名称导入",
    "function.bad_name": "函数 {named!r}：不是文件加函数",
    "function.file_missing": "{path} 不存在",
    "function.file_stands": "文件应放在 tunewright.toml 旁边或其下",
    "function.ends_on_import": (
        '它是一个程序，一导入就运行并结束：请把那部分放到 if __name__ == "__main__" 之下'
    ),
    "function.imported_again": (
        "工作进程会再次导入它；名称必须是标识符，且不能是 Python 自带模块的名称"
    ),
    "function.hidden": "{path} 被另一个同名模块遮住",
    "function.import_failed": "无法导入 {name}：{kind}：{error}",
    "function.not_a_function": "{named} 是 {found!r}，不是函数",
    "function.not_found": "{place} 没有函数 {name!r}",
    "project.bad_round_name": "{shown!r} 不能作为轮次名：它是 {rounds}/ 下的文件名",
    "project.file_exists": "{path} 已存在",
    "project.no_file": "这里和上级都没有 {file}",
    "project.no_round": "没有轮次 {name!r}：{path} 不存在",
    "project.nearest_round": "是不是想写 {near!r}？",
    "project.rounds_are": "有：{known:list}",
    "project.no_store": "没有存储库：这里和上级都没有 {file} 或 {default_store}",
    "scan.not_a_command": "{program!r} 无法拆成词：{error}",
    "scan.not_a_program": "{program!r} 没有 Python 文件：请写 train.py，或 -m package.module",
    "scan.no_program": "{path} 不存在：请给出程序的文件",
    "scan.not_started": "无法启动 {program}：{error}",
    "scan.bad_time": "{seconds} 秒：试运行的时间应大于 0，至多 {most} 秒",
    "scan.cannot_try": (
        '程序需要 {required:list}：请把值写进命令，例如 "python train.py --data=PATH"'
    ),
    # ---- scan
    "scan.role": _role,
    "scan.role_line": _role_line,
    "scan.subcommands": _subcommands,
    "scan.no_seed_option": _no_seed,
    "scan.file_header": _header,
    "scan.file_booleans": "程序如何接受真和假。",
    "scan.file_defaults": "程序自己的默认值，轮次没有写出的超参数就用它们。",
    "scan.file_required": "必填：只有你知道",
    "scan.file_means": "按拼写推断的名称含义。防护和检查都以此为准。",
    "scan.file_off": "用来关闭各功能的值。",
    "scan.file_roles": "为所有选项建议的角色及原因：",
    "scan.round_header": (
        "第一个轮次。每个研究 {trials} 次试验够搜索 {paid} 个超参数，最重要的在前；"
        "其余的固定，各是一个适用条件。"
    ),
    "scan.round_goal": "{names:list} 取什么值适合这个程序？",
    "scan.round_scientific": "要测量其影响的。取消注释一个，就能问它。",
    "scan.round_nuisance": "在程序默认值附近搜索。",
    "scan.round_fixed": "全部取同一个值；训练长度和批量大小从不调优。",
    "scan.type_bool": "{name} 用了 type=bool，会把任何文本当作真：不传递它",
    "scan.json_option": (
        "{option} 接受一个 JSON 对象：把要调的值写进命令，例如\n"
        "{option}='{{\"lr\": 0.001}}'；每个值都成为一个超参数"
    ),
    "scan.nothing_found": "{path} 没有可读取的选项：请自己写命令",
    "scan.too_large": "{path} 大于 {largest} 字节，没有读取",
    "scan.not_decodable": "{path} 不是它所声明编码的文本：{error}",
    "scan.not_readable": "无法读取 {path}：{error}",
    "scan.syntax_error": "{path} 不是有效的 Python（第 {line} 行）：{error}",
    "scan.library_missing": "这里没有安装 {library}，所以没有读取 {name} 的选项",
    "scan.no_yaml": "读取 {path} 需要 PyYAML：pip install pyyaml",
    "scan.hydra_not_named": "{path}：hydra.main 没有写明 config_path 和 config_name",
    "scan.config_not_found": "没有找到选项 {name} 的文件：请传 --{name}=FILE",
    "scan.found": "{style}：{options} 个选项，{hyperparameters} 个超参数",
    "scan.needs": "不知道 {required:list} 的默认值：轮次必须给出值或范围",
    "scan.tried": (
        "试运行了 {seconds:duration}；在输出中找到 {patterns} 种行模式，在文件夹中找到 {files} 个"
        "含测量的文件"
    ),
    "scan.tried_file": "{pattern}：{metrics:list} 共 {points} 行",
    "scan.not_tried": (
        "{metric} 从 JSON 行中读取；如果程序以别的形式打印它，--try {seconds} 会短暂运行程序，并给出读取这些行的方法"
    ),
    "scan.tried_json": "试运行了 {seconds:duration}；程序已经以 JSON 打印测量",
    "scan.tried_stopped": (
        "{seconds:duration} 后停止，此前在输出和文件夹中都没有测量。"
        "请用 --try 给更多秒数，或自己写 [workload.read]"
    ),
    "scan.tried_failed": (
        "{seconds:duration} 后以退出状态 {status} 结束，此前在输出和文件夹中都没有测量："
        "原因见上面的输出"
    ),
    "scan.other_python": (
        "`{word}` 启动的是 {found}，而 Tunewright 运行在 {own}："
        "如果程序需要那里安装的包，请激活那个环境，或把它的路径写进命令"
    ),
    "scan.adapter": (
        "还没有读取指标，而程序导入了 {library}：加上 "
        "`from tunewright.integrations.{module} import {word}` 这一行和参数 `{added}` 即可记录指标"
        "（docs/{module}.md）"
    ),
    "scan.tried_nothing": (
        "试运行了 {seconds:duration}；在输出和文件夹中都没有找到测量。"
        "请每次测量打印一个 JSON 对象，或自己写 [workload.read]"
    ),
}
