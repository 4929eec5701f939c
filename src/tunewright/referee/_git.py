"""What the referee asks of git: commits, diffs, and a separate checkout for each commit.

Nothing here touches the branch, the index or the working tree of the user.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tunewright.errors import Misuse

WORKING_TREE = "working tree"
_LINE = re.compile(r"^@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@")
_WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "tunewright judge"), ("EMAIL", "judge@localhost"))
}


@dataclass(frozen=True)
class Touched:
    """A protected line that a change touches."""

    path: str
    line: int  # in the new file; in the old one where it is removed
    text: str  # with + or - before it


@dataclass(frozen=True)
class Repository:
    """A git repository, by the folder of its working tree."""

    folder: Path  # the top of the working tree
    within: str = ""  # the folder below it that programs start in; empty: the top
    not_its: tuple[str, ...] = ()  # names of files that are ours, wherever they are in it

    @classmethod
    def at(cls, folder: str | os.PathLike[str], not_its: Sequence[str] = ()) -> Repository:
        """The repository that a folder lies in; Misuse where it is none or has no commit."""
        if shutil.which("git") is None:
            raise Misuse("referee.no_git")
        toplevel = _run(("rev-parse", "--show-toplevel"), Path(folder))
        if toplevel.returncode:
            raise Misuse("referee.no_repository", folder=str(folder))
        top = Path(toplevel.stdout.strip())
        within = Path(folder).resolve().relative_to(top.resolve()).as_posix()
        repository = cls(top, "" if within == "." else within, tuple(not_its))
        if _run(("rev-parse", "--verify", "HEAD"), repository.folder).returncode:
            raise Misuse("referee.no_commit", folder=str(repository.folder))
        return repository

    def commit(self, name: str) -> str:
        """The full hash of a commit; Misuse where there is none of this name."""
        if name.startswith("-"):
            raise Misuse("referee.unknown_commit", name=name, folder=str(self.folder))
        parsed = _run(("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"), self.folder)
        if parsed.returncode:
            raise Misuse("referee.unknown_commit", name=name, folder=str(self.folder))
        return parsed.stdout.strip()

    def summary(self, commit: str) -> str:
        """The first line of a commit's message."""
        return self._text("log", "-1", "--format=%s", commit).strip()[:200]

    def dirty_files(self) -> list[str]:
        """Files of the working tree that differ from the last commit, untracked ones included."""
        words = ("status", "--porcelain", "--untracked-files=normal", "--", *self._files)
        return [line[3:] for line in self._text(*words).splitlines()]

    def same(self, old: str, new: str) -> bool:
        """Whether two commits have the same files, ours left out."""
        return not self._text("diff", "--name-only", "--no-ext-diff", old, new, "--", *self._files)

    @property
    def _files(self) -> tuple[str, ...]:
        """Every file of the working tree but ours, as git reads it."""
        return (".", *(f":(exclude,top,glob)**/{name}" for name in self.not_its))

    def snapshot(self, message: str, ref: str) -> str:
        """A commit of the working tree as it is, on no branch; kept from collection by a ref."""
        head = self.commit("HEAD")
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            self._text("read-tree", head, extra=index)
            self._text("add", "--all", "--", *self._files, extra=index)
            tree = self._text("write-tree", extra=index).strip()
        if tree == self._text("rev-parse", f"{head}^{{tree}}").strip():
            return head
        commit = self._text("commit-tree", tree, "-p", head, "-m", message, extra=_WHO).strip()
        self.keep(commit, ref)
        return commit

    def keep(self, commit: str, ref: str) -> None:
        """Keep a commit from being collected."""
        self._text("update-ref", f"refs/tunewright/{ref}", commit)

    def diff(self, old: str, new: str) -> str:
        """The change from one commit to another as a patch."""
        return self._text("diff", "--binary", "--no-color", "--no-ext-diff", old, new)

    def size(self, old: str, new: str) -> int:
        """Lines added minus lines removed."""
        total = 0
        for line in self._text("diff", "--numstat", old, new).splitlines():
            added, removed, _ = line.split("\t", 2)
            if added != "-":
                total += int(added) - int(removed)
        return total

    def missing(self, protect: Sequence[str]) -> list[str]:
        """Those of the protected paths that the last commit has no file of."""
        start = self.folder / self.within
        return [path for path in protect if not _output_of(("ls-files", "--", path), start)]

    def lines_touched(self, old: str, new: str, protect: Sequence[str]) -> list[Touched]:
        """The lines of protected paths (a file, a folder, a pattern) that a change touches."""
        if not protect:
            return []
        options = ("-U0", "--no-color", "--no-ext-diff", "--no-renames", "--no-relative")
        text = _output_of(("diff", *options, old, new, "--", *protect), self.folder / self.within)
        touched_lines: list[Touched] = []
        path, before, after = "", 0, 0
        in_file = False
        for line in text.splitlines():
            if line.startswith("diff --git "):
                path, in_file = line.rpartition(" b/")[2], False
                touched_lines.append(Touched(path, 0, ""))
            elif match := _LINE.match(line):
                before, after, in_file = int(match["old"]), int(match["new"]), True
            elif in_file and line.startswith("+"):
                touched_lines.append(Touched(path, after, line[:200]))
                after += 1
            elif in_file and line.startswith("-"):
                touched_lines.append(Touched(path, before, line[:200]))
                before += 1
        with_lines = {entry.path for entry in touched_lines if entry.line}
        return [entry for entry in touched_lines if entry.line or entry.path not in with_lines]

    def checkout(self, commit: str, folder: Path) -> Path:
        """A separate working tree of a commit, as the commit has it."""
        if (folder / ".git").exists():
            head = _run(("rev-parse", "HEAD"), folder)
            if head.stdout.strip() == commit:
                self._inside(folder, "reset", "--hard", "--quiet")
                return folder
        self.remove_checkout(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._text("worktree", "add", "--detach", "--force", str(folder.absolute()), commit)
        return folder

    def remove_checkout(self, folder: Path) -> None:
        """Remove a checkout, whatever state it is in."""
        _run(("worktree", "remove", "--force", str(folder.absolute())), self.folder)
        shutil.rmtree(folder, ignore_errors=True)
        _run(("worktree", "prune"), self.folder)

    def without(self, commit: str, old: str, new: str, folder: Path, ref: str) -> str | None:
        """A commit like `commit` with the change from `old` to `new` undone; None: a conflict."""
        self.checkout(commit, folder)
        patch = self.diff(old, new)
        undone = subprocess.run(
            ["git", "apply", "-R", "--3way", "--index", "-"],
            cwd=folder,
            input=patch,
            capture_output=True,
            text=True,
        )
        if undone.returncode:
            self._inside(folder, "reset", "--hard", "--quiet", commit)
            return None
        tree = self._inside(folder, "write-tree").strip()
        message = f"without: {self.summary(new)}"
        reverted = self._text("commit-tree", tree, "-p", commit, "-m", message, extra=_WHO).strip()
        self._inside(folder, "reset", "--hard", "--quiet", commit)
        self.keep(reverted, ref)
        return reverted

    def _inside(self, folder: Path, *words: str) -> str:
        return _output_of(words, folder)

    def _text(self, *words: str, extra: Mapping[str, str] | None = None) -> str:
        return _output_of(words, self.folder, extra)


def _output_of(words: Sequence[str], folder: Path, extra: Mapping[str, str] | None = None) -> str:
    done = _run(words, folder, extra)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise Misuse("referee.git_failed", words=list(words[:3]), error=lines[-1] if lines else "")
    return done.stdout


def _run(
    words: Sequence[str], folder: Path, extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return subprocess.run(
        ["git", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        env={**environment, "LC_ALL": "C", **(extra or {})},
    )
