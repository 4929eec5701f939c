"""Chinese phrases inside numbers and lists, counted nouns with their measure words, and labels."""

from __future__ import annotations

from collections.abc import Mapping

PHRASES: Mapping[str, str] = {
    "and": " 和 ",
    "stop": "。",
    "in": "{name} ∈ {range}",
    "and_more": "{shown} 等，另有 {more} 个",
    "about": "约 {one}",
    "from_to": "{low} 至 {high}",
    "over": "大于 {one}",
    "below": "小于 {one}",
    "minimize": "最小化 {metric}",
    "maximize": "最大化 {metric}",
    "verdict_warn": "警告",
    "verdict_note": "提示",
    "verdict_ok": "正常",
    "verdict_bad": "错误",
    "verdict_cannot_judge": "?",
    "place": "{round} 的试验 {trial}",
    "best_of": "最好的 {metric}",
    "of": "{name}：",
    "in_brackets": "（{text}）",
    "semicolon": "；",
    "setting": "tunewright.toml 的 [{where}] 中的 {line}",
}
COUNTED: Mapping[str, str] = {  # by the English noun
    "trial": "{n} 次试验",
    "run": "{n} 次运行",
    "training": "{n} 次训练",
    "study": "{n} 个研究",
    "round": "{n} 个轮次",
    "worker": "{n} 个工作进程",
    "repeat": "{n} 次重复",
    "seed": "{n} 个种子",
    "note": "{n} 条备注",
    "hyperparameter": "{n} 个超参数",
}
LABELS: Mapping[str, str] = {}  # by the English label
