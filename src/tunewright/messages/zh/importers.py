"""Chinese sentences about other tools: importers, sinks, and errors raised in `importers`."""

from __future__ import annotations

import shlex

from tunewright.messages import Facts, Template, declaration, words

# ---- notes of imported and joined rounds: what was guessed, left out, or cannot be known


def _by_spelling(facts: Facts) -> str:
    meanings = "，".join(f"{name} 即 {meaning}" for meaning, name in facts["means"].items())
    example = declaration("means", next(iter(facts["means"]), "learning_rate"))
    return f"按拼写认定：{meanings}。如有错误，请声明：{example}。"


def _join(facts: Facts) -> str:
    """How many trials of an earlier round count, and what that changes."""
    text = f"{facts['round']} 的 {facts['ended']} 次试验中有 {facts['trials']} 次符合本轮，一并计入"
    if facts["times_as_dense"] is not None:
        dense = facts["times_as_dense"]
        text += f"；在 {facts['round']} 搜索过的地方，试验密度是 {dense:.1f} 倍"
    if facts["seed_differs"]:
        text += "；它们的种子不同，若程序随机划分数据，划分也不同"
    return text


# ---- sentences about sinks: the trackers that receive a copy of every trial


def _behind(facts: Facts) -> str:
    command = shlex.join(
        ["tunewright", "sync", facts["round"], "--sink", f"{facts['tracker']}:{facts['where']}"]
    )
    lacks = f"{facts['tracker']} 缺 {words.count(facts['left'], 'trial')}"
    if not facts["left"]:
        lacks = f"{facts['tracker']} 无法关闭"
    return f"{lacks}（{facts['error']}）。存储库中全都有；补写命令：{command}"


def _sync(facts: Facts) -> str:
    written = words.count(facts["written"], "trial")
    has = f"{facts['tracker']} 在 {facts['where']} 有 {written}"
    if facts["busy"]:
        return f"{has}；另一个进程正在写它"
    if facts["left"]:
        return f"{has}，还缺 {facts['left']} 次（{facts['error']}）"
    return f"{has}（{facts['error']}）" if facts["error"] else has


SENTENCES: dict[str, Template] = {
    "importers.no_runs": (
        "{path}：既不是 TensorBoard 的事件文件、W&B 或 SwanLab 的离线运行、MLflow 或 Trackio 的存储，"
        "也不是 .csv、.json、.jsonl 或 .parquet 表。"
    ),
    # ---- importers
    "imported.unfinished": "{count:count trial}尚未结束，没有导入。",
    "imported.final_values": "导出文件只有最终值：关于曲线的问题无法回答。",
    "imported.torn_files": "{count} 个 .wandb 文件残缺或版本不同；完整的部分已读取。",
    "imported.torn_runs": "{count:count run}的文件残缺；完整的部分已读取。",
    "imported.no_status": "{tool} 不保存状态：{count:count run}按已完成处理，崩溃的也一样。",
    "imported.no_curves": "{count:count run}没有 .wandb 文件：只知道最终值。",
    "imported.torn_events": "{count:count trial}的事件文件末尾残缺。",
    "imported.no_hyperparameters": (
        "{of} 次试验中有 {count} 次没有记录超参数（add_hparams）；请用 "
        "configurations={{folder: {{...}}}} 给出。"
    ),
    "imported.ended_early": (
        "{of} 次已完成试验中有 {count} 次在第 {step} 步之前结束：若由调度器停止，它们的值属于更短的训练。"
    ),
    "imported.search_not_rays": (
        '搜索算法不是 Ray 自带的随机或网格搜索，因此按自适应处理。若不是，请给出 search="random"。'
    ),
    "imported.sampler_unknown": (
        "Optuna 不记录采样器，因此这些试验按自适应处理，搜索空间的统计不计入它们。"
        '若是随机抽取的，请给出 search="random"。'
    ),
    "imported.pruned": "{count} 次已剪枝的试验：提前停止，没有值。",
    "imported.no_reason": ("Optuna 没有保存 {count} 次失败试验的原因；目标为 nan 也是其中一种。"),
    "imported.several_objectives": "研究有多个目标（{metrics:list}）；这些结果只评判一个。",
    "imported.no_study": "{trials:few} 失败或已剪枝，不属于任何研究，没有导入。",
    "imported.incomplete": ("试验 {trials:few}：没有导入，缺少其他试验都有的 {names:few}。"),
    "imported.by_spelling": _by_spelling,
    "imported.range_guessed": (
        "{names:few} 的范围由试过的值推测；若知道，请给出 ranges=：关于范围端点的结论取决于它。"
    ),
    "imported.unexplained": (
        "{names:few}：只有部分试验有它，且没有其他超参数决定哪些有；它在本轮没有角色。"
    ),
    "imported.labels": (
        "{names:few}：看来是种子或标签，不是超参数，没有导入；要导入请给出 roles=。"
    ),
    "imported.length_varies": "{name} 不固定：不同长度的试验在相互比较。",
    "note.judged_by": "按 {now} 评判，而不是本轮调优所用的 {before}",
    "note.joined": lambda facts: _join(facts),
    # ---- errors importers
    "importers.not_parquet": "{path}：不是 Parquet 文件（{error}）。",
    "importers.text_too_large": "{path}：{size:,} 字节的文本，超过允许的 {largest:,}。",
    "importers.unreadable_file": "{path}：无法按 {expected} 读取（{reason}）。",
    "importers.too_many_columns": (
        "{path}：{columns:,} 列，超过允许的 {most_columns:,}。表中每次试验一行，每个超参数一列。"
    ),
    "importers.too_many_cells": (
        "{path}：{rows:,} 行 {columns:,} 列，超过允许的 {most_cells:,} 格。"
        "请导出更少的列，或曲线只取每十步一个点。"
    ),
    "frames.column_without_role": (
        "trials：列 {name!r} 既不是本轮的超参数，也不是指标。请给它一个角色，或去掉该列。{hint}"
    ),
    "frames.curves_column_missing": "curves：没有列 {name!r}。{hint}",
    "frames.hyperparameter_column_missing": "trials：没有 {column!r} 的列。{hint}",
    "frames.no_metric": "curves：试验 {trial!r} 的 {metric!r} 不是指标名称。",
    "frames.no_study": "trials：试验 {trial}：本轮没有 {setting} 的研究。",
    "frames.row_without_trial": "trials：第 {row} 行没有写试验。",
    "frames.step_not_whole": "curves：试验 {trial!r} 的步 {step!r} 不是整数。",
    "frames.trial_twice": "trials：试验 {trial!r} 出现在 {times} 行中。",
    "frames.trials_column_missing": "trials：没有列 {name!r}。{hint}",
    "frames.unknown_status": "trials：试验 {trial} 的状态为 {status!r}。{hint}",
    "frames.unknown_trial": "curves：试验 {trial!r} 不在试验之中。",
    "frames.value_not_number": "curves：试验 {trial!r} 的 {value!r} 不是数字。",
    "importers.direction_differs": (
        "{said} {metric}：Optuna 研究 {plain_name!r} 的方向是 {study_direction}。请给 "
        "--{study_direction} {metric}，或 tw.{study_direction}({metric!r})。"
    ),
    "importers.bad_curve_point": "curves：试验 {trial!r} 的步 {step!r}，值 {value!r}。",
    "importers.bad_status": "第 {row} 行的状态为 {status!r}。{hint}",
    "importers.bad_table_ending": "{path}：表的文件名以 .csv、.parquet、.json 或 .jsonl 结尾。",
    "importers.csv_row_length": "{path}：第 {line} 行有 {cells} 格，而不是 {columns}。",
    "importers.curves_column_missing": "curves：没有列 {missing}。",
    "importers.doubled_columns": "{what}：有几列同名：{doubled:list}。",
    "importers.doubled_csv_columns": "{path}：有几列同名：{doubled}。",
    "importers.empty_file": "{path}：空文件。",
    "importers.event_file_cut": "{path}：在一条记录中间结束。",
    "importers.event_wrong_length": "{path}：有一条记录长度不对。",
    "importers.file_too_large": "{path}：{size:,} 字节，超过允许的 {largest:,}。",
    "importers.fixed_but_varies": (
        "roles {name}：固定，但试验中有它的 {count} 个值。请改为 nuisance 或 scientific，"
        '或 "left_out"，不计入本轮。'
    ),
    "importers.line_not_json": "{path}：第 {line} 行不是 JSON（{error}）。",
    "importers.mlflow_no_experiment": "{path} 中没有实验 {name!r}。{hint}",
    "importers.mlflow_no_runs": "{path} 中没有 MLflow 运行。",
    "importers.mlflow_not_a_store": "{path}：既不是 MLflow 的文件夹，也不是其 SQLite 文件。",
    "importers.mlflow_several_experiments": (
        "{path} 中有 {count} 个含运行的实验：请选一个。现有：{experiments}。"
    ),
    "importers.mlflow_unreadable": "{path} 无法按 MLflow 的数据库读取：{error}",
    "importers.no_ended_trial": "{origin} 中没有已结束的试验。",
    "importers.no_file": "{path} 处没有 {what}，请检查路径。",
    "importers.no_metric": "{origin} 没有指标 {metric!r}。{hint}",
    "importers.not_a_frame": (
        "{what}：{kind} 不是数据框。请给 polars 或 pandas 数据框、列的映射，或行的列表。"
    ),
    "importers.not_a_range": (
        "ranges {name}：{given!r} 既不是范围（例如 log(1e-4, 1e-1)），也不是列表。"
    ),
    "importers.not_a_wandb_file": "{path}：不是 W&B 的文件，或版本未知。",
    "importers.not_csv": "{path}：不是 CSV 文件（{error}）。",
    "importers.not_rows": "{path}：不是行的列表（每行一个 JSON 对象）。",
    "importers.optuna_missing": ("importers.optuna() 用 Optuna 本身读取存储：pip install optuna"),
    "importers.optuna_no_storage": (
        "{path} 处没有 Optuna 存储。请给 optuna.create_study(storage=...) 所写的文件，"
        "或其地址：sqlite:///study.db。"
    ),
    "importers.optuna_no_studies": "{shown} 中没有研究。",
    "importers.optuna_no_study": "{shown} 中没有研究 {study!r}。{hint}",
    "importers.optuna_other_database": "{path} 是数据库，但不是 Optuna 的。",
    "importers.optuna_several_studies": "{shown} 中有 {count} 个研究：请选一个。{hint}",
    "importers.ray_tune_no_step": "step：{folder} 没有 {step!r}。{hint}",
    "importers.ray_tune_no_trials": ("{folder} 中没有试验：其下没有 result.json 或 progress.csv。"),
    "importers.roles_twice": "round= 已给出每个角色；请去掉 roles= 和 ranges=。",
    "importers.table_column_missing": "表中没有列 {name!r}。{hint}",
    "importers.tensorboard_no_events": "{folder} 中没有事件文件（名称含有 {events!r}）。",
    "importers.tensorboard_no_trial": "configurations：没有试验 {name!r}。{hint}",
    "importers.too_many_files": "{folder} 中有超过 {most:,} 个文件；请给其下的文件夹。",
    "importers.unequal_columns": "{what}：各列长度不同。",
    "importers.value_not_fixed": "{column} = {value!r}，但本轮固定为 {fixed!r}。",
    "importers.value_outside_range": "{column} = {value!r} 不在 {range} 之内。",
    "importers.values_and_range": "既从列出的值、又从范围中抽取",
    "importers.swanlab_no_run": "{folder} 中没有 SwanLab 的运行：没有 .swanlab 文件。",
    "importers.trackio_no_project": "{folder} 中没有 Trackio 的项目：没有 .db 文件。",
    "importers.trackio_not_a_project": "{path}：不是 Trackio 的项目，那应是 SQLite 文件。",
    "importers.trackio_unreadable": "{path}：无法按 Trackio 的项目读取（{error}）。",
    "importers.trackio_which_project": "{folder} 中有项目 {projects}：请指定一个。{hint}",
    "importers.wandb_checksum": "{path}：有一条记录校验和不对。",
    "importers.wandb_column_missing": "导出文件没有列 {name!r}。{hint}",
    "importers.wandb_no_run": (
        "{folder} 中没有 W&B 的运行：没有 .wandb 文件，也没有 wandb-summary.json。"
    ),
    "importers.wire_field_cut": "消息在一个字段中间结束。",
    "importers.wire_not_a_float": "应为浮点数的字段不是浮点数。",
    "importers.wire_number_cut": "消息在一个数字中间结束。",
    "importers.wire_unknown_kind": "有一个种类未知的字段：{kind}。",
    "importers.yaml_missing": "{path} 是 YAML 文件：pip install pyyaml",
    "importers.role_of_some_trials": (
        "{what} {name}：{declared}，但 {trials} 次试验中有 {lacking} 次没有它的值（{called:few}），"
        "且没有其他超参数决定哪些有。请补上值，或不导入："
        'roles={{"{name}": "left_out"}}，--leave-out {name}。'
    ),
    "importers.role_without_range": (
        "{what} {name}：{declared}，但所有试验的值相同。请给出范围"
        '（ranges=，--range "{name} = ..."），或设为固定。'
    ),
    "importers.range_without_role": (
        "ranges {name}：{chosen}，但 roles {name}：{roles}，它没有范围。请只给其一。"
    ),
    "roles.unknown_hyperparameter": "{argument} {name!r}：没有试验有这个名称的超参数。{hint}",
    "roles.unknown_role": "roles {name}：{role!r} 不在 {known:list} 之中。{hint}",
    "importers.yaml_too_large": (
        "{path}：展开别名（*name）之后超过 {most_nodes:,} 个值或 {deepest_yaml} 层。"
        "一次运行的设置远没有这么多。"
    ),
    "importers.not_yaml": "{path}：不是 YAML（{line}）。",
    # ---- sinks
    "sink.behind": _behind,
    "sink.synced": _sync,
    "sink.not_started": "{tracker} 的进程无法启动：{error}",
    "sink.unknown": "{tracker!r} 不是跟踪工具。请从 {known:list} 中选择。",
    "sink.bad_text": "sink：{field} 应为一行可打印的文本，得到 {value!r}。",
    "sink.not_a_folder": (
        "sink：{tracker} 写入文件夹，得到 {where!r}。请给出文件夹：{tracker}:FOLDER。"
    ),
    "sink.not_text": "sinks：应为名称，例如 'mlflow'，或 Sink(...)，得到 {value!r}。",
    "sink.no_address": "sink {value!r}：冒号之后应有地址，否则请去掉冒号。",
    "sink.not_deleted": "{folder}：无法删除运行 {run} 以便重写。",
    "sink.not_whole": "{folder}：运行 {run} 已写入，但读回不完整。",
    "sink.no_sink": "没有指定接收端。请给出：--sink mlflow，或在 workload 中写 sinks = [...]。",
}
