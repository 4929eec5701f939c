"""Chinese sentences of the errors raised in `store`, `snapshot` and by backups."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence

# ---- sentences of the errors raised in `store`


def _round_changed(facts: Facts) -> str:
    lines = "\n".join(f"  {sentence(change)}" for change in facts["changes"])
    return (
        f"存储库中已有轮次 {facts['round']!r}，与这一个不同：\n"
        f"{lines}\n"
        "请给改动后的轮次另取名称。沿用旧名称时，可以提高 trials_per_study，也可以修改目的。"
    )


SENTENCES: dict[str, Template] = {
    # ---- errors store
    "store.file_name_too_long": "{path}...：名称太长，不能作文件名：请用 tuning.db",
    "store.cannot_be_a_store": "{path} 不能作存储库：{error}",
    "store.one_slash": "{masked}：地址要有两个斜杠：postgresql://host/name",
    "store.in_memory": "{masked}：存储库是文件，进程结束后仍在：sqlite:///tuning.db",
    "store.bad_address": (
        "{masked}：存储库是 SQLite 文件（tuning.db、sqlite:///tuning.db）或 PostgreSQL 数据库"
        "（postgresql://...）。"
    ),
    "backup.before_migration_failed": (
        "{path} 的模式版本是 {version}，没有迁移，因为无法写它的备份：{error}"
    ),
    "backup.damaged": "备份 {source} 本身已损坏（{error}）。",
    "backup.no_space": "没有给 {path} 写备份：只剩 {free_mb:.0f} MB，不够一份副本。",
    "backup.none": "{folder} 中没有可恢复的备份。",
    "backup.not_put_back": "无法用 {source} 替换 {path}：{error}",
    "backup.not_written": "无法写 {path} 的备份：{error}",
    "backup.store_not_whole": "{path} 不是完好的存储库；没有保留它的备份。",
    "campaign.not_in_store": "这个存储库中没有调优任务 {name!r}。",
    "campaign.step_without_reason": "调优任务 {campaign} 的第 {step} 步没有原因。",
    "curve.damaged": (
        "{trial}：{error}。`tunewright restore` 恢复最新的备份，`tunewright restore --rebuild` "
        "从试验文件夹重建存储库。"
    ),
    "curve.unreadable": "无法读取一批曲线（{error}）：数据库已损坏",
    "evaluation.trial_not_ended": "试验 {trial} 还没有结束，所以还没有选出检查点。",
    "export.bad_ending": "{path}：导出文件以 .csv、.parquet 或 .json 结尾",
    "file.not_written": "无法写入 {path}：{reason}",
    "imported.name_taken": "数据库中已有轮次 {name!r}；请用另一个名称保存这些试验。",
    "imported.no_ended_trial": "{name}：没有试验结束，所以没有可保存的。",
    "curve.altered": "一批曲线与写入时不同：数据库已损坏",
    "joined.not_results": "joined({other!r})：请给出较早轮次的 Results。",
    "journal.conclusion_unreadable": "{path}：不是我们的结论文件（{error}）。",
    "journal.not_a_conclusion": "{path}：不是我们的结论文件。",
    "json.file_too_large": "{path}：{size:,} 字节，超过允许的 {largest:,}。",
    "json.invalid": "{what}：不是 JSON（{error}）。",
    "json.not_an_object": "{path}：内容是 {kind}，不是 JSON 对象。",
    "json.not_writable": "无法作为 JSON 写入数据库：{error}",
    "json.too_deep": "{what}：嵌套太深，不是我们的记录。",
    "json.too_long": "{characters:,} 个字符的 JSON 超过数据库的上限（{most:,}）。",
    "json.too_long_to_read": "{what}：{characters:,} 个字符，超过允许的 {most:,}。",
    "launch.no_such_trial": "这个存储库中没有轮次 {round!r} 的试验 {trial}。",
    "lease.lost": (
        "{what} 的第 {attempt} 次运行已不属于本进程：它已结束，或租约到期被别的进程接手。"
        "没有覆盖任何内容。"
    ),
    "lease.register_in_transaction": (
        "在事务中调用了 register()。它可能要观察另一个工作进程的心跳，而那个进程此时无法访问存储库："
        "请在事务之外调用。"
    ),
    "lease.taken_for_dead": (
        "这个 {kind}（pid {pid}）被判定为已死，它的试验交给了别的进程：它沉默的时间超过了租约。"
    ),
    "note.empty": "备注是空的；没有写入。",
    "store.not_as_written": "{place}：与写入时不同（{said}）。",
    "json.not_a_plain_file": "{path}：不是普通文件。",
    "provenance.altered": "存储库中的一项来源记录与写入时不同。",
    "provenance.unreadable": "存储库中的一项来源记录与写入时不同（{error}）。",
    "store.column_altered": "{place}：存储库中的 {name} 与写入时不同。",
    "store.bad_status": "{place}：{status!r} 不是试验的状态。",
    "store.configuration_altered": "{place}：存储库中的配置与写入时不同。",
    "rebuild.no_folder": "重建 PostgreSQL 存储库需要它的试验文件夹。",
    "rebuild.no_rounds": "{folder} 中没有可用来重建存储库的轮次。",
    "rebuild.store_not_empty": "{shown} 中已有轮次；没有重建任何内容。",
    "repeat.nothing_to_repeat": "试验 {trial} 还没有配置，所以没有可重复的。",
    "repeat.times_not_positive": "times：{times!r} 不是至少为 1 的整数。",
    "results.no_such_table": '表是 "trials" 或 "curves"，不是 {table!r}',
    "round.busy": (
        "另一个 {kind} 正在运行这个轮次：主机 {host}，pid {pid}，已 {age}，最近一次心跳在 {silent} "
        "之前。请等待、结束它，或用 `tunewright worker` 加入。"
    ),
    "round.changed": _round_changed,
    "round.no_such_trial": "轮次没有试验 {trial}。",
    "outcome.wrong_field": "它的 {name} 缺失、未知或类型不对",
    "round.search_changed": (
        "数据库中已有轮次 {name!r}，它的搜索为试验 {number} 建议了 {before}；现在建议 {now}。"
        "请给改动后的轮次另取名称。"
    ),
    "store.folder_outside": (
        "存储库把 {folder!r} 记作一次试验的文件夹，它在 {root} 之外。记录被改动过；没有在那里写入。"
    ),
    "spool.checksum": "{path}：校验和不对；文件不完整或被改动。",
    "spool.not_a_trial_folder": "{name!r} 不是试验的文件夹",
    "spool.result_unreadable": "{path}：不是结果（{error}）。",
    "spool.round_unreadable": "{path}：不是轮次（{error}）。",
    "spool.trial_unreadable": "{path}：不是试验（{error}）。",
    "store.bad_file_name": "{path!r} 不是文件名：请用例如 tuning.db",
    "store.bad_server_address": (
        "这不是 PostgreSQL 地址；它应形如 postgresql://user:password@host:5432/database"
    ),
    "store.bad_trial_folder": "{folder} 不能存放试验文件夹：{reason}",
    "store.damaged": "{path} 已损坏（{found}）；它和备份都原样保留。",
    "store.damaged_in_use": (
        "存储库 {store} 已损坏（{reason}）。`tunewright restore` 恢复最新的备份。"
    ),
    "store.damaged_file": "存储库 {path} 已损坏（{found}）。没有打开任何内容。{way}",
    "store.disk_full": "存储库 {store} 没有空间：请腾出一些，再继续。（{reason}）",
    "store.empty": "{shown} 中还没有轮次。",
    "store.file_changed": (
        "存储库 {path} 在使用中{state}：不再向它写入。已结束的保存在试验文件夹中。请放回该文件，或用 "
        "`tunewright restore` 重建（没有备份时加 `--rebuild`）；然后再运行。"
    ),
    "store.folder_not_made": "无法建立 {folder}：{reason}",
    "store.folder_of_another": (
        "{folder} 存放的是另一个存储库（{owner}）的试验，不是 {shown} 的。没有启动任何内容。"
        "请给这一个单独的文件夹：Workload(folder=...)。若那个存储库已丢失，"
        "`tunewright restore --rebuild` 可从这个文件夹重建它。"
    ),
    "store.is_folder": "{path} 是文件夹；存储库是文件，例如 {example}",
    "store.locked": (
        "存储库 {store} 被另一个进程锁住超过 {wait_s:.0f} 秒；是否有进程停在写入途中？（{reason}）"
    ),
    "store.network_file_system": (
        "{path} 在网络文件系统（{kind}）上：SQLite 的预写日志需要所有用户共享的内存和有效的锁。"
        "{instead}"
    ),
    "store.newer_schema": (
        "{shown} 由更新的 Tunewright 写成（模式版本 {version}，这里只认识到 {newest}）："
        "pip install --upgrade tunewright"
    ),
    "store.no_permission": "这个用户不能读写 {path}：请更改其所有者。",
    "store.no_shared_memory": (
        "{shown}：这个文件系统没有供 SQLite 预写日志用的共享内存（停留在 {mode} 模式）。{instead}"
    ),
    "store.no_trial_folder": (
        "{shown}：PostgreSQL 存储库需要一个所有工作进程都能看到的试验文件夹：Workload(folder=...)。"
    ),
    "store.not_flushed": "无法把存储库 {shown} 刷到磁盘：{reason}",
    "store.not_writable": "无法以写方式打开存储库 {store}（{reason}）。{instead}",
    "store.older_schema": (
        "{shown} 的模式版本是 {version}，而本程序读取 {own}。任何可写的命令（例如 "
        "`tunewright ls`）都会迁移它；建议先做转储（pg_dump）。"
    ),
    "store.older_worker": (
        "{shown} 的模式版本是 {version}，而旧版 Tunewright 的 {kind} 仍在使用它（主机 {host}，"
        "pid {pid}）。请等待或结束它：之后任何命令都会更新存储库。"
    ),
    "store.lock_held": (
        "另一个程序锁住 {path} 已超过 {seconds:duration}。写入在没有锁的情况下继续。请结束那个程序；"
        "`chmod 600` 可防止其他用户锁住该文件。"
    ),
    "store.lock_held_by": (
        "另一个程序（进程 {holders:list}）锁住 {path} 已超过 {seconds:duration}。写入在没有锁的情况下"
        "继续。请结束那个程序；`chmod 600` 可防止其他用户锁住该文件。"
    ),
    "store.orphan_folders": (
        "存储库 {path} {state}，但 {folder} 中有 {orphans} 个试验文件夹。没有启动任何内容。"
        "`tunewright restore --rebuild` 可用它们重建存储库{hint}；要重新开始，请移走那个文件夹。"
    ),
    "store.other_program": ("{shown} 是另一个程序的数据库：它有表 {tables}。请给存储库另取名称。"),
    "store.read_only": "存储库 {shown} 以只读方式打开。",
    "store.read_only_folder": (
        "{folder} 是只读的：即使只读取，SQLite 也要在存储库旁边存放预写日志和锁。"
        "请把存储库复制到可写的文件夹。{instead}"
    ),
    "store.unusable": "无法使用存储库 {store}：{reason}",
    "store.write_while_reading": "在只读的块中写入；请先打开事务",
    "trial.bad_status": "试验的结局是 {ended:list} 之一，不是 {status!r}",
    "trial.no_such_key": "{url} 中没有键为 {key} 的试验。",
    # ---- errors top
    "backup.no_such_backup": "{backup} 处没有备份",
    "backup.postgresql": "{shown} 是 PostgreSQL 数据库，它有自己的备份",
    "snapshot.bad_attempt": "attempt={attempt!r}：运行次数从 1 起计",
    "snapshot.bad_keep": "keep={keep!r}：至少保留 1 个快照，或用 None 保留全部",
    "snapshot.bad_manifest": "{file} 不是快照的清单",
    "snapshot.bad_step": "step={step!r}：快照对应的更新次数应为大于等于 0 的整数",
    "snapshot.checksum": "{path} 不完整或被改动（校验和不同）",
    "snapshot.file_missing": "缺少 {path}",
    "snapshot.manifest_without_checksum": "{file} 没有 {tensors} 或 {tree} 的校验和",
    "snapshot.manifest_bad_number": "{file} 中有快照不可能有的数字",
    "snapshot.manifest_lacks_files": "{file} 没有列出 {tensors} 和 {tree}",
    "snapshot.manifest_too_large": "{file} 大于 1 MiB：没有读取",
    "snapshot.misplaced": "{file} 的步或运行次数与文件夹名不符",
    "snapshot.newer_version": (
        "{file} 的版本是 {version!r}，本程序读取 {own}：请用写它的更新版 Tunewright 加载"
    ),
    "snapshot.not_a_snapshot": (
        "{path} 不是快照。只读取纯张量格式（含 {tensors}、{tree} 和 {manifest} 的文件夹）；"
        "没有反序列化任何 pickle。若是存放快照的文件夹，请用 latest()"
    ),
    "snapshot.not_a_tree": "{path} 不是快照的树",
    "snapshot.not_safetensors": (
        "不是纯张量的 safetensors 格式（{error}）；没有反序列化任何 pickle"
    ),
    "snapshot.not_storable": (
        "无法保存：{shown}{more}。请只保存数字、文本、字节、None、列表、元组、字典、数组和张量"
    ),
    "snapshot.not_written": (
        "无法在 {folder} 写入第 {step} 步的快照：{error}。较早的快照不受影响；请腾出空间或检查权限，"
        "再保存一次"
    ),
    "snapshot.too_large": "{path} 大于 {longest} MiB：没有读取",
    "snapshot.too_much_json": (
        "状态中不是张量的部分占 {size_mb:.0f} MiB 的 JSON（上限 {longest}）："
        "长的数字列表请放进数组或张量"
    ),
    "snapshot.torn": (
        "{path} 不完整或被改动（校验和不同）：请用 latest(folder)，它会退回到最新的有效快照"
    ),
    "snapshot.torn_json": "{source} 不完整或不是 JSON：{error}",
    "snapshot.tree_too_deep": "树的嵌套超过 {deepest} 层",
    "snapshot.tree_unreadable": "无法读取树：{kind}：{error}",
    "snapshot.unknown_library": "{library!r} 的数组：本程序读取 torch 和 numpy",
    "snapshot.unknown_numpy_dtype": "快照不保存 numpy 数据类型 {name!r}",
    "snapshot.unknown_tag": "未知标记 {tag!r}：由更新的 Tunewright 写成，或不是 Tunewright 写的",
    "snapshot.unknown_torch_dtype": "这个 torch 没有数据类型 {name!r}：请用写它的 torch 加载",
    "snapshot.unreadable": "{path}：{error}",
    "snapshot.untagged_object": "没有带标记的值：键为 {keys} 的对象",
    "snapshot.wrong_size": "{path} 不完整：长度不是 {size} 字节",
}
