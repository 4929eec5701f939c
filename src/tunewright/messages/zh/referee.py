"""Chinese sentences of the referee: decisions about changes, and errors raised in `referee`."""

from __future__ import annotations

from tunewright.messages import Facts, Message, Template, words


def _decision(head: str) -> Template:
    def sentence(facts: Facts) -> str:
        why = dict(facts["why"])
        code = why.pop("code")
        if not facts["runs"]:
            return f"{head} {facts['commit']}：{Message(code, why).text}"
        return (
            f"{head} {facts['commit']}：{Message(code, why).text}；"
            f"{words.count(facts['runs'], 'run')}之后，预期改进 {words.number(facts['gain'])}"
            f"（90 % 区间 {words.number(facts['low'])} 至 {words.number(facts['high'])}）"
        )

    return sentence


def _baseline_failed(facts: Facts) -> str:
    reason = facts["reason"]
    text = "" if reason is None else Message(reason["code"], _rest(reason)).text
    tail = f"\n{facts['detail']}" if facts["detail"] else ""
    return f"基线 {facts['commit']} 无法训练：{text}{tail}"


def _failure(facts: Facts) -> str:
    reason = facts.get("reason")
    return (
        f"一次运行失败：{Message(reason['code'], _rest(reason)).text}" if reason else "一次运行失败"
    )


def _rest(reason: Facts) -> Facts:
    return {name: fact for name, fact in reason.items() if name != "code"}


def _spent(facts: Facts) -> str:
    left = "" if facts["runs_left"] is None else f"；还剩 {facts['runs_left']} 次"
    return (
        f"预算已用完：{words.count(facts['runs'], 'run')}，{facts['hours']:.3g} 小时{left}，"
        f"需要 {facts['needed']} 次。预算较大时，为报告总改进保留 16 次运行。"
    )


SENTENCES: dict[str, Template] = {
    "referee.decided.keep": _decision("保留"),
    "referee.decided.discard": _decision("放弃"),
    "referee.decided.undecided": _decision("未定"),
    # ---- why
    "referee.why.gain": "预期的改进超过其代价",
    "referee.why.no_gain": "预期的改进不够",
    "referee.why.budget_spent": "预算已用完",
    "referee.why.left": "在判断之前又提交了另一个改动",
    "referee.why.failed": _failure,
    "referee.why.infeasible": "一次运行发散",
    # ---- errors
    "referee.no_git": "找不到 git；裁判对每个改动用单独的检出目录运行。",
    "referee.no_repository": "{folder} 不在 git 仓库中：请 `git init`、提交，再开始。",
    "referee.no_commit": "{folder} 还没有提交；请先提交程序。",
    "referee.unknown_commit": "{folder} 没有提交 {name!r}。",
    "referee.git_failed": "git {words:words} 失败：{error}",
    "referee.uncommitted": (
        "第一个提交是基线，但有 {count} 个文件与它不同：{files:few}。请提交它们，或写入 .gitignore，再开始。"
    ),
    "referee.protects_nothing": (
        "该提交中没有 {paths:list} 的文件，--protect 不会保护任何东西。请改正路径。"
    ),
    "referee.no_seed": (
        "{template!r} 中没有 {{run.seed}}：种子相同，再运行也没有信息。请加上它，例如 "
        "--seed {{run.seed}}。"
    ),
    "referee.one_metric": "请在 --minimize METRIC 与 --maximize METRIC 中给一个。",
    "referee.open_fields": (
        "命令中有没有值的字段：{names:list}。请各给一个默认值，{{name=value}}。"
    ),
    "referee.needs_files": "谱系保存在存储库旁边的文件中；{store} 不是文件。",
    "referee.bad_name": "{name!r} 不能作谱系的名称：只用字母、数字、- 和 _。",
    "referee.bad_term": "{name} = {value} 对谱系没有意义。",
    "referee.no_lineage": "{folder} 中没有谱系；请用 tunewright judge begin 开始一个。",
    "referee.begun_otherwise": ("谱系 {name!r} 开始时的 {fields:list} 不同；请换一个 --name。"),
    "referee.busy": "另一个进程正在评判 {folder} 中的谱系。",
    "referee.damaged": "{path} 的第 {line} 行无法读取。",
    "referee.newer": "{path} 由更新的版本写入。",
    "referee.no_change": "{commit} 就是当前的基线；请先提交或编辑一个改动。",
    "referee.protected": lambda facts: (
        f"{facts['commit']} 改动了 {facts['count']} 行受保护的内容：\n" + "\n".join(facts["lines"])
    ),
    "referee.baseline_failed": _baseline_failed,
    "referee.budget_spent": _spent,
    "referee.few_quote_runs": "报出总改进，两端各至少需要 {least} 次运行，而不是 {runs}。",
    "referee.nothing_kept": "还没有保留任何改动：没有可报告或审核的改进。",
    "referee.quote_failed": "给出值的运行太少：{failed:count run}失败。",
    # ---- pages
    "referee.begun": (
        "谱系 {name} 从 {first} 开始：{command}\n请改动程序，然后：tunewright judge try"
    ),
    "referee.quote": (
        "从 {first} 到 {current}，{metric} 改进了 {gain:number}（95 % 区间 {low:number} 至 "
        "{high:number}），两端各 {runs} 次新的运行。"
    ),
    "referee.audit": "移除了 {removed} 个改动；谱系从 {commit} 继续。",
}

ACTIONS: dict[str, Template] = {}
