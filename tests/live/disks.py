# SPDX-License-Identifier: BSD-2-Clause
"""Disks for tests: loop devices anywhere, and those of null_blk and scsi_debug in guests. The kernel's
books of a disk, and the requests that the trigger "disk" makes."""

import os
import shutil
import subprocess
from collections import namedtuple
from pathlib import Path

import pytest

from tally import wait_until

READ, WRITE, FLUSH, DISCARD, CACHED, DURABLE = range(6)

SECTOR = 512

# Fields of each kind: the number, how many were merged into others, bytes, ms. Flushes have no bytes.
Books = namedtuple("Books", "read write discard flush")
Kind = namedtuple("Kind", "n merged bytes ms", defaults=(0, 0, 0, 0))


class Disk:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)

    def books(self):
        """Documentation/block/stat.rst"""
        n = [int(each) for each in Path(f"/sys/block/{self.name}/stat").read_text().split()]
        kinds = [Kind(n[at], n[at + 1], n[at + 2] * SECTOR, n[at + 3]) for at in (0, 4, 11)]
        return Books(*kinds, Kind(n=n[15], ms=n[16]))

    def rest(self):
        """Waits until no request is in flight: the task that made one is woken before the request counts as done."""
        inflight = Path(f"/sys/block/{self.name}/inflight")
        wait_until(lambda: not sum(map(int, inflight.read_text().split())), f"{self.name} is at rest")

    def growth(self, before):
        self.rest()
        return Books(*(Kind(*(b - a for a, b in zip(*kinds)))
                       for kinds in zip(before, self.books())))


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def mount(ends, directory, kind, options):
    run("mount", "-t", kind, "-o", options, "none", str(directory))
    ends.callback(run, "umount", str(directory))


def write_too_much(disk):
    """Writes 1 MiB, for which the file behind the disk has no room."""
    fd = os.open(disk.path, os.O_RDWR)
    try:
        with pytest.raises(OSError):
            os.pwrite(fd, b"x" * (1 << 20), 0)
            os.fsync(fd)
    finally:
        os.close(fd)


def loop(ends, directory, size=16 << 20):
    """A loop device over a sparse file."""
    file = directory / "disk"
    with open(file, "wb") as f:
        f.truncate(size)
    if not Path("/dev/loop-control").exists():
        load("loop")
    try:
        path = run("losetup", "-f", "--show", str(file))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no loop device: {error}")
    ends.callback(run, "losetup", "-d", path)
    if shutil.which("udevadm"):
        run("udevadm", "settle") # udev reads a new disk, some time after it appears
    return Disk(path)


def load(module, *options):
    try:
        run("modprobe", module, *options)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no {module}: {error}")


def null(ends, name="tally", **attributes):
    """A disk of null_blk: memory, or nothing at all, with a given latency."""
    load("null_blk", "nr_devices=0")
    config = Path("/sys/kernel/config")
    if not (config / "nullb").exists():
        run("mount", "-t", "configfs", "none", str(config))
    folder = config / "nullb" / name
    folder.mkdir()
    ends.callback(folder.rmdir)
    before = set(os.listdir("/sys/block"))
    for key, value in attributes.items():
        (folder / key).write_text(str(value))
    (folder / "power").write_text("1")
    new = set(os.listdir("/sys/block")) - before
    assert len(new) == 1, new
    path = f"/dev/{new.pop()}"
    wait_until(lambda: os.path.exists(path), path)
    return Disk(path)


def scsi(*options):
    """The disk of scsi_debug, which remains until the guest ends."""
    before = set(os.listdir("/sys/block"))
    load("scsi_debug", *options)
    new = wait_until(lambda: set(os.listdir("/sys/block")) - before, "a disk of scsi_debug")
    path = f"/dev/{new.pop()}"
    wait_until(lambda: os.path.exists(path), path)
    return Disk(path)


# Work for the trigger: count times size bytes, from start on in steps.
Work = namedtuple("Work", "op count size start step", defaults=(0, 0, 0))


def arguments(disk, works):
    return disk.path, *(number for work in works for number in work)


def requests(works):
    """(op, sector, bytes) of each request of works that bypass the page cache and need not be split."""
    return [(w.op, (w.start + i * w.step) // SECTOR, w.size) for w in works for i in range(w.count)]
