# SPDX-License-Identifier: BSD-2-Clause
"""Helpers shared by the tests of tools about files.

    load = trigger("files", "open", CREATE, path, "write", 3, 100)
    tracer = tool("--json", "-p", load.pid, tool="filetop")
    result = after(tracer, load)
    intact(result.report)
"""

import fcntl
import os
import re
import struct
import subprocess
import termios
import time

import pytest

import tally

READ, CREATE, APPEND = os.O_RDONLY, os.O_RDWR | os.O_CREAT, os.O_RDWR | os.O_CREAT | os.O_APPEND

# Terminal control, the ends of a line, a row, a text and a JSON string, bytes that are not UTF-8,
# an overlong encoding, a bidi control.
HOSTILE = b"\x1b]0;x\x07\n\t\r,;\"'\\ \xff\xc0\x80\xe2\x80\xae{path}"


def generation_of(path):
    """The inode generation, from FS_IOC_GETVERSION."""
    with open(path, "rb") as file:
        try:
            return struct.unpack("I", fcntl.ioctl(file, 0x80087601, bytes(8))[:4])[0]
        except OSError:
            pytest.skip("this file system tells no generations")


def after(tracer, *loads):
    """Lets loads do their work, then ends the tool."""
    tally.let_work(loads)
    for load in loads:
        load.settle()
    return tracer.stop()


def intact(report):
    """Where the hooks can be preempted (since 7.0) the kernel sometimes skips them, and counts
    that: such a trial of steady() cannot be judged. Nothing else may ever be lost."""
    if report["lost"]["recursion"]:
        raise tally.Blurred
    assert not any(tally.flaws(report).values()), report["lost"]


def name_bytes(shown):
    """The original bytes of a name that a tool has printed. The printed form has no harmful characters."""
    text = shown.encode()
    assert shown.isprintable()
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text)


def in_namespace(script):
    """The command prefix of a trigger, whose script may mount things first; the trigger keeps its pid."""
    return "unshare", "-m", "sh", "-ec", script + '; exec "$0" "$@"'


def mount_of(path):
    """(mount point, file system type) of a path, from mountinfo."""
    best = ("", "")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
        for line in mounts:
            point, kind = line.split()[4], line.rpartition(" - ")[2].split()[0]
            if f"{path}/".startswith(point.rstrip("/") + "/") and len(point) >= len(best[0]):
                best = point, kind
    return best


def type_of_fs(path):
    return mount_of(path)[1]


def unread(fd):
    """The number of unread bytes in a pipe."""
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]


class Reader:
    """A process that waits in read(2) of a pipe for each of n bytes, one after the other."""

    def __init__(self, directory, ends, n):
        self.path, self.n = directory / "fifo", n
        os.mkfifo(self.path)
        # Open for reading, too, so that dd opens it without a wait.
        self.writer = os.open(self.path, os.O_RDWR)
        ends.callback(os.close, self.writer)
        self.process = subprocess.Popen(
            ["dd", f"if={self.path}", "of=/dev/null", "bs=1", f"count={n}"], stderr=subprocess.DEVNULL
        )
        self.pid = self.process.pid
        ends.callback(self.process.wait)
        ends.callback(self.process.kill)
        tally.settle(self.pid)

    def feed(self, look=lambda: None):
        """Writes all bytes, each after 30 ms of waiting. look() is called while the reader waits."""
        for _ in range(self.n):
            tally.settle(self.pid)
            look()
            time.sleep(0.03)
            os.write(self.writer, b"x")
            tally.wait_until(lambda: not unread(self.writer), "the byte is read")
        assert not self.process.wait()
