"""Small disks that can be filled. They need root."""

import contextlib
import os
import pathlib
import subprocess

import pytest


@contextlib.contextmanager
def small_disk(directory, kind, size_mib):
    """Mounts a file system of `size_mib` and gives its path; skips where that isn't allowed."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    directory = pathlib.Path(directory)
    mount = directory / "disk"
    mount.mkdir()
    if kind == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_mib}m", "forebay-test", str(mount)]
    else:
        image = directory / "disk.img"
        with open(image, "wb") as file:
            file.truncate(size_mib * 1024 * 1024)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
        command = ["mount", "-o", "loop", str(image), str(mount)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"can't mount {kind} here: {done.stderr.strip()}")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=False)


class Ballast:
    """A file that takes what room there is."""

    def __init__(self, disk):
        self._path = pathlib.Path(disk) / "ballast"

    def fill(self, leave_bytes=0):
        """Grows until only `leave_bytes` are left."""
        with open(self._path, "ab", buffering=0) as file:
            while True:
                stat = os.statvfs(self._path.parent)
                room = stat.f_bavail * stat.f_frsize - leave_bytes
                if room <= 0:
                    return
                try:
                    file.write(b"b" * min(room, 1 << 20))
                except OSError:
                    return

    def free(self):
        self._path.unlink()
