"""Chinese help texts of the commands, by the English text."""

from __future__ import annotations

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    # ---- families
    "Begin": "开始",
    "Spend compute": "使用算力",
    "Read what happened": "查看结果",
    "Can it be trusted?": "可信吗？",
    "Decide": "决定",
    "Work with agents": "与编程智能体协作",
    "Show it to others": "出示给他人",
    "Look after the store": "维护存储库",
    # ---- commands
    "Tune a small network on handwritten digits by the whole loop: about three minutes.": (
        "用完整流程在手写数字上调优一个小网络：约三分钟。"
    ),
    "Write tunewright.toml for a training command or function.": (
        "为训练命令或函数写 tunewright.toml。"
    ),
    "Write rounds/NAME.toml to fill in, with the hyperparameters the program takes.": (
        "写待填的 rounds/NAME.toml，含程序接受的超参数。"
    ),
    "Examine versions, extras, the project, the store, locks, disk space and devices.": (
        "检查版本、附加包、项目、存储库、锁、磁盘空间和设备。"
    ),
    "Run a round, or continue it: only what is missing runs.": "运行或继续一个轮次：只运行缺少的。",
    "Join a round that others run, from this machine too, until none of its trials is left.": (
        "加入别人运行的轮次，直到没有剩下的试验；也可在本机加入。"
    ),
    "Write a round to trackers, or catch up what they lack; nothing is written twice.": (
        "把一个轮次写入跟踪工具，或补上缺的；不会重复写。"
    ),
    "Ask whoever runs a round to stop it, or one of its trials: they save and can be resumed.": (
        "请求停止一个轮次或其中一次试验：它们会保存，以后可恢复。"
    ),
    "Train a trial's configuration again under new seeds: how much of its value is noise?": (
        "用新种子重新训练一次试验的配置：它的值有多少是噪声？"
    ),
    "Train a trial anew under its own seed and settings, and compare it with the recorded one.": (
        "用原来的种子和设置重新训练一次试验，并与记录比较。"
    ),
    "Measure the selected checkpoints of the best trials properly, and record it as metrics.": (
        "对最好的几次试验选出的检查点做正式评估，记录为指标。"
    ),
    "Look at the test set, for the one trial that was chosen; every look is counted.": (
        "为选定的那次试验查看测试集；每次查看都计数。"
    ),
    "Tune on autopilot: explore, exploit, repeat, launch, within a budget. The same call resumes.": (
        "自动调优：在预算内探索、利用、重复、上线。再次进行同样的调用即可恢复。"
    ),
    "Short experiments that settle one setting: batch size, steps, warm-up, clipping, input.": (
        "确定单个设置的短实验：批量大小、步数、预热、梯度裁剪、输入。"
    ),
    "List the rounds, one line each; `-v` shows how to find the best trial again.": (
        "列出轮次，每个一行；`-v` 显示如何复现最好的试验。"
    ),
    "Show one round: goal, roles, the best per study, why trials did not complete, what next.": (
        "显示一个轮次：目的、角色、各研究的最好结果、试验为何没有完成、下一步。"
    ),
    "Show one trial: configuration, curves, attempts, log, where it comes from.": (
        "显示一次试验：配置、曲线、历次运行、日志、来源。"
    ),
    "Serve the dashboard of a store on this machine, or write it as a site of files.": (
        "在本机打开存储库的看板，或把它写成静态网站。"
    ),
    "Show what a model of the trials believes: the best to expect, what diverges, what is left.": (
        "显示试验模型的判断：可期望的最好值、什么会发散、还剩什么。"
    ),
    "Write a note about a round; `show` and `ls` print it.": (
        "给一个轮次写备注；`show` 和 `ls` 会显示。"
    ),
    "Write a round's trials or curves to a file for other programs.": (
        "把一个轮次的试验或曲线写入文件，供其他程序使用。"
    ),
    "Ask whether a round can be trusted: the playbook's checklist. Exits with 1 on a warning.": (
        "这一轮可信吗：调优手册的检查清单。有警告时退出码为 1。"
    ),
    "Ask the curves of any run what is wrong, with error rates. Exits with 1 on a warning.": (
        "由任何运行的曲线诊断问题，并给出误报率。有警告时退出码为 1。"
    ),
    "Draw a round: every trial, the best so far, settings, curves, budgets, importance.": (
        "画出一个轮次：所有试验、目前最好值、设置、曲线、预算、重要性。"
    ),
    "Report on a round: verdict first, then plots and trials, in one HTML file and on screen.": (
        "一个轮次的报告：先结论，后图和试验，写成一个 HTML 文件并显示在屏幕上。"
    ),
    "Say what to do after a round: ranked proposals with their reasons, and rounds to run.": (
        "一个轮次之后做什么：排好序的提议及其理由，以及可运行的轮次。"
    ),
    "Train longer: the best configuration's neighbourhood at more steps, its schedule adapted.": (
        "训练更久：在最好配置附近用更多步，学习率调度相应调整。"
    ),
    "Show trial, study and data variance of a round together; runs nothing unless asked to.": (
        "一并显示一个轮次的试验方差、研究方差和数据方差；不要求就不运行。"
    ),
    "Decide whether a round's best becomes the baseline: train both again on fresh seeds.": (
        "决定一个轮次的最好结果是否成为基线：两者都用新种子重新训练。"
    ),
    "Keep or discard one change of a program after another, by runs of both.": (
        "逐个保留或放弃程序的改动，依据改动前后的运行。"
    ),
    "Show every launch decision, oldest first, and the baseline that came of them.": (
        "显示所有上线决定，最早的在前，以及由此得到的基线。"
    ),
    "Take over a round that another tool recorded; check, plot and report then work on it.": (
        "导入其他工具记录的轮次；之后可检查、画图和报告。"
    ),
    "Remove a round from the store; --undo brings it back.": "从存储库移除一个轮次；--undo 可恢复。",
    "Give a round another name, in the store and in rounds/.": (
        "给一个轮次改名，存储库和 rounds/ 中都改。"
    ),
    "Write a backup of the store, checked, while it is in use; the newest three are kept.": (
        "在使用中备份存储库并校验；保留最新的三份。"
    ),
    "Put a backup in the store's place; what was there is kept beside it.": (
        "用备份替换存储库；原来的保留在旁边。"
    ),
    "Show or set how much training this project may spend: trials, hours or money.": (
        "显示或设置本项目可用的训练量：试验次数、小时或金额。"
    ),
    "Write instructions for coding agents (AGENTS.md and a skill) into this project.": (
        "在本项目中写入给编程智能体的说明（AGENTS.md 和一个技能）。"
    ),
    "Serve this project to a coding agent by the Model Context Protocol, over stdio.": (
        "以模型上下文协议（MCP，经 stdio）向编程智能体提供本项目。"
    ),
    "Write everything that a round's conclusions rest on to one file.": (
        "把一个轮次的结论所依据的一切写入一个文件（凭据）。"
    ),
    "Derive every verdict of a receipt again, and name malpractice. Exits with 1 on any.": (
        "重新推导凭据的每个结论，并指出不当做法。有则退出码为 1。"
    ),
    # ---- options that many commands have
    "Print JSON at full precision; NaN and infinities become null.": (
        "以完整精度输出 JSON；NaN 和无穷写作 null。"
    ),
    "The metric to make small.": "越小越好的指标。",
    "The metric to make large.": "越大越好的指标。",
    "A file or a postgresql:// address, in place of the one tunewright.toml names.": (
        "文件或 postgresql:// 地址，代替 tunewright.toml 中的。"
    ),
    "Judge the recorded trials anew: this logged metric, made small.": (
        "重新评判已记录的试验：这个已记录的指标，越小越好。"
    ),
    "Judge the recorded trials anew: this logged metric, made large.": (
        "重新评判已记录的试验：这个已记录的指标，越大越好。"
    ),
    "Judge by the best value over training, or by the last one: best or last.": (
        "按训练中的最好值或最后的值评判：best 或 last。"
    ),
    "The round's name, or its file in rounds/.": "轮次的名称，或它在 rounds/ 中的文件。",
    "The trial's number in its round.": "试验在轮次中的编号。",
    "Trials at a time.": "同时进行的试验数。",
    "Trials at a time; by default one per device, or as the cores allow.": (
        "同时进行的试验数；默认每个设备一次，或按核数。"
    ),
    "Trials per study.": "每个研究的试验次数。",
    "Trials per study, in place of the round file's number.": (
        "每个研究的试验次数，代替轮次文件中的。"
    ),
    "Show what would happen and what it costs, no more.": "只显示会做什么、代价多少。",
    "Run failed trials again.": "重新运行失败的试验。",
    "Begin no trial after this many hours; the running ones finish.": (
        "这么多小时之后不再开始新试验；运行中的会完成。"
    ),
    "Trials in all, repeats included.": "试验总数，含重复。",
    "Hours of training in all.": "训练总小时数。",
    "Draw it: a .png, .svg or .pdf.": "画图：.png、.svg 或 .pdf。",
    "Measure anew.": "重新测量。",
}
