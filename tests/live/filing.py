# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of tools about files share.

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

# Terminal control, what ends a line, a row, a text and a JSON string, bytes that are no UTF-8,
# an overlong one, a bidi control.
HOSTILE = b"\x1b]0;x\x07\n\t\r,;\"'\\ \xff\xc0\x80\xe2\x80\xae{path}"


def generation_of(path):
    """As the file system tells it: FS_IOC_GETVERSION."""
    with open(path, "rb") as file:
        try:
            return struct.unpack("I", fcntl.ioctl(file, 0x80087601, bytes(8))[:4])[0]
        except OSError:
            pytest.skip("this file system tells no generations")


def after(tracer, *loads):
    """Lets loads do their work and ends the tool."""
    tally.let_work(loads)
    for load in loads:
        load.settle()
    return tracer.stop()


def intact(report):
    """Where the hooks can be preempted (since 7.0) the kernel skips them now and then, and counts
    that: such a trial of steady() cannot be judged. Nothing else is ever lost."""
    if report["lost"]["recursion"]:
        raise tally.Blurred
    assert not any(tally.flaws(report).values()), report["lost"]


def name_bytes(shown):
    """What a tool has shown as a name, as it was. Nothing that could do harm is in it."""
    text = shown.encode()
    assert shown.isprintable()
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text)


def in_namespace(script):
    """The command in front of a trigger that mounts what it likes before; it keeps its pid."""
    return "unshare", "-m", "sh", "-ec", script + '; exec "$0" "$@"'


def mount_of(path):
    """(mount point, file system type) that a path is on, as the kernel says it."""
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
    """Bytes in a pipe."""
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]


class Reader:
    """A process that waits in read(2) of a pipe for each of n bytes, one after the other."""

    def __init__(self, directory, ends, n):
        self.path, self.n = directory / "fifo", n
        os.mkfifo(self.path)
        # Open for reading, too: dd opens it without a wait then.
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
        """Gives it all bytes, each after 30 ms of waiting. look() is called while it waits."""
        for _ in range(self.n):
            tally.settle(self.pid)
            look()
            time.sleep(0.03)
            os.write(self.writer, b"x")
            tally.wait_until(lambda: not unread(self.writer), "the byte is read")
        assert not self.process.wait()
