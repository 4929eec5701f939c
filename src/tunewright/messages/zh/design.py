"""What is wrong, or unwise, about a round, its ranges, its schedule and their files, in Chinese."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.messages import Facts, Template, sentence

_STEPS = "max_train_steps"
_KEY_OF = {
    "file": "这里的表",
    "round": "轮次的键",
    "workload": "[workload] 的键",
    "read": "[workload.read] 的键",
}


def _and(names: Sequence[object]) -> str:
    return "、".join(str(name) for name in names)


def _nearest(facts: Facts, otherwise: str = "已知的有：") -> str:
    """A hint at the name that was meant, or at all there are."""
    if facts["near"]:
        return f"是不是想写 {facts['near']!r}？"
    return f"{otherwise}{', '.join(facts['known']) or '无'}。"


def _steps(facts: Facts) -> str:
    name = facts["name"]
    return name if name == _STEPS else f"{name}（即 {_STEPS}）"


def _steps_differ(facts: Facts) -> str:
    values = facts["values"]
    return (
        f"{_steps(facts)} 在同一个研究中取 {len(values)} 个值（{', '.join(map(str, values))}），"
        "会比较长度不同的试验：请选一个值。"
    )


def _missing_name(facts: Facts) -> str:
    settings = ", ".join(f"{column} = {value}" for column, value in facts["under"].items())
    under = f"在 {settings} 之下" if settings else ""
    return (
        f"{facts['name']}：训练程序需要它，而轮次{under}没有给它值。"
        "请在 fixed= 中给一个值，或放进 nuisance= 来搜索。"
    )


def _too_few_trials(facts: Facts) -> str:
    branches = facts["branches"]
    study = f"研究 {facts['study']} 中，" if facts["study"] else ""
    shared = f"，由 {branches} 个条件分支共用" if branches > 1 else ""
    return (
        f"{study}{facts['dimensions']} 个超参数只有 {facts['trials']} 次试验{shared}："
        f"{facts['suggested']} 次就够；或固定最不重要的超参数。"
    )


def _several_scientific(facts: Facts) -> str:
    return (
        f"{_and(facts['names'])} 都是科学超参数：一个轮次只适合回答一个问题。请只问其中一个，其余作为"
        f"冗余或固定超参数；否则试验要由 {facts['studies']} 个研究分摊。"
    )


def _belief_unit(facts: Facts) -> str:
    place = f"{facts['range']}.around({facts['value']!r})"
    if facts["wanted"] == "width":
        return f"{place}：线性刻度只给 width=，单位与值相同。"
    return f"{place}：对数刻度和列表只给 factor=，例如 factor=3。"


def _fixed_range(facts: Facts) -> str:
    text = f"{facts['column']}：{facts['range']} 是范围。固定超参数只有一个值"
    if facts["meaning"] == _STEPS:
        return f"{text}，而训练步数从不搜索：请选一个。"
    if facts["meaning"] is not None:
        return f"{text}：请选一个，或在 scientific= 中列出批量大小来比较，其余在每个之下重新调优。"
    return f"{text}；要搜索它，请移到 nuisance=（除非它表示训练步数）。"


def _unknown_meaning(facts: Facts) -> str:
    near = f"是不是想写 {facts['near']!r}？" if facts["near"] else ""
    known = ", ".join(facts["known"])
    return f"means {facts['meaning']!r}：没有这个含义。{near}含义有：{known}。"


def _meaning_not_taken(facts: Facts) -> str:
    near = f"是不是想写 {facts['near']!r}？" if facts["near"] else ""
    return (
        f"means {facts['meaning']}：{facts['spelled']!r} 在这里不是超参数。{near}"
        f"有：{', '.join(facts['known']) or '无'}。None 声明没有任何名称有这个含义。"
    )


def _guesses(facts: Facts) -> str:
    pairs = [
        f"{', '.join(name) if isinstance(name, list | tuple) else name} 作为 {meaning}"
        for meaning, name in facts["means"].items()
    ]
    return f"按拼写推断名称的含义：{'；'.join(pairs)}。"


def _no_range(facts: Facts) -> str:
    name, key = facts["name"], facts["key"]
    hint = f'若 {name}.{key} 是一个名称，请加引号："{name}.{key}" = ...' if key else ""
    return (
        f"{facts['declared']!r} 不是范围。请写 {{ log = [1e-4, 1e-1] }}、值的列表或另一种"
        f"（{', '.join(facts['kinds'])}）。你自己的种类要在注册它的模块导入之后才认识。{hint}"
    )


def _missing_file(facts: Facts) -> str:
    parts = [f"{facts['path']}：没有这个文件。"]
    if facts["near"]:
        parts.append(f"是不是想写 {facts['near']}？")
    if facts["how"]:
        parts.append(sentence(facts["how"]))
    return "".join(parts)


def _one_of_two(facts: Facts) -> str:
    there = "两个都有" if facts["both"] else "两个都没有"
    return f"[workload] 需要 {facts['one']} 和 {facts['other']} 之一；现在{there}。"


def _unknown_schedule(facts: Facts) -> str:
    if facts["near"]:
        return f"。{_nearest(facts)}"
    return f"；有 {', '.join(facts['known'])}。"


def _fixed_while_compared(facts: Facts) -> str:
    fixed = ", ".join(f"{name} = {value}" for name, value in facts["fixed"].items())
    return (
        f"比较 {_and(facts['compared'])} 时 {fixed} 是固定的：{sentence(facts['why'])}。"
        "预算允许的话请改为冗余超参数，否则答案只适用于这一个值。"
    )


def _lengths_differ(facts: Facts) -> str:
    each = "，".join(f"{study} 为 {value}" for study, value in facts["lengths"].items())
    return (
        f"{facts['name']} 在各设置之间不同（{each}）：仅此一点就会让较长的训练显得更好。"
        "请给每个设置同样的步数。"
    )


def _batch_size_of_earlier(facts: Facts) -> str:
    held = [*facts["optimizer"], *facts["regularisers"]]
    return (
        f"{facts['name']} 在 {facts['earlier']} 中是 {facts['before']}，现在是 {facts['now']}，而 "
        f"{_and(held)} 保持原值：请先重新调优化器的超参数，再调正则化。"
    )


SENTENCES: dict[str, Template] = {
    "advice.architecture_nuisance": lambda facts: (
        f"{_and(facts['names'])}：架构被当作冗余超参数。它决定成本、延迟和内存，通常应是科学超参数"
        "（加以比较）或固定。"
    ),
    "advice.fixed_while_compared": _fixed_while_compared,
    "advice.lengths_differ": _lengths_differ,
    "advice.shared_by_optimizers": lambda facts: (
        f"{_and(facts['names'])}：每个 {facts['optimizer']}（"
        f"{', '.join(map(str, facts['values']))}）共用一个范围。名称相同不等于超参数相同："
        "请用 given() 给每个单独的范围。"
    ),
    "interaction.augmentation": "数据增强越多，其他正则化越没用",
    "interaction.batch_size": "它的最好值随批量大小而变",
    "interaction.model_size": "较大的模型往往需要更强的正则化",
    "continued.batch_size": _batch_size_of_earlier,
    "continued.length": lambda facts: (
        f"{facts['name']} = {facts['steps']} 来自探测，而自 {facts['earlier']} 以来 "
        f"{_and(facts['changed'])} 变了：步数取决于它。请重新探测。"
    ),
    "advice.two_values": (
        "{name} 只取 {low:number} 或 {high:number}，不取两者之间的值。如果想给的是范围，"
        "请写 log({low:number}, {high:number})。"
    ),
    "advice.epoch_budget": (
        "在 epoch 预算（{steps}）下比较批量大小：较大的批量步数更少，仅此一点就会显得更差。"
        "请给每个批量大小所需的步数，并在相同步数或相同时间下比较。"
    ),
    "advice.many_dimensions": (
        "同时搜索 {dimensions} 个超参数：超过 {most} 个时，准随机点几乎不比随机点更均匀。请固定一些。"
    ),
    "advice.nothing_nuisance": (
        "没有冗余超参数：每个设置只在一个配置上比较，答案只适用于那个配置。"
    ),
    "advice.one_value": "{name} 是只有一个值的科学超参数：没有可比较的。请再加一个，或固定它。",
    "advice.optimizer_nuisance": (
        "{name} 是冗余超参数：用哪个优化器通常应是科学超参数（加以比较）或固定，因为每个优化器都带来"
        "自己的超参数。"
    ),
    "advice.optimizer_scientific": (
        "{name} 是科学超参数：它的最好值几乎随任何改动而变，答案不会持久。"
        "优化器超参数通常是冗余超参数。"
    ),
    "advice.rate_fixed": (
        "比较各设置时 {name} 是固定的：每个设置可能需要不同的值，碰巧适合的那个设置会胜出。"
        "预算允许的话请改为冗余超参数。"
    ),
    "advice.rate_not_retuned": (
        "{name} 是科学超参数，但没有在每个值之下重新调学习率：大多数最优值随批量大小而变。"
    ),
    "advice.regulariser_on_training_metric": (
        "{name} 起正则化作用，而 {metric} 是训练指标：它只会显得有害。请用验证指标评判正则化。"
    ),
    "advice.scientific_range": (
        "{name} 是科学超参数的范围：它的影响要从一个研究的分段中读出，即使有 100 次试验，"
        "也至多在 100 次中有 8 次发现相当于 3 个试验标准差的差异。三个值的列表、每个 16 次试验，"
        "10 次中有 9 次能发现。"
    ),
    "advice.several_scientific": _several_scientific,
    "advice.sobol": (
        "同时搜索 {dimensions} 个超参数：超过 {most} 个时 Halton 点不再均匀，所以改用加扰 Sobol 点，"
        "增加超参数时它们不会保持不变。请固定一些。"
    ),
    "advice.strength_scientific": (
        "{name} 以强度作为科学超参数：请只问它是否有用（开与关的列表），并用 given() 让它启用时的强度"
        "成为冗余超参数。"
    ),
    "advice.too_few_trials": _too_few_trials,
    "belief.bad_size": "{range}.around()：{wanted}={given!r} 不是大于 {least:g} 的数。",
    "belief.no_value": (
        "{range}：有 {keys} 而没有 around。信念要给出值：around = 3e-4, factor = 3。"
    ),
    "belief.other_unit": _belief_unit,
    "belief.outside": ("{range}.around({value!r})：值在范围之外。请给范围内的值，或扩大范围。"),
    "budget.bad_workers": "workers：{workers} 小于 1。",
    "declaration.at": "{place}：{problem:message}",
    "declaration.bad_choice": "choice = {data!r} 不是值的列表。",
    "declaration.bad_given": (
        "given 既不是值的表，也不是 [值, 表] 的列表；其下没有超参数的值对应空表。"
    ),
    "declaration.fixed_range": _fixed_range,
    "declaration.inside": "{place} {problem:message}",
    "declaration.no_range": _no_range,
    "declaration.not_two_bounds": "{kind} = {bounds!r}：需要两个数，{kind} = [low, high]。",
    "declaration.nothing_to_search": (
        "{column}：{declared!r} 是单个值，没有可搜索的。请移到 fixed=，或给一个范围，例如 "
        "log(1e-4, 1e-1)，或一个列表。"
    ),
    "declaration.two_kinds": lambda facts: (
        f"{_and([repr(key) for key in facts['others']])} 不能与 {facts['kind']!r} 写在同一个范围里。"
    ),
    "declaration.unknown_kind": "{key!r} 不是范围的种类。是不是想写 {near!r}？",
    "file.cannot_be_read": "{path}：无法读取：{reason}。",
    "file.deep_key": "{path}：键超过 {deepest} 段；若它是一个名称，请加引号。",
    "file.init": "请写一个：tunewright init COMMAND_OR_FUNCTION --minimize METRIC",
    "file.missing": _missing_file,
    "file.new_round": "请写一个再填入：tunewright new {name:quoted}",
    "file.not_toml": "{path}：不是有效的 TOML：{error}。",
    "file.not_utf8": "{path}：第 {byte} 个字节不是 UTF-8 文本。",
    "file.problem": "{path}：{problem:message}",
    "file.too_deep": "{path}：嵌套太深，不是轮次或训练程序的文件。",
    "file.too_large": "{path}：大于 {largest} 字节，轮次或训练程序的文件不需要这么多。",
    "file.unknown_key": lambda facts: (
        f"{facts['key']}：不是{_KEY_OF[facts['of']]}。{_nearest(facts)}"
    ),
    "given.missing_values": (
        "{column}：given() 没有 {missing} 的条目。其下没有超参数的值对应 {{}}。"
    ),
    "given.no_values": "given()：没有值。请至少写出上级超参数的一个值。",
    "given.not_hyperparameters": (
        "{place} 对应 {children!r}，不是超参数。其下没有超参数的值对应 {{}}。"
    ),
    "given.not_mapping": "given()：{branches!r} 不是从值到超参数的映射。",
    "given.parent_has_one_value": (
        "{column}：given() 要求 {column} 有多个值。请在 scientific= 或 nuisance= 中列出 {values}。"
    ),
    "given.parent_is_range": (
        "{role} {name}：given() 需要值的列表，而 scientific {name} 是 {declared}。"
        "请在那里列出值 {values}。"
    ),
    "given.unknown_values": "{column}：given() 写了 {unknown}，而它的值是 {values}。",
    "guard.missing_name": _missing_name,
    "guard.searched_steps": lambda facts: (
        f"{_steps(facts)} 不能搜索：请选一个值用于所有试验（放进 fixed=）。"
    ),
    "guard.seed": (
        "{name}：种子不是超参数；那样会选中最好的一次抽样，重复也不再变化。请从句柄取它"
        "（run.seeds.init、.order、.data、.split），命令中用 {{run.seed}}。"
    ),
    "guard.steps_differ": _steps_differ,
    "guard.tuned_batch_size": (
        "{name} 不能作为 {metric} 的冗余超参数：优化器和正则化的最好值随它而变，搜索会在为别的批量"
        "大小调出的设置上比较。请放进 fixed=（取训练快的最大值），或作为科学超参数比较批量大小，"
        "其余在每个之下重新调优。"
    ),
    "guard.unknown_name": lambda facts: (
        f"{facts['name']}：训练程序不接受这个名称的超参数。{_nearest(facts, '它接受：')}"
    ),
    "meaning.not_mapping": "{part}：{declared!r} 不是名称的映射。",
    "meaning.not_name": "means {meaning}：{spelled!r} 不是名称。",
    "meaning.not_names": "means {meaning}：{spelled!r} 不是名称的列表。",
    "meaning.not_number": "means {meaning}：{spelled!r} 不是有限的数。",
    "meaning.shared": "means {meaning}：{spelled!r} 已表示 {other}。",
    "meaning.unknown": _unknown_meaning,
    "meaning.not_taken": _meaning_not_taken,
    "meaning.off_not_taken": lambda facts: (
        f"off {facts['name']}：训练程序不接受这个名称的超参数。{_nearest(facts, '它接受：')}"
    ),
    "meaning.guessed": {
        "python": lambda facts: (
            f"{_guesses(facts)}其余的请用 means={{...}} 声明；None 声明没有任何名称有含义。"
        ),
        "shell": lambda facts: (
            f"{_guesses(facts)}其余的请在 tunewright.toml 的 [workload.means] 下声明；"
            "{ none = true } 声明没有任何名称有含义。"
        ),
    },
    "name.empty": "名称 {name!r} 是空的或不是文本。",
    "name.too_long": "名称 {start!r}... 超过 {most} 个字符。",
    "name.unprintable": "名称 {name!r} 含有换行或其他不可打印的字符。",
    "objective.bad_at": '{verb}(at={at!r})："best" 取训练中的最好值，"last" 取最后的值。',
    "objective.bad_constraint": (
        'subject_to {name}：{constraint!r} 不是关系加数字，例如 ("<=", 20)。'
    ),
    "objective.constraints_not_mapping": (
        'subject_to：{subject_to!r} 不是从指标到限制的映射，例如 {{"latency_ms": ("<=", 20)}}。'
    ),
    "objective.no_metric": "{verb}({metric!r})：请写出程序记录的指标名。",
    "preset.batch_size_bounded": (
        "学习率的范围以批量大小 {most} 为中心，而不是 {batch_size}：超过临界大小后，最好的学习率不再"
        "随之增大，只有调优才能找到。"
    ),
    "preset.not_taken": "{trials} 次试验会搜索 {name}，但训练程序不接受它。",
    "preset.bad_count": "defaults.space({argument}={count!r})：需要从 1 起的整数。",
    "preset.unknown_optimizer": lambda facts: (
        f"defaults.space({facts['name']!r})：没有这个优化器。{_nearest(facts)}"
    ),
    "range.bad_log_flag": "integers()：log 是 {log!r}；应为 True 或 False。",
    "range.bound_not_finite": "{kind}()：{bound} 是 {value}；端点必须是有限的数。",
    "range.bound_not_number": "{kind}()：{bound} 是 {value!r}，不是数。",
    "range.bound_not_whole": "{kind}()：{bound} 是 {value!r}，不是整数。小数请用 linear()。",
    "range.bad_kind_name": (
        "{given}.kind 是 {name!r}。范围种类的名称应是轮次文件可用作键的词，例如 'octaves'；"
        "'given' 和 'none' 在那里另有含义。"
    ),
    "range.bound_of_other_kind": "{kind}()：{bound} 是 {value!r}，这种范围不能有这样的端点。",
    "range.bound_too_large": "{kind}()：{bound} 是 {value}，超过 2**53；请写成浮点数。",
    "range.choice_twice": "choice()：{value!r} 列了两次；每个值只写一次。",
    "range.high_not_below_one": (
        "{range}：它在对数刻度上搜索 1 - x，所以上限必须小于 1，例如 0.999。"
    ),
    "range.kind_taken": "{given} 的种类名是 {name!r}，{known} 已经用了。请另取名称。",
    "range.log_from_zero": (
        "{range}：对数范围要求 0 < low < high。触及零的范围请用 linear()，或用 log_from_one() "
        "搜索 1 - x。"
    ),
    "range.log_integers_from_zero": (
        "{range}：对数范围要求 0 < low < high。触及零时请去掉 log=True，或从 1 开始。"
    ),
    "range.low_above_high": (
        "{kind}({low}, {high})：下限大于上限；是不是想写 {kind}({high}, {low})？"
    ),
    "range.low_equals_high": (
        "{kind}({low}, {high})：下限等于上限，没有可搜索的。请把值 {low} 放进 fixed=。"
    ),
    "range.no_choices": "choice()：没有值。请至少写一个，或去掉这个名称。",
    "range.not_a_kind": "{given!r} 不是范围的种类。请注册 tw.ranges.Range 的子类。",
    "range.not_a_choice": "{value!r} 不在 {values} 之中",
    "range.same_logarithm": "{range}：两端的对数相同；这么小的范围请用 linear()。",
    "range.too_wide": "{range}：范围太宽，超出浮点数。",
    "range.value_not_number": "{value!r} 不是 {range} 中的数",
    "range.value_not_whole": "{value!r} 不是 {range} 中的整数",
    "range.value_of_other_kind": "{value!r} 不是 {range} 的值",
    "range.value_outside": "{value!r} 在 {range} 之外",
    "range.whole_bound_too_large": (
        "{kind}()：{bound} 是 {value}，超过 2**53，浮点数在那里分不开相邻的整数。"
        "请搜索它的对数：指数用 integers(low, high)。"
    ),
    "round.scientific_belief": (
        "scientific {name}：要均匀比较各值时，关于最好值的信念没有意义。请去掉 {belief}，"
        "或把 {name} 改为冗余超参数。"
    ),
    "round.bad_detect": (
        "detect：{detect!r} 不是正数。它是值得发现的目标的最小差异；不知道就不要写。"
    ),
    "round.bad_name": "轮次：{problem:message}",
    "round.bad_seed": "seed：{seed!r} 不是 0 至 2**63 - 1 的整数。",
    "round.bad_trials_per_study": (
        "trials_per_study：{trials_per_study!r} 不是 1 至 {most:,} 的整数。"
    ),
    "round.continues_bad_name": "continues：{problem:message} 它写出试验也计入的较早轮次。",
    # how a schedule becomes longer
    "stretch.warmup": "预热保持 {warmup_steps} 步；{rule:message}",
    "stretch.linear": "衰减保持 {decay_steps} 步，在它之前以基础学习率多训练 {extra} 步",
    "stretch.stable": "稳定阶段延长 {extra} 步",
    "stretch.piecewise": "第一段延长 {extra} 步，其余各段长度不变",
    "stretch.cosine": "基础学习率不变，余弦拉长到 {steps} 步",
    "stretch.constant": "学习率保持不变",
    "stretch.rsqrt_kept": "学习率还没有开始衰减；保留 rsqrt",
    "stretch.rsqrt_replaced": (
        "rsqrt 会让多出的步低于基础学习率的 {end_factor:.3g}：改为先恒定，再用 {decay_steps} 步"
        "线性降到同样的最终学习率"
    ),
    "round.asks": "{goal} [{change:message}]",
    "round.bad_change": (
        "change：{change!r} 不是带代码和事实的消息。请不要写它：提出轮次的命令会写。"
    ),
    "round.continues_itself": "continues：{name!r} 就是本轮次。请写一个较早的，或不写。",
    "round.declared_twice": (
        "{name}：为 {study} 声明了两次；同一名称可以写在 given() 的多个值之下，但不能与自己并列。"
    ),
    "round.bad_goal": "goal：{goal!r} 的代码或事实不属于任何消息。请把问题写成文本。",
    "round.goal_empty": (
        'goal：是空的。一个轮次问一个问题；请写下来，例如 "权重衰减能否降低验证错误率？"'
    ),
    "round.goal_unstorable": "goal：{goal!r} 含有 NUL 或半个字符。",
    "round.key_missing": "{key}：缺少。例如写 {example}。",
    "round.not_mapping": "轮次是 {keys:list} 的映射，不是 {data!r}。",
    "round.role_not_mapping": "{role}：{declared!r} 不是从名称到范围或值的映射。",
    "round.role_not_table": "{role}：{declared!r} 不是超参数的表。",
    "round.same_column": "{column}：两个超参数会记录在同一列；请给其中一个改名。",
    "round.scientific_given": (
        "scientific {name}：given() 应写在 nuisance= 或 fixed= 的同一名称下；这里请列出值：{values}。"
    ),
    "round.scientific_value": (
        "scientific {name}：{declared!r} 是单个值。科学超参数要有值的列表（每个值一个研究）或范围；"
        "单个值请放进 fixed=。"
    ),
    "round.too_many_studies": (
        "scientific：这些列表产生 {studies} 个研究，超过 {most}。请一次少问几个超参数，"
        "或把其中一些写成范围。"
    ),
    "round.too_many_trials": (
        "trials_per_study：{studies} 个研究各 {trials_per_study} 次，超过 {most} 次试验。"
    ),
    "round.two_roles": lambda facts: (
        f"{facts['name']}：同时写在 {_and(facts['roles'])} 中；在一个轮次里它只有一个角色。"
    ),
    "schedule.above_one": "{kind}：{name}={value!r} 大于 1，学习率会增大而不是衰减。",
    "schedule.bad_count": "{kind}：{name}={value!r} 不是从 {least} 起的整数步数。",
    "schedule.bad_fields": "学习率调度 {name!r}：{reason}",
    "schedule.bad_step": "步 {step}：步数是更新次数，从 1 起计。",
    "schedule.bad_total": "max_train_steps={max_train_steps!r}：需要从 1 起的整数。",
    "schedule.bad_warmup_mode": 'Warmup：mode={mode!r} 既不是 "within" 也不是 "prepend"。',
    "schedule.boundaries_not_growing": "Piecewise：边界 {boundaries} 必须递增。",
    "schedule.boundary_never_passed": (
        "Piecewise：{max_train_steps} 步中永远到不了边界 {boundary}。请降低它，或去掉。"
    ),
    "schedule.decay_too_long": (
        "decay_steps={decay_steps} 多于可用于衰减的 {max_train_steps} 步。"
    ),
    "schedule.no_stretching_rule": "不知道如何拉长 {schedule}。",
    "schedule.no_such_name": lambda facts: (
        f"没有叫 {facts['name']!r} 的学习率调度{_unknown_schedule(facts)}"
    ),
    "schedule.not_number": "{kind}：{name}={value!r} 不是数。",
    "schedule.not_positive": "{kind}：{name}={value!r} 必须有限且非负。",
    "schedule.phases_too_long": (
        "WarmupStableDecay：预热（{warmup_steps}）和衰减（{decay_steps}）需要 {needed} 步，而 "
        "max_train_steps 是 {max_train_steps}。"
    ),
    "schedule.pieces": (
        "Piecewise：{boundaries} 个边界把训练分成 {pieces} 段，但给了 {factors} 个系数。"
    ),
    "schedule.shorter": (
        "从 {old_steps} 到 {new_steps} 步是缩短，为较长训练调出的学习率调度不适用：请重新调。"
    ),
    "schedule.unknown_shape": lambda facts: (
        f"WarmupStableDecay：shape={facts['shape']!r}{_unknown_schedule(facts)}"
    ),
    "schedule.warmup_too_long": (
        "Warmup：warmup_steps={warmup_steps} 用完了 max_train_steps={max_train_steps}。"
        '请缩短它，或用 mode="prepend"。'
    ),
    "schedule.warmup_twice": "Warmup：{schedule} 本身已有预热；请只给一个。",
    "study.bad_value": "{column}：{problem:message}。",
    "study.configuration_lacks": "配置缺少 {name}：{range}。",
    "study.no_position": "没有 {column} 的位置；向量有 {columns}。",
    "study.other_setting": "{name} = {given!r} 不是这个研究的设置 {setting!r}。",
    "study.too_many_branches": (
        "{study}：nuisance= 中的 given() 产生超过 {most} 种组合，每种都要单独搜索。"
        "请固定一些上级超参数，或在不同轮次中作为科学超参数比较。"
    ),
    "value.beyond_integers": "{place}：{value} 超过 2**53；请写成文本或它的对数。",
    "value.not_finite": "{place}：{value} 不是有限的数。",
    "value.not_plain": (
        "{place}：{value!r} 是 {type}。值应为数、文本、True、False 或 None，任何程序和记录才能保存；"
        "请给它一个名称，在训练函数中查找该对象。"
    ),
    "value.unstorable": "{place}：{value!r} 含有 NUL 或半个字符，无法传给任何程序。",
    "measured.bad_value": "Measured：value={value} 不是数；请给出测得的值，例如 0.081。",
    "measured.bad_sd": (
        "Measured：sd={value} 不是标准差；请给出非负数：对平均值而言，是各样本的标准差除以样本数的平方根。"
    ),
    "measured.bad_n": "Measured：n={value} 不是样本数；请给出不小于 1 的整数，或不写。",
    "workload.not_a_table": "{key}：{value!r} 不是表；请写 [workload.{key}]。",
    "workload.only_of_a_command": ("{key}：训练函数不需要它；它用于 [workload] 中的 command = ..."),
    "file.bad_search": "search：{search!r} 不在 {known:list} 之中。",
    "workload.not_table": "workload：{table!r} 不是表；请写 [workload]。",
    "workload.not_text": "{key}：{value!r} 不是文本。",
    "workload.one_of_two": _one_of_two,
}
