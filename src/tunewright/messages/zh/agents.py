"""Chinese sentences about the instructions for coding agents."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "agents.installed": "{did}：{path}",
    "agents.ask": "改动 {path}？",
    "agents.no_folder": "{folder} 不是文件夹",
    "agents.would_change": "{path} 已存在，会被改动。请由用户在终端确认，或在脚本中加 --yes",
    "agents.unreadable": "{path} 无法读取：{reason}",
}
