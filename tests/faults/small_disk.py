"""A real file system of its own: small, to be filled, or read-only. Needs the right to mount."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A tmpfs of this size at a folder; skips where this user may not mount."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, timeout=30)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=30)


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True, timeout=30)


def fill(path: Path, leave_mb: float = 0.0) -> None:
    """Write a file until only so much is free on its disk; 0: until nothing more goes in."""
    block = b"\0" * 2**16
    with path.open("wb", buffering=0) as file:
        while True:
            usage = os.statvfs(path.parent)
            free = usage.f_bavail * usage.f_frsize
            if leave_mb and free <= leave_mb * 2**20:
                return
            try:
                if not file.write(block[: free or None]):
                    return
            except OSError:
                return
