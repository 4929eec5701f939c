"""Sentences of the dashboard: what it refuses, and what it prints when it starts."""

from __future__ import annotations

from tunewright.messages import Facts, Template

PERMITS = {
    "read": "read the store",
    "actions": "write notes and request stops",
    "run": "start rounds of this project",
}


def _permits(facts: Facts) -> str:
    said = ", ".join(PERMITS[one] for one in facts["permits"])
    others = "" if len(facts["permits"]) > 1 else "; nothing is changed"
    return f"Pages may {said}{others}."


SENTENCES: dict[str, Template] = {
    "ui.at": "Dashboard of {store}: {url}",
    "ui.bad_body": "the body of the request is not a JSON object",
    "ui.bad_field": "{field}: expected {kind}",
    "ui.export_permits": "--export writes files, which permit nothing",
    "ui.folder_taken": "{folder} has files that are not an exported dashboard's",
    "ui.judge_died": "the checklist ended with code {code} and printed {said!r}",
    "ui.no_project": "--allow-run needs a project: no tunewright.toml here, for {store}",
    "ui.no_round_file": "{round}: no round file of this project. It has: {known:list}.",
    "ui.no_such_file": "{path!r}: no such file of this trial",
    "ui.not_results": "show() expects Results as its first argument, got {kind}",
    "ui.not_started": "the dashboard's server did not start",
    "ui.other_store": "--allow-run: the project's store is {own}, and {store} is another",
    "ui.permits": _permits,
    "ui.port_taken": "{address}:{port} cannot be used: {reason}. Choose another --port.",
    "ui.round_runs": "{round}: started from this dashboard already, and still running",
    "ui.token_needed": "a dashboard that other machines can reach needs a token",
    "ui.too_large": "the body of the request exceeds {most} bytes",
    "ui.unknown_permission": "{asked:list}: not one of {known:list}",
    "ui.wrote": "wrote {files:count file} ({megabytes:.1f} MB) to {folder}",
}
