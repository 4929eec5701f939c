"""Chinese sentences about budgets: what is spent, what is left, what is refused."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


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
        shown = amount(name, limit, budget.get("currency") or "")
        used_shown = f"{used:.2f}" if name == "money" else words.number(round(used, 4))
        parts.append(f"{used_shown} / {shown}")
    return "，".join(parts)


def _limited(facts: Facts) -> tuple[str, ...]:
    return tuple(n for n in ("trials", "hours", "money") if facts["budget"].get(n) is not None)


def _spent(facts: Facts) -> str:
    return _of(facts, _limited(facts)) or "没有上限"


def _refused(facts: Facts) -> str:
    return f"预算已用完：{_of(facts, tuple(facts['over']))}"


def _raised(facts: Facts) -> str:
    def shown(budget: Facts | None) -> str:
        if budget is None:
            return "没有预算"
        names = _limited({"budget": budget})
        currency = budget.get("currency") or ""
        return "，".join(amount(name, budget[name], currency) for name in names) or "没有上限"

    return f"把预算从 {shown(facts['before'])} 提高到 {shown(facts['now'])}？"


SENTENCES: dict[str, Template] = {
    "budget.spent": _refused,
    "budget.before": lambda facts: f"预算：此前已用 {_spent(facts)}",
    "budget.after": lambda facts: f"预算：现已用 {_spent(facts)}",
    "budget.state": lambda facts: f"已用：{_spent(facts)}",
    "budget.none": "没有预算：训练不受限制",
    "budget.ends": "预算已用完：不再开始新试验",
    "budget.raises": _raised,
    "budget.not_confirmed": "这会提高预算，但没有人确认。请由用户在终端运行，或在脚本中加 --yes",
    "budget.nothing_to_set": "budget set：请给 --trials、--hours、--money 或 --restart",
    "budget.bad_amount": "budget：{name} = {value!r} 不是大于等于 0 的有限数",
    "budget.bad_trials": "budget：trials = {value!r} 不是大于等于 0 的整数",
    "budget.bad_currency": "budget：currency = {value!r} 不是至多 20 个字符的文本",
    "budget.no_price": "budget：按金额计需要一小时训练的价格（price_per_hour）",
}
