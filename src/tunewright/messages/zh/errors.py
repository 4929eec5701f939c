"""Chinese sentences of errors: those that any part raises, and of `cli`, `search`, `stats`."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence
from tunewright.messages.zh.rounds import STATUSES

# ---- errors of no folder in particular, and what helps after an error in a few words


def _hint(facts: Facts, otherwise: str, known: str = "known") -> str:
    """The name that was meant, or all that there are."""
    if facts["near"]:
        return f"是不是想写 {facts['near']!r}？"
    return f"{otherwise}{', '.join(map(str, facts[known]))}。"


def _setting(setting: Facts) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def _no_round(facts: Facts) -> str:
    there = _hint(facts, "它有：") if facts["near"] or facts["known"] else "它还没有轮次。"
    return f"{facts['store']} 中没有轮次 {facts['name']!r}。{there}"


def _no_store(facts: Facts) -> str:
    there = f"有：{', '.join(facts['others'])}。" if facts["others"] else ""
    return f"{facts['path']} 处没有存储库。{there}"


def _no_trial(facts: Facts) -> str:
    first, last = facts["first"], facts["last"]
    there = "它没有试验" if first is None else f"它的试验是 {first} 至 {last}"
    return f"{facts['round']} 没有试验 {facts['trial']}：{there}。"


def _none_completed(facts: Facts) -> str:
    under = f"（{_setting(facts['setting'])}）" if facts["setting"] else ""
    counted = facts["counts"].items()
    counts = (
        "，".join(f"{n} 次{STATUSES.get(status, status)}" for status, n in counted) or "没有试验"
    )
    return f"{facts['round']}{under}：没有已完成的试验（{counts}）。"


def _no_metric(facts: Facts) -> str:
    there = _hint(facts, "它记录了：", known="logged")
    return f"试验 {facts['trial']} 从未记录 {facts['metric']!r}。{there}"


def _not_scientific(facts: Facts) -> str:
    there = _hint(facts, "它有：")
    return f"{facts['round']}：{facts['name']!r} 不是本轮次的科学超参数列表。{there}"


def _no_study(facts: Facts) -> str:
    setting, studies = _setting(facts["setting"]), "；".join(facts["studies"])
    return f"{facts['round']}：没有 {setting} 的研究。它有：{studies}。"


def _unknown_fact(facts: Facts) -> str:
    near = f"{{run.{facts['near']}}}" if facts["near"] else ""
    known = ", ".join(f"{{run.{name}}}" for name in facts["known"])
    hint = f"是不是想写 {near}？" if near else f"已知的有：{known}。"
    return f"{{{facts['field']}}}：运行没有这一项。{hint}"


def _no_room(facts: Facts) -> str:
    has = "；".join(facts["nodes"]) or "一个节点也没有"
    hints = "".join(f"是不是想写 {name}？" for name in facts["near"])
    return (
        f"一次试验需要 {facts['needs']}，Ray 集群中没有节点满足。它有 {has}。{hints}"
        "请减少要求（resources=），或增加满足的节点。"
    )


def _configuration(facts: Facts) -> str:
    """Where a listed configuration stands; one given by itself has no number."""
    number = facts["number"]
    return facts["source"] if number is None else f"{facts['source']}：配置 {number}"


def _not_listed(facts: Facts) -> str:
    studies = ", ".join(facts["studies"])
    return f"{_configuration(facts)}，{facts['listed']}，不属于研究 {studies} 中的任何一个。"


def _unknown_listed(facts: Facts) -> str:
    near = facts["near"]
    hint = f"是不是想写 {near!r}？" if near else f"它有 {facts['known']}。"
    return f"{_configuration(facts)}：研究 {facts['study']} 没有 {facts['name']!r}。{hint}"


REMEDIES: dict[str, Template] = {
    "first_run": "运行一个轮次，或用 --store 指定另一个存储库",
    "list_rounds": "看看有哪些轮次",
    "join_round": "加入运行，或用 `tunewright stop` 结束它",
    "set_budget": "若可以花费更多，请提高预算",
    "doctor": "检查机器和存储库",
    "restore": lambda facts: "从试验文件夹重建存储库" if facts["rebuild"] else "恢复最新的备份",
}


# ---- sentences of the errors raised in `cli`


def _no_space_file(facts: Facts) -> str:
    others = f"，共有 {len(facts['known'])} 个轮次" if facts["known"] else ""
    return f"哪个空间？{facts['rounds']}/{facts['space']}.toml 不存在{others}"


SENTENCES: dict[str, Template] = {
    "cli.unknown_language": "--lang {asked}：有英文（en）和中文（zh）。",
    # ---- errors
    "error.text": "{text}",  # of another program, or of a caller
    "extra.missing": "{purpose} 需要 {package}：pip install 'tunewright[{extra}]'",
    "problems.more": "另有 {count} 个",
    "problems.more_rows": "{problem:message}（另有 {rows} 行）",
    "round.not_found": _no_round,
    "store.not_found": _no_store,
    "trial.not_found": _no_trial,
    "trial.none_completed": _none_completed,
    "metric.not_found": _no_metric,
    "study.not_found": _no_study,
    "study.no_such_number": "{round} 的研究是 0 至 {last}。",
    "study.not_a_scientific_list": _not_scientific,
    "command.problem": "命令：{problem:message}",
    "command.unknown_fact": _unknown_fact,
    "ray.no_room": _no_room,
    "throughput.unknown_argument": lambda facts: (
        f"{facts['subject']} 不接受 {facts['name']!r}。{_hint(facts, '它接受：')}"
    ),
    "import.role_of_some_trials": (
        "{argument} {name}：{said}，但 {of} 次试验中有 {lacking} 次没有它的值（{trials}），"
        "也没有别的超参数决定哪些有。请补上值，或不用它："
        'roles={{"{name}": "left_out"}}，--leave-out {name}。'
    ),
    "import.role_without_range": (
        "{argument} {name}：{said}，但每次试验的值都相同。请给出它的范围"
        '（ranges=，--range "{name} = ..."），或把它固定。'
    ),
    "importers.no_study": "试验 {trial}：轮次中没有 {setting} 的研究。",
    "importers.trial": "trials：试验 {trial}：{problem:message}",
    "listed.empty": "{source}：没有配置。请至少列出一个。",
    "listed.not_a_mapping": lambda facts: (
        f"{_configuration(facts)}，{facts['listed']!r}，不是映射。"
    ),
    "listed.of_no_study": _not_listed,
    "listed.too_few": (
        "{source}：研究 {study} 有 {configurations} 个配置，而试验有 {trials} 次。请多列一些，"
        "或减小 trials_per_study。"
    ),
    "listed.problem": lambda facts: f"{_configuration(facts)}：{sentence(facts['problem'])}",
    "listed.not_fixed": lambda facts: (
        f"{_configuration(facts)}：{facts['name']} = {facts['value']}，但轮次把它固定为 "
        f"{facts['fixed']}。"
    ),
    "listed.unknown_hyperparameter": _unknown_listed,
    # ---- errors cli
    "demo.folder_taken": "{folder} 已存在，且不是演示用的",
    "demo.package_missing": "演示需要 {package}：pip install 'tunewright[demo]'",
    "evaluate.no_measure": "用什么测量检查点？请给 --with，或在 tunewright.toml 中写 {key}",
    "evaluate.measure_is": "返回指标的函数 full(checkpoint)，或含有 {{checkpoint}} 的命令",
    "file.exists": "{path} 已存在",
    "importers.bad_means_option": "--means {text}：不是 MEANING=NAME",
    "importers.bad_range_option": "--range {text}：不是名称加范围（{kinds:list}）",
    "importers.metric_unknown": "哪个指标？这个来源没有说明它的目标",
    "importers.range_needs_two_ends": "--range {text}：{kind}() 需要下限和上限",
    "importers.role_given_twice": "{name}：给了两个角色，{first} 和 {role}",
    "importers.second_address": "import {source} 只接受一个地址，{part!r} 是第二个",
    "listed.bad_ending": "{path}：配置列表的文件以 {endings:list} 结尾。",
    "listed.file_and_search": "--listed {file} 与 --search {search}：列表本身就是一种搜索",
    "listed.no_such_file": "--listed {path}：没有这个文件",
    "listed.not_a_list": '{path}：不是配置的列表：[{{"learning_rate": 0.1}}]。',
    "listed.single_brackets": "{path}：每个配置一张表：请写 [[{table}]]，用双括号。",
    "next.no_such_proposal": "--take {number}：共有 {count} 条建议",
    "next.nothing_to_write": "{kind}：没有轮次可写，要先做别的事",
    "objective.logged_were": "记录的有 {metrics:list}",
    "objective.not_logged": "{option} {metric}：{round} 中没有试验记录它",
    "objective.nothing_logged": "{option} {metric}：{round} 中还没有试验记录任何东西",
    "objective.two_directions": "--minimize {minimize} 与 --maximize {maximize}：一次只有一个目标",
    "option.bad_resource": "--resources {text}：{part!r} 不是名称加数量",
    "option.bad_steps": "--steps {text}：不是批量大小加步数",
    "option.no_metric": "哪个指标？请给 --minimize 或 --maximize",
    "option.not_name_and_value": "{option} {text}：不是名称加值",
    "option.not_name_value": "--fixed {text}：不是 NAME=VALUE",
    "option.not_numbers": "{option} {text}：不是用逗号分开的数字",
    "option.not_one_of": "{option} {name}：不在 {known:list} 之中",
    "option.bad_slurm": "--slurm {part}：请给 NAME=VALUE，名称为 {known:list} 之一",
    "option.only_for_slurm": "--slurm 只用于 Slurm 集群",
    "option.not_with_pack": "{option} 不能与 --pack 并用。",
    "option.bad_pack": "--pack {pack}：请给试验数，或 auto。",
    "option.only_for_ray": "{option} 只用于 Ray 集群",
    "option.store_is_folder": "--store {address}：是文件夹，不是存储库。",
    "option.trial_without_round": "--trial {trial}：属于哪个轮次？",
    "probe.no_batch_sizes": "哪些批量大小？",
    "probe.noise_scale_not_two": "--noise-scale：给了 {count} 个大小，应为两个",
    "probe.recorded_and_fixed": "--fixed 与 --recorded：已记录的不能更改",
    "probe.recorded_without_round": "--recorded：属于哪个轮次？",
    "tune.no_space_file": _no_space_file,
    # ---- errors testing
    "testing.bad_evaluations": "shape(evaluations={evaluations})：至少需要 1。",
    "testing.unknown_noise": "noise({kind!r})：不在 {noises:list} 之中。",
    "testing.unknown_shape": "shape({name!r})：不在 {shapes:list} 之中。",
    "testing.unknown_trial_noise": "trial_noise({kind!r})：不在 normal、skew、t3、outlier 之中。",
    # ---- errors stats
    "gain.bad_sd": "sd={sd!r}：应为指标在两次运行之间的标准差。",
    # ---- errors search
    "bayesian.compares_settings": (
        "贝叶斯搜索是为调到最好值，而 {round} 问的是 {names:list} 的作用：各设置必须在相同、均匀的"
        "采样点上比较。请去掉搜索选项（默认为准随机），或在不均匀的比较也可接受时给 "
        "Bayesian(scientific=True)。"
    ),
    "bayesian.earlier_objective": (
        "Bayesian(earlier=...)：{round} 按 {objective} 评判，本轮次按 {own}。请以 "
        "results.with_objective(...) 给出按本轮次目标评判的结果。"
    ),
    "search.not_a_search": (
        "search={search!r} 不是搜索：请给 tw.search.Halton()、tw.search.Bayesian()，或具有 name、"
        "adaptive 和 suggest() 的对象"
    ),
    "search.too_many_dimensions": (
        "同时搜索 {dimensions} 个超参数，而准随机点至多支持 {most} 个。请固定其余的。"
    ),
}
