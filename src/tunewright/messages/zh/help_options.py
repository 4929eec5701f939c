"""Chinese help texts of options, and what commands say below their first line."""

from __future__ import annotations

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    # ---- below the first line of a command
    "How long to train, exploration, exploitation, repeats, the launch decision, the test set, "
    "and a report. Ctrl-C stops it; the same command resumes it.": (
        "训练多长、探索、利用、重复、上线决定、测试集和报告。Ctrl-C 停止；同样的命令可恢复。"
    ),
    "Ctrl-C once: no new trials, the running ones finish. Twice: they save and stop, and resume "
    "when the round is run again.": (
        "按一次 Ctrl-C：不再开始新试验，运行中的会完成。按两次：保存并停止，再次运行该轮次时恢复。"
    ),
    "The round is taken from the store, the training program from this project. On several "
    "machines the store is a postgresql:// address.": (
        "轮次取自存储库，训练程序取自本项目。多台机器时，存储库为 postgresql:// 地址。"
    ),
    "Repeats that are there already count, so `--times 5` twice means five in all.": (
        "已有的重复也计入：两次 `--times 5` 总共是五次。"
    ),
    "It is not stored in the round: with the same seed it is no independent repeat. `repeat` "
    "trains under new seeds. Exits with 1 if the values differ, with 3 if it ends in another "
    "way.": (
        "结果不存入轮次：种子相同，不算独立的重复。`repeat` 用新种子训练。值不同时退出码为 1，"
        "以别的方式结束时为 3。"
    ),
    "What training measures on its way is a proxy. Each trial is measured at the checkpoint of "
    "its best step, or the best one it kept.": (
        "训练过程中测的只是代理指标。每次试验在其最好一步的检查点上测量，或用它保留的最好的一个。"
    ),
    "With --fold, write the last round instead: the same configuration on training and validation "
    "data together, for when no later launch is planned.": (
        "用 --fold 则写最后一个轮次：同样的配置，训练数据与验证数据合并，用于以后不再上线时。"
    ),
    "Every step is a round of the store with its reason. Ctrl-C stops it at any time, and nothing "
    "that has ended runs again.": (
        "每一步都是存储库中的一个轮次，并有其原因。随时可用 Ctrl-C 停止；已结束的不会再运行。"
    ),
    "Ranges and fixed values come from rounds/ROUND.toml. The same command again finds what was "
    "run, and resumes where it was interrupted.": (
        "范围和固定值取自 rounds/ROUND.toml。再次运行同样的命令会找到已运行的，从中断处恢复。"
    ),
    "Augmentation, regularisation and schedule are switched off, by the off values that "
    "tunewright.toml declares. The same command again finds what was run, and resumes where it "
    "was interrupted.": (
        "数据增强、正则化和学习率调度按 tunewright.toml 声明的关闭值关闭。"
        "再次运行同样的命令会找到已运行的，从中断处恢复。"
    ),
    "For rounds whose curves cannot tell, since the learning rate falls to zero. The program must "
    "save and restore. The same command again finds what was run, and resumes where it was "
    "interrupted.": (
        "用于曲线看不出来的轮次（学习率降到零）。程序必须能保存和恢复。"
        "再次运行同样的命令会找到已运行的，从中断处恢复。"
    ),
    "The same command again finds what was run, and resumes where it was interrupted.": (
        "再次运行同样的命令会找到已运行的，从中断处恢复。"
    ),
    "Finds the lowest unstable learning rate, then the shortest warm-up that makes ten times that "
    "rate stable (else three times; else with clipping). The same command again resumes.": (
        "先找最低的不稳定学习率，再找使其十倍稳定的最短预热（否则三倍；再否则加梯度裁剪）。"
        "再次运行同样的命令即可恢复。"
    ),
    "Trains where it is unstable without clipping; with --recorded it only reads a round's "
    "norms.": "在不裁剪就不稳定之处训练；用 --recorded 则只读取一个轮次的范数。",
    "Pages read the store and change nothing unless an option permits it. Ctrl-C ends it.": (
        "页面只读取存储库，除非选项允许，否则不改动任何东西。Ctrl-C 结束。"
    ),
    "It is the model of the Bayesian search, and works for rounds of any search. Trials of the "
    "rounds that this one continues count too, where they fit.": (
        "它是贝叶斯搜索的模型，适用于任何搜索的轮次。本轮所延续的轮次中，符合的试验也计入。"
    ),
    "How far would the best value move with other seeds, another search, other data? `--times`, "
    "`--studies` and `--splits` train what it takes to know.": (
        "换种子、换搜索、换数据，最好值会变动多少？`--times`、`--studies` 和 `--splits` "
        "会做所需的训练。"
    ),
    "The trial that tuning found never counts, since it was picked partly for its noise. Runs "
    "until it is clear; a launch is kept in the history and becomes the baseline of the next "
    "one.": (
        "调优找到的那次试验不计入，因为选中它有噪声的成分。运行到有定论为止；上线会记入历史，"
        "并成为下一次的基线。"
    ),
    "Its name is free then: run a corrected rounds/ROUND.toml under it. Refused while it runs, "
    "and where another round, a launch or a campaign rests on it. Its trial folders stay.": (
        "之后名称空出：可用它运行改正后的 rounds/ROUND.toml。运行中、或有其他轮次、上线或调优任务"
        "依赖它时会拒绝。试验文件夹保留。"
    ),
    "Rounds that continue it, recorded ones and files, name the new one afterwards.": (
        "延续它的轮次（已记录的和文件）随之改用新名。"
    ),
    "A running round does this by itself every ten minutes.": "运行中的轮次每十分钟自动备份。",
    # ---- run, worker, tune
    "Stop trials that cannot win, once 60 of each study have finished.": (
        "每个研究完成 60 次之后，停止不可能胜出的试验。"
    ),
    "Stop trials that cannot win, once 60 have finished.": "完成 60 次之后，停止不可能胜出的试验。",
    "Where: local, ray or slurm (clusters), or inline (in this process).": (
        "在哪里：local、ray 或 slurm（集群），或 inline（本进程内）。"
    ),
    "Which configurations: halton (quasi-random, the default), bayesian (a model of the trials so "
    "far; for a round without scientific hyperparameters), or auto (whichever suits the budget "
    "and the workers, with the reason).": (
        "用哪些配置：halton（准随机，默认）、bayesian（按已有试验建模；用于没有科学超参数的轮次），"
        "或 auto（按预算和工作进程选择，并说明原因）。"
    ),
    "The Ray cluster; by default RAY_ADDRESS, this machine's, or a new one.": (
        "Ray 集群；默认 RAY_ADDRESS、本机的，或新建一个。"
    ),
    "What one trial takes of the Ray cluster; one CPU by default.": (
        "一次试验占用的 Ray 集群资源；默认一个 CPU。"
    ),
    "Train so many trials at once on each GPU, in one process.": (
        "每个 GPU 上在一个进程里同时训练这么多次试验。"
    ),
    "Copy every trial to mlflow, tensorboard, wandb, trackio or swanlab; may be repeated.": (
        "把每次试验同时写到 mlflow、tensorboard、wandb、trackio 或 swanlab；可给多次。"
    ),
    "mlflow, tensorboard, wandb, trackio or swanlab; those of tunewright.toml by default.": (
        "mlflow、tensorboard、wandb、trackio 或 swanlab；默认用 tunewright.toml 中的。"
    ),
    "Stop this trial only.": "只停止这次试验。",
    "Repeats in all.": "重复总数。",
    "The trial to repeat; the best one by default.": "要重复的试验；默认最好的。",
    "Its repeat K instead, from 1.": "改为它的第 K 次重复，从 1 起。",
    "Train although the program's files have changed.": "程序文件有改动也训练。",
    "Where it trains: a new folder; by default one below again/.": (
        "在哪里训练：一个新文件夹；默认在 again/ 之下。"
    ),
    "The K best trials.": "最好的 K 次试验。",
    "This trial; the best one by default.": "这次试验；默认最好的。",
    "Nothing will be compared after this.": "此后不再比较。",
    "The round file whose ranges are the space; rounds/tune.toml by default.": (
        "以其范围为搜索空间的轮次文件；默认 rounds/tune.toml。"
    ),
    "Confirm every step.": "每一步都确认。",
    "Of one hour of training, such as 2.5 or '2.5 EUR'; the budget's by default.": (
        "一小时训练的价格，例如 2.5 或 '2.5 EUR'；默认取预算中的价格。"
    ),
    "With --dry-run: where no trial shows how long training takes, time a short one. It trains.": (
        "与 --dry-run 一起使用：没有试验能说明训练时间时，为一次短训练计时。它会训练。"
    ),
    "Compare them although one trains for more steps: longer training is the claim.": (
        "即使一方训练的步数更多也比较：所主张的就是训练更久。"
    ),
    "What the campaign is called; as ROUND.": "调优任务的名称；默认同 ROUND。",
    "Where the report goes; NAME.html.": "报告写到哪里；NAME.html。",
    "Train the best so many times as long in the end.": "最后把最好的训练这么多倍长。",
    "Trials in all, repeats and probes included.": "试验总数，含重复和探测。",
    "Where the demo's project is kept.": "演示项目放在哪里。",
    # ---- init, new, doctor
    "What the round is about, such as weight_decay.": "这一轮研究什么，例如 weight_decay。",
    "A ready space with a warm-up and a decay, rather than a constant learning rate.": (
        "现成的搜索空间，带预热和衰减，而不是恒定学习率。"
    ),
    "Compare the store with the trial folders too.": "同时核对存储库与试验文件夹。",
    # ---- show, report, next
    "Objective, notes, files and the command of each.": "各自的目标、备注、文件和命令。",
    "With --json: every point of every curve too.": "用 --json 时：包括每条曲线的每个点。",
    "By default 8686, or the next free one.": "默认 8686，或下一个空闲的。",
    "Where to listen; other machines reach it only with the token.": (
        "监听地址；其他机器只有凭令牌才能访问。"
    ),
    "Permit notes and stop requests.": "允许写备注和请求停止。",
    "Permit starting rounds of this project, and the above.": "允许启动本项目的轮次，以及上述各项。",
    "Open no browser; print the address only.": "不打开浏览器，只打印地址。",
    "Serve nothing: write a site of files that any web server can host.": (
        "不启动服务：写成任何网页服务器都能托管的静态网站。"
    ),
    "What to remember about the round.": "关于这一轮要记住什么。",
    "A .csv, .parquet or .json file to write.": "要写的 .csv、.parquet 或 .json 文件。",
    "trials: one row each; curves: one row per point.": "trials：每次一行；curves：每个点一行。",
    "One run of it.": "其中一次运行。",
    "The training loss.": "训练损失。",
    "The validation metric.": "验证指标。",
    "Larger is better; may be repeated.": "越大越好；可给多次。",
    "What a guess would give.": "猜测能得到的值。",
    "Show what is fine or cannot be judged too.": "也显示正常的和无法判断的。",
    "With and without each change, at most.": "每个改动保留与撤销时各自最多的运行次数。",
    "Where to write; by default ROUND.plots.": "写到哪里；默认 ROUND.plots。",
    "png, svg or pdf.": "png、svg 或 pdf。",
    "An .html or .txt file; by default ROUND.html.": ".html 或 .txt 文件；默认 ROUND.html。",
    "Write the round as rounds/NAME.toml.": "把轮次写成 rounds/NAME.toml。",
    "Which of the proposals --write writes.": "--write 写哪一个提议。",
    "The new length.": "新的长度。",
    "Long trainings.": "长训练的次数。",
    # ---- variance, launch
    "Train the best again until it has N repeats.": "重复训练最好的，直到有 N 次重复。",
    "Run the whole search again, with other points, until there are N of it.": (
        "换一批点重做整个搜索，直到共有 N 次。"
    ),
    "Train the best on each of N data splits.": "在 N 个数据划分上各训练一次最好的。",
    "The candidate; the best trial by default.": "候选；默认最好的试验。",
    "The gain it takes to be worth its cost.": "值得其代价的改进。",
    "Ask instead: is it worse by no more than this? To remove things.": (
        "改问：变差是否不超过这个值？用于去掉某样东西。"
    ),
    "Decide once, at N runs each; by default at 3, 5, 8, 13 or 20, as soon as it is clear.": (
        "只在各 N 次运行时决定一次；默认在 3、5、8、13 或 20 次时，一有定论即决定。"
    ),
    "Do not reuse the runs that made the baseline what it is.": "不复用使基线成为基线的那些运行。",
    "No comparison: make the trial the first baseline.": "不比较：把试验作为第一个基线。",
    "A word for the history.": "写入历史的一句话。",
    # ---- probes
    "Begin here.": "从这里开始。",
    "Go no further.": "到此为止。",
    "Measure all sizes that fit, not only up to the knee.": "测量放得下的所有大小，而不只到拐点。",
    "Processes that train together (DDP).": "一起训练的进程数（DDP）。",
    "The most memory to take.": "至多占用的内存。",
    "Of one device for one hour, in any currency.": "一个设备一小时的价格，货币不限。",
    "Paid once, before training.": "训练之前一次付清的费用。",
    "The most to spend.": "至多花费。",
    "Steps to the goal at a batch size, where known: 128=50000.": (
        "已知时，某个批量大小达到目标的步数：128=50000。"
    ),
    "Time each size for about a second, not five.": "每个大小约计时一秒，而不是五秒。",
    "The batch sizes, two at least, better six.": "批量大小，至少两个，最好六个。",
    "Steps of every trial, at every size.": "每个大小、每次试验的步数。",
    "Begin from this round's best trial; by default from the best of all rounds.": (
        "从这一轮的最好试验开始；默认从所有轮次中最好的开始。"
    ),
    "Begin from this trial of the round.": "从这一轮的这次试验开始。",
    "The middle of the sweep; by default as known.": "扫描的中心；默认按已知值。",
    "A perfect fit is at most this.": "完美拟合至多为这个值。",
    "A perfect fit is at least this.": "完美拟合至少为这个值。",
    "How much longer: 0.25 is a quarter.": "长多少：0.25 即四分之一。",
    "Seeds of each length.": "每种长度的种子数。",
    "Steps of each short run.": "每次短运行的步数。",
    "Seeds of the comparison of whole trainings; 0: none.": "比较完整训练所用的种子数；0 表示不比较。",
    "Train nothing: read the norms that the round logged.": "不训练：读取该轮次记录的范数。",
    "The batch size to watch it at.": "观察时的批量大小。",
    "Steps to watch.": "观察的步数。",
    # ---- the store
    "A file or folder; for optuna also the URL of a database.": (
        "文件或文件夹；optuna 也可用数据库的地址。"
    ),
    "What to call the round.": "轮次的名称。",
    "Bring the removed round back.": "恢复移除的轮次。",
    "List the removed rounds.": "列出移除的轮次。",
    "Its new name.": "新名称。",
    "The backup to put back; the newest by default.": "要恢复的备份；默认最新的。",
    "Make the store again from its trial folders instead.": "改为由试验文件夹重建存储库。",
    "List the backups, oldest first.": "列出备份，最早的在前。",
    # ---- what other options are for
    '"learning_rate=lr", as in a workload.': '"learning_rate=lr"，写法与训练程序的声明相同。',
    '"lr = log(1e-5, 1e-1)", if known.': '"lr = log(1e-5, 1e-1)"，知道时给出。',
    '"python train.py --lr={learning_rate} --seed={run.seed}", or train.py:train; with --scan a '
    "script, train.py, or a command that has one.": (
        '"python train.py --lr={learning_rate} --seed={run.seed}"，或 train.py:train；用 --scan 时为脚本'
        " train.py，或含有脚本的命令。"
    ),
    "A column of a table that is a metric.": "表中作为指标的列。",
    'A commit, or "working tree"; by default what is checked out.': (
        '一次提交，或 "working tree"（工作区）；默认为当前检出的。'
    ),
    "A loss below it is none, in sd of one run.": "小于它的损失不算损失，以单次运行的标准差为单位。",
    "A smaller expected gain is not kept.": "预期改进小于它就不保留。",
    "An AGENTS.md keeps what it has: ours is a marked part of it.": "已有的 AGENTS.md 内容保留：我们的部分有标记。",
    "An agent's configuration names `tunewright mcp` as the command, with this folder. Training "
    "that it starts continues after the server ends. Where no project is yet, every tool answers with "
    "the command that makes one.": (
        "在智能体的配置中把 `tunewright mcp` 写作命令，并给出本文件夹。它启动的训练在服务器结束后继续。"
        "还没有项目时，每个工具都会给出建立项目的命令。"
    ),
    "Another hyperparameter's value.": "另一个超参数的值。",
    "At which norm to clip gradients? The 90th percentile, halved while training is unstable.": (
        "梯度应在多大范数处裁剪？从第 90 百分位开始，仍不稳定就减半。"
    ),
    "Begin a lineage at the commit that is checked out; nothing is trained yet.": (
        "以当前检出的提交开始一个谱系；此时还不训练。"
    ),
    "Begin with a ready search space, as wide as the trials allow, with its sources: sgd, "
    "momentum, nesterov, adam, adamw, nadam, nadamw.": (
        "从现成的搜索空间开始，试验次数允许多宽就多宽，并注明出处：sgd、momentum、nesterov、adam、adamw、nadam、nadamw。"
    ),
    "By default ROUND.receipt.json; .gz compresses.": "默认 ROUND.receipt.json；以 .gz 结尾则压缩。",
    "Change files that are there.": "允许改动已有的文件。",
    "Claim that the feature helps, not only this point: adds study and data variance.": (
        "结论针对该特性而不只是这个点：计入研究方差和数据方差。"
    ),
    "Copy AGENTS.md and SKILL.md into this project; a file that is there is changed if you agree.": (
        "把 AGENTS.md 和 SKILL.md 复制到本项目；已有的文件经你同意才改动。"
    ),
    "Count from now on: what was spent before is forgotten.": "从现在起重新计数：此前用掉的不再计入。",
    "Do not ask before the budget is raised.": "提高预算之前不再询问。",
    "Draw it too: a .png, .svg or .pdf.": "同时画图：.png、.svg 或 .pdf。",
    "Find out whether training waits for its data, and which stage is slow.": "查明训练是否在等数据，哪个环节慢。",
    "Find the batch sizes that fit, how fast each is, and the one to use.": (
        "查明哪些批量大小放得下、各有多快、该用哪一个。"
    ),
    "For --on slurm: partition, time, gpus, cpus, account, or line='#SBATCH ...'; repeat.": (
        "用于 --on slurm：partition、time、gpus、cpus、account，或 line='#SBATCH ...'；可给多次。"
    ),
    "For readers only.": "只供阅读。",
    "Fresh runs of each.": "每个新运行多少次。",
    "Give it this role.": "给它这个角色。",
    "Goal, roles, spaces, budgets of each setting, all trials with their curves and hashes, "
    "code, seeds, looks at the test set, verdicts with their evidence and error rates, launches.": (
        "目的、角色、搜索空间、各设置的预算、所有试验及其曲线和哈希、代码、种子、对测试集的查看、结论及其证据和误判率、上线决定。"
    ),
    "Hours of training, in all.": "训练总小时数。",
    "How many steps are enough? A sweep of constant learning rates to the first perfect fit.": (
        "多少步才够？扫描恒定学习率，直到第一个完美拟合。"
    ),
    "How short a warm-up allows a far higher learning rate? Then whole trainings with it.": (
        "多短的预热就能用高得多的学习率？然后用它做完整训练。"
    ),
    "Is training unstable just above the best learning rate? Short runs, every step evaluated.": (
        "略高于最好学习率时训练是否不稳定？短运行，每步都评估。"
    ),
    "It needs the file alone: neither the store nor the training program.": (
        "只需要这个文件：不需要存储库，也不需要训练程序。"
    ),
    "Judge a change: run it as often as it deserves, then keep it, discard it, or leave it.": (
        "评判一个改动：需要运行几次就运行几次，然后保留、放弃或搁置。"
    ),
    "Judge by the last value, not the best over training.": "按最后的值评判，而不是训练中的最好值。",
    "Look although another trial was looked at before.": "以前查看过另一次试验，仍要查看。",
    "Made large.": "越大越好。",
    "Made small.": "越小越好。",
    "Money: hours times their price.": "金额：小时数乘以单价。",
    "More steps, for gradient noise that is to come.": "多留一些步数，应对以后的梯度噪声。",
    "No change may touch it: evaluation, data split, seed.": "任何改动都不得触及：评估、数据划分、种子。",
    "No hyperparameter.": "不是超参数。",
    "Of lines that are measurements, beside JSON.": "除 JSON 外，哪些行是测量值。",
    "Of the git repository.": "git 仓库的文件夹。",
    "Of the lineage: several may be judged.": "谱系的名称：可以同时评判几个。",
    "Of training, for the lineage.": "谱系可用的训练小时数。",
    "One kind of figure; may be given again. isolation, progress, axis, sensitivity, pair, "
    "curves, best_of_k, best_step, gradient_norm.": (
        "一种图；可给多次。isolation、progress、axis、sensitivity、pair、curves、best_of_k、best_step、"
        "gradient_norm。"
    ),
    "Only look first: the gradient noise scale of ROUND's best trial, from norms logged for "
    "batches of these two sizes.": (
        "先只看一看：由这两种批量记录的范数，求 ROUND 最好试验的梯度噪声尺度。"
    ),
    "Read the options of the script from its source, without running it: names, defaults, "
    "proposed roles and ranges.": (
        "不运行脚本，从源码读取它的选项：名称、默认值、建议的角色和范围。"
    ),
    "Remove kept changes one by one, newest first, where nothing is lost without them.": (
        "逐个移除保留的改动，最新的在前；去掉也没有损失的才移除。"
    ),
    "Run the first and the current commit again, in turn: the total gain with its interval.": (
        "交替重新运行第一个和当前的提交：总改进及其区间。"
    ),
    "Set a hyperparameter, such as learning_rate=0.01; may be given several times.": (
        "设置一个超参数，例如 learning_rate=0.01；可给多次。"
    ),
    "Set limits; those that are not named stay. Raising one asks at a terminal.": (
        "设置上限；没有写的不变。提高上限时会在终端询问。"
    ),
    "Show every decision, oldest first.": "显示所有决定，最早的在前。",
    "Show the budget, what is spent of it, and what is left.": "显示预算、已用多少、还剩多少。",
    "Show where the lineage stands, what was spent, and the newest quoted total.": (
        "显示谱系的进展、已用的预算，以及最近一次报告的总改进。"
    ),
    "Sizes must fit with this value too, such as sequence_length=4096.": (
        "批量大小在这个值之下也要放得下，例如 sequence_length=4096。"
    ),
    "TensorBoard folder, W&B or SwanLab runs, MLflow or Trackio store, or a table.": (
        "TensorBoard 文件夹、W&B 或 SwanLab 的运行、MLflow 或 Trackio 的存储，或一张表。"
    ),
    "The critical batch size: beyond it steps are no longer saved.": "临界批量大小：超过它就不再节省步数。",
    "The first length to try; by default 20 epochs, or as known.": "最初试的长度；默认 20 个 epoch，或按已知值。",
    "The lineage is kept in STORE.judge beside it.": "谱系保存在存储库旁边的 STORE.judge 中。",
    "The logged gradient norm of the small batch.": "小批量的梯度范数，以记录它的名称给出。",
    "The metric's standard deviation between runs, if known; with --times 1 one run each decides.": (
        "指标在各次运行之间的标准差，知道时给出；加 --times 1 则各运行一次就决定。"
    ),
    "The price of an hour of training.": "一小时训练的价格。",
    "The training program, with {run.seed}.": "训练程序，含 {run.seed}。",
    "To reach; by default what a fifth of the trials at the smallest size reach.": (
        "要达到的值；默认为最小批量时五分之一的试验能达到的值。"
    ),
    "Train both once on each of N data splits, and compare split by split.": (
        "在 N 个数据划分上各训练两者一次，逐个划分比较。"
    ),
    "Train the best for so many steps in the end; the search takes a tenth, unless the round "
    "file fixes the length.": (
        "最后把最好的训练这么多步；搜索用十分之一，除非轮次文件固定了长度。"
    ),
    "Train these configurations, in their order: a .json list, a .csv file with a column per "
    "hyperparameter, or [\\[configuration]] tables in a .toml file. One that names no scientific "
    "value is for every study; what the round fixes may be left out.": (
        "按顺序训练这些配置：.json 列表、每列一个超参数的 .csv 文件，或 .toml 文件中的 [\\[configuration]] 表。没有写科学超参数的用于每个研究；轮"
        "次固定的可以不写。"
    ),
    "Trainings, for the lineage.": "谱系可用的训练次数。",
    "Trials at each size, in place of the round file's number.": "每个批量大小的试验次数，代替轮次文件中的。",
    "Trials that may begin, in all.": "总共可以开始多少次试验。",
    "Tune this one again too, beside the learning rate; may be given again.": "除学习率外，也重新调这一个；可给多次。",
    "Up to which batch size does a larger one save steps? A study at each size, tuned anew.": (
        "增大批量到多大还能节省步数？每个大小一个研究，全部重新调优。"
    ),
    "What `tunewright receipt` wrote.": "`tunewright receipt` 写出的文件。",
    "What each added line must gain beyond that.": "此外，每增加一行代码必须带来的改进。",
    "A smaller expected gain is not kept after one run.": "预期收益小于它的，不因一次运行就保留。",
    "What measures a checkpoint on the test set, once, at the end; as `test` in tunewright.toml.": (
        "最后在测试集上测量一次检查点所用的函数或命令；即 tunewright.toml 中的 `test`。"
    ),
    "What measures a checkpoint, in place of the one tunewright.toml names: full.py:full, or "
    '"python full.py --from={checkpoint} --step={step}".': (
        '测量检查点所用的函数或命令，代替 tunewright.toml 中的：full.py:full，或 "python full.py --from={checkpoint} '
        '--step={step}"。'
    ),
    "What shows a perfect fit; by default a logged training error or the loss.": (
        "用什么判断完美拟合；默认为记录的训练误差或损失。"
    ),
    "What to beat: a round (its best), ROUND:7, or a trial of this round. By default what was "
    "launched last, else this round's first setting.": (
        "与什么比较：一个轮次（取最好的）、ROUND:7，或本轮次的一次试验。默认为上次上线的，否则为本轮次的第一个设置。"
    ),
    "Which Optuna study, MLflow experiment or Trackio project; a table's file of curves.": (
        "Optuna 的哪个 study、MLflow 的哪个实验或 Trackio 的哪个项目；对表而言是曲线文件。"
    ),
    "With --scan: run the program for at most this long, and propose how its metrics are read "
    "from what it prints.": ("用 --scan 时：至多运行程序这么久，并由它的输出建议如何读取指标。"),
    "Would longer training help? The best trial resumes from its snapshot, the decay moved.": (
        "训练更久有用吗？最好的试验从快照恢复，衰减推后。"
    ),
    "Write a profiler's trace of ten steps, which Perfetto opens.": "写出十步的性能分析轨迹，可用 Perfetto 打开。",
    "Write the round that trains it on validation data too, by NAME = true.": (
        "写出把验证数据也用于训练的轮次，开关为 NAME = true。"
    ),
    "best or last of the curve.": "取曲线的最好值（best）或最后的值（last）。",
    "feature (10 % false launches) or hyperparameters (25 %); by default a feature if the round "
    "asked about what changed.": (
        "feature（误上线率 10 %）或 hyperparameters（25 %）；本轮次问的正是改动之处时，默认 feature。"
    ),
    "make_step(batch_size) returns a function that does one training step; by default the "
    "project's own training is probed.": (
        "make_step(batch_size) 返回做一步训练的函数；默认探测项目自己的训练。"
    ),
    "optuna, mlflow, wandb, trackio, swanlab, tensorboard, ray, table.": (
        "optuna、mlflow、wandb、trackio、swanlab、tensorboard、ray、table 之一。"
    ),
    "random, grid: laid out beforehand; anything else: adaptive.": "random、grid：事先布点；其他：自适应。",
}
