"""Chinese sentences about budgets: what is spent, what is left, what is refused."""

from __future__ import annotations

from tunewright.messages import Facts, Template, fill, reader, words


def amount(name: str, value: float, currency: str = "") -> str:
    """One amount with its unit.

    >>> amount("hours", 2.5), amount("money", 12.345, "EUR")
    ('2.5 小时', '12.35 EUR')
    """
    if name == "trials":
        return f"{int(value)} 次试验"
    if name == "hours":
        return f"{words.number(round(value, 4))} 小时"
    return f"{value:.2f} {currency}".strip()


def _of(facts: Facts, names: tuple[str, ...]) -> str:
    """What is spent of each limit."""
    budget, spent = facts["budget"], facts["spent"]
    parts = []
    for name in names:
        used, limit = spent.get(name) or 0, budget[name]
        limit_shown = amount(name, limit, budget.get("currency") or "")
        used_shown = f"{used:.2f}" if name == "money" else words.number(round(used, 4))
        parts.append(f"{used_shown} / {limit_shown}")
    return "，".join(parts)


def _limits(facts: Facts) -> tuple[str, ...]:
    return tuple(n for n in ("trials", "hours", "money") if facts["budget"].get(n) is not None)


def _spent(facts: Facts) -> str:
    return _of(facts, _limits(facts)) or "没有上限"


def _refusal(facts: Facts) -> str:
    return f"预算已用完：{_of(facts, tuple(facts['over']))}"


def _raise_limit(facts: Facts) -> str:
    def limits(budget: Facts | None) -> str:
        if budget is None:
            return "没有预算"
        names = _limits({"budget": budget})
        currency = budget.get("currency") or ""
        return "，".join(amount(name, budget[name], currency) for name in names) or "没有上限"

    return f"把预算从 {limits(facts['before'])} 提高到 {limits(facts['now'])}？"


def _numbers(low: int, high: int) -> str:
    return f"{high} 次训练" if low == high else f"{low} 至 {high} 次训练"


def money(low: float, high: float, currency: str = "") -> str:
    """An amount of money as a range, in its currency.

    >>> money(1.234, 5.0, "EUR")
    '1.23 至 5.00 EUR'
    """
    ends = [f"{end:.2f}" if end >= 0.1 or not end else f"{end:.1g}" for end in (low, high)]
    both = ends[0] if ends[0] == ends[1] else f"{ends[0]} 至 {ends[1]}"
    return f"{both} {currency}".strip()


_BASES = {
    "round": "依据本轮次的 {seen} 次训练",
    "program": "依据此程序在其他轮次中的 {seen} 次训练",
    "scaled": "依据 {seen} 次长度不同的训练：范围较宽",
    "measured": "由一次短训练推算",
}


def _expectation(facts: Facts) -> str:
    """Trainings, hours, money, what they rest on, and what the budget lacks."""
    low, high = facts["trainings"]
    if not high:
        return "没有剩余的训练"
    parts = [_numbers(low, high)]
    if facts["hours"] is None:
        how = "--dry-run --measure" if reader() == "shell" else "measure=True"
        return f"{parts[0]}；在一次训练结束之前不知道需要几小时：{how} 用短训练测出"
    parts += _hours_and_money(facts)
    basis = fill(_BASES[facts["basis"]], facts)
    over = f"；超过预算的剩余：{'，'.join(_lacks(facts))}" if _lacks(facts) else ""
    return f"{'，'.join(parts)}（{basis}）{over}"


def _hours_and_money(facts: Facts) -> list[str]:
    hours, clock = ([h * 3600 for h in facts[name]] for name in ("hours", "clock_hours"))
    parts = [f"训练时间 {words.duration_range(*hours)}"]
    if facts["workers"] > 1:
        parts.append(f"{facts['workers']} 个工作进程需 {words.duration_range(*clock)}")
    if facts["money"] is not None:
        parts.append(_money(facts))
    return parts


def _money(facts: Facts) -> str:
    low, high = facts["money"]
    return money(low, high, facts["price"]["currency"])


def _lacks(facts: Facts) -> list[str]:
    currency = (facts["price"] or {}).get("currency", "")
    return [amount(name, facts["left"][name], currency) for name in facts["exceeds"]]


def _round_spent(facts: Facts) -> str:
    """What a round has cost, the rest of it, and what is left of the budget."""
    spent, left, budget = facts["spent"], facts["left"], facts["budget"]
    parts = [f"{spent['trials']} 次训练", f"训练时间 {words.duration(spent['hours'] * 3600)}"]
    if spent["money"] is not None:
        parts.append(money(spent["money"], spent["money"], facts["currency"]))
    text = f"已用：{'，'.join(parts)}"
    if left["trainings"][1]:
        rest = [_numbers(*left["trainings"])]
        rest += _hours_and_money(left) if left["hours"] is not None else []
        text += f"；本轮次剩余：{'，'.join(rest)}"
    if budget is not None and budget["left"]:
        currency = budget["budget"].get("currency") or ""
        limits = "，".join(amount(name, limit, currency) for name, limit in budget["left"].items())
        text += f"；预算剩余：{limits}"
    return text


SENTENCES: dict[str, Template] = {
    "budget.spent": _refusal,
    "budget.before": lambda facts: f"预算：此前已用 {_spent(facts)}",
    "budget.after": lambda facts: f"预算：现已用 {_spent(facts)}",
    "budget.state": lambda facts: f"已用：{_spent(facts)}",
    "cost.expected": _expectation,
    "cost.spent": _round_spent,
    "cost.measures": (
        "测量：用一个配置训练 {steps:list}（{name} 共 {total}），用时不足 {quick:.0f} 秒则再加长，"
        "所用的存储随后删除"
    ),
    "cost.unlogged": (
        "注意：已为 {total} 步中的 {steps} 步计时，但{reason:message}。如果完整的训练会记录它，则没有问题。"
    ),
    "budget.bad_price": "价格 {text!r} 不是大于等于 0 的数（后面可以写货币）",
    "cost.no_length": (
        "无法测量：配置中没有表示 max_train_steps 的超参数（{name}），因此不能缩短训练"
    ),
    "cost.short_training": "短训练的状态是 {status}：{reason}",
    "cost.unknown_probe": "没有名为 {probe!r} 的训练类探针。可用的有：{known:list}",
    "cost.only_dry_run": "{option} 只用于 --dry-run：它在花费之前测量",
    "budget.none": "没有预算：训练不受限制",
    "budget.ends": "预算已用完：不再开始新试验",
    "budget.raises": _raise_limit,
    "budget.not_confirmed": "这会提高预算，但没有人确认。请由用户在终端运行，或在脚本中加 --yes",
    "budget.nothing_to_set": "budget set：请给 --trials、--hours、--money 或 --restart",
    "budget.bad_amount": "budget：{name} = {value!r} 不是大于等于 0 的有限数",
    "budget.bad_trials": "budget：trials = {value!r} 不是大于等于 0 的整数",
    "budget.bad_currency": "budget：currency = {value!r} 不是至多 20 个字符的文本",
    "budget.no_price": "budget：按金额计需要一小时训练的价格（price_per_hour）",
}
