"""Fixtures of several test files."""

import os
import shutil
import subprocess
from types import SimpleNamespace

import pytest


@pytest.fixture
def disk(tmp_path):
    """A file system of 1 MB at `path`, which `make_read_only` mounts again as read-only."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.getuid() != 0 or mount is None or umount is None:
        pytest.skip("needs root to mount a file system")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], check=False).returncode:
        pytest.skip("cannot mount a file system")
    try:
        yield SimpleNamespace(
            path=tmp_path,
            make_read_only=lambda: subprocess.run([mount, "-o", "remount,ro", tmp_path], check=True),
        )
    finally:
        subprocess.run([umount, tmp_path], check=True)
